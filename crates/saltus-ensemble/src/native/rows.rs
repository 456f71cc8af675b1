//! What is known about a trajectory between two steps, as rows of numbers: one number per trajectory in each.

use super::glide;
use crate::lanes::LaneCode;
use std::fmt::Write;

/// Single rows.
const SINGLE: [&str; 32] = [
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
];

/// Where the rows are.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    d: usize,
    m: usize,
    open: usize,
    linear: usize,
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
    /// The last step.
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
    WINDOW = 24;
    /// How many records there are.
    LOGGED = 25;
    FASTEST = 26;
    MOVED = 27;
    SEEN = 28;
    /// The largest gap so far, of all constraints.
    WIDEST = 29;
    /// 1 where the trajectory was put somewhere, 2 if it is a new one: what only the code knows about it is void.
    PLACED = 30;
    /// Which of all records is its first.
    RECORDS = 31;
}

/// Groups of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    Q,
    V,
    Parameters,
    Scale,
    GapScale,
    Extent,
    Zeros,
    Slope,
    Pull,
    Predicted,
    Before,
    Largest,
    Linear,
}

/// Those that the code has for itself are last, from `SCALE` on.
const GROUPS: [(Group, &str); 13] = [
    (Group::Q, "Q"),
    (Group::V, "V"),
    (Group::Parameters, "P"),
    (Group::Zeros, "ZEROS"),
    (Group::Before, "BEFORE"),
    (Group::Largest, "LARGEST"),
    (Group::Scale, "SCALE"),
    (Group::GapScale, "GAP_SCALE"),
    (Group::Extent, "EXTENT"),
    (Group::Slope, "SLOPE"),
    (Group::Pull, "PULL"),
    (Group::Predicted, "PREDICTED"),
    (Group::Linear, "LINEAR"),
];

impl Rows {
    pub fn new(code: &LaneCode) -> Self {
        let linear = code.linear.as_deref().map_or(0, glide::length);
        Rows { d: code.d, m: code.m.max(1), open: code.open, linear }
    }

    fn length(self, group: Group) -> usize {
        match group {
            Group::Q | Group::V | Group::Scale | Group::Slope | Group::Pull | Group::Predicted => self.d,
            Group::Parameters => self.open,
            Group::GapScale | Group::Extent | Group::Zeros => self.m,
            Group::Before => 1 + 2 * self.d,
            Group::Largest => 2 * self.d,
            Group::Linear => self.linear,
        }
    }

    /// The first row of a group.
    pub fn at(self, group: Group) -> usize {
        let before = GROUPS.iter().take_while(|(g, _)| *g != group);
        SINGLE.len() + before.map(|(g, _)| self.length(*g)).sum::<usize>()
    }

    /// The rows of a group.
    pub fn of(self, group: Group) -> std::ops::Range<usize> {
        self.at(group)..self.at(group) + self.length(group)
    }

    /// How many rows there are.
    pub fn count(self) -> usize {
        self.of(Group::Linear).end
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
    fn rows_have_the_same_numbers_in_both_languages() {
        for (name, index) in NAMES {
            assert_eq!(SINGLE[*index], *name);
        }
    }
}
