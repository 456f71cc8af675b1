//! A model made ready to run: compiled, immutable and shared by any number of runs.
//!
//! A [`Problem`] is what the equations are; an [`Instance`] is a problem at one [`Start`], with its values of open
//! parameters: what a scheme is made from.

mod assemble;
mod blocks;
mod bonds;
mod check;
mod drags;
mod drawing;
mod dynamics;
mod friction;
mod gap_states;
mod gaps;
mod inputs;
mod instance;
mod motion;
mod ports;
mod power;
mod slopes;
mod start;
mod starts;
mod translation;
mod variational;

pub(crate) use blocks::{Blocks, Evaluator};
pub use bonds::Bonds;
pub(crate) use drags::{Drags, driven};
pub use drawing::Drawing;
pub use dynamics::{Dynamics, Stiffness};
pub use friction::Frictions;
pub(crate) use gap_states::GapStates;
pub(crate) use gaps::GapCode;
pub use gaps::Gaps;
pub(crate) use inputs::{Cells, Inputs};
pub(crate) use instance::EventValues;
pub use instance::{Instance, Quantities, Restitutions};
pub(crate) use motion::{EventCode, Layout, MotionCode};
pub(crate) use ports::{PortChange, PortHistory};
pub use power::Power;
pub use start::{Memory, Reached, Start};
pub use starts::Starts;
pub(crate) use variational::{Part, VariationalCode};

use crate::{Model, SetupError};
use dynamics::DynamicsCode;
use friction::FrictionCode;
use saltus_expr::{MissingInput, NodeId};
use std::sync::{Arc, OnceLock};

/// Constraints of one restitution are evaluated together: the position-level scheme evaluates them at one point.
#[derive(Clone, Debug)]
struct GapGroup {
    code: Arc<GapCode>,
}

/// A compiled model. Cloning one is cheap: it shares its code.
///
/// ```
/// use saltus::model::Builder;
/// let problem = Builder::new("a bead on a wire").coordinate("x", 0.0, 1.0).kinetic("x'^2/2").build()?.problem()?;
/// assert_eq!(problem.energy().total(0.0, &[0.0], &[1.0]), 0.5);
/// # Ok::<(), saltus::SetupError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Problem {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    model: Arc<Model>,
    inputs: Inputs,
    cells: Cells,
    dynamics: Arc<DynamicsCode>,
    gaps: Arc<GapCode>,
    groups: Vec<GapGroup>,
    joints: Arc<GapCode>,
    frictions: Arc<FrictionCode>,
    /// Restitutions as functions of the approach speed; None where they are numbers.
    restitution: Option<Arc<Blocks>>,
    energy: Arc<Blocks>,
    power: Arc<Blocks>,
    /// Position, velocity and restitutions at the start as functions of open parameters.
    numbers: Arc<Blocks>,
    /// Compiled when first asked for.
    motion: OnceLock<MotionCode>,
    variational: OnceLock<VariationalCode>,
    stiffness: OnceLock<Option<Arc<Blocks>>>,
    events: OnceLock<Option<Arc<Blocks>>>,
    quantities: OnceLock<Option<Arc<Blocks>>>,
    translation: OnceLock<Option<Arc<Blocks>>>,
}

pub(crate) fn unbound(e: MissingInput) -> SetupError {
    SetupError::new(e.to_string())
}

impl Model {
    /// Compiles the model and checks its start.
    pub fn problem(self: &Arc<Self>) -> Result<Problem, SetupError> {
        Problem::new(self.clone())
    }
}

impl Problem {
    /// Compiles a model and checks its start.
    pub fn new(model: impl Into<Arc<Model>>) -> Result<Self, SetupError> {
        let problem = Problem::compile(model.into()).map_err(unbound)?;
        problem.instance(&problem.start())?;
        Ok(problem)
    }

