//! Events of the user's own: located like gaps, they exert nothing.

use super::EventEngine;
use crate::motion::EventHit;

impl EventEngine {
    /// The signs of the user's events at the present state.
    pub(super) fn set_own_signs(&mut self) {
        for k in 0..self.own.len() {
            let value = self.flow.event_value(k);
            if value != 0.0 {
                self.own[k] = value.signum();
            } else if self.own[k] == 0.0 {
                self.own[k] = 1.0;
                self.own_at[k] = self.t;
            }
        }
    }

    /// An event of the user's own, if its direction counts; its expression has the other sign from here on.
    pub(super) fn own_event_occurs(&mut self, k: usize) {
        let rising = self.own[k] < 0.0;
        self.own[k] = -self.own[k];
        self.own_at[k] = self.t;
        if self.directions[k].admits(rising) {
            self.record.event(EventHit { event: k, t: self.t, rising, q: self.q.clone(), v: self.v.clone() });
        }
    }
}
