//! Where the expression of a user's event takes the other sign within a step.
//!
//! A step is as long as the series of the motion, of its gaps and of its switches allow. The value of an event is a composition of them,
//! and its series has a reach of its own: that of sin(x) is far shorter than that of a linear flight x(t). So the step is searched in
//! pieces. In each the value is expanded anew, as far as its last terms are below the tolerance and the expression, evaluated at some
//! places of the motion, is its polynomial. The first place where the polynomial turns is then confirmed and refined on the expression
//! itself: between two places where it has different signs, however flat it is there. (A value that is affine in the state is what its
//! polynomial is wherever the motion is; it is searched in one piece.)

use super::EventEngine;
use super::flow::reach;
use super::locate::Event;
use super::own::{KNOWN, ZERO};
use super::polynomial::{fall, largest_term, size, value};

/// Places of a piece at which the expression is compared with its polynomial, as parts of it.
const CHECKS: [f64; 4] = [0.21, 0.52, 0.83, 1.0];

/// They may differ by this many times what the last terms of the series may be.
const LOOSER: f64 = 1e2;

/// A piece is at least this part of the step: where the series reaches less far, there is none, and the expression is only sampled.
pub(super) const SHORTEST: f64 = 1e-3;

/// Samples in a step without a series.
pub(super) const SAMPLES: usize = 16;

impl EventEngine {
    /// The value of an event at a place of the step.
    pub(super) fn own_value(&mut self, k: usize, s: f64) -> f64 {
        let Some(values) = &mut self.own_values else { return f64::NAN };
        self.flow.state(s, &mut self.buffers.x, &mut self.buffers.y);
        values.evaluate(self.t + s, &self.buffers.x, &self.buffers.y);
        values.values[k]
    }

    /// How far the polynomial of an event's value is that value, as far as its own terms can tell.
    pub(super) fn own_reach(&self, k: usize, c: &[f64], cap: f64) -> f64 {
        if self.flow.is_affine(k) { cap } else { reach(c, 0.1 * self.tol, cap) }
    }

    /// Whether an event has been located on an expression itself.
    pub(super) fn is_on_expression(&self, event: Option<Event>) -> bool {
        matches!(event, Some(Event::Own(k)) if !self.flow.is_affine(k))
    }

    /// The first place before s where the expression, times its sign so far, turns negative.
    pub(super) fn own_turn(&mut self, k: usize, s: f64) -> Option<f64> {
        if self.flow.is_rough {
            let parts = SAMPLES as f64;
            return (0..SAMPLES)
                .find_map(|i| self.own_turn_sampled(k, s * i as f64 / parts, s * (i + 1) as f64 / parts));
        }
        let mut c = std::mem::take(&mut self.buffers.own);
        let found = self.own_turn_in_pieces(k, s, &mut c);
        self.buffers.own = c;
        found
    }

    fn own_turn_in_pieces(&mut self, k: usize, s: f64, c: &mut Vec<f64>) -> Option<f64> {
        let (sign, least) = (self.own[k], SHORTEST * self.search.max(s));
        let (mut from, mut misses) = (0.0, 0);
        while from < s {
            self.flow.event_about(k, from, c);
            c.iter_mut().for_each(|c| *c *= sign);
            let to = match self.own_represented(k, from, s, c) {
                known if known < least.min(s - from) => {
                    let to = (from + least).min(s);
                    if let Some(at) = self.own_turn_sampled(k, from, to) {
                        return Some(at);
                    }
                    from = to;
                    continue;
                }
                known if known >= s - from => s,
                known => from + known,
            };
            let found = match from == 0.0 {
                true => self.own_turn_from_start(k, c, to),
                false => self.own_turn_on(k, c, (from, to)),
            };
            let Some(near) = found else {
                from = to;
                continue;
            };
            if self.flow.is_affine(k) || (from == 0.0 && near == 0.0) {
                return Some(near);
            }
            match self.own_zero(k, c, from, (from + near).min(to), to) {
                Ok(at) => return Some(at),
                // It only comes near to zero there. (Again and again: within what is known of it.)
                Err(next) => {
                    misses += 1;
                    from = next.max(from + near + (to - from) * 1e-9 * 4f64.powi(misses.min(12))).min(to.max(next));
                }
            }
        }
        None
    }

    /// Where the polynomial about `from` turns negative before `to`, by more than rounding of the value.
    pub(super) fn own_turn_on(&mut self, k: usize, c: &[f64], (from, to): (f64, f64)) -> Option<f64> {
        self.roots.first_negative(c, to - from, 0.0)?;
        let rounding = self.own_rounding(k, from);
        self.roots.first_negative(c, to - from, rounding)
    }

