//! The switches of a series: states of functions with corners and jumps, and how long they hold.

use std::sync::Arc;

use super::rules::Rule;
use super::{Series, SeriesCode};
use crate::function::Function1;
use crate::table::{Outside, Table};

/// A switch and its argument.
#[derive(Clone, Debug)]
pub(super) struct Switch {
    pub(super) x: usize,
    pub(super) kind: Kind,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// State: the sign of x.
    Sign,
    /// State: the whole number below x.
    Floor,
    /// State: the segment of x; −1 and n − 1 are outside.
    Table(Arc<Table>),
    /// State: how many of these levels x has passed. Nothing changes there, but the series ends: far below its peak exp(x) is
    /// zero to the last digit, and far from its front tanh(x) is one; no coefficient announces what comes.
    Levels(&'static [f64]),
    /// State: the power of 10⁴ below |x|. A denominator, or the argument of a logarithm, that falls by many powers in one
    /// step has a pole nearby that the first coefficients do not show.
    Decades,
    /// Has one state: x is a root, which must stay ≥ 0. Where the radicand touches zero, the series would continue to the
    /// negative root: √(t²) is |t|, not t.
    Root,
}

/// Beyond these decades no more marks are set: an argument that goes on towards zero has a root or pole there, which is met.
const LOWEST: i64 = -4;

/// Levels of the arguments of exp, tanh and cosh.
pub(super) const EXP: &[f64] = &[-740.0, -500.0, -300.0, -150.0, -60.0, -30.0, 30.0, 60.0, 150.0, 300.0, 500.0, 700.0];
pub(super) const COSH: &[f64] = &[-700.0, -350.0, -175.0, -80.0, -40.0, -20.0, 20.0, 40.0, 80.0, 175.0, 350.0, 700.0];
pub(super) const TANH: &[f64] = &[-20.0, 20.0];

/// The lower boundary of a state of [`Kind::Decades`].
fn decade(state: i64) -> f64 {
    10f64.powi(4 * i32::try_from(state).unwrap_or(i32::MAX / 4))
}

impl SeriesCode {
    /// Whether there may be places where an expression has no value, or an infinite one, or an infinite slope: it has roots, logarithms,
    /// denominators or tangents.
    #[must_use]
    pub fn may_be_singular(&self) -> bool {
        self.switches.iter().any(|switch| matches!(switch.kind, Kind::Root | Kind::Decades))
            || self.rules.iter().any(|(_, rule)| matches!(rule, Rule::Slope { of: Function1::Tan, .. }))
    }
}

impl Series {
    /// The number of switches.
    #[must_use]
    pub fn switches(&self) -> usize {
        self.states.len()
    }

    /// Whether a switch changes nothing: the series ends there, because it cannot show what comes.
    #[must_use]
    pub fn is_mark(&self, switch: usize) -> bool {
        matches!(self.code.switches[switch].kind, Kind::Levels(_) | Kind::Decades)
    }

    /// Whether a switch guards a root: its state never changes, but the series ends where it reaches zero.
    #[must_use]
    pub fn is_root(&self, switch: usize) -> bool {
        matches!(self.code.switches[switch].kind, Kind::Root)
    }

    /// The coefficients of the argument of a switch.
    #[must_use]
    pub fn argument(&self, switch: usize) -> &[f64] {
        self.of(self.code.switches[switch].x)
    }

    /// The state of a switch.
    #[must_use]
    pub fn state(&self, switch: usize) -> i64 {
        self.states[switch]
    }

    /// The states of all switches.
    #[must_use]
    pub fn states(&self) -> &[i64] {
        &self.states
    }

    /// Sets the state of a switch; it takes effect at the next order 0 that is not `fresh`.
    pub fn set_state(&mut self, switch: usize, state: i64) {
        self.states[switch] = state;
    }

