//! Evaluates a program at many points side by side, with the same bits as [`Scalar`](crate::Scalar).
//!
//! Every register is an array and every instruction a plain loop over it, which the compiler
//! vectorises. The evaluator is compiled for AVX-512, AVX2 and the baseline; the best version that
//! the processor supports is selected at run time.

use std::sync::Arc;

use multiversion::multiversion;

use crate::ast::CompareOp;
use crate::function::{self, Function1, Function2};
use crate::math;
use crate::program::{Instruction, Op, Program};
use crate::table::Table;

/// The width with the lowest cost per lane (see the benchmark `rhs`).
pub const LANES: usize = 32;

/// A register of W lanes, aligned to a cache line for full-width loads.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Register<const W: usize>([f64; W]);

/// Evaluates a [`Program`] for W sets of inputs at once, without allocation.
///
/// ```
/// use std::sync::Arc;
/// use saltus_expr::{Graph, Lanes, Program};
/// let mut g = Graph::new();
/// let x = g.symbol("x");
/// let y = g.mul(x, x);
/// let program = Arc::new(Program::compile(&g, &[x], &[y]).unwrap());
/// let mut run = Lanes::<4>::new(program);
/// *run.input_mut(0) = [1.0, 2.0, 3.0, 4.0];
/// run.run();
/// assert_eq!(run.output(0), &[1.0, 4.0, 9.0, 16.0]);
/// ```
#[derive(Clone, Debug)]
pub struct Lanes<const W: usize> {
    program: Arc<Program>,
    registers: Vec<Register<W>>,
}

impl<const W: usize> Lanes<W> {
    /// An evaluator with its own registers; many may share one program.
    #[must_use]
    pub fn new(program: Arc<Program>) -> Self {
        let mut registers = vec![Register([0.0; W]); program.registers()];
        for (register, &value) in registers[program.inputs()..].iter_mut().zip(program.constants()) {
            register.0 = [value; W];
        }
        Self { program, registers }
    }

    /// The program that is evaluated.
    #[must_use]
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Input k of every lane; values persist between runs.
    ///
    /// # Panics
    /// If there is no input k.
    #[inline]
    pub fn input_mut(&mut self, k: usize) -> &mut [f64; W] {
        &mut self.registers[..self.program.inputs()][k].0
    }

    /// Computes all outputs of all lanes.
    pub fn run(&mut self) {
        run_all(&self.program, &mut self.registers);
    }

    /// Output k of every lane, from the last run.
    ///
    /// # Panics
    /// If there is no output k.
    #[inline]
    #[must_use]
    pub fn output(&self, k: usize) -> &[f64; W] {
        &self.registers[self.program.output_registers()[k] as usize].0
    }
}

/// Lanes that are computed together: one AVX-512 register, two AVX2 registers, or four of the baseline.
const CHUNK: usize = 8;

/// Sets every lane of a register: `each!(registers, target, (a = r1, b = r2) => a + b)`.
///
/// A macro, because a call inside the loop would prevent vectorisation and closures are not always
/// inlined. A chunk is read completely before it is written, so that the target may be one of the
/// operands, and each chunk is small enough to stay in the processor's registers.
macro_rules! each {
    ($r:ident, $target:expr, ($($x:ident = $operand:expr),+) => $value:expr) => {{
        let target = $target as usize;
        $(let $x = $operand as usize;)+
        for chunk in 0..W / CHUNK {
            let out = {
                $(let $x = load(&$r[$x].0, chunk);)+
                let mut out = [0.0; CHUNK];
                for (k, out) in out.iter_mut().enumerate() {
                    $(let $x = $x[k];)+
                    *out = $value;
                }
                out
            };
            $r[target].0[chunk * CHUNK..(chunk + 1) * CHUNK].copy_from_slice(&out);
        }
        for k in W / CHUNK * CHUNK..W {
            let out = {
                $(let $x = $r[$x].0[k];)+
                $value
            };
            $r[target].0[k] = out;
        }
    }};
}

