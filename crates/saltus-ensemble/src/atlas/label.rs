//! What a trajectory settled on, in a word.

use saltus::text::{count, number};
use std::fmt;

/// What a trajectory settled on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Label {
    /// At rest.
    Rest,
    /// Periodic.
    Periodic {
        /// In periods of the forcing.
        period: u32,
        /// Impacts in a period.
        impacts: u32,
        /// Whether it advances by a constant in each period.
        travels: bool,
        /// Whether impacts accumulate, and are infinitely many.
        chatters: bool,
    },
    /// Periodic, without a forcing.
    Recurrent {
        /// The period, a time.
        time: f64,
        /// Impacts in a period.
        impacts: u32,
    },
    /// Neither, in the time computed.
    Neither,
    /// It could not be computed to the end.
    Failed,
    /// It could not start.
    Refused,
}

impl Label {
    /// Of the words and numbers of a row of the table of points.
    pub fn of_row(
        (status, settled): (&str, &str),
        period: f64,
        impacts: f64,
        chatters: bool,
        has_period: bool,
    ) -> Self {
        match (status, settled) {
            ("refused", _) => Label::Refused,
            ("failed", _) => Label::Failed,
            (_, "rest") => Label::Rest,
            (_, "periodic" | "travelling") if has_period => {
                let travels = settled == "travelling";
                Label::Periodic { period: period as u32, impacts: impacts as u32, travels, chatters }
            }
            (_, "periodic") => Label::Recurrent { time: period, impacts: impacts as u32 },
            _ => Label::Neither,
        }
    }

    /// Whether two trajectories do the same, as far as labels say: a period that is a time varies with a parameter.
    pub fn is_like(&self, other: &Label) -> bool {
        match (self, other) {
            (Label::Recurrent { impacts: a, .. }, Label::Recurrent { impacts: b, .. }) => a == b,
            // (How many impacts come before the limit of infinitely many says nothing.)
            (Label::Periodic { period: a, chatters: true, .. }, Label::Periodic { period: b, chatters: true, .. }) => {
                a == b
            }
            (a, b) => a == b,
        }
    }

    /// The period, in periods of the forcing.
    pub fn period(&self) -> Option<u32> {
        match self {
            Label::Periodic { period, .. } => Some(*period),
            _ => None,
        }
    }

    /// Whether it says what the motion is.
    pub fn is_resolved(&self) -> bool {
        matches!(self, Label::Rest | Label::Periodic { .. } | Label::Recurrent { .. })
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Label::Rest => write!(f, "rest"),
            Label::Periodic { period, travels, chatters: true, .. } => {
                write!(f, "period {period}, chatter{}", if *travels { ", travelling" } else { "" })
            }
            Label::Periodic { period, impacts, travels, .. } => {
                let travels = if *travels { ", travelling" } else { "" };
                write!(f, "period {period}, {}{travels}", count(u64::from(*impacts), "impact"))
            }
            Label::Recurrent { time, impacts } => {
                write!(f, "period {}, {}", number(*time, 5), count(u64::from(*impacts), "impact"))
            }
            Label::Neither => write!(f, "neither periodic nor at rest"),
            Label::Failed => write!(f, "failed"),
            Label::Refused => write!(f, "refused"),
        }
    }
}
