//! The starts that a model gives, for many values of its open parameters.

use super::{Blocks, Cells, Evaluator};
use std::sync::Arc;

/// The starts that a model gives for values of its open parameters: as [`crate::Problem::start_with`], many times.
pub struct Starts {
    parameters: Vec<f64>,
    cells: Cells,
    evaluator: Evaluator,
    q: Vec<f64>,
    v: Vec<f64>,
}

impl Starts {
    pub(super) fn new(code: &Arc<Blocks>, parameters: Vec<f64>) -> Self {
        let cells = Cells::new(parameters.iter().copied());
        let evaluator = Evaluator::new(code, &cells);
        Starts { parameters, cells, evaluator, q: code.buffer(0), v: code.buffer(1) }
    }

    /// The values of open parameters that the model has by itself.
    pub fn parameters(&self) -> &[f64] {
        &self.parameters
    }

    /// Position and velocity for values of all open parameters, in the order of [`crate::Model::open`].
    pub fn at(&mut self, parameters: &[f64]) -> (&[f64], &[f64]) {
        parameters.iter().enumerate().for_each(|(k, &value)| self.cells.set(k, value));
        self.evaluator.run(0.0, &[]);
        self.evaluator.write(0, &mut self.q);
        self.evaluator.write(1, &mut self.v);
        (&self.q, &self.v)
    }
}
