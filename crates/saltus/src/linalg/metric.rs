//! The kinetic metric ⟨x, y⟩ = xᵀ M y and its inverse, diagonal or full.

use super::cholesky;

/// A matrix that should be positive definite is not: `pivot` is the first coordinate where it fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotPositiveDefinite {
    /// Index of the coordinate whose pivot is zero, negative or not a number.
    pub pivot: usize,
}

/// A symmetric positive definite matrix with its factorization.
///
/// ```
/// use saltus::linalg::Metric;
/// let mut metric = Metric::full(2);
/// metric.set(&[2.0, 1.0, 1.0, 3.0]).unwrap();
/// let mut x = [1.0, 2.0];
/// metric.solve(&mut x);                       // M⁻¹ x
/// assert!((x[0] - 0.2).abs() < 1e-15 && (x[1] - 0.6).abs() < 1e-15);
/// ```
#[derive(Clone, Debug)]
pub enum Metric {
    /// Diagonal: the entries and their inverses.
    Diagonal {
        /// The diagonal entries.
        mass: Vec<f64>,
        /// Their inverses.
        inverse: Vec<f64>,
    },
    /// Full: the matrix by rows and its Cholesky factor.
    Full {
        /// Number of rows.
        d: usize,
        /// The matrix by rows.
        mass: Vec<f64>,
        /// Its Cholesky factor, in the lower triangle.
        factor: Vec<f64>,
    },
}

impl Metric {
    /// The identity, to be overwritten by [`Metric::set`] with `d` diagonal entries.
    pub fn diagonal(d: usize) -> Self {
        Metric::Diagonal { mass: vec![1.0; d], inverse: vec![1.0; d] }
    }

    /// The identity, to be overwritten by [`Metric::set`] with `d` × `d` entries by rows.
    pub fn full(d: usize) -> Self {
        let mut mass = vec![0.0; d * d];
        (0..d).for_each(|i| mass[i * d + i] = 1.0);
        Metric::Full { d, factor: mass.clone(), mass }
    }

    /// Whether only the diagonal is stored.
    pub fn is_diagonal(&self) -> bool {
        matches!(self, Metric::Diagonal { .. })
    }

    /// The stored entries: the diagonal, or the matrix by rows.
    pub fn entries(&self) -> &[f64] {
        match self {
            Metric::Diagonal { mass, .. } | Metric::Full { mass, .. } => mass,
        }
    }

    /// Writes the matrix by rows, zeros included.
    pub fn write_full(&self, out: &mut [f64]) {
        match self {
            Metric::Diagonal { mass, .. } => {
                out.fill(0.0);
                mass.iter().enumerate().for_each(|(i, m)| out[i * mass.len() + i] = *m);
            }
            Metric::Full { mass, .. } => out.copy_from_slice(mass),
        }
    }

    /// Number of rows.
    pub fn dimension(&self) -> usize {
        match self {
            Metric::Diagonal { mass, .. } => mass.len(),
            Metric::Full { d, .. } => *d,
        }
    }

    /// Replaces the matrix and factors it; allocates nothing.
    pub fn set(&mut self, entries: &[f64]) -> Result<(), NotPositiveDefinite> {
        match self {
            Metric::Diagonal { mass, inverse } => {
                mass.copy_from_slice(entries);
                for (pivot, (m, i)) in mass.iter().zip(inverse).enumerate() {
                    if !(*m > 0.0 && m.is_finite()) {
                        return Err(NotPositiveDefinite { pivot });
                    }
                    *i = 1.0 / m;
                }
                Ok(())
            }
            Metric::Full { d, mass, factor } => {
                mass.copy_from_slice(entries);
                factor.copy_from_slice(entries);
                cholesky::factor(factor, *d, *d).map_err(|pivot| NotPositiveDefinite { pivot })
            }
        }
    }

    /// Overwrites `x` with M⁻¹ x.
    pub fn solve(&self, x: &mut [f64]) {
        match self {
            Metric::Diagonal { inverse, .. } => super::each(inverse.len(), |i| x[i] *= inverse[i]),
            Metric::Full { d, factor, .. } => {
                cholesky::forward(factor, *d, *d, x);
                cholesky::backward(factor, *d, *d, x);
            }
        }
    }

    /// Writes M x into `out`.
    pub fn apply(&self, x: &[f64], out: &mut [f64]) {
        match self {
            Metric::Diagonal { mass, .. } => {
                for ((o, x), m) in out.iter_mut().zip(x).zip(mass) {
                    *o = m * x;
                }
            }
            Metric::Full { d, mass, .. } => {
                for (o, row) in out.iter_mut().zip(mass.chunks_exact(*d)) {
                    *o = super::dot(row, x);
                }
            }
        }
    }

    /// The squared kinetic norm xᵀ M x.
    pub fn norm_squared(&self, x: &[f64]) -> f64 {
        match self {
            Metric::Diagonal { mass, .. } => mass.iter().zip(x).map(|(m, x)| m * x * x).sum(),
            Metric::Full { d, mass, .. } => mass.chunks_exact(*d).zip(x).map(|(row, xi)| xi * super::dot(row, x)).sum(),
        }
    }
}
