//! What happens at an event.

use super::locate::Event;
use super::scales::sum;
use super::{EventEngine, Touch};
use crate::Reason;
use crate::motion::{Phase, PhaseKind};

impl EventEngine {
    /// What an event does to the state and the mode.
    pub(super) fn handle(&mut self, event: Event, at_once: bool) -> Result<(), Reason> {
        match event {
            Event::Own(k) => {
                if self.own_found[k] != 0.0 {
                    self.own[k] = std::mem::take(&mut self.own_found[k]);
                }
                self.own_event_occurs(k);
                return Ok(());
            }
            Event::Switch { switch, state } => {
                self.vary_switches(switch);
                self.flow.set_state(switch, state);
                self.switched += usize::from(!self.flow.is_root(switch) && !self.flow.is_mark(switch));
                // At the place itself a root has no series to go on with.
                self.must_be_rough = at_once && self.flow.is_root(switch);
                self.follow_jumps()?;
                self.implied.fill(false);
            }
            // Which of them stick, and which slide on the other way, the accelerations tell.
            Event::Stop(f) => {
                // It has only begun to slide, and does not: on the edge.
                if at_once && self.rubbing.loose[f].take().is_some() {
                    self.rubbing.edge[f] = true;
                }
                self.vary_stops(f);
                self.slip_stops()?;
                self.no_slip_remains(f)?;
            }
            Event::Slip { friction, direction } => {
                self.vary_slips(friction, direction[0]);
                self.rubbing.loose[friction] = Some(direction);
            }
            Event::Release(a) => {
                self.touch[a] = Touch::Closed;
                self.released[a] = true;
                self.implied.fill(false);
                self.record.phase(Phase::new(PhaseKind::Release, self.t, self.t, &[a]));
                self.record.instant(self.t, &self.q, &self.v);
            }
            Event::Hit(a) => {
                let was = self.touch[a];
                self.evaluate(false)?;
                self.touch[a] = Touch::Closed;
                if self.flow.gap_rate(a, &self.v) < -self.still(a) {
                    self.implied.fill(false);
                    let before = self.before_jump();
                    self.strike()?;
                    self.own_events_at_jump(&before);
                } else if was == Touch::Open {
                    // No speed: a tangential contact.
                    self.vary_grazes(self.t, a);
                    self.record.phase(Phase::new(PhaseKind::Graze, self.t, self.t, &[a]));
                } else if at_once {
                    // Free to open, it did not: it is pressed, by a higher derivative than the acceleration.
                    self.pressed[a] = true;
                    self.record.out.timeline.unrelease(self.t, a);
                }
            }
        }
        // (Bounces that end here take the velocity that is left of them away.)
        let before = self.before_jump();
        self.choose()?;
        self.own_events_at_jump(&before);
        Ok(())
    }

    /// After a switch: at the place itself rounding may leave an expression on the wrong side of its domain (a root of
    /// −1e-20). A moment later it is inside.
    fn enter(&mut self) -> Result<(), Reason> {
        let mut outcome = self.evaluate(false);
        let mut s = self.shortest();
        let longest = 1e-9 * self.pace;
        while matches!(outcome, Err(Reason::Undefined { .. } | Reason::Gap { .. })) && s < longest {
            for (q, v) in self.q.iter_mut().zip(&self.v) {
                *q += s * v;
            }
            (self.t, self.t_rest) = sum(self.t, self.t_rest + s);
            outcome = self.evaluate(false);
            s *= 2.0;
        }
        outcome
    }

    /// A gap may jump with a switch: a support that goes opens it; an obstacle that appears around the body is no motion.
    fn follow_jumps(&mut self) -> Result<(), Reason> {
        self.enter()?;
        for a in 0..self.touch.len() {
            let (gap, near) = (self.flow.gaps[a], self.near(a).max(1e2 * self.noise[a]));
            if gap < -10.0 * near {
                return Err(Reason::Inside { constraint: self.constraint(a) });
            }
            if self.touch[a] != Touch::Open && gap > near {
                self.touch[a] = Touch::Open;
            }
        }
        Ok(())
    }
}
