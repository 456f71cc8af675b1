//! Decompositions for questions asked once, not in every step: least-norm solutions, null spaces, eigenvalues. nalgebra's.

use nalgebra::{DMatrix, DVector};

/// A matrix by rows with its singular value decomposition.
pub struct Svd {
    columns: usize,
    u: DMatrix<f64>,
    v_t: DMatrix<f64>,
    values: DVector<f64>,
    cut: f64,
}

impl Svd {
    /// Decomposes; singular values below `relative` of the largest count as zero. None if an entry is not a number.
    pub fn new(rows: usize, columns: usize, entries: &[f64], relative: f64) -> Option<Self> {
        if entries.iter().any(|x| !x.is_finite()) {
            return None;
        }
        // Square, so that the right factor spans everything.
        let size = rows.max(columns);
        let mut a = DMatrix::zeros(size, columns);
        for i in 0..rows {
            for j in 0..columns {
                a[(i, j)] = entries[i * columns + j];
            }
        }
        let svd = a.svd(true, true);
        let cut = relative * svd.singular_values.max();
        Some(Svd { columns, u: svd.u?, v_t: svd.v_t?, values: svd.singular_values, cut })
    }

    /// The shortest x that minimises |A x − b|.
    pub fn least_norm(&self, b: &[f64]) -> Vec<f64> {
        let mut x = vec![0.0; self.columns];
        for k in (0..self.values.len()).filter(|&k| self.values[k] > self.cut) {
            let share = b.iter().enumerate().map(|(i, b)| self.u[(i, k)] * b).sum::<f64>() / self.values[k];
            x.iter_mut().enumerate().for_each(|(j, x)| *x += share * self.v_t[(k, j)]);
        }
        x
    }

    /// An orthonormal basis of { x : A x = 0 }.
    pub fn null_space(&self) -> Vec<Vec<f64>> {
        let zero = (0..self.values.len()).filter(|&k| !(self.values[k] > self.cut));
        zero.map(|k| (0..self.columns).map(|j| self.v_t[(k, j)]).collect()).collect()
    }
}

/// Eigenvalues of a symmetric matrix by rows, smallest first, with their vectors.
pub fn eigen(n: usize, entries: &[f64]) -> Vec<(f64, Vec<f64>)> {
    let a = DMatrix::from_fn(n, n, |i, j| 0.5 * (entries[i * n + j] + entries[j * n + i]));
    let eigen = a.symmetric_eigen();
    let mut pairs: Vec<(f64, Vec<f64>)> =
        (0..n).map(|k| (eigen.eigenvalues[k], eigen.eigenvectors.column(k).iter().copied().collect())).collect();
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_matrix_has_a_null_space_and_a_shortest_solution() {
        let svd = Svd::new(1, 2, &[1.0, 1.0], 1e-12).expect("numbers");
        let x = svd.least_norm(&[2.0]);
        assert!((x[0] - 1.0).abs() < 1e-14 && (x[1] - 1.0).abs() < 1e-14);
        let null = svd.null_space();
        assert_eq!(null.len(), 1);
        assert!((null[0][0] + null[0][1]).abs() < 1e-14);
        assert!(Svd::new(1, 1, &[f64::NAN], 1e-12).is_none());
    }

    #[test]
    fn eigenvalues_come_in_order() {
        let pairs = eigen(2, &[2.0, 1.0, 1.0, 2.0]);
        assert!((pairs[0].0 - 1.0).abs() < 1e-14 && (pairs[1].0 - 3.0).abs() < 1e-14);
        assert!((pairs[0].1[0] + pairs[0].1[1]).abs() < 1e-14);
    }
}
