//! A motion that repeats itself has the exponents of its multipliers.
//!
//! An orbit near a state that the motion comes back to is found by Newton's method; that does not make it the orbit of the motion. It is where
//! the motion is there, to rounding, or where the orbit attracts it: where its multipliers are inside the unit circle, and the motion is so near
//! that it approaches it as the linearised map says.

use super::ranges::Ranges;
use super::travel::{self, Travelling};
use super::turn::{Multiplier, multipliers};
use super::{Exponent, Lyapunov, LyapunovOptions, NoExponents, PhaseSpace};
use crate::Options;
use crate::analysis::closing::{Period, close};
use crate::analysis::phase_space::{NoMap, Passage, held_by_joints};
use crate::linalg::{dot, eigenvalues};
use crate::problem::{Problem, Start};

/// How many blocks a motion may take to repeat itself.
const MOST: usize = 48;

/// How near it must come to itself for an orbit to be looked for, relative to the size of the state.
const NEARLY: f64 = 1e-3;

/// An orbit is that of the motion, whatever its multipliers, if the motion is this near, in the ranges of its components;
const THERE: f64 = 1e-9;
/// if it is this near, and no neighbours part,
const NEAR: f64 = 1e-6;
/// by a multiplier beyond one by this;
const PARTS: f64 = 1e-4;
/// or if all are within the unit circle, by this,
const ATTRACTS: f64 = 1e-6;
/// and the motion comes nearer as the linearised map says, to this part of what it comes nearer by,
const LINEAR: f64 = 0.2;
/// and does so in the next returns.
const GOES_ON: usize = 4;
/// An orbit misses itself by this at most, in the same ranges.
const CLOSED: f64 = 1e-7;
/// A nearer return is looked at after one that was none if it is nearer by this.
const NEARER: f64 = 0.5;

/// Multipliers below this part of the largest entry of the map are found from parts of the period: rounding leaves less than
/// nine figures of them.
const LOST: f64 = 1e-5;
/// One that is this near to one may be that of a direction in which nothing happens.
const NEUTRAL: f64 = 1e-5;

/// How near a motion comes to a state that it was in.
#[derive(Clone, Debug)]
pub struct Returns {
    begin: Vec<f64>,
    degrees: usize,
    /// After how many blocks it may do so, at most.
    pub most: usize,
}

impl Returns {
    /// Returns to a state.
    pub fn to(problem: &Problem, at: &Start) -> Self {
        let most = if problem.model().depends_on_time() { MOST } else { 1 };
        Returns { begin: PhaseSpace::of(problem).state(at), degrees: problem.model().degrees(), most }
    }

    /// How far two states are from each other, relative to its size.
    fn apart(&self, a: &[f64], b: &[f64]) -> f64 {
        let size = self.begin.iter().fold(0.0_f64, |m, x| m.max(x.abs())).max(f64::MIN_POSITIVE);
        a.iter().zip(b).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs())) / size
    }

    /// Whether a state has the same velocities: the motion may be on its way.
    fn is_same_but_for_its_place(&self, state: &[f64]) -> bool {
        let (begin, state) = (&self.begin[self.degrees..], &state[self.degrees..]);
        let fast = begin.iter().fold(0.0_f64, |m, x| m.max(x.abs())).max(f64::MIN_POSITIVE);
        begin.iter().zip(state).all(|(a, b)| (a - b).abs() <= NEARLY * fast)
    }

    /// Whether a motion that is here after some blocks is one to look at for whether it repeats itself. (Whether it does is judged by the
    /// ranges of its components, where an orbit is found.)
    pub fn is_near(&self, problem: &Problem, at: &Start) -> bool {
        let state = PhaseSpace::of(problem).state(at);
        self.apart(&self.begin, &state) <= NEARLY || self.is_same_but_for_its_place(&state)
    }
}

