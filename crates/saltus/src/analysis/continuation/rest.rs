//! Equilibria over a parameter, as zeros of equations: forces and reactions in balance, closed gaps zero.
//!
//! The unknowns are positions, first-order states, the reactions of the contacts that are closed and of joints, and the
//! parameter. Stability follows from the eigenvalues of the linearised motion on the tangent space of what is closed.

use super::zero::{Equations, Evaluation};
use crate::SetupError;
use crate::analysis::phase_space::NoMap;
use crate::linalg::{Svd, eigenvalues, max_abs};
use crate::problem::{Gaps, Problem, Start};

/// The step of differences: Newton's method needs the slopes only roughly.
const DIFFERENCE: f64 = 1e-6;

/// Equilibria with some contacts closed.
#[derive(Clone)]
pub struct Rest {
    pub problem: Problem,
    /// The open parameter that is an unknown, by its place, and the size by which it is measured.
    pub place: usize,
    pub unit: f64,
    pub parameters: Vec<f64>,
    /// The constraints that are closed.
    pub closed: Vec<usize>,
    /// What positions, states and forces are measured by.
    pub far: f64,
    pub states: Vec<f64>,
    pub force: f64,
}

/// An equilibrium.
#[derive(Clone, Debug)]
pub struct AtRest {
    pub start: Start,
    /// The reactions of what is closed.
    pub reactions: Vec<f64>,
    /// All gaps.
    pub gaps: Vec<f64>,
    /// Eigenvalues of the linearised motion, the largest real part first.
    pub eigenvalues: Vec<(f64, f64)>,
}

impl Rest {
    fn degrees(&self) -> usize {
        self.problem.model().degrees()
    }

    fn held(&self) -> usize {
        self.closed.len() + self.problem.model().joints.len()
    }

    /// The unknowns of an equilibrium.
    pub fn unknowns_of(&self, q: &[f64], z: &[f64], reactions: &[f64], value: f64) -> Vec<f64> {
        let mut all: Vec<f64> = q.iter().map(|x| x / self.far).collect();
        all.extend(z.iter().zip(&self.states).map(|(x, s)| x / s));
        all.extend(reactions.iter().map(|x| x / self.force));
        all.push(value / self.unit);
        all
    }

    /// The value of the parameter.
    pub fn value(&self, z: &[f64]) -> f64 {
        z[z.len() - 1] * self.unit
    }

    /// Position, states and reactions of a point.
    fn parts(&self, z: &[f64]) -> (Start, Vec<f64>) {
        let (degrees, states) = (self.degrees(), self.states.len());
        let mut q: Vec<f64> = z[..degrees].iter().map(|x| x * self.far).collect();
        q.extend(self.states.iter().map(|_| 0.0));
        let mut v = vec![0.0; degrees];
        v.extend(z[degrees..degrees + states].iter().zip(&self.states).map(|(x, s)| x * s));
        let reactions = z[degrees + states..z.len() - 1].iter().map(|x| x * self.force).collect();
        let mut parameters = self.parameters.clone();
        parameters[self.place] = self.value(z);
        (Start::new(0.0, q, v).with_parameters(parameters), reactions)
    }

    /// The left sides at a point.
    fn residual(&self, z: &[f64]) -> Result<Vec<f64>, NoMap> {
        let (start, reactions) = self.parts(z);
        let at = self.problem.instance_anywhere(&start)?;
        let (mut dynamics, mut gaps, mut joints) = (at.dynamics(), at.gaps(), at.joints());
        dynamics.evaluate(0.0, &start.q, &start.v);
        gaps.linearise(0.0, &start.q, &start.v);
        joints.linearise(0.0, &start.q, &start.v);
        let mut force = dynamics.g.clone();
        let rows = self.rows(&gaps, &joints);
        for ((gaps, row), reaction) in rows.iter().zip(&reactions) {
            gaps.gradients.add_to(*row, *reaction, &mut force);
        }
        let degrees = self.degrees();
        let mut all: Vec<f64> = force[..degrees].iter().map(|x| x / self.force).collect();
        all.extend(force[degrees..].iter().zip(&self.states).map(|(x, s)| x / s));
        all.extend(rows.iter().map(|(gaps, row)| gaps.values[*row] / self.far));
        match all.iter().all(|x| x.is_finite()) {
            true => Ok(all),
            false => Err(SetupError::new("a force or a gap is no number there").into()),
        }
    }

