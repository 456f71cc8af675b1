//! What rounding makes of the values of a series: running error analysis (Higham, Accuracy and Stability of Numerical
//! Algorithms, §3.3), one pass over the rules.

use super::Series;
use super::rules::Rule;
use super::switch::{Kind, segment_slope};

impl Series {
    /// A bound, to first order, on the rounding errors of the values (order 0) of the outputs, given that the inputs are
    /// rounded. A difference of two terms that nearly cancel has the errors of both.
    #[must_use]
    pub fn rounding(&self) -> Vec<f64> {
        self.rounding_from(&[])
    }

    /// The same with inputs that are sums of terms: the sizes of those, of the first inputs.
    #[must_use]
    pub fn rounding_from(&self, sizes: &[f64]) -> Vec<f64> {
        let at = |r: usize| self.coefficients[r * self.stride].abs();
        let mut errors: Vec<f64> = (0..self.code.registers).map(|r| f64::EPSILON * at(r)).collect();
        for (error, size) in errors.iter_mut().zip(sizes) {
            *error = error.max(f64::EPSILON * size);
        }
        for &(target, rule) in &self.code.rules {
            let (y, own) = (at(target), f64::EPSILON * at(target));
            let e = |r: usize| errors[r];
            let passed = match rule {
                Rule::Add(a, b) | Rule::Sub(a, b) => e(a) + e(b),
                Rule::Neg(a) | Rule::Shift(a, _) | Rule::Abs { x: a, .. } => e(a),
                Rule::Scale(a, c) => c.abs() * e(a),
                Rule::Mul(a, b) => at(a) * e(b) + at(b) * e(a),
                Rule::Square(a) => 2.0 * at(a) * e(a),
                Rule::Div(a, b) => (e(a) + y * e(b)) / at(b),
                Rule::Exp(a) => y * e(a),
                Rule::Sqrt(a) if y == 0.0 => e(a).sqrt(),
                Rule::Sqrt(a) => e(a) / (2.0 * y),
                Rule::Power(a, p) if at(a) == 0.0 => e(a).powf(p),
                Rule::Power(a, p) => (p * y / at(a)).abs() * e(a),
                Rule::Turn { x, .. } => {
                    errors[target + 1] += y * errors[x];
                    at(target + 1) * errors[x]
                }
                Rule::Slope { x, .. } => at(target + 1) * e(x),
                Rule::Quotient { x, d, .. } => e(x) / at(d),
                Rule::Angle { a, b, d } => (at(b) * e(a) + at(a) * e(b)) / at(d),
                Rule::Lesser { first, second, .. } => e(first).max(e(second)),
                Rule::Select(c, a, b) => e(if at(c) != 0.0 { a } else { b }),
                Rule::Table { x, switch } => match &self.code.switches[switch].kind {
                    Kind::Table(table) => segment_slope(table, self.states[switch]).abs() * e(x),
                    _ => 0.0,
                },
                _ => 0.0,
            };
            errors[target] = passed + own;
        }
        self.code.outputs.iter().map(|&r| errors[r]).collect()
    }
}
