//! W trajectories side by side: their series, how long a step may be, and where they are.

use super::code::{LaneCode, MOST};
use super::limits::{BLIND, CAREFUL, GROWTH, SHARE, TRUST};
use super::section::Sections;
use super::vector::{self, Forms, MAX_ORDER, each};
use saltus_expr::{Lane, SeriesLanes, choose};
use std::sync::Arc;

/// What ends the step of a lane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// A gap closes.
    Hit(usize),
    /// The reaction of the constraint that is held turns negative.
    Release,
    /// The last return to the first section.
    Return,
    /// The next stop.
    Stop,
    /// The step cannot be made here.
    Unclear,
}

/// What a lane does with its constraints.
#[derive(Clone, Debug, Default)]
pub struct Mode {
    /// Whether there is a trajectory.
    pub is_active: bool,
    /// Whether it is to be left where it is in this step.
    pub waits: bool,
    /// The constraint that is held.
    pub held: Option<usize>,
    /// For each gap, how many of its first coefficients are zero: where it has just closed.
    pub zeros: [u8; MOST],
    /// Whether it has just begun: nothing is known about it yet.
    pub is_new: bool,
}

impl Mode {
    /// Whether no crossing has to be treated differently from others.
    pub fn is_plain(&self) -> bool {
        self.held.is_none() && self.zeros == [0; MOST]
    }
}

pub struct Group<const W: usize> {
    pub code: Arc<LaneCode>,
    pub tolerance: f64,
    pub series: SeriesLanes<W>,
    pub sections: Sections<W>,
    /// How late an impact at the end of the step may be.
    pub late: Lane<W>,
    pub modes: Vec<Mode>,
    pub t: Lane<W>,
    pub stop: Lane<W>,
    /// The last step.
    pub last: Lane<W>,
    /// How long the last step could have been.
    pub pace: Lane<W>,
    scales: Vec<Lane<W>>,
    /// Of gaps, then of events.
    gap_scales: Vec<Lane<W>>,
    reaction_scale: Lane<W>,
    /// The largest gaps since the last contact.
    pub extent: Vec<Lane<W>>,
    /// Accelerations by coordinates, and the factors of M, where they are not outputs.
    pub a: Vec<Lane<W>>,
    pub factor: Vec<Lane<W>>,
    /// The reaction of the constraint held; its slope, M⁻¹∇f and 1/∇f·M⁻¹∇f, zero in lanes without one.
    pub lambda: Vec<Lane<W>>,
    pub slope: Vec<Lane<W>>,
    pub pull: Vec<Lane<W>>,
    pub inverse: Lane<W>,
    /// The state before the last step: t, q, v.
    pub before: Vec<Lane<W>>,
    /// What rounding may make of accelerations, where it was seen to matter.
    pub noise: Vec<Lane<W>>,
    /// The acceleration at the end of the last step; whether it must be that of the next one.
    predicted: Vec<Lane<W>>,
    pub is_smooth: [bool; W],
    /// The largest residual of the equations of motion of each lane so far, and the deepest violation of a constraint.
    pub residual: Lane<W>,
    pub violation: Lane<W>,
    /// The largest gap of each lane so far, of all constraints: what a violation is measured by.
    pub widest: Lane<W>,
    pub ratios: Vec<f64>,
    /// The polynomial of which a crossing is looked for; its terms, and its Bernstein form.
    pub shifted: Vec<Lane<W>>,
    pub scaled: Box<Forms<W>>,
    pub forms: Box<Forms<W>>,
}

impl<const W: usize> Group<W> {
    pub fn new(code: Arc<LaneCode>, tolerance: f64) -> Option<Self> {
        let (d, n) = (code.d, code.order);
        let mut series = SeriesLanes::new(code.series.clone(), n)?;
        *series.input_mut(0, 1) = Lane::all(1.0);
        let zeros = |k: usize| vec![Lane::all(0.0); k];
        Some(Group {
            series,
            sections: Sections::new(code.events),
            late: Lane::all(0.0),
            tolerance,
            modes: vec![Mode::default(); W],
            t: Lane::all(0.0),
            stop: Lane::all(0.0),
            last: Lane::all(0.0),
            pace: Lane::all(0.0),
            scales: zeros(d),
            gap_scales: zeros(code.m + code.events),
            reaction_scale: Lane::all(0.0),
            extent: zeros(code.m),
            a: zeros(if code.is_explicit { 0 } else { d * n }),
            factor: zeros(if code.is_explicit { 0 } else { d * d }),
            lambda: zeros(n),
            slope: zeros(d),
            pull: zeros(d),
            inverse: Lane::all(0.0),
            before: zeros(1 + 2 * d),
            noise: zeros(d),
            predicted: zeros(d),
            is_smooth: [false; W],
            residual: Lane::all(0.0),
            violation: Lane::all(0.0),
            widest: Lane::all(0.0),
            ratios: vector::ratios(n),
            shifted: zeros(n + 1),
            scaled: Box::new([Lane::all(0.0); MAX_ORDER + 1]),
            forms: Box::new([Lane::all(0.0); MAX_ORDER + 1]),
            code,
        })
    }