pub(super) fn exponents(
    problem: &Problem,
    space: &PhaseSpace,
    at: &Start,
    options: &LyapunovOptions,
) -> Result<Option<Lyapunov>, NoExponents> {
    let run_options = Options::events(at.t).tolerance(options.tolerance.min(1e-12));
    // From block to block, until it is back where it was.
    let returns = Returns::to(problem, at);
    let mut ranges = Ranges::new(space, problem.model().degrees());
    let (mut now, mut refused) = (at.clone(), f64::INFINITY);
    for blocks in 1..=returns.most {
        let to = Options { end: at.t + blocks as f64 * options.block, ..run_options.clone() };
        let Ok(run) = problem.run_from(&now, &to) else { return Ok(None) };
        if !run.status.is_complete() {
            return Ok(None);
        }
        now = run.last().clone();
        ranges.watch(space, &run.trajectory);
        let state = space.state(&now);
        let off = returns.apart(&returns.begin, &state);
        let lasts = blocks as f64 * options.block;
        let is_back = off <= NEARLY;
        if is_back && off > NEARER * refused {
            continue;
        }
        if is_back {
            let seen = Seen { ranges: &ranges, begin: &returns.begin, end: &state };
            if let Some(found) = periodic(problem, space, &now, (blocks, lasts), &seen, &run_options)? {
                return Ok(Some(found));
            }
            refused = off;
        }
        if (is_back || returns.is_same_but_for_its_place(&state))
            && let Some(found) = travelling(problem, space, &now, (blocks, lasts), &run_options)?
        {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// The exponents of a motion that repeats itself after some blocks, here.
fn periodic(
    problem: &Problem,
    space: &PhaseSpace,
    near: &Start,
    (blocks, lasts): (usize, f64),
    seen: &Seen,
    options: &Options,
) -> Result<Option<Lyapunov>, NoExponents> {
    let orbit = match close(problem, space, near, Period::Given(lasts), options) {
        Ok(orbit) => orbit,
        Err(NoMap::Obstacle(obstacle)) => return Err(NoExponents::Obstacle(obstacle)),
        Err(_) => return Ok(None),
    };
    let there = space.state(&orbit.start);
    let misses = seen.ranges.apart(&there, &orbit.passage.end);
    if !orbit.is_closed() || !(misses <= CLOSED) {
        return Ok(None);
    }
    let mut nearness = seen.nearness(&there, &orbit.passage.jacobian);
    let mut now = near.clone();
    for _ in 0..GOES_ON {
        if nearness.apart <= NEARLY || !(nearness.misfit <= LINEAR) {
            break;
        }
        let to = Options { end: now.t + lasts, ..options.clone() };
        let Ok(run) = problem.run_from(&now, &to) else { return Ok(None) };
        if !run.status.is_complete() {
            return Ok(None);
        }
        let (begin, end) = (space.state(&now), space.state(run.last()));
        let later = Seen { ranges: seen.ranges, begin: &begin, end: &end };
        nearness.misfit = nearness.misfit.max(later.nearness(&there, &orbit.passage.jacobian).misfit);
        now = run.last().clone();
    }
    // (What still alternates about an orbit comes back to itself after two of its periods before it does after one.)
    let (mut blocks, mut lasts, mut passage) = (blocks, lasts, orbit.passage);
    for part in (1..blocks).filter(|part| blocks % part == 0) {
        let shorter = lasts * part as f64 / blocks as f64;
        if let Ok(found) = space.pass(problem, &orbit.start, shorter, options)
            && seen.ranges.apart(&there, &found.end) <= CLOSED
        {
            (blocks, lasts, passage) = (part, shorter, found);
            break;
        }
    }
    let found = Closed {
        start: &orbit.start,
        residual: orbit.residual.max(seen.ranges.apart(&there, &passage.end)),
        passage: &passage,
        advance: Vec::new(),
        neutral: usize::from(!problem.model().depends_on_time()),
        blocks,
        lasts,
    };
    found.exponents(problem, space, nearness, options)
}

/// The exponents of a motion that repeats itself but for a translation.
fn travelling(
    problem: &Problem,
    space: &PhaseSpace,
    near: &Start,
    (blocks, lasts): (usize, f64),
    options: &Options,
) -> Result<Option<Lyapunov>, NoExponents> {
    match travel::close(problem, space, near, lasts, options) {
        Ok(Some(motion)) => {
            let Travelling { start, passage, advance, residual, nearness, free } = &motion;
            let (residual, advance) = (*residual, advance.clone());
            let neutral = free + usize::from(!problem.model().depends_on_time());
            let found = Closed { start, passage, residual, advance, neutral, blocks, lasts };
            found.exponents(problem, space, *nearness, options)
        }
        Ok(None) => Ok(None),
        Err(NoMap::Obstacle(obstacle)) => Err(NoExponents::Obstacle(obstacle)),
        Err(_) => Ok(None),
    }
}

/// A motion that came back to where it began, nearly.
struct Seen<'a> {
    ranges: &'a Ranges,
    begin: &'a [f64],
    end: &'a [f64],
}

/// How near a motion is to an orbit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Nearness {
    /// Both at the begin and at the end of a period, in the ranges of its components.
    pub apart: f64,
    /// What the linearised map misses it by at the end, relative to how near it was at the begin.
    pub misfit: f64,
}

impl Seen<'_> {
    fn nearness(&self, orbit: &[f64], map: &[f64]) -> Nearness {
        let (ranges, n) = (self.ranges, orbit.len());
        let (before, after) = (ranges.apart(self.begin, orbit), ranges.apart(self.end, orbit));
        let by: Vec<f64> = self.begin.iter().zip(orbit).map(|(x, o)| x - o).collect();
        let off = (0..n).map(|i| ranges.share(i, self.end[i] - orbit[i] - dot(&map[i * n..(i + 1) * n], &by)));
        let off = off.fold(0.0, |m: f64, x| if x <= m { m } else { x });
        let misfit = if off > 0.0 { off / before } else { 0.0 };
        Nearness { apart: before.max(after), misfit }
    }
}

