//! Antisymmetric matrices: gyroscopic forces, which do no work, and circulatory ones, which do.

use super::{Rows, Symmetric};

/// A sparse matrix with Aᵀ = −A.
#[derive(Clone, Debug)]
pub struct Skew {
    rows: Rows,
}

impl Skew {
    /// From entries (row, column, value) of the whole matrix; those of one place are added up. What is symmetric in them is left out.
    pub fn new(n: usize, entries: impl IntoIterator<Item = (usize, usize, f64)>) -> Self {
        let both = entries.into_iter().filter(|&(i, j, _)| i < n && j < n && i != j);
        let both = both.flat_map(|(i, j, x)| [(i, j, 0.5 * x), (j, i, -0.5 * x)]).collect();
        // (Only the sums are needed here, for which the halves need not be equal.)
        let sums = Symmetric::new(n, both);
        Skew { rows: (0..n).map(|i| sums.row(i).filter(|(_, x)| *x != 0.0).collect::<Vec<_>>()).collect() }
    }

    /// The antisymmetric part of a matrix given by its entries, and its symmetric part.
    pub fn split(n: usize, entries: &[(usize, usize, f64)]) -> (Symmetric, Option<Skew>) {
        let halves = entries.iter().flat_map(|&(i, j, x)| [(i, j, 0.5 * x), (j, i, 0.5 * x)]).collect();
        let skew = Skew::new(n, entries.iter().copied());
        (Symmetric::new(n, halves), (!skew.is_zero()).then_some(skew))
    }

    /// Number of rows.
    pub fn dimension(&self) -> usize {
        self.rows.len()
    }

    /// Whether nothing is left.
    pub fn is_zero(&self) -> bool {
        self.rows.values.iter().all(|x| *x == 0.0)
    }

    /// The largest entry.
    pub fn largest(&self) -> f64 {
        super::max_abs(&self.rows.values)
    }

    /// The entries (column, value) of a row.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.rows.entries(i)
    }

    /// All entries (row, column, value).
    pub fn entries(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        (0..self.dimension()).flat_map(move |i| self.row(i).map(move |(j, x)| (i, j, x)))
    }

    /// y += s A x.
    pub fn add_product(&self, s: f64, x: &[f64], y: &mut [f64]) {
        y.iter_mut().enumerate().take(self.dimension()).for_each(|(i, y)| *y += s * self.rows.dot(i, x));
    }

    /// The places where it has entries, as a symmetric matrix.
    pub fn pattern(&self) -> Symmetric {
        Symmetric::new(self.dimension(), self.entries().map(|(i, j, _)| (i, j, 1.0)).collect())
    }
}
