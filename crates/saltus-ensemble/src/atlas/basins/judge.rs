//! What a piece of a trajectory is: from its returns to the stroboscope or section.

use super::attractor::Rule;
use super::extent::Extent;
use crate::settled::Tracker;
use crate::{Outcome, Settled};
use saltus::{Model, Problem, Start, Status};
use std::f64::consts::TAU;

/// States beyond so many extents of all motions are on their way to infinity.
pub const FAR: f64 = 1e6;
/// A motion that grows by this factor whenever its time doubles goes on growing,
const GROWS: f64 = 1.3;
/// if it has left the extent of the others.
const OUT: f64 = 10.0;

/// Returns of a trajectory: times and states (positions, then velocities), as an outcome has them.
#[derive(Clone, Debug)]
pub struct Returns<'o> {
    pub t: Vec<f64>,
    pub states: Vec<&'o [f64]>,
}

impl<'o> Returns<'o> {
    /// Those that were kept of a piece: of the section, if there is one, else of the stroboscope.
    pub fn of(outcome: &'o Outcome, dimension: usize, by_section: bool) -> Self {
        let (data, width, skip) = match by_section {
            true => (&outcome.sections, 2 + 2 * dimension, 2),
            false => (&outcome.strobe, 1 + 2 * dimension, 1),
        };
        let rows = data.chunks_exact(width);
        Returns { t: rows.clone().map(|row| row[skip - 1]).collect(), states: rows.map(|row| &row[skip..]).collect() }
    }
}

/// What a piece shows.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It returns after so many returns, advanced by so much.
    Repeats { returns: usize, rules: Vec<Rule>, advance: Vec<f64> },
    /// It may be at rest.
    Still,
    /// Nothing yet.
    Nothing,
}

impl Verdict {
    pub fn repeats(&self) -> bool {
        matches!(self, Verdict::Repeats { .. })
    }
}

/// The rules by which states of a model are compared if nothing travels: where a coordinate is on which nothing depends means as
/// little as the integral of a state.
pub fn plain_rules(model: &Model) -> Vec<Rule> {
    let (degrees, d) = (model.degrees(), model.dimension());
    let frictions = model.frictions.iter().flat_map(|f| f.slips.iter().map(|s| s.value).chain([f.kinetic, f.sticking]));
    let walls = model.constraints.iter().map(|c| c.gap).chain(model.joints.iter().map(|j| j.equation));
    let all: Vec<_> = model.force.iter().chain(&model.mass).copied().chain(walls).chain(frictions).collect();
    let means = |i: usize| i < degrees && all.iter().any(|&node| model.graph.depends_on(node, model.q[i]));
    (0..2 * d).map(|i| if i < d && !means(i) { Rule::Free } else { Rule::Plain }).collect()
}

/// The same where angles are about: coordinates after a turn of which the model is the same.
pub fn with_turns(problem: &Problem, near: &Start, plain: &[Rule]) -> Vec<Rule> {
    let degrees = problem.model().degrees();
    let mut rules = plain.to_vec();
    for i in (0..degrees).filter(|&i| plain[i] == Rule::Plain) {
        let turn: Vec<f64> = (0..degrees).map(|j| if i == j { TAU } else { 0.0 }).collect();
        if problem.repeats_after(near, &turn) {
            rules[i] = Rule::Turns;
        }
    }
    rules
}

/// Judges the returns of a piece; `plain` are the rules by which states are compared if nothing travels.
pub fn judge(
    problem: &Problem,
    begin: &Start,
    plain: &[Rule],
    returns: &Returns,
    end: &Outcome,
    extent: &Extent,
) -> Verdict {
    let (degrees, d) = (problem.model().degrees(), problem.dimension());
    let still = extent.is_still(&end.v, degrees);
    if returns.states.len() < 8 {
        return if still { Verdict::Still } else { Verdict::Nothing };
    }
    let mut tracker = Tracker::scaled(degrees, d, &extent.size);
    for (t, state) in returns.t.iter().zip(&returns.states) {
        tracker.strobe(*t, &state[..d], &state[d..], 0);
    }
    let mut rules = plain.to_vec();
    let here = || Start::new(begin.t, end.q.clone(), end.v.clone()).with_parameters(begin.parameters.clone());
    match tracker.repeats(&|advance| problem.repeats_after(&here(), advance)) {
        Settled::Periodic { intervals, .. } => {
            Verdict::Repeats { returns: intervals as usize, rules, advance: Vec::new() }
        }
        Settled::Travelling { intervals, .. } => {
            let n = intervals as usize;
            let last = returns.states.len() - 1;
            let (a, b) = (returns.states[last], returns.states[last - n]);
            let advance: Vec<f64> = (0..degrees).map(|i| a[i] - b[i]).collect();
            for i in 0..degrees {
                let turns = (advance[i] / TAU).round();
                if rules[i] == Rule::Plain && advance[i].abs() > 1e-6 * extent.size[i] {
                    let whole = turns != 0.0 && (advance[i] - turns * TAU).abs() < 1e-6;
                    rules[i] = if whole { Rule::Turns } else { Rule::Free };
                }
            }
            Verdict::Repeats { returns: n, rules, advance }
        }
        _ if still => Verdict::Still,
        _ => Verdict::Nothing,
    }
}

/// Whether sizes after pieces, each as long as all before it, say that the motion goes on growing.
pub fn grows(sizes: &[f64]) -> bool {
    let n = sizes.len();
    n >= 4 && sizes[n - 1] > OUT && sizes[n - 4..].windows(2).all(|pair| pair[1] >= GROWS * pair[0])
}

/// Whether a piece could not be computed to its end.
pub fn has_failed(outcome: &Outcome) -> bool {
    matches!(outcome.status, Ok(Status::Failed(_)))
}
