//! Branches of orbits as plain data.

use crate::analysis::orbit::OrbitStability;
use crate::problem::Start;

/// An orbit of a branch.
#[derive(Clone, Debug)]
pub struct BranchPoint {
    /// The values of the parameters that vary.
    pub values: Vec<f64>,
    /// A state on the orbit, with all open parameters.
    pub start: Start,
    /// Its period.
    pub period: f64,
    /// How many periods of the forcing it takes; None where the period is its own.
    pub multiple: Option<usize>,
    /// Its multipliers.
    pub stability: OrbitStability,
    /// Its events in order.
    pub sequence: String,
    /// How far it misses itself, relative to its size.
    pub residual: f64,
    /// The direction of the branch there, in the units of the continuation; its last entry is that of the parameter.
    pub tangent: Vec<f64>,
}

/// What happens at a special point of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpecialKind {
    /// The branch turns back: a multiplier is 1.
    Fold,
    /// A multiplier is −1: orbits of twice the period branch off.
    Doubling,
    /// A pair of multipliers crosses the unit circle: an invariant torus branches off.
    Torus,
    /// Two branches cross.
    Crossing,
    /// A gap is touched without speed: an impact appears or vanishes.
    Grazing,
    /// Of equilibria: a pair of eigenvalues crosses the imaginary axis, and oscillations branch off.
    Hopf,
    /// The sequence of events changes in another way: a contact, chatter or switch begins or ends.
    Change,
}

impl SpecialKind {
    /// All kinds.
    pub const ALL: [SpecialKind; 7] = [
        SpecialKind::Fold,
        SpecialKind::Doubling,
        SpecialKind::Torus,
        SpecialKind::Crossing,
        SpecialKind::Grazing,
        SpecialKind::Change,
        SpecialKind::Hopf,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            SpecialKind::Fold => "fold",
            SpecialKind::Doubling => "period doubling",
            SpecialKind::Torus => "torus (Neimark–Sacker)",
            SpecialKind::Crossing => "branch point",
            SpecialKind::Grazing => "grazing",
            SpecialKind::Change => "change of events",
            SpecialKind::Hopf => "Hopf",
        }
    }

    /// The word for it on the command line and in tables.
    pub fn word(self) -> &'static str {
        match self {
            SpecialKind::Fold => "fold",
            SpecialKind::Doubling => "doubling",
            SpecialKind::Torus => "torus",
            SpecialKind::Crossing => "crossing",
            SpecialKind::Grazing => "grazing",
            SpecialKind::Change => "change",
            SpecialKind::Hopf => "hopf",
        }
    }
}

/// A special point of a branch.
#[derive(Clone, Debug)]
pub struct Special {
    /// What it is.
    pub kind: SpecialKind,
    /// The orbit there. (At a grazing orbit multipliers are those of the motion that misses; there are none of the one that hits.)
    pub point: BranchPoint,
    /// At grazing: what is touched; by symmetry there may be several.
    pub touched: Vec<Touched>,
    /// What it means, in words.
    pub words: String,
}

/// A constraint that is touched without speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touched {
    /// Which.
    pub constraint: usize,
    /// When.
    pub t: f64,
    /// The largest gap and the largest gap velocity over the orbit.
    pub units: (f64, f64),
}

/// Where a branch comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Origin {
    /// The first orbit, in the direction of growing (true) or falling parameter.
    First(bool),
    /// A period doubling of another branch, by its number, at a value of the parameter.
    Doubling(usize, f64),
    /// A branch point of another branch, in the same way.
    Crossing(usize, f64),
    /// A grazing orbit of another branch, where several impacts vanish together.
    Grazing(usize, f64),
}

/// A branch of orbits.
#[derive(Clone, Debug)]
pub struct Branch {
    /// Where it comes from.
    pub origin: Origin,
    /// Its orbits in order.
    pub points: Vec<BranchPoint>,
    /// Special points, each with the number of the point behind it.
    pub specials: Vec<(usize, Special)>,
    /// Why it ends.
    pub end: String,
    /// Whether it ends because it could not be followed further.
    pub is_cut: bool,
    /// Branches that leave it and were not followed.
    pub left: Vec<Left>,
}

/// A branch that was not followed, by the special point at which it leaves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Left {
    /// What the point is.
    pub kind: SpecialKind,
    /// The value of the parameter.
    pub value: f64,
    /// Whether it was looked for, and not found within the range.
    pub was_tried: bool,
}
