//! How far the series can be trusted: the length of a step, what rounding does in it, and a check afterwards.

use super::locate::Event;
use super::polynomial::{size, value};
use super::{EventEngine, Touch};
use crate::Reason;

/// Points at which a gap is sampled whose series does not reach as far as the motion.
const SAMPLES: usize = 64;

/// Where a series would reach this many times farther than the step, nothing announces itself: so many points are checked.
const QUIET: f64 = 3.0;
const QUIET_POINTS: usize = 128;

/// Less than this is nothing: numbers end not far below.
const NOTHING: f64 = 1e-280;

/// A series step shorter than this part of the longest is a place without a series, or near one; it is passed in steps up to
/// so many times as long.
const SHORT: f64 = 1e-10;
const LONGER: f64 = 1e5;

/// A gap at a place of a step: how well it can be known there by rounding, and how well it is wanted.
pub(super) struct Resolution {
    pub gap: f64,
    pub rate: f64,
    pub rounding: f64,
    pub wanted: f64,
}

impl EventEngine {
    /// How long a step may be. Where there is no series, or hardly one, a rough step is made instead.
    pub(super) fn length(&mut self, cap: f64) -> Result<f64, Reason> {
        let tol = 0.1 * self.tol;
        self.far.fill(false);
        let (mut h, alone) = self.flow.step(tol, cap, &self.scales, &self.far);
        if h <= 0.2 * alone {
            h = self.sample_ahead(tol, h, alone);
        }
        let forced = std::mem::take(&mut self.must_be_rough);
        // Long and short are measured by the steps of late.
        let cap = if self.pace > 0.0 { cap.min(1e3 * self.pace) } else { cap };
        if h <= SHORT * cap || forced {
            let singular = self.flow.singular();
            let shortest = if forced { self.shortest() } else { self.shortest().max(2.0 * h) };
            // At first a thousandth of the longest (of what is short, not so long that a pulse would be passed over), then up to
            // four times the one before.
            let first = if h > 0.0 && !forced { LONGER * h } else { 1e-3 * cap };
            // Marks are not passed over: what they announce has no other sign.
            let mark = self.next_mark(cap).map_or(cap, |mark| mark.max(4.0 * shortest));
            let start = self.rough.max(first).max(1e3 * shortest).min(mark);
            let rough = self.flow.rough(self.t, &self.q, &self.v, start, shortest, tol);
            match rough {
                Some(rough) => {
                    self.rough = 4.0 * rough;
                    return Ok(rough);
                }
                // The series is there, if short.
                None if h > self.shortest() => {
                    self.flow.expand(self.t, &self.q, &self.v, &self.rubbing.rows, false)?;
                }
                None => return Err(singular),
            }
        }
        self.rough = 0.0;
        Ok(h)
    }

    /// How far the first mark is whose argument has a series.
    fn next_mark(&mut self, cap: f64) -> Option<f64> {
        let n = self.flow.order + 1;
        let mut first = None;
        for switch in 0..self.flow.switches() {
            if !self.flow.is_mark(switch) || !self.flow.argument(switch, 0.0).is_finite() {
                continue;
            }
            for end in 0..2 {
                let c = &mut self.buffers.c[..n];
                if self.flow.margin(switch, end, c).is_some() {
                    first = self.roots.first_negative(c, first.unwrap_or(cap), 0.0).or(first);
                }
            }
        }
        first
    }

