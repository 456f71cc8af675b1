//! Building a structure from Rust: parts, points, loads and stops.

use super::{Assembly, Damping, Hole, InitialState, Load, Location, Part, Place, Rub, StopLaw, Structure};
use crate::model::{self, Expression, Inertia, Text};
use crate::{Kind, SetupError};
use std::ops::{Add, Mul, Neg, Sub};

/// A part of a structure under construction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartRef(usize);

impl PartRef {
    /// The displacement at an abscissa of a beam or bar.
    pub fn at(self, x: f64) -> Location {
        Location { part: self.0, place: Place::X(x) }
    }

    /// A degree of freedom, counted from 1.
    pub fn dof(self, k: usize) -> Location {
        Location { part: self.0, place: Place::Dof(k) }
    }

    /// A floor of a building, counted from 1.
    pub fn floor(self, k: usize) -> Location {
        Location { part: self.0, place: Place::Floor(k) }
    }

    /// Any place.
    pub fn place(self, place: Place) -> Location {
        Location { part: self.0, place }
    }
}

/// A point of a structure; in arithmetic, its displacement: `0.002 - tip` is a gap.
#[derive(Clone, Debug, PartialEq)]
pub struct Point(String);

impl Point {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl From<Point> for Expression {
    fn from(point: Point) -> Self {
        Expression::from(point.0)
    }
}

impl From<&Point> for Expression {
    fn from(point: &Point) -> Self {
        Expression::from(point.0.as_str())
    }
}

macro_rules! arithmetic {
    ($($trait:ident $method:ident $sign:literal),*) => {$(
        impl $trait<&Point> for f64 {
            type Output = String;
            fn $method(self, point: &Point) -> String {
                format!("({self:?} {} {})", $sign, point.0)
            }
        }
        impl $trait<&Point> for &Point {
            type Output = String;
            fn $method(self, point: &Point) -> String {
                format!("({} {} {})", self.0, $sign, point.0)
            }
        }
        impl $trait<f64> for &Point {
            type Output = String;
            fn $method(self, number: f64) -> String {
                format!("({} {} {number:?})", self.0, $sign)
            }
        }
    )*};
}
arithmetic!(Add add "+", Sub sub "-", Mul mul "*");

impl Neg for &Point {
    type Output = String;
    fn neg(self) -> String {
        format!("(-{})", self.0)
    }
}

/// A beam to be added to a structure.
#[derive(Clone, Debug)]
#[must_use]
pub struct Beam {
    length: f64,
    section: super::beam::Section,
    elements: usize,
    ends: (super::beam::End, super::beam::End),
    damping: Damping,
}

impl Beam {
    /// Hermite elements with consistent mass, clamped at one end and free at the other.
    pub fn hermite(length: f64, section: super::beam::Section, elements: usize) -> Self {
        use super::beam::End::{Clamped, Free};
        Beam { length, section, elements, ends: (Clamped, Free), damping: Damping::None }
    }

    /// How its ends are held.
    pub fn ends(mut self, left: super::beam::End, right: super::beam::End) -> Self {
        self.ends = (left, right);
        self
    }

    /// Clamped at one end and free at the other.
    pub fn clamped_free(self) -> Self {
        self.ends(super::beam::End::Clamped, super::beam::End::Free)
    }

    /// C = a M + b K.
    pub fn rayleigh(mut self, a: f64, b: f64) -> Self {
        self.damping = Damping::Rayleigh(a, b);
        self
    }

    /// The part.
    pub fn part(self) -> Result<Part, SetupError> {
        let part = super::beam::hermite(self.length, self.section, self.elements, self.ends, false)?;
        Ok(Part { damping: self.damping, ..part })
    }
}

impl From<Beam> for Result<Part, SetupError> {
    fn from(beam: Beam) -> Self {
        beam.part()
    }
}

impl From<Part> for Result<Part, SetupError> {
    fn from(part: Part) -> Self {
        Ok(part)
    }
}

/// A round hole to be added to a structure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bored {
    /// By how much the two points may be off its centre.
    pub radius: f64,
    /// Its centre.
    pub centre: [f64; 2],
    /// The restitution of a rigid one.
    pub restitution: f64,
    /// A spring instead.
    pub stiffness: Option<f64>,
}

