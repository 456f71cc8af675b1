//! Sections: where an expression changes its sign. A crossing does not end the step that it is in: it is found there, with the state at it.
//!
//! Each section has a side, the sign of its expression so far. At a crossing the value is zero but for rounding and tells nothing; the
//! side does. A step begins on the side on which the last one ended, and a value that contradicts it by no more than is known of it is
//! that of a crossing already counted, or not yet reached. What is small is measured by steps as the motion allows them, however short
//! the last one was.

use super::group::{Event, Group};
use super::limits::ROUNDED;
use super::vector::{self, each};
use super::watch::{Turns, turns};
use saltus_expr::Lane;

/// Values below this part of what they are made of are zero.
const ZERO: f64 = 1e-13;

/// Where a step begins on the wrong side of a crossing and on its way back, by less than this many tolerances, it has not been there.
const BEHIND: f64 = 100.0;

/// The sections of a group, in one array for each.
pub struct Sections<const W: usize> {
    /// Whether they are of use.
    pub are_wanted: bool,
    /// What is known of each.
    pub all: Vec<Section<W>>,
    /// How long steps are, but for short ones between longer ones.
    span: Lane<W>,
    /// Crossings count from here on, and so many of the first section are still to come: infinity where they end nothing.
    pub from: Lane<W>,
    pub left: Lane<W>,
}

/// One section in all lanes.
#[derive(Clone)]
pub struct Section<const W: usize> {
    /// The sign of the expression so far; 0 where it is not known yet.
    pub side: Lane<W>,
    /// The same where the last step began, with what happened there.
    pub before: Lane<W>,
    /// When it was crossed last.
    pub crossed: Lane<W>,
    /// The largest size of the expression so far.
    reach: Lane<W>,
    /// The value before the last impact, and what is nothing in it.
    ended: Lane<W>,
    rounding: Lane<W>,
    /// What was found in the step: the side where it begins, the value there, and what is nothing in it; whether it was crossed there, and
    /// whether it is crossed within the step, and where.
    pub now: Lane<W>,
    first: Lane<W>,
    noise: Lane<W>,
    pub at_once: [bool; W],
    pub within: [bool; W],
    pub root: Lane<W>,
}

impl<const W: usize> Sections<W> {
    /// So many.
    pub fn new(count: usize) -> Self {
        let zeros = Lane::all(0.0);
        let none = [false; W];
        let section = Section {
            side: zeros,
            before: zeros,
            crossed: Lane::all(f64::NAN),
            reach: zeros,
            ended: zeros,
            rounding: zeros,
            now: zeros,
            first: zeros,
            noise: zeros,
            at_once: none,
            within: none,
            root: zeros,
        };
        let (from, left) = (zeros, Lane::all(f64::INFINITY));
        Sections { are_wanted: true, all: vec![section; count], span: zeros, from, left }
    }

    /// A new trajectory: nothing is known about it.
    pub fn load(&mut self, l: usize, from: f64, left: f64) {
        (self.from[l], self.left[l], self.span[l]) = (from, left, 0.0);
        for section in &mut self.all {
            (section.side[l], section.before[l], section.crossed[l], section.reach[l]) = (0.0, 0.0, f64::NAN, 0.0);
        }
    }

    /// A step is not made.
    pub fn stand(&mut self, l: usize) {
        self.all.iter_mut().for_each(|section| section.before[l] = section.side[l]);
    }

    /// The sides as another engine has them: twice where they have changed at that very instant.
    pub fn sides(&self, l: usize, t: f64, is_before: bool) -> Vec<i8> {
        let side = |section: &Section<W>| {
            let side = if is_before { section.before[l] } else { section.side[l] };
            side as i8 * if section.crossed[l] == t { 2 } else { 1 }
        };
        self.all.iter().map(side).collect()
    }

    /// Takes them from another engine.
    pub fn take_sides(&mut self, l: usize, t: f64, sides: &[i8]) {
        for (k, section) in self.all.iter_mut().enumerate() {
            let side = sides.get(k).copied().unwrap_or(0);
            section.side[l] = f64::from(side.signum());
            section.before[l] = section.side[l];
            section.crossed[l] = if side.abs() > 1 { t } else { f64::NAN };
        }
    }
}

impl<const W: usize> Group<W> {
    /// Finds crossings within the steps, as they are for everything else; `fits` is how long they may be for their last terms. Shortens them
    /// until there is at most one crossing of a section in each, and to the last return.
    pub fn watch(&mut self, fits: &Lane<W>, h: &mut Lane<W>, events: &mut [Option<Event>; W]) {
        let span = &mut self.sections.span;
        for l in (0..W).filter(|&l| h[l] > 0.0) {
            span[l] = h[l].max((0.5 * span[l]).min(fits[l]));
        }
        for l in 0..W {
            self.late[l] = match events[l] {
                Some(Event::Hit(a)) => lateness(self.series.output(self.code.gaps + a), l, h[l]),
                _ => 0.0,
            };
        }
        for k in 0..self.code.events {
            self.watch_one(k, h, events);
        }
        for k in 0..self.code.events {
            self.seek(k, h, events);
        }
        self.end_with_returns(h, events);
    }

