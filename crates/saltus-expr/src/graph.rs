//! The shared graph of expressions: equal subexpressions are one node.
//!
//! Nodes are kept in a canonical form in which like terms meet (see `simplify.rs`). Children
//! always have smaller ids than their parents, so that iterating over ids visits every node after
//! its operands.

mod demands;
mod query;
mod substitute;

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use crate::ast::CompareOp;
use crate::function::{Function1, Function2};
use crate::table::Table;
pub use demands::Demands;

/// A node of a [`Graph`]; valid only for the graph that created it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct NodeId(pub(crate) u32);

/// The content of a node, in canonical form: an expression that can be simplified never becomes a node.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    Constant(f64),
    /// Index into `Graph::names`.
    Symbol(u32),
    /// constant + Σ coefficient·term, terms in ascending order of id; `2*x` and `-x` are sums of one term.
    Sum(f64, Box<[(NodeId, f64)]>),
    /// Π factor^power, factors in ascending order of id; numeric coefficients are in the enclosing sum.
    Product(Box<[(NodeId, i32)]>),
    /// A power that is not a (small) whole number.
    Power(NodeId, NodeId),
    Unary(Function1, NodeId),
    Binary(Function2, NodeId, NodeId),
    /// Never `Greater` or `GreaterEqual`: their operands are swapped.
    Compare(CompareOp, NodeId, NodeId),
    Select(NodeId, NodeId, NodeId),
    /// Index into `Graph::tables`.
    Table(u32, NodeId),
    TableSlope(u32, NodeId),
}

impl Node {
    /// Calls `f` on every operand.
    pub(crate) fn for_operands(&self, mut f: impl FnMut(NodeId)) {
        match self {
            Self::Constant(_) | Self::Symbol(_) => {}
            Self::Sum(_, terms) => terms.iter().for_each(|&(n, _)| f(n)),
            Self::Product(factors) => factors.iter().for_each(|&(n, _)| f(n)),
            Self::Unary(_, a) | Self::Table(_, a) | Self::TableSlope(_, a) => f(*a),
            Self::Power(a, b) | Self::Binary(_, a, b) | Self::Compare(_, a, b) => {
                f(*a);
                f(*b);
            }
            Self::Select(a, b, c) => {
                f(*a);
                f(*b);
                f(*c);
            }
        }
    }

    /// Bitwise equality, consistent with the hash.
    fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Constant(a), Self::Constant(b)) => a.to_bits() == b.to_bits(),
            (Self::Symbol(a), Self::Symbol(b)) => a == b,
            (Self::Sum(a, p), Self::Sum(b, q)) => {
                a.to_bits() == b.to_bits()
                    && p.len() == q.len()
                    && p.iter().zip(q).all(|(x, y)| x.0 == y.0 && x.1.to_bits() == y.1.to_bits())
            }
            (Self::Product(p), Self::Product(q)) => p == q,
            (Self::Power(a, b), Self::Power(c, d)) => (a, b) == (c, d),
            (Self::Unary(f, a), Self::Unary(g, b)) => (f, a) == (g, b),
            (Self::Binary(f, a, b), Self::Binary(g, c, d)) => (f, a, b) == (g, c, d),
            (Self::Compare(f, a, b), Self::Compare(g, c, d)) => (f, a, b) == (g, c, d),
            (Self::Select(a, b, c), Self::Select(d, e, f)) => (a, b, c) == (d, e, f),
            (Self::Table(i, a), Self::Table(j, b)) | (Self::TableSlope(i, a), Self::TableSlope(j, b)) => {
                (i, a) == (j, b)
            }
            _ => false,
        }
    }

    fn hash(&self) -> u64 {
        let mut h = Mixer::default();
        match self {
            Self::Constant(v) => h.mix(1).mix(v.to_bits()),
            Self::Symbol(k) => h.mix(2).mix(u64::from(*k)),
            Self::Sum(constant, terms) => {
                h.mix(3).mix(constant.to_bits());
                for &(n, c) in terms {
                    h.mix(n.into()).mix(c.to_bits());
                }
                &mut h
            }
            Self::Product(factors) => {
                h.mix(4);
                for &(n, p) in factors {
                    h.mix(n.into()).mix(p as u64);
                }
                &mut h
            }
            Self::Power(a, b) => h.mix(5).mix((*a).into()).mix((*b).into()),
            Self::Unary(f, a) => h.mix(6).mix(*f as u64).mix((*a).into()),
            Self::Binary(f, a, b) => h.mix(7).mix(*f as u64).mix((*a).into()).mix((*b).into()),
            Self::Compare(f, a, b) => h.mix(8).mix(*f as u64).mix((*a).into()).mix((*b).into()),
            Self::Select(a, b, c) => h.mix(9).mix((*a).into()).mix((*b).into()).mix((*c).into()),
            Self::Table(k, a) => h.mix(10).mix(u64::from(*k)).mix((*a).into()),
            Self::TableSlope(k, a) => h.mix(11).mix(u64::from(*k)).mix((*a).into()),
        };
        h.finish()
    }
}

impl From<NodeId> for u64 {
    fn from(n: NodeId) -> u64 {
        u64::from(n.0)
    }
}

/// A fast multiplicative hasher, sufficient for small keys that no attacker controls.
#[derive(Clone, Copy, Default)]
pub(crate) struct Mixer(u64);

