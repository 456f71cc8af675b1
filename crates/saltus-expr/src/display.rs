//! Nodes as readable text that can be parsed again.

use crate::graph::{Graph, Node, NodeId};

/// Longer text is truncated: shared parts are written out at every use, so that the text may grow exponentially.
const MAX_TEXT: usize = 1 << 20;

/// How tightly an expression binds. A node in a context that binds tighter is put in parentheses.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Tightness {
    Loose,
    Sum,
    Product,
    Power,
}

enum Piece {
    Text(String),
    Node(NodeId, Tightness),
}

impl Graph {
    /// The node as infix text that parses to an expression of the same value. Tables appear by name. Text of more than
    /// one mebibyte is truncated and ends in `…`.
    #[must_use]
    pub fn display(&self, n: NodeId) -> String {
        let mut out = String::new();
        // An explicit stack: recursion could overflow on deep graphs.
        let mut open = vec![Piece::Node(n, Tightness::Loose)];
        while let Some(piece) = open.pop() {
            if out.len() > MAX_TEXT {
                out.push('…');
                break;
            }
            match piece {
                Piece::Text(text) => out.push_str(&text),
                Piece::Node(node, around) => {
                    let mut pieces = Vec::new();
                    let own = self.pieces(node, &mut pieces);
                    if own < around {
                        out.push('(');
                        open.push(Piece::Text(")".into()));
                    }
                    open.extend(pieces.into_iter().rev());
                }
            }
        }
        out
    }

    /// Appends the parts of a node in the order of the text; returns how tightly the node binds.
    fn pieces(&self, n: NodeId, out: &mut Vec<Piece>) -> Tightness {
        let text = |t: &str| Piece::Text(t.to_owned());
        match self.node(n) {
            Node::Constant(value) => {
                out.push(Piece::Text(number(*value)));
                // `-2^x` would read as `-(2^x)`, and `a - -2` is hard to read.
                if *value < 0.0 { Tightness::Sum } else { Tightness::Power }
            }
            Node::Symbol(_) => {
                out.push(text(self.symbol_name(n).unwrap_or_default()));
                Tightness::Power
            }
            Node::Sum(constant, terms) => self.sum_pieces(*constant, terms, out),
            Node::Product(factors) => {
                self.product_pieces(factors, out);
                Tightness::Product
            }
            Node::Power(a, b) => {
                // `^` is right-associative: a base that is a power needs parentheses.
                let base = match self.node(*a) {
                    Node::Power(..) => Tightness::Loose,
                    _ => Tightness::Power,
                };
                if base == Tightness::Loose {
                    out.extend([text("("), Piece::Node(*a, base), text(")")]);
                } else {
                    out.push(Piece::Node(*a, base));
                }
                out.extend([text("^"), Piece::Node(*b, Tightness::Power)]);
                Tightness::Power
            }
            Node::Unary(f, a) => {
                call(f.name(), &[*a], out);
                Tightness::Power
            }
            Node::Binary(f, a, b) => {
                call(f.name(), &[*a, *b], out);
                Tightness::Power
            }
            Node::Compare(op, a, b) => {
                out.push(Piece::Node(*a, Tightness::Sum));
                out.push(Piece::Text(format!(" {} ", op.symbol())));
                out.push(Piece::Node(*b, Tightness::Sum));
                Tightness::Loose
            }
            Node::Select(c, a, b) => {
                call("if", &[*c, *a, *b], out);
                Tightness::Power
            }
            Node::Table(k, a) => {
                call(self.table_at(*k).name(), &[*a], out);
                Tightness::Power
            }
            Node::TableSlope(k, a) => {
                call(&format!("{}_slope", self.table_at(*k).name()), &[*a], out);
                Tightness::Power
            }
        }
    }

    fn sum_pieces(&self, constant: f64, terms: &[(NodeId, f64)], out: &mut Vec<Piece>) -> Tightness {
        // Start with a positive term if there is one: `1 - x`, `y - 2*x`.
        let first = terms.iter().position(|&(_, c)| c > 0.0);
        let constant_first = first.is_none() && constant > 0.0;
        let mut order: Vec<usize> = (0..terms.len()).collect();
        if let Some(k) = first {
            order[..=k].rotate_right(1);
        }
        if constant_first {
            out.push(Piece::Text(number(constant)));
        }
        for k in order {
            let (node, c) = terms[k];
            let joint = match (out.is_empty(), c < 0.0) {
                (true, false) => "",
                (true, true) => "-",
                (false, false) => " + ",
                (false, true) => " - ",
            };
            out.push(Piece::Text(joint.into()));
            if c.abs() != 1.0 {
                out.push(Piece::Text(number(c.abs()) + "*"));
            }
            out.push(Piece::Node(node, Tightness::Product));
        }
        if constant != 0.0 && !constant_first {
            let joint = if constant < 0.0 { " - " } else { " + " };
            out.push(Piece::Text(joint.to_owned() + &number(constant.abs())));
        }
        if terms.len() == 1 && constant == 0.0 && terms[0].1 > 0.0 { Tightness::Product } else { Tightness::Sum }
    }

    fn product_pieces(&self, factors: &[(NodeId, i32)], out: &mut Vec<Piece>) {
        let text = |t: &str| Piece::Text(t.to_owned());
        let above: Vec<_> = factors.iter().filter(|f| f.1 > 0).collect();
        let below: Vec<_> = factors.iter().filter(|f| f.1 < 0).collect();
        if above.is_empty() {
            out.push(text("1"));
        }
        self.factor_pieces(&above, out);
        if below.is_empty() {
            return;
        }
        out.push(text("/"));
        if below.len() > 1 {
            out.push(text("("));
        }
        self.factor_pieces(&below, out);
        if below.len() > 1 {
            out.push(text(")"));
        }
    }

    fn factor_pieces(&self, factors: &[&(NodeId, i32)], out: &mut Vec<Piece>) {
        for (k, &&(node, power)) in factors.iter().enumerate() {
            if k > 0 {
                out.push(Piece::Text("*".into()));
            }
            let wrapped = power.unsigned_abs() > 1 && matches!(self.node(node), Node::Power(..));
            if wrapped {
                out.push(Piece::Text("(".into()));
            }
            out.push(Piece::Node(node, Tightness::Power));
            if wrapped {
                out.push(Piece::Text(")".into()));
            }
            if power.unsigned_abs() > 1 {
                out.push(Piece::Text(format!("^{}", power.unsigned_abs())));
            }
        }
    }
}

fn call(name: &str, args: &[NodeId], out: &mut Vec<Piece>) {
    out.push(Piece::Text(format!("{name}(")));
    for (k, &arg) in args.iter().enumerate() {
        if k > 0 {
            out.push(Piece::Text(", ".into()));
        }
        out.push(Piece::Node(arg, Tightness::Loose));
    }
    out.push(Piece::Text(")".into()));
}

/// The shortest text that parses to the same number, without a trailing `.0`.
fn number(value: f64) -> String {
    let text = format!("{value:?}");
    match text.strip_suffix(".0") {
        Some(whole) => whole.to_owned(),
        None => text,
    }
}
