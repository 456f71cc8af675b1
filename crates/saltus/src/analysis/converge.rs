//! How the error falls with the step, or with the number of modes.

mod verdict;

use super::compare::thinned;
use super::{Execute, Fit, Job, Timed, distance, pairing, trouble};
use crate::motion::PhaseKind;
use crate::problem::{Exact, Start};
use crate::run::{Options, Run, System};
use crate::scheme::{self, Scheme, StructureSteps};
use crate::structure::Reduction;
use crate::text::number;
use crate::{SetupError, Status};
use verdict::{Floors, enough_modes, richardson, settled, warnings};

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
    /// The largest error of a first-order state, relative to the largest value it takes.
    pub state: f64,
    /// The largest error of the first impact times, impacts being paired by time and constraints.
    pub times: Option<f64>,
    /// Impacts of the run or of the reference without a partner in the other; accumulations do not count.
    pub unmatched: usize,
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
    /// Of first-order states.
    pub state: Option<Fit>,
    /// Of impact times.
    pub times: Option<Fit>,
    /// Of the total impulse.
    pub impulse: Option<Fit>,
    /// Which of the four, in this order, are equal to the reference up to rounding: they have no order.
    pub equal: [bool; 4],
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
    /// Whether it was interrupted: the levels are those that were finished.
    pub interrupted: bool,
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
    /// The study was interrupted before there was anything to compare.
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

/// Runs that must all reach the end, each with the number of its job; and whether they were interrupted: then some are left out.
fn finished(execute: Execute, jobs: &[Job]) -> Result<(Vec<(usize, Run)>, bool), NoConvergence> {
    let outcomes = execute(jobs);
    let is_cut = |run: &Run| matches!(run.status, Status::Interrupted { .. });
    let interrupted = outcomes.iter().flatten().any(|timed| is_cut(&timed.run));
    let mut runs = Vec::new();
    for (k, outcome) in outcomes.into_iter().enumerate() {
        // (After an interruption the others are not begun.)
        let run = match outcome {
            Err(_) if interrupted => continue,
            outcome => outcome?.run,
        };
        match &run.status {
            // Coarse steps may have breaches: what becomes of them is the question.
            Status::Finished | Status::Breached { .. } => runs.push((k, run)),
            Status::Interrupted { .. } => {}
            Status::Failed(failure) => {
                let message = format!("{}, h = {}: {failure}", run.scheme.name, run.step);
                return Err(SetupError::new(message).into());
            }
        }
    }
    match interrupted && runs.is_empty() {
        true => Err(NoConvergence::Interrupted),
        false => Ok((runs, interrupted)),
    }
}

/// What is said of a study that was interrupted.
const INTERRUPTED: &str = "interrupted: these are the runs that were finished";

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
    let (by_events, mut doubts) = match scheme.follows_law {
        true => events(system, start, &base, finest, execute)?,
        false => (None, Vec::new()),
    };
    if by_events.is_none() {
        jobs.push(job(base.clone().step(finest)));
    }
    let (runs, interrupted) = finished(execute, &jobs)?;
    let mut runs: Vec<Run> = runs.into_iter().map(|(_, run)| run).collect();
    if interrupted {
        doubts.push(INTERRUPTED.into());
    }
    let (reference_run, reference) = match by_events {
        Some(run) => (run, Reference::Events),
        None => {
            // (After an interruption: the finest of those that were finished.)
            let run = runs.pop().ok_or_else(|| SetupError::new("no run was made"))?;
            if runs.is_empty() {
                return Err(NoConvergence::Interrupted);
            }
            let step = run.step;
            (run, Reference::Step(step))
        }
    };
    if let Some(why) = trouble(&reference_run) {
        doubts.push(format!("the run that the others are compared with is doubtful itself: {why}"));
    }
    let mut exact = system.as_problem().and_then(|p| p.exact());
    let coarsest = runs.iter().map(|run| run.step).fold(0.0, f64::max);
    let levels: Vec<Level> =
        runs.iter().map(|run| level(run.step, coarsest, run, &reference_run, exact.as_mut())).collect();
    if let Some(bad) = levels.iter().find(|l| !l.position.is_finite()) {
        return Err(SetupError::new(format!(
            "the exact motion of the model is not a number everywhere (h = {})",
            bad.size
        ))
        .help("look at [exact]: a root or logarithm leaves its domain within the run")
        .into());
    }
    let floors = Floors::new(&runs, &reference_run);
    let orders = Orders::new(&levels, &floors);
    let extent = largest(&reference_run);
    Ok(Convergence {
        warnings: warnings(&levels, &orders, extent, scheme.order).into_iter().chain(doubts).collect(),
        extrapolated: richardson(&runs, &orders, how.ratio),
        has_exact: exact.is_some(),
        over: Over::Step,
        verdict: None,
        scheme,
        reference,
        reference_run,
        levels,
        orders,
        interrupted,
    })
}

