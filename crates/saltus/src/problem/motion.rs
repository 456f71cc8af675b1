//! The compiled series of a motion: M, g, f and the user's events and, for contact, ∇f, ∂f/∂t and γ, the part of d²f/dt²
//! without acceleration.

use super::inputs::Inputs;
use crate::linalg::Rows;
use crate::model::Model;
use saltus_expr::{MissingInput, NodeId, SeriesCode};
use std::collections::HashMap;
use std::sync::Arc;

/// Where the blocks of outputs start.
#[derive(Clone, Copy, Debug, Default)]
pub struct Layout {
    pub force: usize,
    pub gaps: usize,
    pub events: usize,
    pub gradients: usize,
    pub partial_t: usize,
    pub gamma: usize,
    /// Where open parameters begin among the inputs.
    pub open: usize,
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
    /// Whether accelerations can vary quickly without any Taylor coefficient announcing it: those of a mass matrix that varies
    /// are quotients. (Other expressions have marks: see [`Series::is_mark`](saltus_expr::Series::is_mark).)
    pub may_hide_features: bool,
    /// For each coordinate, the number of the body it belongs to: what masses, forces and gaps connect.
    pub bodies: Vec<usize>,
}

impl MotionCode {
    pub fn compile(model: &Model, inputs: &Inputs, diagonal: bool) -> Result<Self, MissingInput> {
        let mut model = model.clone();
        let (d, m) = (model.dimension(), model.constraints.len());
        let mass: Vec<NodeId> = match diagonal {
            true => (0..d).map(|i| model.mass[i * d + i]).collect(),
            false => model.mass.clone(),
        };
        let gaps: Vec<NodeId> = model.constraints.iter().map(|c| c.gap).collect();
        let mut rows = Rows::new();
        let (mut gradient, mut partial_t, mut gamma) = (Vec::new(), Vec::new(), Vec::new());
        for &gap in &gaps {
            let rate = total_rate(&mut model, gap);
            gamma.push(total_rate(&mut model, rate));
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
            partial_t.push(graph.derivative(gap, model.t));
        }
        let events: Vec<NodeId> = model.events.iter().map(|e| e.value).collect();
        let light: Vec<NodeId> = mass.iter().chain(&model.force).chain(&gaps).chain(&events).copied().collect();
        let full: Vec<NodeId> = light.iter().chain(&gradient).chain(&partial_t).chain(&gamma).copied().collect();
        let layout = Layout {
            force: mass.len(),
            gaps: mass.len() + d,
            events: mass.len() + d + m,
            gradients: light.len(),
            partial_t: light.len() + gradient.len(),
            gamma: light.len() + gradient.len() + m,
            open: inputs.open(),
        };
        // Time is linear in itself, open parameters are constant, the rest is to be found.
        let degree = |k: usize| match k {
            0 => 1,
            k if k >= inputs.open() => 0,
            _ => usize::MAX,
        };
        let degree: Vec<usize> = (0..inputs.nodes.len()).map(degree).collect();
        let compile =
            |outputs: &[NodeId]| SeriesCode::compile(&model.graph, &inputs.nodes, &degree, outputs).map(Arc::new);
        let may_hide_features = mass.iter().any(|&m| model.graph.value(m).is_none());
        let bodies = bodies(&model);
        Ok(MotionCode { light: compile(&light)?, full: compile(&full)?, layout, rows, may_hide_features, bodies })
    }
}

/// Which coordinates move on their own.
fn bodies(model: &Model) -> Vec<usize> {
    let (graph, d) = (&model.graph, model.dimension());
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (i, (&q, &v)) in model.q.iter().zip(&model.v).enumerate() {
        for name in graph.symbols_in(q).into_iter().chain(graph.symbols_in(v)) {
            places.insert(name, i);
        }
    }
    // (Each coordinate leads to another of its body, the first of it to itself.)
    let mut leads: Vec<usize> = (0..d).collect();
    let first = |leads: &[usize], mut i: usize| {
        while leads[i] != i {
            i = leads[i];
        }
        i
    };
    let mut join = |members: &mut dyn Iterator<Item = usize>| {
        let Some(start) = members.next() else { return };
        for other in members {
            let (a, b) = (first(&leads, start), first(&leads, other));
            leads[a.max(b)] = a.min(b);
        }
    };
    let within = |n: NodeId| graph.symbols_in(n).into_iter().filter_map(|name| places.get(name).copied());
    for (i, &force) in model.force.iter().enumerate() {
        join(&mut std::iter::once(i).chain(within(force)));
        for j in 0..d {
            let entry = model.mass[i * d + j];
            if !graph.is_zero(entry) {
                join(&mut [i, j].into_iter().chain(within(entry)));
            }
        }
    }
    for constraint in &model.constraints {
        join(&mut within(constraint.gap));
    }
    (0..d).map(|i| first(&leads, i)).collect()
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