/// Collects the parts, points, loads and stops of a structure. The first mistake is reported by [`Builder::build`].
///
/// ```
/// use saltus::{Options, structure::{Beam, Builder, beam::Section}};
/// let mut strip = Builder::new("strip");
/// let section = Section { rigidity: 0.2, mass_per_length: 0.5 };
/// let beam = strip.part(Beam::hermite(0.3, section, 30).clamped_free().rayleigh(0.5, 1e-5));
/// let tip = strip.point("tip", beam.at(0.3));
/// strip.parameter("F", 1.0);
/// strip.force(&tip, "F*sin(60*t)");
/// strip.stop("stop", 0.002 - &tip, 0.0);
/// let strip = strip.build()?;
/// let run = strip.run(&Options::steps("paoli-schatzman", 1e-4).until(0.5))?.ok()?;
/// assert!(!run.trajectory.impacts.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Builder {
    texts: model::Builder,
    parts: Vec<Part>,
    points: Vec<Location>,
    loads: Vec<Load>,
    springs: Vec<Option<f64>>,
    slides: Vec<Option<usize>>,
    laws: Vec<StopLaw>,
    start: InitialState,
    mistake: Option<SetupError>,
}

impl Builder {
    /// An empty structure with a title.
    pub fn new(title: &str) -> Self {
        Builder { texts: model::Builder::new(title), ..Builder::default() }
    }

    fn texts(&mut self, change: impl FnOnce(model::Builder) -> model::Builder) {
        self.texts = change(std::mem::take(&mut self.texts));
    }

    fn note<T>(&mut self, result: Result<T, SetupError>) -> Option<T> {
        result.map_err(|e| self.mistake.get_or_insert(e).clone()).ok()
    }

    /// Adds a part: matrices, a beam, a bar, a building.
    pub fn part(&mut self, part: impl Into<Result<Part, SetupError>>) -> PartRef {
        let part = self.note(part.into());
        self.parts.extend(part);
        PartRef(self.parts.len().saturating_sub(1))
    }

    /// A parameter: a number or an expression of parameters.
    pub fn parameter(&mut self, name: &str, value: impl Into<Expression>) {
        self.texts(|t| t.parameter(name, value));
    }

    /// A sampled function of time, used in expressions as `name(t)`.
    pub fn input(&mut self, name: &str, table: saltus_expr::Table) {
        self.texts(|t| t.input(name, table));
    }

    /// A point to be recorded, which gaps and loads may use.
    pub fn point(&mut self, name: &str, at: Location) -> Point {
        self.texts(|t| t.coordinate(name, 0.0, 0.0));
        self.points.push(at);
        Point(name.to_string())
    }

    /// A force on a point: an expression of t and parameters.
    pub fn force(&mut self, point: &Point, value: impl Into<Expression>) {
        let Some(p) = self.index(point) else { return };
        self.signal(value);
        self.loads.push(Load::Force(self.points[p].clone()));
    }

    /// The acceleration of the base: an expression of t and parameters. Displacements are then relative to the base.
    pub fn base_acceleration(&mut self, value: impl Into<Expression>) {
        self.signal(value);
        self.loads.push(Load::Base);
    }

    fn signal(&mut self, value: impl Into<Expression>) {
        let text: Text = self.texts.text(value);
        self.texts.description_mut().signals.push(text);
    }

    /// A rigid stop: a gap that is linear in the points, and its restitution.
    pub fn stop(&mut self, name: &str, gap: impl Into<Expression>, restitution: impl Into<Expression>) {
        self.texts(|t| t.constraint_with(name, gap, restitution));
        self.springs.push(None);
        self.slides.push(None);
        self.laws.push(StopLaw::default());
    }

