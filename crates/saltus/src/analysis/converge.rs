//! How the error falls with the step, or with the number of modes.

use super::compare::thinned;
use super::{Execute, Fit, Job, Timed, distance, fit};
use crate::motion::PhaseKind;
use crate::problem::{Exact, Start};
use crate::run::{Options, Run, System};
use crate::scheme::{self, Scheme, StructureSteps};
use crate::structure::Reduction;
use crate::text::{count, number};
use crate::{SetupError, Status};

/// What is refined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// The time step.
    Step,
    /// The number of modes of a structure.
    Modes,
}

/// A study of convergence.
#[derive(Clone, Debug)]
pub struct ConvergeOptions {
    /// What is refined.
    pub over: Over,
    /// How many refinements.
    pub levels: u32,
    /// The ratio of successive steps or mode counts.
    pub ratio: f64,
    /// The scheme, the largest step and everything else.
    pub base: Options,
}

/// The errors of one run.
#[derive(Clone, Copy, Debug)]
pub struct Level {
    /// The step, or the number of modes.
    pub size: f64,
    /// The largest error of a position.
    pub position: f64,
    /// ∫ |v₁ − v₂| dt.
    pub velocity: f64,
    /// The largest error of the first impact times, where the same constraints act.
    pub times: Option<f64>,
    /// The error of the total impulse.
    pub impulse: f64,
    /// Number of impacts.
    pub impacts: usize,
}

/// Fitted orders of the four errors.
#[derive(Clone, Copy, Debug, Default)]
pub struct Orders {
    /// Of positions.
    pub position: Option<Fit>,
    /// Of velocities.
    pub velocity: Option<Fit>,
    /// Of impact times.
    pub times: Option<Fit>,
    /// Of the total impulse.
    pub impulse: Option<Fit>,
}

/// What runs are compared with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reference {
    /// The run by events.
    Events,
    /// The scheme's own run with this step.
    Step(f64),
    /// All modes of a structure, so many.
    AllModes(usize),
}

/// All that was found.
#[derive(Clone, Debug)]
pub struct Convergence {
    /// The scheme that was studied.
    pub scheme: Scheme,
    /// What was refined.
    pub over: Over,
    /// What runs are compared with.
    pub reference: Reference,
    /// Whether positions are compared with the exact motion that the model gives.
    pub has_exact: bool,
    /// The reference run.
    pub reference_run: Run,
    /// The errors, from the coarsest run.
    pub levels: Vec<Level>,
    /// Their orders.
    pub orders: Orders,
    /// The final position extrapolated to h = 0.
    pub extrapolated: Option<Vec<f64>>,
    /// A verdict on the number of modes, in a sentence.
    pub verdict: Option<String>,
    /// What a user should know.
    pub warnings: Vec<String>,
}

impl Convergence {
    /// What the runs are compared with, in words.
    pub fn compared_with(&self) -> String {
        let truth = if self.has_exact { "positions compared with the exact motion, the rest" } else { "compared" };
        match self.reference {
            Reference::Events => format!("{truth} with the run by events"),
            Reference::Step(step) => format!("{truth} with its run with h = {}", number(step, 4)),
            Reference::AllModes(modes) => format!("{truth} with all {modes} modes"),
        }
    }
}

/// Why there is no result.
#[derive(Clone, Debug)]
pub enum NoConvergence {
    /// Something cannot be run.
    Setup(SetupError),
    /// The study was interrupted.
    Interrupted,
}

impl From<SetupError> for NoConvergence {
    fn from(error: SetupError) -> Self {
        NoConvergence::Setup(error)
    }
}

/// Modes up to which the reference of a structure is a run by events.
const FEW_MODES: usize = 40;

