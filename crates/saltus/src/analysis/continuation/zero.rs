//! Curves of zeros of n equations in n + 1 unknowns: Newton's method with one more row, and the tangent.

use crate::analysis::phase_space::NoMap;
use crate::linalg::{Svd, dot, max_abs};

/// Newton steps of one correction, and halvings of one of them.
const STEPS: usize = 12;
const HALVINGS: usize = 5;

/// A residual below this is zero; where Newton's method goes no further, below the second.
const ZERO: f64 = 1e-12;
const ENOUGH: f64 = 1e-9;

/// Equations whose zeros form a curve. Unknowns and residuals are scaled: all of them of the order of one.
pub trait Equations {
    /// What an evaluation leaves behind.
    type Seen;

    /// Number of unknowns, one more than there are equations.
    fn unknowns(&self) -> usize;

    /// The equations at a point.
    fn evaluate(&mut self, z: &[f64]) -> Result<Evaluation<Self::Seen>, NoMap>;

    /// Called with each point of a curve that is followed: where to look for the next.
    fn reached(&mut self, _z: &[f64], _seen: &Self::Seen) -> Result<(), NoMap> {
        Ok(())
    }
}

/// Equations at a point.
#[derive(Clone, Debug)]
pub struct Evaluation<S> {
    /// The point.
    pub z: Vec<f64>,
    /// The left sides.
    pub residual: Vec<f64>,
    /// Their derivatives, by rows.
    pub jacobian: Vec<f64>,
    /// What else was seen.
    pub seen: S,
}

impl<S> Evaluation<S> {
    /// How far from a zero.
    pub fn size(&self) -> f64 {
        max_abs(&self.residual)
    }

    /// The Jacobian with one more row.
    fn bordered(&self, row: &[f64]) -> Vec<f64> {
        self.jacobian.iter().chain(row).copied().collect()
    }

    /// The direction of the curve, of length one, on the side of `along`.
    pub fn tangent(&self, along: &[f64]) -> Option<Vec<f64>> {
        let n = self.z.len();
        let svd = Svd::new(n - 1, n, &self.jacobian, 0.0)?;
        let mut found = svd.smallest();
        if dot(&found, along) < 0.0 {
            found.iter_mut().for_each(|x| *x = -*x);
        }
        found.iter().all(|x| x.is_finite()).then_some(found)
    }

    /// The determinant of the Jacobian with one more row.
    pub fn determinant(&self, row: &[f64]) -> f64 {
        determinant(self.z.len(), &self.bordered(row))
    }
}

/// Why a correction came to no zero.
#[derive(Clone, Debug)]
pub enum Missed {
    /// The equations cannot be evaluated.
    Map(NoMap),
    /// Newton's method does not converge; how near it came.
    Far(f64),
}

/// The zero near `from` on the plane row·z = row·from.
pub fn correct<E: Equations>(
    equations: &mut E,
    from: &[f64],
    row: &[f64],
) -> Result<(Evaluation<E::Seen>, usize), Missed> {
    let target = dot(row, from);
    let mut now = equations.evaluate(from).map_err(Missed::Map)?;
    let mut steps = 0;
    loop {
        let size = now.size();
        if size <= ZERO {
            return Ok((now, steps));
        }
        if steps == STEPS {
            return if size <= ENOUGH { Ok((now, steps)) } else { Err(Missed::Far(size)) };
        }
        let n = now.z.len();
        let mut right: Vec<f64> = now.residual.iter().map(|r| -r).collect();
        right.push(target - dot(row, &now.z));
        let Some(svd) = Svd::new(n, n, &now.bordered(row), 1e-14) else { return Err(Missed::Far(size)) };
        let step = svd.least_norm(&right);
        let mut share = 1.0;
        let mut best: Option<Evaluation<E::Seen>> = None;
        let mut refusal = None;
        for _ in 0..HALVINGS {
            let z: Vec<f64> = now.z.iter().zip(&step).map(|(z, s)| z + share * s).collect();
            match equations.evaluate(&z) {
                Ok(found) if found.size() < (1.0 - 0.2 * share) * size => {
                    best = Some(found);
                    break;
                }
                Ok(_) => {}
                Err(reason) => refusal = Some(reason),
            }
            share *= 0.4;
        }
        steps += 1;
        match (best, refusal) {
            (Some(found), _) => now = found,
            // (As far as rounding and the tolerance of the motion let it.)
            (None, _) if size <= ENOUGH => return Ok((now, steps)),
            (None, Some(reason)) => return Err(Missed::Map(reason)),
            (None, None) => return Err(Missed::Far(size)),
        }
    }
}

/// The determinant of a matrix by rows.
pub fn determinant(n: usize, entries: &[f64]) -> f64 {
    let mut a = entries.to_vec();
    let mut product = 1.0;
    for k in 0..n {
        let Some(pivot) = (k..n).max_by(|&i, &j| a[i * n + k].abs().total_cmp(&a[j * n + k].abs())) else { return 1.0 };
        if a[pivot * n + k] == 0.0 {
            return 0.0;
        }
        if pivot != k {
            (0..n).for_each(|j| a.swap(k * n + j, pivot * n + j));
            product = -product;
        }
        product *= a[k * n + k];
        for i in k + 1..n {
            let factor = a[i * n + k] / a[k * n + k];
            for j in k..n {
                a[i * n + j] -= factor * a[k * n + j];
            }
        }
    }
    product
}
