//! The code of a series: rules by which the coefficients of one register follow from those of others.

use crate::ast::CompareOp;
use crate::function::{Function1, Function2};
use crate::graph::{Graph, NodeId};
use crate::program::MissingInput;

use super::compile;
use super::switch::Switch;

/// How the coefficients of a register follow from those of others.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rule {
    Add(usize, usize),
    Sub(usize, usize),
    Neg(usize),
    Scale(usize, f64),
    Shift(usize, f64),
    Mul(usize, usize),
    Square(usize),
    Div(usize, usize),
    Exp(usize),
    Sqrt(usize),
    /// A power with a constant exponent that is not a whole number.
    Power(usize, f64),
    /// sin (sign −1) or sinh (sign 1) of a register; the register after the target is its cos or cosh.
    Turn {
        x: usize,
        sign: f64,
        of: Function1,
        with: Function1,
    },
    /// y' = w x' with w = 1 + sign y²: tan and tanh. The register after the target is w.
    Slope {
        x: usize,
        sign: f64,
        of: Function1,
    },
    /// y' = sign x'/d: log, asin, acos, atan.
    Quotient {
        x: usize,
        d: usize,
        sign: f64,
        of: Function1,
    },
    /// y' = (b a' − a b')/d with d = a² + b².
    Angle {
        a: usize,
        b: usize,
        d: usize,
    },
    /// This rule and the next ones, up to `TableSlope`, depend on the state of a switch.
    Abs {
        x: usize,
        switch: usize,
    },
    Sign {
        switch: usize,
    },
    /// min: the first where first − second is negative; max (`greater`): where it is positive.
    Lesser {
        first: usize,
        second: usize,
        switch: usize,
        greater: bool,
    },
    Compare {
        op: CompareOp,
        switch: usize,
    },
    Floor {
        switch: usize,
    },
    Table {
        x: usize,
        switch: usize,
    },
    TableSlope {
        switch: usize,
    },
    /// Sets the state of a switch that changes nothing.
    Mark {
        switch: usize,
    },
    /// Whether a register is zero (or, with `not`, is not zero). Not a switch: it changes at isolated instants only.
    Zero {
        x: usize,
        not: bool,
    },
    /// This rule and the next ones act on conditions that are 0 or 1.
    Select(usize, usize, usize),
    Logic(Function2, usize, usize),
    Not(usize),
}

/// Code for the series of a set of outputs.
#[derive(Clone, Debug)]
pub struct SeriesCode {
    pub(super) inputs: usize,
    pub(super) constants: Vec<f64>,
    /// (target, rule), operands before their users.
    pub(super) rules: Vec<(usize, Rule)>,
    pub(super) registers: usize,
    pub(super) outputs: Vec<usize>,
    pub(super) switches: Vec<Switch>,
    /// For each register, the highest order that may be nonzero.
    pub(super) degree: Vec<usize>,
}

impl SeriesCode {
    /// Code for the series of the outputs. `degree` bounds the degree of each input as a polynomial in time: 1 for
    /// time itself, `usize::MAX` for an unknown function.
    ///
    /// # Errors
    /// An output needs a symbol that is not an input.
    pub fn compile(
        graph: &Graph,
        inputs: &[NodeId],
        degree: &[usize],
        outputs: &[NodeId],
    ) -> Result<Self, MissingInput> {
        compile::compile(graph, inputs, degree, outputs)
    }

    /// The fraction of rules in which order k needs all lower orders: a measure of the cost of high orders.
    #[must_use]
    pub fn convolved(&self) -> f64 {
        let open = |r: &usize| self.degree[*r] == usize::MAX;
        let costly = |(_, rule): &&(usize, Rule)| match rule {
            Rule::Mul(a, b) | Rule::Div(a, b) => open(a) && open(b),
            Rule::Square(x) | Rule::Exp(x) | Rule::Sqrt(x) | Rule::Power(x, _) => open(x),
            Rule::Turn { x, .. } | Rule::Slope { x, .. } | Rule::Quotient { x, .. } => open(x),
            Rule::Angle { .. } => true,
            _ => false,
        };
        self.rules.iter().filter(costly).count() as f64 / self.rules.len().max(1) as f64
    }
}
