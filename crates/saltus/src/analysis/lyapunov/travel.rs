//! Motions that travel: they repeat themselves but for a translation of their coordinates, which means nothing to the model. A capsule
//! that has gone on by a millimetre, a pendulum that has turned once.

use super::PhaseSpace;
use super::ranges::Ranges;
use super::repeats::Nearness;
use crate::Options;
use crate::analysis::phase_space::{NoMap, Passage};
use crate::linalg::{Svd, dot};
use crate::problem::{Problem, Start};
use std::f64::consts::TAU;

/// Advance, velocities and states are the same in two successive periods to this part of the range of each component.
const STEADY: f64 = 1e-3;
/// Newton steps at most.
const STEPS: usize = 20;
/// A motion is closed where it misses itself by this,
const CLOSED: f64 = 1e-12;
/// and, where rounding lets it come no nearer, by this.
const ENOUGH: f64 = 1e-8;
/// A direction in which the whole motion can be moved is left as it is by the map, to this.
const KEPT: f64 = 1e-6;
/// An advance this close to whole turns is one of whole turns.
const WHOLE: f64 = 1e-3;

/// A motion that repeats itself but for a translation.
pub(super) struct Travelling {
    pub start: Start,
    pub passage: Passage,
    /// How far each coordinate advances.
    pub advance: Vec<f64>,
    pub residual: f64,
    /// How near the motion came to it.
    pub nearness: Nearness,
    /// In how many directions the whole motion can be moved by any amount.
    pub free: usize,
}

/// A trial: the map from a state, and what it misses once the advance is taken off.
struct Trial {
    start: Start,
    passage: Passage,
    miss: Vec<f64>,
    residual: f64,
}

/// The travelling motion near a state, which advances in the time `lasts`; None if there is none.
pub(super) fn close(
    problem: &Problem,
    space: &PhaseSpace,
    near: &Start,
    lasts: f64,
    options: &Options,
) -> Result<Option<Travelling>, NoMap> {
    let degrees = problem.model().degrees();
    let first = space.pass(problem, near, lasts, options)?;
    let begin = space.state(near);
    let advance = |from: &[f64], to: &[f64]| (0..degrees).map(|i| to[i] - from[i]).collect::<Vec<f64>>();
    let by = advance(&begin, &first.end);
    let far = by.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let fast = first.run.trajectory.fastest();
    if !(far > ENOUGH * fast * lasts) {
        return Ok(None);
    }
    // It goes on in the same way: from where it is, one period further.
    let next = space.pass(problem, first.run.last(), lasts, options)?;
    let again = advance(&first.end, &next.end);
    let mut ranges = Ranges::of(space, &first.run.trajectory);
    ranges.watch(space, &next.run.trajectory);
    let steady = |i: usize, a: f64, b: f64| ranges.share(i, a - b) <= STEADY;
    let goes_on = (0..degrees).all(|i| steady(i, by[i], again[i]))
        && (degrees..begin.len()).all(|i| steady(i, first.end[i], next.end[i]));
    if !goes_on {
        return Ok(None);
    }
    let (free, fixed) = directions(space.dimension(), &by, far, &next.jacobian);
    // (What comes back nearly has no advance in the other directions.)
    if (0..degrees).any(|i| fixed[i] != 0.0 && ranges.share(i, fixed[i]) <= STEADY) {
        return Ok(None);
    }
    let attempt = |start: Start| -> Result<Trial, NoMap> {
        let passage = space.pass(problem, &start, lasts, options)?;
        let state = space.state(&start);
        let mut miss: Vec<f64> = passage.end.iter().zip(&state).map(|(end, begin)| end - begin).collect();
        miss.iter_mut().zip(&fixed).for_each(|(miss, by)| *miss -= by);
        for direction in &free {
            let along = dot(&miss, direction);
            miss.iter_mut().zip(direction).for_each(|(miss, d)| *miss -= along * d);
        }
        let residual = miss.iter().enumerate().map(|(i, m)| ranges.share(i, *m));
        let residual = residual.fold(0.0, |m: f64, x| if x <= m { m } else { x });
        Ok(Trial { start, passage, miss, residual })
    };
    let mut best = attempt(next.run.last().clone())?;
    for _ in 0..STEPS {
        if best.residual <= CLOSED {
            break;
        }
        let Some(moved) = corrected(space, &best, &free) else { break };
        match attempt(moved) {
            Ok(trial) if trial.residual < 0.9 * best.residual => best = trial,
            _ => break,
        }
    }
    if !(best.residual <= ENOUGH) {
        return Ok(None);
    }
    // That the model repeats itself after this advance is to be seen: the period after it is the same once more.
    if fixed.iter().any(|by| *by != 0.0) {
        let once_more = attempt(best.passage.run.last().clone())?;
        let grown = best.passage.jacobian.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
        if !(once_more.residual <= ENOUGH.max(10.0 * grown * best.residual)) {
            return Ok(None);
        }
    }
    // How far the motion was from it at the ends of the period before, but for where along the free directions that is.
    let orbit = space.state(&best.start);
    let away = |state: &[f64], times: f64| -> Vec<f64> {
        let mut by: Vec<f64> = (0..state.len()).map(|i| state[i] + times * fixed[i] - orbit[i]).collect();
        for direction in &free {
            let along = dot(&by, direction);
            by.iter_mut().zip(direction).for_each(|(x, d)| *x -= along * d);
        }
        by
    };
    let apart = |by: &[f64]| by.iter().enumerate().map(|(i, x)| ranges.share(i, *x)).fold(0.0, f64::max);
    let nearness =
        Nearness { apart: apart(&away(&first.end, 1.0)).max(apart(&away(&next.end, 0.0))), misfit: f64::INFINITY };
    let advance = advance(&space.state(&best.start), &best.passage.end);
    // (A stretch of uniform motion goes on in the same way for a while.)
    let moved: Vec<f64> = advance.iter().map(|by| if by.abs() > ENOUGH * far { *by } else { 0.0 }).collect();
    if !problem.repeats_after(&best.start, &moved) {
        return Ok(None);
    }
    let Trial { start, passage, residual, .. } = best;
    Ok(Some(Travelling { start, passage, advance, residual, nearness, free: free.len() }))
}

