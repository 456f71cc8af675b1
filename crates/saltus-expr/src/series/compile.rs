//! From straight-line code to rules: functions are decomposed into those that have a recurrence.

use super::rules::{Rule, SeriesCode};
use super::switch::{COSH, EXP, Kind, Switch, TANH};
use crate::ast::CompareOp;
use crate::function::{Function1, Function2};
use crate::graph::{Graph, NodeId};
use crate::program::{CONSTANT, Instruction, MissingInput, Op, emit};
use crate::table::Table;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

struct Compiler {
    code: SeriesCode,
    /// The values of constant registers.
    constant: HashMap<usize, f64>,
    /// Registers whose values are 0 or 1.
    logical: Vec<bool>,
    /// From (sin or sinh, argument) to the register; the next register is the cos or cosh.
    turns: HashMap<(Function1, usize), usize>,
    signs: HashMap<usize, usize>,
    /// Arguments with marks.
    marks: HashSet<usize>,
    /// From (table, argument) to the switch.
    segments: HashMap<(u32, usize), usize>,
}

pub(super) fn compile(
    graph: &Graph,
    inputs: &[NodeId],
    degree: &[usize],
    outputs: &[NodeId],
) -> Result<SeriesCode, MissingInput> {
    let draft = emit::emit(graph, inputs, outputs)?;
    let fixed = draft.inputs + draft.constants.len();
    let mut degrees = degree.to_vec();
    degrees.resize(fixed, 0);
    let mut compiler = Compiler {
        constant: draft.constants.iter().enumerate().map(|(k, &c)| (draft.inputs + k, c)).collect(),
        logical: vec![false; fixed],
        turns: HashMap::new(),
        signs: HashMap::new(),
        marks: HashSet::new(),
        segments: HashMap::new(),
        code: SeriesCode {
            inputs: draft.inputs,
            constants: draft.constants.clone(),
            rules: Vec::new(),
            registers: fixed,
            outputs: Vec::new(),
            switches: Vec::new(),
            degree: degrees,
        },
    };
    // The register of each instruction.
    let mut place: Vec<usize> = Vec::with_capacity(draft.code.len());
    let find = |register: u32, place: &[usize]| match register {
        r if r & CONSTANT != 0 => draft.inputs + (r & !CONSTANT) as usize,
        r if (r as usize) < draft.inputs => r as usize,
        r => place[r as usize - draft.inputs],
    };
    for instruction in &draft.code {
        let of = |r: u32| find(r, &place);
        let register = compiler.instruction(instruction, &draft.tables, of);
        place.push(register);
    }
    compiler.code.outputs = draft.outputs.iter().map(|&r| find(r, &place)).collect();
    Ok(compiler.code)
}

impl Compiler {
    fn instruction(&mut self, i: &Instruction, tables: &[Arc<Table>], of: impl Fn(u32) -> usize) -> usize {
        let a = of(i.a);
        match i.op {
            Op::Add => self.add(a, of(i.b)),
            Op::Sub => self.sub(a, of(i.b)),
            Op::Mul => self.mul(a, of(i.b)),
            Op::Div => self.div(a, of(i.b)),
            Op::Neg => self.push(Rule::Neg(a), self.degree(a)),
            Op::MulAdd | Op::MulSub | Op::SubMul => {
                let (product, c) = (self.mul(a, of(i.b)), of(i.c));
                match i.op {
                    Op::MulAdd => self.add(product, c),
                    Op::MulSub => self.sub(product, c),
                    _ => self.sub(c, product),
                }
            }
            Op::Pow => self.power(a, of(i.b)),
            Op::Unary(f) => self.unary(f, a),
            Op::Binary(f) => self.binary(f, a, of(i.b)),
            Op::Compare(op) => {
                let difference = self.sub(a, of(i.b));
                self.compare(op, difference)
            }
            Op::Select => {
                let (c, first, second) = (self.truth(a), of(i.b), of(i.c));
                let logical = self.logical[first] && self.logical[second];
                let register = self.push(Rule::Select(c, first, second), self.degree(first).max(self.degree(second)));
                self.logical[register] = logical;
                register
            }
            Op::Table => {
                let switch = self.segment(a, i.b, tables);
                self.push(Rule::Table { x: a, switch }, self.degree(a))
            }
            Op::TableSlope => {
                let switch = self.segment(a, i.b, tables);
                self.push(Rule::TableSlope { switch }, 0)
            }
        }
    }

