//! What a trajectory settled on, from its states at the stroboscope, its last impacts and its velocities.

mod approach;
mod lasts;

use crate::{Hit, Settled};
use lasts::Lasts;
use std::collections::VecDeque;

/// How many intervals, or impacts, a period may have.
const LONGEST: usize = 64;
/// A period must repeat this often.
const REPEATS: usize = 3;
/// What repeats is the same to this figure.
const FIGURE: f64 = 1e-6;
/// A motion that is not there yet is on its way if its distance to itself a period before shrinks by a constant factor: from
/// each of so many parts of the time to the next,
const PARTS: usize = 4;
/// with logarithms of the factor that agree to this,
const EVEN: f64 = 0.15;
/// by this at least: what shrinks at a rate ε₀ + c a² that is so even while a² falls to a quarter does so to nothing,
const SHRINKS: f64 = 0.79;
/// and if it is this near.
const NEAR: f64 = 0.02;
/// The rest of its way, as far as that can be told, is this part of how far it is from coming back earlier: else the limit may be one that comes
/// back earlier. (What alternates less and less, algebraically, seems to have a third of its way left at any time: a sixth of that.)
const REST: f64 = 0.07;
/// What is there moves, in half the time, by this part of how far it is from coming back earlier at most: a small alternation may shrink slowly.
const STILL_THERE: f64 = 1e-3;
/// An advance is the same in each period to this figure.
const STEADY: f64 = 1e-4;
/// Velocities below this share of the largest one are none.
pub(crate) const QUIET: f64 = 1e-9;
/// And so are those below this share of the largest one before anything was kept: rounding goes on where everything rests.
pub(crate) const ROUNDED: f64 = 1e-12;
/// What has not moved for so many intervals of the stroboscope is at rest: less may be a phase of sticking;
const INTERVALS: usize = 2;
/// without one, what has not moved for this share of the time.
const STILL: f64 = 0.1;

/// Follows a trajectory as far as is needed to say what it settled on: memory does not grow with its length.
#[derive(Clone, Debug)]
pub struct Tracker {
    degrees: usize,
    /// The last states at the stroboscope (q, v), and the number of impacts up to there.
    states: Lasts,
    hits: VecDeque<Hit>,
    /// The largest of each component.
    largest: Vec<f64>,
    fastest: f64,
    /// The same, what came before the states that are kept included.
    ever: f64,
    start: Option<f64>,
    moved: f64,
    last: f64,
    /// The last instants of the stroboscope.
    instants: VecDeque<f64>,
    /// The last returns to a section: when, the state, and the number of impacts up to there.
    returns: VecDeque<(f64, Vec<f64>, u64)>,
    /// The last state on the way.
    latest: Vec<f64>,
}

/// What states on the way have left: the first time, the greatest speed, when it last moved, the last time, the largest of each component.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen<'a> {
    pub start: Option<f64>,
    pub fastest: f64,
    pub moved: f64,
    pub last: f64,
    pub largest: &'a [f64],
}

impl Tracker {
    /// For a model with so many coordinates and so many unknowns.
    pub fn new(degrees: usize, dimension: usize) -> Self {
        Tracker {
            degrees,
            states: Lasts::new((REPEATS + 1) * LONGEST + 1),
            hits: VecDeque::new(),
            largest: vec![0.0; 2 * dimension],
            fastest: 0.0,
            ever: 0.0,
            start: None,
            moved: f64::NEG_INFINITY,
            last: f64::NEG_INFINITY,
            instants: VecDeque::new(),
            returns: VecDeque::new(),
            latest: Vec::new(),
        }
    }

    /// For states that are compared with a known extent of each component.
    pub(crate) fn scaled(degrees: usize, dimension: usize, extent: &[f64]) -> Self {
        let fastest = extent[dimension..dimension + degrees].iter().copied().fold(0.0, f64::max);
        Tracker { largest: extent.to_vec(), fastest, ..Tracker::new(degrees, dimension) }
    }

    /// After how many states they repeat, as far as states at the stroboscope say. What goes on by an advance repeats itself if the model does
    /// after it.
    pub(crate) fn repeats(&self, after: &dyn Fn(&[f64]) -> bool) -> Settled {
        if self.states.len() < 2 { Settled::Neither } else { self.strobed(true, after) }
    }