/// The run by events, if it reaches the end without a stretch of time stepping and its ledger has no complaint; else why
/// it is not used.
fn events(
    system: &dyn System,
    start: &Start,
    base: &Options,
    step: f64,
    execute: Execute,
) -> Result<(Option<Run>, Vec<String>), SetupError> {
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
            return Ok((None, Vec::new()));
        }
    } else {
        let tolerance = options.settings.number(&scheme::TOLERANCE).unwrap_or(1e-10).min(1e-12);
        options.settings.set("tolerance", tolerance);
    }
    let outcome = execute(&[Job { start: start.clone(), options }]).pop();
    let unused = |why: String| (None, vec![format!("the run by events is not used as the reference: {why}")]);
    Ok(match outcome {
        Some(Ok(Timed { run, .. })) if run.status == Status::Finished => match trouble(&run) {
            Some(why) => unused(why),
            None if run.timeline.of(PhaseKind::Stepped).next().is_some() => (None, Vec::new()),
            None => (Some(run), Vec::new()),
        },
        Some(Ok(Timed { run, .. })) => match &run.status {
            Status::Failed(failure) => unused(failure.to_string()),
            _ => (None, Vec::new()),
        },
        _ => (None, Vec::new()),
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
    // All modes are the reference: without them nothing can be said.
    let (mut whole, mut interrupted) = finished(execute, &[job(None)])?;
    let Some((_, reference_run)) = whole.pop() else { return Err(NoConvergence::Interrupted) };
    let of = |size: usize, run: &Run| level(size as f64, run.step, run, &reference_run, None);
    let (mut levels, mut runs, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    // Few modes may not be able to do what all can (a preload that they cannot give way to): they are left out, with the reason.
    let mut take = |sizes: &[usize], levels: &mut Vec<Level>| {
        let jobs: Vec<Job> = sizes.iter().map(|&modes| job(Some(Reduction { modes, residual }))).collect();
        let outcomes = execute(&jobs);
        let cut = outcomes.iter().flatten().any(|timed| matches!(timed.run.status, Status::Interrupted { .. }));
        for (&size, outcome) in sizes.iter().zip(outcomes) {
            let why = match outcome {
                Ok(Timed { run, .. }) => match &run.status {
                    Status::Finished | Status::Breached { .. } => {
                        levels.push(of(size, &run));
                        runs.push(run);
                        continue;
                    }
                    Status::Interrupted { .. } => continue,
                    Status::Failed(failure) => failure.to_string(),
                },
                Err(_) if cut => continue,
                Err(error) => error.message,
            };
            let modes = crate::text::count(size as u64, "mode");
            notes.push(format!("{modes} cannot follow this structure and are left out: {why}"));
        }
        cut
    };
    interrupted |= take(&sizes, &mut levels);
    // On to more modes until two numbers of them agree with the whole, or there are no more to take.
    let most = structure.most_modes();
    let mut size = sizes.last().copied().unwrap_or(first);
    while !interrupted && !settled(&levels, &reference_run) {
        size = (((size as f64) * how.ratio).round() as usize).max(size + 1);
        if size >= all || size > most {
            break;
        }
        interrupted = take(&[size], &mut levels);
    }
    if levels.is_empty() && !interrupted {
        let message = format!("no number of modes below all {all} can be run: {}", notes.first().map_or("", |n| n));
        return Err(SetupError::new(message).help("work with the degrees of freedom").into());
    }
    notes.extend(interrupted.then(|| INTERRUPTED.to_string()));
    Ok(Convergence {
        verdict: if interrupted { None } else { enough_modes(&levels, &reference_run) },
        orders: Orders::new(&levels, &Floors::new(&runs, &reference_run)),
        scheme: base.scheme,
        over: Over::Modes,
        reference: Reference::AllModes(all),
        has_exact: false,
        extrapolated: None,
        warnings: notes,
        interrupted,
        reference_run,
        levels,
    })
}

fn impulse(run: &Run) -> f64 {
    run.audit.impulses.iter().sum()
}

fn largest(run: &Run) -> f64 {
    run.trajectory.reach()
}

fn level(size: f64, coarsest: f64, run: &Run, reference: &Run, exact: Option<&mut Exact>) -> Level {
    let apart = distance(&run.trajectory, &reference.trajectory);
    let position = match exact {
        Some(exact) => against(run, exact),
        None => apart.position,
    };
    let (a, b) = (&run.trajectory.impacts, &reference.trajectory.impacts);
    // A run cannot tell impacts apart that are only some steps apart; times are of the same impacts at every level.
    let apart_by = |step: f64| 16.0 * step.max(if reference.by_events() { 0.0 } else { reference.step });
    let paired = pairing(a, b, apart_by(run.step));
    let times = pairing(a, b, apart_by(coarsest)).times;
    Level {
        size,
        position,
        velocity: apart.velocity,
        state: apart.state,
        times,
        unmatched: paired.missing + paired.extra,
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
