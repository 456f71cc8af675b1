//! What the system is: an immutable description, checked, with every quantity as a node of one expression graph.
//!
//! [`Description`] is what a person wrote, [`Model`] what it means. [`Builder`] writes a description from Rust.

mod build;
mod builder;
mod description;
mod draw;
mod lagrange;
mod names;
mod units;

pub use builder::Builder;
pub use description::{
    ConstraintText, CoordinateText, DefinitionText, Description, ForceText, Inertia, Name, ParameterText, Text, Values,
};
pub use draw::{DrawText, Drawing, Drawn, Look, ShapeKind};
pub use units::Units;

use saltus_expr::{Graph, NodeId, Span, Table};

/// A unilateral constraint f(t, q) ≥ 0.
#[derive(Clone, Debug)]
pub struct Constraint {
    /// Its name, with the index where it belongs to a family: `floor`, `pair[3]`.
    pub name: String,
    /// The gap f.
    pub gap: NodeId,
    /// The coefficient of restitution e ∈ [0, 1].
    pub restitution: f64,
    /// Where the gap is written.
    pub span: Span,
}

/// A mechanical system with unilateral constraints: M(q) q'' = g(t, q, q') + Σ λ ∇f, f(t, q) ≥ 0.
///
/// Made by [`Builder::build`] or [`Description::build`]; parameters are numbers by now.
#[derive(Clone, Debug)]
pub struct Model {
    /// One line that says what it is.
    pub title: String,
    /// The parameters with their values, overrides applied, in the order of the text.
    pub parameters: Vec<(String, f64)>,
    /// Names of the coordinates in the order of q.
    pub coordinates: Vec<String>,
    /// The constraints in the order of the text, families spread out.
    pub constraints: Vec<Constraint>,
    /// The position at t = 0.
    pub q0: Vec<f64>,
    /// The velocity at t = 0.
    pub v0: Vec<f64>,
    /// The graph in which all nodes below live.
    pub graph: Graph,
    /// The time symbol.
    pub t: NodeId,
    /// The coordinate symbols.
    pub q: Vec<NodeId>,
    /// The velocity symbols.
    pub v: Vec<NodeId>,
    /// The mass matrix by rows; symmetric.
    pub mass: Vec<NodeId>,
    /// The generalized force g: all forces, inertial ones included.
    pub force: Vec<NodeId>,
    /// The kinetic energy.
    pub kinetic: NodeId,
    /// The potential energy, if the text gives one.
    pub potential: Option<NodeId>,
    /// The exact position as a function of time, one node a coordinate, where the text gives it for all of them.
    pub exact: Option<Vec<NodeId>>,
    /// Sampled functions of time.
    pub inputs: Vec<std::sync::Arc<Table>>,
    /// Further functions of time.
    pub signals: Vec<NodeId>,
    /// Further numbers made of parameters, and where they are written.
    pub settings: Vec<(String, f64, Span)>,
    /// How it looks: shapes in the order of the text, families spread out.
    pub draw: Vec<Drawn>,
    /// Units for axes and tables.
    pub units: Units,
    /// All forces come from the energies: without moving walls the energy cannot grow.
    pub conservative: bool,
    /// What the person should know about the model before any run.
    pub warnings: Vec<String>,
    pub(crate) places: Places,
}

/// Where things were written, for errors found only when numbers are known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    pub inertia: Span,
    pub positions: Vec<Span>,
    pub velocities: Vec<Span>,
}

impl Model {
    /// Number of degrees of freedom d.
    pub fn dimension(&self) -> usize {
        self.q.len()
    }
}
