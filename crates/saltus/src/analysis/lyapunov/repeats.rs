//! A motion that repeats itself has the exponents of its multipliers.

use super::travel::{self, Travelling};
use super::{Exponent, Lyapunov, LyapunovOptions, NoExponents, PhaseSpace};
use crate::Options;
use crate::analysis::closing::{Period, close};
use crate::analysis::phase_space::{NoMap, Passage, held_by_joints};
use crate::linalg::eigenvalues;
use crate::problem::{Problem, Start};

/// How many blocks a motion may take to repeat itself.
const MOST: usize = 48;

/// How near it must come to itself to count as repeating, relative to the size of the state; and to count as on its way to an
/// orbit that is stable.
const NEAR: f64 = 1e-6;
const NEARLY: f64 = 1e-3;

/// A multiplier below this part of the largest there can be is that of a direction that contact takes away.
const GONE: f64 = 1e-12;

pub(super) fn exponents(
    problem: &Problem,
    space: &PhaseSpace,
    at: &Start,
    options: &LyapunovOptions,
) -> Result<Option<Lyapunov>, NoExponents> {
    let is_forced = problem.model().depends_on_time();
    let run_options = Options::events(at.t).tolerance(options.tolerance.min(1e-12));
    // From block to block, until it is back where it was.
    let begin = space.state(at);
    let mut now = at.clone();
    let most = if is_forced { MOST } else { 1 };
    for blocks in 1..=most {
        let to = Options { end: at.t + blocks as f64 * options.block, ..run_options.clone() };
        let Ok(run) = problem.run_from(&now, &to) else { return Ok(None) };
        if !run.status.is_complete() {
            return Ok(None);
        }
        now = run.last().clone();
        let state = space.state(&now);
        let size = begin.iter().fold(0.0_f64, |m, x| m.max(x.abs())).max(f64::MIN_POSITIVE);
        let apart = |a: &[f64], b: &[f64]| a.iter().zip(b).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs())) / size;
        let off = apart(&begin, &state);
        if !(off <= NEARLY) {
            // The same velocities at another place: it may be on its way.
            let degrees = problem.model().degrees();
            let fast = begin[degrees..].iter().fold(0.0_f64, |m, x| m.max(x.abs())).max(f64::MIN_POSITIVE);
            let is_same = begin[degrees..].iter().zip(&state[degrees..]).all(|(a, b)| (a - b).abs() <= NEARLY * fast);
            if is_same {
                let lasts = blocks as f64 * options.block;
                if let Some(found) = travelling(problem, space, &now, (blocks, lasts), &run_options)? {
                    return Ok(Some(found));
                }
            }
            continue;
        }
        let lasts = blocks as f64 * options.block;
        let orbit = match close(problem, space, &now, Period::Given(lasts), &run_options) {
            Ok(orbit) => orbit,
            Err(NoMap::Obstacle(obstacle)) => return Err(NoExponents::Obstacle(obstacle)),
            Err(_) => return Ok(None),
        };
        let moved = space.state(&orbit.start);
        if !orbit.is_closed() || !(apart(&moved, &state) <= 1e2 * off.max(NEAR)) {
            return travelling(problem, space, &now, (blocks, lasts), &run_options);
        }
        let found = Closed {
            start: &orbit.start,
            passage: &orbit.passage,
            residual: orbit.residual,
            advance: Vec::new(),
            blocks,
            lasts,
        };
        return Ok(found.exponents(problem, space, off > NEAR));
    }
    Ok(None)
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
            let Travelling { start, passage, advance, residual } = &motion;
            let found = Closed { start, passage, residual: *residual, advance: advance.clone(), blocks, lasts };
            Ok(found.exponents(problem, space, false))
        }
        Ok(None) => Ok(None),
        Err(NoMap::Obstacle(obstacle)) => Err(NoExponents::Obstacle(obstacle)),
        Err(_) => Ok(None),
    }
}

/// A motion that repeats itself, as near as it could be had.
struct Closed<'a> {
    start: &'a Start,
    passage: &'a Passage,
    residual: f64,
    advance: Vec<f64>,
    blocks: usize,
    lasts: f64,
}

impl Closed<'_> {
    /// Its exponents; None where it must attract, because it was not quite reached, and does not.
    fn exponents(self, problem: &Problem, space: &PhaseSpace, must_attract: bool) -> Option<Lyapunov> {
        let Closed { start, passage, residual, advance, blocks, lasts } = self;
        let joints = 2 * held_by_joints(problem, start);
        let mut found = eigenvalues(space.dimension(), &passage.jacobian)?;
        found.sort_by(|a, b| b.0.hypot(b.1).total_cmp(&a.0.hypot(a.1)));
        found.truncate(space.dimension() - joints);
        if must_attract && found.iter().any(|z| z.0.hypot(z.1) >= 1.0) {
            return None;
        }
        let largest = passage.jacobian.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
        let value = |z: &(f64, f64)| match z.0.hypot(z.1) {
            size if size > GONE * largest => size.ln() / lasts,
            _ => f64::NEG_INFINITY,
        };
        // The error of a multiplier is that of the motion, as far as it repeats itself.
        let error = |z: &(f64, f64)| {
            let relative = (residual + 1e-13 * largest) / z.0.hypot(z.1).max(f64::MIN_POSITIVE);
            if value(z).is_finite() { relative / lasts } else { 0.0 }
        };
        let exponents = found.iter().map(|z| Exponent { value: value(z), error: error(z) }).collect();
        let impacts = passage.run.trajectory.impacts.len();
        Some(Lyapunov { exponents, time: lasts, blocks, impacts, repeats: Some((blocks, found)), advance })
    }
}
