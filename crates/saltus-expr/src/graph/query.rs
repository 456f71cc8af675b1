//! Queries: which symbols and functions a node contains.

use std::sync::Arc;

use super::{Graph, Node, NodeId, QuickMap};
use crate::function::{Function1 as F1, Function2 as F2};
use crate::table::Table;

impl Graph {
    /// Whether a symbol occurs in a node (structurally: `0*x` has been simplified away).
    #[must_use]
    pub fn depends_on(&self, n: NodeId, symbol: NodeId) -> bool {
        self.depends_on_any(n, &[symbol])
    }

    /// Whether any of the symbols occurs in a node.
    #[must_use]
    pub fn depends_on_any(&self, n: NodeId, symbols: &[NodeId]) -> bool {
        let mask = symbols.iter().fold(0, |m, &s| m | self.mask(s));
        self.any_below(n, mask, |id, _| symbols.contains(&id))
    }

    /// The names of the symbols that occur in a node, in the order of their creation.
    #[must_use]
    pub fn symbols_in(&self, n: NodeId) -> Vec<&str> {
        let mut found = Vec::new();
        self.any_below(n, u128::MAX, |_, node| {
            if let Node::Symbol(k) = node {
                found.push(*k);
            }
            false
        });
        found.sort_unstable();
        found.iter().map(|&k| self.names[k as usize].as_str()).collect()
    }

    /// Whether a node is free of functions with corners or jumps: abs, sign, floor, min, max, mod, `if`, comparisons,
    /// logic and tables. (hypot has a corner at the origin only, and counts as smooth.)
    #[must_use]
    pub fn is_smooth(&self, n: NodeId) -> bool {
        !self.any_below(n, u128::MAX, |_, node| match node {
            Node::Unary(F1::Abs | F1::Sign | F1::Floor | F1::Not, _)
            | Node::Binary(F2::Min | F2::Max | F2::Mod | F2::And | F2::Or, _, _)
            | Node::Compare(..)
            | Node::Select(..)
            | Node::Table(..)
            | Node::TableSlope(..) => true,
            Node::Constant(_)
            | Node::Symbol(_)
            | Node::Sum(..)
            | Node::Product(_)
            | Node::Power(..)
            | Node::Unary(..)
            | Node::Binary(..) => false,
        })
    }

    /// Whether the location of every corner and jump of a node is independent of the given symbols: they do not occur
    /// in the argument of an abs, on either side of a comparison, and so on.
    #[must_use]
    pub fn corners_are_free_of(&self, n: NodeId, symbols: &[NodeId]) -> bool {
        let depends = |ids: &[NodeId]| ids.iter().any(|&id| self.depends_on_any(id, symbols));
        !self.any_below(n, u128::MAX, |_, node| match node {
            Node::Unary(F1::Abs | F1::Sign | F1::Floor | F1::Not, a) | Node::Table(_, a) | Node::TableSlope(_, a) => {
                depends(&[*a])
            }
            Node::Binary(F2::Min | F2::Max | F2::Mod | F2::And | F2::Or, a, b) | Node::Compare(_, a, b) => {
                depends(&[*a, *b])
            }
            _ => false,
        })
    }

    /// Every sign(…) in a node whose argument contains one of the symbols, with its argument.
    #[must_use]
    pub fn signs_of(&self, n: NodeId, symbols: &[NodeId]) -> Vec<(NodeId, NodeId)> {
        let mut signs = Vec::new();
        self.any_below(n, u128::MAX, |id, node| {
            if let Node::Unary(F1::Sign, a) = node
                && self.depends_on_any(*a, symbols)
            {
                signs.push((id, *a));
            }
            false
        });
        signs
    }

    /// The arguments of all sines and cosines in a node in which a symbol occurs; None if it also occurs outside of them.
    #[must_use]
    pub fn harmonics_in(&self, n: NodeId, symbol: NodeId) -> Option<Vec<NodeId>> {
        let (mut arguments, mut seen, mut open) = (Vec::new(), QuickMap::<NodeId, ()>::default(), vec![n]);
        while let Some(id) = open.pop() {
            if id == symbol {
                return None;
            }
            if !self.depends_on(id, symbol) || seen.insert(id, ()).is_some() {
                continue;
            }
            match self.node(id) {
                Node::Unary(F1::Sin | F1::Cos, argument) => arguments.push(*argument),
                node => node.for_operands(|operand| open.push(operand)),
            }
        }
        Some(arguments)
    }

    /// The arguments with which a table is used anywhere in the graph.
    #[must_use]
    pub fn table_arguments(&self, table: &Arc<Table>) -> Vec<NodeId> {
        let is_it = |k: &u32| Arc::ptr_eq(&self.tables[*k as usize], table);
        let uses = self.nodes.iter().filter_map(|node| match node {
            Node::Table(k, argument) if is_it(k) => Some(*argument),
            _ => None,
        });
        uses.collect()
    }

    /// Whether `found` holds for the node or anything below it. Parts without a symbol in the mask are skipped;
    /// each of the others is visited once.
    pub(super) fn any_below(&self, n: NodeId, mask: u128, mut found: impl FnMut(NodeId, &Node) -> bool) -> bool {
        let mut seen: QuickMap<NodeId, ()> = QuickMap::default();
        let mut open = vec![n];
        while let Some(id) = open.pop() {
            if self.mask(id) & mask == 0 || seen.insert(id, ()).is_some() {
                continue;
            }
            let node = self.node(id);
            if found(id, node) {
                return true;
            }
            node.for_operands(|child| open.push(child));
        }
        false
    }
}
