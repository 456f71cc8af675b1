//! Symmetric matrices of structures: sparse rows, and the diagonals of the band where it is narrow.

use super::band::Band;
use super::envelope::Envelope;
use super::slices::Slices;
use super::sparse::Supernodal;
use super::unsymmetric::Profile;
use super::{FOUR, NotPositiveDefinite, Skew, band, each_column};

/// A sparse symmetric matrix; both halves are stored.
///
/// ```
/// use saltus::linalg::Symmetric;
/// let k = Symmetric::new(2, vec![(0, 0, 2.0), (0, 1, -1.0), (1, 0, -1.0), (1, 1, 1.0)]);
/// let mut y = [0.0; 2];
/// k.multiply(&[1.0, 2.0], &mut y);
/// assert_eq!(y, [0.0, 1.0]);
/// ```
#[derive(Clone, Debug)]
pub struct Symmetric {
    n: usize,
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
    band: Option<Band>,
}

impl Symmetric {
    /// From entries (row, column, value) of the whole matrix; those of one place are added up.
    ///
    /// Entries outside n × n are left out; whoever reads a file has refused them.
    pub fn new(n: usize, entries: Vec<(usize, usize, f64)>) -> Self {
        let inside = |e: &&(usize, usize, f64)| e.0 < n && e.1 < n;
        let mut ends = vec![0; n + 1];
        entries.iter().filter(inside).for_each(|e| ends[e.0 + 1] += 1);
        (0..n).for_each(|i| ends[i + 1] += ends[i]);
        // By rows first, in the order given.
        let mut pairs = vec![(0_u32, 0.0_f64); ends[n]];
        let mut next = ends.clone();
        for e in entries.iter().filter(inside) {
            pairs[next[e.0]] = (e.1 as u32, e.2);
            next[e.0] += 1;
        }
        drop(entries);
        Self::by_rows(n, pairs.len(), |i, row| row.extend_from_slice(&pairs[ends[i]..ends[i + 1]]))
    }

    /// From rows of (column, value); those of one place are added up.
    fn by_rows(n: usize, most: usize, mut fill: impl FnMut(usize, &mut Vec<(u32, f64)>)) -> Self {
        let (mut starts, mut columns, mut values) =
            (Vec::with_capacity(n + 1), Vec::with_capacity(most), Vec::<f64>::with_capacity(most));
        let mut row = Vec::new();
        starts.push(0);
        for i in 0..n {
            row.clear();
            fill(i, &mut row);
            // Stable, so that sums are the same in both halves.
            if !row.is_sorted_by_key(|e| e.0) {
                row.sort_by_key(|e| e.0);
            }
            for &(j, x) in &row {
                match values.last_mut().filter(|_| columns.len() > starts[i] && columns.last() == Some(&j)) {
                    Some(sum) => *sum += x,
                    None => {
                        columns.push(j);
                        values.push(x);
                    }
                }
            }
            starts.push(columns.len());
        }
        if columns.len() < most {
            columns.shrink_to_fit();
            values.shrink_to_fit();
        }
        let mut matrix = Symmetric { n, starts, columns, values, band: None };
        let b = matrix.half_bandwidth();
        matrix.band = (b <= band::WIDEST).then(|| Band::new(n, b, matrix.entries()));
        matrix
    }

    /// A diagonal matrix.
    pub fn diagonal(entries: &[f64]) -> Self {
        Symmetric::new(entries.len(), entries.iter().enumerate().map(|(i, &x)| (i, i, x)).collect())
    }

    /// Number of rows.
    pub fn dimension(&self) -> usize {
        self.n
    }

    /// All stored entries (row, column, value).
    pub fn entries(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        (0..self.n).flat_map(move |i| self.row(i).map(move |(j, x)| (i, j, x)))
    }

