//! What is known about a trajectory between two steps, as rows of numbers: one number per trajectory in each.

use super::{glide, march};
use crate::lanes::LaneCode;
use std::fmt::Write;

/// Single rows.
const SINGLE: [&str; 33] = [
    "T",
    "STOP",
    "END",
    "FROM",
    "STROBE",
    "NEXT",
    "LAST",
    "ACTIVE",
    "SIGNAL",
    "NEW",
    "ARRIVED",
    "HELD",
    "BOUNCED",
    "RESTITUTION",
    "INVERSE",
    "REACTION",
    "SMOOTH",
    "RESIDUAL",
    "VIOLATION",
    "LAW",
    "IMPACTS",
    "ACCUMULATIONS",
    "IDLE",
    "STEPS",
    "WINDOW",
    "LOGGED",
    "FASTEST",
    "MOVED",
    "SEEN",
    "WIDEST",
    "PLACED",
    "RECORDS",
    "LEFT",
];

/// Where the rows are: the first one of each group, and behind the last.
#[derive(Clone, Copy, Debug)]
pub struct Rows([u32; GROUPS.len() + 1]);

/// What there is a row for.
struct Lengths {
    d: usize,
    m: usize,
    events: usize,
    open: usize,
    linear: usize,
    /// What steps of a scheme have, where it makes steps.
    march: Option<usize>,
    columns: usize,
}

