//! Constructors of nodes. All simplification happens here.
//!
//! Sums are kept as constant + Σ coefficient·term and products as Π factor^power, both flat and
//! in order of ids: like terms and like factors combine, and `a + b` is `b + a`.
//! A finite value never changes beyond rounding (except for intermediate overflow), with one
//! exception: `0*x` is 0 even where `x` is not finite. Factors are not distributed over sums, which
//! could cancel digits: `c*(a - b)` stays. Sums and products of more than [`MAX_FLAT`] operands are
//! not opened, so that building a long sum term by term takes linear time.

use crate::ast::CompareOp;
use crate::function::{Function1, Function2};
use crate::graph::{Graph, Node, NodeId};

/// The longest sum or product that is opened to be merged with another.
const MAX_FLAT: usize = 24;
/// The largest integer exponent that is replaced by multiplications.
const MAX_POWER: f64 = 64.0;

impl Graph {
    /// a + b
    pub fn add(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.linear(0.0, &[(a, 1.0), (b, 1.0)])
    }

    /// a - b
    pub fn sub(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.linear(0.0, &[(a, 1.0), (b, -1.0)])
    }

    /// -a
    pub fn neg(&mut self, a: NodeId) -> NodeId {
        self.linear(0.0, &[(a, -1.0)])
    }

    /// The sum of many nodes, in time linear in their number.
    pub fn sum(&mut self, terms: &[NodeId]) -> NodeId {
        let terms: Vec<_> = terms.iter().map(|&n| (n, 1.0)).collect();
        self.linear(0.0, &terms)
    }

    /// c*a for a number c.
    pub fn scale(&mut self, c: f64, a: NodeId) -> NodeId {
        self.linear(0.0, &[(a, c)])
    }

    /// a * b; `0*x` is 0.
    pub fn mul(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.product(&[(a, 1), (b, 1)])
    }

    /// a / b
    pub fn div(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.product(&[(a, 1), (b, -1)])
    }

    /// a ^ b
    pub fn pow(&mut self, a: NodeId, b: NodeId) -> NodeId {
        match (self.value(a), self.value(b)) {
            (Some(a), Some(b)) => self.constant(a.powf(b)),
            (_, Some(p)) if p.fract() == 0.0 && p.abs() <= MAX_POWER => self.product(&[(a, p as i32)]),
            (_, Some(0.5)) => self.unary(Function1::Sqrt, a),
            (_, Some(-0.5)) => {
                let root = self.unary(Function1::Sqrt, a);
                self.product(&[(root, -1)])
            }
            (Some(1.0), _) => a,
            _ => self.intern(Node::Power(a, b)),
        }
    }

    /// f(a)
    pub fn unary(&mut self, f: Function1, a: NodeId) -> NodeId {
        match self.value(a) {
            Some(x) => self.constant(f.eval(x)),
            None => self.intern(Node::Unary(f, a)),
        }
    }

    /// f(a, b)
    pub fn binary(&mut self, f: Function2, a: NodeId, b: NodeId) -> NodeId {
        if let (Some(x), Some(y)) = (self.value(a), self.value(b)) {
            return self.constant(f.eval(x, y));
        }
        match f {
            Function2::Min | Function2::Max if a == b => a,
            Function2::And | Function2::Or => self.logical(f, a.min(b), a.max(b)),
            Function2::Hypot => self.intern(Node::Binary(f, a.min(b), a.max(b))),
            // Not ordered: the derivatives of min and max at a tie depend on the order.
            _ => self.intern(Node::Binary(f, a, b)),
        }
    }

    fn logical(&mut self, f: Function2, a: NodeId, b: NodeId) -> NodeId {
        let constant = self.value(a).map(|v| (v, b)).or(self.value(b).map(|v| (v, a)));
        match constant {
            // The constant decides …
            Some((v, _)) if (v != 0.0) == (f == Function2::Or) => self.constant(f64::from(u8::from(v != 0.0))),
            // … or leaves the decision to the other operand.
            Some((_, other)) => {
                let zero = self.constant(0.0);
                self.compare(CompareOp::NotEqual, other, zero)
            }
            None => self.intern(Node::Binary(f, a, b)),
        }
    }

