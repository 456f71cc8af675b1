//! How the end of a motion depends on parameters and on where it starts.

use super::phase_space::{NoMap, PhaseSpace};
use crate::linalg::dot;
use crate::motion::Variation;
use crate::problem::{Problem, Start};
use crate::{Options, SetupError, Status};

/// Derivatives of the final state and of the user's quantities ([`crate::Model::quantities`]) there.
#[derive(Clone, Debug)]
pub struct Sensitivity {
    /// When they are taken: at a fixed time.
    pub t: f64,
    /// By what: parameters and starts.
    pub by: Vec<String>,
    /// Values at that time: positions, velocities, first-order states, quantities.
    pub values: Vec<f64>,
    /// One list for each of `by`: the derivatives of the values.
    pub derivatives: Vec<Vec<f64>>,
}

/// Derivatives of the end of a motion by open parameters and starts (`x`, `x'`, states), to the tolerance of the run.
/// `is_own_start`: the start is the model's own, and depends on parameters as the model says.
///
/// ```
/// use saltus::{Options, analysis::sensitivity, model::Builder};
/// let ball = Builder::new("ball").parameter("g", 10.0).coordinate("y", 1.0, 0.0).kinetic("y'^2/2").potential("g*y")
///     .restitution(0.5).constraint("floor", "y").quantity("y'^2/2 + g*y").build()?.open(&["g"])?.problem()?;
/// let found = sensitivity(&ball, &ball.start(), true, &["g", "y"], &Options::events(0.8))?;
/// // After one impact the energy is a quarter of what it was: g y₀/4.
/// assert!((found.derivatives[0][2] - 0.25).abs() < 1e-9 && (found.derivatives[1][2] - 2.5).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn sensitivity(
    problem: &Problem,
    start: &Start,
    is_own_start: bool,
    by: &[&str],
    options: &Options,
) -> Result<Sensitivity, NoMap> {
    let (space, model, d) = (PhaseSpace::of(problem), problem.model(), problem.dimension());
    let mut seed = Variation::new(d, model.open.len());
    let parameters = match start.parameters.is_empty() {
        true => problem.start().parameters,
        false => start.parameters.clone(),
    };
    for &name in by {
        let column = seed.push_zero();
        if let Some(k) = model.open.iter().position(|p| p.name == name) {
            seed.column_mut(column)[2 * d + k] = 1.0;
            if is_own_start {
                seed.column_mut(column)[..2 * d].copy_from_slice(&problem.start_slopes(&parameters, k)?);
            }
        } else if let Some(k) = space.names().iter().position(|n| n == name) {
            let mut unit = vec![0.0; space.dimension()];
            unit[k] = 1.0;
            space.set_column(&mut seed, column, &unit);
        } else {
            let message = format!("`{name}` is neither a parameter nor a coordinate, velocity or state to start from");
            let parameters = model.parameters.iter().map(|(n, _)| n.as_str());
            let known = parameters.chain(space.names().iter().map(String::as_str));
            return Err(SetupError::unknown(message, name, known, "there are").into());
        }
    }
    let run = problem.run_from(start, &Options { vary: Some(seed), ..options.clone() })?;
    if let Status::Failed(failure) = &run.status {
        return Err(NoMap::Failed(failure.clone()));
    }
    let all = match &run.variation {
        Some(Ok(all)) => all,
        Some(Err(obstacle)) => return Err(NoMap::Obstacle(obstacle.clone())),
        None => return Err(SetupError::new("the run has no derivatives").into()),
    };
    let last = run.last();
    let (quantities, slopes) = problem.quantity_slopes(last)?;
    let mut values = space.state(last);
    values.extend(quantities);
    let of = |k: usize| {
        let mut found = space.column(all, k);
        found.extend(slopes.iter().map(|row| dot(row, all.column(k))));
        found
    };
    let derivatives = (0..by.len()).map(of).collect();
    Ok(Sensitivity { t: last.t, by: by.iter().map(|n| n.to_string()).collect(), values, derivatives })
}
