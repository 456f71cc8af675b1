//! A model made ready to run: compiled, its initial data checked, immutable and shared by any number of runs.

mod blocks;
mod check;
mod dynamics;
mod gaps;
mod motion;
mod power;

pub use dynamics::{Dynamics, Stiffness};
pub use gaps::Gaps;
pub(crate) use motion::Layout;
pub use power::Power;

use crate::{Model, SetupError};
pub(crate) use blocks::{Blocks, Evaluator};
use dynamics::DynamicsCode;
use gaps::GapCode;
use motion::MotionCode;
use std::sync::{Arc, OnceLock};

/// Constraints of one restitution are evaluated together: the position-level scheme looks at them at one point.
#[derive(Clone, Debug)]
pub struct GapGroup {
    /// Their restitution e.
    pub restitution: f64,
    code: Arc<GapCode>,
}

/// A compiled, checked model.
///
/// ```
/// use saltus::{Problem, model::Builder};
/// let model = Builder::new("a bead on a wire").coordinate("x", "0", "1").kinetic("x'^2/2").build().unwrap();
/// let problem = Problem::new(model).unwrap();
/// assert_eq!(problem.energy().total(0.0, &[0.0], &[1.0]), 0.5);
/// ```
#[derive(Clone, Debug)]
pub struct Problem {
    model: Arc<Model>,
    dynamics: Arc<DynamicsCode>,
    gaps: Arc<GapCode>,
    groups: Vec<GapGroup>,
    energy: Arc<Blocks>,
    origin: f64,
    /// Compiled when first asked for: only runs by events need it.
    motion: Arc<OnceLock<MotionCode>>,
    power: Arc<Blocks>,
}

impl Problem {
    /// Compiles a model and checks its initial data.
    pub fn new(mut model: Model) -> Result<Self, SetupError> {
        let unbound = |e: saltus_expr::MissingInput| SetupError::new(e.to_string());
        let dynamics = Arc::new(DynamicsCode::compile(&mut model).map_err(unbound)?);
        let all: Vec<usize> = (0..model.constraints.len()).collect();
        let gaps = Arc::new(GapCode::compile(&mut model, all).map_err(unbound)?);
        let mut groups: Vec<GapGroup> = Vec::new();
        let mut restitutions: Vec<f64> = model.constraints.iter().map(|c| c.restitution).collect();
        restitutions.sort_by(f64::total_cmp);
        restitutions.dedup();
        for restitution in restitutions {
            let members: Vec<usize> =
                (0..model.constraints.len()).filter(|&a| model.constraints[a].restitution == restitution).collect();
            let code = match members.len() == model.constraints.len() {
                true => gaps.clone(),
                false => Arc::new(GapCode::compile(&mut model, members).map_err(unbound)?),
            };
            groups.push(GapGroup { restitution, code });
        }
        let zero = model.graph.constant(0.0);
        let energies = [energy_of_motion(&mut model), model.potential.unwrap_or(zero)];
        let inputs: Vec<_> = [model.t].iter().chain(&model.q).chain(&model.v).copied().collect();
        let energy = Arc::new(Blocks::compile(&model.graph, &inputs, &[&energies]).map_err(unbound)?);
        let power = power::compile(&mut model).map_err(unbound)?;
        let problem = Problem {
            model: Arc::new(model),
            dynamics,
            gaps,
            groups,
            energy,
            power,
            origin: 0.0,
            motion: Arc::default(),
        };
        check::initial_data(&problem)?;
        Ok(problem)
    }

    /// The same problem with another start, which is checked like the model's own.
    pub fn started(&self, q: &[f64], v: &[f64]) -> Result<Problem, SetupError> {
        let problem = self.resumed(0.0, q, v);
        check::initial_data(&problem)?;
        Ok(problem)
    }

    /// The same problem taken up at another state and time, which becomes its time zero. Nothing is checked: this is for
    /// states that a run has reached.
    pub(crate) fn resumed(&self, t: f64, q: &[f64], v: &[f64]) -> Problem {
        let model = Model { q0: q.to_vec(), v0: v.to_vec(), ..self.model.as_ref().clone() };
        let groups = self.groups.iter().map(|g| GapGroup { restitution: g.restitution, code: g.code.later(t) });
        Problem {
            model: Arc::new(model),
            dynamics: Arc::new(self.dynamics.later(t)),
            gaps: self.gaps.later(t),
            groups: groups.collect(),
            energy: self.energy.later(t),
            origin: self.origin + t,
            motion: self.motion.clone(),
            power: self.power.later(t),
        }
    }

