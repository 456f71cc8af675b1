//! Exact derivatives of graph nodes.

use crate::ast::CompareOp;
use crate::function::{Function1, Function2};
use crate::graph::{Graph, Node, NodeId, QuickMap};

impl Graph {
    /// The exact derivative of a node with respect to a symbol. Memoised.
    ///
    /// At a corner the result is one of the one-sided derivatives; jumps contribute nothing:
    ///
    /// | function | derivative |
    /// |---|---|
    /// | `abs(u)` | `if(u >= 0, u', -u')` |
    /// | `sign(u)`, `floor(u)`, comparisons, `and`, `or`, `not` | 0 |
    /// | `min(a, b)` | `if(a <= b, a', b')` |
    /// | `max(a, b)` | `if(a >= b, a', b')` |
    /// | `mod(a, b)` | `a' - floor(a/b)*b'` |
    /// | `if(c, a, b)` | `if(c, a', b')` |
    /// | `hypot(a, b)` | `(a*a' + b*b')/hypot(a, b)`, and 0 at the origin |
    /// | sampled functions | the slope to the right; 0 outside the range |
    /// | `u^v` | `v*u^(v-1)*u' + u^v*log(u)*v'` |
    ///
    /// ```
    /// use saltus_expr::{Function1, Graph};
    /// let mut g = Graph::new();
    /// let x = g.symbol("x");
    /// let s = g.unary(Function1::Sin, x);
    /// let d = g.derivative(s, x);
    /// assert_eq!(g.display(d), "cos(x)");
    /// ```
    pub fn derivative(&mut self, n: NodeId, symbol: NodeId) -> NodeId {
        let wanted = self.mask(symbol);
        if self.mask(n) & wanted == 0 {
            return self.constant(0.0);
        }
        if let Some(&known) = self.derivatives.get(&(n, symbol)) {
            return known;
        }
        // Every part of n that may depend on the symbol; sorted below, so that operands come first.
        let mut below = Vec::new();
        let mut seen: QuickMap<NodeId, ()> = QuickMap::default();
        let mut open = vec![n];
        while let Some(node) = open.pop() {
            if self.derivatives.contains_key(&(node, symbol)) || seen.insert(node, ()).is_some() {
                continue;
            }
            below.push(node);
            // Long sums have many operands, of which few depend on the symbol.
            self.node(node).for_operands(|child| {
                if self.mask(child) & wanted != 0 {
                    open.push(child);
                }
            });
        }
        below.sort_unstable();
        for node in below {
            let d = self.rule(node, symbol);
            self.derivatives.insert((node, symbol), d);
        }
        self.known(n, symbol)
    }

    /// A derivative that has been computed. Nodes without an entry do not depend on the symbol.
    fn known(&mut self, n: NodeId, symbol: NodeId) -> NodeId {
        match self.derivatives.get(&(n, symbol)) {
            Some(&d) => d,
            None => self.constant(0.0),
        }
    }

    /// The derivative of one node, from those of its operands.
    fn rule(&mut self, n: NodeId, s: NodeId) -> NodeId {
        if n == s {
            return self.constant(1.0);
        }
        // Sums are handled first and without a copy, because they may be long.
        if let Node::Sum(_, terms) = self.node(n) {
            let parts: Vec<(NodeId, f64)> = terms
                .iter()
                .filter(|(term, _)| self.mask(*term) & self.mask(s) != 0)
                .filter_map(|(term, c)| self.derivatives.get(&(*term, s)).map(|&d| (d, *c)))
                .collect();
            return self.linear(0.0, &parts);
        }
        match self.node(n).clone() {
            Node::Sum(..) | Node::Constant(_) | Node::Symbol(_) | Node::Compare(..) | Node::TableSlope(..) => {
                self.constant(0.0)
            }
            Node::Product(factors) => self.product_rule(&factors, s),
            Node::Power(u, v) => self.power_rule(n, u, v, s),
            Node::Unary(f, u) => {
                let du = self.known(u, s);
                if self.is_zero(du) {
                    return du;
                }
                self.unary_rule(f, n, u, du)
            }
            Node::Binary(f, a, b) => {
                let (da, db) = (self.known(a, s), self.known(b, s));
                if self.is_zero(da) && self.is_zero(db) {
                    return da;
                }
                self.binary_rule(f, n, (a, da), (b, db))
            }
            Node::Select(condition, a, b) => {
                let (da, db) = (self.known(a, s), self.known(b, s));
                self.select(condition, da, db)
            }
            Node::Table(k, u) => {
                let du = self.known(u, s);
                let slope = self.table_slope(k, u);
                self.mul(slope, du)
            }
        }
    }

