//! Events of the user's own: located like gaps, they exert nothing.
//!
//! Each has a side, the sign of its expression so far, and occurs where the expression takes the other sign. At a crossing the value is
//! zero but for rounding, and tells nothing: the side does, and a run that goes on from there has it from the one before. A start
//! on a section has none yet (0): it gets that which the motion takes from there.

use super::EventEngine;
use super::polynomial::{largest_term, leading};
use crate::motion::EventHit;

/// Values below this part of what they are made of are zero.
pub(super) const ZERO: f64 = 1e-13;

/// A state is known to so many tolerances: one that is nearer to a section than that may be on it.
pub(super) const KNOWN: f64 = 100.0;

impl EventEngine {
    /// The sides of the start, where another run has reached it; the others are those of the motion.
    pub(super) fn begin_own(&mut self) {
        for k in 0..self.own.len() {
            let side = self.instance.start().side(k);
            self.own[k] = f64::from(side.signum());
            if side.abs() > 1 {
                self.own_at[k] = self.t;
            }
        }
    }

    /// The sides of the user's events: see [`crate::problem::Reached::sides`].
    pub(super) fn own_sides(&self) -> Vec<i8> {
        let side = |k: usize| self.own[k] as i8 * if self.own_at[k] == self.t { 2 } else { 1 };
        (0..self.own.len()).map(side).collect()
    }

    /// Somewhere else, the sides are those of the values there.
    pub(super) fn set_own_signs(&mut self) {
        for k in 0..self.own.len() {
            let value = self.flow.event_value(k);
            if value != 0.0 {
                self.own[k] = value.signum();
            }
        }
    }

    /// The velocity before a jump, where the user's events ask for it.
    pub(super) fn before_jump(&self) -> Vec<f64> {
        if self.own.is_empty() { Vec::new() } else { self.v.clone() }
    }

    /// After a jump of the velocity the expression of an event may have the other sign: by the jump, and by more than rounding. (One that
    /// the velocity is not in has no jump, whatever its sign at a place where it vanishes.)
    pub(super) fn own_events_at_jump(&mut self, before: &[f64]) {
        let Some(mut values) = self.own_values.take() else { return };
        values.evaluate(self.t, &self.q, before);
        let before = values.values.clone();
        values.evaluate(self.t, &self.q, &self.v);
        for (k, (&before, &after)) in before.iter().zip(&values.values).enumerate() {
            if after * self.own[k] < 0.0 && after.abs() > ZERO * (after - before).abs() && after != before {
                self.own_event_occurs(k);
            }
        }
        self.own_values = Some(values);
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

    /// Where a user's event occurs, before s: the first place where its expression, times its sign so far, turns negative.
    pub(super) fn own_event(&mut self, k: usize, s: f64) -> Option<f64> {
        if self.own[k] == 0.0 || self.contradicts(k, s) {
            self.own[k] = self.own_side(k, s)?;
        }
        let at = self.own_turn(k, s)?;
        if at > 0.0 || self.own_at[k] != self.t {
            return Some(at);
        }
        // It has occurred at this instant: which way it goes is known only now.
        self.own[k] = -self.own[k];
        self.own_turn(k, s).filter(|&at| at > 0.0)
    }

    /// Whether the side of a start is far from that of its value: it was reached with other parameters, or is that of another event.
    fn contradicts(&mut self, k: usize, s: f64) -> bool {
        if self.t != self.t0 || self.flow.is_rough {
            return false;
        }
        self.with_own(k, |engine, c| {
            let whole = largest_term(c, engine.own_reach(k, c, engine.search.max(s)));
            c[0] * engine.own[k] < -KNOWN * engine.tol * whole
        })
    }

    /// The side on which the motion begins: that of the value, or, where that is zero as far as it is known, that which it takes.
    fn own_side(&mut self, k: usize, s: f64) -> Option<f64> {
        if self.flow.is_rough {
            let value = self.own_value(k, 0.0);
            return (value != 0.0 && !value.is_nan()).then(|| value.signum());
        }
        let tick = self.tick();
        self.with_own(k, |engine, c| {
            let whole = engine.own_reach(k, c, engine.search.max(s));
            let size = largest_term(c, whole);
            if c[0].abs() <= ZERO * size {
                let first = 1 + leading(&c[1..], whole, ZERO * size / whole, tick)?;
                return Some(c[first].signum());
            }
            let slope = c.get(1).copied().unwrap_or(0.0);
            let arrives = c[0] * slope < 0.0 && c[0].abs() <= KNOWN * engine.tol * size;
            Some(if arrives { slope.signum() } else { c[0].signum() })
        })
    }

    /// The polynomial of an event's value where the step begins.
    fn with_own<T>(&mut self, k: usize, use_it: impl FnOnce(&mut Self, &[f64]) -> T) -> T {
        let mut c = std::mem::take(&mut self.buffers.own);
        self.flow.event_about(k, 0.0, &mut c);
        let answer = use_it(self, &c);
        self.buffers.own = c;
        answer
    }
}