/// A motion that repeats itself, as near as it could be had.
struct Closed<'a> {
    start: &'a Start,
    passage: &'a Passage,
    residual: f64,
    advance: Vec<f64>,
    /// How many directions there are in which nothing happens.
    neutral: usize,
    blocks: usize,
    lasts: f64,
}

impl Closed<'_> {
    /// Its exponents; None where it is not the motion that came near it.
    fn exponents(
        self,
        problem: &Problem,
        space: &PhaseSpace,
        nearness: Nearness,
        options: &Options,
    ) -> Result<Option<Lyapunov>, NoExponents> {
        let Closed { start, passage, residual, advance, neutral, blocks, lasts } = self;
        let left = space.dimension() - 2 * held_by_joints(problem, start);
        let Some(mut plain) = eigenvalues(space.dimension(), &passage.jacobian) else { return Ok(None) };
        plain.sort_by(|a, b| b.0.hypot(b.1).total_cmp(&a.0.hypot(a.1)));
        plain.truncate(left);
        if !is_that_of_the_motion(&plain, neutral, nearness) {
            return Ok(None);
        }
        let largest = passage.jacobian.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
        let of = |z: (f64, f64)| {
            let size = z.0.hypot(z.1);
            Multiplier { z, log: size.ln(), rounding: (residual + 1e-13 * largest) / size - residual }
        };
        let mut found: Vec<Multiplier> = match plain.iter().all(|z| z.0.hypot(z.1) > LOST * largest) {
            true => plain.into_iter().map(of).collect(),
            false => match multipliers(problem, space, start, lasts, options)? {
                Some(found) => found,
                None => return Ok(None),
            },
        };
        found.resize(left, Multiplier::NONE);
        let exponent = |m: &Multiplier| match m.log {
            f64::NEG_INFINITY => Exponent { value: m.log, error: 0.0 },
            log => Exponent { value: log / lasts, error: (residual + m.rounding) / lasts },
        };
        let exponents: Vec<Exponent> = found.iter().map(exponent).collect();
        let repeats = Some((blocks, found.iter().map(|m| m.z).collect()));
        let impacts = passage.run.trajectory.impacts.len();
        Ok(Some(Lyapunov { exponents, time: lasts, blocks, impacts, repeats, advance, late: None, growth: 0.0 }))
    }
}

/// Whether an orbit with these multipliers is the one that a motion is on, or on its way to.
fn is_that_of_the_motion(multipliers: &[(f64, f64)], neutral: usize, near: Nearness) -> bool {
    let size = |z: &(f64, f64)| z.0.hypot(z.1);
    let is_neutral = |z: &&(f64, f64)| (z.0 - 1.0).hypot(z.1) <= NEUTRAL;
    let inside = multipliers.iter().map(size).filter(|size| *size <= 1.0 - ATTRACTS).fold(0.0, f64::max);
    let outside = multipliers.iter().filter(|z| size(z) > 1.0 - ATTRACTS).count();
    let attracts = outside <= multipliers.iter().filter(is_neutral).count().min(neutral);
    near.apart <= THERE
        || (near.apart <= NEAR && multipliers.iter().all(|z| size(z) <= 1.0 + PARTS))
        || (attracts && (near.apart <= NEARLY || near.misfit <= LINEAR * (1.0 - inside)))
}