/// Directions in which the motion may be moved by any amount, as unit vectors; and the advance in all others, which is then one by
/// which the model repeats itself.
fn directions(n: usize, by: &[f64], far: f64, map: &[f64]) -> (Vec<Vec<f64>>, Vec<f64>) {
    let mut rest: Vec<f64> = by.iter().copied().chain(std::iter::repeat(0.0)).take(n).collect();
    let is_kept = |x: &[f64]| map.chunks_exact(n).zip(x).all(|(row, x_i)| (dot(row, x) - x_i).abs() <= KEPT);
    let mut free = Vec::new();
    // Coordinates on which nothing depends, each for itself; then all others together.
    for i in (0..by.len()).filter(|&i| by[i].abs() > ENOUGH * far) {
        let mut unit = vec![0.0; n];
        unit[i] = 1.0;
        if is_kept(&unit) {
            rest[i] = 0.0;
            free.push(unit);
        }
    }
    let size = dot(&rest, &rest).sqrt();
    if size > ENOUGH * far {
        let unit: Vec<f64> = rest.iter().map(|x| x / size).collect();
        if is_kept(&unit) {
            rest.fill(0.0);
            free.push(unit);
        }
    }
    for x in &mut rest {
        let turns = (*x / TAU).round();
        if (*x - turns * TAU).abs() <= WHOLE {
            *x = turns * TAU;
        }
    }
    (free, rest)
}

/// The start of the next trial, by Newton's method: the shortest step across the free directions.
fn corrected(space: &PhaseSpace, trial: &Trial, free: &[Vec<f64>]) -> Option<Start> {
    let n = space.dimension();
    let size = n + free.len();
    let mut matrix = vec![0.0; size * size];
    for i in 0..n {
        for j in 0..n {
            matrix[i * size + j] = f64::from(u8::from(i == j)) - trial.passage.jacobian[i * n + j];
        }
        for (k, direction) in free.iter().enumerate() {
            matrix[i * size + n + k] = direction[i];
            matrix[(n + k) * size + i] = direction[i];
        }
    }
    let right: Vec<f64> = trial.miss.iter().copied().chain(free.iter().map(|_| 0.0)).collect();
    let step = Svd::new(size, size, &matrix, 1e-12)?.least_norm(&right);
    let state: Vec<f64> = space.state(&trial.start).iter().zip(&step).map(|(x, s)| x + s).collect();
    let closed = trial.start.closed().map(<[usize]>::to_vec);
    state.iter().all(|x| x.is_finite()).then(|| space.start(&trial.start, &state, closed.as_deref()))
}
