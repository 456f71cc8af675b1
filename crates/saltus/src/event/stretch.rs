//! Where events cannot be resolved, a stretch is crossed by time stepping: the safety net.
//!
//! The scheme is mabrouk (for stiff motions moreau-jean): it needs no resolution of anything, and starts from a state. Its steps are a tenth of the
//! interval at which instants are stored, and at most 1e-4 of the run. Where the stretch ends, constraints in contact are closed again, and events take over.

use super::{Engine, Touch};
use crate::run::{self, Progress, RunOptions};
use crate::scheme::{self, Method};
use crate::{Phase, PhaseKind, Reason, Status};

/// Steps of a stretch, and stretches before the rest of the run is stepped.
const STEPS: f64 = 100.0;
const MOST: usize = 20;

/// The scheme of the safety net, and the one for stiff motions, which is implicit in positions, too.
const SCHEME: &str = "mabrouk";
const IMPLICIT: &str = "moreau-jean";

impl Engine<'_> {
    /// Whether time stepping can get across what stopped the events: a stall of impacts and contacts always; sliding
    /// forces and dependent contacts only with the safety net. A motion that blows up or leaves its domain has no beyond.
    pub(super) fn can_cross(&self, reason: &Reason) -> bool {
        match reason {
            Reason::Stalled { .. } => true,
            Reason::Sliding | Reason::Dependent { .. } | Reason::Stiff { .. } => self.safety_net,
            _ => false,
        }
    }

    /// Crosses a stretch. Gives the reason back if that fails, too.
    pub(super) fn cross(&mut self, reason: Reason, report: &mut dyn FnMut(Progress) -> bool) -> Result<(), Reason> {
        let left = self.end - self.t;
        self.stretches += if matches!(reason, Reason::Stiff { .. }) { MOST + 1 } else { 1 };
        let (h, length) = match self.stretches > MOST {
            true => (self.interval.min(1e-3 * self.end), left),
            false => {
                let h = (0.1 * self.interval).min(1e-4 * self.end);
                (h, (STEPS * h).min(left))
            }
        };
        let name = if matches!(reason, Reason::Stiff { .. }) { IMPLICIT } else { SCHEME };
        let (Ok(scheme), problem) = (scheme::find(name), self.problem.resumed(self.t, &self.q, &self.v)) else {
            return Err(reason);
        };
        let Method::Steps(stepping) = &scheme.method else { return Err(reason) };
        let options = RunOptions { scheme, every: if length < left { 10 } else { 1 }, ..RunOptions::new(h, length) };
        let (from, end) = (self.t, self.end);
        let mut told = |p: Progress| {
            let t = from + p.t;
            report(Progress { step: (1e6 * t / end) as u64, steps: 1_000_000, t, ..p })
        };
        match run::step(&problem, &options, stepping, &mut told) {
            Ok(stepped) if matches!(stepped.status, Status::Finished | Status::Interrupted { .. }) => {
                let last = stepped.trajectory.len() - 1;
                let whole = stepped.status == Status::Finished;
                let t = match (whole, length < left) {
                    (true, false) => self.end,
                    (true, true) => self.t + length,
                    (false, _) => self.t + stepped.trajectory.t[last],
                };
                // One stretch after another, for one reason, is one.
                match self.record.timeline.phases.last_mut() {
                    Some(last) if last.kind == PhaseKind::Stepped && last.end == self.t => last.end = t,
                    _ => {
                        let mut phase = Phase::new(PhaseKind::Stepped, self.t, t, &[]);
                        phase.note = format!("{name}: {reason}");
                        self.record.timeline.push(phase);
                    }
                }
                self.q.copy_from_slice(stepped.trajectory.q(last));
                self.v.copy_from_slice(stepped.trajectory.v(last, crate::Side::Right));
                self.record.stretch(self.t, t, &stepped);
                self.t = t;
                let end = stepped.trajectory.t[last];
                let held = stepped.trajectory.contacts.iter().filter(|c| c.end >= end - 2.0 * h).map(|c| c.constraint);
                self.land(&held.collect::<Vec<_>>())
            }
            _ => Err(reason),
        }
    }

    /// Takes events up again from a stepped state: gaps that are not open are closed, contacts held.
    fn land(&mut self, held: &[usize]) -> Result<(), Reason> {
        self.fresh = true;
        self.idle = 0;
        self.working.clear();
        self.look(true)?;
        for a in 0..self.touch.len() {
            let closed = held.contains(&a) || self.flow.gaps[a] <= 4.0 * self.noise[a];
            self.touch[a] = if closed { Touch::Closed } else { Touch::Open };
        }
        for _ in 0..3 {
            for a in 0..self.touch.len() {
                if self.touch[a] == Touch::Closed {
                    self.flow.close_gap(self.t, &mut self.q, &self.v, a)?;
                }
            }
        }
        self.look(true)?;
        // What is left of closing speeds is an error of the steps, not an impact.
        self.stop()?;
        self.choose()
    }
}
