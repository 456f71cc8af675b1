//! Taylor series of expressions along a motion: given the coefficients of the inputs up to some order, those of every
//! expression, one order at a time.
//!
//! For y = sin(x(t)) and its like the recurrences follow from the differential equation that y satisfies (y' = x' cos x;
//! see Griewank & Walther, Evaluating Derivatives, chapter 13): order k costs k multiplications. Taken order by order they
//! solve differential equations: order k of the right-hand side gives order k + 1 of the unknowns, which are its inputs.
//!
//! Functions with corners and jumps (abs, sign, min, max, floor, mod, comparisons, `if`, tables) have a series on either
//! side of where they switch. Each has a *switch* with a state (which side, which whole number, which segment). The states
//! are kept while a series is used, and the margins say how long: polynomials that must stay ≥ 0.

mod compile;

use crate::ast::CompareOp;
use crate::function::{Function1, Function2};
use crate::graph::{Graph, NodeId};
use crate::program::MissingInput;
use crate::table::{Outside, Table};
use std::sync::Arc;

/// How a register's coefficients follow from those of others.
#[derive(Clone, Copy, Debug)]
enum Rule {
    Add(usize, usize),
    Sub(usize, usize),
    Neg(usize),
    Scale(usize, f64),
    Shift(usize, f64),
    Mul(usize, usize),
    Square(usize),
    Div(usize, usize),
    Exp(usize),
    Sqrt(usize),
    /// A constant power that is not a whole number.
    Power(usize, f64),
    /// sin (sign −1) or sinh (sign 1) of a register; the register after the target is its cos or cosh.
    Turn {
        x: usize,
        sign: f64,
        of: Function1,
        with: Function1,
    },
    /// y' = w x' with w = 1 + sign y²: tan and tanh. The register after the target is w.
    Slope {
        x: usize,
        sign: f64,
        of: Function1,
    },
    /// y' = sign x'/d: log, asin, acos, atan.
    Quotient {
        x: usize,
        d: usize,
        sign: f64,
        of: Function1,
    },
    /// y' = (b a' − a b')/d with d = a² + b².
    Angle {
        a: usize,
        b: usize,
        d: usize,
    },
    /// What follows depends on the state of a switch.
    Abs {
        x: usize,
        switch: usize,
    },
    Sign {
        switch: usize,
    },
    /// The first where the difference first − second is negative (or, for `greater`, positive).
    Lesser {
        first: usize,
        second: usize,
        switch: usize,
        greater: bool,
    },
    Compare {
        op: CompareOp,
        switch: usize,
    },
    Floor {
        switch: usize,
    },
    Table {
        x: usize,
        switch: usize,
    },
    TableSlope {
        switch: usize,
    },
    /// Whether a register is (or, `not`, is not) zero: an instant has no length, so this is no switch.
    Zero {
        x: usize,
        not: bool,
    },
    /// What follows acts on numbers 0 and 1.
    Select(usize, usize, usize),
    Logic(Function2, usize, usize),
    Not(usize),
}

/// Something that switches, and what it looks at.
#[derive(Clone, Debug)]
struct Switch {
    x: usize,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    /// State: the sign of x.
    Sign,
    /// State: the whole number below x.
    Floor,
    /// State: the segment of x, −1 and n − 1 being those outside.
    Table(Arc<Table>),
    /// Has one state: x is a root, which must stay ≥ 0. Where what is under it touches zero its series would go on to the
    /// negative root: √(t²) is |t|, not t.
    Root,
}

/// Code for the series of a set of outputs.
#[derive(Clone, Debug)]
pub struct SeriesCode {
    inputs: usize,
    constants: Vec<f64>,
    /// (target, rule), in an order in which operands come first.
    rules: Vec<(usize, Rule)>,
    registers: usize,
    outputs: Vec<usize>,
    switches: Vec<Switch>,
    /// For each register the highest order that is not zero.
    degree: Vec<usize>,
}

