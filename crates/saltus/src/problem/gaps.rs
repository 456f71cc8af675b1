//! Compiled gaps f(t, q) of a set of constraints, with their gradients, partial time derivatives ∂f/∂t and second
//! derivatives in q.
//!
//! A gap f(t, q, z) that uses first-order states z' = r is one of a wall whose motion they give: they are continuous in an impact, so
//! impulses act along ∂f/∂q alone, and what counts as ∂f/∂t is ∂f/∂t + ∂f/∂z·r, which no velocity changes (the model is checked for
//! that). States are the last entries of v, so gaps are evaluated at (t, q, v) and use no other entry of v.

use super::blocks::{Blocks, Evaluator};
use super::inputs::{Cells, Inputs};
use crate::linalg::Rows;
use crate::model::Model;
use saltus_expr::{MissingInput, NodeId};
use std::sync::Arc;

/// Programs and patterns of a set of gaps.
#[derive(Clone, Debug)]
pub struct GapCode {
    /// Which constraints, by their index in the model.
    pub members: Vec<usize>,
    /// All gaps are affine in q: their gradients may still depend on time.
    pub affine: bool,
    /// Some gap uses first-order states.
    pub uses_states: bool,
    rows: Rows,
    /// (constraint in this set, i, j) of the second derivatives that are not zero, i ≤ j.
    pub second: Vec<(usize, usize, usize)>,
    values: Arc<Blocks>,
    linear: Arc<Blocks>,
    curved: Arc<Blocks>,
    kinematic: Arc<Blocks>,
}

impl GapCode {
    /// The gaps of some constraints.
    pub fn compile(model: &mut Model, inputs: &Inputs, members: Vec<usize>) -> Result<Self, MissingInput> {
        let gaps: Vec<NodeId> = members.iter().map(|&a| model.constraints[a].gap).collect();
        GapCode::of(model, inputs, members, gaps)
    }

    /// The equations of all joints.
    pub fn joints(model: &mut Model, inputs: &Inputs) -> Result<Self, MissingInput> {
        let equations: Vec<NodeId> = model.joints.iter().map(|j| j.equation).collect();
        GapCode::of(model, inputs, (0..equations.len()).collect(), equations)
    }

    fn of(model: &mut Model, inputs: &Inputs, members: Vec<usize>, gaps: Vec<NodeId>) -> Result<Self, MissingInput> {
        let q = model.q.clone();
        let uses_states = gaps.iter().any(|&gap| model.uses_states(gap));
        let own: Vec<NodeId> = gaps.iter().map(|&gap| own_rate(model, gap)).collect();
        let graph = &mut model.graph;
        let mut rows = Rows::new();
        let (mut gradient, mut hessian, mut second) = (vec![], vec![], vec![]);
        for (a, &gap) in gaps.iter().enumerate() {
            let mut slopes: Vec<(usize, NodeId)> = (0..q.len()).map(|i| (i, graph.derivative(gap, q[i]))).collect();
            slopes.retain(|&(_, slope)| !graph.is_zero(slope));
            rows.push(slopes.iter().map(|&(i, slope)| (i, graph.value(slope).unwrap_or(0.0))));
            for &(i, slope) in &slopes {
                gradient.push(slope);
                for j in i..q.len() {
                    let entry = graph.derivative(slope, q[j]);
                    if !graph.is_zero(entry) {
                        second.push((a, i, j));
                        hessian.push(entry);
                    }
                }
            }
        }
        let compile = |blocks: &[&[NodeId]]| Blocks::compile(graph, inputs, blocks);
        Ok(GapCode {
            affine: second.is_empty(),
            uses_states,
            values: compile(&[&gaps])?,
            linear: compile(&[&gaps, &gradient])?,
            curved: compile(&[&gaps, &gradient, &hessian])?,
            kinematic: compile(&[&gradient, &own])?,
            members,
            rows,
            second,
        })
    }
}

/// The rate of a gap while all coordinates stay where they are: ∂f/∂t + Σ ∂f/∂z·z'.
pub(super) fn own_rate(model: &mut Model, gap: NodeId) -> NodeId {
    let mut rate = model.graph.derivative(gap, model.t);
    for k in model.degrees()..model.dimension() {
        let slope = model.graph.derivative(gap, model.v[k]);
        let term = model.graph.mul(slope, model.force[k]);
        rate = model.graph.add(rate, term);
    }
    rate
}

