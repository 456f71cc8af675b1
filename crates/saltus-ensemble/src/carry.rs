//! States that are carried on from point to point.

use saltus::problem::Reached;
use saltus::{Kind, Problem, Start};

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
    let mut gaps = problem.gaps();
    gaps.evaluate(start.t, &start.q, &start.v);
    let lowest = gaps.values.iter().copied().fold(refused, f64::min);
    let closed = (0..gaps.values.len()).filter(|&a| gaps.values[a] <= rounding).collect();
    let touches = lowest >= -depth.max(rounding) && lowest <= rounding;
    touches.then(|| start.clone().reached(Reached { closed, ..Reached::default() }))
}