    /// The comparison a ? b, 1 or 0.
    pub fn compare(&mut self, op: CompareOp, a: NodeId, b: NodeId) -> NodeId {
        if let (Some(x), Some(y)) = (self.value(a), self.value(b)) {
            return self.constant(op.eval(x, y));
        }
        if a == b {
            return self.constant(op.eval(0.0, 0.0));
        }
        let (op, a, b) = match op {
            CompareOp::Greater => (CompareOp::Less, b, a),
            CompareOp::GreaterEqual => (CompareOp::LessEqual, b, a),
            CompareOp::Equal | CompareOp::NotEqual => (op, a.min(b), a.max(b)),
            _ => (op, a, b),
        };
        self.intern(Node::Compare(op, a, b))
    }

    /// a if the condition is not zero, else b. Evaluators compute both.
    pub fn select(&mut self, condition: NodeId, a: NodeId, b: NodeId) -> NodeId {
        match self.value(condition) {
            Some(value) if value != 0.0 => a,
            Some(_) => b,
            None if a == b => a,
            None => self.intern(Node::Select(condition, a, b)),
        }
    }

    /// constant + Σ coefficient·node. All sums are constructed here.
    pub(crate) fn linear(&mut self, constant: f64, parts: &[(NodeId, f64)]) -> NodeId {
        let mut sum = Linear { constant, terms: Vec::with_capacity(parts.len()) };
        for &(node, c) in parts {
            self.open_sum(node, c, &mut sum);
        }
        if sum.constant.is_finite() || parts.len() < 2 {
            sum.combine();
            return self.close_sum(sum);
        }
        // The constants alone overflow, although the sum may not.
        let mut opaque = Linear { constant, terms: parts.iter().copied().filter(|&(_, c)| c != 0.0).collect() };
        if opaque.terms.iter().all(|&(n, _)| self.value(n).is_some()) {
            return self.constant(sum.constant);
        }
        opaque.combine();
        self.close_sum(opaque)
    }

    /// Adds c·node to a sum, opening the node if it is a sum itself.
    fn open_sum(&self, node: NodeId, c: f64, sum: &mut Linear) {
        if c == 0.0 {
            return;
        }
        match self.node(node) {
            Node::Constant(value) => sum.constant += c * value,
            Node::Sum(constant, terms) if c.abs() == 1.0 && terms.len() <= MAX_FLAT => {
                sum.constant += c * constant;
                sum.terms.extend(terms.iter().map(|&(n, d)| (n, c * d)));
            }
            Node::Sum(0.0, terms) if terms.len() == 1 && harmless(c * terms[0].1) => {
                sum.terms.push((terms[0].0, c * terms[0].1));
            }
            _ => sum.terms.push((node, c)),
        }
    }

    fn close_sum(&mut self, sum: Linear) -> NodeId {
        match sum.terms.as_slice() {
            [] => self.constant(sum.constant),
            [(node, 1.0)] if sum.constant == 0.0 => *node,
            // Combination may leave a single sum that can now be opened.
            [(node, c)] if sum.constant == 0.0 && *c == -1.0 => {
                let mut inner = Linear { constant: 0.0, terms: Vec::new() };
                self.open_sum(*node, -1.0, &mut inner);
                self.intern_sum(inner)
            }
            _ => self.intern_sum(sum),
        }
    }

    fn intern_sum(&mut self, sum: Linear) -> NodeId {
        // Minus zero would create a second node of the same value.
        let constant = if sum.constant == 0.0 { 0.0 } else { sum.constant };
        self.intern(Node::Sum(constant, sum.terms.into()))
    }

