//! Events of the user's own: located like gaps, they exert nothing.
//!
//! Each has a side, the sign of its expression so far, and occurs where the expression takes the other sign. At a crossing the value is
//! zero but for rounding, and tells nothing: the side does, and a run that goes on from there has it from the one before. A start
//! on a section has none yet (0): it gets that which the motion takes from there.
//!
//! A value that is no more than the rounding of its own terms has no sign of its own: where a section is the gap of a contact, the value is such
//! all the time that the contact lasts. It tells nothing about the side, nor does a term of its polynomial that is no larger on the step; the
//! first that is tells it. An event occurs where its expression gets to the other side by more than that.

use super::EventEngine;
use super::locate::Event;
use super::polynomial::{largest_term, leading};
use crate::motion::EventHit;

/// Values below this part of what they are made of are zero.
pub(super) const ZERO: f64 = 1e-13;

/// A value is known to so many times the bound on its rounding errors: that is how well gaps are held closed (1e-14 of their terms), and
/// a section may be one.
const ROUNDED: f64 = 16.0;

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
        let Some(mut values) = self.own_values.take() else { return };
        values.evaluate(self.t, &self.q, &self.v);
        for (k, &value) in values.values.iter().enumerate() {
            if !value.is_finite() {
                self.own[k] = 0.0;
            } else if value.abs() > self.own_rounding(k, 0.0) {
                self.own[k] = value.signum();
            }
        }
        self.own_values = Some(values);
    }

    /// Where a step has been kept: an expression that may have no value, or an infinite one, can have got to the other side through such a
    /// place, which is no crossing; and it has no side where it has no value.
    pub(super) fn follow_own_breaks(&mut self, s: f64, event: Option<Event>) {
        if !(0..self.own.len()).any(|k| self.flow.is_apart(k)) {
            return;
        }
        let Some(mut values) = self.own_values.take() else { return };
        values.evaluate(self.t, &self.q, &self.v);
        for (k, &value) in values.values.iter().enumerate() {
            if !self.flow.is_apart(k) || event == Some(Event::Own(k)) {
                continue;
            }
            if !value.is_finite() {
                self.own[k] = 0.0;
            } else if value * self.own[k] <= 0.0 && value.abs() > 4.0 * self.own_rounding(k, s) {
                // (By clearly more than what a crossing needs, which would have been found.)
                self.own[k] = value.signum();
            } else if self.own[k] == 0.0 {
                self.own[k] = self.own_found[k];
            }
        }
        self.own_values = Some(values);
    }

    /// How far terms are looked at that show what is little: a step as they are of late, however short this one is before the end of a run.
    pub(super) fn own_horizon(&self, s: f64) -> f64 {
        let late = self.pace.min(self.flow.reach);
        self.search.max(s).max(if late.is_finite() && !self.flow.is_rough { late } else { 0.0 })
    }

    /// What rounding makes of the value of an event, at the place s of the step.
    pub(super) fn own_rounding(&mut self, k: usize, s: f64) -> f64 {
        let rounding = ROUNDED * self.flow.rounding_of_event(k, s, self.own_horizon(s));
        if rounding.is_finite() { rounding } else { 0.0 }
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
        if self.flow.is_apart(k) {
            return self.own_turn_apart(k, s);
        }
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
    pub(super) fn contradicts(&mut self, k: usize, s: f64) -> bool {
        if self.t != self.t0 || self.flow.is_rough {
            return false;
        }
        let rounding = self.own_rounding(k, 0.0);
        self.with_own(k, |engine, c| {
            let whole = largest_term(c, engine.own_reach(k, c, engine.own_horizon(s)));
            c[0] * engine.own[k] < -(KNOWN * engine.tol * whole).max(rounding)
        })
    }

    /// The side on which the motion begins: that of the value, or, where that is zero as far as it is known, that which it takes.
    pub(super) fn own_side(&mut self, k: usize, s: f64) -> Option<f64> {
        let rounding = self.own_rounding(k, 0.0);
        if self.flow.is_rough {
            let value = self.own_value(k, 0.0);
            return (value.is_finite() && value.abs() > rounding).then(|| value.signum());
        }
        let tick = self.tick();
        self.with_own(k, |engine, c| {
            if !c[0].is_finite() {
                return None;
            }
            let whole = engine.own_reach(k, c, engine.own_horizon(s));
            let size = largest_term(c, whole);
            let nothing = (ZERO * size).max(rounding);
            if c[0].abs() <= nothing {
                let first = 1 + leading(&c[1..], whole, nothing / whole, tick)?;
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
