//! The stops, condensed: w A⁻¹ w once for all of them, so that what is left of contact in a step is a problem of the size of
//! the stops that could act.

use super::linear::Linear;
use crate::linalg::{Factor, Rows, add, dot};
use crate::project::{Polyhedron, ProjectionError};
use crate::{Model, Reason};

/// Sweeps over the stops of a step, at most.
const SWEEPS: usize = 20_000;

/// Rounds with the antisymmetric part of an unsymmetric matrix, at most.
const ROUNDS: usize = 300;

/// The stops of a structure, seen through a factored matrix.
#[derive(Clone, Debug)]
pub struct Stops {
    pub rows: Rows,
    /// Columns s A⁻¹ w, one after the other: what a unit multiplier does to the unknown.
    mobility: Vec<f64>,
    /// w_α s A⁻¹ w_β by rows: the symmetric part, and the rest where A is not symmetric.
    gram: Vec<f64>,
    skew: Vec<f64>,
    units: Rows,
    kernel: Polyhedron,
    /// Gap of the constraint as the scheme sees it; in, without contact, out, with it.
    pub slacks: Vec<f64>,
    /// The slacks without contact, and the multipliers.
    free: Vec<f64>,
    multipliers: Vec<f64>,
    n: usize,
}

impl Stops {
    /// Condenses; `scale` is the s of s A⁻¹.
    pub fn new(linear: &Linear, factor: &Factor, scale: f64) -> Self {
        Self::with(linear, !matches!(factor, Factor::Unsymmetric(_)), |x| {
            factor.solve(x);
            x.iter_mut().for_each(|x| *x *= scale);
        })
    }

    /// The same where each unknown answers by itself: `response` is the diagonal of s A⁻¹.
    pub fn diagonal(linear: &Linear, response: &[f64]) -> Self {
        Self::with(linear, true, |x| x.iter_mut().zip(response).for_each(|(x, r)| *x *= r))
    }

    fn with(linear: &Linear, is_symmetric: bool, solve: impl Fn(&mut [f64])) -> Self {
        let rows = linear.stops.clone();
        let (n, m) = (linear.dimension(), rows.len());
        let mut mobility = vec![0.0; n * m];
        for (a, w) in mobility.chunks_exact_mut(n.max(1)).enumerate().take(m) {
            rows.add_to(a, 1.0, w);
            solve(w);
        }
        let mut gram = vec![0.0; m * m];
        for a in 0..m {
            for b in 0..=a {
                let x = rows.dot(b, &mobility[a * n..(a + 1) * n]);
                (gram[a * m + b], gram[b * m + a]) = (x, x);
            }
        }
        let mut skew = Vec::new();
        if !is_symmetric {
            let full: Vec<f64> = (0..m * m).map(|k| rows.dot(k / m, &mobility[(k % m) * n..(k % m + 1) * n])).collect();
            skew = (0..m * m).map(|k| 0.5 * (full[k] - full[(k % m) * m + k / m])).collect();
            gram = full.iter().zip(&skew).map(|(x, s)| x - s).collect();
        }
        let units = (0..m).map(|a| [(a, 1.0)]).collect();
        let none = || vec![0.0; m];
        let kernel = Polyhedron::new(m, m);
        Stops { rows, mobility, gram, skew, units, kernel, slacks: none(), free: none(), multipliers: none(), n }
    }

    /// Makes all slacks non-negative by multipliers ≥ 0, complementary to them; true if any acts.
    pub fn resolve(&mut self, model: &Model) -> Result<bool, Reason> {
        self.resolve_limited(None, model)
    }

    /// The same with multipliers that have limits, `reach` and `budget`: where `reach` is positive, λ (slack + reach) is at most
    /// `budget`, and the slack at least −`reach`.
    pub fn resolve_limited(&mut self, limits: Option<(&[f64], &[f64])>, model: &Model) -> Result<bool, Reason> {
        if self.slacks.iter().all(|&s| s >= 0.0) {
            return Ok(false);
        }
        if self.slacks.iter().any(|s| s.is_nan()) {
            let a = self.slacks.iter().position(|s| s.is_nan()).unwrap_or(0);
            return Err(Reason::Gap { constraint: model.constraints[a].name.clone() });
        }
        let name = |a: usize| model.constraints[a].name.clone();
        let m = self.slacks.len();
        self.free.copy_from_slice(&self.slacks);
        let done = self.complete().map_err(|e| match e {
            ProjectionError::Empty { constraint } => Reason::Incompatible { constraint: name(constraint) },
            ProjectionError::Stalled { constraint } => Reason::Stalled { constraint: name(constraint) },
        });
        let Some((reach, budget)) = limits.filter(|(reach, _)| reach.iter().any(|r| *r > 0.0)) else {
            return done.map(|()| true);
        };
        if done.is_ok() {
            let exceeds = |a: usize| {
                let given = self.multipliers[a] * (self.slacks[a] + reach[a]);
                reach[a] > 0.0 && self.multipliers[a] > 0.0 && given > budget[a]
            };
            if !(0..m).any(exceeds) {
                return Ok(true);
            }
        }
        // What is contradictory as a law, or nearly so, need not be with limits.
        self.multipliers.fill(0.0);
        match self.sweep(reach, budget) {
            true => Ok(true),
            false => done.and(Err(Reason::Stalled { constraint: name(0) })),
        }
    }