    /// Compiles a model whose start at time `t` need not satisfy its joints; with the nearest start that does.
    ///
    /// ```
    /// use saltus::{Options, model::Builder, problem::Problem};
    /// let pendulum = Builder::new("pendulum").coordinate("x", 0.9, 0.0).coordinate("y", 0.0, 0.0)
    ///     .kinetic("(x'^2 + y'^2)/2").potential("9.81*y").joint("rod", &["x^2 + y^2 - 1"]).build()?;
    /// assert!(pendulum.problem().is_err());
    /// let (problem, start) = Problem::assemble(pendulum, 0.0)?;
    /// assert!((start.q[0] - 1.0).abs() < 1e-12);
    /// problem.run_from(&start, &Options::events(1.0))?.ok()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn assemble(model: impl Into<Arc<Model>>, t: f64) -> Result<(Self, Start), SetupError> {
        let problem = Problem::unchecked(model)?;
        let start = problem.assembled(&Start { t, ..problem.start() })?;
        problem.instance(&start)?;
        Ok((problem, start))
    }

    /// Compiles a model whose start is not checked: a family of motions brings its own, each of them checked.
    pub fn unchecked(model: impl Into<Arc<Model>>) -> Result<Self, SetupError> {
        Problem::compile(model.into()).map_err(unbound)
    }

    fn compile(model: Arc<Model>) -> Result<Self, MissingInput> {
        let mut work = model.as_ref().clone();
        let inputs = Inputs::new(&model);
        let dynamics = Arc::new(DynamicsCode::compile(&mut work, &inputs)?);
        let all: Vec<usize> = (0..model.constraints.len()).collect();
        let gaps = Arc::new(GapCode::compile(&mut work, &inputs, all)?);
        let restitution: Vec<NodeId> = model.constraints.iter().map(|c| c.restitution_node).collect();
        let mut groups: Vec<GapGroup> = Vec::new();
        let mut kinds: Vec<(NodeId, f64)> =
            model.constraints.iter().map(|c| (c.restitution_node, c.restitution)).collect();
        kinds.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        kinds.dedup_by_key(|kind| kind.0);
        for (node, _) in kinds {
            let members: Vec<usize> = (0..restitution.len()).filter(|&a| restitution[a] == node).collect();
            let code = match members.len() == restitution.len() {
                true => gaps.clone(),
                false => Arc::new(GapCode::compile(&mut work, &inputs, members)?),
            };
            groups.push(GapGroup { code });
        }
        let joints = Arc::new(GapCode::joints(&mut work, &inputs)?);
        let frictions = Arc::new(FrictionCode::compile(&mut work, &inputs)?);
        let varying = model.speed.map(|_| Blocks::compile(&work.graph, &inputs, &[&restitution])).transpose()?;
        let zero = work.graph.constant(0.0);
        // (At a speed of zero.)
        let restitution: Vec<NodeId> = match model.speed {
            Some(speed) => restitution.iter().map(|&e| work.graph.substitute(e, &[(speed, zero)])).collect(),
            None => restitution,
        };
        let energies = [energy_of_motion(&mut work), work.potential.unwrap_or(zero)];
        let energy = Blocks::compile(&work.graph, &inputs, &[&energies])?;
        let power = power::compile(&mut work, &inputs)?;
        let (q0, v0) = &model.start_nodes;
        let numbers = Blocks::compile(&work.graph, &inputs, &[q0, v0, &restitution])?;
        let inner = Inner {
            cells: Cells::new(model.open.iter().map(|p| p.value)),
            model,
            inputs,
            dynamics,
            gaps,
            groups,
            joints,
            frictions,
            restitution: varying,
            energy,
            power,
            numbers,
            motion: OnceLock::new(),
            variational: OnceLock::new(),
            stiffness: OnceLock::new(),
            events: OnceLock::new(),
            quantities: OnceLock::new(),
            translation: OnceLock::new(),
        };
        Ok(Problem { inner: Arc::new(inner) })
    }

    /// The start that the model gives.
    pub fn start(&self) -> Start {
        let model = self.model();
        let parameters = self.inner.cells.to_vec();
        Start { parameters, ..Start::new(0.0, model.q0.clone(), model.v0.clone()) }
    }

    /// The start that the model gives for other values of open parameters.
    pub fn start_with(&self, values: &[(&str, f64)]) -> Result<Start, SetupError> {
        let mut parameters = self.inner.cells.to_vec();
        for &(name, value) in values {
            parameters[self.open_index(name)?] = value;
        }
        let [q, v, _] = self.numbers_at(&parameters);
        Ok(Start { parameters, ..Start::new(0.0, q, v) })
    }

    /// The starts that the model gives for many values of open parameters.
    pub fn starts(&self) -> Starts {
        Starts::new(&self.inner.numbers, self.inner.cells.to_vec())
    }

    /// The place of an open parameter or port.
    pub(crate) fn open_index(&self, name: &str) -> Result<usize, SetupError> {
        let open = &self.model().open;
        open.iter().position(|p| p.name == name).ok_or_else(|| {
            let message = format!("`{name}` is neither an open parameter nor a port");
            let known = open.iter().map(|p| p.name.as_str());
            SetupError::unknown(message, name, known, "open are (see Model::open, Builder::port)")
        })
    }

    /// Position, velocity and restitutions at the start for some values of open parameters.
    fn numbers_at(&self, parameters: &[f64]) -> [Vec<f64>; 3] {
        let code = &self.inner.numbers;
        let mut evaluator = Evaluator::new(code, &Cells::new(parameters.iter().copied()));
        evaluator.run(0.0, &[]);
        [0, 1, 2].map(|k| {
            let mut block = code.buffer(k);
            evaluator.write(k, &mut block);
            block
        })
    }

    /// The problem at a start, which is checked: what a scheme is made from.
    pub fn instance(&self, start: &Start) -> Result<Instance, SetupError> {
        Instance::new(self, start)
    }

    /// The same at a start that need not be admissible.
    pub(crate) fn instance_anywhere(&self, start: &Start) -> Result<Instance, SetupError> {
        Instance::unchecked(self, start)
    }

    /// The same problem with one constraint that never acts: its gap is a positive number.
    pub(crate) fn without(&self, constraint: usize) -> Result<Problem, SetupError> {
        let mut model = self.model().as_ref().clone();
        model.constraints[constraint].gap = model.graph.constant(1.0);
        Problem::unchecked(model)
    }

    /// The start nearest to a given one, in the kinetic metric, that satisfies the joints: positions and velocities.
    pub fn assembled(&self, start: &Start) -> Result<Start, SetupError> {
        let at = Instance::unchecked(self, start)?;
        let start = at.start().clone();
        assemble::assemble(&at, &start)
    }

    /// The model it was made from.
    pub fn model(&self) -> &Arc<Model> {
        &self.inner.model
    }

    /// Number of degrees of freedom.
    pub fn dimension(&self) -> usize {
        self.inner.model.dimension()
    }

    /// Number of constraints.
    pub fn constraints(&self) -> usize {
        self.inner.model.constraints.len()
    }

    /// An evaluator of M, g and ∂g/∂v.
    pub fn dynamics(&self) -> Dynamics {
        Dynamics::new(&self.inner.dynamics, &self.inner.cells)
    }

    /// The series of the motion.
    pub(crate) fn motion(&self) -> Result<&MotionCode, SetupError> {
        let inner = &self.inner;
        if inner.motion.get().is_none() {
            let code = MotionCode::compile(&inner.model, &inner.inputs, inner.dynamics.diagonal).map_err(unbound)?;
            let _ = inner.motion.set(code);
        }
        inner.motion.get().ok_or_else(|| SetupError::new("the series of the motion were not compiled"))
    }

    /// Where the approach speed of restitutions is among the inputs.
    pub(crate) fn approach(&self) -> usize {
        self.inner.inputs.approach()
    }

    /// The derivatives of the equations of motion.
    pub(crate) fn variational(&self) -> Result<&VariationalCode, SetupError> {
        let inner = &self.inner;
        if inner.variational.get().is_none() {
            let _ = inner.variational.set(VariationalCode::compile(&inner.model, &inner.inputs).map_err(unbound)?);
        }
        inner.variational.get().ok_or_else(|| SetupError::new("the derivatives of the motion were not compiled"))
    }

    /// An evaluator of ∂g/∂q; None if g does not depend on q.
    pub fn stiffness(&self) -> Option<Stiffness> {
        self.stiffness_with(&self.inner.cells)
    }

    fn stiffness_with(&self, cells: &Cells) -> Option<Stiffness> {
        let inner = &self.inner;
        let code = inner.stiffness.get_or_init(|| Stiffness::compile(&inner.model, &inner.inputs));
        code.as_ref().map(|code| Stiffness::new(code, cells))
    }

    /// An evaluator of all gaps, in the order of the model.
    pub fn gaps(&self) -> Gaps {
        Gaps::new(&self.inner.gaps, &self.inner.cells)
    }

    /// The same for the values of open parameters that a start has, which need not be admissible.
    pub fn gaps_at(&self, start: &Start) -> Gaps {
        match start.parameters.is_empty() {
            true => self.gaps(),
            false => Gaps::at(&self.inner.gaps, &start.parameters),
        }
    }

    /// An evaluator of the equations of all joints, with their gradients.
    pub fn joints(&self) -> Gaps {
        Gaps::new(&self.inner.joints, &self.inner.cells)
    }

    /// An evaluator of all frictions.
    pub fn frictions(&self) -> Frictions {
        Frictions::new(&self.inner.frictions, &self.inner.cells)
    }

    /// An evaluator of the exact motion, where the model gives one.
    pub fn exact(&self) -> Option<Exact> {
        let nodes = self.model().exact.as_ref()?;
        let code = Blocks::compile(&self.model().graph, &self.inner.inputs, &[nodes]).ok()?;
        Some(Exact { evaluator: Evaluator::new(&code, &self.inner.cells), position: code.buffer(0) })
    }

    /// An evaluator of the rate at which the forces change the energy.
    pub fn power(&self) -> Power {
        Power::new(&self.inner.power, &self.inner.cells)
    }

    /// An evaluator of the energies.
    pub fn energy(&self) -> Energy {
        Energy::new(&self.inner.energy, &self.inner.cells)
    }
}

/// v·∂T/∂v − T: the kinetic energy itself where T is quadratic in v; with terms of other degree (moving frames,
/// gyroscopic ones) the part that Lagrange's equations conserve.
fn energy_of_motion(model: &mut Model) -> NodeId {
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
    fn new(code: &Arc<Blocks>, cells: &Cells) -> Self {
        Energy { evaluator: Evaluator::new(code, cells), buffer: code.buffer(0) }
    }

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
