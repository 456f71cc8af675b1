//! The derivatives of the equations of motion: what perturbations of a motion flow and jump with.
//!
//! With the reactions λ of the rows held, and friction that slides,
//!
//! ```text
//! r = g − M a + Σ λ ∇f = 0        c = ∇f·a + γ = 0
//! ```
//!
//! are equations of (t, q, v, p, a, λ): accelerations and reactions are inputs like the others here, so that all that
//! perturbations need is one list of partial derivatives. In the same way an impact is J = v⁺ − v⁻ with impulses P:
//! Σ P ∇f − M J = 0, ∇f·J + (1 + e) U = 0.

use super::blocks::Blocks;
use super::gaps::own_rate;
use super::inputs::Inputs;
use super::motion::total_rate;
use crate::model::{Friction, Model};
use saltus_expr::{MissingInput, NodeId, SeriesCode};
use std::sync::Arc;

/// A sparse matrix of derivatives among the outputs of a code.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// (equation, unknown) of each entry.
    pub places: Vec<(usize, usize)>,
    /// The output of the first of them.
    pub first: usize,
    /// Whether an entry is the same along any motion.
    pub fixed: Vec<bool>,
}

/// The codes, shared by all runs of a problem. Unknowns are numbered q, v, open parameters, and last the time.
#[derive(Debug)]
pub struct VariationalCode {
    /// Series of the derivatives of r and c, in this order.
    pub flow: Arc<SeriesCode>,
    /// ∂r/∂a = −M, ∂r/∂λ (what reactions pull with), ∂r/∂(q, v, p); ∂c/∂a = ∇f, ∂c/∂(q, v, p).
    pub r_a: Part,
    pub r_lambda: Part,
    pub r_x: Part,
    pub c_a: Part,
    pub c_x: Part,
    /// The same of an impact at a point, by (q, v, p, t); with U and f by them.
    pub kick: Arc<Blocks>,
    pub kick_r_j: Part,
    pub kick_r_p: Part,
    pub kick_r_x: Part,
    pub kick_c_j: Part,
    pub kick_c_x: Part,
    pub rate_x: Part,
    pub gap_x: Part,
    /// What friction holds while it sticks, μ or a limit, by (q, v, p, t); its values are the third block of `kick`.
    pub holds_x: Part,
    /// ∂e/∂(speed, open parameters), one row for each constraint.
    pub restitution: Arc<Blocks>,
    /// Where accelerations (or J), reactions (or P) and the signs of slips are among the inputs.
    pub a: usize,
    pub lambda: usize,
    pub signs: usize,
    /// Rows in all.
    pub rows: usize,
}

struct Outputs<'a> {
    model: &'a mut Model,
    nodes: Vec<NodeId>,
    moving: &'a [NodeId],
}

impl Outputs<'_> {
    fn part(&mut self, equations: &[NodeId], by: &[NodeId]) -> Part {
        let mut part = Part { first: self.nodes.len(), ..Part::default() };
        let graph = &mut self.model.graph;
        for (i, &equation) in equations.iter().enumerate() {
            for (k, &x) in by.iter().enumerate() {
                let slope = graph.derivative(equation, x);
                if !graph.is_zero(slope) {
                    part.places.push((i, k));
                    part.fixed.push(!graph.depends_on_any(slope, self.moving));
                    self.nodes.push(slope);
                }
            }
        }
        part
    }
}

