//! How a model looks: shapes whose places are expressions of time, coordinates and parameters.

use super::Constraint;
use super::build::{Build, Locals};
use super::description::{Name, Text};
use super::names::indexed;
use crate::SetupError;
use saltus_expr::NodeId;

/// What a shape is.
#[derive(Clone, Debug, PartialEq)]
pub enum ShapeKind {
    /// A dot.
    Point,
    /// A line through two or more points.
    Segment,
    /// A circle around a point.
    Circle,
    /// A filled polygon of three or more points.
    Polygon,
    /// A text at a point.
    Text(String),
}

/// How a shape is painted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Look {
    /// What moves.
    #[default]
    Body,
    /// What is hit.
    Wall,
    /// What holds things together: rods, springs.
    Link,
    /// What only helps the eye.
    Faint,
}

impl Look {
    /// All of them.
    pub const ALL: [Look; 4] = [Look::Body, Look::Wall, Look::Link, Look::Faint];

    /// Its name in model files.
    pub fn name(self) -> &'static str {
        match self {
            Look::Body => "body",
            Look::Wall => "wall",
            Look::Link => "link",
            Look::Faint => "faint",
        }
    }
}

/// A shape as written, or a family of them.
#[derive(Clone, Debug)]
pub struct DrawText {
    /// What it is.
    pub kind: ShapeKind,
    /// Its points.
    pub points: Vec<[Text; 2]>,
    /// The radius of a circle.
    pub radius: Option<Text>,
    /// The family's index and bounds.
    pub range: Option<Text>,
    /// How it is painted; by default a body where it moves with the coordinates and as a wall where it does not.
    pub look: Option<Look>,
    /// The constraint at whose impacts it flashes; by default any that shares a coordinate with it.
    pub constraint: Option<Name>,
}

impl DrawText {
    /// A shape through points, drawn by the defaults.
    pub fn new(kind: ShapeKind, points: Vec<[Text; 2]>) -> Self {
        DrawText { kind, points, radius: None, range: None, look: None, constraint: None }
    }
}

/// A shape with its expressions resolved.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// What it is.
    pub kind: ShapeKind,
    /// Its points.
    pub points: Vec<[NodeId; 2]>,
    /// The radius of a circle.
    pub radius: Option<NodeId>,
    /// How it is painted.
    pub look: Look,
    /// The constraints at whose impacts it flashes.
    pub flashes: Vec<usize>,
}

impl Drawn {
    /// The numbers that place it: x and y of each point, then the radius.
    pub fn numbers(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.points.iter().flatten().copied().chain(self.radius)
    }
}

/// More shapes than this are a typing mistake.
const MAX_SHAPES: usize = 2_000;

impl Build<'_> {
    /// The shapes, families expanded.
    pub(super) fn drawing(&mut self, constraints: &[Constraint]) -> Result<Vec<Drawn>, SetupError> {
        let mut shapes = Vec::new();
        for text in &self.text.draw {
            let members: Vec<(Option<i64>, Locals)> = match self.optional_family(&text.range)? {
                Some(f) => f.members().map(|i| (Some(i), vec![(f.index.clone(), i)])).collect(),
                None => vec![(None, Vec::new())],
            };
            for (member, locals) in members {
                let shape = self.shape(text, member, &locals, constraints)?;
                shapes.push(shape);
            }
            if shapes.len() > MAX_SHAPES {
                return Err(SetupError::new(format!("more than {MAX_SHAPES} shapes to draw")));
            }
        }
        Ok(shapes)
    }

    fn shape(
        &mut self,
        text: &DrawText,
        member: Option<i64>,
        locals: &Locals,
        constraints: &[Constraint],
    ) -> Result<Drawn, SetupError> {
        let mut points = Vec::with_capacity(text.points.len());
        for [x, y] in &text.points {
            points.push([self.place(x, locals)?, self.place(y, locals)?]);
        }
        let radius = text.radius.as_ref().map(|r| self.place(r, locals)).transpose()?;
        let mut shape = Drawn { kind: text.kind.clone(), points, radius, look: Look::Body, flashes: Vec::new() };
        let nodes: Vec<NodeId> = shape.numbers().collect();
        let own: Vec<NodeId> =
            self.names.q.iter().copied().filter(|&q| nodes.iter().any(|&n| self.graph.depends_on(n, q))).collect();
        shape.look = text.look.unwrap_or(if own.is_empty() { Look::Wall } else { Look::Body });
        shape.flashes = match &text.constraint {
            Some(name) => vec![named(name, member, constraints)?],
            None => (0..constraints.len())
                .filter(|&a| !own.is_empty() && self.graph.depends_on_any(constraints[a].gap, &own))
                .collect(),
        };
        Ok(shape)
    }

    fn place(&mut self, text: &Text, locals: &Locals) -> Result<NodeId, SetupError> {
        let node = self.lower(text, locals)?;
        if self.graph.depends_on_any(node, &self.names.v) {
            return Err(SetupError::new("a drawing may not depend on velocities")
                .at(text.span.clone(), "velocity used here")
                .help("places are expressions of t, the coordinates and parameters"));
        }
        Ok(node)
    }
}

/// The constraint of a name, or of a name and the member of a family.
fn named(name: &Name, member: Option<i64>, constraints: &[Constraint]) -> Result<usize, SetupError> {
    let of_member = indexed(&name.text, member);
    let found = constraints.iter().position(|c| c.name == name.text || c.name == of_member);
    found.ok_or_else(|| {
        let message = format!("there is no constraint `{}`", name.text);
        let known = constraints.iter().map(|c| c.name.as_str());
        SetupError::unknown(message, &name.text, known, "the constraints are").at(name.span.clone(), "not known")
    })
}
