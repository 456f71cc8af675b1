//! The ledger's impacts: instants with their uncertainty, energies, and how well law and complementarity were kept.

use crate::contact::kinetic_angle;
use crate::{Problem, Run, RunOptions};

/// What is noted of an impact besides what [`crate::Impact`] has.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its instant.
    pub t: f64,
    /// How well that is known: the step, or what the tolerance makes of it.
    pub uncertainty: f64,
    /// The constraints whose gap is closed there, whether they act or not.
    pub closed: Vec<usize>,
    /// Kinetic energy before.
    pub kinetic_before: f64,
    /// Kinetic energy after.
    pub kinetic_after: f64,
    /// |v⁺ − law(v⁻)| / |v| in the kinetic metric.
    pub law_residual: f64,
    /// The largest |U⁺ + e U⁻| of a constraint that acts, relative to its fastest impact: what should vanish where P > 0.
    pub complementarity: f64,
    /// The deepest gap below zero at the instant, as a positive number.
    pub penetration: f64,
}

pub fn entries(problem: &Problem, options: &RunOptions, run: &Run) -> Vec<Entry> {
    let model = problem.model();
    let mut gaps = problem.gaps();
    let mut dynamics = problem.dynamics();
    let mut metric = dynamics.metric();
    let by_events = options.scheme.stepping().is_none();
    let reach = run.trajectory.positions().iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    // The fastest that each constraint was hit.
    let mut fastest = vec![1e-300_f64; model.constraints.len()];
    for i in run.trajectory.impacts.iter() {
        gaps.kinematics(i.t, i.q);
        for &a in i.constraints {
            fastest[a] = fastest[a].max((gaps.walls[a] + gaps.gradients.dot(a, i.v_before)).abs());
        }
    }
    run.trajectory
        .impacts
        .iter()
        .map(|i| {
            gaps.linearise(i.t, i.q);
            gaps.kinematics(i.t, i.q);
            dynamics.evaluate(i.t, i.q, i.v_before);
            let known = metric.set(&dynamics.mass).is_ok();
            let kinetic = |v: &[f64]| if known { 0.5 * metric.norm_squared(v) } else { f64::NAN };
            let rate = |a: usize, v: &[f64]| gaps.walls[a] + gaps.gradients.dot(a, v);
            let off = i.constraints.iter().map(|&a| {
                let e = model.constraints[a].restitution;
                (rate(a, i.v_after) + e * rate(a, i.v_before)).abs() / fastest[a]
            });
            // By events an instant is known to the error of the gap over the speed at which it closes.
            let uncertainty = match by_events {
                true => options.settings.tolerance * reach / i.approach.abs().max(1e-300),
                false => run.step,
            };
            Entry {
                t: i.t,
                uncertainty: uncertainty.min(i.t.max(run.step)),
                closed: (0..gaps.values.len())
                    .filter(|&a| i.constraints.contains(&a) || gaps.values[a] <= gaps.rounding(a, i.q))
                    .collect(),
                kinetic_before: kinetic(i.v_before),
                kinetic_after: kinetic(i.v_after),
                law_residual: i.law_residual,
                complementarity: off.fold(0.0, f64::max),
                penetration: gaps.values.iter().fold(0.0, |m, f| m.max(-f)),
            }
        })
        .collect()
}

/// A place where several constraints were closed at once.
#[derive(Clone, Debug)]
pub struct Meeting {
    /// When they met first.
    pub t: f64,
    /// Which two.
    pub pair: (usize, usize),
    /// Their kinetic angle there, in degrees.
    pub angle: f64,
    /// Whether the theorems promise continuous dependence on the data there ([S], [T], [B]).
    pub continuous: bool,
    /// All of it in a sentence.
    pub sentence: String,
}

/// An angle this near to a right one is a right one, in degrees.
const RIGHT: f64 = 1e-6;

/// Whether the motion depends continuously on its data where two constraints meet at a kinetic angle (degrees), as far
/// as the theorems say: no obtuse angle for e = 0, a right one for e > 0.
pub(crate) fn is_continuous(angle: f64, e: (f64, f64)) -> bool {
    match e == (0.0, 0.0) {
        true => angle <= 90.0 + RIGHT,
        false => (angle - 90.0).abs() <= RIGHT,
    }
}

/// The pairs of constraints that were closed together at an impact, each once.
pub fn meetings(problem: &Problem, run: &Run) -> Vec<Meeting> {
    let model = problem.model();
    let mut found: Vec<Meeting> = Vec::new();
    let (mut gaps, mut dynamics) = (problem.gaps(), problem.dynamics());
    let mut metric = dynamics.metric();
    for i in run.trajectory.impacts.iter().filter(|i| i.constraints.len() > 1) {
        gaps.kinematics(i.t, i.q);
        dynamics.evaluate(i.t, i.q, i.v_before);
        if metric.set(&dynamics.mass).is_err() {
            continue;
        }
        for (k, &a) in i.constraints.iter().enumerate() {
            for &b in &i.constraints[k + 1..] {
                let pair = (a.min(b), a.max(b));
                if found.iter().any(|m| m.pair == pair) || found.len() >= 100 {
                    continue;
                }
                let Some(angle) = kinetic_angle(&metric, &gaps.gradients, pair.0, pair.1) else { continue };
                let angle = angle.to_degrees();
                let e = (model.constraints[pair.0].restitution, model.constraints[pair.1].restitution);
                let continuous = is_continuous(angle, e);
                let (first, second) = (&model.constraints[pair.0].name, &model.constraints[pair.1].name);
                let restitution = if e.0 == e.1 { format!("e = {}", e.0) } else { format!("e = {} and {}", e.0, e.1) };
                let meaning = match continuous {
                    true => "the motion depends continuously on the data here",
                    false if e == (0.0, 0.0) => "the motion depends discontinuously on the data here",
                    false => {
                        "no theorem promises that the motion depends continuously on the data here (--probe tells)"
                    }
                };
                let sentence = format!(
                    "at t = {:.6} `{first}` and `{second}` meet at a kinetic angle of {angle:.2}°: with {restitution} {meaning}",
                    i.t
                );
                found.push(Meeting { t: i.t, pair, angle, continuous, sentence });
            }
        }
    }
    found
}
