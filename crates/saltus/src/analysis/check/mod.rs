//! What can be said about a model before any run: which hypotheses of the papers hold, as far as sampling can tell, which
//! theorem therefore covers it with which scheme, and what is not covered.

mod boundary;
mod laws;
mod of_structure;
mod theorems;
mod walls;

pub use boundary::Pair;
pub use theorems::Coverage;

use crate::Model;
use crate::linalg::{Dice, eigen, max_abs};
use crate::problem::{Problem, Start};
use crate::run::System;
use crate::text::number;
use boundary::Boundary;

/// The effort of a check.
#[derive(Clone, Copy, Debug)]
pub struct CheckOptions {
    /// Times from the start to this are examined where something depends on time.
    pub end: f64,
    /// Starts of the search for each constraint and each pair of them.
    pub starts: usize,
    /// The seed of the samples.
    pub seed: u64,
}

impl CheckOptions {
    /// The usual effort.
    pub fn new(end: f64) -> Self {
        CheckOptions { end, starts: 40, seed: 1 }
    }
}

/// How a finding is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It holds, as far as was examined.
    Good,
    /// Worth knowing.
    Note,
    /// A hypothesis fails.
    Bad,
}

/// Something found out about the model.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What it is about: `data`, `mass`, `forces`, `joints`, `friction`, `states`, `walls`, `gaps`, `pairs`.
    pub topic: &'static str,
    /// What it means.
    pub verdict: Verdict,
    /// What was found, in words.
    pub text: String,
}

/// All that was found.
#[derive(Clone, Debug, Default)]
pub struct Check {
    /// Findings, in the order of the topics.
    pub findings: Vec<Finding>,
    /// Pairs of constraints that can be closed together.
    pub pairs: Vec<Pair>,
    /// Which theorem covers the model with which scheme.
    pub theorems: Vec<Coverage>,
    /// What no theorem covers, in words.
    pub uncovered: Vec<String>,
    /// Points examined.
    pub points: usize,
    /// Whether the observer stopped the search.
    pub stopped: bool,
}

/// What the theorems ask about a model.
#[derive(Clone, Debug, Default)]
pub(crate) struct Traits {
    pub is_structure: bool,
    pub constraints: usize,
    /// Two constraints were found closed together.
    pub together: bool,
    /// Not all pairs could be examined.
    pub pairs_missing: bool,
    pub moving: bool,
    pub mass_constant: bool,
    pub mass_depends_on_time: bool,
    pub velocity_free: bool,
    pub smooth_force: bool,
    /// g jumps or bends with time only (sampled loads, switched ones).
    pub rough_in_time_only: bool,
    pub smooth_gaps: bool,
    /// The common restitution, if there is one.
    pub restitution: Option<f64>,
    pub inelastic: bool,
    /// Restitution depends on the approach speed.
    pub varying_restitution: bool,
    /// Coulomb friction at constraints.
    pub coulomb: bool,
    /// Dry friction of known limit, and whether its limits are constant.
    pub sliders: bool,
    pub constant_limits: bool,
    pub joints: bool,
    /// No equation of a joint follows from the others at the start.
    pub joints_independent: bool,
    pub states: bool,
    /// The largest and smallest kinetic angle found, in degrees.
    pub widest: f64,
    pub narrowest: f64,
    /// No admissible position was found at some time of the run.
    pub becomes_empty: bool,
    /// A gap or ∂f/∂t is not finite, or grows without bound, at some time of the run.
    pub unbounded_walls: bool,
    /// Nothing bad was found about masses, gradients and slopes.
    pub regular: bool,
}

/// Checks a system, at its own start, before any run. `observer` is called periodically with (done, of how many); return false to stop: what
/// was found until then is kept.
///
/// ```
/// use saltus::{analysis::{CheckOptions, check}, model::Builder};
/// let ball = Builder::new("ball").coordinate("y", 1.0, 0.0).kinetic("y'^2/2").potential("9.81*y")
///     .restitution(0.5).constraint("floor", "y").build()?.problem()?;
/// let found = check(&ball, &CheckOptions::new(1.0), &mut |_, _| true);
/// assert!(found.theorems.iter().any(|t| t.covers && t.scheme == "paoli-schatzman"));
/// # Ok::<(), saltus::SetupError>(())
/// ```
pub fn check(system: &dyn System, options: &CheckOptions, observer: &mut dyn FnMut(usize, usize) -> bool) -> Check {
    check_from(system, &system.start(), options, observer)
}

