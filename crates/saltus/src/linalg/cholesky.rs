//! Cholesky factorization A = L Lᵀ of a symmetric matrix stored by rows, in place, and the two triangular solves.

/// Overwrites the lower triangle of the `n` × `n` matrix `a` (row length `stride`) with its Cholesky factor.
///
/// Only the lower triangle is read. Returns the index of the first pivot that is not positive, if there is one.
pub(super) fn factor(a: &mut [f64], n: usize, stride: usize) -> Result<(), usize> {
    for i in 0..n {
        for j in 0..i {
            let (upper, lower) = a.split_at_mut(i * stride);
            let s: f64 = (0..j).map(|k| lower[k] * upper[j * stride + k]).sum();
            lower[j] = (lower[j] - s) / upper[j * stride + j];
        }
        let row = &a[i * stride..i * stride + i];
        let scale = a[i * stride + i];
        let pivot = scale - row.iter().map(|x| x * x).sum::<f64>();
        // A pivot that is rounding noise next to its diagonal entry is a singular matrix, not a positive one.
        if !(pivot > 1e-14 * scale.abs()) || !pivot.is_finite() {
            return Err(i);
        }
        a[i * stride + i] = pivot.sqrt();
    }
    Ok(())
}

/// Solves L x = b in place.
pub(super) fn forward(l: &[f64], n: usize, stride: usize, b: &mut [f64]) {
    for i in 0..n {
        let s: f64 = (0..i).map(|k| l[i * stride + k] * b[k]).sum();
        b[i] = (b[i] - s) / l[i * stride + i];
    }
}

/// Solves Lᵀ x = b in place.
pub(super) fn backward(l: &[f64], n: usize, stride: usize, b: &mut [f64]) {
    for i in (0..n).rev() {
        let s: f64 = (i + 1..n).map(|k| l[k * stride + i] * b[k]).sum();
        b[i] = (b[i] - s) / l[i * stride + i];
    }
}

/// The Cholesky factor of a growing Gram matrix: rows are appended as constraints become active.
#[derive(Clone, Debug, Default)]
pub struct GrowingFactor {
    n: usize,
    stride: usize,
    l: Vec<f64>,
}

impl GrowingFactor {
    /// Room for matrices up to `capacity` × `capacity`; nothing is allocated afterwards.
    pub fn with_capacity(capacity: usize) -> Self {
        GrowingFactor { n: 0, stride: capacity, l: vec![0.0; capacity * capacity] }
    }

    /// Empties the matrix.
    pub fn clear(&mut self) {
        self.n = 0;
    }

    /// Overwrites `b` with L⁻¹ b.
    pub fn forward(&self, b: &mut [f64]) {
        forward(&self.l, self.n, self.stride, b);
    }

    /// Overwrites the first `n` entries of `b` with L⁻ᵀ b, L being the factor of the leading `n` × `n` block.
    pub fn backward_first(&self, n: usize, b: &mut [f64]) {
        backward(&self.l, n, self.stride, b);
    }

    /// Appends the row whose off-diagonal part is already L⁻¹ g and whose Schur complement is `schur`.
    pub fn push(&mut self, l_inverse_g: &[f64], schur: f64) {
        let start = self.n * self.stride;
        self.l[start..start + self.n].copy_from_slice(&l_inverse_g[..self.n]);
        self.l[start + self.n] = schur.sqrt();
        self.n += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn solves_like_nalgebra(n in 1usize..7, seed in prop::collection::vec(-1.0f64..1.0, 56)) {
            let b = nalgebra::DMatrix::from_fn(n, n, |i, j| seed[i * 7 + j]);
            let a = &b * b.transpose() + nalgebra::DMatrix::identity(n, n) * 0.1;
            let rhs = nalgebra::DVector::from_fn(n, |i, _| seed[49 + i]);
            let expected = a.clone().cholesky().expect("positive definite").solve(&rhs);
            let mut l: Vec<f64> = a.transpose().as_slice().to_vec();
            factor(&mut l, n, n).expect("positive definite");
            let mut x = rhs.as_slice().to_vec();
            forward(&l, n, n, &mut x);
            backward(&l, n, n, &mut x);
            for i in 0..n {
                prop_assert!((x[i] - expected[i]).abs() <= 1e-9 * expected.amax());
            }
        }
    }

    #[test]
    fn names_the_bad_pivot() {
        let mut a = vec![1.0, 1.0, 1.0, 1.0];
        assert_eq!(factor(&mut a, 2, 2), Err(1));
        let mut a = vec![f64::NAN];
        assert_eq!(factor(&mut a, 1, 1), Err(0));
    }
}