impl Mixer {
    fn mix(&mut self, word: u64) -> &mut Self {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self
    }
}

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        // The map uses the low bits, which a multiplication mixes poorly.
        self.0 ^ (self.0 >> 32)
    }
    fn write(&mut self, bytes: &[u8]) {
        for &b in bytes {
            self.mix(u64::from(b));
        }
    }
    fn write_u64(&mut self, word: u64) {
        self.mix(word);
    }
    fn write_u32(&mut self, word: u32) {
        self.mix(u64::from(word));
    }
}

pub(crate) type QuickMap<K, V> = HashMap<K, V, BuildHasherDefault<Mixer>>;

/// A set of expressions in which equal subexpressions are shared.
///
/// ```
/// use saltus_expr::Graph;
/// let mut g = Graph::new();
/// let (x, y) = (g.symbol("x"), g.symbol("y"));
/// let (a, b) = (g.add(x, y), g.add(y, x));
/// assert_eq!(a, b);
/// let square = g.mul(a, b);
/// let slope = g.derivative(square, x);
/// assert_eq!(g.display(slope), "2*(x + y)");
/// ```
#[derive(Clone, Default, Debug)]
pub struct Graph {
    nodes: Vec<Node>,
    /// For each node, the bits of the symbols it contains (symbol k has bit k modulo 128):
    /// a zero bit proves independence, a one bit suggests dependence.
    masks: Vec<u128>,
    /// From a hash to the newest node that has it; `older` links to the others.
    heads: QuickMap<u64, NodeId>,
    older: Vec<Option<NodeId>>,
    names: Vec<String>,
    symbols: HashMap<String, NodeId>,
    tables: Vec<Arc<Table>>,
    operands: usize,
    /// What expressions were made of, where notes are taken of it.
    written: Option<Box<demands::Written>>,
    /// From (node, symbol) to the derivative.
    pub(crate) derivatives: QuickMap<(NodeId, NodeId), NodeId>,
}

impl Graph {
    /// An empty graph.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of nodes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether the graph has no nodes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The number of nodes plus the number of their operands: a measure of memory use.
    #[must_use]
    pub fn size(&self) -> usize {
        self.nodes.len() + self.operands
    }

    /// A number.
    pub fn constant(&mut self, value: f64) -> NodeId {
        // Minus zero becomes zero, so that there is one node and `x + 0` is `x` for both.
        let value = if value == 0.0 { 0.0 } else { value };
        self.intern(Node::Constant(value))
    }

    /// A variable; the same name gives the same node.
    pub fn symbol(&mut self, name: &str) -> NodeId {
        if let Some(&node) = self.symbols.get(name) {
            return node;
        }
        let k = self.names.len() as u32;
        self.names.push(name.to_owned());
        let node = self.intern(Node::Symbol(k));
        self.symbols.insert(name.to_owned(), node);
        node
    }

    /// The name of a symbol; `None` for other nodes.
    #[must_use]
    pub fn symbol_name(&self, n: NodeId) -> Option<&str> {
        match self.node(n) {
            Node::Symbol(k) => Some(&self.names[*k as usize]),
            _ => None,
        }
    }

    /// A sampled function of one variable. Tables are identified by their `Arc`.
    pub fn table(&mut self, table: Arc<Table>, argument: NodeId) -> NodeId {
        let known = self.tables.iter().position(|t| Arc::ptr_eq(t, &table));
        let k = known.unwrap_or_else(|| {
            self.tables.push(table);
            self.tables.len() - 1
        });
        self.table_node(k as u32, argument)
    }

    fn table_node(&mut self, k: u32, argument: NodeId) -> NodeId {
        match self.value(argument) {
            Some(x) => {
                let y = self.tables[k as usize].value(x);
                self.constant(y)
            }
            None => self.intern(Node::Table(k, argument)),
        }
    }

    pub(crate) fn table_slope(&mut self, k: u32, argument: NodeId) -> NodeId {
        self.intern(Node::TableSlope(k, argument))
    }

    pub(crate) fn table_at(&self, k: u32) -> &Arc<Table> {
        &self.tables[k as usize]
    }

    /// The number, if the node is a constant.
    #[must_use]
    pub fn value(&self, n: NodeId) -> Option<f64> {
        match self.node(n) {
            Node::Constant(value) => Some(*value),
            _ => None,
        }
    }

    /// Whether the node is the constant zero.
    #[must_use]
    pub fn is_zero(&self, n: NodeId) -> bool {
        self.value(n) == Some(0.0)
    }

    pub(crate) fn node(&self, n: NodeId) -> &Node {
        &self.nodes[n.0 as usize]
    }

    pub(crate) fn mask(&self, n: NodeId) -> u128 {
        self.masks[n.0 as usize]
    }

    /// The node with this content, created if there is none.
    pub(crate) fn intern(&mut self, node: Node) -> NodeId {
        let hash = node.hash();
        let head = self.heads.get(&hash).copied();
        let mut candidate = head;
        while let Some(id) = candidate {
            if self.node(id).same(&node) {
                return id;
            }
            candidate = self.older[id.0 as usize];
        }
        let mut mask = match node {
            Node::Symbol(k) => 1 << (k % 128),
            _ => 0,
        };
        node.for_operands(|child| {
            mask |= self.masks[child.0 as usize];
            self.operands += 1;
        });
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(node);
        self.masks.push(mask);
        self.older.push(head);
        self.heads.insert(hash, id);
        id
    }
}
