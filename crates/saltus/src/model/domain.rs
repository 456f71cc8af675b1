//! For which values of its open parameters a model is defined.

use super::{Description, Model};
use crate::SetupError;
use saltus_expr::{Program, Scalar};
use std::sync::Arc;

/// Speeds at which restitutions that depend on it are looked at.
const SPEEDS: [f64; 5] = [0.0, 1e-2, 1.0, 1e2, 1e10];

/// Tells for which values of its open parameters a model is defined: for those with which it could be built, closed. Its code does not
/// know that, for `k/k` is 1 there.
#[derive(Clone, Debug)]
pub struct Domain {
    /// First what must not be zero, then what must be finite, then restitutions.
    numbers: Scalar,
    nonzero: usize,
    finite: usize,
    outputs: usize,
    description: Arc<Description>,
}

impl Model {
    /// Where the model is defined; None if it is for all values.
    pub fn domain(&self) -> Option<Domain> {
        let demands = &self.demands;
        let mut outputs: Vec<_> = demands.nonzero.iter().chain(&demands.finite).copied().collect();
        let inputs: Vec<_> = self.open.iter().map(|p| p.symbol).collect();
        let (nonzero, finite) = (demands.nonzero.len(), outputs.len());
        let mut graph = self.graph.clone();
        for c in &self.constraints {
            match self.speed.filter(|&speed| graph.depends_on(c.restitution_node, speed)) {
                None => outputs.push(c.restitution_node),
                Some(speed) => {
                    for s in SPEEDS {
                        let at = graph.constant(s);
                        outputs.push(graph.substitute(c.restitution_node, &[(speed, at)]));
                    }
                }
            }
        }
        let mut place = 0..outputs.len();
        outputs.retain(|&node| place.next().is_some_and(|k| k < finite) || graph.depends_on_any(node, &inputs));
        if outputs.is_empty() {
            return None;
        }
        let numbers = Scalar::new(Arc::new(Program::compile(&graph, &inputs, &outputs).ok()?));
        let outputs = outputs.len();
        Some(Domain { numbers, nonzero, finite, outputs, description: self.description.clone() })
    }
}

impl Domain {
    /// Whether the model is defined for values of its open parameters, as [`crate::Start`] has them.
    ///
    /// # Errors
    /// It is not, with the reason that a model has that is built with these values.
    pub fn check(&mut self, parameters: &[f64]) -> Result<(), SetupError> {
        self.numbers.inputs_mut().iter_mut().zip(parameters).for_each(|(input, &x)| *input = x);
        self.numbers.run();
        let is_plain = |k: usize| {
            let x = self.numbers.output(k);
            x.is_finite() && (x != 0.0 || k >= self.nonzero) && (k < self.finite || (0.0..=1.0).contains(&x))
        };
        if (0..self.outputs).all(is_plain) || !parameters.iter().all(|x| x.is_finite()) {
            return Ok(());
        }
        // What is written may be defined nevertheless: if(k > 0, x/k, 0).
        let mut closed = self.description.as_ref().clone();
        for ((name, _), value) in std::mem::take(&mut closed.open).into_iter().zip(parameters) {
            closed.overrides.retain(|(n, _)| *n != name);
            closed.overrides.push((name, format!("{value:?}")));
        }
        // (Times and statistics are no part of the motion.)
        closed.settings.clear();
        closed.quantities.clear();
        closed.build().map(|_| ())
    }
}
