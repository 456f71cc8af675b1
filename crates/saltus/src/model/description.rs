//! What a person wrote: texts with their places, names not yet resolved.

use super::Model;
use super::draw::DrawText;
use crate::SetupError;
use crate::motion::Crossing;
use saltus_expr::{Span, Table};
use std::sync::Arc;

/// A text as written, such as an expression, and where it stands in the source.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Text {
    /// The text.
    pub text: String,
    /// Its byte range in the source.
    pub span: Span,
}

/// A name as written, and where it stands in the source.
pub type Name = Text;

/// One expression, or one per member of a family.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// One expression; in a family it may use the index.
    One(Text),
    /// A list, one entry per member; the span is that of the whole list.
    Each(Vec<Text>, Span),
}

/// `m = 1.0`, or a list `m = [1.0, 2.0]` used as `m[i]`.
#[derive(Clone, Debug)]
pub struct ParameterText {
    /// Its name.
    pub name: Name,
    /// Its value or values: expressions of parameters.
    pub value: Values,
}

/// A coordinate, or a family of them when `range` is given.
#[derive(Clone, Debug)]
pub struct CoordinateText {
    /// Its name.
    pub name: Name,
    /// The family's index and bounds, `i = 1..n`.
    pub range: Option<Text>,
    /// The position at the start.
    pub position: Values,
    /// The velocity at the start.
    pub velocity: Values,
}

/// A named expression, or a family of them.
#[derive(Clone, Debug)]
pub struct DefinitionText {
    /// Its name.
    pub name: Name,
    /// The family's index and bounds.
    pub range: Option<Text>,
    /// The expression.
    pub value: Text,
}

/// A generalized force on one coordinate or on the members of a family.
#[derive(Clone, Debug)]
pub struct ForceText {
    /// The coordinate: `y`, `x[n]`, or the name of a family when `range` is given.
    pub target: Text,
    /// Over which members.
    pub range: Option<Text>,
    /// The force.
    pub value: Text,
}

/// A first-order state or a family of them: z' = rate.
#[derive(Clone, Debug)]
pub struct StateText {
    /// Its name.
    pub name: Name,
    /// The family's index and bounds.
    pub range: Option<Text>,
    /// Its value at the start.
    pub start: Values,
    /// Its rate: an expression of everything.
    pub rate: Text,
}

/// A joint or a family of them: equations f(t, q) = 0.
#[derive(Clone, Debug)]
pub struct JointText {
    /// Its name.
    pub name: Name,
    /// The family's index and bounds.
    pub range: Option<Text>,
    /// The left-hand sides of its equations f(t, q) = 0.
    pub equations: Vec<Text>,
}

/// Coulomb friction at a constraint.
#[derive(Clone, Debug)]
pub struct FrictionText {
    /// The coefficient μ: an expression of everything and of the sliding `speed`.
    pub coefficient: Text,
    /// The coefficient while sticking, if it is another one.
    pub static_coefficient: Option<Text>,
    /// The slip velocity: one expression in the plane, two in space, affine in the velocities.
    pub slips: Vec<Text>,
    /// The tangential restitution; zero if it is not given.
    pub tangential: Option<Text>,
}

/// Dry friction of known limit, or a family of it: a slider, a bearing, a belt.
#[derive(Clone, Debug)]
pub struct SliderText {
    /// Its name.
    pub name: Name,
    /// The family's index and bounds.
    pub range: Option<Text>,
    /// The slip velocity, affine in the velocities.
    pub slip: Text,
    /// The force while sliding: an expression of everything and of the sliding `speed`.
    pub limit: Text,
    /// The largest force while sticking, if it is another one.
    pub static_limit: Option<Text>,
}

/// A unilateral constraint or a family of them.
#[derive(Clone, Debug)]
pub struct ConstraintText {
    /// Its name.
    pub name: Name,
    /// The family's index and bounds.
    pub range: Option<Text>,
    /// The gap f(t, q) ≥ 0.
    pub gap: Text,
    /// Its own restitution, if it has one.
    pub restitution: Option<Text>,
    /// Its friction, if it has any.
    pub friction: Option<FrictionText>,
}

/// An event: a zero crossing of an expression.
#[derive(Clone, Debug)]
pub struct EventText {
    /// Its name.
    pub name: Name,
    /// The expression of t, q and q'.
    pub value: Text,
    /// In which direction it must cross zero.
    pub crossing: Crossing,
}

/// The unit of something that has a name.
#[derive(Clone, Debug)]
pub struct Unit {
    /// A coordinate, a parameter, or `time`, `length`, `force`, `impulse`, `energy`.
    pub name: Name,
    /// The unit.
    pub unit: String,
}

/// How the inertia is given.
#[derive(Clone, Debug)]
pub enum Inertia {
    /// The kinetic energy; M and the inertial forces are derived from it.
    Kinetic(Text),
    /// The mass matrix by rows; the span is that of the whole matrix.
    Mass(Vec<Vec<Text>>, Span),
}

/// A model as written. All spans refer to one source text.
#[derive(Clone, Debug, Default)]
pub struct Description {
    /// One line that says what it is.
    pub title: String,
    /// The parameters.
    pub parameters: Vec<ParameterText>,
    /// Values that replace parameters' own, as (name, expression).
    pub overrides: Vec<(String, String)>,
    /// Values that replace initial ones, as (`x` or `x'`, expression of parameters).
    pub starts: Vec<(String, String)>,
    /// Parameters that stay open, with their present values: inputs of the compiled code instead of constants.
    pub open: Vec<(String, f64)>,
    /// Numbers set from outside during a run.
    pub ports: Vec<Name>,
    /// Sampled functions of time.
    pub inputs: Vec<(Name, Arc<Table>)>,
    /// The coordinates; their order is the order of q.
    pub coordinates: Vec<CoordinateText>,
    /// First-order states; they follow the coordinates.
    pub states: Vec<StateText>,
    /// Named expressions.
    pub definitions: Vec<DefinitionText>,
    /// Kinetic energy or mass matrix.
    pub inertia: Option<Inertia>,
    /// Potential energy.
    pub potential: Option<Text>,
    /// Generalized forces besides the energies.
    pub forces: Vec<ForceText>,
    /// The constraints.
    pub constraints: Vec<ConstraintText>,
    /// Joints.
    pub joints: Vec<JointText>,
    /// Dry friction of known limit.
    pub sliders: Vec<SliderText>,
    /// The restitution of the constraints that have none of their own.
    pub restitution: Option<Text>,
    /// Events of the user's own.
    pub events: Vec<EventText>,
    /// Further expressions of t, q and q', which [`Model::quantities`] gives in this order: what a user wants to know of a motion.
    pub quantities: Vec<Text>,
    /// The exact motion, where it is known: positions as functions of time.
    pub exact: Vec<ForceText>,
    /// Further functions of time, which [`Model::signals`] gives in this order: the loads of a structure.
    pub signals: Vec<Text>,
    /// Further numbers made of parameters, with the names under which [`Model::settings`] gives them, such as a run's step
    /// and end.
    pub settings: Vec<(String, Text)>,
    /// How it looks.
    pub draw: Vec<DrawText>,
    /// Units.
    pub units: Vec<Unit>,
}

impl Description {
    /// Resolves names, expands families, derives M and g, and checks the numbers.
    pub fn build(&self) -> Result<Arc<Model>, SetupError> {
        super::build::build(self).map(Arc::new)
    }
}
