//! A user's event whose expression may have no value, an infinite one, or an infinite slope in places: roots, logarithms, quotients.
//!
//! The motion knows nothing of such places, and its series none of the expression. A step is walked through in pieces: those in which the
//! expression has a series are searched as elsewhere; they become short where it nears such a place, which is passed by samples. Where the
//! expression has no value it has no side. It gets one where it has a value again, and one that goes through infinity to the other side has
//! not been zero: neither is a crossing.

use super::EventEngine;
use super::own_turn::{SAMPLES, SHORTEST};

/// Pieces are at least this part of the step; each that is only sampled is twice as long as the one before, up to [`SHORTEST`].
const FINEST: f64 = 1e-7;

/// Distances at which it is seen whether values grow without bound: so many times the shortest, one after the other.
const FARTHER: f64 = 1024.0;

impl EventEngine {
    /// The first place before s where the expression gets to the other side through zero.
    pub(super) fn own_turn_apart(&mut self, k: usize, s: f64) -> Option<f64> {
        let side = self.own[k];
        if side != 0.0 && self.contradicts(k, s) {
            self.own[k] = 0.0;
        }
        let mut c = std::mem::take(&mut self.buffers.own);
        let mut found = self.own_walk(k, s, &mut c);
        if found == Some(0.0) && self.own_at[k] == self.t {
            // It has occurred at this instant: which way it goes is known only now.
            self.own[k] = -side;
            found = self.own_walk(k, s, &mut c).filter(|&at| at > 0.0);
        }
        self.buffers.own = c;
        // (The side with which it occurs, or that where the step ends.)
        self.own_found[k] = self.own[k];
        self.own[k] = side;
        found
    }

    /// The same, with the side where the walk has come to.
    fn own_walk(&mut self, k: usize, s: f64, c: &mut Vec<f64>) -> Option<f64> {
        let whole = self.search.max(s);
        let (least, most) = match self.flow.is_rough {
            true => (s / SAMPLES as f64, s / SAMPLES as f64),
            false => (FINEST * whole, SHORTEST * whole),
        };
        let (mut from, mut grain, mut misses) = (0.0, least, 0);
        while from < s {
            let here = self.own_value(k, from);
            if !here.is_finite() {
                self.own[k] = 0.0;
                let to = (from + most).min(s);
                // (The place itself may be one without a value, and nothing else.)
                from =
                    if self.own_value(k, to).is_finite() { self.own_domain(k, from, to).max(from + least) } else { to };
                continue;
            }
            if self.own[k] == 0.0 {
                let side = if from == 0.0 { self.own_side(k, s) } else { None };
                let known = here.abs() > self.own_rounding(k, from);
                self.own[k] = side.unwrap_or(if known { here.signum() } else { 0.0 });
            }
            let sign = self.own[k];
            let known = if self.flow.is_rough || sign == 0.0 {
                0.0
            } else {
                self.flow.event_about(k, from, c);
                c.iter_mut().for_each(|c| *c *= sign);
                if c[0].is_finite() { self.own_represented(k, from, s, c) } else { 0.0 }
            };
            if known >= least.min(s - from) {
                grain = least;
                let to = if known >= s - from { s } else { from + known };
                let near = match from == 0.0 {
                    true => self.own_turn_from_start(k, c, to),
                    false => self.own_turn_on(k, c, (from, to)),
                };
                let Some(near) = near else {
                    from = to;
                    continue;
                };
                if from == 0.0 && near == 0.0 {
                    return Some(0.0);
                }
                match self.own_zero(k, c, from, (from + near).min(to), to) {
                    Ok(at) => return Some(at),
                    // It only comes near to zero there.
                    Err(next) => {
                        misses += 1;
                        let on = from + near + (to - from) * 1e-9 * 4f64.powi(misses.min(12));
                        from = next.max(on).min(to.max(next));
                    }
                }
                continue;
            }
            let to = (from + grain).min(s);
            grain = (2.0 * grain).min(most);
            // Up to where it has a value.
            let last = if self.own_value(k, to).is_finite() { to } else { self.own_domain(k, from, to) };
            let there = self.own_value(k, last);
            if sign * there < -self.own_rounding(k, last) {
                let is_before = sign * here < 0.0;
                let at = if is_before { from } else { self.own_between(k, from, last) };
                if is_before || !self.own_is_infinite(k, at) {
                    return Some(at);
                }
                self.own[k] = -sign;
            }
            from = to;
        }
        None
    }

    /// The last place with a value before one without, or the first after it.
    fn own_domain(&mut self, k: usize, from: f64, to: f64) -> f64 {
        let (mut low, mut high) = (from, to);
        let begins = self.own_value(k, from).is_finite();
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if !(low < middle && middle < high) {
                break;
            }
            if self.own_value(k, middle).is_finite() == begins { low = middle } else { high = middle }
        }
        if begins { low } else { high }
    }

    /// Whether values grow without bound towards a place where they change their sign. Towards a zero they fall, towards a jump they go to a limit,
    /// by less and less; towards a pole, and a logarithm of zero, each of some distances that are parts of each other adds as much as the one before.
    fn own_is_infinite(&mut self, k: usize, at: f64) -> bool {
        let shortest = 8.0 * f64::EPSILON * (self.t.abs() + at);
        [-shortest, shortest].into_iter().any(|off| {
            let [near, far, farther] =
                [1.0, FARTHER, FARTHER * FARTHER].map(|times| self.own_value(k, at + times * off).abs());
            let (last, before) = (near - far, far - farther);
            !near.is_finite() || (before > 0.0 && last > 0.5 * before && last > 1e-9 * near)
        })
    }
}