    /// Multipliers without limits. Where the matrix is not symmetric, the rest of it acts with the multipliers of the round before:
    /// it is a part of the order of the step.
    fn complete(&mut self) -> Result<(), ProjectionError> {
        let m = self.slacks.len();
        if self.skew.is_empty() {
            self.kernel.complete(&self.gram, &self.units, &mut self.slacks)?;
            self.multipliers.copy_from_slice(&self.kernel.multipliers()[..m]);
            return Ok(());
        }
        self.multipliers.fill(0.0);
        let scale = self.free.iter().fold(0.0_f64, |s, x| s.max(x.abs()));
        for _ in 0..ROUNDS {
            for a in 0..m {
                self.slacks[a] = self.free[a] + dot(&self.skew[a * m..(a + 1) * m], &self.multipliers);
            }
            self.kernel.complete(&self.gram, &self.units, &mut self.slacks)?;
            let mut change = 0.0_f64;
            for (a, (old, new)) in self.multipliers.iter_mut().zip(self.kernel.multipliers()).enumerate() {
                change = change.max((*old - new).abs() * self.gram[a * m + a]);
                *old = *new;
            }
            if change <= 8.0 * f64::EPSILON * scale {
                return Ok(());
            }
        }
        Err(ProjectionError::Stalled { constraint: 0 })
    }

    /// A limited multiplier falls as the slack grows, so there is one solution; found one stop after the other, until nothing
    /// changes.
    fn sweep(&mut self, reach: &[f64], budget: &[f64]) -> bool {
        let m = self.slacks.len();
        let scale = self.free.iter().chain(reach).fold(0.0_f64, |s, x| s.max(x.abs()));
        for _ in 0..SWEEPS {
            let mut change = 0.0_f64;
            for a in 0..m {
                let (row, own) = (&self.gram[a * m..(a + 1) * m], self.gram[a * m + a]);
                let mut others: f64 = (0..m).filter(|&b| b != a).map(|b| row[b] * self.multipliers[b]).sum();
                if !self.skew.is_empty() {
                    others += dot(&self.skew[a * m..(a + 1) * m], &self.multipliers);
                }
                let free = self.free[a] + others;
                let mut multiplier = (-free / own).max(0.0);
                if reach[a] > 0.0 && multiplier > 0.0 {
                    multiplier = multiplier.min(most(own, free + reach[a], budget[a]));
                }
                change = change.max((multiplier - self.multipliers[a]).abs() * own);
                self.multipliers[a] = multiplier;
                self.slacks[a] = free + own * multiplier;
            }
            if change <= 8.0 * f64::EPSILON * scale {
                return true;
            }
        }
        false
    }

    /// Columns s A⁻¹ w, one after the other.
    pub fn mobility(&self) -> &[f64] {
        &self.mobility
    }

    /// w s A⁻¹ w of one stop.
    pub fn own(&self, a: usize) -> f64 {
        self.gram[a * self.rows.len() + a]
    }

    /// s A⁻¹ w of one stop.
    pub fn column(&self, a: usize) -> &[f64] {
        &self.mobility[a * self.n..(a + 1) * self.n]
    }

    /// The multipliers of the last [`Stops::resolve`] that returned true.
    pub fn multipliers(&self) -> &[f64] {
        &self.multipliers
    }

    /// x += Σ λ s A⁻¹ w.
    pub fn correct(&self, x: &mut [f64]) {
        for (a, &lambda) in self.multipliers.iter().enumerate() {
            if lambda > 0.0 {
                add(x, lambda, self.column(a));
            }
        }
    }
}

/// The λ ≥ 0 with λ (x + Dλ) = b.
pub(super) fn most(own: f64, x: f64, budget: f64) -> f64 {
    let root = x.hypot(2.0 * (own * budget).sqrt());
    if x > 0.0 { 2.0 * budget / (x + root) } else { 0.5 * (root - x) / own }
}