#[inline(always)]
fn load<const W: usize>(register: &[f64; W], chunk: usize) -> [f64; CHUNK] {
    let mut out = [0.0; CHUNK];
    out.copy_from_slice(&register[chunk * CHUNK..(chunk + 1) * CHUNK]);
    out
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn run_all<const W: usize>(program: &Program, r: &mut [Register<W>]) {
    for i in program.instructions() {
        match i.op {
            Op::Add => each!(r, i.target, (a = i.a, b = i.b) => a + b),
            Op::Sub => each!(r, i.target, (a = i.a, b = i.b) => a - b),
            Op::Mul => each!(r, i.target, (a = i.a, b = i.b) => a * b),
            Op::Div => each!(r, i.target, (a = i.a, b = i.b) => a / b),
            Op::Neg => each!(r, i.target, (a = i.a) => -a),
            Op::MulAdd => each!(r, i.target, (a = i.a, b = i.b, c = i.c) => a * b + c),
            Op::MulSub => each!(r, i.target, (a = i.a, b = i.b, c = i.c) => a * b - c),
            Op::SubMul => each!(r, i.target, (a = i.a, b = i.b, c = i.c) => c - a * b),
            Op::Select => {
                each!(r, i.target, (a = i.a, b = i.b, c = i.c) => math::choose(a != 0.0, b, c));
            }
            Op::Unary(f) => unary(f, i, r),
            Op::Binary(f) => binary(f, i, r),
            Op::Compare(op) => compare(op, i, r),
            Op::Pow => power(i, r),
            Op::Table | Op::TableSlope => table(&program.tables()[i.b as usize], i, r),
        }
    }
}

#[inline(always)]
fn unary<const W: usize>(f: Function1, i: &Instruction, r: &mut [Register<W>]) {
    match f {
        Function1::Sin if all_near(&r[i.a as usize].0) => {
            each!(r, i.target, (a = i.a) => math::sin_near(a));
        }
        Function1::Cos if all_near(&r[i.a as usize].0) => {
            each!(r, i.target, (a = i.a) => math::cos_near(a));
        }
        Function1::Exp => each!(r, i.target, (a = i.a) => math::exp(a)),
        Function1::Sqrt => each!(r, i.target, (a = i.a) => a.sqrt()),
        Function1::Abs => each!(r, i.target, (a = i.a) => a.abs()),
        _ => library1(f, i, r),
    }
}

#[inline(always)]
fn binary<const W: usize>(f: Function2, i: &Instruction, r: &mut [Register<W>]) {
    match f {
        Function2::Min => each!(r, i.target, (a = i.a, b = i.b) => function::min(a, b)),
        Function2::Max => each!(r, i.target, (a = i.a, b = i.b) => function::max(a, b)),
        _ => library2(f, i, r),
    }
}

#[inline(always)]
fn compare<const W: usize>(op: CompareOp, i: &Instruction, r: &mut [Register<W>]) {
    // The operator is a constant in each arm: otherwise the loop would branch on it.
    macro_rules! with {
        ($op:ident) => {
            each!(r, i.target, (a = i.a, b = i.b) => CompareOp::$op.eval(a, b))
        };
    }
    match op {
        CompareOp::Less => with!(Less),
        CompareOp::LessEqual => with!(LessEqual),
        CompareOp::Greater => with!(Greater),
        CompareOp::GreaterEqual => with!(GreaterEqual),
        CompareOp::Equal => with!(Equal),
        CompareOp::NotEqual => with!(NotEqual),
    }
}

/// Whether the vector routines for sine and cosine may be used on all lanes.
// Compares bit patterns by subtraction and collects the sign bits: this loop is vectorised, one with
// a boolean flag is not. The bits of NaN exceed those of the limit.
#[inline(always)]
fn all_near<const W: usize>(a: &[f64; W]) -> bool {
    let mut signs = 0;
    for x in a {
        signs |= math::TRIG_LIMIT.to_bits().wrapping_sub(x.abs().to_bits());
    }
    signs >> 63 == 0
}

// Calls into the mathematical library, lane by lane. Not inlined, because they would spill the
// registers of the main loop.

#[inline(never)]
fn library1<const W: usize>(f: Function1, i: &Instruction, r: &mut [Register<W>]) {
    for k in 0..W {
        r[i.target as usize].0[k] = f.eval(r[i.a as usize].0[k]);
    }
}

#[inline(never)]
fn library2<const W: usize>(f: Function2, i: &Instruction, r: &mut [Register<W>]) {
    for k in 0..W {
        r[i.target as usize].0[k] = f.eval(r[i.a as usize].0[k], r[i.b as usize].0[k]);
    }
}

#[inline(never)]
fn power<const W: usize>(i: &Instruction, r: &mut [Register<W>]) {
    for k in 0..W {
        r[i.target as usize].0[k] = r[i.a as usize].0[k].powf(r[i.b as usize].0[k]);
    }
}

#[inline(never)]
fn table<const W: usize>(table: &Table, i: &Instruction, r: &mut [Register<W>]) {
    for k in 0..W {
        let x = r[i.a as usize].0[k];
        r[i.target as usize].0[k] = match i.op {
            Op::TableSlope => table.slope(x),
            _ => table.value(x),
        };
    }
}