    /// A speed on the way, kept or not.
    pub(crate) fn saw(&mut self, speed: f64) {
        self.ever = self.ever.max(speed);
    }

    /// Whether a speed is one.
    fn is_moving(&self, speed: f64) -> bool {
        !(speed <= (QUIET * self.fastest).max(ROUNDED * self.ever))
    }

    /// A state somewhere on the way, in the order of time.
    pub fn pass(&mut self, t: f64, q: &[f64], v: &[f64]) {
        self.start.get_or_insert(t);
        self.last = t;
        self.latest.clear();
        self.latest.extend(q.iter().chain(v));
        for (largest, x) in self.largest.iter_mut().zip(q.iter().chain(v)) {
            *largest = largest.max(x.abs());
        }
        // First-order states move with their rates, which are not velocities here: they are compared by the stroboscope.
        let speed = v[..self.degrees].iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        self.fastest = self.fastest.max(speed);
        if self.is_moving(speed) {
            self.moved = t;
        }
    }

    /// The largest of each component on a part of the way, which ends at t.
    pub(crate) fn widen(&mut self, t: f64, largest: &[f64]) {
        self.largest.iter_mut().zip(largest).for_each(|(most, x)| *most = most.max(*x));
        let speeds = &largest[largest.len() / 2..][..self.degrees];
        let speed = speeds.iter().fold(0.0_f64, |m, v| m.max(*v));
        self.fastest = self.fastest.max(speed);
        if self.is_moving(speed) {
            self.moved = self.moved.max(t);
        }
    }

