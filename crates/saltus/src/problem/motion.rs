//! The compiled series of a motion: M, g, f and the user's events and, for contact, ∇f, ∂f/∂t and γ, the part of d²f/dt²
//! without acceleration.
//!
//! The *rows* of a motion are those of the gaps, then those of the joints, then those of the slips of all frictions: U = row·v
//! + ∂t, U' = row·a + γ. For gaps and joints a row is ∇f; a slip has no position, only its velocity.

use super::gaps::own_rate;
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
    /// Coefficients and limits of all frictions while sliding, then those while sticking.
    pub friction: usize,
    /// Where the sliding speeds are among the inputs.
    pub sliding: usize,
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
    /// The slip velocities of all frictions, whose series the others need; None where there is no friction.
    pub slips: Option<Arc<SeriesCode>>,
    /// The pattern of the rows.
    pub rows: Rows,
    /// Whether accelerations can vary quickly without any Taylor coefficient announcing it: those of a mass matrix that varies
    /// are quotients. (Other expressions have marks: see [`Series::is_mark`](saltus_expr::Series::is_mark).)
    pub may_hide_features: bool,
    /// The user's events, each by itself.
    pub events: Vec<EventCode>,
    /// For each coordinate, the number of the body it belongs to: what masses, forces and gaps connect.
    pub bodies: Vec<usize>,
}

/// The series of one event by itself, and the coordinates and velocities in it.
#[derive(Debug)]
pub struct EventCode {
    pub code: Arc<SeriesCode>,
    /// Whether it is affine in time and state; if not, its series has to be made anew within a step.
    pub is_affine: bool,
    /// Whether there may be places where it has no value, or an infinite one, or an infinite slope. The motion knows nothing of them: it is
    /// not expanded with it.
    pub is_apart: bool,
    pub positions: Vec<usize>,
    pub velocities: Vec<usize>,
}

