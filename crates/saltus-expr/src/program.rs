//! Straight-line code for a set of outputs, independent of its evaluators.

use std::fmt;
use std::sync::Arc;

use crate::ast::CompareOp;
use crate::function::{Function1, Function2};
use crate::graph::{Graph, NodeId};
use crate::table::Table;

mod allocate;
pub(crate) mod emit;
mod fuse;

/// What an [`Instruction`] computes from its registers a, b, c.
///
/// Operations may be added: an evaluator outside this crate must reject those it does not know.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Op {
    /// a + b
    Add,
    /// a - b
    Sub,
    /// a * b
    Mul,
    /// a / b
    Div,
    /// -a
    Neg,
    /// a*b + c, rounded twice
    MulAdd,
    /// a*b - c, rounded twice
    MulSub,
    /// c - a*b, rounded twice
    SubMul,
    /// a to the power b, as `f64::powf`
    Pow,
    /// f(a)
    Unary(Function1),
    /// f(a, b)
    Binary(Function2),
    /// a ? b, as 1 or 0
    Compare(CompareOp),
    /// b if a is not zero, else c
    Select,
    /// value of table number b at a
    Table,
    /// slope of table number b at a
    TableSlope,
}

impl Op {
    /// How many of a, b, c are registers.
    #[must_use]
    pub fn operands(self) -> usize {
        match self {
            Self::Neg | Self::Unary(_) | Self::Table | Self::TableSlope => 1,
            Self::MulAdd | Self::MulSub | Self::SubMul | Self::Select => 3,
            _ => 2,
        }
    }
}

/// One operation of a program: target = op(a, b, c). The first registers hold the inputs, the next the
/// constants, the others temporaries. Operands that the operation does not use are 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Instruction {
    /// The operation.
    pub op: Op,
    /// The register for the result.
    pub target: u32,
    /// First operand.
    pub a: u32,
    /// Second operand, or the number of a table.
    pub b: u32,
    /// Third operand.
    pub c: u32,
}

/// An output needs a symbol that is not among the inputs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MissingInput {
    /// The symbol.
    pub name: String,
}

impl fmt::Display for MissingInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is used but is not an input", self.name)
    }
}

impl std::error::Error for MissingInput {}

/// Straight-line code that computes outputs from inputs.
///
/// ```
/// use std::sync::Arc;
/// use saltus_expr::{Graph, Program, Scalar};
/// let mut g = Graph::new();
/// let (x, y) = (g.symbol("x"), g.symbol("y"));
/// let product = g.mul(x, y);
/// let slope = g.derivative(product, x);
/// let program = Program::compile(&g, &[x, y], &[product, slope]).unwrap();
/// let mut run = Scalar::new(Arc::new(program));
/// let mut out = [0.0; 2];
/// run.eval(&[3.0, 4.0], &mut out);
/// assert_eq!(out, [12.0, 4.0]);
/// ```
#[derive(Clone, Debug)]
pub struct Program {
    inputs: usize,
    constants: Vec<f64>,
    tables: Vec<Arc<Table>>,
    instructions: Vec<Instruction>,
    registers: usize,
    outputs: Vec<u32>,
}

impl Program {
    /// Code that computes the outputs from the inputs. An input is a symbol, or any other node whose value will be given
    /// instead of computed.
    ///
    /// # Errors
    /// An output needs a symbol that is not an input.
    pub fn compile(graph: &Graph, inputs: &[NodeId], outputs: &[NodeId]) -> Result<Self, MissingInput> {
        let mut draft = emit::emit(graph, inputs, outputs)?;
        fuse::fuse(&mut draft);
        Ok(allocate::allocate(draft))
    }

    /// The number of inputs; they occupy the first registers.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// The number of outputs.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.outputs.len()
    }

    /// The code, in order.
    #[must_use]
    pub fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }

    /// The constants; they occupy the registers after the inputs.
    #[must_use]
    pub fn constants(&self) -> &[f64] {
        &self.constants
    }

    /// The tables, by number.
    #[must_use]
    pub fn tables(&self) -> &[Arc<Table>] {
        &self.tables
    }

    /// The total number of registers.
    #[must_use]
    pub fn registers(&self) -> usize {
        self.registers
    }

    /// For each output, the register that holds it after a run.
    #[must_use]
    pub fn output_registers(&self) -> &[u32] {
        &self.outputs
    }
}

/// A program before register allocation: every instruction has its own target.
/// Registers number the inputs first, then the instructions; constants are marked by [`CONSTANT`].
pub(crate) struct Draft {
    pub(crate) inputs: usize,
    pub(crate) constants: Vec<f64>,
    pub(crate) tables: Vec<Arc<Table>>,
    /// `target` is `inputs + position` until instructions are dropped.
    pub(crate) code: Vec<Instruction>,
    pub(crate) outputs: Vec<u32>,
}

/// Marks a register of a draft as a constant; the other bits are its number.
pub(crate) const CONSTANT: u32 = 1 << 31;

/// The registers an instruction reads.
fn operands(i: &Instruction) -> impl Iterator<Item = u32> {
    [i.a, i.b, i.c].into_iter().take(i.op.operands())
}