    /// What is held: closed gaps, then joints.
    fn rows<'g>(&self, gaps: &'g Gaps, joints: &'g Gaps) -> Vec<(&'g Gaps, usize)> {
        let closed = self.closed.iter().map(|&a| (gaps, a));
        closed.chain((0..self.problem.model().joints.len()).map(|k| (joints, k))).collect()
    }

    /// Eigenvalues of the linearised motion.
    fn spectrum(&self, start: &Start, reactions: &[f64]) -> Option<Vec<(f64, f64)>> {
        let at = self.problem.instance_anywhere(start).ok()?;
        let (mut dynamics, mut gaps, mut joints) = (at.dynamics(), at.gaps(), at.joints());
        let (d, degrees) = (self.problem.dimension(), self.degrees());
        dynamics.evaluate(0.0, &start.q, &start.v);
        let mut slopes = vec![0.0; d * d];
        if let Some(mut stiffness) = at.stiffness() {
            stiffness.evaluate(0.0, &start.q, &start.v);
            slopes.copy_from_slice(&stiffness.matrix);
        }
        gaps.second_order(0.0, &start.q, &start.v);
        joints.second_order(0.0, &start.q, &start.v);
        let rows = self.rows(&gaps, &joints);
        for ((gaps, row), reaction) in rows.iter().zip(reactions) {
            for (&(a, i, j), x) in gaps.code.second.iter().zip(&gaps.hessians).filter(|((a, ..), _)| a == row) {
                debug_assert_eq!(a, *row);
                slopes[i * d + j] += reaction * x;
                if i != j {
                    slopes[j * d + i] += reaction * x;
                }
            }
        }
        let damping = |i: usize, j: usize| dynamics.jacobian.get(i * d + j).copied().unwrap_or(0.0);
        let mass = |i: usize, j: usize| match dynamics.code.diagonal {
            true if i == j => dynamics.mass[i],
            true => 0.0,
            false => dynamics.mass[i * d + j],
        };
        let held: Vec<f64> = rows.iter().flat_map(|(gaps, row)| gaps.gradients.vector(*row, degrees)).collect();
        let basis: Vec<Vec<f64>> = match rows.is_empty() {
            true => (0..degrees).map(|i| (0..degrees).map(|j| f64::from(u8::from(i == j))).collect()).collect(),
            false => Svd::new(rows.len(), degrees, &held, 1e-10)?.null_space(),
        };
        let (n, states) = (basis.len(), d - degrees);
        let form = |a: &[f64], f: &dyn Fn(usize, usize) -> f64, b: &[f64]| -> f64 {
            (0..degrees).map(|i| (0..degrees).map(|j| a[i] * f(i, j) * b[j]).sum::<f64>()).sum()
        };
        let m: Vec<f64> = (0..n * n).map(|k| form(&basis[k / n], &mass, &basis[k % n])).collect();
        let size = 2 * n + states;
        // (ξ, ξ', z)' by columns.
        let mut matrix = vec![0.0; size * size];
        let mut factored = crate::linalg::FactoredLu::default();
        if n > 0 {
            factored.set(n, &m).ok()?;
        }
        for c in 0..size {
            let mut right: Vec<f64> = (0..n)
                .map(|k| match c {
                    c if c < n => form(&basis[k], &|i, j| slopes[i * d + j], &basis[c]),
                    c if c < 2 * n => form(&basis[k], &damping, &basis[c - n]),
                    c => (0..degrees).map(|i| basis[k][i] * damping(i, degrees + c - 2 * n)).sum(),
                })
                .collect();
            if n > 0 {
                factored.solve(&mut right);
            }
            for k in 0..n {
                matrix[k * size + c] = f64::from(u8::from(c == n + k));
                matrix[(n + k) * size + c] = right[k];
            }
            for s in 0..states {
                let row = degrees + s;
                matrix[(2 * n + s) * size + c] = match c {
                    c if c < n => (0..degrees).map(|j| slopes[row * d + j] * basis[c][j]).sum(),
                    c if c < 2 * n => (0..degrees).map(|j| damping(row, j) * basis[c - n][j]).sum(),
                    c => damping(row, degrees + c - 2 * n),
                };
            }
        }
        let mut all = eigenvalues(size, &matrix)?;
        all.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1)));
        Some(all)
    }
}

impl Equations for Rest {
    type Seen = AtRest;

    fn unknowns(&self) -> usize {
        self.degrees() + self.states.len() + self.held() + 1
    }

    fn evaluate(&mut self, z: &[f64]) -> Result<Evaluation<AtRest>, NoMap> {
        let residual = self.residual(z)?;
        let (m, rows) = (z.len(), residual.len());
        let mut jacobian = vec![0.0; rows * m];
        for k in 0..m {
            let h = DIFFERENCE * (1.0 + z[k].abs());
            let mut moved = z.to_vec();
            moved[k] = z[k] + h;
            let above = self.residual(&moved);
            moved[k] = z[k] - h;
            let below = self.residual(&moved);
            for i in 0..rows {
                jacobian[i * m + k] = match (&above, &below) {
                    (Ok(a), Ok(b)) => (a[i] - b[i]) / (2.0 * h),
                    (Ok(a), Err(_)) => (a[i] - residual[i]) / h,
                    (Err(_), Ok(b)) => (residual[i] - b[i]) / h,
                    (Err(reason), Err(_)) => return Err(reason.clone()),
                };
            }
        }
        let (start, reactions) = self.parts(z);
        let at = self.problem.instance_anywhere(&start)?;
        let mut gaps = at.gaps();
        gaps.evaluate(0.0, &start.q, &start.v);
        let eigenvalues = match max_abs(&residual) < 1e-6 {
            true => self.spectrum(&start, &reactions).unwrap_or_default(),
            false => Vec::new(),
        };
        let seen = AtRest { start, reactions, gaps: gaps.values.clone(), eigenvalues };
        Ok(Evaluation { z: z.to_vec(), residual, jacobian, seen })
    }
}
