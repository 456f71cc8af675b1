//! Events of the user's own: zero crossings of an expression, located like a gap, exerting nothing.

/// In which direction an expression must cross zero to count as an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Crossing {
    /// From negative to positive.
    Up,
    /// From positive to negative.
    Down,
    /// Either way.
    #[default]
    Both,
}

impl Crossing {
    /// All directions.
    pub const ALL: [Crossing; 3] = [Crossing::Up, Crossing::Down, Crossing::Both];

    /// Whether a crossing that rises, or falls, is one.
    pub fn admits(self, rises: bool) -> bool {
        match self {
            Crossing::Both => true,
            Crossing::Up => rises,
            Crossing::Down => !rises,
        }
    }

    /// Its name in model files.
    pub fn name(self) -> &'static str {
        match self {
            Crossing::Up => "up",
            Crossing::Down => "down",
            Crossing::Both => "both",
        }
    }

    /// Whether going from one sign to the other counts.
    pub(crate) fn counts(self, before: f64, after: f64) -> bool {
        match self {
            Crossing::Up => before < 0.0 && after >= 0.0,
            Crossing::Down => before > 0.0 && after <= 0.0,
            Crossing::Both => (before < 0.0 && after >= 0.0) || (before > 0.0 && after <= 0.0),
        }
    }
}

/// An event of the user's own that occurred.
#[derive(Clone, Debug, PartialEq)]
pub struct EventHit {
    /// Which event, by its index in the model.
    pub event: usize,
    /// When.
    pub t: f64,
    /// Whether the expression was rising.
    pub rising: bool,
    /// The position there.
    pub q: Vec<f64>,
    /// The velocity there; at an impact, the one after it.
    pub v: Vec<f64>,
}
