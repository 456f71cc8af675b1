//! Writing a model from Rust, in the same language as a model file.

use super::Model;
use super::description::*;
use crate::SetupError;
use saltus_expr::Table;
use std::sync::Arc;

/// Collects the texts of a model.
///
/// ```
/// use saltus::model::Builder;
/// let ball = Builder::new("Ball dropped on a floor")
///     .parameter("g", "9.81")
///     .coordinate("y", "1", "0")
///     .kinetic("y'^2/2")
///     .potential("g*y")
///     .restitution("0.8")
///     .constraint("floor", "y")
///     .build()
///     .unwrap();
/// assert_eq!(ball.coordinates, ["y"]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Builder {
    source: String,
    description: Description,
}

impl Builder {
    /// An empty model with a title.
    pub fn new(title: &str) -> Self {
        let mut builder = Builder::default();
        builder.description.title = title.to_string();
        builder
    }

    /// All texts given so far, one a line: what the spans of a [`SetupError`] refer to.
    pub fn source(&self) -> &str {
        &self.source
    }

    fn text(&mut self, text: &str) -> Text {
        let start = self.source.len();
        self.source.push_str(text);
        self.source.push('\n');
        Text { text: text.to_string(), span: start..start + text.len() }
    }

    fn name(&mut self, name: &str) -> Name {
        let Text { text, span } = self.text(name);
        Name { text, span }
    }

    /// A parameter: a number or an expression of parameters.
    pub fn parameter(mut self, name: &str, value: &str) -> Self {
        let (name, value) = (self.name(name), Values::One(self.text(value)));
        self.description.parameters.push(ParameterText { name, value });
        self
    }

    /// A sampled function of time, used in expressions as `name(t)`.
    pub fn input(mut self, name: &str, table: Table) -> Self {
        let name = self.name(name);
        self.description.inputs.push((name, Arc::new(table)));
        self
    }

    /// A coordinate with its position and velocity at t = 0.
    pub fn coordinate(self, name: &str, position: &str, velocity: &str) -> Self {
        self.coordinates(name, None, position, velocity)
    }

    /// A family of coordinates over `range`, such as `i = 1..n`.
    pub fn coordinate_family(self, name: &str, range: &str, position: &str, velocity: &str) -> Self {
        self.coordinates(name, Some(range), position, velocity)
    }

    fn coordinates(mut self, name: &str, range: Option<&str>, position: &str, velocity: &str) -> Self {
        let coordinate = CoordinateText {
            name: self.name(name),
            range: range.map(|r| self.text(r)),
            position: Values::One(self.text(position)),
            velocity: Values::One(self.text(velocity)),
        };
        self.description.coordinates.push(coordinate);
        self
    }

    /// A named expression.
    pub fn definition(mut self, name: &str, value: &str) -> Self {
        let definition = DefinitionText { name: self.name(name), range: None, value: self.text(value) };
        self.description.definitions.push(definition);
        self
    }

    /// The kinetic energy.
    pub fn kinetic(mut self, energy: &str) -> Self {
        self.description.inertia = Some(Inertia::Kinetic(self.text(energy)));
        self
    }

    /// The mass matrix by rows; forces then contain all inertial terms.
    pub fn mass(mut self, rows: &[&[&str]]) -> Self {
        let start = self.source.len();
        let rows = rows.iter().map(|row| row.iter().map(|e| self.text(e)).collect()).collect();
        self.description.inertia = Some(Inertia::Mass(rows, start..self.source.len()));
        self
    }

    /// The potential energy.
    pub fn potential(mut self, energy: &str) -> Self {
        self.description.potential = Some(self.text(energy));
        self
    }

    /// A generalized force on a coordinate.
    pub fn force(mut self, coordinate: &str, value: &str) -> Self {
        let force = ForceText { target: self.text(coordinate), range: None, value: self.text(value) };
        self.description.forces.push(force);
        self
    }

    /// The restitution of constraints that have none of their own.
    pub fn restitution(mut self, e: &str) -> Self {
        self.description.restitution = Some(self.text(e));
        self
    }

    /// A constraint gap(t, q) ≥ 0.
    pub fn constraint(self, name: &str, gap: &str) -> Self {
        self.constraints(name, None, gap, None)
    }

    /// A constraint with its own restitution.
    pub fn constraint_with(self, name: &str, gap: &str, restitution: &str) -> Self {
        self.constraints(name, None, gap, Some(restitution))
    }

    /// A family of constraints over `range`.
    pub fn constraint_family(self, name: &str, range: &str, gap: &str) -> Self {
        self.constraints(name, Some(range), gap, None)
    }

    fn constraints(mut self, name: &str, range: Option<&str>, gap: &str, e: Option<&str>) -> Self {
        let constraint = ConstraintText {
            name: self.name(name),
            range: range.map(|r| self.text(r)),
            gap: self.text(gap),
            restitution: e.map(|e| self.text(e)),
        };
        self.description.constraints.push(constraint);
        self
    }

    /// Understands the texts.
    pub fn build(&self) -> Result<Model, SetupError> {
        self.description.build()
    }
}