    /// Puts a state into a lane.
    pub fn set_state(&mut self, l: usize, t: f64, q: &[f64], v: &[f64]) {
        let d = self.code.d;
        self.t.0[l] = t;
        self.series.input_mut(0, 0).0[l] = t;
        for i in 0..d {
            self.series.input_mut(1 + i, 0).0[l] = q[i];
            self.series.input_mut(1 + d + i, 0).0[l] = v[i];
        }
        self.is_smooth[l] = false;
    }

    /// A new trajectory, or one that comes back: nothing is known about its scales.
    pub fn forget(&mut self, l: usize, pace: f64) {
        self.last.0[l] = pace;
        self.forget_scales(l);
        self.extent.iter_mut().for_each(|s| s.0[l] = 0.0);
        self.let_go(l);
    }

    /// The scales of series are those of the next expansion.
    pub fn forget_scales(&mut self, l: usize) {
        self.scales.iter_mut().chain(&mut self.gap_scales).for_each(|s| s.0[l] = 0.0);
    }

    /// Holds no constraint any more.
    pub fn let_go(&mut self, l: usize) {
        self.modes[l].held = None;
        self.inverse.0[l] = 0.0;
        self.reaction_scale.0[l] = 0.0;
        let held = self.slope.iter_mut().chain(&mut self.pull).chain(&mut self.lambda);
        held.for_each(|s| s.0[l] = 0.0);
    }

    /// Position and velocity of a lane.
    pub fn state(&self, l: usize, q: &mut [f64], v: &mut [f64]) {
        let d = self.code.d;
        for i in 0..d {
            q[i] = self.series.input(1 + i)[0].0[l];
            v[i] = self.series.input(1 + d + i)[0].0[l];
        }
    }

    /// Position and velocity within the last step, s after its start.
    pub fn state_within(&self, l: usize, s: f64, q: &mut [f64], v: &mut [f64]) {
        let d = self.code.d;
        let at = |input: usize, first: f64| {
            let row = &self.series.input(input)[1..];
            first + row.iter().rev().fold(0.0, |sum, c| (sum + c.0[l]) * s)
        };
        for i in 0..d {
            q[i] = at(1 + i, self.before[1 + i].0[l]);
            v[i] = at(1 + d + i, self.before[1 + d + i].0[l]);
        }
    }

    /// Before the last step.
    pub fn state_before(&self, l: usize, q: &mut [f64], v: &mut [f64]) -> f64 {
        let d = self.code.d;
        for i in 0..d {
            q[i] = self.before[1 + i].0[l];
            v[i] = self.before[1 + d + i].0[l];
        }
        self.before[0].0[l]
    }

    /// How far the accelerations here are from those at the end of the last step, in velocities, relative to the scales; zero
    /// after an event. Notes the largest ones, and the extents of the gaps.
    pub fn check(&mut self) -> Lane<W> {
        let d = self.code.d;
        let mut worst = Lane::all(0.0);
        for i in 0..d {
            let a = &self.series.input(1 + d + i)[1];
            vector::differ(a, &self.predicted[i], &self.noise[i], &self.last, &self.scales[i], &mut worst);
        }
        for l in 0..W {
            worst.0[l] = if self.is_smooth[l] && !self.modes[l].waits { worst.0[l] } else { 0.0 };
        }
        // (A step that fails is not made.)
        let trusted = each(|l| choose(worst[l] <= TRUST * self.tolerance, worst[l], 0.0));
        vector::largest(&trusted, &mut self.residual);
        for a in 0..self.code.m {
            let mut gap = self.series.output(self.code.gaps + a)[0];
            // (Lanes that wait are seen when they go on.)
            (0..W).filter(|&l| self.modes[l].waits).for_each(|l| gap.0[l] = 0.0);
            vector::largest(&gap, &mut self.extent[a]);
            vector::largest(&gap, &mut self.widest);
            vector::largest(&scaled(&gap, -1.0), &mut self.violation);
        }
        worst
    }

