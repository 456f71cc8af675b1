//! A structure by events: its modes are a model like any other, and the event-driven engine takes them from impact to
//! impact. What comes back is mapped to the points.

use super::check;
use super::run::{StructureOptions, StructureRun};
use super::shocks::{Shocks, StopKind, touches_of};
use super::{Linear, Structure};
use crate::run::Progress;
use crate::{Ledger, Model, Problem, RunOptions, SetupError};

pub(super) fn run(
    structure: &Structure,
    modal: &Linear,
    options: &RunOptions,
    more: &StructureOptions,
    report: &mut dyn FnMut(Progress) -> bool,
) -> Result<StructureRun, SetupError> {
    let problem = Problem::new(model(structure, modal)?)?;
    let mut run = crate::run(&problem, options, report)?;
    let ledger = Ledger::new(&problem, options, &run);
    let motion = run.trajectory.mapped(&modal.points);
    let shapes = match Some(&modal.outline).filter(|rows| more.outline && !rows.is_empty()) {
        Some(rows) => {
            let stride = (run.trajectory.len() / 1_500).max(1);
            (0..run.trajectory.len())
                .step_by(stride)
                .map(|k| {
                    let q = run.trajectory.q(k);
                    (run.trajectory.t[k], (0..rows.len()).map(|r| rows.dot(r, q)).collect())
                })
                .collect()
        }
        None => Vec::new(),
    };
    let m = modal.stops.len();
    let mut touches = touches_of(&motion, m);
    for touch in &mut touches {
        // No friction: what slides keeps its velocity through an impact.
        if let Some(p) = structure.slides[touch.stop] {
            let at = motion.at(touch.start, crate::Side::Left);
            touch.wear = touch.impulse * at.map_or(0.0, |(_, v)| v[p].abs());
        }
    }
    let kinds: Vec<StopKind> =
        (0..m).map(|a| StopKind { slides: structure.slides[a].is_some(), ..StopKind::default() }).collect();
    let shocks = Shocks::new(touches, &kinds, check::rest(structure, more, options.settings.tolerance), &motion);
    run.trajectory = motion;
    check::advise(structure, modal, options, more, &mut run);
    Ok(StructureRun { run, ledger, shocks, shapes })
}

/// The modes as a model: η'' + c η' + ω² η = Σ b s(t), gaps o(t) + w·η.
fn model(structure: &Structure, modal: &Linear) -> Result<Model, SetupError> {
    if !modal.massless().is_empty() {
        return Err(SetupError::new("events are followed for rigid stops on what has mass")
            .help("for stops with a stiffness, massless contact nodes or --residual take paoli-schatzman"));
    }
    let n = modal.dimension();
    let mut model = structure.model.clone();
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
        if let Some(c) = &modal.damping {
            let c = graph.constant(c.at(i, i));
            let drag = graph.mul(c, v[i]);
            force[i] = graph.sub(force[i], drag);
        }
        let (elastic, moving) = (graph.mul(spring, q[i]), graph.mul(v[i], v[i]));
        let (elastic, moving) = (graph.mul(half, elastic), graph.mul(half, moving));
        potential = graph.add(potential, elastic);
        kinetic = graph.add(kinetic, moving);
    }
    for (l, &signal) in model.signals.iter().enumerate() {
        let (columns, values) = modal.loads.row(l);
        for (&i, &b) in columns.iter().zip(values).filter(|(_, b)| **b != 0.0) {
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
            return Err(SetupError::new(format!(
                "the gap of `{}` is too intricate to follow by events",
                constraint.name
            ))
            .at(constraint.span.clone(), "not seen to be linear")
            .help("write it as a distance less displacements"));
        }
        let (columns, values) = modal.stops.row(a);
        for (&i, &w) in columns.iter().zip(values).filter(|(_, w)| **w != 0.0) {
            let w = graph.constant(w);
            let part = graph.mul(w, q[i]);
            gap = graph.add(gap, part);
        }
        constraint.gap = gap;
    }
    let mut mass = vec![zero; n * n];
    (0..n).for_each(|i| mass[i * n + i] = one);
    let span = structure.model.constraints.first().map(|c| c.span.clone()).unwrap_or_default();
    model.places.positions = vec![span.clone(); n];
    model.places.velocities = vec![span; n];
    Ok(Model {
        coordinates: (1..=n).map(|k| format!("mode {k}")).collect(),
        q0: modal.q0.clone(),
        v0: modal.v0.clone(),
        q,
        v,
        mass,
        force,
        kinetic,
        potential: Some(potential),
        exact: None,
        conservative: model.signals.is_empty() && modal.damping.is_none(),
        signals: Vec::new(),
        ..model
    })
}
