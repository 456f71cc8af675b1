//! LU factorization with partial pivoting of a small full matrix, for Newton's method where ∂g/∂v is not symmetric.

/// Buffers for solving `n` × `n` systems; nothing is allocated after [`Lu::new`].
#[derive(Clone, Debug)]
pub struct Lu {
    n: usize,
    /// The matrix by rows; overwritten by [`Lu::solve`].
    pub entries: Vec<f64>,
}

/// A matrix factored once and solved with many times.
#[derive(Clone, Debug, Default)]
pub struct FactoredLu {
    n: usize,
    entries: Vec<f64>,
    pivots: Vec<usize>,
}

impl FactoredLu {
    /// Factors a matrix given by rows; the index of the first column without a pivot if it is singular. Allocates only
    /// where the matrix is larger than any before.
    pub fn set(&mut self, n: usize, entries: &[f64]) -> Result<(), usize> {
        self.n = n;
        self.entries.clear();
        self.entries.extend_from_slice(&entries[..n * n]);
        self.pivots.clear();
        let a = &mut self.entries;
        for k in 0..n {
            let pivot = (k..n).max_by(|&i, &j| a[i * n + k].abs().total_cmp(&a[j * n + k].abs())).unwrap_or(k);
            if !(a[pivot * n + k].abs() > 0.0) || !a[pivot * n + k].is_finite() {
                return Err(k);
            }
            self.pivots.push(pivot);
            if pivot != k {
                (0..n).for_each(|j| a.swap(k * n + j, pivot * n + j));
            }
            for i in k + 1..n {
                let factor = a[i * n + k] / a[k * n + k];
                a[i * n + k] = factor;
                for j in k + 1..n {
                    a[i * n + j] -= factor * a[k * n + j];
                }
            }
        }
        Ok(())
    }

    /// Overwrites the right-hand side with the solution.
    pub fn solve(&self, b: &mut [f64]) {
        let (n, a) = (self.n, &self.entries);
        for (k, &pivot) in self.pivots.iter().enumerate() {
            b.swap(k, pivot);
        }
        for i in 0..n {
            b[i] -= (0..i).map(|j| a[i * n + j] * b[j]).sum::<f64>();
        }
        for i in (0..n).rev() {
            let rest: f64 = (i + 1..n).map(|j| a[i * n + j] * b[j]).sum();
            b[i] = (b[i] - rest) / a[i * n + i];
        }
    }
}

impl Lu {
    /// Buffers for `n` unknowns.
    pub fn new(n: usize) -> Self {
        Lu { n, entries: vec![0.0; n * n] }
    }

    /// The number of unknowns.
    pub fn dimension(&self) -> usize {
        self.n
    }

    /// Overwrites `b` with the solution of A x = b and the entries with their elimination; false if A is singular (b is
    /// then of no use).
    pub fn solve(&mut self, b: &mut [f64]) -> bool {
        let (n, a) = (self.n, &mut self.entries);
        for k in 0..n {
            let pivot = (k..n).max_by(|&i, &j| a[i * n + k].abs().total_cmp(&a[j * n + k].abs())).unwrap_or(k);
            if !(a[pivot * n + k].abs() > 0.0) || !a[pivot * n + k].is_finite() {
                return false;
            }
            if pivot != k {
                (0..n).for_each(|j| a.swap(k * n + j, pivot * n + j));
                b.swap(k, pivot);
            }
            for i in k + 1..n {
                let factor = a[i * n + k] / a[k * n + k];
                for j in k..n {
                    a[i * n + j] -= factor * a[k * n + j];
                }
                b[i] -= factor * b[k];
            }
        }
        for i in (0..n).rev() {
            let rest: f64 = (i + 1..n).map(|j| a[i * n + j] * b[j]).sum();
            b[i] = (b[i] - rest) / a[i * n + i];
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn solves_what_nalgebra_solves(n in 1usize..6, seed in prop::collection::vec(-1.0f64..1.0, 41)) {
            let a = nalgebra::DMatrix::from_fn(n, n, |i, j| seed[i * 6 + j]);
            prop_assume!(a.determinant().abs() > 1e-3);
            let b = nalgebra::DVector::from_fn(n, |i, _| seed[35 + i]);
            let expected = a.clone().lu().solve(&b).expect("regular");
            let mut lu = Lu::new(n);
            lu.entries.copy_from_slice(a.transpose().as_slice());
            let mut x = b.as_slice().to_vec();
            prop_assert!(lu.solve(&mut x));
            for i in 0..n {
                prop_assert!((x[i] - expected[i]).abs() < 1e-8 * (1.0 + expected.amax()));
            }
        }
    }

    #[test]
    fn a_singular_matrix_is_said_to_be_so() {
        let mut lu = Lu::new(2);
        lu.entries.copy_from_slice(&[1.0, 2.0, 2.0, 4.0]);
        assert!(!lu.solve(&mut [1.0, 1.0]));
    }
}
