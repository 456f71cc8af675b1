//! Series of many points side by side: the recurrences of [`Series`](super::Series) on arrays, for code without switches that
//! change anything.
//!
//! Each coefficient is an array of W lanes and each recurrence a plain loop over it, which the compiler vectorises; no lane
//! depends on another one, nor on how many there are. What is known to be zero (a constant has no slope, time no curvature) is
//! left out.

use std::ops::{Index, IndexMut};
use std::sync::Arc;

use multiversion::multiversion;

use super::SeriesCode;
use super::combine::{Order, Step};
use super::rules::Rule;
use super::switch::Kind;
use crate::function::Function1;
use crate::math;

/// W numbers, aligned to a cache line for full-width loads.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(64))]
pub struct Lane<const W: usize>(pub [f64; W]);

impl<const W: usize> Lane<W> {
    /// The same number in every lane.
    #[must_use]
    pub const fn all(x: f64) -> Self {
        Lane([x; W])
    }

    /// The sines and cosines of all lanes.
    #[must_use]
    pub fn sin_cos(&self) -> (Self, Self) {
        match self.0.iter().all(|x| x.abs() <= math::TRIG_LIMIT) {
            true => sin_cos(self),
            false => (Lane(self.0.map(math::sin)), Lane(self.0.map(math::cos))),
        }
    }
}

impl<const W: usize> Index<usize> for Lane<W> {
    type Output = f64;

    #[inline(always)]
    fn index(&self, l: usize) -> &f64 {
        &self.0[l]
    }
}

impl<const W: usize> IndexMut<usize> for Lane<W> {
    #[inline(always)]
    fn index_mut(&mut self, l: usize) -> &mut f64 {
        &mut self.0[l]
    }
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn sin_cos<const W: usize>(x: &Lane<W>) -> (Lane<W>, Lane<W>) {
    let (mut s, mut c) = ([0.0; W], [0.0; W]);
    for l in 0..W {
        s[l] = math::sin_near(x.0[l]);
        c[l] = math::cos_near(x.0[l]);
    }
    (Lane(s), Lane(c))
}

impl SeriesCode {
    /// Whether the series is one formula for all arguments: no corners, no jumps, and nothing that appears without notice far from
    /// where it is expanded (exp, tanh). Only such code can be evaluated by [`SeriesLanes`].
    #[must_use]
    pub fn is_smooth(&self) -> bool {
        self.switches.iter().all(|switch| matches!(switch.kind, Kind::Root | Kind::Decades))
            && self
                .rules
                .iter()
                .all(|(_, rule)| !matches!(rule, Rule::Zero { .. } | Rule::Select(..) | Rule::Logic(..) | Rule::Not(_)))
    }

    /// The number of rules: a measure of the cost.
    #[must_use]
    pub fn rules(&self) -> usize {
        self.rules.len()
    }
}

/// Evaluates series in W lanes; does not allocate after construction.
#[derive(Clone, Debug)]
pub struct SeriesLanes<const W: usize> {
    code: Arc<SeriesCode>,
    stride: usize,
    coefficients: Vec<Lane<W>>,
    /// What is computed for each order.
    orders: Vec<Order>,
}

impl<const W: usize> SeriesLanes<W> {
    /// An evaluator for series up to the given order; None if the code is not smooth ([`SeriesCode::is_smooth`]).
    #[must_use]
    pub fn new(code: Arc<SeriesCode>, order: usize) -> Option<Self> {
        if !code.is_smooth() {
            return None;
        }
        let stride = order + 1;
        let mut coefficients = vec![Lane::all(0.0); code.registers * stride];
        for (k, c) in code.constants.iter().enumerate() {
            coefficients[(code.inputs + k) * stride] = Lane::all(*c);
        }
        let orders = code.combined(order);
        Some(SeriesLanes { stride, coefficients, orders, code })
    }

    /// A coefficient of an input, to be set before [`SeriesLanes::advance`] to its order.
    #[inline]
    pub fn input_mut(&mut self, input: usize, order: usize) -> &mut Lane<W> {
        &mut self.coefficients[input * self.stride + order]
    }

    /// The coefficients of an input.
    #[inline]
    #[must_use]
    pub fn input(&self, input: usize) -> &[Lane<W>] {
        &self.coefficients[input * self.stride..(input + 1) * self.stride]
    }