/// Measures how errors fall. A geometric sequence of steps is compared with the motion by events (where that is not to be
/// had, with a step eight times smaller than the smallest); of a structure, a sequence of mode counts with all modes.
///
/// ```
/// use saltus::{Options, analysis::{ConvergeOptions, Over, converge, sequentially}, model::Builder};
/// let ball = Builder::new("ball").coordinate("y", 1.0, 0.0).kinetic("y'^2/2").potential("9.81*y")
///     .restitution(0.5).constraint("floor", "y").build()?.problem()?;
/// let base = Options::steps("mabrouk", 0.01).until(1.0);
/// let how = ConvergeOptions { over: Over::Step, levels: 4, ratio: 2.0, base };
/// let found = converge(&ball, &ball.start(), &how, &mut sequentially(&ball)).unwrap();
/// assert!((found.orders.position.unwrap().order - 1.0).abs() < 0.3);
/// # Ok::<(), saltus::SetupError>(())
/// ```
pub fn converge(
    system: &dyn System,
    start: &Start,
    how: &ConvergeOptions,
    execute: Execute,
) -> Result<Convergence, NoConvergence> {
    if !(how.ratio > 1.0 && how.ratio.is_finite()) {
        return Err(SetupError::new(format!("the ratio must be greater than 1, not {}", how.ratio)).into());
    }
    let mut base = how.base.clone();
    if let (Some(_), StructureSteps::Instead(name)) = (system.as_structure(), base.scheme.structures) {
        base.scheme = scheme::find(name)?;
    }
    match how.over {
        Over::Modes => over_modes(system, start, how, base, execute),
        Over::Step => over_steps(system, start, how, base, execute),
    }
}

/// Runs that must all reach the end.
fn finished(execute: Execute, jobs: &[Job]) -> Result<Vec<Run>, NoConvergence> {
    let mut runs = Vec::new();
    for outcome in execute(jobs) {
        let run = outcome?.run;
        match &run.status {
            // Coarse steps may have breaches: what becomes of them is the question.
            Status::Finished | Status::Breached { .. } => runs.push(run),
            Status::Interrupted { .. } => return Err(NoConvergence::Interrupted),
            Status::Failed(failure) => {
                let message = format!("{}, h = {}: {failure}", run.scheme.name, run.step);
                return Err(SetupError::new(message).into());
            }
        }
    }
    Ok(runs)
}

fn over_steps(
    system: &dyn System,
    start: &Start,
    how: &ConvergeOptions,
    base: Options,
    execute: Execute,
) -> Result<Convergence, NoConvergence> {
    let scheme = base.scheme;
    if scheme.is_event_driven() {
        return Err(SetupError::new(format!(
            "{} has no step to refine: it is what steps are measured against",
            scheme.name
        ))
        .help("name a time-stepping scheme, such as paoli-schatzman; for event-driven, compare runs of several tolerances")
        .into());
    }
    let first = base.needed_step()?;
    let span = base.end - start.t;
    // Whole divisions of the interval, so that every run has the step it says.
    let coarse = (span / first).round().max(1.0);
    let step = |k: u32, finer: f64| span / (coarse * how.ratio.powi(k as i32) * finer).round();
    let job = |options: Options| Job { start: start.clone(), options: thinned(options, start.t) };
    let mut jobs: Vec<Job> = (0..how.levels).map(|k| job(base.clone().step(step(k, 1.0)))).collect();
    let finest = step(how.levels - 1, 8.0);
    // The reference: the motion by events, where the scheme tends to it and the events can be resolved to the end.
    let by_events = if scheme.follows_law { events(system, start, &base, finest, execute)? } else { None };
    if by_events.is_none() {
        jobs.push(job(base.clone().step(finest)));
    }
    let mut runs = finished(execute, &jobs)?;
    let (reference_run, reference) = match by_events {
        Some(run) => (run, Reference::Events),
        None => {
            let run = runs.pop().ok_or_else(|| SetupError::new("no run was made"))?;
            let step = run.step;
            (run, Reference::Step(step))
        }
    };
    let mut exact = system.as_problem().and_then(|p| p.exact());
    let levels: Vec<Level> = runs.iter().map(|run| level(run.step, run, &reference_run, exact.as_mut())).collect();
    if let Some(bad) = levels.iter().find(|l| !l.position.is_finite()) {
        return Err(SetupError::new(format!(
            "the exact motion of the model is not a number everywhere (h = {})",
            bad.size
        ))
        .help("look at [exact]: a root or logarithm leaves its domain within the run")
        .into());
    }
    let orders = Orders::new(&levels);
    let extent = largest(&reference_run);
    Ok(Convergence {
        warnings: warnings(&levels, &orders, extent, scheme.order),
        extrapolated: richardson(&runs, &orders, how.ratio),
        has_exact: exact.is_some(),
        over: Over::Step,
        verdict: None,
        scheme,
        reference,
        reference_run,
        levels,
        orders,
    })
}