    /// Writes the margin of a switch towards one of its ends (0: lower, 1: upper) to `out`, for the orders computed:
    /// a polynomial that is ≥ 0 as long as the state holds. Returns the state beyond; `None` if there is no such end.
    pub fn margin(&self, switch: usize, end: usize, out: &mut [f64]) -> Option<i64> {
        let Switch { x, kind } = &self.code.switches[switch];
        let (state, x) = (self.states[switch], self.of(*x));
        let mirrored = matches!(kind, Kind::Decades) && x[0] < 0.0;
        let (boundary, beyond) = match (kind, end) {
            // (Back a little later than there: rounding must not lead to and fro.)
            (Kind::Levels(levels), 0) => (*levels.get(usize::try_from(state - 1).ok()?)? - 2.0, state - 1),
            (Kind::Levels(levels), _) => (*levels.get(usize::try_from(state).ok()?)?, state + 1),
            (Kind::Decades, 0) if state > LOWEST => (0.5 * decade(state), state - 1),
            (Kind::Decades, 1) if state < -LOWEST => (decade(state + 1), state + 1),
            (Kind::Decades, _) => return None,
            (Kind::Sign, 0) if state >= 0 => (0.0, -1),
            (Kind::Sign, 1) if state <= 0 => (0.0, 1),
            (Kind::Root, 0) => (0.0, 0),
            (Kind::Sign | Kind::Root, _) => return None,
            (Kind::Floor, 0) => (state as f64, state - 1),
            (Kind::Floor, _) => (state as f64 + 1.0, state + 1),
            (Kind::Table(table), 0) => (*table.points().0.get(usize::try_from(state).ok()?)?, state - 1),
            (Kind::Table(table), _) => (*table.points().0.get(usize::try_from(state + 1).ok()?)?, state + 1),
        };
        let sign = if end == 0 { 1.0 } else { -1.0 };
        let side = if mirrored { -sign } else { sign };
        for (o, c) in out.iter_mut().zip(x) {
            *o = side * c;
        }
        out[0] = side * x[0] - sign * boundary;
        Some(beyond)
    }

    /// If `fresh`, sets the state of a switch from its argument. NaN has no state; it shows in the values.
    pub(super) fn settle(&mut self, switch: usize, fresh: bool) {
        if !fresh {
            return;
        }
        let Switch { x, kind } = &self.code.switches[switch];
        let x = self.coefficients[x * self.stride];
        self.states[switch] = match kind {
            Kind::Sign if x > 0.0 => 1,
            Kind::Sign if x < 0.0 => -1,
            Kind::Sign | Kind::Root => 0,
            Kind::Floor => x.floor() as i64,
            Kind::Levels(levels) => levels.partition_point(|&level| level <= x) as i64,
            Kind::Decades => ((x.abs().log10() / 4.0).floor() as i64).clamp(LOWEST, -LOWEST),
            Kind::Table(table) => table.points().0.partition_point(|&knot| knot <= x) as i64 - 1,
        };
    }
}

pub(super) fn takes_first(state: i64, greater: bool) -> bool {
    if greater { state >= 0 } else { state <= 0 }
}

pub(super) fn segment_value(table: &Table, state: i64, x: f64) -> f64 {
    let (knots, values) = table.points();
    let last = knots.len() as i64 - 1;
    match (state, table.outside()) {
        (k, Outside::Zero) if k < 0 || k >= last => 0.0,
        (k, Outside::Hold) if k < 0 => values[0],
        (k, Outside::Hold) if k >= last => values[knots.len() - 1],
        (k, _) => {
            let k = k as usize;
            let part = (x - knots[k]) / (knots[k + 1] - knots[k]);
            values[k] * (1.0 - part) + values[k + 1] * part
        }
    }
}

pub(super) fn segment_slope(table: &Table, state: i64) -> f64 {
    let (knots, values) = table.points();
    match usize::try_from(state) {
        Ok(k) if k + 1 < knots.len() => (values[k + 1] - values[k]) / (knots[k + 1] - knots[k]),
        _ => 0.0,
    }
}