/// Checks a system from a start that it admits.
pub fn check_from(
    system: &dyn System,
    start: &Start,
    options: &CheckOptions,
    observer: &mut dyn FnMut(usize, usize) -> bool,
) -> Check {
    match (system.as_problem(), system.as_structure()) {
        (Some(problem), _) => of_problem(problem, start, options, observer),
        (_, Some(structure)) => of_structure::check(structure, start.t, options, observer),
        _ => Check::default(),
    }
}

fn of_problem(
    problem: &Problem,
    start: &Start,
    options: &CheckOptions,
    report: &mut dyn FnMut(usize, usize) -> bool,
) -> Check {
    let model = problem.model();
    let mut start = start.clone();
    start.complete(model.degrees(), &model.v0);
    let start = &start;
    let mut all = Check::default();
    let mut traits = syntactic(model, problem);
    all.note(
        "data",
        Verdict::Good,
        "the start is admissible: every gap is closed or open, no closed one is being closed".into(),
    );
    mass(problem, start, options, &traits, &mut all);
    forces(problem, start, options, &traits, &mut all);
    traits.joints_independent = laws::examine(problem, start, &mut all);
    walls::examine(problem, start, options, &mut traits, &mut all, report);
    let mut boundary = Boundary::new(problem, start, options);
    boundary.each(&mut all, report);
    boundary.pairs(&mut all, report);
    traits.together = !all.pairs.is_empty();
    traits.pairs_missing = boundary.pairs_missing || all.stopped;
    traits.widest = all.pairs.iter().map(|p| p.widest).fold(0.0, f64::max);
    traits.narrowest = all.pairs.iter().map(|p| p.narrowest).fold(180.0, f64::min);
    all.points = boundary.points;
    traits.regular =
        !all.findings.iter().any(|f| f.verdict == Verdict::Bad && f.topic != "pairs" && f.topic != "walls");
    (all.theorems, all.uncovered) = theorems::coverage(&traits);
    all
}

impl Check {
    fn note(&mut self, topic: &'static str, verdict: Verdict, text: String) {
        self.findings.push(Finding { topic, verdict, text });
    }
}

/// What the expressions themselves say.
fn syntactic(model: &Model, problem: &Problem) -> Traits {
    let graph = &model.graph;
    let code = problem.dynamics().code;
    let state: Vec<_> = model.q.iter().chain(&model.v).copied().collect();
    let rough: Vec<_> = model.force.iter().filter(|&&g| !graph.is_smooth(g)).collect();
    let e: Vec<f64> = model.constraints.iter().map(|c| c.restitution).collect();
    Traits {
        constraints: model.constraints.len(),
        moving: model.has_moving_constraints(),
        mass_constant: code.mass_constant,
        mass_depends_on_time: model.mass.iter().any(|&m| graph.depends_on(m, model.t)),
        velocity_free: code.velocity_free,
        smooth_force: rough.is_empty(),
        rough_in_time_only: rough.iter().all(|&&g| graph.corners_are_free_of(g, &state)),
        smooth_gaps: model.constraints.iter().all(|c| graph.is_smooth(c.gap)),
        restitution: e.first().copied().filter(|first| e.iter().all(|x| x == first)),
        inelastic: e.iter().all(|&x| x == 0.0) && model.speed.is_none(),
        varying_restitution: model.speed.is_some(),
        coulomb: model.frictions.iter().any(|f| f.constraint.is_some()),
        sliders: model.frictions.iter().any(|f| f.constraint.is_none()),
        constant_limits: model.frictions.iter().all(|f| f.kinetic == f.sticking && graph.value(f.kinetic).is_some()),
        joints: !model.joints.is_empty(),
        states: !model.states.is_empty(),
        ..Traits::default()
    }
}

/// Points around the start, near and far.
pub(crate) fn around(q0: &[f64], n: usize, dice: &mut Dice) -> Vec<Vec<f64>> {
    let scale = max_abs(q0).max(1.0);
    let mut points = vec![q0.to_vec()];
    for k in 1..n {
        let reach = scale * [0.1, 0.5, 1.0, 2.0, 4.0][k % 5];
        points.push(q0.iter().map(|q| q + dice.between(-reach, reach)).collect());
    }
    points
}