    /// A stop with a stiffness: a spring that only pushes.
    pub fn spring_stop(&mut self, name: &str, gap: impl Into<Expression>, stiffness: f64) {
        if !(stiffness > 0.0 && stiffness.is_finite()) {
            let kind = Kind::OutOfRange { name: "stiffness".into(), value: stiffness };
            let message = format!("the stiffness of a stop must be positive, not {stiffness}");
            self.mistake.get_or_insert(SetupError::new(message).with_kind(kind));
        }
        self.texts(|t| t.constraint_with(name, gap, 0.0));
        self.springs.push(Some(stiffness));
        self.slides.push(None);
        self.laws.push(StopLaw::default());
    }

    /// The point that slides along the stop added last, for the wear.
    pub fn slides_along(&mut self, point: &Point) {
        let p = self.index(point);
        if let Some(last) = self.slides.last_mut() {
            *last = p;
        }
    }

    /// A dashpot beside the spring of the stop added last: see [`StopLaw::damping`].
    pub fn damped(&mut self, damping: f64) {
        if let Some(last) = self.laws.last_mut() {
            last.damping = damping;
        }
    }

    /// The spring of the stop added last is that of Hertz' law, F = k δ^{3/2}.
    pub fn hertzian(&mut self) {
        if let Some(last) = self.laws.last_mut() {
            last.is_hertz = true;
        }
    }

    /// Friction at the stop added last, along one point in the plane or two in space.
    pub fn rubs(&mut self, coefficient: f64, slides: &[&Point]) {
        let slides: Vec<usize> = slides.iter().filter_map(|point| self.index(point)).collect();
        if let Some(last) = self.laws.last_mut() {
            last.friction = Some(Rub { coefficient, slides });
        }
    }

    /// The group of stops whose sums the stop added last is part of.
    pub fn grouped(&mut self, group: &str) {
        if let Some(last) = self.laws.last_mut() {
            last.group = Some(group.to_string());
        }
    }

    /// A round hole in which two points, the displacements across it, stay within a radius of a centre: rigid with a restitution, or with
    /// a stiffness. What goes around it slides.
    pub fn hole(&mut self, name: &str, points: [&Point; 2], hole: Bored) {
        let Some(indices) = self.index(points[0]).zip(self.index(points[1])) else { return };
        let (y, z, [cy, cz], radius) = (points[0].name(), points[1].name(), hole.centre, hole.radius);
        let gap = Hole::gap(&format!("{radius:?}"), [y, z], [&format!("{cy:?}"), &format!("{cz:?}")]);
        match hole.stiffness {
            Some(stiffness) => self.spring_stop(name, gap.as_str(), stiffness),
            None => self.stop(name, gap.as_str(), hole.restitution),
        }
        if let Some(last) = self.laws.last_mut() {
            last.hole = Some(Hole { points: [indices.0, indices.1], centre: hole.centre });
        }
    }

    /// How it starts.
    pub fn start(&mut self, start: InitialState) {
        self.start = start;
    }

    fn index(&mut self, point: &Point) -> Option<usize> {
        let names = &self.texts.description_mut().coordinates;
        let found = names.iter().position(|c| c.name.text == point.0);
        if found.is_none() {
            let message = format!("`{}` is not a point of this structure", point.0);
            self.mistake.get_or_insert(SetupError::new(message));
        }
        found
    }

    /// Assembles the structure and checks it.
    pub fn build(mut self) -> Result<Structure, SetupError> {
        if let Some(mistake) = self.mistake {
            return Err(mistake);
        }
        let zero = self.texts.text("0");
        self.texts.description_mut().inertia = Some(Inertia::Kinetic(zero));
        Structure::new(Assembly {
            model: self.texts.build()?,
            parts: self.parts,
            points: self.points,
            loads: self.loads,
            springs: self.springs,
            slides: self.slides,
            laws: self.laws,
            start: self.start,
        })
    }
}
