//! Friction on surfaces that move by themselves, where everything else rests: it slides, so its force is known. Equilibria need it.
//!
//! Dry friction of known limit is a force like others: a problem with it among the forces is one without that friction. Friction at a
//! constraint is the reaction times a direction, −μ s/|s|·∂s/∂v.

use super::Problem;
use super::blocks::{Blocks, Evaluator};
use crate::SetupError;
use crate::model::{Friction, Model};
use saltus_expr::{Function1, NodeId};

/// Which frictions have a surface that moves at a time, at the start of the model.
pub(crate) fn driven(problem: &Problem, t: f64) -> Vec<bool> {
    let model = problem.model();
    let rests: Vec<NodeId> = model.frictions.iter().flat_map(|f| f.slips.iter().map(|slip| slip.rest)).collect();
    let Ok(code) = Blocks::compile(&model.graph, &problem.inner.inputs, &[&rests]) else {
        return vec![false; model.frictions.len()];
    };
    let (mut evaluator, mut values) = (Evaluator::new(&code, &problem.inner.cells), code.buffer(0));
    let mut rest = model.v0.clone();
    rest[..model.degrees()].fill(0.0);
    evaluator.run(t, &[&model.q0, &rest]);
    evaluator.write(0, &mut values);
    let mut values = values.into_iter();
    let mut moves = |f: &Friction| values.by_ref().take(f.slips.len()).fold(false, |any, s| any | (s != 0.0));
    model.frictions.iter().map(&mut moves).collect()
}

/// What friction k does to each coordinate while it slides, for a unit of its limit or of the reaction that presses it.
fn drag(model: &mut Model, k: usize) -> Vec<NodeId> {
    let friction = model.frictions[k].clone();
    let graph = &mut model.graph;
    let slips: Vec<NodeId> = friction.slips.iter().map(|slip| slip.value).collect();
    let (speed, directions): (NodeId, Vec<NodeId>) = match slips[..] {
        [slip] => (graph.unary(Function1::Abs, slip), vec![graph.unary(Function1::Sign, slip)]),
        _ => {
            let squares: Vec<NodeId> = slips.iter().map(|&slip| graph.mul(slip, slip)).collect();
            let sum = graph.sum(&squares);
            let speed = graph.unary(Function1::Sqrt, sum);
            (speed, slips.iter().map(|&slip| graph.div(slip, speed)).collect())
        }
    };
    let size = graph.substitute(friction.kinetic, &[(friction.speed, speed)]);
    let size = graph.neg(size);
    let along = |i: usize, graph: &mut saltus_expr::Graph| {
        let terms: Vec<NodeId> =
            friction.slips.iter().zip(&directions).map(|(slip, &s)| graph.mul(slip.row[i], s)).collect();
        let sum = graph.sum(&terms);
        graph.mul(size, sum)
    };
    (0..friction.slips[0].row.len()).map(|i| along(i, graph)).collect()
}

/// The directions of friction at constraints, and how they change with the position.
#[derive(Clone, Debug)]
pub(crate) struct Drags {
    evaluator: Evaluator,
    /// (constraint, coordinate) where a direction is not zero.
    pub places: Vec<(usize, usize)>,
    /// The force for a unit of the reaction.
    pub forces: Vec<f64>,
    /// (constraint, coordinate, by which coordinate).
    pub slope_places: Vec<(usize, usize, usize)>,
    /// Its derivatives.
    pub slopes: Vec<f64>,
}

impl Drags {
    /// Of the constraints whose friction is driven; None if there is none.
    fn of(problem: &Problem, driven: &[bool]) -> Option<Self> {
        let mut model = problem.model().as_ref().clone();
        let (mut places, mut slope_places) = (Vec::new(), Vec::new());
        let (mut forces, mut slopes): (Vec<NodeId>, Vec<NodeId>) = (Vec::new(), Vec::new());
        for k in (0..driven.len()).filter(|&k| driven[k]) {
            let Some(a) = model.frictions[k].constraint else { continue };
            for (i, force) in drag(&mut model, k).into_iter().enumerate() {
                if model.graph.is_zero(force) {
                    continue;
                }
                places.push((a, i));
                forces.push(force);
                for j in 0..model.degrees() {
                    let slope = model.graph.derivative(force, model.q[j]);
                    if !model.graph.is_zero(slope) {
                        slope_places.push((a, i, j));
                        slopes.push(slope);
                    }
                }
            }
        }
        if places.is_empty() {
            return None;
        }
        let code = Blocks::compile(&model.graph, &problem.inner.inputs, &[&forces, &slopes]).ok()?;
        let evaluator = Evaluator::new(&code, &problem.inner.cells);
        Some(Drags { evaluator, places, forces: code.buffer(0), slope_places, slopes: code.buffer(1) })
    }

    /// At a point, at rest.
    pub fn evaluate(&mut self, t: f64, q: &[f64], v: &[f64]) {
        self.evaluator.run(t, &[q, v]);
        self.evaluator.write(0, &mut self.forces);
        self.evaluator.write(1, &mut self.slopes);
    }
}

impl Problem {
    /// The problem with dry friction that is driven among its forces, and the directions of friction at constraints that is.
    pub(crate) fn dragged(&self, driven: &[bool]) -> Result<(Problem, Option<Drags>), SetupError> {
        let mut model = self.model().as_ref().clone();
        let is_dry = |k: &usize| driven[*k] && self.model().frictions[*k].constraint.is_none();
        for k in (0..driven.len()).filter(is_dry) {
            for (i, force) in drag(&mut model, k).into_iter().enumerate() {
                model.force[i] = model.graph.add(model.force[i], force);
            }
        }
        Ok((Problem::unchecked(model)?, Drags::of(self, driven)))
    }
}
