//! Taylor series of expressions along a motion: from the coefficients of the inputs follow those of every expression,
//! one order at a time.
//!
//! For y = sin(x(t)) and similar functions the recurrences follow from the differential equation that y satisfies
//! (y' = x' cos x; see Griewank & Walther, Evaluating Derivatives, chapter 13): order k costs k multiplications. Evaluated
//! order by order they solve differential equations: order k of the right-hand side gives order k + 1 of the unknowns, which
//! are its inputs.
//!
//! Functions with corners and jumps (abs, sign, min, max, floor, mod, comparisons, `if`, tables) have a different series on
//! each side. Each has a *switch* with a state (the side, the whole number, the segment). A series is valid as long as
//! the states hold, that is, as long as the *margins* of the switches, which are polynomials, are ≥ 0.

mod combine;
mod compile;
mod convolve;
mod lanes;
mod rounding;
mod rules;
mod source;
mod switch;
mod tangent;

use std::sync::Arc;

use crate::function::Function1;

use convolve::{at_zero, dot_back, product, square, weighted};
use rules::Rule;
use switch::{Kind, segment_slope, segment_value, takes_first};

pub use lanes::{Lane, SeriesLanes};
pub use rules::SeriesCode;
pub use source::SeriesSource;

/// A quotient by more than this, and less than the inverse of it, is zero for all that is added to it.
const HUGE: f64 = 1e100;

/// Evaluates series; does not allocate after construction.
///
/// ```
/// use std::sync::Arc;
/// use saltus_expr::{Function1, Graph, Series, SeriesCode};
/// let mut g = Graph::new();
/// let t = g.symbol("t");
/// let s = g.unary(Function1::Sin, t);
/// let mut series = Series::new(Arc::new(SeriesCode::compile(&g, &[t], &[1], &[s]).unwrap()), 3);
/// for (order, coefficient) in [0.0, 1.0, 0.0, 0.0].into_iter().enumerate() {
///     series.set_input(0, order, coefficient);
///     series.advance(order, true);
/// }
/// assert_eq!(series.output(0), [0.0, 1.0, 0.0, -1.0 / 6.0]);
/// ```
#[derive(Clone, Debug)]
pub struct Series {
    code: Arc<SeriesCode>,
    stride: usize,
    coefficients: Vec<f64>,
    states: Vec<i64>,
}

impl Series {
    /// An evaluator for series up to the given order.
    #[must_use]
    pub fn new(code: Arc<SeriesCode>, order: usize) -> Self {
        let stride = order + 1;
        let mut coefficients = vec![0.0; code.registers * stride];
        for (k, c) in code.constants.iter().enumerate() {
            coefficients[(code.inputs + k) * stride] = *c;
        }
        Series { stride, coefficients, states: vec![0; code.switches.len()], code }
    }

    /// Sets a coefficient of an input. Before [`Series::advance`] to order k, orders up to k must be set.
    #[inline]
    pub fn set_input(&mut self, input: usize, order: usize, value: f64) {
        self.coefficients[input * self.stride + order] = value;
    }

    /// The coefficients of output `k`, valid up to the order computed.
    #[inline]
    #[must_use]
    pub fn output(&self, k: usize) -> &[f64] {
        self.of(self.code.outputs[k])
    }

    /// One coefficient of output `k`.
    #[inline]
    #[must_use]
    pub fn coefficient(&self, k: usize, order: usize) -> f64 {
        self.coefficients[self.code.outputs[k] * self.stride + order]
    }

    #[inline]
    fn of(&self, register: usize) -> &[f64] {
        &self.coefficients[register * self.stride..(register + 1) * self.stride]
    }

    /// Computes order `k` of all outputs; lower orders must have been computed. At order 0, `fresh` determines the states of
    /// the switches from their arguments; otherwise they keep their states.
    pub fn advance(&mut self, k: usize, fresh: bool) {
        for i in 0..self.code.rules.len() {
            let (target, rule) = self.code.rules[i];
            let value = if k == 0 { self.start(target, rule, fresh) } else { self.next(target, rule, k) };
            self.coefficients[target * self.stride + k] = value;
        }
    }

