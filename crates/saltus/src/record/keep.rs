//! What is stored of a run.

use std::ops::BitOr;

/// What is stored of a run; the start and the last state always are.
///
/// ```
/// use saltus::Keep;
/// assert!((Keep::EVENTS | Keep::IMPACTS).has(Keep::IMPACTS));
/// assert!(!Keep::IMPACTS.has(Keep::INSTANTS));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keep(u8);

impl Keep {
    /// Instants at regular intervals, and those of impacts.
    pub const INSTANTS: Keep = Keep(1);
    /// The polynomials of an engine that has them: dense output.
    pub const PIECES: Keep = Keep(2);
    /// Impacts.
    pub const IMPACTS: Keep = Keep(4);
    /// Contacts and touches.
    pub const CONTACTS: Keep = Keep(8);
    /// Phases.
    pub const TIMELINE: Keep = Keep(16);
    /// Events of the user's own.
    pub const EVENTS: Keep = Keep(32);
    /// Deflected shapes of structures, for drawing.
    pub const SHAPES: Keep = Keep(64);
    /// Everything but shapes.
    pub const ALL: Keep = Keep(63);
    /// Nothing but start and last state.
    pub const NOTHING: Keep = Keep(0);

    /// Whether all of `other` is stored.
    pub fn has(self, other: Keep) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for Keep {
    type Output = Keep;
    fn bitor(self, other: Keep) -> Keep {
        Keep(self.0 | other.0)
    }
}
