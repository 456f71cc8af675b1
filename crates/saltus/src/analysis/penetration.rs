//! The stiffness for which a penalty scheme penetrates no deeper than wanted.

use crate::problem::Start;
use crate::run::{Options, System, run_observed};
use crate::scheme::{self, Settings};
use crate::{Keep, Kind, SetupError};

/// The stiffness k with m v² = k δ² for the impact that presses hardest in a run with rigid obstacles (mabrouk with the same
/// step); m is the inertia behind the constraint, P = (1+e) m v.
pub fn stiffness_for_penetration(
    system: &dyn System,
    start: &Start,
    options: &Options,
    depth: f64,
) -> Result<f64, SetupError> {
    if !(depth > 0.0 && depth.is_finite()) {
        return Err(SetupError::new(format!("the penetration must be a positive number, not {depth}"))
            .with_kind(Kind::OutOfRange { name: "penetration".into(), value: depth }));
    }
    let mut rigid = options.clone().keep(Keep::IMPACTS);
    rigid.scheme = scheme::find("mabrouk")?;
    rigid.settings = Settings::new();
    let run = run_observed(system, start, &rigid, &mut |_| true)?;
    let constraints = &system.model().constraints;
    let hardest = run.trajectory.impacts.iter().map(|impact| {
        let e = constraints[impact.constraints[0]].restitution;
        let pressed: f64 = impact.impulses.iter().sum();
        pressed / (1.0 + e) * impact.approach.abs()
    });
    let energy = hardest.fold(0.0, f64::max);
    match energy > 0.0 {
        true => Ok(energy / (depth * depth)),
        false => {
            Err(SetupError::new("no impact was found from which to choose a stiffness")
                .help("give the stiffness itself"))
        }
    }
}