/// Evaluates gaps at t, q and, where they use first-order states, v: where they do not, v costs nothing.
#[inline]
fn run(code: &GapCode, evaluator: &mut Evaluator, t: f64, q: &[f64], v: &[f64]) {
    match code.uses_states {
        true => evaluator.run(t, &[q, v]),
        false => evaluator.run_at(t, q),
    }
}

/// Evaluates a set of gaps; each run has its own.
#[derive(Clone, Debug)]
pub struct Gaps {
    pub(crate) code: Arc<GapCode>,
    only_values: Evaluator,
    linear: Evaluator,
    curved: Evaluator,
    kinematic: Evaluator,
    /// f at the last point.
    pub values: Vec<f64>,
    /// ∇f at the last point where gradients were asked for.
    pub gradients: Rows,
    /// ∂²f in the order of `GapCode::second`.
    pub hessians: Vec<f64>,
    /// ∂f/∂t, with what first-order states do, at the last point where they were asked for: the speeds at which moving constraints
    /// recede.
    pub partial_t: Vec<f64>,
    /// The values of open parameters, where they are its own.
    own: Option<Cells>,
}

impl Gaps {
    /// For values of open parameters of its own.
    pub(crate) fn at(code: &Arc<GapCode>, parameters: &[f64]) -> Self {
        let cells = Cells::new(parameters.iter().copied());
        Gaps { own: Some(cells.clone()), ..Gaps::new(code, &cells) }
    }

    /// Goes over to other values of open parameters. (Those of the problem stay as they are.)
    pub fn set_parameters(&mut self, parameters: &[f64]) {
        match &self.own {
            Some(cells) if cells.len() == parameters.len() => {
                parameters.iter().enumerate().for_each(|(k, value)| cells.set(k, *value));
            }
            None if parameters.is_empty() => {}
            _ => *self = Gaps::at(&self.code, parameters),
        }
    }

    pub(crate) fn new(code: &Arc<GapCode>, cells: &Cells) -> Self {
        Gaps {
            only_values: Evaluator::new(&code.values, cells),
            linear: Evaluator::new(&code.linear, cells),
            curved: Evaluator::new(&code.curved, cells),
            kinematic: Evaluator::new(&code.kinematic, cells),
            values: code.values.buffer(0),
            gradients: code.rows.clone(),
            hessians: code.curved.buffer(2),
            partial_t: code.kinematic.buffer(1),
            own: None,
            code: code.clone(),
        }
    }

    /// f. Of `v` only the first-order states behind the velocities matter; where no gap uses them, `v` may be empty.
    #[inline]
    pub fn evaluate(&mut self, t: f64, q: &[f64], v: &[f64]) {
        run(&self.code, &mut self.only_values, t, q, v);
        self.only_values.write(0, &mut self.values);
    }

    /// f and ∇f.
    pub fn linearise(&mut self, t: f64, q: &[f64], v: &[f64]) {
        run(&self.code, &mut self.linear, t, q, v);
        self.linear.write(0, &mut self.values);
        self.linear.write(1, &mut self.gradients.values);
    }

    /// f, ∇f and ∂²f.
    pub fn second_order(&mut self, t: f64, q: &[f64], v: &[f64]) {
        run(&self.code, &mut self.curved, t, q, v);
        self.curved.write(0, &mut self.values);
        self.curved.write(1, &mut self.gradients.values);
        self.curved.write(2, &mut self.hessians);
    }

    /// How far below zero the gap of constraint `a` may be by rounding alone, at a point where its gradient has been
    /// evaluated: a few units in the last place of the terms it is made of.
    pub fn rounding(&self, a: usize, q: &[f64]) -> f64 {
        1e-14 + 32.0 * f64::EPSILON * self.gradients.dot_abs(a, q)
    }

    /// U = ∂f/∂t + ∇f·v of constraint `a` with the kinematics last evaluated.
    #[inline]
    pub fn rate(&self, a: usize, v: &[f64]) -> f64 {
        self.partial_t[a] + self.gradients.dot(a, v)
    }

    /// ∇f and ∂f/∂t.
    pub fn kinematics(&mut self, t: f64, q: &[f64], v: &[f64]) {
        run(&self.code, &mut self.kinematic, t, q, v);
        self.kinematic.write(0, &mut self.gradients.values);
        self.kinematic.write(1, &mut self.partial_t);
    }
}