    /// Section k: its sides, and no more than one crossing in each step.
    fn watch_one(&mut self, k: usize, h: &mut Lane<W>, events: &mut [Option<Event>; W]) {
        let row = self.series.output(self.code.own + k);
        let size = vector::sizes(row, &self.sections.span);
        let clear = vector::clearance_of_size(row, h, 0.0);
        let clock: Lane<W> = each(|l| clock(self.t[l], h[l]));
        let span = self.sections.span;
        let section = &mut self.sections.all[k];
        let value = row[0];
        let modes = &self.modes;
        for l in (0..W).filter(|&l| h[l] > 0.0) {
            section.reach[l] = section.reach[l].max(value[l].abs());
        }
        // (In contact what does not move has a series of rounding alone: it is measured by what was there before. So is the difference of
        // numbers that agree at an impact.)
        let tolerance = self.tolerance;
        let noise: Lane<W> = each(|l| {
            let of_reach = match &modes[l] {
                mode if mode.held.is_some() => tolerance,
                mode if mode.is_plain() => 0.0,
                _ => ROUNDED,
            };
            (of_reach * section.reach[l]).max(ZERO * size[l]) + row[1][l].abs() * clock[l]
        });
        (section.now, section.first, section.noise) = (section.side, value, noise);
        (section.at_once, section.within) = ([false; W], [false; W]);
        let is_plain = |l: usize| section.side[l] * value[l] > noise[l] && clear[l] > 0.0;
        let open: [bool; W] = std::array::from_fn(|l| h[l] > 0.0 && !is_plain(l));
        if open == [false; W] {
            return;
        }
        self.shifted[..row.len()].copy_from_slice(row);
        self.shifted[row.len()..].fill(Lane::all(0.0));
        let mut floor = Lane::<W>::all(0.0);
        for l in 0..W {
            let c = value[l];
            let goes = |l: usize| first_sign(row, l, span[l], noise[l]);
            if open[l] && section.side[l] == 0.0 {
                // (A motion that starts on a section does not cross it there.)
                section.now[l] = if c.abs() > noise[l] { c.signum() } else { goes(l) };
            }
            let side = section.now[l];
            if !open[l] || side == 0.0 {
                (0..self.shifted.len()).for_each(|i| self.shifted[i][l] = if i == 0 { 1.0 } else { 0.0 });
                continue;
            }
            // (What is known of it is measured by how far the motion goes, however little of that is left where bounces become short.)
            let known = BEHIND * self.tolerance * size[l].max(section.reach[l]);
            let is_near = c.abs() <= known.max(noise[l]);
            let returns = side * c < 0.0 && is_near && side * goes(l) > 0.0;
            if !returns && side * c < -noise[l] {
                section.at_once[l] = true;
                section.now[l] = -side;
            }
            let side = section.now[l];
            (0..self.shifted.len()).for_each(|i| self.shifted[i][l] *= side);
            if returns {
                (self.shifted[0][l], section.first[l]) = (0.0, 0.0);
            }
            let begins = if returns { row[1][l] * span[l] } else { c };
            if begins.abs() <= noise[l] {
                floor[l] = noise[l];
            }
        }
        let rounding = vector::bernstein(&self.shifted, h, &self.ratios, &mut self.scaled, &mut self.forms);
        for l in (0..W).filter(|&l| open[l]) {
            let floor = floor[l].max(rounding[l]);
            let nothing = at_end(row, l, h[l], noise[l], clock[l], self.late[l]);
            match turns(&self.forms, self.code.order, l, floor, nothing.max(floor)) {
                Turns::Never => {}
                // (That there is one is seen from where the step ends.)
                Turns::Once => section.within[l] = true,
                Turns::Later(part) => {
                    (h[l], events[l]) = (part * h[l], None);
                    section.within[l] = true;
                }
                Turns::Unclear => (h[l], events[l]) = (0.0, Some(Event::Unclear)),
            }
        }
    }

    /// Whether section k is crossed within the steps, which do so once at most, and where.
    fn seek(&mut self, k: usize, h: &Lane<W>, events: &[Option<Event>; W]) {
        let row = self.series.output(self.code.own + k);
        let section = &mut self.sections.all[k];
        let within = section.within;
        for l in (0..W).filter(|&l| within[l]) {
            let first = section.first[l];
            let late = if matches!(events[l], Some(Event::Hit(_))) { self.late[l] } else { 0.0 };
            let noise = at_end(row, l, h[l], section.noise[l], clock(self.t[l], h[l]), late);
            let root = if h[l] > 0.0 { root(row, l, section.now[l], first, noise, h[l]) } else { None };
            section.within[l] = root.is_some();
            section.root[l] = root.unwrap_or(h[l]);
        }
    }

