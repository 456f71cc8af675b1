//! States that are carried on from point to point.

use saltus::problem::{Gaps, Reached};
use saltus::{Kind, Options, Problem, Run, Start};

/// In which direction along the first axis each point starts where its neighbour ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Carry {
    /// In the order of the axis.
    Up,
    /// Against it.
    Down,
    /// First up, then down again from where that ended.
    Both,
}

/// What a trajectory reached.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// The last position.
    pub q: Vec<f64>,
    /// The last velocity.
    pub v: Vec<f64>,
    /// How deep it was beyond a constraint at worst: steps of a scheme end there where they are in contact.
    pub depth: f64,
}

/// What rounding makes of a gap, relative to the largest position, or to 1.
const ROUNDING: f64 = 1e-9;

/// A gap velocity above this part of what it is made of is one.
const MOVES: f64 = 1e-6;

/// The start of a trajectory that goes on from where another one was in contact, beyond a constraint by no more than that one was: with the
/// constraints that are closed there. None if it is admissible as it is, or deeper. Steps of a scheme end a contact with a velocity in which
/// their last step is not complete: `by_steps`, whatever touches is closed.
pub(crate) fn landed(problem: &Problem, start: &Start, depth: f64, by_steps: bool) -> Option<Start> {
    let refused = match problem.instance(start) {
        Ok(_) if !by_steps => return None,
        Ok(_) => f64::INFINITY,
        Err(error) => match error.kind() {
            Kind::Inadmissible { gap, .. } => gap,
            _ => return None,
        },
    };
    let rounding = ROUNDING * start.q.iter().fold(1.0_f64, |m, q| m.max(q.abs()));
    let mut gaps = problem.gaps_at(start);
    gaps.evaluate(start.t, &start.q, &start.v);
    let lowest = gaps.values.iter().copied().fold(refused, f64::min);
    let closed = (0..gaps.values.len()).filter(|&a| gaps.values[a] <= rounding).collect();
    let touches = lowest >= -depth.max(rounding) && lowest <= rounding;
    if !touches {
        return None;
    }
    if !by_steps && let Some(free) = beside(problem, start) {
        return Some(free);
    }
    Some(start.clone().reached(Reached { closed, ..Reached::default() }))
}

/// A start that is where an impact is, to rounding, put on the near side of it: what is about to hit what it touches, or has just done so, is not
/// held by it. None if it is held, or there is no such place.
fn beside(problem: &Problem, start: &Start) -> Option<Start> {
    let (mut gaps, mut start) = (problem.gaps_at(start), start.clone());
    gaps.evaluate(start.t, &start.q, &start.v);
    gaps.kinematics(start.t, &start.q, &start.v);
    for a in 0..gaps.values.len() {
        // (What is there to rounding touches.)
        let (gap, clear) = (gaps.values[a], 16.0 * gaps.rounding(a, &start.q));
        if gap > clear {
            continue;
        }
        let size = gaps.gradients.dot_abs(a, &start.v) + gaps.partial_t[a].abs();
        if !(gaps.rate(a, &start.v).abs() > MOVES * size) {
            return None;
        }
        let slope: f64 = gaps.gradients.entries(a).map(|(_, g)| g * g).sum();
        let by = (clear - gap) / slope;
        gaps.gradients.entries(a).for_each(|(i, g)| start.q[i] += by * g);
    }
    problem.instance(&start).is_ok().then_some(start)
}

/// Whether a state is about to hit something, within a time.
pub(crate) fn is_before_impact(gaps: &mut Gaps, (t, q, v): (f64, &[f64], &[f64]), within: f64) -> bool {
    gaps.evaluate(t, q, v);
    gaps.kinematics(t, q, v);
    (0..gaps.values.len()).any(|a| {
        let (gap, rate) = (gaps.values[a], gaps.rate(a, v));
        let size = gaps.gradients.dot_abs(a, v) + gaps.partial_t[a].abs();
        rate < -MOVES * size && gap <= within * -rate
    })
}

/// A state that is about to hit something within a time, after the impact.
pub(crate) fn after_impact(problem: &Problem, start: &Start, within: f64, tolerance: f64) -> Option<Start> {
    run_past(problem, start, within, tolerance).map(|run| run.last().clone())
}

/// A run of a state that is about to hit something within a time, past that.
pub(crate) fn run_past(problem: &Problem, start: &Start, within: f64, tolerance: f64) -> Option<Run> {
    let options = Options::events(start.t + 4.0 * within).tolerance(tolerance);
    let run = problem.run_from(&beside(problem, start)?, &options).ok()?;
    run.status.is_complete().then_some(run)
}
