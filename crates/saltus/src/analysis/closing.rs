//! Newton's method on x − P(x), where P is the motion over one period with its exact Jacobian Φ.
//!
//! The period is given, by the forcing; or it is unknown, and one more equation keeps the start from sliding along the orbit:
//! the correction is orthogonal to the motion there.

use crate::analysis::phase_space::{NoMap, Passage, PhaseSpace, held_by_joints};
use crate::linalg::{Svd, max_abs};
use crate::problem::{Problem, Start};
use crate::{Options, Side};

/// Newton steps, and halvings of one.
const STEPS: usize = 40;
const HALVINGS: usize = 12;

/// An orbit is closed where it misses itself by this part of the size of its state.
const CLOSED: f64 = 1e-12;

/// With rounding and errors of the motion, where it goes no further, by this.
const ENOUGH: f64 = 1e-8;

/// How long a period is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Period {
    /// It is this long.
    Given(f64),
    /// It is about this long.
    About(f64),
    /// After this time everything is its own mirror image, −x: half a period.
    Half(f64),
}

/// A motion that comes back to where it was.
#[derive(Clone, Debug)]
pub struct Orbit {
    /// A state on it.
    pub start: Start,
    /// Its period.
    pub period: f64,
    /// One period from there, with its Jacobian.
    pub passage: Passage,
    /// How far it misses itself, relative to the size of its state.
    pub residual: f64,
    /// Newton steps that were made.
    pub steps: usize,
    /// How many periods of the forcing it takes; None where nothing depends on time, and the period is the orbit's own.
    pub multiple: Option<usize>,
    /// How many directions joints hold.
    pub joints: usize,
}

/// The motion of one period from a state, and how far it misses itself.
struct Trial {
    start: Start,
    period: f64,
    passage: Passage,
    miss: Vec<f64>,
    residual: f64,
}

/// The sizes by which entries of a state are compared: positions by the largest position, and so on for speeds and states.
fn scales(space: &PhaseSpace, passage: &Passage, state: &[f64]) -> Vec<f64> {
    let motion = &passage.run.trajectory;
    let (far, fast) = (motion.reach().max(1e-300), motion.fastest().max(1e-300));
    let degrees = motion.degrees();
    let of = |i: usize| match i {
        i if i < degrees => far,
        i if i < 2 * degrees => fast,
        i => state[i].abs().max(passage.end[i].abs()).max(1e-300),
    };
    (0..space.dimension()).map(of).collect()
}

fn attempt(
    problem: &Problem,
    space: &PhaseSpace,
    start: Start,
    (period, sign): (f64, f64),
    options: &Options,
) -> Result<Trial, NoMap> {
    let start = match problem.model().joints.is_empty() {
        true => start,
        false => problem.assembled(&start)?,
    };
    let passage = space.pass(problem, &start, period, options)?;
    let state = space.state(&start);
    let miss: Vec<f64> = passage.end.iter().zip(&state).map(|(end, begin)| sign * end - begin).collect();
    let scales = scales(space, &passage, &state);
    let residual = miss.iter().zip(&scales).map(|(m, s)| m.abs() / s).fold(0.0, f64::max);
    Ok(Trial { start, period, passage, miss, residual })
}

/// The orbit near a state, by Newton's method; as near as it gets, whatever its residual.
pub fn close(
    problem: &Problem,
    space: &PhaseSpace,
    near: &Start,
    period: Period,
    options: &Options,
) -> Result<Orbit, NoMap> {
    let (lasts, is_free, sign) = match period {
        Period::Given(lasts) => (lasts, false, 1.0),
        Period::About(lasts) => (lasts, true, 1.0),
        Period::Half(lasts) => (lasts, false, -1.0),
    };
    let n = space.dimension();
    let mut best = attempt(problem, space, near.clone(), (lasts, sign), options)?;
    let mut steps = 0;
    while best.residual > CLOSED && steps < STEPS {
        let size = n + usize::from(is_free);
        let mut matrix = vec![0.0; size * size];
        let mut step = best.miss.clone();
        for i in 0..n {
            for j in 0..n {
                matrix[i * size + j] = f64::from(u8::from(i == j)) - sign * best.passage.jacobian[i * n + j];
            }
        }
        if is_free {
            step.push(0.0);
            for (i, rate) in best.passage.rate.iter().enumerate() {
                matrix[i * size + n] = -rate;
                matrix[n * size + i] = *rate;
            }
        }
        // (Orbits of a conservative system come in families: the shortest step.)
        let Some(svd) = Svd::new(size, size, &matrix, 1e-12) else { break };
        let step = svd.least_norm(&step);
        if step.iter().any(|x| !x.is_finite()) {
            break;
        }
        steps += 1;
        let state = space.state(&best.start);
        let closed = best.passage.run.last().closed().map(<[usize]>::to_vec);
        let mut share = 1.0;
        let mut found = None;
        for _ in 0..HALVINGS {
            let moved: Vec<f64> = state.iter().zip(&step).map(|(x, s)| x + share * s).collect();
            let period = best.period + if is_free { share * step[n] } else { 0.0 };
            let start = space.start(&best.start, &moved, closed.as_deref());
            // (A period that would turn negative, a start inside an obstacle: nearer.)
            if period > 0.5 * lasts
                && period < 2.0 * lasts
                && let Ok(trial) = attempt(problem, space, start, (period, sign), options)
                && trial.residual < best.residual * (1.0 - 0.1 * share)
            {
                found = Some(trial);
                break;
            }
            share *= 0.5;
        }
        match found {
            Some(trial) => best = trial,
            None => break,
        }
    }
    let Trial { start, period, passage, residual, .. } = best;
    let (multiple, joints) = (if is_free { None } else { Some(1) }, held_by_joints(problem, &start));
    Ok(Orbit { start, period, passage, residual, steps, multiple, joints })
}

impl Orbit {
    /// Whether it is one: Newton's method went as far as rounding lets it.
    pub fn is_closed(&self) -> bool {
        self.residual <= ENOUGH && max_abs(&self.passage.end).is_finite()
    }

    /// Whether it is its own mirror image after half a period: x(t + T/2) = −x(t) for all coordinates.
    pub fn is_symmetric(&self) -> bool {
        let motion = &self.passage.run.trajectory;
        let (from, half) = (self.start.t, 0.5 * self.period);
        let (far, fast) = (motion.reach(), motion.fastest());
        (1..16).all(|k| {
            let t = from + half * f64::from(k) / 16.3;
            match (motion.at(t, Side::Right), motion.at(t + half, Side::Right)) {
                (Some((q, v)), Some((p, u))) => {
                    let d = motion.degrees();
                    (0..d).all(|i| (q[i] + p[i]).abs() <= 1e-7 * far && (v[i] + u[i]).abs() <= 1e-7 * fast)
                }
                _ => false,
            }
        })
    }
}
