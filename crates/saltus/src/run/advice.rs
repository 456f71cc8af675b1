//! What a user should know about a run: the signs that it should not be trusted, in words.

use super::{Begun, Run, resolution};
use crate::motion::Side;
use crate::text::number;
use crate::{Model, Outside, Status};

/// Warnings about a run, computed in the coordinates of its engine.
pub(crate) fn advice(model: &Model, begun: &Begun, run: &Run) -> Vec<String> {
    let mut warnings = model.warnings.clone();
    inputs(model, run, &mut warnings);
    if !(run.audit.energy_start.is_finite() && run.audit.energy_end.is_finite()) {
        warnings.push("the energy is not a finite number: an energy of this model leaves its domain".into());
    }
    let impacts = &run.trajectory.impacts;
    let fastest = impacts.iter().map(|i| i.speed).fold(0.0, f64::max);
    let keeps_account = begun.gauge.energy.is_none();
    let off = impacts.iter().find(|i| !(i.law_residual * i.speed <= 0.05 * fastest));
    if let Some(impact) = off.filter(|_| !keeps_account) {
        let e = &begun.gauge.restitution;
        let mixed = e.iter().any(|x| *x != e[impact.constraints[0]]);
        warnings.push(format!(
            "at t = {} the velocities after the impact deviate from the law by {} % of the run's fastest impact: {}",
            number(impact.t, 6),
            number(100.0 * impact.law_residual * impact.speed / fastest, 4),
            match mixed {
                true =>
                    "either the step is coarse, or constraints with different restitutions act at once, where this scheme \
                     does not follow the law",
                false => "the step is coarse for what happens there",
            }
        ));
    }
    if keeps_account {
        let unresolved = impacts.iter().filter(|i| i.law_residual > 0.1).count();
        if unresolved * 4 > impacts.len() && !run.by_events() {
            warnings.push(format!(
                "at {unresolved} of {} impacts elastic forces change the velocity of the node by more than a tenth of the approach \
                 within the steps of the impact: the step does not resolve the node's own motion",
                impacts.len()
            ));
        }
    }
    if !run.by_events() {
        resolution::examine(model, begun, run, &mut warnings);
    }
    energy(model, begun, run, &mut warnings);
    warnings
}

/// Sampled inputs that do not cover the run.
fn inputs(model: &Model, run: &Run, warnings: &mut Vec<String>) {
    let (start, end) = (run.start.t, run.options.end);
    let rounding = 1e-9 * (end - start).abs();
    for table in &model.inputs {
        let (from, to) = table.range();
        let of_time = model.graph.table_arguments(table).contains(&model.t);
        if of_time && (from > start + rounding || to < end - rounding) {
            let beyond = match table.outside() {
                Outside::Hold => "its end values are held outside",
                Outside::Zero => "it is zero outside",
            };
            warnings.push(format!(
                "the input `{}` has data from t = {from} to {to} only, and the run goes to {end}; {beyond}",
                table.name()
            ));
        }
    }
}

/// Energy out of nothing.
fn energy(model: &Model, begun: &Begun, run: &Run, warnings: &mut Vec<String>) {
    if let Some(p) = run.ledger.properties.iter().find(|p| p.name == "L" && !p.holds) {
        warnings.push(format!(
            "the stops created energy, {:.1} % of what was exchanged, which fixed stops cannot: do not trust this run. Use e = 0, \
             a smaller step, or moreau-jean; on a mesh, a stop with a stiffness or on a massless node",
            100.0 * p.figure
        ));
    }
    // (By events the ledger itself decides.)
    let residual = run.ledger.balance.relative();
    if !run.by_events() && !(residual <= run.ledger.allowed_residual) && run.status == Status::Finished {
        let why = match begun.gauge.energy {
            None => "the step is too large, or the mesh too fine for double precision",
            Some(_) => "forces and impacts do not explain the change of energy; try a smaller step",
        };
        warnings.push(format!("the energy account has a relative residual of {:.0} %: {why}", 100.0 * residual));
    }
    let grown = run.trajectory.impacts.iter().filter(|i| {
        let moving = i.constraints.iter().any(|&a| model.is_moving(a));
        !moving && i.energy_change > 0.01 * 0.5 * i.speed * i.speed
    });
    let grown = grown.count();
    if grown > 0 && begun.gauge.energy.is_some() {
        warnings.push(format!(
            "kinetic energy grew by more than 1 % at {}: try a smaller step",
            if grown == 1 { "one impact".to_string() } else { format!("{grown} impacts") }
        ));
    }
    // (The energies of a structure followed by its modes are not functions of the points that are observed.)
    let Some((mut energy, _)) = begun.gauge.energy.clone().filter(|_| begun.observed.is_none()) else { return };
    let (start, end) = (run.audit.energy_start, run.audit.energy_end);
    if !model.conservative || begun.gauge.is_moving || end <= start {
        return;
    }
    // Measured by what the energies are most of the time: a rest at zero has only rounding to compare with, and a moment of
    // enormous energies, which a step that is too large makes of a singular force, excuses nothing.
    let motion = &run.trajectory;
    let stride = (motion.len() / 100).max(1);
    let on_the_way = (0..motion.len()).step_by(stride).map(|k| {
        let (kinetic, potential) = energy.both(motion.t[k], motion.q(k), motion.v(k, Side::Left));
        kinetic.abs().max(potential.abs())
    });
    let mut on_the_way: Vec<f64> = on_the_way.collect();
    on_the_way.sort_by(f64::total_cmp);
    let usual = on_the_way.get(on_the_way.len() / 2).copied().unwrap_or(0.0);
    let scale = start.abs().max(end.abs()).max(usual);
    if !(end - start <= 0.01 * scale) {
        warnings.push(format!(
            "the energy grew from {} to {} though nothing feeds it: do not trust this run; try a smaller step",
            number(start, 4),
            number(end, 4)
        ));
    }
}
