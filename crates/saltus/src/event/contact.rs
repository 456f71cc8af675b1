//! Which contacts hold: the complementarity problem of the accelerations ([B] remark 1).
//!
//! Among the closed constraints with no gap velocity, 0 ≤ f'' ⊥ λ ≥ 0 with M a = g + Σ λ ∇f: the acceleration is the
//! point nearest to M⁻¹g, in the kinetic metric, of the polyhedron { a : ∇f·a + γ ≥ 0 }.

use super::{EventEngine, PATIENCE, Touch};
use crate::project::ProjectionError;
use crate::{Phase, PhaseKind, Reason};

impl EventEngine {
    /// Chooses the working set for the present state. Constraints that have been released since time last advanced are not candidates;
    /// those that did not open when they were free to are held even if their reactions start from zero.
    pub(super) fn choose(&mut self) -> Result<(), Reason> {
        self.buffers.held.clone_from(&self.working);
        self.working.clear();
        if !self.rubbing.is_there && self.touch.iter().all(|&touch| touch == Touch::Open) {
            self.rubbing.rows.clear();
            self.record.contacts(self.t, &self.touch);
            return Ok(());
        }
        self.evaluate(self.fresh)?;
        self.finish_impacts()?;
        self.buffers.members.clear();
        for a in 0..self.touch.len() {
            if self.touch[a] != Touch::Open {
                self.touch[a] = Touch::Closed;
                let rests = self.flow.gap_rate(a, &self.v) <= self.still(a);
                if (rests && !self.released[a]) || self.pressed[a] {
                    self.buffers.members.push(a);
                }
            }
        }
        self.complementarity()?;
        for k in 0..self.buffers.members.len() {
            let a = self.buffers.members[k];
            self.reaction_noise[a] = self.flow.reaction_noise(a);
            if self.buffers.lambda[k] > self.reaction_noise[a] {
                self.working.push(a);
            }
        }
        for a in 0..self.touch.len() {
            if !self.pressed[a] || self.working.contains(&a) {
                continue;
            }
            let place = self.working.partition_point(|&b| b < a);
            self.working.insert(place, a);
            self.flow.set_working(&self.working);
            if self.working.len() > self.q.len() || !self.flow.is_independent() {
                self.working.remove(place);
                // Its gap follows from the others: it need not be checked while they hold.
                self.implied[a] = true;
            }
        }
        for &a in &self.working {
            self.touch[a] = Touch::Working;
        }
        // Others may be released at the same instant as the one whose reaction was seen to vanish.
        for k in 0..self.buffers.held.len() {
            let a = self.buffers.held[k];
            if self.touch[a] == Touch::Closed && !self.released[a] && !self.implied[a] {
                self.record.phase(Phase::new(PhaseKind::Release, self.t, self.t, &[a]));
            }
        }
        if self.rubbing.is_there {
            self.grip();
        } else {
            self.rubbing.rows.clone_from(&self.working);
        }
        if !self.rubbing.rows.is_empty() {
            self.flow.set_working(&self.rubbing.rows);
            self.hold(0.0)?;
        }
        self.record.correct(&self.q, &self.v);
        self.record.contacts(self.t, &self.touch);
        Ok(())
    }

    /// Puts the state on the constraints of the working set of the flow, which it has left by no more than the errors of a
    /// motion that lasted s: a position that would have to move farther than the velocity allows is no correction.
    pub(super) fn hold(&mut self, s: f64) -> Result<(), Reason> {
        self.buffers.z.copy_from_slice(&self.q);
        let speed = self.flow.length(&self.v);
        self.flow.hold(self.t, &mut self.q, &mut self.v)?;
        for (z, q) in self.buffers.z.iter_mut().zip(&self.q) {
            *z -= q;
        }
        let moved = self.flow.length(&self.buffers.z);
        let near = |a: &usize| 1e3 * self.near(*a).max(self.noise[*a]) / self.flow.slope(*a, &self.flow.gradients);
        let s = s.max(self.pace);
        let rounding = if self.rubbing.is_there { 1e-12 * self.flow.length(&self.q) } else { 0.0 };
        let reached = (1e-3 * s * (speed + s * self.flow.length(&self.flow.free))).max(rounding);
        let allowed = self.flow.pressing().iter().map(near).fold(reached, f64::max);
        match moved <= allowed {
            true => Ok(()),
            false => Err(Reason::Torn { constraint: self.flow.row_name(self.flow.working()[0]) }),
        }
    }

    /// Impacts that remain at this instant: one may have closed a gap that was opening, or a wall has changed its speed at
    /// once (a sampled motion has corners). Each is an impact by itself. If there is no end to them, but their speeds fall,
    /// they are an accumulation.
    fn finish_impacts(&mut self) -> Result<(), Reason> {
        let closing = |engine: &Self, a: usize| {
            engine.touch[a] != Touch::Open && engine.flow.gap_rate(a, &engine.v) < -engine.still(a)
        };
        let (mut count, mut before) = (0, f64::INFINITY);
        while let Some(a) = (0..self.touch.len()).find(|&a| closing(self, a)) {
            count += 1;
            if count > 100 * PATIENCE {
                return Err(Reason::Stalled { constraint: self.constraint(a) });
            }
            if count % PATIENCE == 0 {
                let now = self.largest_rate();
                if now < 0.9 * before && before.is_finite() && self.loses_speed() {
                    self.collapse()?;
                    self.evaluate(self.fresh)?;
                    before = f64::INFINITY;
                    continue;
                }
                before = now;
            }
            self.strike()?;
            self.evaluate(self.fresh)?;
        }
        Ok(())
    }

    /// Solves the problem for the members listed in the buffers: accelerations into `x`, reactions into `lambda`.
    pub(super) fn complementarity(&mut self) -> Result<(), Reason> {
        if self.rubbing.is_there {
            return self.accelerations();
        }
        let Self { buffers, flow, kernel, .. } = self;
        buffers.rows.clear();
        buffers.offsets.clear();
        for &a in &buffers.members {
            buffers.rows.push_row_of(&flow.gradients, a);
            buffers.offsets.push(flow.gamma[a]);
        }
        buffers.x.copy_from_slice(&flow.free);
        let solved = kernel.project(&flow.metric, &buffers.rows, &buffers.offsets, &mut buffers.x);
        buffers.lambda.clear();
        buffers.lambda.extend_from_slice(kernel.multipliers());
        solved.map_err(|e| self.refused(e))
    }

    /// A projection without an answer, in the words of the model.
    pub(super) fn refused(&self, error: ProjectionError) -> Reason {
        let constraint = |k: usize| self.constraint(self.buffers.members[k]);
        match error {
            ProjectionError::Empty { constraint: k } => Reason::Incompatible { constraint: constraint(k) },
            ProjectionError::Stalled { constraint: k } => Reason::Stalled { constraint: constraint(k) },
        }
    }
}
