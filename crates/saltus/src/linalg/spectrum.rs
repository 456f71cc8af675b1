//! Decompositions for questions asked once, not in every step: least-norm solutions, null spaces, eigenvalues. nalgebra's.

use super::{NotPositiveDefinite, add, dot};
use nalgebra::linalg::Schur;
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

    /// The same with singular values below `cut` counting as zero as well.
    pub fn at_least(mut self, cut: f64) -> Self {
        self.cut = self.cut.max(cut);
        self
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

    /// The unit vector x for which |A x| is least.
    pub fn smallest(&self) -> Vec<f64> {
        let least = (0..self.values.len()).min_by(|&i, &j| self.values[i].total_cmp(&self.values[j]));
        least.map_or_else(Vec::new, |k| (0..self.columns).map(|j| self.v_t[(k, j)]).collect())
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

/// Eigenvalues (real and imaginary parts) of any square matrix by rows; None if the iteration does not end.
pub fn eigenvalues(n: usize, entries: &[f64]) -> Option<Vec<(f64, f64)>> {
    if n == 0 {
        return Some(Vec::new());
    }
    if entries.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let a = DMatrix::from_row_slice(n, n, entries);
    let schur = Schur::try_new(a, f64::EPSILON, 10_000)?;
    Some(schur.complex_eigenvalues().iter().map(|z| (z.re, z.im)).collect())
}

/// Eigenvalues of A x = λ M x, smallest first, with vectors of xᵀ M x = 1; both matrices symmetric, by rows.
pub fn generalized_eigen(n: usize, a: &[f64], m: &[f64]) -> Result<Vec<(f64, Vec<f64>)>, NotPositiveDefinite> {
    // With M = L Lᵀ: the vectors y of L⁻¹ A L⁻ᵀ give x = L⁻ᵀ y.
    let mut l = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let sum = m[i * n + j] - dot(&l[i * n..i * n + j], &l[j * n..j * n + j]);
            l[i * n + j] = if i == j { sum.sqrt() } else { sum / l[j * n + j] };
        }
        if !(l[i * n + i] > 0.0) {
            return Err(NotPositiveDefinite { pivot: i });
        }
    }
    let mut a = a.to_vec();
    // Rows of a symmetric matrix are columns, too: forward substitution on each, then turn, and once more.
    for _ in 0..2 {
        for row in a.chunks_exact_mut(n) {
            for i in 0..n {
                let sum = row[i] - dot(&l[i * n..i * n + i], &row[..i]);
                row[i] = sum / l[i * n + i];
            }
        }
        for i in 0..n {
            for j in 0..i {
                a.swap(i * n + j, j * n + i);
            }
        }
    }
    let mut pairs = eigen(n, &a);
    for (_, x) in &mut pairs {
        for i in (0..n).rev() {
            x[i] /= l[i * n + i];
            let xi = x[i];
            add(&mut x[..i], -xi, &l[i * n..i * n + i]);
        }
    }
    Ok(pairs)
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
    fn a_rotation_has_imaginary_eigenvalues() {
        let values = eigenvalues(2, &[0.0, 2.0, -2.0, 0.0]).expect("numbers");
        assert!(values.iter().all(|(re, im)| re.abs() < 1e-14 && (im.abs() - 2.0).abs() < 1e-14), "{values:?}");
        assert!(eigenvalues(1, &[f64::NAN]).is_none());
    }

    #[test]
    fn eigenvalues_come_in_order() {
        let pairs = eigen(2, &[2.0, 1.0, 1.0, 2.0]);
        assert!((pairs[0].0 - 1.0).abs() < 1e-14 && (pairs[1].0 - 3.0).abs() < 1e-14);
        assert!((pairs[0].1[0] + pairs[0].1[1]).abs() < 1e-14);
    }
}