    /// What the states on the way have left, for one who looks at them himself: see [`Seen`].
    pub(crate) fn seen(&self) -> Seen<'_> {
        Seen { start: self.start, fastest: self.fastest, moved: self.moved, last: self.last, largest: &self.largest }
    }

    /// Takes that back, later.
    pub(crate) fn see(&mut self, seen: &Seen) {
        self.start = self.start.or(seen.start);
        self.fastest = self.fastest.max(seen.fastest);
        self.moved = self.moved.max(seen.moved);
        self.last = self.last.max(seen.last);
        self.largest.iter_mut().zip(seen.largest).for_each(|(most, x)| *most = most.max(*x));
    }

    /// A state at the stroboscope, with the number of impacts up to there.
    pub fn strobe(&mut self, t: f64, q: &[f64], v: &[f64], impacts: u64) {
        if self.instants.len() > INTERVALS {
            self.instants.pop_front();
        }
        self.instants.push_back(t);
        self.states.push(q, v, impacts);
    }

    /// A return to a section, with the number of impacts up to there.
    pub fn back(&mut self, t: f64, q: &[f64], v: &[f64], impacts: u64) {
        if self.returns.len() > (REPEATS + 1) * LONGEST {
            self.returns.pop_front();
        }
        self.returns.push_back((t, q.iter().chain(v).copied().collect(), impacts));
    }

    /// Takes back returns after t.
    pub(crate) fn retract(&mut self, t: f64) {
        while self.returns.back().is_some_and(|last| last.0 > t) {
            self.returns.pop_back();
        }
    }

    /// An impact.
    pub fn hit(&mut self, hit: Hit) {
        if self.hits.len() > (REPEATS + 1) * LONGEST {
            self.hits.pop_front();
        }
        self.hits.push_back(hit);
    }

    /// What it settled on, in a model that is the same everywhere.
    pub fn settled(&self) -> Settled {
        self.settled_in(&|_| true)
    }

    /// What it settled on. What goes on by an advance repeats itself if the model does after it.
    pub(crate) fn settled_in(&self, after: &dyn Fn(&[f64]) -> bool) -> Settled {
        let Some(start) = self.start else { return Settled::Neither };
        let span = self.last - start;
        let since = match self.instants.len() > INTERVALS {
            true => self.instants[0],
            false => self.last - STILL * span,
        };
        if (self.fastest == 0.0 || (self.moved < self.last && self.moved <= since)) && !self.bounces_after(since) {
            return Settled::Rest;
        }
        match self.states.len() {
            0 | 1 => match self.pattern() {
                Settled::Neither => self.returned(),
                found => found,
            },
            _ => self.strobed(true, after),
        }
    }

    /// Whether something is hit after a time, as hard as before. (Flights of one step may be seen at their apexes only, where nothing moves.)
    fn bounces_after(&self, t: f64) -> bool {
        let hardest = self.hits.iter().map(|hit| hit.speed).fold(0.0, f64::max);
        self.hits.iter().rev().take_while(|hit| hit.t > t).any(|h| h.speed > QUIET * hardest && self.is_moving(h.speed))
    }

    /// Puts states at the stroboscope behind what is hit there: `after` gives the velocity then, and the number of impacts, where something is. Whether
    /// there are any.
    pub(crate) fn pass_impacts(
        &mut self,
        interval: f64,
        mut after: impl FnMut(f64, &[f64]) -> Option<(Vec<f64>, u64)>,
    ) -> bool {
        let Some(&last) = self.instants.back() else { return false };
        let mut any = false;
        for k in 0..self.states.len() {
            let t = last - (self.states.len() - 1 - k) as f64 * interval;
            if let Some((v, impacts)) = after(t, self.states.at(k)) {
                self.states.move_on(k, &v, impacts);
                any = true;
            }
        }
        any
    }

    /// Repeats of the returns to a section.
    fn returned(&self) -> Settled {
        if self.returns.len() < 2 {
            return Settled::Neither;
        }
        let mut tracker = Tracker::scaled(self.degrees, self.largest.len() / 2, &self.largest);
        for (t, state, impacts) in &self.returns {
            let (q, v) = state.split_at(state.len() / 2);
            tracker.strobe(*t, q, v, *impacts);
        }
        // (The limit of returns may be an equilibrium, which they do not show: what is on its way does not count.)
        let Settled::Periodic { intervals, impacts } = tracker.strobed(false, &|_| false) else {
            return Settled::Neither;
        };
        let last = self.returns.len() - 1;
        // (Returns to an equilibrium, with amplitudes that vanish: nothing moves between them.)
        let (time, state, _) = &self.returns[last];
        let moves = |i: usize| (state[i] - self.latest[i]).abs() > FIGURE * self.scale(i);
        match self.latest.len() == state.len() && (0..state.len()).filter(|&i| self.counts(i)).any(moves) {
            true => Settled::Recurrent { time: time - self.returns[last - intervals as usize].0, impacts },
            false => Settled::Neither,
        }
    }

    /// Repeats of the states at the stroboscope, the shortest period first: what converges to one with a factor near −1 is soon
    /// closer to a repeat after two.
    fn strobed(&self, by_limit: bool, after: &dyn Fn(&[f64]) -> bool) -> Settled {
        let last = self.states.len() - 1;
        let impacts =
            |n: usize| u32::try_from(self.states.impacts(last) - self.states.impacts(last - n)).unwrap_or(u32::MAX);
        for n in 1..=(last / REPEATS).min(LONGEST) {
            let repeats = |k: usize| self.distance(last - k, n) <= FIGURE;
            // (And as many periods before as fill half the time, or it is still on its way: to what may come back earlier.)
            let earlier = (last / 2 / n).max(1) * n;
            let still = |d: f64| d <= (2.0 * FIGURE).min(STILL_THERE * self.earlier(n));
            let is_there = (0..=(REPEATS - 1) * n).all(repeats) && still(self.distance(last, earlier));
            // (Impacts that come and go on the way say nothing of the limit.)
            let is_even = || last < 2 * n || impacts(n) == impacts(2 * n) - impacts(n);
            if is_there || (is_even() && self.converges(n)) {
                return Settled::Periodic { intervals: n as u32, impacts: impacts(n) };
            }
            if let Some(n) = self.approached(n).filter(|_| by_limit && is_even()) {
                return Settled::Periodic { intervals: n as u32, impacts: impacts(n) };
            }
            if self.travels(n).is_some_and(|advance| after(&advance)) {
                return Settled::Travelling { intervals: n as u32, impacts: impacts(n) };
            }
        }
        Settled::Neither
    }

    /// Whether a component of a state means anything: the position of a first-order state does not.
    fn counts(&self, i: usize) -> bool {
        i < self.degrees || i >= self.largest.len() / 2
    }

    /// The largest relative difference between state k and that n intervals before.
    fn distance(&self, k: usize, n: usize) -> f64 {
        let (a, b) = (self.states.at(k), self.states.at(k - n));
        let share = |i: usize| match (a[i] - b[i]).abs() {
            0.0 => 0.0,
            d => d / self.scale(i),
        };
        (0..a.len()).filter(|&i| self.counts(i)).map(share).fold(0.0, |m, x| if x <= m { m } else { x })
    }

    /// The period, n or less, of the limit that states every n intervals approach by one matrix, as all do that are near one.
    fn approached(&self, n: usize) -> Option<usize> {
        let last = self.states.len() - 1;
        let difference = |k: usize, n: usize| -> Vec<f64> {
            let (a, b) = (self.states.at(k), self.states.at(k - n));
            let counted = (0..a.len()).filter(|&i| self.counts(i) && self.scale(i) > 0.0);
            counted.map(|i| (a[i] - b[i]) / self.scale(i)).collect()
        };
        let in_steps = |n: usize, span: usize| -> Vec<Vec<f64>> {
            (0..span / n).rev().map(|j| difference(last - j * n, n)).collect()
        };
        let found = approach::approaches(&in_steps(n, last))?;
        let span = found.steps * n;
        // (A shorter period shows itself in the same part of the time: an impact before may have hidden it.)
        let shorter = (1..n).find_map(|m| Some((m, approach::approaches(&in_steps(m, span))?)));
        let (n, found) = shorter.unwrap_or((n, found));
        (found.rest <= REST * self.earlier(n)).then_some(n)
    }

    /// How near the last state is to any after which fewer intervals than n have passed.
    fn earlier(&self, n: usize) -> f64 {
        (1..n).map(|m| self.distance(self.states.len() - 1, m)).fold(f64::INFINITY, f64::min)
    }

    /// Whether differences to the state n intervals before shrink geometrically.
    fn converges(&self, n: usize) -> bool {
        let part = (self.states.len() - n) / PARTS;
        if part < n.max(4) {
            return false;
        }
        let first = self.states.len() - PARTS * part;
        let largest = |p: usize, n: usize| {
            (first + p * part..first + (p + 1) * part).map(|k| self.distance(k, n)).fold(0.0, f64::max)
        };
        let sizes: [f64; PARTS] = std::array::from_fn(|p| largest(p, n));
        let factors: [f64; PARTS - 1] = std::array::from_fn(|p| (sizes[p + 1] / sizes[p]).ln());
        let mean = factors.iter().sum::<f64>() / factors.len() as f64;
        // The rest of the way, in steps that shrink by a factor.
        let step = (mean * n as f64 / part as f64).exp();
        let rest = sizes[PARTS - 1] * step / (1.0 - step);
        sizes[PARTS - 1] <= NEAR
            && mean <= SHRINKS.ln()
            && factors.iter().all(|f| (f - mean).abs() <= EVEN * mean.abs())
            && sizes[PARTS - 1].max(rest) <= REST * self.earlier(n)
    }

    /// By how much each period of n intervals is the one before it moved on, if all are by the same.
    fn travels(&self, n: usize) -> Option<Vec<f64>> {
        let last = self.states.len() - 1;
        let (a, b) = (self.states.at(last), self.states.at(last - n));
        let moved = |i: usize| Some(a[i] - b[i]).filter(|by| by.abs() > FIGURE * self.scale(i)).unwrap_or(0.0);
        let advance: Vec<f64> = (0..self.degrees).map(moved).collect();
        let is_steady = |k: usize| {
            let (a, b) = (self.states.at(k), self.states.at(k - n));
            (0..a.len()).filter(|&i| self.counts(i)).all(|i| {
                let by = advance.get(i).copied().unwrap_or(0.0);
                // (A motion that creeps to where it will stay has an advance that shrinks.)
                let allowed = if by == 0.0 { FIGURE * self.scale(i) } else { STEADY * by.abs() };
                (a[i] - b[i] - by).abs() <= allowed
            })
        };
        (advance.iter().any(|by| *by != 0.0) && (n..=last).all(is_steady)).then_some(advance)
    }

    /// What a component is compared with: the largest of its kind.
    fn scale(&self, i: usize) -> f64 {
        let dimension = self.largest.len() / 2;
        match i {
            i if i < self.degrees => self.largest[..self.degrees].iter().fold(0.0_f64, |m, x| m.max(*x)),
            i if i < dimension + self.degrees => self.fastest,
            i => self.largest[i],
        }
    }

    /// Repeats of the impacts, where there is no stroboscope.
    fn pattern(&self) -> Settled {
        let n = self.hits.len();
        let at = |k: usize| &self.hits[k];
        for p in 1..=(n.saturating_sub(1) / (REPEATS + 1)).min(LONGEST) {
            let period = at(n - 1).t - at(n - 1 - p).t;
            let same = (n - REPEATS * p..n).all(|k| {
                let (a, b) = (at(k), at(k - p));
                a.constraint == b.constraint
                    && ((a.t - b.t) / period - 1.0).abs() <= FIGURE
                    && (a.speed - b.speed).abs() <= FIGURE * a.speed.max(b.speed)
            });
            if same && period > 0.0 {
                return Settled::Recurrent { time: period, impacts: p as u32 };
            }
        }
        Settled::Neither
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn followed(x: impl Fn(usize) -> f64, v: impl Fn(usize) -> f64) -> Settled {
        let mut tracker = Tracker::new(1, 1);
        for k in 0..500 {
            tracker.pass(k as f64, &[x(k)], &[v(k)]);
            tracker.strobe(k as f64, &[x(k)], &[v(k)], 2 * k as u64);
        }
        tracker.settled()
    }

    #[test]
    fn periods_rest_and_neither() {
        assert_eq!(followed(|_| 1.0, |_| 2.0), Settled::Periodic { intervals: 1, impacts: 2 });
        let three = |k: usize| (k % 3) as f64;
        assert_eq!(followed(three, |_| 1.0), Settled::Periodic { intervals: 3, impacts: 6 });
        assert_eq!(followed(|k| (k % 64) as f64, |_| 1.0), Settled::Periodic { intervals: 64, impacts: 128 });
        assert_eq!(followed(|k| (k % 65) as f64, |_| 1.0), Settled::Neither);
        assert_eq!(followed(|k| (k as f64).sqrt(), |_| 1.0), Settled::Neither);
        assert_eq!(followed(|_| 1.0, |k| if k < 400 { 1.0 } else { 0.0 }), Settled::Rest);
        assert_eq!(followed(|_| 1.0, |_| 0.0), Settled::Rest);
    }

    #[test]
    fn what_advances_by_a_constant_travels() {
        let angle = |k: usize| std::f64::consts::TAU * k as f64 + 0.3 * (k % 2) as f64;
        assert_eq!(followed(angle, |k| (k % 2) as f64), Settled::Travelling { intervals: 2, impacts: 4 });
        // Neither what accelerates nor what creeps to an end.
        assert_eq!(followed(|k| (k * k) as f64, |_| 1.0), Settled::Neither);
        assert_eq!(followed(|k| (k as f64).ln_1p(), |_| 1.0), Settled::Neither);
    }

    #[test]
    fn what_converges_has_the_period_that_it_converges_to() {
        let towards = |factor: f64| move |k: usize| 2.0 + factor.powi(k as i32);
        // Close to a period doubling: after a while nearly the same after two periods, but the limit has one.
        for factor in [-0.985, 0.985, -0.97, 0.5] {
            assert_eq!(followed(towards(factor), |_| 1.0), Settled::Periodic { intervals: 1, impacts: 2 }, "{factor}");
        }
        let two = |k: usize| (k % 2) as f64 + 0.985f64.powi(k as i32);
        assert_eq!(followed(two, |_| 1.0), Settled::Periodic { intervals: 2, impacts: 4 });
        // At the doubling itself, and past a fold, the way is not geometric.
        assert_eq!(followed(|k| 2.0 + (-1f64).powi(k as i32) / (k as f64 + 1.0).sqrt(), |_| 1.0), Settled::Neither);
        assert_eq!(followed(|k| 2.0 - 1.0 / (k as f64 + 1.0), |_| 1.0), Settled::Neither);
    }

    #[test]
    fn near_a_doubling_a_period_is_right_or_is_none() {
        // x' = −x (1 + m) + c x³: for m > 0 the limit alternates by √(m/c), for m < 0 it does not; each takes its time.
        let none = Settled::Neither;
        for m in [-0.05, -0.01, -2e-3, -5e-4, -1e-4, 0.0, 1e-4, 5e-4, 2e-3, 0.01, 0.05] {
            for (c, begin, tripled) in [(1.0, 0.3, 1), (1.0, 0.05, 1), (0.2, 0.3, 1), (1.0, 0.3, 3)] {
                for length in [60, 100, 300, 1000, 5000, 30_000] {
                    let mut x: f64 = begin;
                    let mut tracker = Tracker::new(1, 1);
                    for k in 0..length {
                        let shown = x + 2.0 * f64::from(k % tripled);
                        tracker.pass(f64::from(k), &[shown], &[1.0]);
                        tracker.strobe(f64::from(k), &[shown], &[1.0], 0);
                        if k % tripled == tripled - 1 {
                            x = -x * (1.0 + m) + c * x * x * x;
                        }
                    }
                    let intervals = if m > 0.0 { 2 * tripled as u32 } else { tripled as u32 };
                    let right = Settled::Periodic { intervals, impacts: 0 };
                    let found = tracker.settled();
                    assert!(found == right || found == none, "{m} {c} {begin} {tripled} {length}: {found:?}");
                    // (And what has had its time is recognised.)
                    if f64::from(length / tripled) * f64::abs(m) > 20.0 {
                        assert_eq!(found, right, "{m} {c} {begin} {tripled} {length}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_spiral_that_is_slow_has_the_period_of_its_centre_at_any_turn() {
        // A free oscillation that dies out, seen by a stroboscope: turns close to a third, a quarter, five eighths.
        for turn in [0.333, 1.0 / 3.0, 0.335, 0.2502, 0.62, 0.625, 0.712] {
            let at = |k: usize| (0.985f64.powi(k as i32), std::f64::consts::TAU * turn * k as f64);
            let x = |k: usize| 1.0 + at(k).0 * at(k).1.cos();
            let v = |k: usize| 0.5 + at(k).0 * at(k).1.sin();
            for length in [120, 200, 260, 320] {
                let mut tracker = Tracker::new(1, 1);
                for k in 0..length {
                    tracker.pass(k as f64, &[x(k)], &[v(k)]);
                    tracker.strobe(k as f64, &[x(k)], &[v(k)], 0);
                }
                let found = tracker.settled();
                // (With a sixth of it left, it is too early to tell; never is it another period.)
                let early = length < 150 && found == Settled::Neither;
                assert!(early || found == Settled::Periodic { intervals: 1, impacts: 0 }, "{turn} {length}: {found:?}");
            }
        }
    }

    #[test]
    fn a_late_impact_does_not_make_another_period_of_a_spiral() {
        for turn in [0.333, 0.5532, 0.62, 0.712] {
            for since in (10..130).step_by(7) {
                let mut tracker = Tracker::new(1, 1);
                for k in 0..320 {
                    // (Up to the impact with another amplitude and another phase.)
                    let (size, shift) = if k + since < 320 { (0.4, 1.0) } else { (1.0, 0.0) };
                    let (r, a) = (size * 0.984f64.powi(k), std::f64::consts::TAU * turn * f64::from(k) + shift);
                    let (x, v) = (1.0 + r * a.cos(), 0.5 + r * a.sin());
                    tracker.pass(f64::from(k), &[x], &[v]);
                    tracker.strobe(f64::from(k), &[x], &[v], 0);
                }
                let found = tracker.settled();
                let right = [Settled::Neither, Settled::Periodic { intervals: 1, impacts: 0 }].contains(&found);
                assert!(right, "{turn} {since}: {found:?}");
            }
        }
    }

    #[test]
    fn without_a_stroboscope_impacts_repeat() {
        let mut tracker = Tracker::new(1, 1);
        tracker.pass(0.0, &[0.0], &[1.0]);
        for k in 0..40u32 {
            let t = f64::from(k) + if k % 2 == 0 { 0.0 } else { 0.25 };
            tracker.hit(Hit { t, constraint: k % 2, speed: 1.0 + f64::from(k % 2), impulse: 1.0 });
        }
        tracker.pass(40.0, &[0.0], &[1.0]);
        let settled = tracker.settled();
        assert!(
            matches!(settled, Settled::Recurrent { impacts: 2, time } if (time - 2.0).abs() < 1e-12),
            "{settled:?}"
        );
    }
}
