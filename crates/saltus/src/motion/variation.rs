//! Perturbations of a motion, to first order.

use std::fmt;

/// Perturbations of a motion at one instant, to first order: columns of (δq, δv, δp), all at that instant. Position and
/// velocity have an entry for each unknown of the model (a first-order state is the last kind of velocity), δp one for each
/// open parameter. A column that begins with unit perturbations becomes a column of the Jacobian of the motion.
#[derive(Clone, Debug, PartialEq)]
pub struct Variation {
    /// The instant.
    pub t: f64,
    /// The acceleration there, after any event at this instant: with the velocity, how the state itself changes with time.
    pub acceleration: Vec<f64>,
    d: usize,
    open: usize,
    entries: Vec<f64>,
}

impl Variation {
    /// No columns yet, for `d` unknowns and `open` open parameters.
    pub fn new(d: usize, open: usize) -> Self {
        Variation { t: 0.0, acceleration: vec![0.0; d], d, open, entries: Vec::new() }
    }

    /// A column for each entry of the state, (q, v), that begins with one there and zero elsewhere.
    pub fn of_state(d: usize, open: usize) -> Self {
        let mut all = Variation::new(d, open);
        for k in 0..2 * d {
            all.push_zero();
            let first = k * all.width();
            all.entries[first + k] = 1.0;
        }
        all
    }

    /// Appends a column of zeros and gives its number.
    pub fn push_zero(&mut self) -> usize {
        self.entries.resize(self.entries.len() + self.width(), 0.0);
        self.len() - 1
    }

    /// Leaves the first columns only.
    pub fn truncate(&mut self, columns: usize) {
        self.entries.truncate(columns * self.width());
    }

    /// Entries of a column.
    pub fn width(&self) -> usize {
        2 * self.d + self.open
    }

    /// Number of columns.
    pub fn len(&self) -> usize {
        self.entries.len() / self.width().max(1)
    }

    /// Whether there are no columns.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Column `k`: δq, δv, δp, one after the other.
    pub fn column(&self, k: usize) -> &[f64] {
        &self.entries[k * self.width()..(k + 1) * self.width()]
    }

    /// The same, to be changed.
    pub fn column_mut(&mut self, k: usize) -> &mut [f64] {
        let w = self.width();
        &mut self.entries[k * w..(k + 1) * w]
    }

    /// δq of column `k`.
    pub fn position(&self, k: usize) -> &[f64] {
        &self.column(k)[..self.d]
    }

    /// δv of column `k`.
    pub fn velocity(&self, k: usize) -> &[f64] {
        &self.column(k)[self.d..2 * self.d]
    }
}

/// Why a motion has no derivative from some instant on, or none that is computed.
#[derive(Clone, Debug, PartialEq)]
pub struct Obstacle {
    /// When.
    pub t: f64,
    /// What happens there.
    pub what: String,
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "at t = {} {}: there are no derivatives beyond it", crate::text::number(self.t, 6), self.what)
    }
}

impl std::error::Error for Obstacle {}
