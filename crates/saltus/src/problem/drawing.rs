//! Evaluates the drawing of a model.

use super::blocks::{Blocks, Evaluator};
use super::inputs::{Cells, Inputs};
use crate::SetupError;
use crate::model::{Drawn, Model};
use saltus_expr::NodeId;

/// The shapes of a model at any position.
#[derive(Clone, Debug)]
pub struct Drawing {
    evaluator: Evaluator,
    numbers: Vec<f64>,
}

impl Drawing {
    /// Compiles the drawing of a model; None if it has none.
    ///
    /// ```
    /// use saltus::{model::Builder, problem::Drawing};
    /// let ball = Builder::new("ball").coordinate("y", 1.0, 0.0).kinetic("y'^2/2").build()?;
    /// assert!(Drawing::new(&ball)?.is_none());
    /// # Ok::<(), saltus::SetupError>(())
    /// ```
    pub fn new(model: &Model) -> Result<Option<Drawing>, SetupError> {
        if model.draw.is_empty() {
            return Ok(None);
        }
        let nodes: Vec<NodeId> = model.draw.iter().flat_map(Drawn::numbers).collect();
        let code = Blocks::compile(&model.graph, &Inputs::new(model), &[&nodes]).map_err(super::unbound)?;
        let cells = Cells::new(model.open.iter().map(|p| p.value));
        Ok(Some(Drawing { evaluator: Evaluator::new(&code, &cells), numbers: code.buffer(0) }))
    }

    /// The numbers of all shapes, in the order of [`Model::draw`] and [`Drawn::numbers`].
    ///
    /// `v` has the states of the model, behind the velocities.
    pub fn at(&mut self, t: f64, q: &[f64], v: &[f64]) -> &[f64] {
        self.evaluator.run(t, &[q, v]);
        self.evaluator.write(0, &mut self.numbers);
        &self.numbers
    }
}