    /// The same of one lane, now.
    pub fn residual_of(&self, l: usize) -> f64 {
        let d = self.code.d;
        let of = |i: usize| {
            let off = (self.series.input(1 + d + i)[1].0[l] - self.predicted[i].0[l]).abs() - self.noise[i].0[l];
            off * self.last.0[l] / self.scales[i].0[l].max(1e-300)
        };
        (0..d).map(of).fold(0.0, |worst, off| if off <= worst { worst } else { off })
    }

    /// The steps, and what ends them.
    pub fn steps(&mut self, events: &mut [Option<Event>; W]) -> Lane<W> {
        let (d, n, m) = (self.code.d, self.code.order, self.code.m);
        let mut worst = [Lane::all(0.0); 2];
        let allowed = SHARE * self.tolerance;
        for i in 0..d {
            vector::measure(self.series.input(1 + d + i), allowed, &mut self.scales[i], &self.last, &mut worst);
        }
        for a in (0..m).filter(|&a| !self.code.is_affine[a]) {
            let gap = self.series.output(self.code.gaps + a);
            vector::measure(gap, allowed, &mut self.gap_scales[a], &self.last, &mut worst);
        }
        // (Those that are as accurate as the motion need no measure of their own.)
        let measured = if self.sections.are_wanted { self.code.events } else { 0 };
        for k in (0..measured).filter(|&k| !self.code.is_section_affine[k]) {
            let value = self.series.output(self.code.own + k);
            vector::measure(value, allowed, &mut self.gap_scales[m + k], &self.last, &mut worst);
        }
        let holds = self.modes.iter().any(|mode| mode.held.is_some());
        if holds {
            let reaction = &self.lambda[..];
            vector::measure(reaction, allowed, &mut self.reaction_scale, &self.last, &mut worst);
        }
        let mut cap = Lane::<W>::all(0.0);
        for l in 0..W {
            let mode = &self.modes[l];
            cap.0[l] = if mode.is_active && !mode.waits { self.stop.0[l] - self.t.0[l] } else { 0.0 };
        }
        // (What is no number stays so.)
        let reach = vector::step_length(&worst, n);
        let limit: Lane<W> = match self.code.linear {
            Some(_) => Lane::all(f64::INFINITY),
            None => each(|l| GROWTH * self.pace[l]),
        };
        let fits: Lane<W> = each(|l| choose(reach[l] > limit[l], limit[l], reach[l]));
        self.pace = each(|l| choose(cap[l] > 0.0, fits[l], self.pace[l]));
        let mut h: Lane<W> = each(|l| choose(fits[l] > cap[l], cap[l], fits[l]));
        for l in 0..W {
            events[l] = None;
            if cap.0[l] == 0.0 {
                h.0[l] = 0.0;
            } else if cap.0[l] <= 16.0 * f64::EPSILON * self.t.0[l].abs() {
                (h.0[l], events[l]) = (0.0, Some(Event::Stop));
            } else if !(h.0[l] > self.shortest(l) || h.0[l] == cap.0[l]) {
                events[l] = Some(Event::Unclear);
                h.0[l] = 0.0;
            } else if h.0[l] >= cap.0[l] * (1.0 - 1e-12) {
                h.0[l] = cap.0[l];
                events[l] = Some(Event::Stop);
            }
        }

        self.keep_clear_of_poles(&mut h, events);
        for a in 0..m {
            self.first_crossing(a, &mut h, events);
        }
        if holds {
            self.first_crossing(m, &mut h, events);
        }
        for l in 0..W {
            // What happens in a step for which its own series does not vouch, and later than the one before reached, is approached first: what is wrong
            // is seen there.
            let happens = matches!(events[l], Some(Event::Hit(_) | Event::Release));
            if happens && !(reach[l] <= limit[l]) && h[l] > limit[l] / GROWTH && 0.5 * h[l] > self.shortest(l) {
                h[l] *= 0.5;
                events[l] = None;
            }
        }
        if self.sections.are_wanted {
            self.watch(&fits, &mut h, events);
        }
        h
    }

    /// Shorter steps are not resolved by time, which is rounded: the event engine has more digits of it.
    pub fn shortest(&self, l: usize) -> f64 {
        f64::EPSILON * self.t.0[l].abs() * (1e-2 / self.tolerance).max(4.0)
    }

