//! L D Lᵀ within the row profile: between the first entry of a row and the diagonal, where all fill-in stays.

use super::wait::Wait;
use super::{FOUR, NotPositiveDefinite, Symmetric, dot};

/// The factor of a matrix with a row profile.
#[derive(Clone, Debug)]
pub struct Envelope {
    /// The first column of each row, and where its entries begin.
    first: Vec<usize>,
    starts: Vec<usize>,
    lower: Vec<f64>,
    inverse: Vec<f64>,
}

impl Envelope {
    /// Factors a matrix; it should be ordered for a small profile.
    pub fn new(matrix: &Symmetric) -> Result<Self, NotPositiveDefinite> {
        let n = matrix.dimension();
        let first: Vec<usize> = (0..n).map(|i| matrix.row(i).map(|(j, _)| j).min().unwrap_or(i).min(i)).collect();
        let mut starts = vec![0; n + 1];
        for i in 0..n {
            starts[i + 1] = starts[i] + i - first[i];
        }
        let mut lower = vec![0.0; starts[n]];
        let mut inverse = vec![0.0; n];
        let mut scaled = Vec::new();
        let work = |i: usize| ((i - first[i]) as f64).powi(2);
        let mut wait = Wait::new((0..n).map(work).sum(), 8.0 * starts[n] as f64);
        for i in 0..n {
            wait.did(work(i));
            let (done, rest) = lower.split_at_mut(starts[i]);
            let row = &mut rest[..i - first[i]];
            let mut pivot = 0.0;
            for (j, x) in matrix.row(i) {
                match j {
                    j if j < i => row[j - first[i]] = x,
                    j if j == i => pivot = x,
                    _ => {}
                }
            }
            // Forward substitution gives (L D)[i, j]; then L = (L D) / D.
            for j in first[i]..i {
                let from = first[i].max(first[j]);
                let other = &done[starts[j] + from - first[j]..starts[j + 1]];
                let sum = dot(&row[from - first[i]..j - first[i]], other);
                row[j - first[i]] -= sum;
            }
            scaled.clear();
            scaled.extend(row.iter().zip(&inverse[first[i]..i]).map(|(x, d)| x * d));
            pivot -= dot(row, &scaled);
            row.copy_from_slice(&scaled);
            if !(pivot > 0.0 && pivot.is_finite()) {
                return Err(NotPositiveDefinite { pivot: i });
            }
            inverse[i] = 1.0 / pivot;
        }
        wait.end();
        Ok(Envelope { first, starts, lower, inverse })
    }

    /// The entries of D⁻¹.
    pub fn inverse(&self) -> &[f64] {
        &self.inverse
    }

    /// x = A⁻¹ x of four vectors.
    pub fn solve_block(&self, x: &mut [[f64; FOUR]]) {
        let n = x.len();
        for i in 0..n {
            let row = &self.lower[self.starts[i]..self.starts[i + 1]];
            let mut sum = [0.0; FOUR];
            for (l, x) in row.iter().zip(&x[self.first[i]..i]) {
                (0..FOUR).for_each(|r| sum[r] += l * x[r]);
            }
            (0..FOUR).for_each(|r| x[i][r] -= sum[r]);
        }
        x.iter_mut().zip(&self.inverse).for_each(|(x, d)| x.iter_mut().for_each(|x| *x *= d));
        for i in (0..n).rev() {
            let row = &self.lower[self.starts[i]..self.starts[i + 1]];
            let xi = x[i];
            for (l, x) in row.iter().zip(&mut x[self.first[i]..i]) {
                (0..FOUR).for_each(|r| x[r] -= l * xi[r]);
            }
        }
    }

    /// x = A⁻¹ x.
    pub fn solve(&self, x: &mut [f64]) {
        let n = x.len();
        for i in 0..n {
            let row = &self.lower[self.starts[i]..self.starts[i + 1]];
            x[i] -= dot(row, &x[self.first[i]..i]);
        }
        x.iter_mut().zip(&self.inverse).for_each(|(x, d)| *x *= d);
        for i in (0..n).rev() {
            let row = &self.lower[self.starts[i]..self.starts[i + 1]];
            let xi = x[i];
            super::add(&mut x[self.first[i]..i], -xi, row);
        }
    }
}
