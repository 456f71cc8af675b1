//! Writing a model from Rust, in the same language as a model file.

use super::description::*;
use super::draw::DrawText;
use super::{Model, Unit};
use crate::SetupError;
use crate::motion::Crossing;
use saltus_expr::Table;
use std::sync::Arc;

/// A number, or an expression as text: what most methods of [`Builder`] take.
#[derive(Clone, Debug)]
pub struct Expression(String);

impl From<&str> for Expression {
    fn from(text: &str) -> Self {
        Expression(text.to_string())
    }
}

impl From<String> for Expression {
    fn from(text: String) -> Self {
        Expression(text)
    }
}

impl From<&String> for Expression {
    fn from(text: &String) -> Self {
        Expression(text.clone())
    }
}

impl From<f64> for Expression {
    fn from(number: f64) -> Self {
        Expression(format!("{number:?}"))
    }
}

impl From<i32> for Expression {
    fn from(number: i32) -> Self {
        Expression(number.to_string())
    }
}

/// Collects the texts of a model.
///
/// ```
/// use saltus::model::Builder;
/// let ball = Builder::new("Ball dropped on a floor")
///     .parameter("g", 9.81)
///     .coordinate("y", 1.0, 0.0)
///     .kinetic("y'^2/2")
///     .potential("g*y")
///     .restitution(0.8)
///     .constraint("floor", "y")
///     .build()?;
/// assert_eq!(ball.coordinates, ["y"]);
/// # Ok::<(), saltus::SetupError>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
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

    /// All texts given so far, one per line: what the spans of a [`SetupError`] refer to.
    pub fn source(&self) -> &str {
        &self.source
    }

    pub(crate) fn text(&mut self, text: impl Into<Expression>) -> Text {
        let Expression(text) = text.into();
        let start = self.source.len();
        self.source.push_str(&text);
        self.source.push('\n');
        Text { span: start..start + text.len(), text }
    }

    pub(crate) fn name(&mut self, name: &str) -> Name {
        self.text(name)
    }

    fn values(&mut self, values: Vec<Expression>) -> Values {
        let start = self.source.len();
        let texts = values.into_iter().map(|value| self.text(value)).collect();
        Values::Each(texts, start..self.source.len())
    }

    /// A parameter: a number or an expression of parameters.
    pub fn parameter(mut self, name: &str, value: impl Into<Expression>) -> Self {
        let (name, value) = (self.name(name), Values::One(self.text(value)));
        self.description.parameters.push(ParameterText { name, value });
        self
    }

    /// A list of parameters, used as `name[1]`, `name[2]`, …
    pub fn parameter_list(mut self, name: &str, values: &[f64]) -> Self {
        let name = self.name(name);
        let value = self.values(values.iter().map(|&x| x.into()).collect());
        self.description.parameters.push(ParameterText { name, value });
        self
    }

    /// A number that may be set from outside between steps ([`crate::Simulation::set`]); zero until then.
    pub fn port(mut self, name: &str) -> Self {
        let name = self.name(name);
        self.description.ports.push(name);
        self
    }

    /// A sampled function of time, used in expressions as `name(t)`.
    pub fn input(mut self, name: &str, table: Table) -> Self {
        let name = self.name(name);
        self.description.inputs.push((name, Arc::new(table)));
        self
    }

    /// A coordinate with its position and velocity at the start.
    pub fn coordinate(self, name: &str, position: impl Into<Expression>, velocity: impl Into<Expression>) -> Self {
        self.coordinates(name, None, position, velocity)
    }

    /// A family of coordinates over `range`, such as `i = 1..n`.
    pub fn coordinate_family(
        self,
        name: &str,
        range: &str,
        position: impl Into<Expression>,
        velocity: impl Into<Expression>,
    ) -> Self {
        self.coordinates(name, Some(range), position, velocity)
    }

    fn coordinates(
        mut self,
        name: &str,
        range: Option<&str>,
        position: impl Into<Expression>,
        velocity: impl Into<Expression>,
    ) -> Self {
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
    pub fn definition(self, name: &str, value: impl Into<Expression>) -> Self {
        self.definitions(name, None, value)
    }

    /// A family of named expressions over `range`.
    pub fn definition_family(self, name: &str, range: &str, value: impl Into<Expression>) -> Self {
        self.definitions(name, Some(range), value)
    }

    fn definitions(mut self, name: &str, range: Option<&str>, value: impl Into<Expression>) -> Self {
        let name = self.name(name);
        let (range, value) = (range.map(|r| self.text(r)), self.text(value));
        self.description.definitions.push(DefinitionText { name, range, value });
        self
    }

    /// The kinetic energy.
    pub fn kinetic(mut self, energy: impl Into<Expression>) -> Self {
        self.description.inertia = Some(Inertia::Kinetic(self.text(energy)));
        self
    }

    /// The mass matrix by rows; forces then contain all inertial terms.
    pub fn mass(mut self, rows: &[&[&str]]) -> Self {
        let start = self.source.len();
        let rows = rows.iter().map(|row| row.iter().map(|e| self.text(*e)).collect()).collect();
        self.description.inertia = Some(Inertia::Mass(rows, start..self.source.len()));
        self
    }

    /// The potential energy.
    pub fn potential(mut self, energy: impl Into<Expression>) -> Self {
        self.description.potential = Some(self.text(energy));
        self
    }

    /// A generalized force on a coordinate.
    pub fn force(self, coordinate: &str, value: impl Into<Expression>) -> Self {
        self.forces(coordinate, None, value)
    }

    /// Generalized forces on the members of a family over `range`.
    pub fn force_family(self, coordinate: &str, range: &str, value: impl Into<Expression>) -> Self {
        self.forces(coordinate, Some(range), value)
    }

    fn forces(mut self, coordinate: &str, range: Option<&str>, value: impl Into<Expression>) -> Self {
        let target = self.text(coordinate);
        let (range, value) = (range.map(|r| self.text(r)), self.text(value));
        self.description.forces.push(ForceText { target, range, value });
        self
    }

    /// The restitution of constraints that have none of their own.
    pub fn restitution(mut self, e: impl Into<Expression>) -> Self {
        self.description.restitution = Some(self.text(e));
        self
    }

    /// A constraint gap(t, q) ≥ 0.
    pub fn constraint(self, name: &str, gap: impl Into<Expression>) -> Self {
        self.constraints(name, None, gap, None)
    }

    /// A constraint with its own restitution.
    pub fn constraint_with(self, name: &str, gap: impl Into<Expression>, restitution: impl Into<Expression>) -> Self {
        self.constraints(name, None, gap, Some(restitution.into()))
    }

    /// A family of constraints over `range`.
    pub fn constraint_family(self, name: &str, range: &str, gap: impl Into<Expression>) -> Self {
        self.constraints(name, Some(range), gap, None)
    }

    fn constraints(
        mut self,
        name: &str,
        range: Option<&str>,
        gap: impl Into<Expression>,
        e: Option<Expression>,
    ) -> Self {
        let constraint = ConstraintText {
            name: self.name(name),
            range: range.map(|r| self.text(r)),
            gap: self.text(gap),
            restitution: e.map(|e| self.text(e)),
            friction: None,
        };
        self.description.constraints.push(constraint);
        self
    }

    /// Coulomb friction at the constraint given last: its coefficient, an expression of everything and of the sliding
    /// `speed`, and the slip velocity, one expression in the plane and two in space.
    ///
    /// ```
    /// use saltus::model::Builder;
    /// let block = Builder::new("a block on a floor").coordinate("x", 0, 1).coordinate("y", 0, 0)
    ///     .kinetic("(x'^2 + y'^2)/2").potential("9.81*y").restitution(0).constraint("floor", "y").friction("0.3", &["x'"])
    ///     .build()?;
    /// assert_eq!(block.frictions.len(), 1);
    /// # Ok::<(), saltus::SetupError>(())
    /// ```
    pub fn friction(mut self, coefficient: impl Into<Expression>, slips: &[&str]) -> Self {
        let coefficient = self.text(coefficient);
        let slips = slips.iter().map(|slip| self.text(*slip)).collect();
        if let Some(last) = self.description.constraints.last_mut() {
            last.friction = Some(FrictionText { coefficient, static_coefficient: None, slips, tangential: None });
        }
        self
    }

    /// The coefficient while sticking of the friction given last, where it differs from that while sliding.
    pub fn static_friction(mut self, coefficient: impl Into<Expression>) -> Self {
        let coefficient = self.text(coefficient);
        if let Some(friction) = self.description.constraints.last_mut().and_then(|c| c.friction.as_mut()) {
            friction.static_coefficient = Some(coefficient);
        }
        self
    }

    /// The tangential restitution of the friction given last; zero without it.
    pub fn tangential(mut self, e: impl Into<Expression>) -> Self {
        let e = self.text(e);
        if let Some(friction) = self.description.constraints.last_mut().and_then(|c| c.friction.as_mut()) {
            friction.tangential = Some(e);
        }
        self
    }

    /// Dry friction of known limit: a slider, a bearing, a belt. `limit` is the force while sliding, `sticking` the largest
    /// one while sticking where that differs.
    pub fn slider(
        mut self,
        name: &str,
        slip: impl Into<Expression>,
        limit: impl Into<Expression>,
        sticking: Option<Expression>,
    ) -> Self {
        let slider = SliderText {
            name: self.name(name),
            range: None,
            slip: self.text(slip),
            limit: self.text(limit),
            static_limit: sticking.map(|text| self.text(text)),
        };
        self.description.sliders.push(slider);
        self
    }

    /// A joint: equations f(t, q) = 0, each given by its left-hand side.
    pub fn joint(mut self, name: &str, equations: &[&str]) -> Self {
        let name = self.name(name);
        let equations = equations.iter().map(|equation| self.text(*equation)).collect();
        self.description.joints.push(JointText { name, range: None, equations });
        self
    }

    /// A first-order state with its value at the start and its rate.
    pub fn state(mut self, name: &str, start: impl Into<Expression>, rate: impl Into<Expression>) -> Self {
        let state = StateText {
            name: self.name(name),
            range: None,
            start: Values::One(self.text(start)),
            rate: self.text(rate),
        };
        self.description.states.push(state);
        self
    }

    /// An event: a zero crossing of an expression of t, q and q', located like a gap, exerting nothing.
    pub fn event(mut self, name: &str, value: impl Into<Expression>, crossing: Crossing) -> Self {
        let event = EventText { name: self.name(name), value: self.text(value), crossing };
        self.description.events.push(event);
        self
    }

    /// A quantity that is wanted of a motion: an expression of t, q and q', evaluated by [`crate::Instance::quantities`].
    pub fn quantity(mut self, value: impl Into<Expression>) -> Self {
        let value = self.text(value);
        self.description.quantities.push(value);
        self
    }

    /// The exact position of a coordinate as a function of time, where it is known.
    pub fn exact(mut self, coordinate: &str, position: impl Into<Expression>) -> Self {
        let target = self.text(coordinate);
        let value = self.text(position);
        self.description.exact.push(ForceText { target, range: None, value });
        self
    }

    /// The unit of a coordinate, a parameter, or of `time`, `length`, `force`, `impulse`, `energy`.
    pub fn unit(mut self, of: &str, unit: &str) -> Self {
        let name = self.name(of);
        self.description.units.push(Unit { name, unit: unit.to_string() });
        self
    }

    /// A shape that shows how the model looks in a report.
    pub fn draw(mut self, shape: impl FnOnce(&mut Sketch) -> DrawText) -> Self {
        let shape = shape(&mut Sketch { builder: &mut self });
        self.description.draw.push(shape);
        self
    }

    pub(crate) fn description_mut(&mut self) -> &mut Description {
        &mut self.description
    }

    /// Resolves the names, derives M and g, and checks the numbers.
    pub fn build(&self) -> Result<Arc<Model>, SetupError> {
        self.description.build()
    }
}

/// Writes the texts of a shape; see [`Builder::draw`].
pub struct Sketch<'a> {
    builder: &'a mut Builder,
}

impl Sketch<'_> {
    /// A point of a shape: expressions of t, the coordinates and parameters.
    pub fn point(&mut self, x: impl Into<Expression>, y: impl Into<Expression>) -> [Text; 2] {
        [self.builder.text(x), self.builder.text(y)]
    }

    /// A circle.
    pub fn circle(
        &mut self,
        x: impl Into<Expression>,
        y: impl Into<Expression>,
        radius: impl Into<Expression>,
    ) -> DrawText {
        let (points, radius) = (vec![self.point(x, y)], Some(self.builder.text(radius)));
        DrawText { radius, ..DrawText::new(super::ShapeKind::Circle, points) }
    }

    /// A line through points.
    pub fn segment(&mut self, points: Vec<[Text; 2]>) -> DrawText {
        DrawText::new(super::ShapeKind::Segment, points)
    }
}
