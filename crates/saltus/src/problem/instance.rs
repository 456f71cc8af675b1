//! A problem at one start: what a scheme is made from.

use super::blocks::{Blocks, Evaluator};
use super::{Cells, Dynamics, Energy, Frictions, Gaps, Power, Problem, Start, Stiffness, check};
use crate::{Kind, Model, SetupError};
use saltus_expr::NodeId;
use std::sync::Arc;

/// A problem at one start, with its values of open parameters. Cheap to clone; all evaluators of one instance share its
/// ports.
#[derive(Clone, Debug)]
pub struct Instance {
    problem: Problem,
    start: Arc<Start>,
    restitution: Arc<[f64]>,
    cells: Cells,
}

impl Instance {
    pub(super) fn new(problem: &Problem, start: &Start) -> Result<Self, SetupError> {
        let instance = Instance::unchecked(problem, start)?;
        check::start(&instance)?;
        Ok(instance)
    }

    /// An instance whose start need not be admissible yet.
    pub(super) fn unchecked(problem: &Problem, start: &Start) -> Result<Self, SetupError> {
        let model = problem.model();
        let mut start = start.clone();
        start.complete(model.degrees(), &model.v0);
        start.check(problem.dimension(), model.open.len(), problem.constraints())?;
        if start.parameters.is_empty() {
            start.parameters = problem.inner.cells.to_vec();
        }
        let restitution = match model.open.is_empty() {
            true => model.constraints.iter().map(|c| c.restitution).collect(),
            false => problem.numbers_at(&start.parameters)[2].clone(),
        };
        if let Some((e, c)) = restitution.iter().zip(&model.constraints).find(|(e, _)| !(0.0..=1.0).contains(*e)) {
            return Err(SetupError::new(format!("the restitution {e} of `{}` is outside [0, 1]", c.name))
                .with_kind(Kind::OutOfRange { name: "restitution".into(), value: *e }));
        }
        let cells = Cells::new(start.parameters.iter().copied());
        Ok(Instance { problem: problem.clone(), start: Arc::new(start), restitution: restitution.into(), cells })
    }

    /// The problem.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.problem.inner.model
    }

    /// The start.
    pub fn start(&self) -> &Start {
        &self.start
    }

    /// The restitution of each constraint.
    pub fn restitution(&self) -> &[f64] {
        &self.restitution
    }

    /// Number of degrees of freedom.
    pub fn dimension(&self) -> usize {
        self.problem.dimension()
    }

    /// Number of constraints.
    pub fn constraints(&self) -> usize {
        self.problem.constraints()
    }

    pub(crate) fn cells(&self) -> &Cells {
        &self.cells
    }

    /// An evaluator of M, g and ∂g/∂v.
    pub fn dynamics(&self) -> Dynamics {
        Dynamics::new(&self.problem.inner.dynamics, &self.cells)
    }

    /// An evaluator of ∂g/∂q; None if g does not depend on q.
    pub fn stiffness(&self) -> Option<Stiffness> {
        self.problem.stiffness_with(&self.cells)
    }

    /// An evaluator of all gaps, in the order of the model.
    pub fn gaps(&self) -> Gaps {
        Gaps::new(&self.problem.inner.gaps, &self.cells)
    }

    /// An evaluator of the equations of all joints, with their gradients.
    pub fn joints(&self) -> Gaps {
        Gaps::new(&self.problem.inner.joints, &self.cells)
    }

    /// An evaluator of all frictions.
    pub fn frictions(&self) -> Frictions {
        Frictions::new(&self.problem.inner.frictions, &self.cells)
    }

    /// An evaluator of restitutions that depend on the approach speed; None where they are numbers.
    pub fn restitutions(&self) -> Option<Restitutions> {
        let code = self.problem.inner.restitution.as_ref()?;
        let place = self.problem.inner.inputs.approach();
        Some(Restitutions { evaluator: Evaluator::new(code, &self.cells), values: code.buffer(0), place })
    }

    /// Evaluators of the gaps, one for each value of e.
    pub fn gap_groups(&self) -> Vec<(f64, Gaps)> {
        let groups = self.problem.inner.groups.iter();
        groups.map(|g| (self.restitution[g.code.members[0]], Gaps::new(&g.code, &self.cells))).collect()
    }

    /// An evaluator of the rate at which the forces change the energy.
    pub fn power(&self) -> Power {
        Power::new(&self.problem.inner.power, &self.cells)
    }

    /// An evaluator of the energies.
    pub fn energy(&self) -> Energy {
        Energy::new(&self.problem.inner.energy, &self.cells)
    }

    /// An evaluator of the user's events; None if there are none.
    pub(crate) fn events(&self) -> Option<EventValues> {
        let inner = &self.problem.inner;
        let code = inner.events.get_or_init(|| {
            let nodes: Vec<NodeId> = inner.model.events.iter().map(|e| e.value).collect();
            if nodes.is_empty() { None } else { Blocks::compile(&inner.model.graph, &inner.inputs, &[&nodes]).ok() }
        });
        code.as_ref().map(|code| EventValues { evaluator: Evaluator::new(code, &self.cells), values: code.buffer(0) })
    }

    /// An evaluator of the user's quantities ([`Model::quantities`]); None if there are none.
    pub fn quantities(&self) -> Option<Quantities> {
        let inner = &self.problem.inner;
        let code = inner.quantities.get_or_init(|| {
            let nodes = &inner.model.quantities;
            if nodes.is_empty() { None } else { Blocks::compile(&inner.model.graph, &inner.inputs, &[nodes]).ok() }
        });
        code.as_ref().map(|code| Quantities { evaluator: Evaluator::new(code, &self.cells), values: code.buffer(0) })
    }
}

/// Evaluates the expressions of the user's events.
#[derive(Clone, Debug)]
pub(crate) struct EventValues {
    evaluator: Evaluator,
    /// Their values at the last point.
    pub values: Vec<f64>,
}

impl EventValues {
    pub fn evaluate(&mut self, t: f64, q: &[f64], v: &[f64]) {
        self.evaluator.run(t, &[q, v]);
        self.evaluator.write(0, &mut self.values);
    }
}

/// Evaluates the user's quantities.
#[derive(Clone, Debug)]
pub struct Quantities {
    evaluator: Evaluator,
    values: Vec<f64>,
}

impl Quantities {
    /// Their values at a time, a position and a velocity.
    pub fn at(&mut self, t: f64, q: &[f64], v: &[f64]) -> &[f64] {
        self.evaluator.run(t, &[q, v]);
        self.evaluator.write(0, &mut self.values);
        &self.values
    }
}

/// Evaluates restitutions that depend on the approach speed.
#[derive(Clone, Debug)]
pub struct Restitutions {
    evaluator: Evaluator,
    values: Vec<f64>,
    place: usize,
}

impl Restitutions {
    /// The restitution of constraint `a` at an approach speed, which is not negative. It may be outside [0, 1] or no number
    /// where the expression is.
    pub fn at(&mut self, a: usize, speed: f64) -> f64 {
        self.evaluator.run_with(self.place, speed);
        self.evaluator.write(0, &mut self.values);
        self.values[a]
    }
}
