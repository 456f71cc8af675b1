//! Evaluates a program at one point.

use std::sync::Arc;

use crate::program::{Op, Program};

/// Evaluates a [`Program`] at one point at a time, without allocation.
#[derive(Clone, Debug)]
pub struct Scalar {
    program: Arc<Program>,
    registers: Vec<f64>,
}

impl Scalar {
    /// An evaluator with its own registers; many may share one program.
    #[must_use]
    pub fn new(program: Arc<Program>) -> Self {
        let mut registers = vec![0.0; program.registers()];
        let first = program.inputs();
        registers[first..first + program.constants().len()].copy_from_slice(program.constants());
        Self { program, registers }
    }

    /// The program that is evaluated.
    #[must_use]
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// The inputs, in the order given to [`Program::compile`]; values persist between runs.
    #[inline]
    pub fn inputs_mut(&mut self) -> &mut [f64] {
        &mut self.registers[..self.program.inputs()]
    }

    /// Computes all outputs.
    pub fn run(&mut self) {
        let r = self.registers.as_mut_slice();
        for i in self.program.instructions() {
            let a = r[i.a as usize];
            let value = match i.op {
                Op::Add => a + r[i.b as usize],
                Op::Sub => a - r[i.b as usize],
                Op::Mul => a * r[i.b as usize],
                Op::Div => a / r[i.b as usize],
                Op::Neg => -a,
                Op::MulAdd => a * r[i.b as usize] + r[i.c as usize],
                Op::MulSub => a * r[i.b as usize] - r[i.c as usize],
                Op::SubMul => r[i.c as usize] - a * r[i.b as usize],
                Op::Pow => a.powf(r[i.b as usize]),
                Op::Unary(f) => f.eval(a),
                Op::Binary(f) => f.eval(a, r[i.b as usize]),
                Op::Compare(op) => op.eval(a, r[i.b as usize]),
                Op::Select if a != 0.0 => r[i.b as usize],
                Op::Select => r[i.c as usize],
                Op::Table => self.program.tables()[i.b as usize].value(a),
                Op::TableSlope => self.program.tables()[i.b as usize].slope(a),
            };
            r[i.target as usize] = value;
        }
    }

    /// Output k of the last run.
    ///
    /// # Panics
    /// If there is no output k.
    #[inline]
    #[must_use]
    pub fn output(&self, k: usize) -> f64 {
        self.registers[self.program.output_registers()[k] as usize]
    }

    /// The outputs of the last run from the k-th on.
    ///
    /// # Panics
    /// If there are fewer than k outputs.
    #[inline]
    pub fn outputs_from(&self, k: usize) -> impl Iterator<Item = f64> + '_ {
        self.program.output_registers()[k..].iter().map(|&register| self.registers[register as usize])
    }

    /// Copies the outputs of the last run, up to the length of `out`.
    pub fn write_outputs(&self, out: &mut [f64]) {
        for (value, &register) in out.iter_mut().zip(self.program.output_registers()) {
            *value = self.registers[register as usize];
        }
    }

    /// Sets the inputs, runs, and copies the outputs.
    ///
    /// # Panics
    /// If the number of inputs is not that of the program.
    pub fn eval(&mut self, inputs: &[f64], outputs: &mut [f64]) {
        self.inputs_mut().copy_from_slice(inputs);
        self.run();
        self.write_outputs(outputs);
    }
}