    /// Leaves orders from `k` on out of everything, where their coefficients are beyond the largest number.
    pub fn truncate(&mut self, k: usize) {
        for row in self.coefficients.chunks_mut(self.stride) {
            row[k.min(self.stride)..].fill(0.0);
        }
    }

    /// Order 0: the value.
    fn start(&mut self, target: usize, rule: Rule, fresh: bool) -> f64 {
        let stride = self.stride;
        let at = |r: usize| self.coefficients[r * stride];
        let truth = |holds: bool| if holds { 1.0 } else { 0.0 };
        match rule {
            Rule::Add(a, b) => at(a) + at(b),
            Rule::Sub(a, b) => at(a) - at(b),
            Rule::Neg(a) => -at(a),
            Rule::Scale(a, c) => c * at(a),
            Rule::Shift(a, c) => at(a) + c,
            Rule::Mul(a, b) => at(a) * at(b),
            Rule::Square(a) => at(a) * at(a),
            Rule::Div(a, b) => at(a) / at(b),
            Rule::Exp(a) => Function1::Exp.eval(at(a)),
            Rule::Sqrt(a) => at(a).sqrt(),
            Rule::Power(a, p) => at(a).powf(p),
            Rule::Turn { x, of, with, .. } => {
                let (value, other) = (of.eval(at(x)), with.eval(at(x)));
                self.coefficients[(target + 1) * stride] = other;
                value
            }
            Rule::Slope { x, sign, of } => {
                let y = of.eval(at(x));
                // (Far from its front 1 − tanh² is rounding; what announces the front is 1/cosh².)
                let slope = match of {
                    Function1::Tanh => Function1::Cosh.eval(at(x)).powi(-2),
                    _ => 1.0 + sign * y * y,
                };
                self.coefficients[(target + 1) * stride] = slope;
                y
            }
            Rule::Quotient { x, of, .. } => of.eval(at(x)),
            Rule::Angle { a, b, .. } => at(a).atan2(at(b)),
            Rule::Select(c, a, b) => {
                if at(c) != 0.0 {
                    at(a)
                } else {
                    at(b)
                }
            }
            Rule::Logic(f, a, b) => f.eval(at(a), at(b)),
            Rule::Zero { x, not } => truth((at(x) == 0.0) != not),
            Rule::Not(a) => truth(at(a) == 0.0),
            Rule::Abs { x, switch } => {
                // (The value is that of the function, whatever rounding makes of the side: a root of it must not see −1e-20.)
                let x = at(x);
                self.settle(switch, fresh);
                x.abs()
            }
            Rule::Sign { switch } => {
                self.settle(switch, fresh);
                self.states[switch] as f64
            }
            Rule::Lesser { first, second, switch, greater } => {
                let (a, b) = (at(first), at(second));
                self.settle(switch, fresh);
                let by_value = if greater { a >= b } else { a <= b };
                if by_value { a } else { b }
            }
            Rule::Mark { switch } => {
                self.settle(switch, fresh);
                0.0
            }
            Rule::Compare { op, switch } => {
                self.settle(switch, fresh);
                op.eval(self.states[switch] as f64, 0.0)
            }
            Rule::Floor { switch } => {
                self.settle(switch, fresh);
                self.states[switch] as f64
            }
            Rule::Table { x, switch } => {
                let x = at(x);
                self.settle(switch, fresh);
                let Kind::Table(table) = &self.code.switches[switch].kind else { return f64::NAN };
                segment_value(table, self.states[switch], x)
            }
            Rule::TableSlope { switch } => {
                self.settle(switch, fresh);
                let Kind::Table(table) = &self.code.switches[switch].kind else { return f64::NAN };
                segment_slope(table, self.states[switch])
            }
        }
    }

