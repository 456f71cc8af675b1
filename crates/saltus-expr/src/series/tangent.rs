//! How the argument of a switch changes when the inputs do: a derivative along one direction, at the point of order 0.

use super::Series;
use super::rules::Rule;
use super::switch::{Kind, segment_slope, takes_first};

impl Series {
    /// The derivative of the argument of a switch along a direction, one number for each input, at the point where order 0
    /// was last computed. Switches are in their present states. `room` is overwritten.
    #[must_use]
    pub fn argument_along(&self, switch: usize, direction: &[f64], room: &mut Vec<f64>) -> f64 {
        let code = &self.code;
        room.clear();
        room.resize(code.registers, 0.0);
        let inputs = direction.len().min(code.inputs);
        room[..inputs].copy_from_slice(&direction[..inputs]);
        let at = |r: usize| self.coefficients[r * self.stride];
        for &(target, rule) in &code.rules {
            let d = |r: usize| room[r];
            let slope = match rule {
                Rule::Add(a, b) => d(a) + d(b),
                Rule::Sub(a, b) => d(a) - d(b),
                Rule::Neg(a) => -d(a),
                Rule::Scale(a, c) => c * d(a),
                Rule::Shift(a, _) => d(a),
                Rule::Mul(a, b) => at(a) * d(b) + at(b) * d(a),
                Rule::Square(a) => 2.0 * at(a) * d(a),
                Rule::Div(a, b) => (d(a) - at(target) * d(b)) / at(b),
                Rule::Exp(a) => at(target) * d(a),
                Rule::Sqrt(a) => unless_still(d(a), || d(a) / (2.0 * at(target))),
                Rule::Power(a, p) => unless_still(d(a), || p * at(a).powf(p - 1.0) * d(a)),
                Rule::Turn { x, sign, .. } => {
                    let (own, other) = (at(target + 1) * d(x), sign * at(target) * d(x));
                    room[target + 1] = other;
                    own
                }
                Rule::Slope { x, sign, .. } => {
                    let own = at(target + 1) * d(x);
                    room[target + 1] = sign * 2.0 * at(target) * own;
                    own
                }
                Rule::Quotient { x, d: by, sign, .. } => unless_still(d(x), || sign * d(x) / at(by)),
                Rule::Angle { a, b, d: by } => (at(b) * d(a) - at(a) * d(b)) / at(by),
                Rule::Select(c, a, b) => d(if at(c) != 0.0 { a } else { b }),
                Rule::Abs { x, switch } => {
                    if self.states[switch] < 0 {
                        -d(x)
                    } else {
                        d(x)
                    }
                }
                Rule::Lesser { first, second, switch, greater } => {
                    d(if takes_first(self.states[switch], greater) { first } else { second })
                }
                Rule::Table { x, switch } => match &code.switches[switch].kind {
                    Kind::Table(table) => segment_slope(table, self.states[switch]) * d(x),
                    _ => f64::NAN,
                },
                Rule::Sign { .. }
                | Rule::Mark { .. }
                | Rule::Compare { .. }
                | Rule::Floor { .. }
                | Rule::TableSlope { .. }
                | Rule::Zero { .. }
                | Rule::Logic(..)
                | Rule::Not(_) => 0.0,
            };
            room[target] = slope;
        }
        room[code.switches[switch].x]
    }
}

/// A function with an infinite slope does not change where its argument does not.
fn unless_still(change: f64, slope: impl Fn() -> f64) -> f64 {
    if change == 0.0 { 0.0 } else { slope() }
}
