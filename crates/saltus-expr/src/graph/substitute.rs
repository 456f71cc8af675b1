//! Putting expressions in the place of symbols.

use super::{Graph, Node, NodeId, QuickMap};

impl Graph {
    /// The expression with every symbol of the list replaced, all at once.
    ///
    /// ```
    /// use saltus_expr::Graph;
    /// let mut g = Graph::new();
    /// let (x, y) = (g.symbol("x"), g.symbol("y"));
    /// let product = g.mul(x, y);
    /// let swapped = g.substitute(product, &[(x, y), (y, x)]);
    /// assert_eq!(swapped, product);
    /// let two = g.constant(2.0);
    /// let twice = g.substitute(product, &[(x, two)]);
    /// assert_eq!(g.display(twice), "2*y");
    /// ```
    pub fn substitute(&mut self, n: NodeId, replacements: &[(NodeId, NodeId)]) -> NodeId {
        let wanted = replacements.iter().fold(0, |mask, (symbol, _)| mask | self.mask(*symbol));
        let mut done: QuickMap<NodeId, NodeId> = QuickMap::default();
        for &(symbol, by) in replacements {
            done.insert(symbol, by);
        }
        // Every part of n that may contain a symbol of the list; operands have smaller ids and come first.
        let (mut below, mut open) = (Vec::new(), vec![n]);
        let mut seen: QuickMap<NodeId, ()> = QuickMap::default();
        while let Some(node) = open.pop() {
            if self.mask(node) & wanted == 0 || done.contains_key(&node) || seen.insert(node, ()).is_some() {
                continue;
            }
            below.push(node);
            self.node(node).for_operands(|child| open.push(child));
        }
        below.sort_unstable();
        for node in below {
            let new = self.rebuilt(node, &done);
            done.insert(node, new);
        }
        done.get(&n).copied().unwrap_or(n)
    }

    /// A node with its operands replaced.
    fn rebuilt(&mut self, n: NodeId, done: &QuickMap<NodeId, NodeId>) -> NodeId {
        let new = |n: NodeId| done.get(&n).copied().unwrap_or(n);
        match self.node(n).clone() {
            Node::Constant(_) | Node::Symbol(_) => n,
            Node::Sum(constant, terms) => {
                let mut sum = self.constant(constant);
                for &(term, c) in &terms {
                    let term = self.scale(c, new(term));
                    sum = self.add(sum, term);
                }
                sum
            }
            Node::Product(factors) => {
                let mut product = self.constant(1.0);
                for &(factor, power) in &factors {
                    let power = self.constant(f64::from(power));
                    let factor = self.pow(new(factor), power);
                    product = self.mul(product, factor);
                }
                product
            }
            Node::Power(a, b) => self.pow(new(a), new(b)),
            Node::Unary(f, a) => self.unary(f, new(a)),
            Node::Binary(f, a, b) => self.binary(f, new(a), new(b)),
            Node::Compare(op, a, b) => self.compare(op, new(a), new(b)),
            Node::Select(c, a, b) => self.select(new(c), new(a), new(b)),
            Node::Table(k, a) => self.table_node(k, new(a)),
            Node::TableSlope(k, a) => self.table_slope(k, new(a)),
        }
    }
}
