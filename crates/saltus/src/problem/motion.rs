//! The compiled series of a motion: M, g and f and, for contact, ∇f, ∂t f and γ, the part of d²f/dt² without acceleration.

use crate::linalg::Rows;
use crate::model::Model;
use saltus_expr::{MissingInput, NodeId, SeriesCode};
use std::sync::Arc;

/// Where the blocks of outputs start.
#[derive(Clone, Copy, Debug, Default)]
pub struct Layout {
    pub force: usize,
    pub gaps: usize,
    pub gradients: usize,
    pub walls: usize,
    pub bends: usize,
}

/// Codes for the series of a motion, shared by all runs of a problem.
#[derive(Debug)]
pub struct MotionCode {
    /// M, g and f only.
    pub light: Arc<SeriesCode>,
    /// All of it.
    pub full: Arc<SeriesCode>,
    pub layout: Layout,
    /// The pattern of ∇f.
    pub rows: Rows,
}

impl MotionCode {
    pub fn compile(model: &Model, diagonal: bool) -> Result<Self, MissingInput> {
        let mut model = model.clone();
        let (d, m) = (model.dimension(), model.constraints.len());
        let mass: Vec<NodeId> = match diagonal {
            true => (0..d).map(|i| model.mass[i * d + i]).collect(),
            false => model.mass.clone(),
        };
        let gaps: Vec<NodeId> = model.constraints.iter().map(|c| c.gap).collect();
        let mut rows = Rows::new();
        let (mut gradient, mut walls, mut bends) = (Vec::new(), Vec::new(), Vec::new());
        for &gap in &gaps {
            let rate = total_rate(&mut model, gap);
            bends.push(total_rate(&mut model, rate));
            let graph = &mut model.graph;
            let mut row = Vec::new();
            for (i, &q) in model.q.iter().enumerate() {
                let slope = graph.derivative(gap, q);
                if !graph.is_zero(slope) {
                    gradient.push(slope);
                    row.push((i, 0.0));
                }
            }
            rows.push(row);
            walls.push(graph.derivative(gap, model.t));
        }
        let light: Vec<NodeId> = mass.iter().chain(&model.force).chain(&gaps).copied().collect();
        let full: Vec<NodeId> = light.iter().chain(&gradient).chain(&walls).chain(&bends).copied().collect();
        let layout = Layout {
            force: mass.len(),
            gaps: mass.len() + d,
            gradients: light.len(),
            walls: light.len() + gradient.len(),
            bends: light.len() + gradient.len() + m,
        };
        let inputs: Vec<NodeId> = [model.t].iter().chain(&model.q).chain(&model.v).copied().collect();
        let degree: Vec<usize> = (0..inputs.len()).map(|i| if i == 0 { 1 } else { usize::MAX }).collect();
        let compile = |outputs: &[NodeId]| SeriesCode::compile(&model.graph, &inputs, &degree, outputs).map(Arc::new);
        Ok(MotionCode { light: compile(&light)?, full: compile(&full)?, layout, rows })
    }
}

/// d/dt of an expression of t and q, as one of t, q and v, less what the acceleration does.
fn total_rate(model: &mut Model, node: NodeId) -> NodeId {
    let mut rate = model.graph.derivative(node, model.t);
    for (&q, &v) in model.q.iter().zip(&model.v) {
        let slope = model.graph.derivative(node, q);
        let term = model.graph.mul(slope, v);
        rate = model.graph.add(rate, term);
    }
    rate
}
