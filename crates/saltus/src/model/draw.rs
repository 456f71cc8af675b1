//! How a model looks: shapes whose places are expressions of time, coordinates and parameters.

use super::build::{Build, Locals};
use super::description::{Name, Text};
use super::names::indexed;
use super::{Constraint, Model};
use crate::SetupError;
use crate::problem::{Blocks, Evaluator};
use saltus_expr::{NodeId, nearest};
use std::sync::Arc;

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
    /// How it is painted; if nothing is said, as a body where it moves with the coordinates and as a wall where it does not.
    pub look: Option<Look>,
    /// The constraint at whose impacts it flashes; if nothing is said, any that has a coordinate with it in common.
    pub constraint: Option<Name>,
}

/// A shape, understood.
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
    /// The shapes, families spread out.
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
        let known = constraints.iter().map(|c| c.name.as_str());
        let help = match nearest(&name.text, known.clone()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the constraints are: `{}`", known.take(12).collect::<Vec<_>>().join("`, `")),
        };
        SetupError::new(format!("there is no constraint `{}`", name.text)).at(name.span.clone(), "not known").help(help)
    })
}

/// Evaluates the drawing of a model.
#[derive(Clone, Debug)]
pub struct Drawing {
    evaluator: Evaluator,
    numbers: Vec<f64>,
}

impl Drawing {
    /// Compiles the drawing of a model; None if it has none.
    ///
    /// ```
    /// use saltus::model::{Builder, Drawing};
    /// let ball = Builder::new("ball").coordinate("y", "1", "0").kinetic("y'^2/2").build()?;
    /// assert!(Drawing::new(&ball)?.is_none());
    /// # Ok::<(), saltus::SetupError>(())
    /// ```
    pub fn new(model: &Model) -> Result<Option<Drawing>, SetupError> {
        if model.draw.is_empty() {
            return Ok(None);
        }
        let nodes: Vec<NodeId> = model.draw.iter().flat_map(Drawn::numbers).collect();
        let inputs: Vec<NodeId> = [model.t].iter().chain(&model.q).copied().collect();
        let code = Blocks::compile(&model.graph, &inputs, &[&nodes]).map_err(|e| SetupError::new(e.to_string()))?;
        let code = Arc::new(code);
        Ok(Some(Drawing { evaluator: Evaluator::new(&code), numbers: code.buffer(0) }))
    }

    /// The numbers of all shapes, in the order of [`Model::draw`] and [`Drawn::numbers`].
    pub fn at(&mut self, t: f64, q: &[f64]) -> &[f64] {
        self.evaluator.run(t, &[q]);
        self.evaluator.write(0, &mut self.numbers);
        &self.numbers
    }
}
