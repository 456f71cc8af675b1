//! A structure by events: its modes are a model like any other, which the event-driven engine takes from impact to impact.
//! The run is then mapped to the points.

use super::StructureInstance;
use crate::model::{Constraint, Model};
use crate::{Kind, SetupError};
use std::sync::Arc;

/// With more modes than this the highest one would make the steps of flight too short to be of use.
const MAX_MODES: usize = 160;

/// The modes as a model: η'' + C η' + K η = Σ b s(t), gaps o(t) + w·η; C and what is not diagonal in K couple them.
pub(crate) fn modal_model(instance: &StructureInstance) -> Result<Arc<Model>, SetupError> {
    let modal = instance.linear();
    instance.plain_stops("event-driven", false)?;
    if !modal.massless().is_empty() {
        return Err(SetupError::new("events are located for rigid stops on masses only")
            .with_kind(Kind::Unsupported)
            .help("for stops with a stiffness, massless contact nodes or residual flexibility use paoli-schatzman"));
    }
    let n = modal.dimension();
    if n > MAX_MODES {
        return Err(SetupError::new(format!("{n} modes are too many to follow by events"))
            .with_kind(Kind::TooLarge)
            .help(format!("reduce to at most {MAX_MODES} modes, or use paoli-schatzman with the forcing exact")));
    }
    let mut model = instance.model().clone();
    let graph = &mut model.graph;
    let q: Vec<_> = (1..=n).map(|k| graph.symbol(&format!("mode{k}"))).collect();
    let v: Vec<_> = (1..=n).map(|k| graph.symbol(&format!("mode{k}'"))).collect();
    let (zero, one, half) = (graph.constant(0.0), graph.constant(1.0), graph.constant(0.5));
    let mut force = vec![zero; n];
    let (mut kinetic, mut potential) = (zero, zero);
    for i in 0..n {
        let square = graph.constant(modal.stiffness.at(i, i));
        let spring = graph.mul(square, q[i]);
        force[i] = graph.neg(spring);
        let damping = modal.damping.iter().flat_map(|c| c.row(i)).map(|(j, c)| (c, v[j]));
        let gyroscopic = modal.gyroscopic.iter().flat_map(|c| c.row(i)).map(|(j, c)| (c, v[j]));
        let circulatory = modal.circulatory.iter().flat_map(|k| k.row(i)).map(|(j, k)| (k, q[j]));
        for (c, x) in damping.chain(gyroscopic).chain(circulatory).filter(|(c, _)| *c != 0.0) {
            let c = graph.constant(c);
            let drag = graph.mul(c, x);
            force[i] = graph.sub(force[i], drag);
        }
        let (elastic, moving) = (graph.mul(spring, q[i]), graph.mul(v[i], v[i]));
        let (elastic, moving) = (graph.mul(half, elastic), graph.mul(half, moving));
        potential = graph.add(potential, elastic);
        kinetic = graph.add(kinetic, moving);
    }
    for (l, &signal) in model.signals.iter().enumerate() {
        for (i, b) in modal.loads.entries(l).filter(|(_, b)| *b != 0.0) {
            let b = graph.constant(b);
            let push = graph.mul(b, signal);
            force[i] = graph.add(force[i], push);
        }
    }
    let points = model.q.clone();
    for (a, constraint) in model.constraints.iter_mut().enumerate() {
        // The gap less its part in the points is the offset; then the modes.
        let mut gap = constraint.gap;
        for &p in &points {
            let slope = graph.derivative(gap, p);
            let part = graph.mul(slope, p);
            gap = graph.sub(gap, part);
        }
        if graph.depends_on_any(gap, &points) {
            return Err(not_linear(constraint));
        }
        for (i, w) in modal.stops.entries(a).filter(|(_, w)| *w != 0.0) {
            let w = graph.constant(w);
            let part = graph.mul(w, q[i]);
            gap = graph.add(gap, part);
        }
        constraint.gap = gap;
    }
    let mut mass = vec![zero; n * n];
    (0..n).for_each(|i| mass[i * n + i] = one);
    let span = model.constraints.first().map(|c| c.span.clone()).unwrap_or_default();
    model.places.positions = vec![span.clone(); n];
    model.places.velocities = vec![span; n];
    let numbers = |graph: &mut saltus_expr::Graph, x: &[f64]| x.iter().map(|&x| graph.constant(x)).collect();
    let start_nodes = (numbers(&mut model.graph, &modal.q0), numbers(&mut model.graph, &modal.v0));
    Ok(Arc::new(Model {
        coordinates: (1..=n).map(|k| format!("mode {k}")).collect(),
        q0: modal.q0.clone(),
        v0: modal.v0.clone(),
        start_nodes,
        q,
        v,
        mass,
        force,
        kinetic,
        potential: Some(potential),
        exact: None,
        conservative: model.signals.is_empty() && modal.damping.is_none() && modal.is_symmetric(),
        signals: Vec::new(),
        draw: Vec::new(),
        ..model
    }))
}

fn not_linear(constraint: &Constraint) -> SetupError {
    SetupError::new(format!("the gap of `{}` cannot be followed by events", constraint.name))
        .with_kind(Kind::Unsupported)
        .at(constraint.span.clone(), "not recognised as linear")
        .help("write it as a distance less displacements")
}
