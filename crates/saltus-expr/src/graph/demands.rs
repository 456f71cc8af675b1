//! What expressions demand of the symbols that stand for parameters: simplified, `k/k` is 1 even where k is zero.

use super::{Graph, Node, NodeId, QuickMap};
use crate::function::{Function1 as F1, Function2 as F2};

/// What has been lowered, as it was written.
#[derive(Clone, Default, Debug)]
pub(crate) struct Written {
    divisors: Vec<NodeId>,
    parts: Vec<NodeId>,
}

/// Expressions of parameters alone; a constant expression of which one fails would be rejected.
#[derive(Clone, Default, Debug)]
pub struct Demands {
    /// None of these may be zero.
    pub nonzero: Vec<NodeId>,
    /// All of these must be finite.
    pub finite: Vec<NodeId>,
}

impl Graph {
    /// Takes notes, from here on, of the divisors and parts of the expressions that are lowered, for [`Graph::demands`].
    pub fn note_demands(&mut self) {
        self.written = Some(Box::default());
    }

    pub(crate) fn note_divisor(&mut self, n: NodeId) {
        if let Some(written) = &mut self.written {
            written.divisors.push(n);
        }
    }

    pub(crate) fn note_part(&mut self, n: NodeId) {
        if self.written.is_some() && !matches!(self.node(n), Node::Constant(_) | Node::Symbol(_)) {
            self.written.iter_mut().for_each(|written| written.parts.push(n));
        }
    }

    /// What the expressions lowered so far demand of these symbols: values that cannot fail, but for overflow, are left out.
    #[must_use]
    pub fn demands(&mut self, symbols: &[NodeId]) -> Demands {
        let Some(written) = self.written.take() else { return Demands::default() };
        let mut pure = vec![false; self.len()];
        for (k, node) in self.nodes.iter().enumerate() {
            pure[k] = match node {
                Node::Constant(_) => true,
                Node::Symbol(_) => symbols.contains(&NodeId(k as u32)),
                node => {
                    let mut all = true;
                    node.for_operands(|child| all &= pure[child.0 as usize]);
                    all
                }
            };
        }
        let is_pure = |n: NodeId| pure[n.0 as usize] && self.value(n).is_none();
        let mut demands = Demands::default();
        let mut seen: QuickMap<NodeId, ()> = QuickMap::default();
        // A product vanishes with any of its factors, a sum at most with one of its terms.
        let mut open = written.divisors;
        while let Some(n) = open.pop() {
            if seen.insert(n, ()).is_some() {
                continue;
            }
            match self.node(n) {
                _ if is_pure(n) => demands.nonzero.push(n),
                Node::Product(factors) => open.extend(factors.iter().filter(|f| f.1 > 0).map(|f| f.0)),
                Node::Sum(0.0, terms) => open.extend(terms.iter().map(|t| t.0)),
                Node::Select(_, a, b) => open.extend([*a, *b]),
                _ => {}
            }
        }
        let can_fail = |node: &Node| match node {
            Node::Constant(_) | Node::Symbol(_) | Node::Sum(..) | Node::Compare(..) | Node::Select(..) => false,
            Node::Product(factors) => factors.iter().any(|f| f.1 < 0),
            Node::Unary(f, _) => {
                !matches!(f, F1::Sin | F1::Cos | F1::Atan | F1::Tanh | F1::Abs | F1::Sign | F1::Floor | F1::Not)
            }
            Node::Binary(f, ..) => matches!(f, F2::Mod),
            Node::Power(..) | Node::Table(..) | Node::TableSlope(..) => true,
        };
        seen.clear();
        for n in written.parts {
            if is_pure(n) && seen.insert(n, ()).is_none() && self.any_below(n, u128::MAX, |_, node| can_fail(node)) {
                demands.finite.push(n);
            }
        }
        demands.nonzero.sort_unstable();
        demands
    }
}