    /// Π node^power. All products are constructed here.
    pub(crate) fn product(&mut self, parts: &[(NodeId, i32)]) -> NodeId {
        let constants = parts.iter().map(|&(n, p)| self.value(n).map(|v| (v, p)));
        if let Some(values) = constants.collect::<Option<Vec<_>>>() {
            let value = values.iter().fold(1.0, |c, &(v, p)| times_power(c, v, p));
            return self.constant(value);
        }
        let zero = |&(n, p): &(NodeId, i32)| p > 0 && self.is_zero(n);
        if parts.iter().any(zero) {
            return self.constant(0.0);
        }
        let mut coefficient = 1.0;
        let mut factors = Vec::with_capacity(parts.len() + 2);
        for &(node, power) in parts {
            self.open_product(node, power, &mut coefficient, &mut factors);
        }
        if !harmless(coefficient) {
            // The coefficients alone over- or underflow, although the product may not.
            coefficient = 1.0;
            factors.clear();
            factors.extend_from_slice(parts);
        }
        combine_powers(&mut factors);
        let node = match factors.as_slice() {
            [] => return self.constant(coefficient),
            [(node, 1)] => *node,
            _ => self.intern(Node::Product(factors.into())),
        };
        self.scale(coefficient, node)
    }

    /// Multiplies node^power into a product, opening products and scaled terms.
    fn open_product(&self, node: NodeId, power: i32, coefficient: &mut f64, factors: &mut Vec<(NodeId, i32)>) {
        if power == 0 {
            return;
        }
        match self.node(node) {
            Node::Constant(value) => *coefficient = times_power(*coefficient, *value, power),
            Node::Sum(0.0, terms) if terms.len() == 1 => {
                *coefficient = times_power(*coefficient, terms[0].1, power);
                // A term is not itself a scaled term, unless that could not be opened.
                match self.node(terms[0].0) {
                    Node::Product(inner) => open_factors(terms[0].0, inner, power, factors),
                    _ => factors.push((terms[0].0, power)),
                }
            }
            Node::Product(inner) => open_factors(node, inner, power, factors),
            _ => factors.push((node, power)),
        }
    }
}

/// A sum under construction.
struct Linear {
    constant: f64,
    terms: Vec<(NodeId, f64)>,
}

impl Linear {
    /// Sorts the terms and combines like ones.
    fn combine(&mut self) {
        if !self.terms.is_sorted_by(|a, b| a.0 < b.0) {
            // Stable, so that coefficients are added in the order in which they were written.
            self.terms.sort_by_key(|term| term.0);
            self.terms.dedup_by(|later, kept| {
                let joined = kept.1 + later.1;
                let same = kept.0 == later.0 && joined.is_finite();
                if same {
                    kept.1 = joined;
                }
                same
            });
        }
        self.terms.retain(|term| term.1 != 0.0);
    }
}

fn open_factors(node: NodeId, inner: &[(NodeId, i32)], power: i32, factors: &mut Vec<(NodeId, i32)>) {
    let small = inner.iter().all(|&(_, p)| p.checked_mul(power).is_some_and(|p| p.unsigned_abs() <= 1 << 16));
    if inner.len() <= MAX_FLAT && small {
        factors.extend(inner.iter().map(|&(n, p)| (n, p * power)));
    } else {
        factors.push((node, power));
    }
}

fn combine_powers(factors: &mut Vec<(NodeId, i32)>) {
    factors.sort_by_key(|factor| factor.0);
    factors.dedup_by(|later, kept| {
        let same = kept.0 == later.0;
        if same {
            kept.1 = kept.1.saturating_add(later.1);
        }
        same
    });
    factors.retain(|factor| factor.1 != 0);
}

fn times_power(c: f64, value: f64, power: i32) -> f64 {
    match power {
        1 => c * value,
        -1 => c / value,
        _ => c * value.powf(f64::from(power)),
    }
}

/// Whether a coefficient has neither over- nor underflowed.
fn harmless(c: f64) -> bool {
    c.is_normal()
}
