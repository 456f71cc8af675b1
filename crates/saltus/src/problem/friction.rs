//! Compiled friction: slip velocities row·v + rest, and coefficients or limits while sliding and while sticking.

use super::blocks::{Blocks, Evaluator};
use super::inputs::{Cells, Inputs};
use crate::linalg::Rows;
use crate::model::Model;
use saltus_expr::{Function1, MissingInput, NodeId};
use std::sync::Arc;

/// Programs and patterns of all frictions of a model.
#[derive(Clone, Debug)]
pub struct FrictionCode {
    /// Where the slips of each friction begin, and where the last one ends.
    pub first: Vec<usize>,
    /// The constraint that presses; None for dry friction of known limit.
    pub constraint: Vec<Option<usize>>,
    /// Tangential restitutions.
    pub tangential: Vec<f64>,
    rows: Rows,
    blocks: Arc<Blocks>,
}

impl FrictionCode {
    pub fn compile(model: &mut Model, inputs: &Inputs) -> Result<Self, MissingInput> {
        let frictions = std::mem::take(&mut model.frictions);
        let graph = &mut model.graph;
        let (mut rows, mut first) = (Rows::new(), vec![0]);
        let (mut slopes, mut rests, mut kinetic, mut sticking) = (vec![], vec![], vec![], vec![]);
        for friction in &frictions {
            for slip in &friction.slips {
                let used = slip.row.iter().enumerate().filter(|(_, slope)| !graph.is_zero(**slope));
                let used: Vec<(usize, NodeId)> = used.map(|(i, &slope)| (i, slope)).collect();
                rows.push(used.iter().map(|&(i, slope)| (i, graph.value(slope).unwrap_or(0.0))));
                slopes.extend(used.iter().map(|&(_, slope)| slope));
                rests.push(slip.rest);
            }
            first.push(rests.len());
            let speed = match friction.slips.as_slice() {
                [one] => graph.unary(Function1::Abs, one.value),
                several => {
                    let squares: Vec<NodeId> = several.iter().map(|slip| graph.mul(slip.value, slip.value)).collect();
                    let sum = graph.sum(&squares);
                    graph.unary(Function1::Sqrt, sum)
                }
            };
            kinetic.push(graph.substitute(friction.kinetic, &[(friction.speed, speed)]));
            sticking.push(friction.sticking);
        }
        let blocks = Blocks::compile(graph, inputs, &[&slopes, &rests, &kinetic, &sticking])?;
        let code = FrictionCode {
            first,
            constraint: frictions.iter().map(|f| f.constraint).collect(),
            tangential: frictions.iter().map(|f| f.tangential).collect(),
            rows,
            blocks,
        };
        model.frictions = frictions;
        Ok(code)
    }
}

/// Evaluates all frictions; each run has its own.
#[derive(Clone, Debug)]
pub struct Frictions {
    pub(crate) code: Arc<FrictionCode>,
    evaluator: Evaluator,
    /// The slip velocities are rows·v + rests, in the order of the frictions.
    pub rows: Rows,
    /// What is left of them at v = 0.
    pub rests: Vec<f64>,
    /// Coefficients and limits while sliding, at the sliding speeds of the velocity given.
    pub kinetic: Vec<f64>,
    /// Those while sticking.
    pub sticking: Vec<f64>,
}

impl Frictions {
    pub(crate) fn new(code: &Arc<FrictionCode>, cells: &Cells) -> Self {
        let buffer = |k: usize| code.blocks.buffer(k);
        Frictions {
            evaluator: Evaluator::new(&code.blocks, cells),
            rows: code.rows.clone(),
            rests: buffer(1),
            kinetic: buffer(2),
            sticking: buffer(3),
            code: code.clone(),
        }
    }

    /// Number of frictions.
    pub fn len(&self) -> usize {
        self.code.constraint.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.code.constraint.is_empty()
    }

    /// The slips of friction k, by their places among all slips.
    pub fn slips(&self, k: usize) -> std::ops::Range<usize> {
        self.code.first[k]..self.code.first[k + 1]
    }

    /// Everything at a point.
    pub fn evaluate(&mut self, t: f64, q: &[f64], v: &[f64]) {
        self.evaluator.run(t, &[q, v]);
        self.evaluator.write(0, &mut self.rows.values);
        self.evaluator.write(1, &mut self.rests);
        self.evaluator.write(2, &mut self.kinetic);
        self.evaluator.write(3, &mut self.sticking);
    }

    /// The slip velocity at place s for a velocity, with what was last evaluated.
    pub fn slip(&self, s: usize, v: &[f64]) -> f64 {
        self.rests[s] + self.rows.dot(s, v)
    }
}