    /// A gap can have a shorter series than the motion itself (the distance to a centre has a corner there). Such gaps are
    /// sampled along the motion instead: where every sample is larger than twice the largest change from one to the next,
    /// the gap stays open.
    fn sample_ahead(&mut self, tol: f64, h: f64, alone: f64) -> f64 {
        let m = self.touch.len();
        // Samples no farther apart than half of what the series of the gap itself allows: a feature is not narrower than that.
        let mut reach = if h > 0.0 { alone.min(0.5 * SAMPLES as f64 * h) } else { alone };
        while reach > 2.0 * h && reach > self.shortest() {
            self.buffers.samples.fill((f64::NAN, f64::INFINITY, 0.0));
            for k in 0..=SAMPLES {
                let s = reach * k as f64 / SAMPLES as f64;
                self.flow.state(s, &mut self.buffers.x, &mut self.buffers.y);
                self.checked.evaluate(self.t + s, &self.buffers.x, &self.buffers.y);
                for (&f, (last, least, change)) in self.checked.values.iter().zip(&mut self.buffers.samples) {
                    *least = if f.is_nan() { f64::NEG_INFINITY } else { least.min(f) };
                    // (The first has none before it: max leaves not-a-number out.)
                    *change = change.max((f - *last).abs());
                    *last = f;
                }
            }
            for a in 0..m {
                let (_, least, change) = self.buffers.samples[a];
                let short = self.flow.gap_step(a, tol, reach, self.scales.gap[a]) < reach;
                self.far[a] = short && self.touch[a] == Touch::Open && least > 2.0 * change;
            }
            let (fits, _) = self.flow.step(tol, reach, &self.scales, &self.far);
            if fits >= 0.5 * reach {
                return fits;
            }
            reach *= 0.5;
        }
        self.far.fill(false);
        h
    }

    /// How well a gap can be known at a place in the present step, from what is there: to the tolerance, or to rounding. The
    /// gap itself and its velocity come with it.
    pub(super) fn resolution(&mut self, a: usize, s: f64) -> Resolution {
        let Self { flow, buffers, checked, .. } = self;
        flow.state(s, &mut buffers.x, &mut buffers.y);
        let t = self.t + s;
        checked.evaluate(t, &buffers.x, &buffers.y);
        checked.kinematics(t, &buffers.x, &buffers.y);
        let gap = checked.values[a];
        let rate = checked.partial_t[a] + checked.gradients.dot(a, &buffers.y);
        let moving = checked.partial_t[a].abs() + checked.gradients.dot_abs(a, &buffers.y);
        let terms = checked.gradients.dot_abs(a, &buffers.x) + gap.abs();
        let rounding = 1e-14 * terms + 4.0 * f64::EPSILON * t.abs() * moving;
        let wanted = self.tol * self.extent[a] * flow.slope(a, &checked.gradients);
        Resolution { gap, rate, rounding, wanted: wanted.max(64.0 * rounding) }
    }

    /// Where the gap of a hit itself vanishes, near the place where its polynomial does; None if there is no such place,
    /// because the polynomial is not the gap there.
    pub(super) fn polish(&mut self, s: f64, h: f64, event: Option<Event>) -> Result<Option<f64>, Reason> {
        let Some(Event::Hit(a)) = event else { return Ok(Some(s)) };
        if self.is_polynomial {
            return Ok(Some(s));
        }
        let (mut at, mut best) = (s, (s, f64::INFINITY));
        for _ in 0..12 {
            let here = self.resolution(a, at);
            if !here.gap.is_finite() {
                return Ok(None);
            }
            if here.gap.abs() < best.1 {
                best = (at, here.gap.abs());
            } else {
                break;
            }
            let next = at - here.gap / here.rate;
            // Without speed, or as near as numbers allow: no nearer place is to be found.
            let is_slow = !(here.rate < 0.0) || !next.is_finite();
            if here.gap.abs() <= here.rounding || is_slow || (next - s).abs() > 0.1 * s || next > h {
                break;
            }
            at = next;
        }
        let found = self.resolution(a, best.0);
        if !(found.gap.abs() <= found.wanted) {
            return Ok(None);
        }
        // Where the gradient vanishes with the gap there is no direction in which to push.
        if self.touch[a] == Touch::Open {
            let slope = self.flow.slope(a, &self.checked.gradients);
            let speed = self.flow.length(&self.buffers.y);
            let before = (best.0 - 1e-3 * self.extent[a] / speed).max(0.0);
            self.resolution(a, before);
            if slope < 1e-3 * self.flow.slope(a, &self.checked.gradients) && before < best.0 {
                return Err(Reason::Flat { constraint: self.constraint(a) });
            }
        }
        Ok(Some(best.0))
    }