impl SeriesCode {
    /// Code for the series of the outputs. `degree` bounds the degree of an input as a polynomial, where it is known
    /// beforehand: 1 for time, usize::MAX for an unknown function of it.
    ///
    /// # Errors
    /// An output needs a symbol that is not an input.
    pub fn compile(
        graph: &Graph,
        inputs: &[NodeId],
        degree: &[usize],
        outputs: &[NodeId],
    ) -> Result<Self, MissingInput> {
        compile::compile(graph, inputs, degree, outputs)
    }

    /// The share of the rules in which order k takes all orders below: what a series of high order costs.
    pub fn convolved(&self) -> f64 {
        let open = |r: &usize| self.degree[*r] == usize::MAX;
        let costly = |(_, rule): &&(usize, Rule)| match rule {
            Rule::Mul(a, b) | Rule::Div(a, b) => open(a) && open(b),
            Rule::Square(x) | Rule::Exp(x) | Rule::Sqrt(x) | Rule::Power(x, _) => open(x),
            Rule::Turn { x, .. } | Rule::Slope { x, .. } | Rule::Quotient { x, .. } => open(x),
            Rule::Angle { .. } => true,
            _ => false,
        };
        self.rules.iter().filter(costly).count() as f64 / self.rules.len().max(1) as f64
    }
}

/// Evaluates series; allocates nothing after it is made.
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
    /// An evaluator for series up to an order.
    pub fn new(code: Arc<SeriesCode>, order: usize) -> Self {
        let stride = order + 1;
        let mut coefficients = vec![0.0; code.registers * stride];
        for (k, c) in code.constants.iter().enumerate() {
            coefficients[(code.inputs + k) * stride] = *c;
        }
        Series { stride, coefficients, states: vec![0; code.switches.len()], code }
    }

    /// The coefficient of an input; orders up to the one evaluated must be set.
    #[inline]
    pub fn set_input(&mut self, input: usize, order: usize, value: f64) {
        self.coefficients[input * self.stride + order] = value;
    }

    /// The coefficients of output `k`; those up to the order evaluated are of use.
    #[inline]
    pub fn output(&self, k: usize) -> &[f64] {
        self.of(self.code.outputs[k])
    }

    /// One coefficient of output `k`.
    #[inline]
    pub fn coefficient(&self, k: usize, order: usize) -> f64 {
        self.coefficients[self.code.outputs[k] * self.stride + order]
    }

    #[inline]
    fn of(&self, register: usize) -> &[f64] {
        &self.coefficients[register * self.stride..(register + 1) * self.stride]
    }

    /// The number of switches.
    pub fn switches(&self) -> usize {
        self.states.len()
    }

    /// Whether a switch is the sign of a root: it changes no state, but a series ends there.
    pub fn is_root(&self, switch: usize) -> bool {
        matches!(self.code.switches[switch].kind, Kind::Root)
    }

    /// The coefficients of what a switch looks at.
    pub fn argument(&self, switch: usize) -> &[f64] {
        self.of(self.code.switches[switch].x)
    }

    /// The state of a switch.
    pub fn state(&self, switch: usize) -> i64 {
        self.states[switch]
    }

    /// Puts a switch into a state; it holds from the next order 0 that is not `fresh`.
    pub fn set_state(&mut self, switch: usize, state: i64) {
        self.states[switch] = state;
    }

    /// Computes order `k` of all outputs; orders below must have been computed. At order 0, `fresh` sets the switches by
    /// their values; otherwise they keep their states.
    pub fn advance(&mut self, k: usize, fresh: bool) {
        for i in 0..self.code.rules.len() {
            let (target, rule) = self.code.rules[i];
            let value = if k == 0 { self.start(target, rule, fresh) } else { self.next(target, rule, k) };
            self.coefficients[target * self.stride + k] = value;
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
                self.coefficients[(target + 1) * stride] = 1.0 + sign * y * y;
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
                let x = at(x);
                self.settle(switch, fresh);
                if self.states[switch] < 0 { -x } else { x }
            }
            Rule::Sign { switch } => {
                self.settle(switch, fresh);
                self.states[switch] as f64
            }
            Rule::Lesser { first, second, switch, greater } => {
                let (a, b) = (at(first), at(second));
                self.settle(switch, fresh);
                if takes_first(self.states[switch], greater) { a } else { b }
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

    /// Sets a switch by its value, if asked to; not-a-number is nobody's state and shows in the values themselves.
    fn settle(&mut self, switch: usize, fresh: bool) {
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
            Kind::Table(table) => table.points().0.partition_point(|&knot| knot <= x) as i64 - 1,
        };
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
                // Σ_{j=1..k} b_j y_{k−j}
                let rest = dot_back(b_row, y, k, 1, k.min(degree[b]));
                (at(a) - rest) / b_row[0]
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
            | Rule::Compare { .. }
            | Rule::Floor { .. }
            | Rule::TableSlope { .. }
            | Rule::Zero { .. }
            | Rule::Logic(..)
            | Rule::Not(_) => 0.0,
        }
    }

    /// Writes the margin of a switch towards one of its ends (0: lower, 1: upper) into `out`, for the orders computed:
    /// a polynomial that must stay ≥ 0 for the state to hold. Gives the state beyond; None if there is no such end.
    pub fn margin(&self, switch: usize, end: usize, out: &mut [f64]) -> Option<i64> {
        let Switch { x, kind } = &self.code.switches[switch];
        let (state, x) = (self.states[switch], self.of(*x));
        let (boundary, beyond) = match (kind, end) {
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
        for (o, c) in out.iter_mut().zip(x) {
            *o = sign * c;
        }
        out[0] = sign * (x[0] - boundary);
        Some(beyond)
    }
}