impl MotionCode {
    pub fn compile(model: &Model, inputs: &Inputs, diagonal: bool) -> Result<Self, MissingInput> {
        let mut model = model.clone();
        let (d, m) = (model.dimension(), model.constraints.len());
        let mass: Vec<NodeId> = match diagonal {
            true => (0..d).map(|i| model.mass[i * d + i]).collect(),
            false => model.mass.clone(),
        };
        let joints = model.joints.iter().map(|j| j.equation);
        let gaps: Vec<NodeId> = model.constraints.iter().map(|c| c.gap).chain(joints).collect();
        let mut rows = Rows::new();
        let (mut gradient, mut partial_t, mut gamma) = (Vec::new(), Vec::new(), Vec::new());
        for &gap in &gaps {
            let rate = total_rate(&mut model, gap);
            partial_t.push(own_rate(&mut model, gap));
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
        }
        let frictions = std::mem::take(&mut model.frictions);
        for slip in frictions.iter().flat_map(|f| &f.slips) {
            gamma.push(total_rate(&mut model, slip.value));
            let used = slip.row.iter().enumerate().filter(|(_, slope)| !model.graph.is_zero(**slope));
            let used: Vec<(usize, NodeId)> = used.map(|(i, &slope)| (i, slope)).collect();
            rows.push(used.iter().map(|&(i, _)| (i, 0.0)));
            gradient.extend(used.iter().map(|&(_, slope)| slope));
            partial_t.push(slip.rest);
        }
        let coefficients: Vec<NodeId> =
            frictions.iter().map(|f| f.kinetic).chain(frictions.iter().map(|f| f.sticking)).collect();
        let events: Vec<NodeId> = model.events.iter().map(|e| e.value).collect();
        let is_affine: Vec<bool> = events.iter().map(|&event| is_affine(&mut model, event)).collect();
        // Time is linear in itself, open parameters are constant, the rest is to be found.
        let degree = |k: usize| match k {
            0 => 1,
            k if (inputs.open()..inputs.sliding()).contains(&k) => 0,
            _ => usize::MAX,
        };
        let degree: Vec<usize> = (0..inputs.nodes.len()).map(degree).collect();
        let compile = |model: &Model, outputs: &[NodeId]| {
            SeriesCode::compile(&model.graph, &inputs.nodes, &degree, outputs).map(Arc::new)
        };
        let mut own = Vec::with_capacity(events.len());
        for (&event, is_affine) in events.iter().zip(is_affine) {
            let inside = |nodes: &[NodeId]| (0..d).filter(|&i| depends(&model, event, &nodes[i..=i])).collect();
            let (positions, velocities) = (inside(&model.q), inside(&model.v));
            let code = compile(&model, &[event])?;
            let is_apart = !is_affine && code.may_be_singular();
            own.push(EventCode { code, is_affine, is_apart, positions, velocities });
        }
        let nothing = model.graph.constant(0.0);
        let along = events.iter().zip(&own).map(|(&event, own)| if own.is_apart { nothing } else { event });
        let along: Vec<NodeId> = along.collect();
        let light: Vec<NodeId> = mass.iter().chain(&model.force).chain(&gaps).chain(&along).copied().collect();
        let kinematics = light.iter().chain(&gradient).chain(&partial_t).chain(&gamma);
        let full: Vec<NodeId> = kinematics.chain(&coefficients).copied().collect();
        let m = m + model.joints.len();
        let rows_in_all = rows.len();
        let layout = Layout {
            force: mass.len(),
            gaps: mass.len() + d,
            events: mass.len() + d + m,
            gradients: light.len(),
            partial_t: light.len() + gradient.len(),
            gamma: light.len() + gradient.len() + rows_in_all,
            friction: light.len() + gradient.len() + 2 * rows_in_all,
            sliding: inputs.sliding(),
            open: inputs.open(),
        };
        let may_hide_features = mass.iter().any(|&m| model.graph.value(m).is_none());
        model.frictions.clone_from(&frictions);
        let bodies = bodies(&model);
        let slips: Vec<NodeId> = frictions.iter().flat_map(|f| f.slips.iter().map(|slip| slip.value)).collect();
        let slips = if slips.is_empty() { None } else { Some(compile(&model, &slips)?) };
        let (light, full) = (compile(&model, &light)?, compile(&model, &full)?);
        Ok(MotionCode { light, full, slips, layout, rows, may_hide_features, events: own, bodies })
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
    for joint in &model.joints {
        join(&mut within(joint.equation));
    }
    for friction in &model.frictions {
        let pressed = friction.constraint.into_iter().flat_map(|a| within(model.constraints[a].gap));
        let slips = friction.slips.iter().flat_map(|slip| within(slip.value));
        join(&mut pressed.chain(slips).chain(within(friction.kinetic)).chain(within(friction.sticking)));
    }
    (0..d).map(|i| first(&leads, i)).collect()
}

/// Whether one of these symbols is in an expression.
fn depends(model: &Model, node: NodeId, on: &[NodeId]) -> bool {
    let graph = &model.graph;
    let inside = graph.symbols_in(node);
    on.iter().flat_map(|&symbol| graph.symbols_in(symbol)).any(|name| inside.contains(&name))
}

/// Whether an expression is affine in time and state: its polynomial is then as good as that of the motion.
fn is_affine(model: &mut Model, node: NodeId) -> bool {
    let state: Vec<NodeId> = [model.t].iter().chain(&model.q).chain(&model.v).copied().collect();
    state.iter().all(|&symbol| {
        let slope = model.graph.derivative(node, symbol);
        !depends(model, slope, &state)
    })
}

/// d/dt of an expression, less what the accelerations of the coordinates do. (States have rates.)
pub(super) fn total_rate(model: &mut Model, node: NodeId) -> NodeId {
    let mut rate = model.graph.derivative(node, model.t);
    for (&q, &v) in model.q.iter().zip(&model.v) {
        let slope = model.graph.derivative(node, q);
        let term = model.graph.mul(slope, v);
        rate = model.graph.add(rate, term);
    }
    for k in model.degrees()..model.dimension() {
        let slope = model.graph.derivative(node, model.v[k]);
        let term = model.graph.mul(slope, model.force[k]);
        rate = model.graph.add(rate, term);
    }
    rate
}