    /// The stored entries (column, value) of a row.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.starts[i]..self.starts[i + 1];
        self.columns[range.clone()].iter().map(|&j| j as usize).zip(self.values[range].iter().copied())
    }

    /// The entry at a place.
    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.row(i).find(|(c, _)| *c == j).map_or(0.0, |(_, x)| x)
    }

    /// The largest |i − j| of an entry that is not zero.
    pub fn half_bandwidth(&self) -> usize {
        self.entries().filter(|e| e.2 != 0.0).map(|(i, j, _)| i.abs_diff(j)).max().unwrap_or(0)
    }

    /// Whether nothing stands beside the diagonal.
    pub fn is_diagonal(&self) -> bool {
        self.half_bandwidth() == 0
    }

    /// y = A x.
    pub fn multiply(&self, x: &[f64], y: &mut [f64]) {
        match &self.band {
            Some(band) => band.multiply(x, y),
            None => {
                for (i, y) in y.iter_mut().enumerate() {
                    let range = self.starts[i]..self.starts[i + 1];
                    *y = self.columns[range.clone()]
                        .iter()
                        .zip(&self.values[range])
                        .map(|(&j, a)| a * x[j as usize])
                        .sum();
                }
            }
        }
    }

    /// xᵀ A y.
    pub fn form(&self, x: &[f64], y: &[f64]) -> f64 {
        self.entries().map(|(i, j, a)| x[i] * a * y[j]).sum()
    }

    /// Σ s A over several matrices of one size.
    pub fn combine(terms: &[(f64, &Symmetric)]) -> Self {
        let n = terms.iter().map(|(_, a)| a.n).max().unwrap_or(0);
        let most = terms.iter().map(|(_, a)| a.values.len()).sum();
        Self::by_rows(n, most, |i, row| {
            for (s, a) in terms.iter().filter(|(s, a)| *s != 0.0 && i < a.n) {
                row.extend(a.row(i).map(|(j, x)| (j as u32, s * x)));
            }
        })
    }

    /// The same with rows and columns in another order: `order[k]` is the old index of the new k.
    pub fn reordered(&self, order: &[usize]) -> Self {
        let mut place = vec![0; self.n];
        order.iter().enumerate().for_each(|(k, &old)| place[old] = k);
        Self::by_rows(self.n, self.values.len(), |k, row| {
            row.extend(self.row(order[k]).map(|(j, x)| (place[j] as u32, x)));
        })
    }

    /// Ones wherever one of several matrices has an entry that is not zero, and on the diagonal.
    pub(crate) fn pattern(terms: &[(f64, &Symmetric)]) -> Self {
        let n = terms.iter().map(|(_, a)| a.n).max().unwrap_or(0);
        let most = n + terms.iter().map(|(_, a)| a.values.len()).sum::<usize>();
        let mut ones = Self::by_rows(n, most, |i, row| {
            row.push((i as u32, 1.0));
            for (_, a) in terms.iter().filter(|(_, a)| i < a.n) {
                row.extend(a.row(i).filter(|(_, x)| *x != 0.0).map(|(j, _)| (j as u32, 1.0)));
            }
        });
        ones.values.fill(1.0);
        ones
    }

    /// y = A x of four vectors.
    pub(crate) fn multiply_block(&self, x: &[[f64; FOUR]], y: &mut [[f64; FOUR]]) {
        for (i, y) in y.iter_mut().enumerate() {
            let mut sum = [0.0; FOUR];
            for (j, a) in self.row(i) {
                (0..FOUR).for_each(|r| sum[r] += a * x[j][r]);
            }
            *y = sum;
        }
    }

    /// Factors A = L D Lᵀ; A must be positive definite.
    pub fn factor(&self) -> Result<Factor, NotPositiveDefinite> {
        match &self.band {
            Some(band) => Ok(Factor::Band(band.factor()?)),
            None => self.factor_wide(super::factor_entries(self)),
        }
    }

    /// The same of a matrix without a narrow band, whose factor has so many entries, and is sparse or a profile.
    fn factor_wide(&self, (entries, is_sparse): (f64, bool)) -> Result<Factor, NotPositiveDefinite> {
        match is_sparse.then(|| Supernodal::new(self, entries)).flatten() {
            Some(factor) => Ok(Factor::Sparse(factor?)),
            None => Ok(Factor::Envelope(Envelope::new(self)?)),
        }
    }

    /// Factors A + Σ s S with antisymmetric S; A must be positive definite.
    pub fn factor_with(&self, skews: &[(f64, &Skew)]) -> Result<Factor, NotPositiveDefinite> {
        match skews.is_empty() {
            true => self.factor(),
            false => Ok(Factor::Unsymmetric(Profile::new(self, skews)?)),
        }
    }

    /// The same for a matrix that is far from singular and solved very often: that of a step.
    pub fn step_factor(&self, skews: &[(f64, &Skew)]) -> Result<Factor, NotPositiveDefinite> {
        if !skews.is_empty() || self.band.is_some() {
            return self.factor_with(skews);
        }
        let (entries, is_sparse) = super::factor_entries(self);
        if !is_sparse && let Some(factor) = Slices::new(self, entries) {
            return Ok(Factor::Slices(factor?));
        }
        self.factor_wide((entries, is_sparse))
    }
}