    /// Whether the series is the motion, as far as three points of the step can tell: forces and gaps evaluated there
    /// are those of the polynomials. This is what a pulse that no derivative announces, or a series beyond its radius of
    /// convergence, does not pass.
    ///
    /// Where the series would have reached much farther than a step may, and the expressions can vary quickly without any
    /// coefficient announcing it (exp, tanh), many points are checked.
    pub(super) fn holds(&mut self, s: f64) -> bool {
        if self.is_polynomial {
            return true;
        }
        let quiet = (self.may_hide && self.flow.reach > QUIET * self.cap) || self.trusted.is_finite();
        let points = match (quiet, self.trusted.is_finite()) {
            (true, true) => QUIET_POINTS / 4,
            (true, false) => QUIET_POINTS,
            _ => 3,
        };
        (1..=points).all(|k| {
            // (Not at the end itself, where a force may jump.)
            self.holds_at(s, (k as f64 / points as f64 - 0.02 / points as f64) * s)
        })
    }

    fn holds_at(&mut self, s: f64, at: f64) -> bool {
        let (loose, looser) = ((1e3 * self.tol).min(1e-4), (1e5 * self.tol).min(1e-4));
        {
            let (q, a) = (&mut self.buffers.x, &mut self.buffers.y);
            self.flow.state(at, q, a);
            self.dynamics.evaluate(self.t + at, q, a);
            self.checked.linearise(self.t + at, q, a);
            for alpha in 0..self.touch.len() {
                let gap = self.checked.values[alpha];
                if self.far[alpha] {
                    if !(gap > 0.0) {
                        return false;
                    }
                    continue;
                }
                if self.touch[alpha] == Touch::Working {
                    continue;
                }
                let off = (gap - value(self.flow.gap(alpha), at)).abs();
                let terms = self.checked.gradients.dot_abs(alpha, q) + gap.abs() + size(self.flow.gap(alpha), at);
                let extent = self.extent[alpha] * self.flow.slope(alpha, &self.checked.gradients);
                if !(off <= loose * extent.max(gap.abs()) + 1e-11 * terms) {
                    return false;
                }
            }
            if !self.dynamics.code.mass_constant && self.probe.set(&self.dynamics.mass).is_err() {
                return false;
            }
            let metric = if self.dynamics.code.mass_constant { &self.flow.metric } else { &self.probe };
            // M⁻¹(g + Σ λ ∇f), and the size of what it is made of; positions are not needed any more.
            let (g, size) = (&mut self.buffers.x, &mut self.buffers.z);
            for i in 0..g.len() {
                g[i] = self.dynamics.g[i];
                size[i] = g[i].abs();
            }
            for (k, &alpha) in self.working.iter().enumerate() {
                let lambda = value(self.flow.reaction(k), at);
                self.checked.gradients.add_to(alpha, lambda, g);
                let scale = lambda.abs().max(self.scales.reaction[alpha]);
                self.checked.gradients.add_abs_to(alpha, scale, size);
            }
            if self.rubbing.is_there {
                let (joints, frictions) = &mut self.rubbing.checked;
                self.flow.state(at, &mut self.rubbing.q, &mut self.rubbing.v);
                joints.linearise(self.t + at, &self.rubbing.q, &[]);
                frictions.evaluate(self.t + at, &self.rubbing.q, &self.rubbing.v);
                self.flow.add_others(at, joints, frictions, g, size);
            }
            metric.solve(g);
            metric.solve(size);
            for i in 0..g.len() {
                let off = (g[i] - value(self.flow.acceleration(i), at)).abs();
                // (At rest the forces, which balance, are the scale.)
                if !(off * s <= looser * (self.flow.scale(i) + 1e-2 * size[i].abs() * s) + NOTHING) {
                    return self.is_rounding_of_forces(i, off, at);
                }
            }
        }
        true
    }

    /// Whether a deviation of an acceleration is what rounding makes of the forces: terms that nearly cancel leave what no
    /// coefficient announces.
    fn is_rounding_of_forces(&mut self, i: usize, off: f64, at: f64) -> bool {
        let (q, v) = (&mut self.buffers.x, &mut self.buffers.y);
        self.flow.state(at, q, v);
        off <= 8.0 * self.flow.rounding_of_acceleration(i, self.t + at, q, v)
    }
}
