//! Binding symbols to numbers: a graph rebuilt with some of its symbols replaced by constants.

use crate::graph::{Graph, Node, NodeId, QuickMap};

/// The result of [`Graph::fold`].
#[derive(Clone, Debug)]
#[must_use]
pub struct Folded {
    /// The rebuilt graph. It has none of the bound symbols.
    pub graph: Graph,
    /// By old id.
    nodes: Vec<NodeId>,
}

impl Folded {
    /// The node of [`Folded::graph`] that corresponds to a node of the original graph.
    ///
    /// # Panics
    /// If the node did not exist when the graph was folded.
    #[must_use]
    pub fn node(&self, old: NodeId) -> NodeId {
        self.nodes[old.0 as usize]
    }
}

impl Graph {
    /// Rebuilds the graph with the given symbols replaced by numbers.
    ///
    /// Every node is built again from its rebuilt operands, and thus simplified as if the numbers had been written in place
    /// of the symbols: `p*x` becomes `x` for p = 1, and `if(p > 0, a, b)` becomes one of its branches. Values agree with those of
    /// the original graph to rounding. Other symbols keep their names and their order, and tables remain the same `Arc`s.
    /// Derivatives are not carried over: they are computed again when they are needed.
    ///
    /// If a symbol is given twice, the last number is used.
    ///
    /// ```
    /// use saltus_expr::Graph;
    /// let mut g = Graph::new();
    /// let (k, x) = (g.symbol("k"), g.symbol("x"));
    /// let square = g.mul(x, x);
    /// let energy = g.mul(k, square);
    ///
    /// let folded = g.fold(&[(k, 3.0)]);
    /// assert_eq!(folded.graph.display(folded.node(energy)), "3*x^2");
    /// assert_eq!(folded.graph.value(folded.node(k)), Some(3.0));
    /// ```
    ///
    /// # Panics
    /// If one of the nodes in `values` is not a symbol.
    pub fn fold(&self, values: &[(NodeId, f64)]) -> Folded {
        for &(symbol, _) in values {
            assert!(self.symbol_name(symbol).is_some(), "only symbols can be bound to numbers");
        }
        let values: QuickMap<NodeId, f64> = values.iter().copied().collect();
        let mut graph = self.empty_with_tables();
        let mut nodes: Vec<NodeId> = Vec::with_capacity(self.len());
        // Operands have smaller ids than their users.
        for old in self.ids() {
            let new = match values.get(&old) {
                Some(&value) => graph.constant(value),
                None => self.rebuild(old, &nodes, &mut graph),
            };
            nodes.push(new);
        }
        Folded { graph, nodes }
    }

    /// Builds a node in another graph; `nodes` has its operands there.
    fn rebuild(&self, old: NodeId, nodes: &[NodeId], graph: &mut Graph) -> NodeId {
        let at = |n: NodeId| nodes[n.0 as usize];
        match self.node(old) {
            Node::Constant(value) => graph.constant(*value),
            Node::Symbol(_) => graph.symbol(self.symbol_name(old).unwrap_or_default()),
            Node::Sum(constant, terms) => {
                let terms: Vec<_> = terms.iter().map(|&(n, c)| (at(n), c)).collect();
                graph.linear(*constant, &terms)
            }
            Node::Product(factors) => {
                let factors: Vec<_> = factors.iter().map(|&(n, p)| (at(n), p)).collect();
                graph.product(&factors)
            }
            Node::Power(a, b) => graph.pow(at(*a), at(*b)),
            Node::Unary(f, a) => graph.unary(*f, at(*a)),
            Node::Binary(f, a, b) => graph.binary(*f, at(*a), at(*b)),
            Node::Compare(op, a, b) => graph.compare(*op, at(*a), at(*b)),
            Node::Select(condition, a, b) => graph.select(at(*condition), at(*a), at(*b)),
            Node::Table(k, a) => graph.table_node(*k, at(*a)),
            Node::TableSlope(k, a) => graph.table_slope(*k, at(*a)),
        }
    }
}

#[cfg(test)]
mod tests;
