//! Derivatives of what is asked for once: of the start by open parameters, of the user's quantities by everything.

use super::blocks::{Blocks, Evaluator};
use super::{Cells, Problem, Start, unbound};
use crate::SetupError;
use saltus_expr::NodeId;

impl Problem {
    /// The derivatives of the model's own start, (q, v), by open parameter `k`.
    pub(crate) fn start_slopes(&self, parameters: &[f64], k: usize) -> Result<Vec<f64>, SetupError> {
        let model = self.model();
        let mut graph = model.graph.clone();
        let (q, v) = &model.start_nodes;
        let by = model.open[k].symbol;
        let slopes: Vec<NodeId> = q.iter().chain(v).map(|&x| graph.derivative(x, by)).collect();
        let code = Blocks::compile(&graph, &self.inner.inputs, &[&slopes]).map_err(unbound)?;
        let mut evaluator = Evaluator::new(&code, &Cells::new(parameters.iter().copied()));
        let mut found = code.buffer(0);
        evaluator.run(0.0, &[]);
        evaluator.write(0, &mut found);
        Ok(found)
    }

    /// The values of the user's quantities at a state, and their derivatives by (q, v, open parameters), by rows.
    pub(crate) fn quantity_slopes(&self, at: &Start) -> Result<(Vec<f64>, Vec<Vec<f64>>), SetupError> {
        let model = self.model();
        let mut graph = model.graph.clone();
        let open = model.open.iter().map(|p| p.symbol);
        let by: Vec<NodeId> = model.q.iter().chain(&model.v).copied().chain(open).collect();
        let mut slopes = Vec::new();
        for &value in &model.quantities {
            slopes.extend(by.iter().map(|&x| graph.derivative(value, x)));
        }
        let code = Blocks::compile(&graph, &self.inner.inputs, &[&model.quantities, &slopes]).map_err(unbound)?;
        let mut evaluator = Evaluator::new(&code, &Cells::new(at.parameters.iter().copied()));
        let (mut values, mut found) = (code.buffer(0), code.buffer(1));
        evaluator.run(at.t, &[&at.q, &at.v]);
        evaluator.write(0, &mut values);
        evaluator.write(1, &mut found);
        Ok((values, found.chunks(by.len()).map(<[f64]>::to_vec).collect()))
    }
}
