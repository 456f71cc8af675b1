//! What a person should know about a run: the signs that it is not to be trusted, in words.

use crate::{Outside, Problem, Run, RunOptions};

/// What the person should know about this run.
pub(crate) fn advice(problem: &Problem, options: &RunOptions, run: &Run) -> Vec<String> {
    let model = problem.model();
    let mut warnings = model.warnings.clone();
    for table in &model.inputs {
        let (from, to) = table.range();
        let of_time = model.graph.table_arguments(table).contains(&model.t);
        if of_time && (from > 0.0 || to < options.end) {
            let beyond = match table.outside() {
                Outside::Hold => "its end values are held outside",
                Outside::Zero => "it is zero outside",
            };
            warnings.push(format!("the input `{}` has data from t = {from} to {to} only; {beyond}", table.name()));
        }
    }
    if !(run.audit.energy_start.is_finite() && run.audit.energy_end.is_finite()) {
        warnings.push("the energy is not a finite number: an energy of this model leaves its domain".into());
    }
    let fastest = run.trajectory.impacts.iter().map(|i| i.speed).fold(0.0, f64::max);
    let off = run.trajectory.impacts.iter().find(|i| !(i.law_residual * i.speed <= 0.05 * fastest));
    if let Some(impact) = off {
        let e = |a: &usize| model.constraints[*a].restitution;
        let mixed = model.constraints.iter().any(|c| c.restitution != e(&impact.constraints[0]));
        warnings.push(format!(
            "at t = {} the velocities after the impact are {} % of the run's fastest impact away from the law: {}",
            brief(impact.t),
            brief(100.0 * impact.law_residual * impact.speed / fastest),
            match mixed {
                true =>
                    "either the step is coarse, or constraints with different restitutions act at once, where this \
                         scheme does not follow the law",
                false => "the step is coarse for what happens there",
            }
        ));
    }
    let grown = run.trajectory.impacts.iter().filter(|i| {
        let walls_move = i.constraints.iter().any(|&a| model.graph.depends_on(model.constraints[a].gap, model.t));
        !walls_move && i.energy_change > 0.01 * 0.5 * i.speed * i.speed
    });
    let grown = grown.count();
    if grown > 0 {
        warnings.push(format!(
            "kinetic energy grew by more than 1 % at {}: try a smaller step",
            if grown == 1 { "one impact".to_string() } else { format!("{grown} impacts") }
        ));
    }
    let still = !model.constraints.iter().any(|c| model.graph.depends_on(c.gap, model.t));
    let (start, end) = (run.audit.energy_start, run.audit.energy_end);
    // Measured by the energies on the way: a rest at zero has only rounding to compare with.
    let mut energy = problem.energy();
    let motion = &run.trajectory;
    let stride = (motion.len() / 100).max(1);
    let on_the_way = (0..motion.len()).step_by(stride).map(|k| {
        let (kinetic, potential) = energy.both(motion.t[k], motion.q(k), motion.v(k, crate::Side::Left));
        kinetic.abs().max(potential.abs())
    });
    let scale = on_the_way.fold(start.abs().max(end.abs()).max(0.5 * fastest * fastest), f64::max);
    if model.conservative && still && !(end - start <= 0.01 * scale) {
        warnings.push(format!(
            "the energy grew from {} to {} though nothing feeds it: do not trust this run; try a smaller step",
            brief(start),
            brief(end)
        ));
    }
    warnings
}

/// A number in about four digits.
fn brief(x: f64) -> String {
    match x.abs() {
        size if size == 0.0 || (1e-3..1e6).contains(&size) => {
            let text = format!("{x:.4}");
            text.trim_end_matches('0').trim_end_matches('.').to_string()
        }
        _ => format!("{x:.3e}"),
    }
}
