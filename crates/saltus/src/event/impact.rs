//! An impact: the law for any number of simultaneous contacts, moving walls included.

use super::{Engine, Touch};
use crate::Reason;
use crate::impacts::Measured;
use crate::linalg::add;

impl Engine<'_> {
    /// Applies the law at the present state, at which everything has been looked at: 0 ≤ U⁺ + e U⁻ ⊥ P ≥ 0 for every
    /// closed constraint ([V] (5.3), one e for each). Gaps within the tolerance of zero are closed, so what would follow
    /// within it is part of the same impact. A constraint that was opening (U⁻ > 0) only has to go on not closing.
    pub(super) fn strike(&mut self) -> Result<(), Reason> {
        let Self { buffers, flow, touch, .. } = self;
        buffers.members.clear();
        buffers.rows.clear();
        buffers.offsets.clear();
        let constraints = &self.problem.model().constraints;
        let mut approach = 0.0_f64;
        for a in 0..touch.len() {
            let near = flow.gaps[a] <= (self.tol * self.gap_scale[a]).max(self.noise[a]);
            if touch[a] == Touch::Open && !near {
                continue;
            }
            let rate = flow.gap_rate(a, &self.v);
            approach = approach.min(rate);
            buffers.members.push(a);
            buffers.rows.push_row_of(&flow.gradients, a);
            buffers.offsets.push(flow.walls[a] + constraints[a].restitution * rate.min(0.0));
        }
        buffers.x.copy_from_slice(&self.v);
        let solved = self.kernel.project(&flow.metric, &buffers.rows, &buffers.offsets, &mut buffers.x);
        solved.map_err(|e| self.refused(e))?;
        let Self { buffers, flow, kernel, .. } = self;
        let (before, after) = (flow.metric.norm_squared(&self.v), flow.metric.norm_squared(&buffers.x));
        let impulses: Vec<(usize, f64)> = buffers
            .members
            .iter()
            .copied()
            .zip(kernel.multipliers().iter().copied())
            .filter(|&(_, p)| p > 0.0)
            .collect();
        if impulses.is_empty() {
            return Ok(());
        }
        buffers.y.copy_from_slice(&buffers.x);
        add(&mut buffers.y, -1.0, &self.v);
        let speed = before.max(after).sqrt();
        let residual = flow.law_residual(&buffers.y, impulses.iter().copied()) / speed;
        let measured = Measured { t: self.t, energy_change: 0.5 * (after - before), residual, speed, approach };
        self.record.impact(&measured, &self.q, &self.v, &buffers.x, &impulses);
        self.v.copy_from_slice(&buffers.x);
        for k in 0..self.buffers.members.len() {
            let a = self.buffers.members[k];
            self.touch[a] = Touch::Closed;
        }
        // On the constraints to the last digit: sweeps of one at a time, since several may depend on each other.
        for _ in 0..2 {
            for k in 0..self.buffers.members.len() {
                if self.kernel.multipliers()[k] > 0.0 {
                    let a = self.buffers.members[k];
                    self.flow.close_gap(self.t, &mut self.q, &self.v, a)?;
                }
            }
        }
        self.fresh = true;
        self.look(true)?;
        self.settle()
    }
}
