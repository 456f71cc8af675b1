//! Graph to straight-line code, depth first from each output: values are computed shortly before
//! their use, so that few are alive at a time.

use super::{CONSTANT, Draft, Instruction, MissingInput, Op};
use crate::graph::{Graph, Node, NodeId, QuickMap};

/// A node being computed.
struct Frame {
    node: NodeId,
    /// Operands in the order of use.
    order: Vec<(NodeId, Part)>,
    /// How many have been used.
    taken: usize,
    /// Sums: the partial sum. Products: the numerator.
    sum: Option<u32>,
    /// Products: the denominator.
    below: Option<u32>,
}

#[derive(Clone, Copy)]
enum Part {
    Term(f64),
    Factor(i32),
    Plain,
}

struct Emitter<'a> {
    graph: &'a Graph,
    /// The register of each computed node.
    registers: QuickMap<NodeId, u32>,
    constants: QuickMap<u64, u32>,
    /// Integer powers of registers.
    powers: QuickMap<(u32, u32), u32>,
    tables: QuickMap<u32, u32>,
    draft: Draft,
}

pub(crate) fn emit(graph: &Graph, inputs: &[NodeId], outputs: &[NodeId]) -> Result<Draft, MissingInput> {
    let mut emitter = Emitter {
        graph,
        registers: inputs.iter().enumerate().map(|(k, &n)| (n, k as u32)).collect(),
        constants: QuickMap::default(),
        powers: QuickMap::default(),
        tables: QuickMap::default(),
        draft: Draft {
            inputs: inputs.len(),
            constants: Vec::new(),
            tables: Vec::new(),
            code: Vec::new(),
            outputs: Vec::new(),
        },
    };
    for &output in outputs {
        let register = emitter.compute(output)?;
        emitter.draft.outputs.push(register);
    }
    Ok(emitter.draft)
}

