//! What changes with time in a structure: loads, and the offsets o(t) of the stops.

use super::Structure;
use crate::problem::{Blocks, Evaluator};
use crate::{Model, SetupError};
use std::sync::Arc;

/// Offsets, their rates and loads, compiled.
#[derive(Clone, Debug)]
pub(crate) struct SignalCode {
    code: Arc<Blocks>,
    /// No stop moves.
    still: bool,
}

impl SignalCode {
    pub fn compile(model: &mut Model) -> Result<Self, SetupError> {
        let gaps: Vec<_> = model.constraints.iter().map(|c| c.gap).collect();
        let rates: Vec<_> = gaps.iter().map(|&g| model.graph.derivative(g, model.t)).collect();
        let inputs: Vec<_> = [model.t].iter().chain(&model.q).copied().collect();
        let code = Blocks::compile(&model.graph, &inputs, &[&gaps, &rates, &model.signals])
            .map_err(|e| SetupError::new(e.to_string()))?;
        let still = !gaps.iter().any(|&g| model.graph.depends_on(g, model.t));
        Ok(SignalCode { code: Arc::new(code), still })
    }
}

/// Evaluates the signals of a structure.
#[derive(Clone, Debug)]
pub struct Signals {
    evaluator: Evaluator,
    /// The points at rest: what is left of an affine gap is its offset.
    rest: Vec<f64>,
    /// Offsets o(t) of the stops where last asked.
    pub offsets: Vec<f64>,
    /// Their rates do/dt.
    pub rates: Vec<f64>,
    /// The loads.
    pub loads: Vec<f64>,
    still: bool,
}

impl Signals {
    pub(crate) fn new(structure: &Structure) -> Self {
        let code = &structure.signals.code;
        Signals {
            evaluator: Evaluator::new(code),
            rest: vec![0.0; structure.model.dimension()],
            offsets: code.buffer(0),
            rates: code.buffer(1),
            loads: code.buffer(2),
            still: structure.signals.still,
        }
    }

    /// Evaluates all of them at a time.
    pub fn look(&mut self, t: f64) {
        self.evaluator.run(t, &[&self.rest]);
        self.evaluator.write(0, &mut self.offsets);
        self.evaluator.write(1, &mut self.rates);
        self.evaluator.write(2, &mut self.loads);
    }

    /// Whether no stop moves.
    pub fn is_still(&self) -> bool {
        self.still
    }

    /// The gaps of the stops from the displacements of the points.
    pub fn gaps(&mut self, t: f64, points: &[f64], out: &mut [f64]) {
        let known = self.rest.len();
        self.evaluator.run(t, &[&points[..known]]);
        self.evaluator.write(0, &mut self.offsets);
        out.copy_from_slice(&self.offsets);
    }
}
