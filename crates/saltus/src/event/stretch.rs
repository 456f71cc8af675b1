//! Where events cannot be resolved, a stretch is crossed by time stepping: the safety net.
//!
//! The scheme is mabrouk (for stiff motions moreau-jean): it needs no resolution of anything, and starts from a state. Its
//! steps are a thousandth of those that events took of late, whatever is stored. Where the stretch ends, constraints in
//! contact are closed again, and events take over. A stretch that leaves K by more than its steps explain ends the run.

use super::vary::Crossed;
use super::{EventEngine, Touch};
use crate::engine::{Engine, Reporter, StepEngine, StepPlan, grid};
use crate::problem::{Reached, Start};
use crate::record::{Crossings, Gauge, Keep};
use crate::scheme::{self, Settings};
use crate::{Reason, SetupError};

/// Steps of a stretch; their length as a part of the pace of events; steps across the rest of a stiff run.
const STEPS: f64 = 100.0;
const PART: f64 = 1e-3;
const STIFF_STEPS: f64 = 1e6;

/// Stretches that may follow each other without a hundred times their length between them.
const MAX_STRETCHES: usize = 20;

/// A gap may fall this far below zero in a stretch, as a part of its largest value of late.
const DEEPEST: f64 = 1e-3;

/// The scheme of the safety net, and the one for stiff motions, which is implicit in positions as well.
const SCHEME: &str = "mabrouk";
const IMPLICIT: &str = "moreau-jean";

impl EventEngine {
    /// Whether time stepping can cross what stopped the events: a stall of impacts and contacts always; sliding forces
    /// and dependent contacts only with the safety net. A motion that blows up or leaves its domain has no beyond.
    pub(super) fn can_cross(&self, reason: &Reason) -> bool {
        match reason {
            Reason::Stalled { .. } => true,
            Reason::Sliding | Reason::Dependent { .. } | Reason::Stiff { .. } => self.safety_net,
            _ => false,
        }
    }

    /// Crosses a stretch. Returns the reason if that fails as well.
    pub(super) fn cross(&mut self, reason: Reason) -> Result<(), Reason> {
        let stiff = matches!(reason, Reason::Stiff { .. });
        if self.crossing.is_none() {
            self.vary_crosses(Crossed::Stepped);
            let left = self.end - self.t;
            let (h, length) = match stiff {
                true => (left / STIFF_STEPS, left),
                false => {
                    let pace = if self.pace > 0.0 { self.pace } else { left };
                    let h = (PART * pace).max(4.0 * self.shortest());
                    (h, (STEPS * h).min(left))
                }
            };
            // Again and again at one place: the stretches lead nowhere.
            self.stretches = if self.t > self.last_stretch + 100.0 * length { 1 } else { self.stretches + 1 };
            if self.stretches > MAX_STRETCHES {
                return Err(reason);
            }
            let to = if length < left { self.t + length } else { self.end };
            let name = if stiff { IMPLICIT } else { SCHEME };
            let every = if stiff { (self.interval / h).clamp(1.0, 1e6) as u64 } else { 10 };
            let engine = self.stepper(name, h, to, every).map_err(|_| reason.clone())?;
            self.crossing = Some(Crossing { engine, to, h, name, reason });
        }
        self.step_across()
    }

    fn stepper(&self, name: &str, h: f64, to: f64, every: u64) -> Result<StepEngine, SetupError> {
        let closed = (0..self.touch.len()).filter(|&a| self.touch[a] == Touch::Working).collect();
        let parameters = self.instance.cells().to_vec();
        let start = Start { parameters, ..Start::new(self.t, self.q.clone(), self.v.clone()) }
            .reached(Reached { closed, ..Reached::default() });
        let at = self.instance.problem().instance(&start)?;
        let scheme = scheme::find(name)?;
        let Some(stepping) = scheme.steps() else { return Err(SetupError::new("not a time-stepping scheme")) };
        let (steps, h, _) = grid(h, self.t, to)?;
        StepEngine::new(StepPlan {
            model: at.problem().model().clone(),
            stepper: (stepping.start)(&at, h, &Settings::new())?,
            stepping: *stepping,
            gauge: Gauge::of(&at),
            crossings: Crossings::new(&at),
            cells: self.instance.cells().clone(),
            shears: Vec::new(),
            sides: Vec::new(),
            slides: None,
            base: None,
            closed: start.closed().map(<[usize]>::to_vec),
            t0: self.t,
            q0: self.q.clone(),
            v0: self.v.clone(),
            h,
            end: Some((steps, to)),
            every,
            follow: Vec::new(),
            keep: Keep::ALL,
        })
    }

    /// Makes steps for a short while; takes events up again when the stretch is crossed.
    pub(super) fn step_across(&mut self) -> Result<(), Reason> {
        let Some(mut crossing) = self.crossing.take() else { return Ok(()) };
        let mut reporter = Reporter::new();
        while !crossing.engine.is_at(crossing.to) {
            if crossing.engine.advance(crossing.to).is_err() {
                return Err(crossing.reason);
            }
            if reporter.is_due() {
                // Time to let the caller look up.
                self.crossing = Some(crossing);
                return Ok(());
            }
        }
        self.land(crossing)
    }

    /// What was stepped so far becomes part of the motion, though the stretch is not crossed yet.
    pub(super) fn abandon_crossing(&mut self) {
        if let Some(mut crossing) = self.crossing.take() {
            crossing.to = crossing.engine.t();
            let _ = self.land(crossing);
        }
    }

    /// Takes events up again from a stepped state: gaps that are not open are closed, contacts held.
    fn land(&mut self, crossing: Crossing) -> Result<(), Reason> {
        let Crossing { mut engine, to, h, name, reason } = crossing;
        engine.finish();
        let (q, v) = engine.state();
        self.q.copy_from_slice(q);
        self.v.copy_from_slice(v);
        self.record.stepped_phase(self.t, to, name, &reason);
        let stepped = engine.recorder();
        let outside = stepped.audit.worst.filter(|&(a, _)| {
            let gap = self.extent[a] * self.flow.slope(a, &self.flow.gradients);
            stepped.audit.max_violation > DEEPEST * gap.max(self.scales.gap[a])
        });
        let held: Vec<usize> =
            stepped.trajectory.contacts.iter().filter(|c| c.end >= to - 2.0 * h).map(|c| c.constraint).collect();
        self.record.stretch(self.t, to, stepped);
        (self.t, self.t_rest, self.last_stretch) = (to, 0.0, to);
        if outside.is_some() {
            return Err(reason);
        }
        self.fresh = true;
        self.idle = 0;
        self.working.clear();
        self.rubbing.rows.clear();
        self.evaluate(true)?;
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
        self.evaluate(true)?;
        // What is left of closing speeds is an error of the steps, not an impact.
        self.stop()?;
        self.set_own_signs();
        self.choose()
    }
}

/// A stretch being crossed by time stepping.
pub(super) struct Crossing {
    engine: StepEngine,
    to: f64,
    h: f64,
    name: &'static str,
    reason: Reason,
}

impl Crossing {
    pub fn engine(&self) -> &StepEngine {
        &self.engine
    }
}
