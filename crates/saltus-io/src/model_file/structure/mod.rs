//! `[structure]`, `[points]`, `[loads]`, `[base]` and `[start]`: what takes the place of coordinates and energies in the model of a
//! structure. [`read`] and [`places`] take them from the file, [`assemble`] builds the parts once parameters are known.

mod assemble;
mod base;
mod places;
mod read;

use saltus::Span;
use saltus::linalg::{Skew, Symmetric};
use saltus::structure::DrawnNode;
use std::sync::Arc;

/// A structure as written: files are read, numbers still expressions of parameters (settings of the description).
#[derive(Clone, Debug, Default)]
pub struct StructureText {
    parts: Vec<PartText>,
    points: Vec<PointText>,
    loads: Vec<LoadText>,
    stops: Vec<StopText>,
    start: Option<StartText>,
}

#[derive(Clone, Debug)]
struct PartText {
    name: String,
    kind: Kind,
    /// Words: ends, where the mass sits.
    ends: Vec<(String, Span)>,
    mass: Option<(String, Span)>,
    damping: DampingText,
    span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KindName {
    Beam,
    Differences,
    Bar,
    Building,
}

#[derive(Clone, Debug)]
enum Kind {
    Built(KindName),
    Matrices(Arc<Matrices>),
}

#[derive(Clone, Debug)]
struct Matrices {
    mass: Symmetric,
    stiffness: Symmetric,
    damping: Option<Symmetric>,
    /// The antisymmetric parts of damping and stiffness.
    gyroscopic: Option<Skew>,
    circulatory: Option<Skew>,
    direction: Option<Vec<f64>>,
    nodes: Vec<DrawnNode>,
    /// Which files, for messages.
    files: String,
}

#[derive(Clone, Debug)]
enum DampingText {
    None,
    Rayleigh,
    Ratio,
    Modal,
    Matrix,
}

#[derive(Clone, Debug)]
struct PointText {
    of: Option<(String, Span)>,
    keys: Vec<&'static str>,
    /// Along what a base shear is, and where that is written.
    direction: Option<(base::DirectionText, Span)>,
    span: Span,
}

/// What a constraint has besides its gap; all members of a family share it.
#[derive(Clone, Debug)]
struct StopText {
    name: String,
    slides: Vec<(String, Span)>,
    /// The two points that a round hole surrounds.
    around: Option<[(String, Span); 2]>,
    /// The group whose sums it is part of.
    group: Option<String>,
}

#[derive(Clone, Debug)]
enum LoadText {
    Point(String, Span),
    Base(BaseText),
    /// A vector of forces from a file, on the part of this name.
    Vector(Vec<f64>, Option<(String, Span)>, Span),
}

/// A motion of the base: where it is written, the parts that go along (none: all), and its own direction.
#[derive(Clone, Debug)]
struct BaseText {
    span: Span,
    of: Vec<(String, Span)>,
    direction: Option<(base::DirectionText, Span)>,
}

#[derive(Clone, Debug)]
struct StartText {
    equilibrium: bool,
    /// Displacements and velocities of all degrees of freedom, from files.
    shapes: [Option<Vec<f64>>; 2],
}