    fn push(&mut self, rule: Rule, degree: usize) -> usize {
        let target = self.reserve(degree);
        self.code.rules.push((target, rule));
        target
    }

    fn reserve(&mut self, degree: usize) -> usize {
        self.code.degree.push(degree);
        self.logical.push(false);
        self.code.registers += 1;
        self.code.registers - 1
    }

    fn degree(&self, r: usize) -> usize {
        self.code.degree[r]
    }

    fn add(&mut self, a: usize, b: usize) -> usize {
        let degree = self.degree(a).max(self.degree(b));
        match (self.constant.get(&a).copied(), self.constant.get(&b).copied()) {
            (_, Some(c)) => self.push(Rule::Shift(a, c), degree),
            (Some(c), _) => self.push(Rule::Shift(b, c), degree),
            _ => self.push(Rule::Add(a, b), degree),
        }
    }

    fn sub(&mut self, a: usize, b: usize) -> usize {
        let degree = self.degree(a).max(self.degree(b));
        match self.constant.get(&b).copied() {
            Some(c) => self.push(Rule::Shift(a, -c), degree),
            None => self.push(Rule::Sub(a, b), degree),
        }
    }

    fn mul(&mut self, a: usize, b: usize) -> usize {
        let degree = self.degree(a).saturating_add(self.degree(b));
        match (self.constant.get(&a).copied(), self.constant.get(&b).copied()) {
            (_, Some(c)) => self.push(Rule::Scale(a, c), degree),
            (Some(c), _) => self.push(Rule::Scale(b, c), degree),
            _ if a == b => self.push(Rule::Square(a), degree),
            _ => self.push(Rule::Mul(a, b), degree),
        }
    }

    fn div(&mut self, a: usize, b: usize) -> usize {
        let degree = if self.degree(b) == 0 { self.degree(a) } else { usize::MAX };
        self.mark(b, Kind::Decades);
        self.push(Rule::Div(a, b), degree)
    }

    /// The degree of a smooth function of x that is not a polynomial.
    fn transcendental(&self, x: usize) -> usize {
        if self.degree(x) == 0 { 0 } else { usize::MAX }
    }

    fn power(&mut self, a: usize, b: usize) -> usize {
        if let Some(p) = self.constant.get(&b).copied() {
            return self.root(Rule::Power(a, p), self.transcendental(a));
        }
        // a^b = exp(b log a).
        let log = match self.constant.get(&a).copied() {
            Some(c) => {
                let scaled = self.push(Rule::Scale(b, c.ln()), self.degree(b));
                return self.exp(scaled);
            }
            None => self.unary(Function1::Log, a),
        };
        let exponent = self.mul(b, log);
        self.exp(exponent)
    }

    fn unary(&mut self, f: Function1, x: usize) -> usize {
        use Function1 as F;
        let degree = self.transcendental(x);
        match f {
            F::Sin => self.turn(F::Sin, x),
            F::Cos => self.turn(F::Sin, x) + 1,
            F::Sinh => self.turn(F::Sinh, x),
            F::Cosh => self.turn(F::Sinh, x) + 1,
            F::Tan | F::Tanh => {
                let sign = if f == F::Tan { 1.0 } else { -1.0 };
                if f == F::Tanh {
                    self.mark(x, Kind::Levels(TANH));
                }
                let y = self.push(Rule::Slope { x, sign, of: f }, degree);
                self.reserve(degree);
                y
            }
            F::Exp => self.exp(x),
            F::Sqrt => self.root(Rule::Sqrt(x), degree),
            F::Log => {
                self.mark(x, Kind::Decades);
                self.push(Rule::Quotient { x, d: x, sign: 1.0, of: f }, degree)
            }
            F::Asin | F::Acos | F::Atan => {
                let square = self.mul(x, x);
                let d = if f == F::Atan {
                    self.push(Rule::Shift(square, 1.0), degree)
                } else {
                    let minus = self.push(Rule::Neg(square), degree);
                    let inner = self.push(Rule::Shift(minus, 1.0), degree);
                    self.root(Rule::Sqrt(inner), degree)
                };
                let sign = if f == F::Acos { -1.0 } else { 1.0 };
                self.mark(d, Kind::Decades);
                self.push(Rule::Quotient { x, d, sign, of: f }, degree)
            }
            F::Abs => {
                let switch = self.sign(x);
                self.push(Rule::Abs { x, switch }, self.degree(x))
            }
            F::Sign => {
                let switch = self.sign(x);
                self.push(Rule::Sign { switch }, 0)
            }
            F::Floor => {
                let switch = self.switch(x, Kind::Floor);
                self.push(Rule::Floor { switch }, 0)
            }
            F::Not => {
                let truth = self.truth(x);
                let register = self.push(Rule::Not(truth), 0);
                self.logical[register] = true;
                register
            }
        }
    }