/// M positive definite at the start and around it, and how well conditioned.
fn mass(problem: &Problem, start: &Start, options: &CheckOptions, traits: &Traits, all: &mut Check) {
    let (d, degrees) = (problem.dimension(), problem.model().degrees());
    let mut dynamics = problem.dynamics();
    let mut metric = dynamics.metric();
    let mut full = vec![0.0; d * d];
    let mut dice = Dice::new(options.seed);
    let points = if traits.mass_constant { vec![start.q.clone()] } else { around(&start.q, 200, &mut dice) };
    let (mut worst, mut failed) = (0.0_f64, None);
    for q in &points {
        dynamics.evaluate(start.t, q, &vec![0.0; d]);
        if metric.set(&dynamics.mass).is_err() {
            failed.get_or_insert(q.clone());
            continue;
        }
        metric.write_full(&mut full);
        // (States have no inertia of their own.)
        let own: Vec<f64> = (0..degrees).flat_map(|i| full[i * d..i * d + degrees].to_vec()).collect();
        let values = eigen(degrees, &own);
        worst = worst.max(values[degrees - 1].0 / values[0].0);
    }
    match failed {
        Some(q) => all.note(
            "mass",
            Verdict::Bad,
            format!(
                "M is not positive definite at q = ({}): a run that comes there ends",
                position(&q[..degrees], max_abs(&q[..degrees]))
            ),
        ),
        None => {
            let at = if traits.mass_constant {
                "M is constant".to_string()
            } else {
                format!("M is positive definite at the start and at {} points around it", points.len() - 1)
            };
            let verdict = if worst > 1e8 { Verdict::Note } else { Verdict::Good };
            all.note("mass", verdict, format!("{at}; condition number {}", number(worst, 4)));
        }
    }
    if traits.mass_depends_on_time {
        all.note("mass", Verdict::Note, "M depends on time: none of the papers treats that".into());
    }
}

/// Smoothness and Lipschitz hints.
fn forces(problem: &Problem, start: &Start, options: &CheckOptions, traits: &Traits, all: &mut Check) {
    let d = problem.dimension();
    if traits.smooth_force {
        all.note("forces", Verdict::Good, "the forces are analytic where they are defined".into());
    } else {
        let how = match traits.rough_in_time_only {
            true => {
                "the forces have corners or jumps in time only (sampled or switched loads): Lipschitz in q and v, but not \
                     analytic in t, and uniqueness of the motion is not promised for data that are not analytic (Bressan's and \
                     Ballard's examples; P15 of the references has two motions)"
            }
            false => {
                "the forces have corners or jumps in positions or velocities (abs, sign, if, …): not analytic, so \
                      uniqueness is not promised; where they jump they are not even continuous, and no theorem covers them"
            }
        };
        all.note("forces", Verdict::Note, how.into());
    }
    // Slopes of M⁻¹g at points around the start: a hint, not a bound.
    let mut stiffness = problem.stiffness();
    let mut dynamics = problem.dynamics();
    let mut dice = Dice::new(options.seed + 1);
    // (Of coordinates alone: states have units, and slopes, of their own.)
    let n = problem.model().degrees();
    let (mut by_q, mut by_v) = (0.0_f64, 0.0_f64);
    for q in around(&start.q, 60, &mut dice) {
        let t = dice.between(start.t, options.end.max(start.t));
        let v: Vec<f64> = start.v.iter().map(|v| v + dice.between(-1.0, 1.0) * (1.0 + v.abs())).collect();
        dynamics.evaluate(t, &q, &v);
        by_v = by_v.max(row_sum(&dynamics.jacobian, d, n));
        if let Some(stiffness) = &mut stiffness {
            stiffness.evaluate(t, &q, &v);
            by_q = by_q.max(row_sum(&stiffness.matrix, d, n));
        }
    }
    if by_q.is_finite() && by_v.is_finite() {
        let text = format!(
            "largest slopes of g seen around the start: {} in q, {} in v (Lipschitz hints)",
            number(by_q, 4),
            number(by_v, 4)
        );
        all.note("forces", Verdict::Good, text);
    } else {
        all.note("forces", Verdict::Bad, "g or its slope is not finite at points around the start".into());
    }
}

/// The largest sum of a row of the first `n` rows and columns of a matrix of `d` columns.
fn row_sum(matrix: &[f64], d: usize, n: usize) -> f64 {
    matrix
        .chunks(d.max(1))
        .take(n)
        .map(|row| row.iter().take(n).map(|x| x.abs()).sum())
        .fold(0.0, |m: f64, x: f64| if x.is_finite() { m.max(x) } else { f64::INFINITY })
}

/// A position in a few digits; what is rounding beside the scale is zero.
pub(crate) fn position(q: &[f64], scale: f64) -> String {
    let rounded = |x: f64| if x.abs() <= 1e-13 * scale { 0.0 } else { x };
    let shown: Vec<String> = q.iter().take(6).map(|x| number(rounded(*x), 4)).collect();
    let more = if q.len() > 6 { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}