    /// Σ over the factors: p·f^(p-1)·f'·(other factors).
    fn product_rule(&mut self, factors: &[(NodeId, i32)], s: NodeId) -> NodeId {
        let mut parts = Vec::new();
        for (k, &(factor, power)) in factors.iter().enumerate() {
            let d = self.known(factor, s);
            if self.is_zero(d) {
                continue;
            }
            let mut rest = factors.to_vec();
            rest[k].1 = power - 1;
            rest.push((d, 1));
            parts.push((self.product(&rest), f64::from(power)));
        }
        self.linear(0.0, &parts)
    }

    fn power_rule(&mut self, n: NodeId, u: NodeId, v: NodeId, s: NodeId) -> NodeId {
        let (du, dv) = (self.known(u, s), self.known(v, s));
        let zero = self.constant(0.0);
        let by_base = if self.is_zero(du) {
            zero
        } else {
            let one = self.constant(1.0);
            let less = self.sub(v, one);
            let lower = self.pow(u, less);
            self.product(&[(v, 1), (lower, 1), (du, 1)])
        };
        // 0^v is 0 for every v > 0: its derivative is 0, although log(0) is not finite.
        let by_exponent = if self.is_zero(dv) || self.is_zero(u) {
            zero
        } else {
            let log = self.unary(Function1::Log, u);
            self.product(&[(n, 1), (log, 1), (dv, 1)])
        };
        self.add(by_base, by_exponent)
    }

    fn unary_rule(&mut self, f: Function1, n: NodeId, u: NodeId, du: NodeId) -> NodeId {
        match f {
            Function1::Sin => {
                let cos = self.unary(Function1::Cos, u);
                self.mul(cos, du)
            }
            Function1::Cos => {
                let sin = self.unary(Function1::Sin, u);
                let d = self.mul(sin, du);
                self.neg(d)
            }
            Function1::Tan => {
                let square = self.product(&[(n, 2)]);
                let slope = self.linear(1.0, &[(square, 1.0)]);
                self.mul(slope, du)
            }
            Function1::Asin | Function1::Acos => {
                let square = self.product(&[(u, 2)]);
                let inner = self.linear(1.0, &[(square, -1.0)]);
                let root = self.unary(Function1::Sqrt, inner);
                let d = self.div(du, root);
                if f == Function1::Asin { d } else { self.neg(d) }
            }
            Function1::Atan => {
                let square = self.product(&[(u, 2)]);
                let inner = self.linear(1.0, &[(square, 1.0)]);
                self.div(du, inner)
            }
            Function1::Sinh => {
                let cosh = self.unary(Function1::Cosh, u);
                self.mul(cosh, du)
            }
            Function1::Cosh => {
                let sinh = self.unary(Function1::Sinh, u);
                self.mul(sinh, du)
            }
            Function1::Tanh => {
                let square = self.product(&[(n, 2)]);
                let slope = self.linear(1.0, &[(square, -1.0)]);
                self.mul(slope, du)
            }
            Function1::Exp => self.mul(n, du),
            Function1::Log => self.div(du, u),
            Function1::Sqrt => {
                let d = self.div(du, n);
                self.scale(0.5, d)
            }
            Function1::Abs => {
                let zero = self.constant(0.0);
                let right = self.compare(CompareOp::GreaterEqual, u, zero);
                let minus = self.neg(du);
                self.select(right, du, minus)
            }
            Function1::Sign | Function1::Floor | Function1::Not => self.constant(0.0),
        }
    }

    fn binary_rule(&mut self, f: Function2, n: NodeId, (a, da): (NodeId, NodeId), (b, db): (NodeId, NodeId)) -> NodeId {
        match f {
            Function2::Atan2 => {
                let (bda, adb) = (self.mul(b, da), self.mul(a, db));
                let top = self.sub(bda, adb);
                let (aa, bb) = (self.product(&[(a, 2)]), self.product(&[(b, 2)]));
                let bottom = self.add(aa, bb);
                self.div(top, bottom)
            }
            Function2::Min | Function2::Max => {
                let op = if f == Function2::Min { CompareOp::LessEqual } else { CompareOp::GreaterEqual };
                let first = self.compare(op, a, b);
                self.select(first, da, db)
            }
            Function2::Hypot => {
                let (ada, bdb) = (self.mul(a, da), self.mul(b, db));
                let top = self.add(ada, bdb);
                let slope = self.div(top, n);
                let zero = self.constant(0.0);
                let origin = self.compare(CompareOp::Equal, n, zero);
                self.select(origin, zero, slope)
            }
            Function2::Mod => {
                let ratio = self.div(a, b);
                let turns = self.unary(Function1::Floor, ratio);
                let shift = self.mul(turns, db);
                self.sub(da, shift)
            }
            Function2::And | Function2::Or => self.constant(0.0),
        }
    }
}