/// The run by events, if it reaches the end without a stretch of time stepping.
fn events(
    system: &dyn System,
    start: &Start,
    base: &Options,
    step: f64,
    execute: Execute,
) -> Result<Option<Run>, SetupError> {
    let scheme = scheme::find("event-driven")?;
    let mut options = Options { settings: base.settings.among(scheme.settings), ..base.clone() };
    options.scheme = scheme;
    let span = base.end - start.t;
    options.step = Some(step.max(if system.as_structure().is_some() { 5e-4 } else { 1e-5 } * span));
    options.every = 1;
    if let Some(structure) = system.as_structure() {
        let linear = structure.linear();
        let modes = base.reduction.map_or(linear.dimension() - linear.massless().len(), |r| r.modes);
        if modes > FEW_MODES {
            return Ok(None);
        }
    } else {
        let tolerance = options.settings.number(&scheme::TOLERANCE).unwrap_or(1e-10).min(1e-12);
        options.settings.set("tolerance", tolerance);
    }
    let outcome = execute(&[Job { start: start.clone(), options }]).pop();
    Ok(match outcome {
        Some(Ok(Timed { run, .. })) if run.status == Status::Finished => {
            let stepped = run.timeline.of(PhaseKind::Stepped).next().is_some();
            (!stepped).then_some(run)
        }
        _ => None,
    })
}

fn over_modes(
    system: &dyn System,
    start: &Start,
    how: &ConvergeOptions,
    base: Options,
    execute: Execute,
) -> Result<Convergence, NoConvergence> {
    let Some(structure) = system.as_structure() else {
        return Err(SetupError::new("this model has no modes to refine: it is not a structure").into());
    };
    let all = structure.linear().dimension() - structure.linear().massless().len();
    let residual = base.reduction.is_some_and(|r| r.residual);
    let first = base.reduction.map_or(2, |r| r.modes).clamp(1, all);
    let mut sizes: Vec<usize> =
        (0..how.levels).map(|k| (first as f64 * how.ratio.powi(k as i32)).round() as usize).collect();
    sizes.retain(|&m| m < all);
    sizes.dedup();
    let job = |reduction: Option<Reduction>| {
        let options = Options { reduction, ..base.clone() };
        Job { start: start.clone(), options: thinned(options, start.t) }
    };
    let mut jobs: Vec<Job> = sizes.iter().map(|&modes| job(Some(Reduction { modes, residual }))).collect();
    jobs.push(job(None));
    let mut runs = finished(execute, &jobs)?;
    let reference_run = runs.pop().ok_or_else(|| SetupError::new("no run was made"))?;
    let levels: Vec<Level> =
        sizes.iter().zip(&runs).map(|(&m, run)| level(m as f64, run, &reference_run, None)).collect();
    Ok(Convergence {
        verdict: enough_modes(&levels, &reference_run),
        orders: Orders::new(&levels),
        scheme: base.scheme,
        over: Over::Modes,
        reference: Reference::AllModes(all),
        has_exact: false,
        extrapolated: None,
        warnings: Vec::new(),
        reference_run,
        levels,
    })
}

fn impulse(run: &Run) -> f64 {
    run.audit.impulses.iter().sum()
}

fn largest(run: &Run) -> f64 {
    run.trajectory.positions().iter().fold(0.0, |m, x| m.max(x.abs()))
}

fn level(size: f64, run: &Run, reference: &Run, exact: Option<&mut Exact>) -> Level {
    let apart = distance(&run.trajectory, &reference.trajectory);
    let position = match exact {
        Some(exact) => against(run, exact),
        None => apart.position,
    };
    let (a, b) = (&run.trajectory.impacts, &reference.trajectory.impacts);
    // Impacts near an accumulation differ in number from step to step: those that both have are compared, while they match.
    let common = a.iter().zip(b.iter()).take_while(|(x, y)| x.constraints == y.constraints).take(10);
    let times = common.map(|(x, y)| (x.t - y.t).abs()).reduce(f64::max);
    Level {
        size,
        position,
        velocity: apart.velocity,
        times,
        impulse: (impulse(run) - impulse(reference)).abs(),
        impacts: a.len(),
    }
}

/// The largest distance from the exact motion at any stored instant.
fn against(run: &Run, exact: &mut Exact) -> f64 {
    let motion = &run.trajectory;
    let mut worst: f64 = 0.0;
    for k in 0..motion.len() {
        for (x, y) in motion.q(k).iter().zip(exact.at(motion.t[k])) {
            let apart = (x - y).abs();
            if !(apart <= worst) {
                worst = apart;
            }
        }
    }
    worst
}