    fn binary(&mut self, f: Function2, a: usize, b: usize) -> usize {
        use Function2 as F;
        match f {
            F::Atan2 | F::Hypot => {
                let (aa, bb) = (self.mul(a, a), self.mul(b, b));
                let d = self.add(aa, bb);
                let degree = self.transcendental(d);
                if f == F::Atan2 {
                    self.mark(d, Kind::Decades);
                    self.push(Rule::Angle { a, b, d }, degree)
                } else {
                    self.root(Rule::Sqrt(d), degree)
                }
            }
            F::Min | F::Max => {
                let difference = self.sub(a, b);
                let (switch, degree) = (self.sign(difference), self.degree(a).max(self.degree(b)));
                self.push(Rule::Lesser { first: a, second: b, switch, greater: f == F::Max }, degree)
            }
            F::Mod => {
                let ratio = self.div(a, b);
                let turns = self.unary(Function1::Floor, ratio);
                let whole = self.mul(b, turns);
                self.sub(a, whole)
            }
            F::And | F::Or => {
                let (a, b) = (self.truth(a), self.truth(b));
                let register = self.push(Rule::Logic(f, a, b), 0);
                self.logical[register] = true;
                register
            }
        }
    }

    fn exp(&mut self, x: usize) -> usize {
        self.mark(x, Kind::Levels(EXP));
        self.push(Rule::Exp(x), self.transcendental(x))
    }

    /// Ends series where a function of x may change without notice. The states of such a switch are set with the first of
    /// the rules that use it.
    fn mark(&mut self, x: usize, kind: Kind) {
        if self.degree(x) > 0 && self.marks.insert(x) {
            let switch = self.switch(x, kind);
            self.push(Rule::Mark { switch }, 0);
        }
    }

    /// A root or power, with the switch that keeps it from continuing to the negative root.
    fn root(&mut self, rule: Rule, degree: usize) -> usize {
        let register = self.push(rule, degree);
        if degree > 0 {
            self.switch(register, Kind::Root);
        }
        register
    }

    fn turn(&mut self, f: Function1, x: usize) -> usize {
        if let Some(&known) = self.turns.get(&(f, x)) {
            return known;
        }
        let degree = self.transcendental(x);
        if f == Function1::Sinh {
            self.mark(x, Kind::Levels(COSH));
        }
        let (sign, with) = if f == Function1::Sin { (-1.0, Function1::Cos) } else { (1.0, Function1::Cosh) };
        let register = self.push(Rule::Turn { x, sign, of: f, with }, degree);
        self.reserve(degree);
        self.turns.insert((f, x), register);
        register
    }

    fn switch(&mut self, x: usize, kind: Kind) -> usize {
        self.code.switches.push(Switch { x, kind });
        self.code.switches.len() - 1
    }

    /// The switch on the sign of a register, shared by all users.
    fn sign(&mut self, x: usize) -> usize {
        if let Some(&known) = self.signs.get(&x) {
            return known;
        }
        let switch = self.switch(x, Kind::Sign);
        self.signs.insert(x, switch);
        switch
    }

    /// The switch on the segment of a table, shared by value and slope.
    fn segment(&mut self, x: usize, table: u32, tables: &[Arc<Table>]) -> usize {
        if let Some(&known) = self.segments.get(&(table, x)) {
            return known;
        }
        let switch = self.switch(x, Kind::Table(tables[table as usize].clone()));
        self.segments.insert((table, x), switch);
        switch
    }

    fn compare(&mut self, op: CompareOp, difference: usize) -> usize {
        let rule = match op {
            CompareOp::Equal | CompareOp::NotEqual => Rule::Zero { x: difference, not: op == CompareOp::NotEqual },
            _ => Rule::Compare { op, switch: self.sign(difference) },
        };
        let register = self.push(rule, 0);
        self.logical[register] = true;
        register
    }

    /// A register that is 0 or 1: whether x is not zero.
    fn truth(&mut self, x: usize) -> usize {
        let known = self.constant.contains_key(&x);
        if self.logical[x] || known { x } else { self.compare(CompareOp::NotEqual, x) }
    }
}
