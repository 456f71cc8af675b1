//! Which contacts hold: the complementarity problem of the accelerations ([B] remark 1).
//!
//! Among the closed constraints with no gap velocity, 0 ≤ f'' ⊥ λ ≥ 0 with M a = g + Σ λ ∇f: the acceleration is the
//! point nearest to M⁻¹g, in the kinetic metric, of the polyhedron { a : ∇f·a + γ ≥ 0 }.

use super::{Engine, PATIENCE, Touch};
use crate::Reason;
use crate::project::ProjectionError;

impl Engine<'_> {
    /// Chooses the working set for the present state. `released` has just let go and is not asked; `pressed` did not open
    /// when it was free to, so it is held even if its reaction starts from zero.
    pub(super) fn choose(&mut self, released: Option<usize>, pressed: Option<usize>) -> Result<(), Reason> {
        self.working.clear();
        if self.touch.iter().all(|&touch| touch == Touch::Open) {
            self.record.contacts(self.t, &self.touch);
            return Ok(());
        }
        self.look(self.fresh)?;
        let closing = |engine: &Self, a: usize| {
            engine.touch[a] != Touch::Open && engine.flow.gap_rate(a, &engine.v) < -engine.still(a)
        };
        // The impact before may have closed a gap that was opening, or a wall has changed its speed at once (a sampled
        // motion has corners). Each of these impacts is one by itself.
        let (mut count, mut before) = (0, f64::INFINITY);
        while let Some(a) = (0..self.touch.len()).find(|&a| closing(self, a)) {
            count += 1;
            if count % PATIENCE == 0 {
                let now = self.bustle();
                if now < 0.999 * before && before.is_finite() {
                    self.collapse()?;
                    self.look(self.fresh)?;
                    break;
                }
                if count > 100 * PATIENCE {
                    return Err(Reason::Stalled { constraint: self.constraint(a) });
                }
                before = now;
            }
            self.strike()?;
            self.look(self.fresh)?;
        }
        self.buffers.members.clear();
        for a in 0..self.touch.len() {
            if self.touch[a] != Touch::Open {
                self.touch[a] = Touch::Closed;
                let rests = self.flow.gap_rate(a, &self.v) <= self.still(a);
                if (rests && released != Some(a)) || pressed == Some(a) {
                    self.buffers.members.push(a);
                }
            }
        }
        self.complementarity()?;
        for k in 0..self.buffers.members.len() {
            if self.kernel.multipliers()[k] > 0.0 {
                self.working.push(self.buffers.members[k]);
            }
        }
        if let Some(a) = pressed.filter(|a| !self.working.contains(a) && self.working.len() < self.q.len()) {
            let place = self.working.partition_point(|&b| b < a);
            self.working.insert(place, a);
            self.flow.set_working(&self.working);
            if !self.flow.is_independent() {
                self.working.remove(place);
            }
        }
        for &a in &self.working {
            self.touch[a] = Touch::Working;
        }
        if !self.working.is_empty() {
            self.flow.set_working(&self.working);
            self.flow.hold(self.t, &mut self.q, &mut self.v)?;
        }
        self.record.correct(&self.q, &self.v);
        self.record.contacts(self.t, &self.touch);
        Ok(())
    }

    /// Solves the problem for the members listed in the buffers: accelerations into `x`, reactions into the kernel.
    pub(super) fn complementarity(&mut self) -> Result<(), Reason> {
        let Self { buffers, flow, kernel, .. } = self;
        buffers.rows.clear();
        buffers.offsets.clear();
        for &a in &buffers.members {
            buffers.rows.push_row_of(&flow.gradients, a);
            buffers.offsets.push(flow.bends[a]);
        }
        buffers.x.copy_from_slice(&flow.free);
        let solved = kernel.project(&flow.metric, &buffers.rows, &buffers.offsets, &mut buffers.x);
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