macro_rules! single {
    ($($(#[$doc:meta])* $name:ident = $index:literal;)*) => {
        $($(#[$doc])* pub const $name: usize = $index;)*
        #[cfg(test)]
        const NAMES: &[(&str, usize)] = &[$((stringify!($name), $index)),*];
    };
}

single! {
    T = 0;
    STOP = 1;
    END = 2;
    FROM = 3;
    /// The interval of the stroboscope; 0 without one.
    STROBE = 4;
    /// The number of its next instant.
    NEXT = 5;
    /// The last step; that of a scheme.
    LAST = 6;
    ACTIVE = 7;
    SIGNAL = 8;
    /// The constraint that is held, or −1.
    HELD = 11;
    RESIDUAL = 17;
    VIOLATION = 18;
    LAW = 19;
    IMPACTS = 20;
    ACCUMULATIONS = 21;
    /// Steps in a window; the last node of a scheme.
    STEPS = 23;
    WINDOW = 24;
    /// How many records there are.
    LOGGED = 25;
    FASTEST = 26;
    MOVED = 27;
    SEEN = 28;
    /// The largest gap so far, of all constraints; with steps of a scheme, the greatest speed.
    WIDEST = 29;
    /// 1 where the trajectory was put somewhere, 2 if it is a new one: what only the code knows about it is void.
    PLACED = 30;
    /// Which of all records is its first.
    RECORDS = 31;
    /// Returns to the first section that are still to come; infinity where they do not end the trajectory.
    LEFT = 32;
}

/// Groups of rows, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    Q,
    V,
    Parameters,
    Zeros,
    Before,
    Largest,
    Noise,
    Crossed,
    /// Of sections: the side, and that where the last step began.
    Side,
    SideBefore,
    /// Perturbations, one column after the other, and those at the beginning of the last step.
    Frame,
    FrameBefore,
    /// For each of them: how much sooner or later its last event is, while it is seen at that instant; by which factor it has grown, and
    /// the logarithms of earlier factors.
    Shift,
    Stretch,
    Logs,
    /// How long the last step could have been.
    Pace,
    Scale,
    GapScale,
    Extent,
    Slope,
    Pull,
    Predicted,
    Reach,
    OwnScale,
    /// The value before the last impact, and what is rounding in it.
    Ended,
    Rounding,
    /// How long steps are, but for short ones between longer ones.
    Span,
    Linear,
    March,
}

/// Those that the code has for itself are last, from `SCALE` on.
const GROUPS: [(Group, &str); 29] = [
    (Group::Q, "Q"),
    (Group::V, "V"),
    (Group::Parameters, "P"),
    (Group::Zeros, "ZEROS"),
    (Group::Before, "BEFORE"),
    (Group::Largest, "LARGEST"),
    (Group::Noise, "NOISE"),
    (Group::Crossed, "CROSSED"),
    (Group::Side, "SIDE"),
    (Group::SideBefore, "SIDE_BEFORE"),
    (Group::Frame, "FRAME"),
    (Group::FrameBefore, "FRAME_BEFORE"),
    (Group::Shift, "SHIFT"),
    (Group::Stretch, "STRETCH"),
    (Group::Logs, "LOGS"),
    (Group::Pace, "PACE"),
    (Group::Scale, "SCALE"),
    (Group::GapScale, "GAP_SCALE"),
    (Group::Extent, "EXTENT"),
    (Group::Slope, "SLOPE"),
    (Group::Pull, "PULL"),
    (Group::Predicted, "PREDICTED"),
    (Group::Reach, "REACH"),
    (Group::OwnScale, "OWN_SCALE"),
    (Group::Ended, "ENDED"),
    (Group::Rounding, "ROUNDING"),
    (Group::Span, "SPAN"),
    (Group::Linear, "LINEAR"),
    (Group::March, "MARCH"),
];

/// What steps of a scheme share with the processor.
const STEPPED: [Group; 4] = [Group::Q, Group::V, Group::Parameters, Group::Largest];

impl Lengths {
    fn new(code: &LaneCode) -> Self {
        let linear = code.linear.as_deref().map_or(0, glide::length);
        Lengths {
            d: code.d,
            m: code.m.max(1),
            events: code.events,
            open: code.open,
            linear,
            march: None,
            columns: code.columns(),
        }
    }

    fn of(&self, group: Group) -> usize {
        match group {
            Group::March => self.march.unwrap_or(0),
            // (Steps of a scheme have no use for what belongs to events.)
            group if self.march.is_some() && !STEPPED.contains(&group) => 0,
            Group::Q | Group::V | Group::Noise | Group::Scale | Group::Slope | Group::Pull | Group::Predicted => self.d,
            Group::Parameters => self.open,
            Group::GapScale | Group::Extent | Group::Zeros => self.m,
            Group::Before => 1 + 2 * self.d,
            Group::Largest => 2 * self.d,
            Group::Crossed | Group::Side | Group::SideBefore | Group::Reach => self.events,
            Group::OwnScale | Group::Ended | Group::Rounding => self.events,
            Group::Span => usize::from(self.events > 0),
            Group::Pace => 1,
            Group::Linear => self.linear,
            Group::Frame | Group::FrameBefore => self.columns * self.columns,
            Group::Shift | Group::Stretch | Group::Logs => self.columns,
        }
    }
}

impl Rows {
    pub fn new(code: &LaneCode) -> Self {
        Self::of_lengths(&Lengths::new(code))
    }

    /// Those of steps of a scheme.
    pub fn of_steps(code: &LaneCode) -> Self {
        let march = code.linear.as_deref().map_or(0, march::length);
        Self::of_lengths(&Lengths { linear: 0, march: Some(march), ..Lengths::new(code) })
    }

    fn of_lengths(lengths: &Lengths) -> Self {
        let mut first = [SINGLE.len() as u32; GROUPS.len() + 1];
        for (k, (group, _)) in GROUPS.iter().enumerate() {
            first[k + 1] = first[k] + lengths.of(*group) as u32;
        }
        Rows(first)
    }

    /// The first row of a group.
    pub fn at(self, group: Group) -> usize {
        self.0[group as usize] as usize
    }

    /// The rows of a group.
    pub fn of(self, group: Group) -> std::ops::Range<usize> {
        self.at(group)..self.0[group as usize + 1] as usize
    }

    /// How many rows there are.
    pub fn count(self) -> usize {
        self.of(Group::March).end
    }

    /// How many of them are read and written by others than the code.
    pub fn shared(self) -> usize {
        self.at(Group::Scale)
    }

    /// The names of all rows for the source.
    pub fn definitions(self) -> String {
        let mut text = String::new();
        for (k, name) in SINGLE.iter().enumerate() {
            let _ = writeln!(text, "#define R_{name} {k}");
        }
        for (group, name) in GROUPS {
            let _ = writeln!(text, "#define R_{name} {}", self.at(group));
        }
        let _ = writeln!(text, "#define ROWS {}\n#define SHARED {}", self.count(), self.shared());
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_in_their_order() {
        assert!(GROUPS.iter().enumerate().all(|(k, (group, _))| *group as usize == k));
    }

    #[test]
    fn rows_have_the_same_numbers_in_both_languages() {
        for (name, index) in NAMES {
            assert_eq!(SINGLE[*index], *name);
        }
    }
}
