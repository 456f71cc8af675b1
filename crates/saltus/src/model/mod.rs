//! What the system is: immutable, with every quantity as a node of one expression graph.
//!
//! [`Description`] is what a person wrote, [`Model`] what it means, apart from where it starts. [`Builder`] writes a
//! description from Rust. Parameters are constants of the graph unless they are left open ([`Model::open`]): then they are
//! inputs of the compiled code, and one compiled problem serves a whole family of motions.

mod build;
mod builder;
mod description;
mod domain;
mod draw;
mod lagrange;
mod laws;
mod names;
mod units;

pub use builder::{Builder, Expression, Sketch};
pub use description::{
    ConstraintText, CoordinateText, DefinitionText, Description, EventText, ForceText, FrictionText, Inertia,
    JointText, Name, ParameterText, SliderText, StateText, Text, Unit, Values,
};
pub use domain::Domain;
pub use draw::{DrawText, Drawn, Look, ShapeKind};
pub use laws::{Constraint, Friction, Joint, Slip, State};
pub use units::Units;

use crate::motion::Crossing;
use crate::{Kind, SetupError};
use saltus_expr::{Demands, Graph, NodeId, Span, Table};
use std::sync::Arc;

/// An event of the user's own: a zero crossing of an expression.
#[derive(Clone, Debug)]
pub struct Event {
    /// Its name.
    pub name: String,
    /// The expression of t, q and q'.
    pub value: NodeId,
    /// In which direction it must cross zero.
    pub crossing: Crossing,
}

/// A number that is an input of the compiled code: an open parameter, or a port.
#[derive(Clone, Debug)]
pub struct Open {
    /// Its name.
    pub name: String,
    /// Its symbol.
    pub symbol: NodeId,
    /// Its present value.
    pub value: f64,
    /// Whether it is a port, which may change during a run.
    pub is_port: bool,
}

/// A further number made of parameters, such as a run's step or end.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The name under which it was given.
    pub name: String,
    /// Its value, with open parameters at their present values.
    pub value: f64,
    /// The same as an expression of open parameters.
    pub node: NodeId,
    /// Where it is written.
    pub span: Span,
}

/// A mechanical system with unilateral constraints: M(q) q'' = g(t, q, q') + Σ λ ∇f, f(t, q) ≥ 0.
///
/// Made by [`Builder::build`] or [`Description::build`], and shared by any number of problems and runs.
#[derive(Clone, Debug)]
pub struct Model {
    /// One line that says what it is.
    pub title: String,
    /// The parameters with their values, overrides applied, in the order of the text.
    pub parameters: Vec<(String, f64)>,
    /// Names of the coordinates in the order of q.
    pub coordinates: Vec<String>,
    /// First-order states. They are the last entries of v, behind the velocities of the coordinates.
    pub states: Vec<State>,
    /// The constraints in the order of the text, families expanded.
    pub constraints: Vec<Constraint>,
    /// Equations of joints.
    pub joints: Vec<Joint>,
    /// Friction: that of constraints in their order, then dry friction of known limit.
    pub frictions: Vec<Friction>,
    /// The symbol of the approach speed in restitutions that depend on it.
    pub speed: Option<NodeId>,
    /// The position at the start, with open parameters at their present values.
    pub q0: Vec<f64>,
    /// The velocity at the start.
    pub v0: Vec<f64>,
    /// Position and velocity at the start as expressions of open parameters.
    pub start_nodes: (Vec<NodeId>, Vec<NodeId>),
    /// Inputs of the compiled code besides t, q and v: open parameters, then ports.
    pub open: Vec<Open>,
    /// Events of the user's own.
    pub events: Vec<Event>,
    /// Further expressions of t, q and q': what a user wants to know of a motion.
    pub quantities: Vec<NodeId>,
    /// The graph in which all nodes below live.
    pub graph: Graph,
    /// The time symbol.
    pub t: NodeId,
    /// The coordinate symbols, and one for each state which nothing depends on.
    pub q: Vec<NodeId>,
    /// The velocity symbols, then those of the states.
    pub v: Vec<NodeId>,
    /// The mass matrix by rows; symmetric, with ones for the states.
    pub mass: Vec<NodeId>,
    /// The generalized force g: all forces, inertial ones included; then the rates of the states.
    pub force: Vec<NodeId>,
    /// The kinetic energy.
    pub kinetic: NodeId,
    /// The potential energy, if the text gives one.
    pub potential: Option<NodeId>,
    /// The exact position as a function of time, one node per coordinate, where the text gives it for all of them.
    pub exact: Option<Vec<NodeId>>,
    /// Sampled functions of time.
    pub inputs: Vec<Arc<Table>>,
    /// Further functions of time.
    pub signals: Vec<NodeId>,
    /// Further numbers made of parameters.
    pub settings: Vec<Setting>,
    /// How it looks: shapes in the order of the text, families expanded.
    pub draw: Vec<Drawn>,
    /// Units for axes and tables.
    pub units: Units,
    /// All forces come from the energies: without moving walls the energy cannot grow.
    pub conservative: bool,
    /// What a user should know about the model before any run.
    pub warnings: Vec<String>,
    pub(crate) places: Places,
    /// What its texts demand of open parameters.
    pub(crate) demands: Demands,
    pub(crate) description: Arc<Description>,
}

/// Where things were written, for errors found only when numbers are known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    pub inertia: Span,
    pub positions: Vec<Span>,
    pub velocities: Vec<Span>,
}