impl Orders {
    fn new(levels: &[Level]) -> Self {
        // Errors at the level of rounding have no order.
        let of = |error: &dyn Fn(&Level) -> f64| {
            let points = levels.iter().map(|l| (l.size, error(l))).filter(|(_, e)| *e > 1e-12);
            fit(&points.collect::<Vec<_>>())
        };
        Orders {
            position: of(&|l| l.position),
            velocity: of(&|l| l.velocity),
            times: of(&|l| l.times.unwrap_or(0.0)),
            impulse: of(&|l| l.impulse),
        }
    }
}

fn warnings(levels: &[Level], orders: &Orders, extent: f64, declared: f64) -> Vec<String> {
    let mut warnings = Vec::new();
    let last = levels.last().map_or(0.0, |l| l.position);
    if last <= 1e-11 * extent {
        return warnings;
    }
    let order = |fit: Option<Fit>| fit.map_or("-".into(), |f| number(f.order, 2));
    match orders.position {
        Some(fit) if fit.order < 0.5 * declared && orders.velocity.is_some_and(|v| v.order > 0.5 * declared) => {
            warnings.push(format!(
                "the runs converge (velocity order {}) but not to the motion that positions are compared with: [exact] is \
                 another motion than this model's with these parameters, or the scheme has a limit of its own (penalty: its \
                 stiffness)",
                order(orders.velocity)
            ));
        }
        Some(fit) if fit.order + fit.spread < 0.5 * declared => warnings.push(format!(
            "no convergence seen: the order is {} where {} is expected. Chaos, a motion that depends discontinuously on its \
             data, or steps that are all too coarse; a comparison of schemes shows where impacts begin to differ",
            number(fit.order, 2),
            number(declared, 2)
        )),
        Some(fit) if fit.spread > 0.3 => {
            let spread = number(fit.spread, 2);
            warnings.push(format!("the errors scatter around the line (slope ± {spread}): more levels would help"));
        }
        None => warnings.push("no order can be fitted: too few positive errors".into()),
        _ => {}
    }
    if last > 0.1 * extent {
        warnings.push("the error of the smallest step is more than a tenth of the motion itself".into());
    }
    let counts: Vec<usize> = levels.iter().map(|l| l.impacts).collect();
    if let (Some(&first), Some(&last)) = (counts.first(), counts.last())
        && counts.len() > 2
        && last as f64 > 1.2 * first as f64
        && last > first + 2
    {
        warnings.push(
            "the number of impacts grows with smaller steps: an accumulation, whose tail no step resolves".into(),
        );
    }
    warnings
}

/// The final position extrapolated from the two smallest steps with the fitted order.
fn richardson(runs: &[Run], orders: &Orders, ratio: f64) -> Option<Vec<f64>> {
    let order = orders.position?.order;
    let [.., a, b] = runs else { return None };
    let end = |run: &Run| run.trajectory.q(run.trajectory.len() - 1).to_vec();
    let gain = ratio.powf(order) - 1.0;
    // What is only rounding next to the motion is zero.
    let extent = largest(b);
    let plain = |x: f64| if x.abs() < 1e-13 * extent { 0.0 } else { x };
    (gain > 0.2).then(|| end(a).iter().zip(&end(b)).map(|(x, y)| plain(y + (y - x) / gain)).collect())
}

/// How many modes were enough, in a sentence.
fn enough_modes(levels: &[Level], reference: &Run) -> Option<String> {
    let last = levels.last()?;
    let extent = largest(reference).max(1e-300);
    let total = impulse(reference).abs().max(1e-300);
    let good = |l: &Level| l.impulse < 0.05 * total && l.position < 0.05 * extent;
    let from = (0..levels.len()).find(|&k| levels[k..].iter().all(good));
    Some(match from {
        Some(k) => format!(
            "from {} modes on, displacements and impulses are within 5 % of those of the whole structure",
            levels[k].size
        ),
        None => format!(
            "even {} modes are not enough: displacements differ by {} % of the largest, impulses by {} %, {} instead of {}. \
             (Where impacts are many and close, single trajectories part in any case: compare statistics.)",
            last.size,
            number(100.0 * last.position / extent, 2),
            number(100.0 * last.impulse / total, 2),
            count(last.impacts as u64, "impact"),
            reference.trajectory.impacts.len()
        ),
    })
}
