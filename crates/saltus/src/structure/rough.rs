//! Rigid stops with friction in steps of velocities, as those of Moreau and Jean: the impulse of a stop and that of its friction are
//! found together, one stop after the other until nothing changes,
//!
//! ```text
//! 0 ≤ U^{n+1} + e U^n ⊥ P ≥ 0        |P_T| ≤ μ P, opposed to the slip t·v^{n+1}: it sticks, or slides with all of it
//! ```

use super::contact::Stops;
use super::rubbing::Rubbing;
use super::{Linear, StopLaw};
use crate::linalg::{Factor, Rows, add};
use crate::motion::Rubbed;
use crate::{Model, Reason};

/// Sweeps over the stops of a step, at most.
const SWEEPS: usize = 20_000;

/// The stops of a structure of which some rub.
pub(super) struct Rough {
    h: f64,
    n: usize,
    m: usize,
    /// Rows of the slips, and columns A⁻¹ t.
    slips: Rows,
    mobility: Vec<f64>,
    /// w A⁻¹ w of stops and slips.
    gram: Vec<f64>,
    /// Impulses of the stops, then of the slips.
    multipliers: Vec<f64>,
    rubbing: Rubbing,
    /// Velocities of the slips before the step.
    before: Vec<f64>,
}

impl Rough {
    /// None where no stop rubs.
    pub fn new(linear: &Linear, laws: &[StopLaw], factor: &Factor, stops: &Stops, h: f64) -> Option<Self> {
        if !laws.iter().any(|law| law.friction.is_some()) {
            return None;
        }
        let (n, m) = (linear.dimension(), linear.stops.len());
        let rubbing = Rubbing::new(laws, h);
        let slips: Rows = rubbing.points().map(|p| linear.points.entries(p).collect::<Vec<_>>()).collect();
        let all = m + slips.len();
        let mobility: Vec<f64> = (0..slips.len()).flat_map(|j| factor.solved(slips.vector(j, n))).collect();
        let column = |k: usize| if k < m { stops.column(k) } else { &mobility[(k - m) * n..(k - m + 1) * n] };
        let product = |k: usize, l: usize| match k < m {
            true => linear.stops.dot(k, column(l)),
            false => slips.dot(k - m, column(l)),
        };
        let gram = (0..all * all).map(|k| product(k / all, k % all)).collect();
        let before = vec![0.0; slips.len()];
        Some(Rough { h, n, m, slips, mobility, gram, multipliers: vec![0.0; all], rubbing, before })
    }

    /// Impulses for the U + e U⁻ without them (`slacks`; `is_near` says which stops may act) and for the velocities `v` without them, to
    /// which those of friction are added; true if any stop acts. `old` are the velocities before the step.
    pub fn resolve(
        &mut self,
        slacks: &[f64],
        is_near: impl Fn(usize) -> bool,
        old: &[f64],
        v: &mut [f64],
        model: &Model,
    ) -> Result<bool, Reason> {
        self.multipliers.fill(0.0);
        for j in 0..self.slips.len() {
            (self.before[j], self.rubbing.free[j]) = (self.slips.dot(j, old), self.slips.dot(j, v));
        }
        if let Some(a) = slacks.iter().position(|s| s.is_nan()) {
            return Err(Reason::Gap { constraint: model.constraints[a].name.clone() });
        }
        if (0..self.m).all(|a| !is_near(a) || slacks[a] >= 0.0) {
            return Ok(false);
        }
        let all = self.multipliers.len();
        let near = slacks.iter().enumerate().filter(|(a, _)| is_near(*a)).map(|(_, s)| s);
        let scale = near.chain(&self.rubbing.free).fold(0.0_f64, |s, x| s.max(x.abs()));
        let mut worst = 0;
        for sweep in 0..SWEEPS {
            let mut change = 0.0;
            for a in (0..self.m).filter(|&a| is_near(a)) {
                let row = &self.gram[a * all..(a + 1) * all];
                let others: f64 = (0..all).filter(|&b| b != a).map(|b| row[b] * self.multipliers[b]).sum();
                let multiplier = (-(slacks[a] + others) / row[a]).max(0.0);
                let moved = (multiplier - self.multipliers[a]).abs() * row[a];
                self.multipliers[a] = multiplier;
                let moved = moved.max(self.rubbing.rub(a, multiplier, self.m, &self.gram, &mut self.multipliers));
                if moved > change {
                    (change, worst) = (moved, a);
                }
            }
            let enough = if sweep < 500 { 8.0 * f64::EPSILON } else { 1e-12 };
            if change <= enough * scale {
                for (j, &p) in self.multipliers[self.m..].iter().enumerate().filter(|(_, p)| **p != 0.0) {
                    add(v, p, &self.mobility[j * self.n..(j + 1) * self.n]);
                }
                return Ok(self.multipliers.iter().any(|&p| p != 0.0));
            }
        }
        Err(Reason::Stalled { constraint: model.constraints[worst].name.clone() })
    }

    /// The impulses of the stops.
    pub fn impulses(&self) -> &[f64] {
        &self.multipliers[..self.m]
    }

    /// The heat of the step, at whose end the velocities are `v`.
    pub fn heat(&mut self, v: &[f64]) -> f64 {
        let (m, h, slips, before) = (self.m, self.h, &self.slips, &self.before);
        let slip = |j: usize| (h * before[j - m], h * slips.dot(j - m, v));
        let (first, second) = self.rubbing.account(slip, m, &self.multipliers, false);
        first + second
    }

    /// What friction did.
    pub fn done(&self) -> Vec<Rubbed> {
        self.rubbing.done()
    }
}
