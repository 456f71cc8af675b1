//! How far the series can be trusted: the length of a step, what rounding does in it, and a check afterwards.

use super::polynomial::value;
use super::{EventEngine, Touch};
use crate::Reason;

/// Points at which a gap is sampled whose series does not reach as far as the motion.
const SAMPLES: usize = 64;

/// Where a series would reach this many times farther than the step, nothing announces itself: so many points are checked.
const QUIET: f64 = 3.0;
const QUIET_POINTS: usize = 128;

/// A series step shorter than this part of the longest is a place without a series, or near one.
const SHORT: f64 = 1e-6;

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
        if h <= SHORT * cap || forced {
            let singular = self.flow.singular();
            let shortest = if forced { self.shortest() } else { self.shortest().max(2.0 * h) };
            // Not longer than a thousandth of the longest at first, then up to four times the one before.
            let start = self.rough.max(SHORT.sqrt() * cap).max(1e3 * shortest).min(cap);
            let rough = self.flow.rough(self.t, &self.q, &self.v, start, shortest, tol);
            match rough {
                Some(rough) => {
                    self.rough = 4.0 * rough;
                    return Ok(rough);
                }
                // The series is there, if short.
                None if h > self.shortest() => {
                    self.flow.expand(self.t, &self.q, &self.v, &self.working, false)?;
                }
                None => return Err(singular),
            }
        }
        self.rough = 0.0;
        Ok(h)
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
                self.checked.evaluate(self.t + s, &self.buffers.x);
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

    /// What rounding makes of the gaps within a step: a few units in the last place of all that they are made of.
    pub(super) fn measure_noise(&mut self, h: f64) {
        let Self { flow, buffers, .. } = self;
        for (i, x) in buffers.x.iter_mut().enumerate() {
            *x = self.q[i].abs() + h * (self.v[i].abs() + h * flow.free[i].abs());
        }
        for a in 0..self.touch.len() {
            let moved = h * (flow.partial_t[a].abs() + h * flow.gamma[a].abs());
            let terms = flow.gradients.dot_abs(a, &buffers.x) + flow.gaps[a].abs() + moved;
            self.noise[a] = (1e-14 * terms).max(1e-300);
        }
    }

    /// Whether the series is the motion, as far as two points inside the step can tell: forces and gaps evaluated there
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
            _ => 2,
        };
        (1..=points).all(|k| {
            let part = if quiet { k as f64 / (points + 1) as f64 } else { 0.49 * k as f64 - 0.02 };
            self.holds_at(s, part * s)
        })
    }

    fn holds_at(&mut self, s: f64, at: f64) -> bool {
        let (loose, looser) = ((1e3 * self.tol).min(1e-4), (1e5 * self.tol).min(1e-4));
        {
            let (q, a) = (&mut self.buffers.x, &mut self.buffers.y);
            self.flow.state(at, q, a);
            self.dynamics.evaluate(self.t + at, q, a);
            self.checked.linearise(self.t + at, q);
            for alpha in 0..self.touch.len() {
                let gap = self.checked.values[alpha];
                if self.far[alpha] {
                    if !(gap > 0.0) {
                        return false;
                    }
                    continue;
                }
                let off = (gap - value(self.flow.gap(alpha), at)).abs();
                if !(off <= loose * self.scales.gap[alpha].max(gap.abs()) + 1e3 * self.noise[alpha]) {
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
                self.checked.gradients.add_abs_to(alpha, lambda.abs(), size);
            }
            metric.solve(g);
            metric.solve(size);
            for i in 0..g.len() {
                let off = (g[i] - value(self.flow.acceleration(i), at)).abs();
                if !(off * s <= looser * self.flow.scale(i) + 1e4 * f64::EPSILON * size[i].abs() * s) {
                    return false;
                }
            }
        }
        true
    }
}