    /// The step that a new trajectory begins with. The scale of a series that starts from rest depends on the step: from above, until
    /// both fit. What the last terms of its series alone would allow.
    pub fn find_pace(&mut self, l: usize) -> f64 {
        let (d, n) = (self.code.d, self.code.order);
        let mut h = self.stop.0[l] - self.t.0[l];
        for _ in 0..200 {
            let mut fits = h;
            for row in (0..d).map(|i| self.series.input(1 + d + i)) {
                let c = |k: usize| row[k].0[l].abs();
                let scale = c(0).max(c(1) * h).max(c(2) * h * h).max(1e-290);
                let allowed = SHARE * self.tolerance * scale;
                for (k, easier) in [(n, 1.0), (n - 1, 8.0)] {
                    let step = (easier * allowed / c(k)).powf(1.0 / k as f64);
                    fits = if step < fits { step } else { fits };
                }
            }
            if !(fits < 0.9 * h) {
                break;
            }
            h = fits.max(0.01 * h);
        }
        // (Linear flight is exact, and sines and cosines have no places where their last terms vanish. Sections are measured by the length of
        // steps. No step is so short that time does not resolve it.)
        let surely = match self.code.linear {
            Some(_) => h,
            None if self.sections.are_wanted => self.majorised(l, h),
            None => (CAREFUL * self.majorised(l, h)).max(16.0 * self.shortest(l)).min(h),
        };
        self.last.0[l] = surely;
        self.pace.0[l] = surely / GROWTH;
        h
    }

    /// A step, or a shorter one, in which all terms of all series lie below a line from their first ones to what is allowed of the last: the
    /// last ones may vanish by themselves.
    fn majorised(&self, l: usize, mut h: f64) -> f64 {
        let (d, n, m) = (self.code.d, self.code.order, self.code.m);
        let motion: Vec<&[Lane<W>]> = (0..d).map(|i| self.series.input(1 + d + i)).collect();
        let gaps = (0..m).filter(|&a| !self.code.is_affine[a]).map(|a| self.series.output(self.code.gaps + a));
        let watched = if self.sections.are_wanted { self.code.events } else { 0 };
        let sections = (0..watched).filter(|&k| !self.code.is_section_affine[k]);
        let curved: Vec<&[Lane<W>]> = gaps.chain(sections.map(|k| self.series.output(self.code.own + k))).collect();
        let c = |row: &[Lane<W>], k: usize| row[k].0[l].abs();
        let steeper = (SHARE * self.tolerance).powf(-1.0 / n as f64);
        for _ in 0..200 {
            let fits = |row: &&[Lane<W>]| {
                let scale = c(row, 0).max(c(row, 1) * h).max(c(row, 2) * h * h);
                let ratio = steeper * h;
                let mut power = ratio * ratio;
                // (Where there are no first terms there is nothing to measure by.)
                scale == 0.0
                    || (3..row.len()).all(|k| {
                        power *= ratio;
                        c(row, k) * power <= scale
                    })
            };
            if motion.iter().chain(&curved).all(fits) {
                break;
            }
            h *= 0.5;
        }
        let has_terms = |row: &&[Lane<W>]| (3..row.len()).any(|k| c(row, k) > 0.0);
        if motion.iter().any(has_terms) && curved.iter().all(has_terms) { h } else { BLIND * h }
    }

    /// Goes to the ends of the steps.
    pub fn advance(&mut self, h: &Lane<W>, events: &[Option<Event>; W]) {
        let d = self.code.d;
        self.before[0] = self.t;
        for i in 0..d {
            self.before[1 + i] = self.series.input(1 + i)[0];
            self.before[1 + d + i] = self.series.input(1 + d + i)[0];
        }
        for i in 0..d {
            let q = vector::values(self.series.input(1 + i), h);
            let (v, a) = vector::values_and_slopes(self.series.input(1 + d + i), h);
            self.predicted[i] = a;
            *self.series.input_mut(1 + i, 0) = q;
            *self.series.input_mut(1 + d + i, 0) = v;
        }
        for l in 0..W {
            self.t.0[l] = if events[l] == Some(Event::Stop) { self.stop.0[l] } else { self.t.0[l] + h.0[l] };
            if h.0[l] > 0.0 {
                self.last.0[l] = h.0[l];
                self.is_smooth[l] = !matches!(events[l], Some(Event::Hit(_) | Event::Release | Event::Unclear));
            }
        }
    }

    /// The gap and its derivatives where lane l is: c₀, c₁, c₂, c₃.
    pub fn gap(&self, a: usize, l: usize) -> [f64; 4] {
        let row = self.series.output(self.code.gaps + a);
        [0, 1, 2, 3].map(|k| row[k].0[l])
    }
}

#[inline(always)]
fn scaled<const W: usize>(x: &Lane<W>, factor: f64) -> Lane<W> {
    let mut out = [0.0; W];
    for l in 0..W {
        out[l] = factor * x.0[l];
    }
    Lane(out)
}