/// A factored matrix.
#[derive(Clone, Debug)]
pub enum Factor {
    /// With a narrow band.
    Band(band::BandFactor),
    /// With a row profile.
    Envelope(Envelope),
    /// By supernodes.
    Sparse(Supernodal),
    /// By slices.
    Slices(Slices),
    /// With a row profile, not symmetric.
    Unsymmetric(Profile),
}

impl Factor {
    /// x = A⁻¹ x.
    pub fn solve(&self, x: &mut [f64]) {
        match self {
            Factor::Band(f) => f.solve(x),
            Factor::Envelope(f) => f.solve(x),
            Factor::Sparse(f) => f.solve(x),
            Factor::Slices(f) => f.solve(x),
            Factor::Unsymmetric(f) => f.solve(x),
        }
    }

    /// x = A⁻¹ x of four vectors; `column` is a buffer.
    pub(crate) fn solve_block(&self, x: &mut [[f64; FOUR]], column: &mut Vec<f64>) {
        match self {
            Factor::Sparse(f) => f.solve_block(x),
            Factor::Envelope(f) => f.solve_block(x),
            other => each_column(x, column, |x| other.solve(x)),
        }
    }

    /// A⁻¹ x.
    pub fn solved(&self, mut x: Vec<f64>) -> Vec<f64> {
        self.solve(&mut x);
        x
    }

