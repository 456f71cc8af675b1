//! Perturbations over a piece of a motion that somebody else follows otherwise.

use super::frame::{LONGER, SHORTER, orthonormal};
use super::{NoExponents, PhaseSpace, advance};
use crate::problem::{Problem, Start};
use crate::{Keep, Options};

/// A piece is cut into parts no shorter than 1/8^this of it,
const MOST: i32 = 6;
/// each a part of the one before where that was too long.
const CUT: f64 = 8.0;

/// Perturbations of a motion.
#[derive(Clone, Debug, PartialEq)]
pub struct Perturbations {
    /// Orthonormal columns, one after the other, each with an entry for each dimension of the phase space: zeros for those that a contact has
    /// taken away.
    pub columns: Vec<f64>,
    /// The logarithms of what each has grown by.
    pub logs: Vec<f64>,
}

/// Carries perturbations along a motion from a start to a time, by the event engine; where the motion is then, and how many impacts it had.
/// However fast some of them shrink beside the others, only a contact takes them away: the time is cut into parts after which they are made
/// orthonormal, as short as they have to be.
///
/// # Errors
/// The motion cannot begin there or fails, or it has no derivatives.
pub fn carry_perturbations(
    problem: &Problem,
    start: &Start,
    until: f64,
    tolerance: f64,
    carried: &mut Perturbations,
) -> Result<(Start, usize), NoExponents> {
    let space = PhaseSpace::of(problem);
    let (mut at, mut impacts) = (start.clone(), 0);
    let whole = until - start.t;
    let shortest = whole / CUT.powi(MOST);
    let mut part = whole;
    while at.t < until {
        let to = if at.t + 1.001 * part < until { at.t + part } else { until };
        let (end, hits, next, least) = one_part(problem, &space, &at, to, tolerance, carried)?;
        let is_less = (0..next.logs.len()).any(|k| is_gone(&next, k) && !is_gone(carried, k));
        if (least < SHORTER || is_less) && part > shortest {
            part = (part / CUT).max(shortest);
            continue;
        }
        (*carried, at) = (next, end);
        // (The last instant of a run is its end, to rounding.)
        at.t = to;
        impacts += hits;
        if least > LONGER {
            part *= 2.0;
        }
    }
    Ok((at, impacts))
}

fn is_gone(carried: &Perturbations, k: usize) -> bool {
    let n = carried.logs.len();
    carried.columns[k * n..(k + 1) * n].iter().all(|x| *x == 0.0)
}

/// Over one part: where it ends, its impacts, the perturbations there, and the least part that one of them kept beside the others.
fn one_part(
    problem: &Problem,
    space: &PhaseSpace,
    at: &Start,
    until: f64,
    tolerance: f64,
    carried: &Perturbations,
) -> Result<(Start, usize, Perturbations, f64), NoExponents> {
    let n = carried.logs.len();
    let alive: Vec<usize> = (0..n).filter(|&k| !is_gone(carried, k)).collect();
    let mut columns = space.unit();
    columns.truncate(alive.len());
    for (place, &k) in alive.iter().enumerate() {
        columns.column_mut(place).fill(0.0);
        space.set_column(&mut columns, place, &carried.columns[k * n..(k + 1) * n]);
    }
    let options = Options::events(f64::INFINITY).tolerance(tolerance).keep(Keep::NOTHING).vary(columns);
    let mut sim = problem.resume(at)?.engine(&options)?;
    advance(&mut sim, until)?;
    let all = match sim.variation() {
        Some(all) => all.map_err(NoExponents::Obstacle)?,
        None => space.unit(),
    };
    let impacts = sim.impacts();
    let (left, least) = orthonormal((0..alive.len()).map(|place| space.column(&all, place)))?;
    let mut next = Perturbations { columns: vec![0.0; n * n], logs: carried.logs.clone() };
    for (place, length, x) in left {
        let k = alive[place];
        next.logs[k] += length.ln();
        next.columns[k * n..(k + 1) * n].copy_from_slice(&x);
    }
    Ok((sim.finish().last().clone(), impacts, next, least))
}
