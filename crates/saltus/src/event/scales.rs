//! What is small: the scales by which a motion is measured, which follow it, and what rounding makes of it.

use super::polynomial::{value, value_and_slope};
use super::{EventEngine, STILL, Touch};
use crate::Reason;

/// After every so many steps their number still to come is estimated. More than the first number are too many where the
/// velocities hardly change over a window; more than the second are too many in any case.
const STIFF_WINDOW: usize = 20_000;
const STIFF: f64 = 5e6;
const ENDLESS: f64 = 1e12;

/// Steps since stiffness was last checked: their number and lengths, how much the velocities changed in them, and the
/// largest speed.
#[derive(Default)]
pub(super) struct Window {
    steps: usize,
    length: f64,
    change: f64,
    speed: f64,
}

impl EventEngine {
    /// How well time is known: a few units in its last place.
    pub(super) fn tick(&self) -> f64 {
        8.0 * f64::EPSILON * self.t.abs()
    }

    /// Time does not advance in steps shorter than this.
    pub(super) fn shortest(&self) -> f64 {
        (4.0 * f64::EPSILON * self.t.abs()).max(1e-20 * (self.end - self.t0))
    }

    /// A gap velocity below this is zero.
    pub(super) fn still(&self, a: usize) -> f64 {
        STILL * self.rate_scale[a] + self.rate_noise[a]
    }

    /// A gap below this is closed, at the point last evaluated.
    pub(super) fn near(&self, a: usize) -> f64 {
        (self.tol * self.extent[a] * self.flow.slope(a, &self.flow.gradients)).max(self.noise[a])
    }

    /// How far a gap is from zero, at the point last evaluated.
    pub(super) fn distance(&self, a: usize) -> f64 {
        let distance = self.flow.gaps[a].abs() / self.flow.slope(a, &self.flow.gradients);
        if distance.is_finite() { distance } else { 0.0 }
    }

    /// Many steps in which the velocities hardly change belong to a stiff system, where an implicit step does better. (A long
    /// motion takes many steps as well, but goes somewhere in them.)
    pub(super) fn check_stiffness(&mut self, s: f64) -> Result<(), Reason> {
        let window = &mut self.window;
        window.steps += 1;
        window.length += s;
        window.change += self.flow.change(&self.v);
        window.speed = window.speed.max(self.flow.length(&self.v));
        if window.steps == STIFF_WINDOW {
            let steps = (self.end - self.t) / (window.length / STIFF_WINDOW as f64);
            let is_stiff = steps > STIFF && window.change < window.speed;
            self.window = Window::default();
            if is_stiff || steps > ENDLESS {
                return Err(Reason::Stiff { steps });
            }
        }
        Ok(())
    }

    /// Brings the scales up to date with a step that is kept: at its middle and its end. They follow the motion: over the time
    /// that its series reaches they forget half of what was.
    pub(super) fn grow_scales(&mut self, s: f64) {
        let forget = (-(s / self.flow.reach).min(1.0)).exp2();
        let Self { flow, scales, touch, noise, far, extent, checked, rate_scale, .. } = self;
        let tick = 4.0 * f64::EPSILON * (self.t + s).abs();
        let path = s * flow.length(&self.v).max(flow.length_of_start());
        let gradients = if self.is_polynomial || flow.is_rough { &flow.gradients } else { &checked.gradients };
        for a in 0..touch.len() {
            rate_scale[a] *= forget;
            scales.gap[a] *= forget;
            if far[a] {
                continue;
            }
            let (middle, gap) = (value(flow.gap(a), 0.5 * s), value(flow.gap(a), s));
            scales.gap[a] = scales.gap[a].max(gap.abs()).max(middle.abs());
            let slope = flow.slope(a, gradients);
            let distance = (gap.abs() / slope).max((middle.abs() / slope).min(path));
            if distance.is_finite() {
                extent[a] = extent[a].max(distance);
            }
            // (It may be back at the end of the step.)
            if touch[a] == Touch::Closed && gap.max(middle) > 4.0 * noise[a] {
                touch[a] = Touch::Open;
            }
            let rate = value_and_slope(flow.gap(a), s).1;
            noise[a] = (1e-14 * (gradients.dot_abs(a, &self.q) + gap.abs()) + tick * rate.abs()).max(1e-300);
        }
        for (k, &row) in flow.working().iter().enumerate() {
            let reaction = value(flow.reaction(k), s).abs().max(flow.reaction(k)[0].abs());
            scales.reaction[row] = (forget * scales.reaction[row]).max(reaction);
            // After a long contact a new sequence of bounces is measured by itself.
            if let Some(extent) = extent.get_mut(row) {
                *extent *= forget;
            }
        }
        for (scale, element) in self.rubbing.scale.iter_mut().zip(&flow.friction.elements) {
            *scale *= forget;
            for slip in (element.first..element.first + element.slips).map(|k| flow.slip_series(k)) {
                let fastest = value(slip, 0.5 * s).abs().max(value(slip, 0.0).abs());
                *scale = if fastest.is_finite() { scale.max(fastest) } else { *scale };
            }
        }
        for (i, (scale, v)) in scales.v.iter_mut().zip(&self.v).enumerate() {
            *scale = (forget * *scale).max(v.abs()).max(flow.velocity(i)[0].abs());
        }
        // (After a rough step there is no series of the arguments.)
        for switch in 0..if flow.is_rough { 0 } else { scales.switch.len() } {
            let now = flow.argument(switch, s).abs().max(flow.argument(switch, 0.0).abs());
            scales.switch[switch] = (forget * scales.switch[switch]).max(now);
        }
    }

    /// What rounding makes of the gaps and their velocities at the point last evaluated: a few units in the last place of all
    /// that they are made of. Time is rounded as well, which moves walls and bodies.
    pub(super) fn measure_noise(&mut self) {
        let tick = 4.0 * f64::EPSILON * self.t.abs();
        for a in 0..self.touch.len() {
            let flow = &self.flow;
            let rate = flow.partial_t[a].abs() + flow.gradients.dot_abs(a, &self.v);
            if rate.is_finite() {
                self.rate_scale[a] = self.rate_scale[a].max(rate);
            }
            let noise = 1e-14 * (flow.gradients.dot_abs(a, &self.q) + flow.gaps[a].abs()) + tick * rate;
            self.noise[a] = if noise.is_finite() { noise.max(1e-300) } else { 1e-14 * flow.gaps[a].abs() };
            let moved = tick * (flow.gamma[a].abs() + flow.gradients.dot_abs(a, &flow.free));
            self.rate_noise[a] = if moved.is_finite() { moved } else { 0.0 };
        }
    }
}

/// a + b, and what rounding leaves of it.
pub(super) fn sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}
