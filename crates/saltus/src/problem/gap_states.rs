//! How gaps depend on first-order states: ∂f/∂z and ∂²f/∂q∂z, which equilibria need.

use super::Problem;
use super::blocks::{Blocks, Evaluator};
use saltus_expr::NodeId;

/// Evaluates the derivatives of gaps by first-order states.
#[derive(Clone, Debug)]
pub struct GapStates {
    evaluator: Evaluator,
    /// (constraint, unknown) of ∂f/∂z, where it is not zero; a state is counted among all unknowns.
    pub places: Vec<(usize, usize)>,
    /// ∂f/∂z there.
    pub slopes: Vec<f64>,
    /// (constraint, coordinate, unknown) of ∂²f/∂q∂z.
    pub mixed_places: Vec<(usize, usize, usize)>,
    /// ∂²f/∂q∂z there.
    pub mixed: Vec<f64>,
}

impl GapStates {
    fn of(problem: &Problem) -> Option<Self> {
        let mut model = problem.model().as_ref().clone();
        let (mut places, mut mixed_places) = (Vec::new(), Vec::new());
        let (mut slopes, mut mixed): (Vec<NodeId>, Vec<NodeId>) = (Vec::new(), Vec::new());
        let degrees = model.degrees();
        for a in 0..model.constraints.len() {
            for k in degrees..model.dimension() {
                let slope = model.graph.derivative(model.constraints[a].gap, model.v[k]);
                if model.graph.is_zero(slope) {
                    continue;
                }
                places.push((a, k));
                slopes.push(slope);
                for i in 0..degrees {
                    let entry = model.graph.derivative(slope, model.q[i]);
                    if !model.graph.is_zero(entry) {
                        mixed_places.push((a, i, k));
                        mixed.push(entry);
                    }
                }
            }
        }
        if places.is_empty() {
            return None;
        }
        let code = Blocks::compile(&model.graph, &problem.inner.inputs, &[&slopes, &mixed]).ok()?;
        let evaluator = Evaluator::new(&code, &problem.inner.cells);
        Some(GapStates { evaluator, places, slopes: code.buffer(0), mixed_places, mixed: code.buffer(1) })
    }

    /// At a point.
    pub fn evaluate(&mut self, t: f64, q: &[f64], v: &[f64]) {
        self.evaluator.run(t, &[q, v]);
        self.evaluator.write(0, &mut self.slopes);
        self.evaluator.write(1, &mut self.mixed);
    }
}

impl Problem {
    /// An evaluator of the derivatives of gaps by first-order states; None if no gap uses them.
    pub(crate) fn gap_states(&self) -> Option<GapStates> {
        GapStates::of(self)
    }
}