    /// The coefficients of output `k`, valid up to the order computed.
    #[inline]
    #[must_use]
    pub fn output(&self, k: usize) -> &[Lane<W>] {
        let register = self.code.outputs[k];
        &self.coefficients[register * self.stride..(register + 1) * self.stride]
    }

    /// Denominators and arguments of logarithms: a step must end before one of them falls by many powers of ten, because a pole may
    /// be near that the coefficients of other expressions do not show.
    pub fn marks(&self) -> impl Iterator<Item = &[Lane<W>]> {
        let marks = self.code.switches.iter().filter(|switch| matches!(switch.kind, Kind::Decades));
        marks.map(|switch| &self.coefficients[switch.x * self.stride..(switch.x + 1) * self.stride])
    }

    /// One coefficient of output `k`.
    #[inline]
    #[must_use]
    pub fn coefficient(&self, k: usize, order: usize) -> &Lane<W> {
        &self.coefficients[self.code.outputs[k] * self.stride + order]
    }

    /// Computes order `k` of all outputs; lower orders must have been computed.
    pub fn advance(&mut self, k: usize) {
        match k {
            0 => start(&self.code.rules, self.stride, &mut self.coefficients),
            _ => next(&self.orders[k], &self.code.degree, self.stride, &mut self.coefficients, k),
        }
    }
}

/// out = f(a, b, …) in every lane.
macro_rules! each {
    (($($x:ident = $operand:expr),+) => $value:expr) => {{
        $(let $x = &$operand.0;)+
        let mut out = [0.0; W];
        for l in 0..W {
            $(let $x = $x[l];)+
            out[l] = $value;
        }
        Lane(out)
    }};
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn start<const W: usize>(rules: &[(usize, Rule)], stride: usize, c: &mut [Lane<W>]) {
    for &(target, rule) in rules {
        let at = |r: usize| &c[r * stride];
        let value = match rule {
            Rule::Add(a, b) => each!((a = at(a), b = at(b)) => a + b),
            Rule::Sub(a, b) => each!((a = at(a), b = at(b)) => a - b),
            Rule::Neg(a) => each!((a = at(a)) => -a),
            Rule::Scale(a, s) => each!((a = at(a)) => s * a),
            Rule::Shift(a, s) => each!((a = at(a)) => a + s),
            Rule::Mul(a, b) => each!((a = at(a), b = at(b)) => a * b),
            Rule::Square(a) => each!((a = at(a)) => a * a),
            Rule::Div(a, b) => each!((a = at(a), b = at(b)) => a / b),
            Rule::Exp(a) => each!((a = at(a)) => math::exp(a)),
            Rule::Sqrt(a) => each!((a = at(a)) => a.sqrt()),
            Rule::Power(a, p) => each!((a = at(a)) => a.powf(p)),
            Rule::Turn { x, of, with, .. } => {
                let x = *at(x);
                let is_near = x.0.iter().all(|x| x.abs() <= math::TRIG_LIMIT);
                let (value, other) = match (of, is_near) {
                    (Function1::Sin, true) => {
                        (each!((x = &x) => math::sin_near(x)), each!((x = &x) => math::cos_near(x)))
                    }
                    _ => (one_by_one(&x, of), one_by_one(&x, with)),
                };
                c[(target + 1) * stride] = other;
                value
            }
            Rule::Slope { x, sign, of } => {
                let y = one_by_one(at(x), of);
                c[(target + 1) * stride] = each!((y = &y) => 1.0 + sign * y * y);
                y
            }
            Rule::Quotient { x, of, .. } => one_by_one(at(x), of),
            Rule::Angle { a, b, .. } => each!((a = at(a), b = at(b)) => a.atan2(b)),
            Rule::Mark { .. } => continue,
            _ => Lane::all(f64::NAN),
        };
        c[target * stride] = value;
    }
}

#[inline(never)]
fn one_by_one<const W: usize>(x: &Lane<W>, f: Function1) -> Lane<W> {
    Lane(x.0.map(|x| f.eval(x)))
}

/// Σ_{j=from..=to} a_j b_{k−j}.
#[inline(always)]
fn dot_back<const W: usize>(a: &[Lane<W>], b: &[Lane<W>], k: usize, from: usize, to: usize) -> Lane<W> {
    let mut sum = [0.0; W];
    if from <= to {
        for (x, y) in a[from..=to].iter().zip(b[k - to..=k - from].iter().rev()) {
            for l in 0..W {
                sum[l] += x.0[l] * y.0[l];
            }
        }
    }
    Lane(sum)
}

/// Σ_{j=1..=to} j x_j w_{k−j}.
#[inline(always)]
fn weighted<const W: usize>(x: &[Lane<W>], w: &[Lane<W>], k: usize, to: usize) -> Lane<W> {
    let mut sum = [0.0; W];
    for (j, (x, w)) in x[1..=to].iter().zip(w[k - to..k].iter().rev()).enumerate() {
        let factor = (j + 1) as f64;
        for l in 0..W {
            sum[l] += factor * x.0[l] * w.0[l];
        }
    }
    Lane(sum)
}

#[inline(always)]
fn square<const W: usize>(a: &[Lane<W>], k: usize) -> Lane<W> {
    let half = k.div_ceil(2);
    let pairs = if half > 0 { dot_back(a, a, k, 0, half - 1) } else { Lane::all(0.0) };
    match k.is_multiple_of(2) {
        true => each!((pairs = &pairs, middle = &a[k / 2]) => 2.0 * pairs + middle * middle),
        false => each!((pairs = &pairs) => 2.0 * pairs),
    }
}

/// Σ c x_k.
#[inline(always)]
fn combine<const W: usize>(terms: &[(usize, f64)], stride: usize, c: &[Lane<W>], k: usize) -> Lane<W> {
    let mut sum = [0.0; W];
    for &(r, factor) in terms {
        let x = &c[r * stride + k].0;
        for l in 0..W {
            sum[l] += factor * x[l];
        }
    }
    Lane(sum)
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn next<const W: usize>(steps: &Order, degree: &[usize], stride: usize, c: &mut [Lane<W>], k: usize) {
    let order = 1.0 / k as f64;
    for &(target, step) in &steps.steps {
        let rule = match step {
            Step::Rule(rule) => rule,
            Step::Sum(from, to) => {
                c[target * stride + k] = combine(&steps.terms[from..to], stride, c, k);
                continue;
            }
        };
        let at = |r: usize| &c[r * stride + k];
        let row = |r: usize| &c[r * stride..(r + 1) * stride];
        let value = match rule {
            Rule::Mul(a, b) => dot_back(row(a), row(b), k, k.saturating_sub(degree[b]), k.min(degree[a])),
            Rule::Square(a) => square(row(a), k),
            Rule::Div(a, b) => {
                let rest = dot_back(row(b), row(target), k, 1, k.min(degree[b]));
                each!((a = at(a), rest = &rest, first = row(b)[0]) => (a - rest) / first)
            }
            Rule::Exp(x) => {
                let sum = weighted(row(x), row(target), k, k.min(degree[x]));
                each!((sum = &sum) => sum * order)
            }
            Rule::Sqrt(x) => {
                let y = row(target);
                let rest = if k > 1 { dot_back(y, y, k, 1, k - 1) } else { Lane::all(0.0) };
                each!((x = at(x), rest = &rest, first = y[0]) => (x - rest) / (2.0 * first))
            }
            Rule::Power(a, p) => {
                let (x, y) = (row(a), row(target));
                let mut sum = [0.0; W];
                for j in 1..=k.min(degree[a]) {
                    let factor = p * j as f64 - (k - j) as f64;
                    for l in 0..W {
                        sum[l] += factor * x[j].0[l] * y[k - j].0[l];
                    }
                }
                each!((sum = Lane(sum), first = x[0]) => sum * order / first)
            }
            Rule::Turn { x, sign, .. } => {
                let (x_row, top) = (row(x), k.min(degree[x]));
                let value = weighted(x_row, row(target + 1), k, top);
                let other = weighted(x_row, row(target), k, top);
                let signed = sign * order;
                c[(target + 1) * stride + k] = each!((other = &other) => signed * other);
                each!((value = &value) => value * order)
            }
            Rule::Slope { x, sign, .. } => {
                let sum = weighted(row(x), row(target + 1), k, k.min(degree[x]));
                c[target * stride + k] = each!((sum = &sum) => sum * order);
                let squared = square(&c[target * stride..(target + 1) * stride], k);
                c[(target + 1) * stride + k] = each!((s = &squared) => sign * s);
                continue;
            }
            Rule::Quotient { x, d, sign, .. } => {
                let (y, d_row) = (row(target), row(d));
                let rest = if k > 1 { weighted(y, d_row, k, k - 1) } else { Lane::all(0.0) };
                each!((x = at(x), rest = &rest, first = d_row[0]) => (sign * x - rest * order) / first)
            }
            Rule::Angle { a, b, d } => {
                let (y, d_row) = (row(target), row(d));
                let (left, right) = (weighted(row(a), row(b), k, k), weighted(row(b), row(a), k, k));
                let rest = if k > 1 { weighted(y, d_row, k, k - 1) } else { Lane::all(0.0) };
                each!((a = &left, b = &right, rest = &rest, first = d_row[0]) => (a - b - rest) * order / first)
            }
            _ => Lane::all(f64::NAN),
        };
        c[target * stride + k] = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Series;
    use crate::lower::{Scope, lower};
    use crate::parse::parse;
    use crate::{ExprError, Graph, NodeId, Span};

    struct Symbols;

    impl Scope for Symbols {
        fn resolve(&mut self, g: &mut Graph, name: &str, _: &[i64], _: bool, _: &Span) -> Result<NodeId, ExprError> {
            Ok(g.symbol(name))
        }
    }

    fn code(text: &str) -> Option<Arc<SeriesCode>> {
        let mut graph = Graph::new();
        let names = ["t", "x", "y", "p"];
        let nodes: Vec<NodeId> = names.iter().map(|n| graph.symbol(n)).collect();
        let node = lower(&parse(text).ok()?, &mut graph, &mut Symbols).ok()?;
        let degree = [1, usize::MAX, usize::MAX, 0];
        SeriesCode::compile(&graph, &nodes, &degree, &[node]).ok().map(Arc::new)
    }

    /// Every lane has the coefficients that a series by itself has, to rounding.
    #[test]
    fn lanes_are_series() {
        const N: usize = 9;
        let texts = [
            "sin(p*t) + x^3 - 2*x*y + p*x^2/3",
            "cos(x)*sin(y) + x*t + 1.5",
            "sqrt(1 + x^2 + y^2)/(2 + cos(p*x))",
            "(2 + x)^1.7 + atan(y) + log(3 + x*t)",
            "hypot(1 + x, y) + atan2(2 + y, x) + tan(x/3)",
            "asin(x/4) - y/(3 + x)",
        ];
        for text in texts {
            let code = code(text).expect("compiles");
            let mut lanes = SeriesLanes::<8>::new(code.clone(), N).expect("smooth");
            let input = |i: usize, k: usize, l: usize| match (i, k) {
                (0, 0) => 0.3 + 0.1 * l as f64,
                (0, 1) => 1.0,
                (3, 0) => 0.7 + 0.2 * l as f64,
                (0 | 3, _) => 0.0,
                (i, k) => ((1 + i + 3 * k + l) as f64 * 1.7).sin() / (1 + k) as f64,
            };
            for k in 0..=N {
                for i in 0..4 {
                    for l in 0..8 {
                        lanes.input_mut(i, k).0[l] = input(i, k, l);
                    }
                }
                lanes.advance(k);
            }
            for l in 0..8 {
                let mut one = Series::new(code.clone(), N);
                for k in 0..=N {
                    (0..4).for_each(|i| one.set_input(i, k, input(i, k, l)));
                    one.advance(k, true);
                }
                for (k, &expected) in one.output(0).iter().enumerate() {
                    let found = lanes.output(0)[k].0[l];
                    assert!(
                        (found - expected).abs() <= 1e-12 * (1.0 + expected.abs()),
                        "{text} {k} {l}: {found} {expected}"
                    );
                }
            }
        }
    }

    #[test]
    fn what_switches_or_appears_without_notice_is_refused() {
        for text in ["abs(x)", "max(x, 0)", "if(x < 1, x, 2)", "exp(-x^2)", "tanh(x)", "floor(t)"] {
            assert!(!code(text).expect("compiles").is_smooth(), "{text}");
        }
    }
}