    /// The model it was made from.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Number of degrees of freedom.
    pub fn dimension(&self) -> usize {
        self.model.dimension()
    }

    /// Number of constraints.
    pub fn constraints(&self) -> usize {
        self.model.constraints.len()
    }

    /// An evaluator of M, g and ∂g/∂v.
    pub fn dynamics(&self) -> Dynamics {
        Dynamics::new(&self.dynamics)
    }

    /// The series of the motion.
    pub(crate) fn motion(&self) -> Result<&MotionCode, SetupError> {
        if self.motion.get().is_none() {
            let code = MotionCode::compile(&self.model, self.dynamics.diagonal);
            let _ = self.motion.set(code.map_err(|e| SetupError::new(e.to_string()))?);
        }
        self.motion.get().ok_or_else(|| SetupError::new("the series of the motion were not compiled"))
    }

    /// An evaluator of ∂g/∂q; None if g does not depend on q.
    pub fn stiffness(&self) -> Option<Stiffness> {
        Stiffness::compile(&mut self.model.as_ref().clone(), self.origin)
    }

    /// An evaluator of all gaps, in the order of the model.
    pub fn gaps(&self) -> Gaps {
        Gaps::new(&self.gaps)
    }

    /// Evaluators of the gaps, one for each value of e.
    pub fn gap_groups(&self) -> Vec<(f64, Gaps)> {
        self.groups.iter().map(|g| (g.restitution, Gaps::new(&g.code))).collect()
    }

    /// An evaluator of the exact motion, where the model gives one.
    pub fn exact(&self) -> Option<Exact> {
        let nodes = self.model.exact.as_ref()?;
        let code = Blocks::compile(&self.model.graph, &[self.model.t], &[nodes]).ok()?.later(self.origin);
        Some(Exact { evaluator: Evaluator::new(&code), position: code.buffer(0) })
    }

    /// An evaluator of the rate at which the forces change the energy.
    pub fn power(&self) -> Power {
        Power::new(&self.power)
    }

    /// An evaluator of the energies.
    pub fn energy(&self) -> Energy {
        Energy { evaluator: Evaluator::new(&self.energy), buffer: self.energy.buffer(0) }
    }
}

/// v·∂T/∂v − T: the kinetic energy itself where T is quadratic in v; with terms of other degree (moving frames,
/// gyroscopic ones) the part that Lagrange's equations conserve.
fn energy_of_motion(model: &mut Model) -> saltus_expr::NodeId {
    let mut energy = model.graph.neg(model.kinetic);
    for v in model.v.clone() {
        let momentum = model.graph.derivative(model.kinetic, v);
        let term = model.graph.mul(momentum, v);
        energy = model.graph.add(energy, term);
    }
    energy
}

/// Evaluates the exact motion of a model that has one.
#[derive(Clone, Debug)]
pub struct Exact {
    evaluator: Evaluator,
    position: Vec<f64>,
}

impl Exact {
    /// The exact position at a time.
    pub fn at(&mut self, t: f64) -> &[f64] {
        self.evaluator.run(t, &[]);
        self.evaluator.write(0, &mut self.position);
        &self.position
    }
}

/// Evaluates kinetic and potential energy.
#[derive(Clone, Debug)]
pub struct Energy {
    evaluator: Evaluator,
    buffer: Vec<f64>,
}

impl Energy {
    /// Kinetic and potential energy; the latter is zero if the model has none.
    pub fn both(&mut self, t: f64, q: &[f64], v: &[f64]) -> (f64, f64) {
        self.evaluator.run(t, &[q, v]);
        self.evaluator.write(0, &mut self.buffer);
        (self.buffer[0], self.buffer[1])
    }

    /// Their sum.
    pub fn total(mut self, t: f64, q: &[f64], v: &[f64]) -> f64 {
        let (kinetic, potential) = self.both(t, q, v);
        kinetic + potential
    }
}
