//! Gradients of constraints: sparse rows with a fixed pattern, because a gap between two beads of a hundred
//! knows only two coordinates.

/// A matrix by sparse rows whose pattern is fixed and whose values change.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    starts: Vec<usize>,
    columns: Vec<usize>,
    /// Which rows are long and have no holes.
    whole: Vec<bool>,
    /// The values, row after row.
    pub values: Vec<f64>,
}

impl Rows {
    /// No rows yet.
    pub fn new() -> Self {
        Rows { starts: vec![0], ..Rows::default() }
    }

    /// No rows yet, with room for `rows` of them holding `entries` values in all.
    pub fn with_capacity(rows: usize, entries: usize) -> Self {
        let mut starts = Vec::with_capacity(rows + 1);
        starts.push(0);
        let (columns, whole) = (Vec::with_capacity(entries), Vec::with_capacity(rows));
        Rows { starts, columns, whole, values: Vec::with_capacity(entries) }
    }

    /// Rows from dense ones; every entry is kept, zeros too, so that the pattern can hold other values later.
    pub fn dense(d: usize, values: &[f64]) -> Self {
        values.chunks_exact(d).map(|row| row.iter().copied().enumerate()).collect()
    }

    /// Appends a row given by its (column, value) pairs.
    pub fn push(&mut self, entries: impl IntoIterator<Item = (usize, f64)>) {
        for (column, value) in entries {
            self.columns.push(column);
            self.values.push(value);
        }
        let row = &self.columns[self.starts[self.starts.len() - 1]..];
        self.whole.push(row.len() >= 16 && row.windows(2).all(|c| c[1] == c[0] + 1));
        self.starts.push(self.columns.len());
    }

    /// Removes all rows and keeps the memory.
    pub fn clear(&mut self) {
        self.starts.truncate(1);
        self.whole.clear();
        self.columns.clear();
        self.values.clear();
    }

    /// Appends row `i` of another matrix.
    pub fn push_row_of(&mut self, other: &Rows, i: usize) {
        let (columns, values) = other.row(i);
        self.columns.extend_from_slice(columns);
        self.values.extend_from_slice(values);
        self.whole.push(other.whole[i]);
        self.starts.push(self.columns.len());
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The columns and values of row `i`.
    pub fn row(&self, i: usize) -> (&[usize], &[f64]) {
        let range = self.starts[i]..self.starts[i + 1];
        (&self.columns[range.clone()], &self.values[range])
    }

    /// The (column, value) pairs of row `i`.
    #[inline]
    pub fn entries(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let (columns, values) = self.row(i);
        columns.iter().copied().zip(values.iter().copied())
    }

    /// Row `i` as a vector of `n` entries.
    pub fn vector(&self, i: usize, n: usize) -> Vec<f64> {
        let mut x = vec![0.0; n];
        self.add_to(i, 1.0, &mut x);
        x
    }

    /// Row `i` · x.
    pub fn dot(&self, i: usize, x: &[f64]) -> f64 {
        let (columns, values) = self.row(i);
        // A long row without holes, as in modal coordinates, is a plain product.
        if self.whole[i] {
            return super::dot(values, &x[columns[0]..columns[0] + columns.len()]);
        }
        columns.iter().zip(values).map(|(&c, v)| v * x[c]).sum()
    }

    /// Σ |row entry · x entry|: the size of what is added up in [`Rows::dot`], which bounds its rounding.
    pub fn dot_abs(&self, i: usize, x: &[f64]) -> f64 {
        self.entries(i).map(|(c, v)| (v * x[c]).abs()).sum()
    }

    /// out += s · |row `i`|.
    pub(crate) fn add_abs_to(&self, i: usize, s: f64, out: &mut [f64]) {
        self.entries(i).for_each(|(c, v)| out[c] += s * v.abs());
    }

    /// out += s · row `i`.
    pub fn add_to(&self, i: usize, s: f64, out: &mut [f64]) {
        let (columns, values) = self.row(i);
        for (&c, v) in columns.iter().zip(values) {
            out[c] += s * v;
        }
    }
}

impl<R: IntoIterator<Item = (usize, f64)>> FromIterator<R> for Rows {
    fn from_iter<I: IntoIterator<Item = R>>(rows: I) -> Self {
        let mut all = Rows::new();
        rows.into_iter().for_each(|row| all.push(row));
        all
    }
}
