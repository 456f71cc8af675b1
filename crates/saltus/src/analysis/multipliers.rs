//! The multipliers of a motion that repeats itself, without those that all motions of its kind have.

use super::phase_space::{NoMap, PhaseSpace};
use crate::Options;
use crate::linalg::{dot, eigenvalues};
use crate::problem::{Problem, Start};

/// A direction that the map leaves as it is, to this.
const KEPT: f64 = 1e-5;

/// For so many periods a motion is looked at for events: one may be at the end of the first.
const BEYOND: f64 = 1.25;

/// The multipliers of the motion from `start` that repeats itself after the time `lasts`, largest first, without those that are 1 for
/// every such motion: along the motion itself where nothing depends on time, and along `shifts`, directions of the coordinates in which
/// the whole motion may be moved. A multiplier of size 1 that is left belongs to a family of such motions, none of which attracts.
///
/// ```
/// use saltus::{analysis::neighbour_multipliers, model::Builder};
/// // Without damping every amplitude goes on for ever; with it there is one motion, at rest.
/// let spring = |damping: &str| Builder::new("spring").coordinate("x", 1.0, 0.0).kinetic("x'^2/2").potential("x^2/2").force("x", damping);
/// let free = spring("0").build()?.problem()?;
/// let left = neighbour_multipliers(&free, &free.start(), std::f64::consts::TAU, &[], 1e-12)?;
/// assert!(left.len() == 1 && (left[0].0 - 1.0).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The motion ends, or it has no derivatives.
pub fn neighbour_multipliers(
    problem: &Problem,
    start: &Start,
    lasts: f64,
    shifts: &[Vec<f64>],
    tolerance: f64,
) -> Result<Vec<(f64, f64)>, NoMap> {
    let space = PhaseSpace::of(problem);
    let options = Options::events(start.t).tolerance(tolerance);
    let in_flight = between_events(problem, start, lasts, &options)?;
    let passage = space.pass(problem, in_flight.as_ref().unwrap_or(start), lasts, &options)?;
    let (n, map) = (space.dimension(), &passage.jacobian);
    let along = (!problem.model().depends_on_time()).then(|| passage.rate.clone());
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let moved = shifts.iter().map(|shift| shift.iter().copied().chain(std::iter::repeat(0.0)).take(n).collect());
    for direction in along.into_iter().chain(moved) {
        let whole = dot(&direction, &direction).sqrt();
        let Some(unit) = beside(&direction, &basis).filter(|(_, length)| *length > KEPT * whole) else { continue };
        let image = times(map, &unit.0, n);
        if image.iter().zip(&unit.0).all(|(a, b)| (a - b).abs() <= KEPT) {
            basis.push(unit.0);
        }
    }
    // The rest of the space, orthogonal to them: the unit vector with most of its length left, again and again.
    let known = basis.len();
    while basis.len() < n {
        let unit = |k: usize| (0..n).map(|i| f64::from(u8::from(i == k))).collect::<Vec<f64>>();
        let most = (0..n).filter_map(|k| beside(&unit(k), &basis)).max_by(|a, b| a.1.total_cmp(&b.1));
        let Some((next, _)) = most else { break };
        basis.push(next);
    }
    let others = &basis[known..];
    let images: Vec<Vec<f64>> = others.iter().map(|x| times(map, x, n)).collect();
    let reduced: Vec<f64> = others.iter().flat_map(|x| images.iter().map(move |y| dot(x, y))).collect();
    let mut found = eigenvalues(others.len(), &reduced).unwrap_or_default();
    found.sort_by(|a, b| b.0.hypot(b.1).total_cmp(&a.0.hypot(a.1)));
    Ok(found)
}

/// A state of the motion in the middle of its longest flight. A start where an impact is, to rounding, may lie on either side of it, and so may
/// the end of the period: the same multipliers are found from where nothing happens. None if nothing ever does, up to a little later than the end,
/// or there is no flight.
fn between_events(problem: &Problem, start: &Start, lasts: f64, options: &Options) -> Result<Option<Start>, NoMap> {
    let until = |end: f64| problem.run_from(start, &Options { end, ..options.clone() });
    let end = start.t + BEYOND * lasts;
    let run = until(end)?;
    let motion = &run.trajectory;
    if motion.impacts.is_empty() && motion.contacts.is_empty() {
        return Ok(None);
    }
    let mut instants = vec![start.t, end];
    instants.extend(motion.impacts.iter().map(|impact| impact.t));
    instants.extend(motion.contacts.iter().flat_map(|contact| [contact.start, contact.end]));
    instants.sort_by(f64::total_cmp);
    let is_held = |t: f64| motion.contacts.iter().any(|contact| (contact.start..contact.end).contains(&t));
    let flights = instants.windows(2).map(|pair| (f64::midpoint(pair[0], pair[1]), pair[1] - pair[0]));
    let longest = flights.filter(|(middle, _)| !is_held(*middle)).max_by(|a, b| a.1.total_cmp(&b.1));
    let Some((middle, _)) = longest.filter(|(_, long)| *long > 0.0) else { return Ok(None) };
    Ok(Some(until(middle)?.last().clone()))
}

/// The part of a vector that is orthogonal to others, as a unit vector, and its length; None if there is none.
fn beside(x: &[f64], others: &[Vec<f64>]) -> Option<(Vec<f64>, f64)> {
    let mut x = x.to_vec();
    for _ in 0..2 {
        for other in others {
            let along = dot(&x, other);
            x.iter_mut().zip(other).for_each(|(x, o)| *x -= along * o);
        }
    }
    let length = dot(&x, &x).sqrt();
    x.iter_mut().for_each(|x| *x /= length);
    (length > 0.0 && length.is_finite()).then_some((x, length))
}

/// A matrix by rows times a vector.
fn times(rows: &[f64], x: &[f64], n: usize) -> Vec<f64> {
    rows.chunks_exact(n).map(|row| dot(row, x)).collect()
}