fn takes_first(state: i64, greater: bool) -> bool {
    if greater { state >= 0 } else { state <= 0 }
}

fn segment_value(table: &Table, state: i64, x: f64) -> f64 {
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

fn segment_slope(table: &Table, state: i64) -> f64 {
    let (knots, values) = table.points();
    match usize::try_from(state) {
        Ok(k) if k + 1 < knots.len() => (values[k + 1] - values[k]) / (knots[k + 1] - knots[k]),
        _ => 0.0,
    }
}

/// Order k of a root or power at zero: zero for what stays zero; anything else has no series there.
fn at_zero(x: &[f64], k: usize) -> f64 {
    if x[..=k].iter().all(|&c| c == 0.0) { 0.0 } else { f64::NAN }
}

/// Σ_{j=from..to} a_j b_{k−j}.
#[inline]
fn dot_back(a: &[f64], b: &[f64], k: usize, from: usize, to: usize) -> f64 {
    if from > to {
        return 0.0;
    }
    a[from..=to].iter().zip(b[k - to..=k - from].iter().rev()).map(|(x, y)| x * y).sum()
}

/// Order k of a product.
#[inline]
fn product(a: &[f64], degree_a: usize, b: &[f64], degree_b: usize, k: usize) -> f64 {
    dot_back(a, b, k, k.saturating_sub(degree_b), k.min(degree_a))
}

/// Order k of a square: pairs once.
#[inline]
fn square(a: &[f64], k: usize) -> f64 {
    let half = k.div_ceil(2);
    let pairs = if half > 0 { 2.0 * dot_back(a, a, k, 0, half - 1) } else { 0.0 };
    if k.is_multiple_of(2) { pairs + a[k / 2] * a[k / 2] } else { pairs }
}

/// Σ_{j=1..to} j x_j w_{k−j}.
#[inline]
fn weighted(x: &[f64], w: &[f64], k: usize, to: usize) -> f64 {
    let pairs = x[1..=to].iter().zip(w[k - to..k].iter().rev());
    pairs.enumerate().map(|(j, (x, w))| (j + 1) as f64 * x * w).sum()
}

#[cfg(test)]
mod tests;