    /// The entries of D⁻¹.
    pub fn inverse_pivots(&self) -> &[f64] {
        match self {
            Factor::Band(f) => f.inverse(),
            Factor::Envelope(f) => f.inverse(),
            Factor::Sparse(f) => f.inverse(),
            Factor::Slices(f) => f.inverse(),
            Factor::Unsymmetric(f) => f.inverse(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A positive definite matrix with entries at most `b` off the diagonal.
    fn definite(n: usize, b: usize, numbers: &[f64]) -> Symmetric {
        let mut entries = Vec::new();
        for i in 0..n {
            entries.push((i, i, 2.0 * b as f64 + 1.0));
            for k in 1..=b.min(i) {
                let x = numbers[(7 * i + k) % numbers.len()];
                entries.extend([(i, i - k, x), (i - k, i, x)]);
            }
        }
        Symmetric::new(n, entries)
    }

    proptest! {
        #[test]
        fn solving_undoes_multiplying(n in 1usize..40, b in 0usize..14, numbers in prop::collection::vec(-1.0..1.0, 30)) {
            let a = definite(n, b, &numbers);
            let x: Vec<f64> = (0..n).map(|i| numbers[i % 30] + 1.0).collect();
            let mut y = vec![0.0; n];
            a.multiply(&x, &mut y);
            let plain: Vec<f64> = (0..n).map(|i| a.row(i).map(|(j, v)| v * x[j]).sum()).collect();
            prop_assert!(y.iter().zip(&plain).all(|(p, q)| (p - q).abs() < 1e-12));
            a.factor().expect("definite").solve(&mut y);
            prop_assert!(y.iter().zip(&x).all(|(p, q)| (p - q).abs() < 1e-10));
        }
    }

    #[test]
    fn an_indefinite_matrix_is_refused_at_its_pivot() {
        let narrow = Symmetric::new(2, vec![(0, 0, 1.0), (1, 1, -1.0)]);
        assert_eq!(narrow.factor().map(|_| ()), Err(NotPositiveDefinite { pivot: 1 }));
        let mut wide: Vec<_> = (0..20).map(|i| (i, i, if i == 7 { -1.0 } else { 1.0 })).collect();
        wide.extend([(0, 19, 0.1), (19, 0, 0.1)]);
        assert_eq!(Symmetric::new(20, wide).factor().map(|_| ()), Err(NotPositiveDefinite { pivot: 7 }));
    }

    /// A block of bricks: the stencil of 27 points on a grid, two unknowns at each node.
    fn bricks(side: usize, numbers: &[f64]) -> Symmetric {
        let node = |i: usize, j: usize, k: usize| (k * side + j) * side + i;
        let mut entries = Vec::new();
        for (i, j, k) in (0..side.pow(3)).map(|m| (m % side, m / side % side, m / side / side)) {
            let here = node(i, j, k);
            for (a, b, c) in (0..27).map(|m| (m % 3, m / 3 % 3, m / 9)) {
                let (x, y, z) = (i + a, j + b, k + c);
                if x == 0 || y == 0 || z == 0 || x > side || y > side || z > side {
                    continue;
                }
                let there = node(x - 1, y - 1, z - 1);
                for (p, q) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                    let (r, s) = (2 * here + p, 2 * there + q);
                    if r > s {
                        let x = numbers[(5 * r + 3 * s) % numbers.len()];
                        entries.extend([(r, s, x), (s, r, x)]);
                    } else if r == s {
                        entries.push((r, r, 60.0));
                    }
                }
            }
        }
        Symmetric::new(2 * side.pow(3), entries)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn sparse_factors_solve(side in 3usize..8, numbers in prop::collection::vec(-1.0..1.0, 31)) {
            let a = bricks(side, &numbers);
            let n = a.dimension();
            let a = a.reordered(&super::super::fill_reducing(&[&a]));
            let factor = Supernodal::new(&a, f64::INFINITY).expect("entries").expect("definite");
            let x: Vec<f64> = (0..n).map(|i| numbers[i % 31] + 1.0).collect();
            let mut y = vec![0.0; n];
            a.multiply(&x, &mut y);
            factor.solve(&mut y);
            prop_assert!(y.iter().zip(&x).all(|(p, q)| (p - q).abs() < 1e-11));
            // The pivots are those of the profile.
            let dense = Envelope::new(&a).expect("definite");
            // Four vectors at once are four vectors.
            let four: Vec<[f64; 4]> = x.iter().map(|x| [*x, 1.0, -x, x * x]).collect();
            let mut product = vec![[0.0; 4]; n];
            a.multiply_block(&four, &mut product);
            for factor in [Factor::Sparse(factor.clone()), Factor::Envelope(dense.clone())] {
                let mut solved = product.clone();
                factor.solve_block(&mut solved, &mut Vec::new());
                let near = |(p, q): (&[f64; 4], &[f64; 4])| (0..4).all(|r| (p[r] - q[r]).abs() < 1e-11);
                prop_assert!(solved.iter().zip(&four).all(near));
            }
            let same = |(p, q): (&f64, &f64)| (p / q - 1.0).abs() < 1e-11;
            prop_assert!(factor.inverse().iter().zip(dense.inverse()).all(same));
        }
    }

    #[test]
    fn a_large_mesh_gets_a_sparse_factor_and_a_bad_pivot_is_named() {
        let a = bricks(9, &[0.5, -0.7, 0.2]);
        let order = super::super::solver_order(&[&a]);
        assert!(order.sparse.is_some());
        let a = a.reordered(&order.order);
        assert!(matches!(a.factor(), Ok(Factor::Sparse(_))));
        let n = a.dimension();
        for bad in [0, n / 2, n - 1] {
            let spoilt = Symmetric::new(n, a.entries().chain([(bad, bad, -1e4)]).collect());
            assert_eq!(spoilt.factor().map(|_| ()), Err(NotPositiveDefinite { pivot: bad }));
        }
    }
}