    /// Steps with the last return end there.
    fn end_with_returns(&mut self, h: &mut Lane<W>, events: &mut [Option<Event>; W]) {
        let (t, code) = (self.t, self.code.clone());
        let Sections { all, from, left, .. } = &mut self.sections;
        for l in 0..W {
            if !(h[l] > 0.0 && left[l] < f64::INFINITY) {
                continue;
            }
            let first = &all[0];
            let counts = |rises: bool, at: f64| code.crossings[0].admits(rises) && at >= from[l];
            let is_counted = first.at_once[l] && counts(first.now[l] > 0.0, t[l]);
            let left = left[l] - f64::from(u8::from(is_counted));
            if is_counted && left <= 0.0 {
                h[l] = 0.0;
            } else if first.within[l] && counts(first.now[l] < 0.0, t[l] + first.root[l]) && left <= 1.0 {
                h[l] = first.root[l];
            } else {
                continue;
            }
            events[l] = Some(Event::Return);
            for section in all.iter_mut() {
                section.within[l] &= section.root[l] <= h[l];
            }
        }
    }

    /// The values of the sections of lane l where its step of length h ends, in an impact. (No step begins with them: what an impact takes all of has
    /// no other trace.)
    pub fn note_values(&mut self, l: usize, h: f64) {
        for (k, section) in self.sections.all.iter_mut().enumerate() {
            let row = self.series.output(self.code.own + k);
            let (mut value, mut size) = (0.0, 0.0);
            for c in row.iter().rev() {
                (value, size) = (value * h + c[l], size * h + c[l].abs());
            }
            section.reach[l] = section.reach[l].max(f64::abs(value));
            (section.ended[l], section.rounding[l]) =
                (value, at_end(row, l, h, ZERO * size, clock(self.t[l], 0.0), self.late[l]));
        }
    }

    /// Whether an impact has taken lane l across section k: by the jump, and by more than rounding. (One that the velocity is not in has no
    /// jump, whatever its sign at a place where it vanishes.)
    pub fn has_jumped(&self, k: usize, l: usize) -> bool {
        let value = self.series.output(self.code.own + k)[0][l];
        let section = &self.sections.all[k];
        let jump = (value - section.ended[l]).abs();
        self.code.is_section_of_speed[k] && -section.side[l] * value > ZERO * jump && jump > section.rounding[l]
    }
}

/// What is rounding in the times of a step.
fn clock(t: f64, h: f64) -> f64 {
    4.0 * f64::EPSILON * (t.abs() + h)
}

/// How late, or early, an impact is at a place of a step: the gap there is not zero to the last digit.
fn lateness<const W: usize>(gap: &[Lane<W>], l: usize, h: f64) -> f64 {
    let (mut value, mut slope, mut size) = (0.0, 0.0, 0.0);
    for c in gap.iter().rev() {
        slope = slope * h + value;
        value = value * h + c[l];
        size = size * h + c[l].abs();
    }
    2.0 * (f64::abs(value) + 4.0 * f64::EPSILON * size) / f64::abs(slope)
}

/// What is nothing at the end of a step: what is rounding in time (`clock`) moves it. A section that vanishes at an impact, which may be late, may do
/// so a little before it, or after, and is known there to the last terms of its series.
fn at_end<const W: usize>(row: &[Lane<W>], l: usize, h: f64, noise: f64, clock: f64, late: f64) -> f64 {
    let (mut slope, mut last) = (0.0, 0.0);
    for (k, c) in row.iter().enumerate().skip(1).rev() {
        slope = slope * h + k as f64 * c[l];
        last = h * if k + 2 >= row.len() { last + c[l].abs() } else { last };
    }
    let (late, last) = if late > 0.0 && late < h { (late, last) } else { (0.0, 0.0) };
    noise + f64::abs(slope) * (clock + late) + last
}

/// The sign that a motion on a section takes: that of the first term that is more than noise. (Where an impact takes all of a rate, what is left of
/// that is rounding, and the next term tells.)
fn first_sign<const W: usize>(row: &[Lane<W>], l: usize, span: f64, noise: f64) -> f64 {
    let mut power = 1.0;
    let mut is_term = |c: &&Lane<W>| {
        power *= span;
        (c[l] * power).abs() > noise
    };
    row[1..].iter().find(&mut is_term).map_or(0.0, |c| c[l].signum())
}

/// Where a polynomial that changes its sign once, if at all, and begins with `first` on a side, leaves it for good.
fn root<const W: usize>(row: &[Lane<W>], l: usize, side: f64, first: f64, noise: f64, h: f64) -> Option<f64> {
    let value = |s: f64| {
        let (mut sum, mut slope) = (0.0, 0.0);
        for c in row[1..].iter().rev() {
            slope = slope * s + sum;
            sum = sum * s + c[l];
        }
        (side * (sum * s + first), side * (slope * s + sum))
    };
    let (end, _) = value(h);
    if !(end < -noise) {
        return None;
    }
    let begin = (side * first).max(0.0);
    let (mut low, mut high, mut s) = (0.0, h, h * (begin / (begin - end)).clamp(1e-3, 1.0 - 1e-3));
    for _ in 0..80 {
        let (here, slope) = value(s);
        if here == 0.0 {
            break;
        }
        if here > 0.0 {
            low = s
        } else {
            high = s
        }
        let newton = s - here / slope;
        let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        if (newton - s).abs() <= f64::EPSILON * s || next == s {
            break;
        }
        s = next;
    }
    Some(s)
}