    /// From the start of the step, where the event may just have occurred.
    pub(super) fn own_turn_from_start(&mut self, k: usize, c: &mut [f64], to: f64) -> Option<f64> {
        if c[0] > 0.0 && c[0] >= fall(&c[1..], to) * to {
            return None;
        }
        let whole = self.own_horizon(to);
        let rounding = self.own_rounding(k, 0.0);
        let nothing = (ZERO * largest_term(c, to)).max(rounding);
        // At zero, where the last one was found: on to the next. That place is known to the tolerance only; a little before the
        // zero of the expression it still has the sign from before, and turns.
        // (By the whole step it is measured what is little: s may be short, where another event was found.)
        let whole = largest_term(c, self.own_reach(k, c, whole));
        let turns = c[0] < 0.0 && c.get(1).is_some_and(|&slope| slope > 0.0) && -c[0] <= KNOWN * self.tol * whole;
        // (A flat zero that is ahead may be as near to zero as one that was passed. The expression itself tells.)
        let is_ahead =
            !self.flow.is_affine(k) && self.own_at[k] != self.t && self.own[k] * self.own_value(k, 0.0) > 0.0;
        if !is_ahead && (turns || c[0].abs() <= nothing) {
            c[0] = 0.0;
        }
        if c[0] != 0.0 {
            return self.roots.first_negative(c, to, rounding);
        }
        // The side that it takes is the one on which it is first by more than rounding. (At a release the accelerations are known to
        // the rounding of the forces only, and a gap that opens may seem to fall at first.)
        let falls = self.roots.first_negative(c, to, nothing)?;
        c.iter_mut().for_each(|c| *c = -*c);
        let rises = self.roots.first_negative(c, to, nothing);
        c.iter_mut().for_each(|c| *c = -*c);
        Some(if rises.is_some_and(|rises| rises < falls) { falls } else { 0.0 })
    }

    /// How far from a place of the step, before s, the polynomial of an event's value about it is that value: as far as its terms tell, and
    /// the expression at some places in between.
    pub(super) fn own_represented(&mut self, k: usize, from: f64, s: f64, c: &[f64]) -> f64 {
        let mut known = self.own_reach(k, c, s - from);
        if self.flow.is_affine(k) || known == 0.0 {
            return known;
        }
        let mut rounding = None;
        let mut noise =
            |engine: &mut Self| *rounding.get_or_insert_with(|| 16.0 * engine.flow.rounding_of_event(k, from, from));
        for _ in 0..12 {
            let allowed = (LOOSER * 0.1 * self.tol).max(1e-13) * size(c, known);
            let is_known = CHECKS.iter().all(|part| {
                let off = (self.own[k] * self.own_value(k, from + part * known) - value(c, part * known)).abs();
                // What rounding makes of the value is no error of the series.
                off <= allowed || off <= noise(self)
            });
            if is_known {
                return known;
            }
            known *= 0.5;
        }
        0.0
    }

    /// The first place where the expression itself has turned negative, near the one where its polynomial about `from` does; else where it
    /// is to be searched on.
    pub(super) fn own_zero(&mut self, k: usize, c: &[f64], from: f64, near: f64, to: f64) -> Result<f64, f64> {
        let sign = self.own[k];
        let mut step = (4.0 * f64::EPSILON * near).max(1e-15 * (to - from));
        let rounding = self.own_rounding(k, near);
        if sign * self.own_value(k, near) < -rounding {
            let mut high = near;
            while high > 0.0 {
                let low = (near - step).max(0.0);
                if !(sign * self.own_value(k, low) < 0.0) {
                    return Ok(self.own_between(k, low, high));
                }
                (high, step) = (low, 8.0 * step);
            }
            // It has not had the other sign in this step, but for rounding.
            return Ok(near);
        }
        let mut low = near;
        while low < to {
            let high = (near + step).min(to);
            if sign * self.own_value(k, high) < -rounding {
                return Ok(self.own_between(k, low, high));
            }
            if value(c, high - from) >= 0.0 {
                return Err(high);
            }
            (low, step) = (high, 8.0 * step);
        }
        Err(to)
    }

    /// Bisection between a place where the expression is not yet negative and one where it is.
    pub(super) fn own_between(&mut self, k: usize, mut low: f64, mut high: f64) -> f64 {
        let sign = self.own[k];
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if !(low < middle && middle < high) {
                break;
            }
            if sign * self.own_value(k, middle) < 0.0 { high = middle } else { low = middle }
        }
        high
    }

    /// The same where there is no series: between two places, if the expression has different signs there.
    fn own_turn_sampled(&mut self, k: usize, from: f64, to: f64) -> Option<f64> {
        let sign = self.own[k];
        if !(sign * self.own_value(k, to) < -self.own_rounding(k, to)) {
            return None;
        }
        if !(sign * self.own_value(k, from) < 0.0) {
            return Some(self.own_between(k, from, to));
        }
        // Where the step begins it may have occurred; later its sign was that of the piece before, but for rounding.
        match from == 0.0 && self.own_at[k] == self.t {
            true => {
                self.own[k] = -sign;
                None
            }
            false => Some(from),
        }
    }
}
