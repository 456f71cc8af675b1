//! The rate at which the forces change the energy H = v·∂T/∂v − T + V: ∂H/∂t + ∂H/∂q·v + v·g.

use super::blocks::{Blocks, Evaluator};
use super::energy_of_motion;
use super::inputs::{Cells, Inputs};
use crate::model::Model;
use saltus_expr::MissingInput;
use std::sync::Arc;

/// Compiles the rate.
pub(super) fn compile(model: &mut Model, inputs: &Inputs) -> Result<Arc<Blocks>, MissingInput> {
    let mut energy = energy_of_motion(model);
    if let Some(potential) = model.potential {
        energy = model.graph.add(energy, potential);
    }
    let mut rate = model.graph.derivative(energy, model.t);
    for i in 0..model.degrees() {
        let slope = model.graph.derivative(energy, model.q[i]);
        let sum = model.graph.add(slope, model.force[i]);
        let term = model.graph.mul(sum, model.v[i]);
        rate = model.graph.add(rate, term);
    }
    // A potential may depend on states.
    for i in model.degrees()..model.dimension() {
        let slope = model.graph.derivative(energy, model.v[i]);
        let term = model.graph.mul(slope, model.force[i]);
        rate = model.graph.add(rate, term);
    }
    Blocks::compile(&model.graph, inputs, &[&[rate]])
}

/// Evaluates the rate.
#[derive(Clone, Debug)]
pub struct Power {
    evaluator: Evaluator,
    value: Vec<f64>,
    zero: bool,
}

impl Power {
    pub(super) fn new(code: &Arc<Blocks>, cells: &Cells) -> Self {
        let value = code.buffer(0);
        Power { evaluator: Evaluator::new(code, cells), zero: code.is_constant(0) && value == [0.0], value }
    }

    /// Whether it is zero whatever the motion: all forces come from the energies, and nothing depends on time.
    pub fn is_zero(&self) -> bool {
        self.zero
    }

    /// The rate at a point.
    pub fn at(&mut self, t: f64, q: &[f64], v: &[f64]) -> f64 {
        self.evaluator.run(t, &[q, v]);
        self.evaluator.write(0, &mut self.value);
        self.value[0]
    }
}