impl Model {
    /// Number of unknowns of the equations of motion: coordinates and states.
    pub fn dimension(&self) -> usize {
        self.q.len()
    }

    /// Number of coordinates d; states come behind them.
    pub fn degrees(&self) -> usize {
        self.coordinates.len()
    }

    /// The name of an unknown: a coordinate or a state.
    pub fn unknown(&self, i: usize) -> &str {
        match self.coordinates.get(i) {
            Some(name) => name,
            None => self.states.get(i - self.coordinates.len()).map_or("?", |state| &state.name),
        }
    }

    /// Whether anything holds or rubs that the projection on gaps alone does not know: joints or friction.
    pub fn has_joints_or_friction(&self) -> bool {
        !self.joints.is_empty() || !self.frictions.is_empty()
    }

    /// The names of the slips of all frictions, in order: those of the rows behind the joints.
    pub fn slip_names(&self) -> Vec<String> {
        self.frictions.iter().flat_map(Friction::slip_names).collect()
    }

    /// Number of rows besides the constraints: equations of joints, then slips.
    pub fn bonds(&self) -> usize {
        self.joints.len() + self.frictions.iter().map(|f| f.slips.len()).sum::<usize>()
    }

    /// The value of a parameter.
    pub fn parameter(&self, name: &str) -> Option<f64> {
        self.parameters.iter().find(|(n, _)| n == name).map(|(_, value)| *value)
    }

    /// The same model with other parameter values.
    ///
    /// ```
    /// use saltus::model::Builder;
    /// let ball = Builder::new("ball").parameter("e", 0.8).coordinate("y", 1.0, 0.0).kinetic("y'^2/2")
    ///     .restitution("e").constraint("floor", "y").build()?;
    /// assert_eq!(ball.with(&[("e", 0.5)])?.constraints[0].restitution, 0.5);
    /// assert!(ball.with(&[("e", 1.5)]).is_err());
    /// # Ok::<(), saltus::SetupError>(())
    /// ```
    pub fn with(&self, values: &[(&str, f64)]) -> Result<Arc<Model>, SetupError> {
        let mut description = self.description.as_ref().clone();
        for &(name, value) in values {
            if !value.is_finite() {
                return Err(SetupError::new(format!("the parameter `{name}` must be a finite number, not {value}"))
                    .with_kind(Kind::OutOfRange { name: name.to_string(), value }));
            }
            description.overrides.retain(|(n, _)| n != name);
            match description.open.iter_mut().find(|(n, _)| n == name) {
                Some((_, present)) => *present = value,
                None => description.overrides.push((name.to_string(), format!("{value:?}"))),
            }
        }
        description.build()
    }

    /// The same model with some parameters left open: they become inputs of the compiled code, so that one problem serves
    /// all their values.
    ///
    /// ```
    /// use saltus::{Options, model::Builder};
    /// let oscillator = Builder::new("oscillator").parameter("w", 2.0).coordinate("x", 1.0, 0.0)
    ///     .kinetic("x'^2/2").potential("w^2*x^2/2").build()?;
    /// let problem = oscillator.open(&["w"])?.problem()?;
    /// for w in [1.0, 3.0] {
    ///     let start = problem.start_with(&[("w", w)])?;
    ///     let run = problem.run_from(&start, &Options::events(1.0))?.ok()?;
    ///     assert!((run.last().q[0] - w.cos()).abs() < 1e-9);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open(&self, names: &[&str]) -> Result<Arc<Model>, SetupError> {
        let mut description = self.description.as_ref().clone();
        for &name in names {
            let Some(value) = self.parameter(name) else {
                let known = self.parameters.iter().map(|(n, _)| n.as_str());
                let message = format!("there is no parameter `{name}` to leave open");
                return Err(SetupError::unknown(message, name, known, "the parameters are"));
            };
            if !description.open.iter().any(|(n, _)| n == name) {
                description.open.push((name.to_string(), value));
            }
        }
        description.build()
    }

    /// Whether forces or gaps depend on time: rest is then never final.
    pub fn depends_on_time(&self) -> bool {
        let of_friction = |f: &Friction| {
            let slips = f.slips.iter().map(|slip| slip.value);
            slips.chain([f.kinetic, f.sticking]).any(|node| self.graph.depends_on(node, self.t))
        };
        self.force.iter().any(|&g| self.graph.depends_on(g, self.t))
            || self.constraints.iter().any(|c| self.graph.depends_on(c.gap, self.t))
            || self.has_moving_joints()
            || self.frictions.iter().any(of_friction)
    }

    /// Whether any gap depends on time or on first-order states.
    pub fn has_moving_constraints(&self) -> bool {
        (0..self.constraints.len()).any(|a| self.is_moving(a))
    }

    /// Whether any joint depends on time.
    pub fn has_moving_joints(&self) -> bool {
        self.joints.iter().any(|joint| self.graph.depends_on(joint.equation, self.t))
    }

    /// Whether the gap of constraint `a` depends on time or on first-order states.
    pub fn is_moving(&self, a: usize) -> bool {
        let gap = self.constraints[a].gap;
        self.graph.depends_on(gap, self.t) || self.uses_states(gap)
    }

    /// Whether an expression of the model uses first-order states.
    pub(crate) fn uses_states(&self, node: NodeId) -> bool {
        self.graph.depends_on_any(node, &self.v[self.degrees()..])
    }
}