impl Emitter<'_> {
    fn push(&mut self, op: Op, a: u32, b: u32, c: u32) -> u32 {
        let target = (self.draft.inputs + self.draft.code.len()) as u32;
        self.draft.code.push(Instruction { op, target, a, b, c });
        target
    }

    fn constant(&mut self, value: f64) -> u32 {
        let constants = &mut self.draft.constants;
        *self.constants.entry(value.to_bits()).or_insert_with(|| {
            constants.push(value);
            CONSTANT | (constants.len() - 1) as u32
        })
    }

    /// The register of a node that is constant or has been computed.
    fn ready(&mut self, n: NodeId) -> Option<u32> {
        if let Some(&register) = self.registers.get(&n) {
            return Some(register);
        }
        self.graph.value(n).map(|value| self.constant(value))
    }

    /// Emits code for a node and everything it needs. Uses an explicit stack, because graphs may be deep.
    fn compute(&mut self, output: NodeId) -> Result<u32, MissingInput> {
        if let Some(register) = self.ready(output) {
            return Ok(register);
        }
        let mut stack = vec![self.frame(output)?];
        let mut last = 0;
        while let Some(mut frame) = stack.pop() {
            match frame.order.get(frame.taken) {
                Some(&(operand, part)) => match self.ready(operand) {
                    Some(register) => {
                        frame.taken += 1;
                        self.take(&mut frame, register, part);
                        stack.push(frame);
                    }
                    None => {
                        let inner = self.frame(operand)?;
                        stack.push(frame);
                        stack.push(inner);
                    }
                },
                None => {
                    last = self.finish(&frame);
                    self.registers.insert(frame.node, last);
                }
            }
        }
        Ok(last)
    }

    fn frame(&mut self, node: NodeId) -> Result<Frame, MissingInput> {
        let mut order = Vec::new();
        let mut sum = None;
        match self.graph.node(node) {
            Node::Symbol(_) => {
                let name = self.graph.symbol_name(node).unwrap_or_default().to_owned();
                return Err(MissingInput { name });
            }
            Node::Sum(constant, terms) => {
                order.extend(terms.iter().map(|&(n, c)| (n, Part::Term(c))));
                // Start with a term of coefficient 1, else with the constant.
                if let Some(k) = terms.iter().position(|&(_, c)| c == 1.0) {
                    order[..=k].rotate_right(1);
                } else if *constant != 0.0 {
                    sum = Some(self.constant(*constant));
                } else if let Some(k) = terms.iter().position(|&(_, c)| c != -1.0) {
                    order[..=k].rotate_right(1);
                }
            }
            Node::Product(factors) => {
                order.extend(factors.iter().map(|&(n, p)| (n, Part::Factor(p))));
            }
            other => other.for_operands(|n| order.push((n, Part::Plain))),
        }
        Ok(Frame { node, order, taken: 0, sum, below: None })
    }

    /// Adds an operand to a sum or product as soon as it has been computed.
    fn take(&mut self, frame: &mut Frame, register: u32, part: Part) {
        match part {
            Part::Plain => {}
            Part::Term(c) => frame.sum = Some(self.add_term(frame.sum, c, register)),
            Part::Factor(p) => {
                let power = self.power(register, p.unsigned_abs());
                let side = if p > 0 { &mut frame.sum } else { &mut frame.below };
                *side = Some(match *side {
                    Some(product) => self.push(Op::Mul, product, power, 0),
                    None => power,
                });
            }
        }
    }

    fn add_term(&mut self, sum: Option<u32>, c: f64, register: u32) -> u32 {
        match (sum, c) {
            (None, 1.0) => register,
            (None, -1.0) => self.push(Op::Neg, register, 0, 0),
            (Some(sum), 1.0) => self.push(Op::Add, sum, register, 0),
            (Some(sum), -1.0) => self.push(Op::Sub, sum, register, 0),
            (None, _) => {
                let c = self.constant(c);
                self.push(Op::Mul, c, register, 0)
            }
            (Some(sum), _) => {
                let size = self.constant(c.abs());
                let term = self.push(Op::Mul, size, register, 0);
                let op = if c < 0.0 { Op::Sub } else { Op::Add };
                self.push(op, sum, term, 0)
            }
        }
    }

    /// An integer power by repeated squaring; intermediate powers are shared.
    fn power(&mut self, register: u32, p: u32) -> u32 {
        if p == 1 {
            return register;
        }
        if let Some(&known) = self.powers.get(&(register, p)) {
            return known;
        }
        let result = if p.is_multiple_of(2) {
            let half = self.power(register, p / 2);
            self.push(Op::Mul, half, half, 0)
        } else {
            let less = self.power(register, p - 1);
            self.push(Op::Mul, less, register, 0)
        };
        self.powers.insert((register, p), result);
        result
    }

    /// Emits the last instruction of a node whose operands have been computed.
    fn finish(&mut self, frame: &Frame) -> u32 {
        let mut at = [0; 3];
        if !matches!(self.graph.node(frame.node), Node::Sum(..) | Node::Product(_)) {
            for (slot, &(n, _)) in at.iter_mut().zip(&frame.order) {
                *slot = self.ready(n).unwrap_or(0);
            }
        }
        let [a, b, c] = at;
        match self.graph.node(frame.node) {
            Node::Constant(value) => self.constant(*value),
            Node::Symbol(_) => 0,
            Node::Sum(constant, terms) => {
                let begun = !terms.iter().any(|&(_, c)| c == 1.0);
                match frame.sum {
                    None => self.constant(*constant),
                    Some(sum) if *constant == 0.0 || begun => sum,
                    Some(sum) if *constant < 0.0 => {
                        let size = self.constant(-constant);
                        self.push(Op::Sub, sum, size, 0)
                    }
                    Some(sum) => {
                        let constant = self.constant(*constant);
                        self.push(Op::Add, sum, constant, 0)
                    }
                }
            }
            Node::Product(_) => match (frame.sum, frame.below) {
                (Some(above), None) => above,
                (above, Some(below)) => {
                    let above = above.unwrap_or_else(|| self.constant(1.0));
                    self.push(Op::Div, above, below, 0)
                }
                (None, None) => self.constant(1.0),
            },
            Node::Power(..) => self.push(Op::Pow, a, b, 0),
            Node::Unary(f, _) => self.push(Op::Unary(*f), a, 0, 0),
            Node::Binary(f, ..) => self.push(Op::Binary(*f), a, b, 0),
            Node::Compare(op, ..) => self.push(Op::Compare(*op), a, b, 0),
            Node::Select(..) => self.push(Op::Select, a, b, c),
            Node::Table(k, _) => {
                let table = self.table(*k);
                self.push(Op::Table, a, table, 0)
            }
            Node::TableSlope(k, _) => {
                let table = self.table(*k);
                self.push(Op::TableSlope, a, table, 0)
            }
        }
    }

    fn table(&mut self, k: u32) -> u32 {
        let tables = &mut self.draft.tables;
        let graph = self.graph;
        *self.tables.entry(k).or_insert_with(|| {
            tables.push(graph.table_at(k).clone());
            (tables.len() - 1) as u32
        })
    }
}