impl VariationalCode {
    pub fn compile(model: &Model, inputs: &Inputs) -> Result<Self, MissingInput> {
        let mut model = model.clone();
        let (d, open) = (model.dimension(), model.open.len());
        let rows = model.constraints.len() + model.bonds();
        let mut symbols =
            |what: &str, n: usize| (0..n).map(|k| model.graph.symbol(&format!("#{what}{k}"))).collect::<Vec<NodeId>>();
        let (a, lambda) = (symbols("a", d), symbols("lambda", rows));
        let signs = symbols("sign", model.frictions.len());
        let pulls = pulls(&mut model, &lambda, &signs);
        let (rates, gammas, slopes) = kinematics(&mut model);
        let zero = model.graph.constant(0.0);
        // r and c, and the same without forces.
        let (mut r, mut kick_r) = (Vec::with_capacity(d), Vec::with_capacity(d));
        for i in 0..d {
            let mut inertia = pulls.0[i];
            for j in 0..d {
                let term = model.graph.mul(model.mass[i * d + j], a[j]);
                inertia = model.graph.sub(inertia, term);
            }
            kick_r.push(inertia);
            let forces = model.graph.add(model.force[i], pulls.1[i]);
            r.push(model.graph.add(forces, inertia));
        }
        let (mut c, mut kick_c) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
        for row in 0..rows {
            let mut along = zero;
            for &(i, slope) in &slopes[row] {
                let term = model.graph.mul(slope, a[i]);
                along = model.graph.add(along, term);
            }
            kick_c.push(along);
            c.push(model.graph.add(along, gammas[row]));
        }
        let x: Vec<NodeId> =
            model.q.iter().chain(&model.v).copied().chain(model.open.iter().map(|p| p.symbol)).collect();
        let moving: Vec<NodeId> = [model.t]
            .into_iter()
            .chain(model.q.clone())
            .chain(model.v.clone())
            .chain(a.clone())
            .chain(lambda.clone())
            .collect();
        let mut all = Outputs { model: &mut model, nodes: Vec::new(), moving: &moving };
        let (r_a, r_lambda, r_x) = (all.part(&r, &a), all.part(&r, &lambda), all.part(&r, &x));
        let (c_a, c_x) = (all.part(&c, &a), all.part(&c, &x));
        let outputs = std::mem::take(&mut all.nodes);
        let xt: Vec<NodeId> = x.iter().copied().chain([all.model.t]).collect();
        let gaps: Vec<NodeId> = all.model.constraints.iter().map(|c| c.gap).collect();
        let gaps: Vec<NodeId> = gaps.into_iter().chain(all.model.joints.iter().map(|j| j.equation)).collect();
        let (kick_r_j, kick_r_p, kick_r_x) =
            (all.part(&kick_r, &a), all.part(&kick_r, &lambda), all.part(&kick_r, &xt));
        let (kick_c_j, kick_c_x) = (all.part(&kick_c, &a), all.part(&kick_c, &xt));
        let (rate_x, gap_x) = (all.part(&rates, &xt), all.part(&gaps, &xt));
        let holds: Vec<NodeId> = all.model.frictions.clone().iter().map(|f| at_rest(all.model, f)).collect();
        let holds_x = all.part(&holds, &xt);
        let kicks = std::mem::take(&mut all.nodes);
        let speed = model.speed;
        let mut of_restitution = Vec::new();
        for k in 0..model.constraints.len() {
            let e = model.constraints[k].restitution_node;
            of_restitution.push(speed.map_or(zero, |speed| model.graph.derivative(e, speed)));
            for p in 0..open {
                of_restitution.push(model.graph.derivative(e, x[2 * d + p]));
            }
        }
        let mut more = inputs.clone();
        let first = more.nodes.len();
        more.nodes.extend(a.iter().chain(&lambda).chain(&signs));
        let degree = |k: usize| match k {
            0 => 1,
            k if (1..inputs.open()).contains(&k) => usize::MAX,
            k if (first..first + d + rows).contains(&k) => usize::MAX,
            _ => 0,
        };
        let degree: Vec<usize> = (0..more.nodes.len()).map(degree).collect();
        Ok(VariationalCode {
            flow: Arc::new(SeriesCode::compile(&model.graph, &more.nodes, &degree, &outputs)?),
            r_a,
            r_lambda,
            r_x,
            c_a,
            c_x,
            kick: Blocks::compile(&model.graph, &more, &[&kicks, &rates, &holds])?,
            kick_r_j,
            kick_r_p,
            kick_r_x,
            kick_c_j,
            kick_c_x,
            rate_x,
            gap_x,
            holds_x,
            restitution: Blocks::compile(&model.graph, inputs, &[&of_restitution])?,
            a: first,
            lambda: first + d,
            signs: first + d + rows,
            rows,
        })
    }
}

/// What reactions and friction that slides pull with, for each coordinate: that of the reactions, and of dry friction, whose
/// limit is known. (In the plane; the sign of a slip is zero where it does not slide.)
fn pulls(model: &mut Model, lambda: &[NodeId], signs: &[NodeId]) -> (Vec<NodeId>, Vec<NodeId>) {
    let (d, zero) = (model.dimension(), model.graph.constant(0.0));
    let (mut reactions, mut dry) = (vec![zero; d], vec![zero; d]);
    let (_, _, slopes) = kinematics(model);
    for (row, slopes) in slopes.iter().enumerate() {
        for &(i, slope) in slopes {
            let term = model.graph.mul(slope, lambda[row]);
            reactions[i] = model.graph.add(reactions[i], term);
        }
    }
    for (f, friction) in model.frictions.clone().iter().enumerate() {
        let [slip] = &friction.slips[..] else { continue };
        let speed = model.graph.mul(signs[f], slip.value);
        let limit = model.graph.substitute(friction.kinetic, &[(friction.speed, speed)]);
        let mut force = model.graph.mul(limit, signs[f]);
        if let Some(a) = friction.constraint {
            force = model.graph.mul(force, lambda[a]);
        }
        for i in 0..slip.row.len() {
            let term = model.graph.mul(force, slip.row[i]);
            let sum = if friction.constraint.is_some() { &mut reactions[i] } else { &mut dry[i] };
            *sum = model.graph.sub(*sum, term);
        }
    }
    (reactions, dry)
}

/// The coefficient or limit of friction that sticks.
fn at_rest(model: &mut Model, friction: &Friction) -> NodeId {
    let zero = model.graph.constant(0.0);
    model.graph.substitute(friction.sticking, &[(friction.speed, zero)])
}

/// For each row (gaps, joints, slips): its rate U, γ, and its gradient.
#[allow(clippy::type_complexity)]
fn kinematics(model: &mut Model) -> (Vec<NodeId>, Vec<NodeId>, Vec<Vec<(usize, NodeId)>>) {
    let gaps: Vec<NodeId> = model.constraints.iter().map(|c| c.gap).collect();
    let gaps: Vec<NodeId> = gaps.into_iter().chain(model.joints.iter().map(|j| j.equation)).collect();
    let (mut rates, mut gammas, mut slopes) = (Vec::new(), Vec::new(), Vec::new());
    for gap in gaps {
        let total = total_rate(model, gap);
        gammas.push(total_rate(model, total));
        let mut rate = own_rate(model, gap);
        let mut row = Vec::new();
        for i in 0..model.q.len() {
            let slope = model.graph.derivative(gap, model.q[i]);
            if !model.graph.is_zero(slope) {
                let term = model.graph.mul(slope, model.v[i]);
                rate = model.graph.add(rate, term);
                row.push((i, slope));
            }
        }
        rates.push(rate);
        slopes.push(row);
    }
    for slip in model.frictions.clone().iter().flat_map(|f| &f.slips) {
        gammas.push(total_rate(model, slip.value));
        rates.push(slip.value);
        let used = slip.row.iter().copied().enumerate().filter(|(_, slope)| !model.graph.is_zero(*slope));
        slopes.push(used.collect());
    }
    (rates, gammas, slopes)
}