    /// Order k ≥ 1.
    fn next(&mut self, target: usize, rule: Rule, k: usize) -> f64 {
        let degree = &self.code.degree;
        if k > degree[target] {
            return 0.0;
        }
        let stride = self.stride;
        let row = |r: usize| &self.coefficients[r * stride..(r + 1) * stride];
        let at = |r: usize| self.coefficients[r * stride + k];
        let order = k as f64;
        match rule {
            Rule::Add(a, b) => at(a) + at(b),
            Rule::Sub(a, b) => at(a) - at(b),
            Rule::Neg(a) => -at(a),
            Rule::Scale(a, c) => c * at(a),
            Rule::Shift(a, _) => at(a),
            Rule::Mul(a, b) => product(row(a), degree[a], row(b), degree[b], k),
            Rule::Square(a) => square(row(a), k),
            Rule::Div(a, b) => {
                let (y, b_row) = (row(target), row(b));
                // (Beyond the largest number: a quotient that is zero stays zero until its denominator is a number again.)
                if b_row[0].is_infinite() && y[0] == 0.0 {
                    return 0.0;
                }
                // Σ_{j=1..k} b_j y_{k−j}
                let rest = dot_back(b_row, y, k, 1, k.min(degree[b]));
                let value = (at(a) - rest) / b_row[0];
                // (Its coefficients may be beyond it before the denominator itself is: the quotient is nothing yet.)
                let is_nothing = b_row[0].abs() > HUGE && y[0].abs() < 1.0 / HUGE;
                if value.is_finite() || !is_nothing { value } else { 0.0 }
            }
            Rule::Exp(x) => weighted(row(x), row(target), k, k.min(degree[x])) / order,
            Rule::Sqrt(x) => {
                let y = row(target);
                if y[0] == 0.0 {
                    return at_zero(row(x), k);
                }
                let rest = if k > 1 { dot_back(y, y, k, 1, k - 1) } else { 0.0 };
                (at(x) - rest) / (2.0 * y[0])
            }
            Rule::Power(a, p) => {
                let (x, y) = (row(a), row(target));
                if x[0] == 0.0 && p > 0.0 {
                    return at_zero(x, k);
                }
                let terms = (1..=k.min(degree[a])).map(|j| (p * j as f64 - (k - j) as f64) * x[j] * y[k - j]);
                terms.sum::<f64>() / (order * x[0])
            }
            Rule::Turn { x, sign, .. } => {
                let (x_row, top) = (row(x), k.min(degree[x]));
                let value = weighted(x_row, row(target + 1), k, top) / order;
                let other = sign * weighted(x_row, row(target), k, top) / order;
                self.coefficients[(target + 1) * stride + k] = other;
                value
            }
            Rule::Slope { x, sign, .. } => {
                let value = weighted(row(x), row(target + 1), k, k.min(degree[x])) / order;
                self.coefficients[target * stride + k] = value;
                let squared = square(self.of(target), k);
                self.coefficients[(target + 1) * stride + k] = sign * squared;
                value
            }
            Rule::Quotient { x, d, sign, .. } => {
                let (y, d_row) = (row(target), row(d));
                let rest = if k > 1 { weighted(y, d_row, k, k - 1) } else { 0.0 };
                (sign * order * self.coefficients[x * stride + k] - rest) / (order * d_row[0])
            }
            Rule::Angle { a, b, d } => {
                let (y, d_row) = (row(target), row(d));
                let turn = weighted(row(a), row(b), k, k) - weighted(row(b), row(a), k, k);
                let rest = if k > 1 { weighted(y, d_row, k, k - 1) } else { 0.0 };
                (turn - rest) / (order * d_row[0])
            }
            Rule::Abs { x, switch } => {
                if self.states[switch] < 0 {
                    -at(x)
                } else {
                    at(x)
                }
            }
            Rule::Lesser { first, second, switch, greater } => {
                at(if takes_first(self.states[switch], greater) { first } else { second })
            }
            Rule::Table { x, switch } => match &self.code.switches[switch].kind {
                Kind::Table(table) => segment_slope(table, self.states[switch]) * at(x),
                _ => f64::NAN,
            },
            Rule::Select(c, a, b) => at(if self.coefficients[c * stride] != 0.0 { a } else { b }),
            Rule::Sign { .. }
            | Rule::Mark { .. }
            | Rule::Compare { .. }
            | Rule::Floor { .. }
            | Rule::TableSlope { .. }
            | Rule::Zero { .. }
            | Rule::Logic(..)
            | Rule::Not(_) => 0.0,
        }
    }
}
