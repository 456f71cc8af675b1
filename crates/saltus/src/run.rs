//! The run loop: one scheme, one problem, one trajectory with its audit.

use crate::advice::advice;
use crate::linalg::max_abs;
use crate::scheme::{self, Method, Node, Scheme, Settings, Stepping};
use crate::trajectory::Trajectory;
use crate::watch::Watch;
use crate::{Problem, Reason, SetupError, Side, Status, StepFailure, Timeline, event};
use std::time::{Duration, Instant};

/// What to run and what to keep of it.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// The scheme.
    pub scheme: &'static Scheme,
    /// The time step h; for schemes that go from event to event, the interval at which instants are stored.
    pub step: f64,
    /// The end time.
    pub end: f64,
    /// Every how many steps an instant is stored; instants of impacts always are.
    pub every: u64,
    /// The settings of the scheme; their step is replaced by the one that fits the end time.
    pub settings: Settings,
    /// Whether to stop where everything has come to rest; only where nothing depends on time.
    pub until_rest: bool,
}

impl RunOptions {
    /// The first scheme of the list, `auto`; with it, and with any that goes from event to event, the step is the interval
    /// at which instants are stored. Everything stored.
    pub fn new(step: f64, end: f64) -> Self {
        RunOptions {
            scheme: &scheme::SCHEMES[0],
            step,
            end,
            every: 1,
            settings: Settings::new(step),
            until_rest: false,
        }
    }

    /// The same with the scheme of a given name.
    ///
    /// ```
    /// use saltus::RunOptions;
    /// assert_eq!(RunOptions::new(1e-3, 2.0).with("mabrouk")?.scheme.level, "velocity");
    /// # Ok::<(), saltus::SetupError>(())
    /// ```
    pub fn with(self, scheme: &str) -> Result<Self, SetupError> {
        Ok(RunOptions { scheme: scheme::find(scheme)?, ..self })
    }
}

/// How far a run has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Steps made.
    pub step: u64,
    /// Steps to make.
    pub steps: u64,
    /// The time reached.
    pub t: f64,
    /// Impacts so far.
    pub impacts: usize,
}

/// What was checked along the way.
#[derive(Clone, Debug, Default)]
pub struct Audit {
    /// The deepest gap below zero at any instant, as a positive number; zero if there is none.
    pub max_violation: f64,
    /// Which constraint that was, and when.
    pub worst: Option<(usize, f64)>,
    /// At how many instants a gap was below zero by more than rounding.
    pub infeasible: u64,
    /// Energy at the start: kinetic plus potential.
    pub energy_start: f64,
    /// Energy at the end of what was computed.
    pub energy_end: f64,
    /// Energy lost at impacts (positive) or gained (negative), summed.
    pub energy_lost_at_impacts: f64,
    /// The largest |v⁺ − law(v⁻)| of all impacts, relative to the speed of the fastest one. (Relative to its own
    /// speed, the last resolved impact before an accumulation is always a few steps of gravity off.)
    pub worst_law_residual: f64,
    /// The total impulse of each constraint: impacts, landings and contacts together.
    pub impulses: Vec<f64>,
    /// Work of moving walls in the lasting contacts of time steps, −Σ P ∂t f: in contact ∇f·v = −∂t f.
    pub contact_work: f64,
    /// Steps in which some constraint acted.
    pub contact_steps: u64,
    /// Landings too slow to count as impacts at this step: they are part of contacts.
    pub landings: u64,
}

/// A finished (or interrupted, or failed) run.
#[derive(Clone, Debug)]
pub struct Run {
    /// The motion.
    pub trajectory: Trajectory,
    /// What held and what did not.
    pub audit: Audit,
    /// How it ended.
    pub status: Status,
    /// Steps made.
    pub steps: u64,
    /// The step used: the one asked for, or slightly less so that the steps fit the end time.
    pub step: f64,
    /// Things the person should know.
    pub warnings: Vec<String>,
    /// What was done where, when that is not plain from the rest.
    pub notes: Vec<String>,
    /// The phases of the motion, from an engine that locates them.
    pub timeline: Timeline,
}

/// Progress is reported, and a stop is possible, about this often, however long a step takes.
const REPORT_EVERY: Duration = Duration::from_millis(20);

/// More memory than this for one trajectory is asked for only by mistake.
const MOST_BYTES: u64 = 8 << 30;

/// Asks for a report every so often, at the cost of a counter.
pub(crate) struct Reporter {
    count: u64,
    next: u64,
    stride: u64,
    last: Instant,
}

impl Reporter {
    pub fn new() -> Self {
        Reporter { count: 0, next: 1, stride: 1, last: Instant::now() }
    }

    /// Counts a step; true if a report is due.
    pub fn is_due(&mut self) -> bool {
        let due = self.count == self.next;
        if due {
            let now = Instant::now();
            self.stride = match now.duration_since(self.last) < REPORT_EVERY {
                true => (2 * self.stride).min(1 << 20),
                false => (self.stride / 2).max(1),
            };
            (self.next, self.last) = (self.count + self.stride, now);
        }
        self.count += 1;
        due
    }
}

/// Sets memory aside for a number of stored instants.
pub(crate) fn make_room(trajectory: &mut Trajectory, samples: u64, every: u64) -> Result<(), SetupError> {
    let bytes = Trajectory::bytes(trajectory.dimension(), samples);
    let room = usize::try_from(samples).is_ok_and(|n| bytes <= MOST_BYTES && trajectory.reserve(n));
    if room {
        return Ok(());
    }
    let gib = bytes as f64 / (1u64 << 30) as f64;
    let enough = (bytes / (1 << 28)).saturating_mul(every).max(2);
    Err(SetupError::new(format!("storing {samples} instants would take {gib:.1} GiB"))
        .help(format!("store fewer, for example with --every {enough}; impacts are always kept")))
}

/// Integrates a problem. `report` is told the progress now and then; when it returns false the run stops there and
/// keeps what it has.
pub fn run(
    problem: &Problem,
    options: &RunOptions,
    report: &mut dyn FnMut(Progress) -> bool,
) -> Result<Run, SetupError> {
    match &options.scheme.method {
        Method::Events { safety_net } => event::run(problem, options, *safety_net, report),
        Method::Steps(stepping) => step(problem, options, stepping, report),
    }
}

/// Integrates a problem with a time-stepping scheme.
pub(crate) fn step(
    problem: &Problem,
    options: &RunOptions,
    stepping: &'static Stepping,
    report: &mut dyn FnMut(Progress) -> bool,
) -> Result<Run, SetupError> {
    let (steps, step, mut warnings) = grid(options.step, options.end)?;
    let d = problem.dimension();
    let mut trajectory = Trajectory::new(d);
    let every = options.every.max(1);
    make_room(&mut trajectory, steps / every + 2, every)?;
    let settings = Settings { step, ..options.settings };
    let mut stepper = (stepping.start)(problem, &settings)?;
    let mut watch = Watch::new(problem, stepping, step);
    let mut gaps = problem.gaps();
    let model = problem.model();
    let moving = model.constraints.iter().any(|c| model.graph.depends_on(c.gap, model.t));
    let mut node = Node::new(d, problem.constraints());
    let mut audit = Audit { impulses: vec![0.0; problem.constraints()], ..Audit::default() };
    let mut status = Status::Finished;
    let mut done = 0;
    // The last complete instant; the two buffers change places after every step.
    let mut last = Node::new(d, problem.constraints());
    let timed = depends_on_time(model);
    let (mut fastest, mut quiet) = (0.0_f64, 0_u32);
    let mut reporter = Reporter::new();
    for n in 0..=steps {
        let progress = Progress { step: n, steps, t: last.t, impacts: trajectory.impacts.len() };
        if reporter.is_due() && !report(progress) {
            status = Status::Interrupted { t: last.t };
            break;
        }
        let mut outcome = stepper.advance(&mut node);
        let mut outside = false;
        if outcome.is_ok() {
            gaps.evaluate(node.t, &node.q);
            for (a, &f) in gaps.values.iter().enumerate() {
                if f < -audit.max_violation {
                    audit.max_violation = -f;
                    audit.worst = Some((a, node.t));
                }
                outside |= f < -1e-12 && f < -1e-12 * max_abs(&node.q);
                if !f.is_finite() {
                    outcome = Err(Reason::Gap { constraint: problem.model().constraints[a].name.clone() });
                }
            }
        }
        if let Err(reason) = outcome {
            let model = problem.model();
            let (t, q, v) = match n {
                0 => (0.0, model.q0.clone(), model.v0.clone()),
                _ => (last.t, last.q.clone(), last.v_right.clone()),
            };
            if trajectory.t.last().is_none_or(|&stored| stored < t) {
                trajectory.push(t, &q, &v);
            }
            if let (true, true, Some(q)) = (n == steps, n > 0, stepper.pending()) {
                // Only the velocity of the last instant needed a step beyond it.
                trajectory.push(n as f64 * step, q, &v);
                warnings.push(format!("the last velocity is that of the step before the end: {reason}"));
                done = n;
                break;
            }
            status = Status::Failed(StepFailure { t, q, v, reason });
            break;
        }
        done = n;
        audit.infeasible += u64::from(outside);
        audit.contact_steps += u64::from(node.contact);
        if node.contact {
            audit.impulses.iter_mut().zip(&node.impulses).for_each(|(sum, p)| *sum += p);
        }
        let jumps = watch.note(&node, &mut trajectory.impacts, &mut trajectory.contacts);
        if node.contact && !jumps {
            // A lasting contact: its reaction is a density, and the velocity has no jump worth the name. It is the mean of
            // the steps that meet here, or the node's own where a scheme has its velocities at the nodes.
            if moving {
                gaps.kinematics(node.t, &node.q);
                audit.contact_work -= node.impulses.iter().zip(&gaps.walls).map(|(p, wall)| p * wall).sum::<f64>();
            }
            let share = if stepping.staggered { 0.5 } else { 1.0 };
            for (left, right) in node.v_left.iter_mut().zip(&node.v_right) {
                *left += share * (right - *left);
            }
        }
        if jumps {
            trajectory.push_jump(node.t, &node.q, &node.v_left, &node.v_right);
        } else if n % every == 0 || n == steps {
            trajectory.push(node.t, &node.q, &node.v_left);
        }
        if options.until_rest && !timed {
            // At rest: no speed worth the name for a while.
            let speed = max_abs(&node.v_right);
            fastest = fastest.max(speed);
            quiet = if speed <= 1e-6 * fastest { quiet + 1 } else { 0 };
            if quiet > 200 && n < steps {
                std::mem::swap(&mut node, &mut last);
                break;
            }
        }
        std::mem::swap(&mut node, &mut last);
    }
    if !watch.finish(&last, &mut trajectory.impacts, &mut trajectory.contacts) {
        warnings.push(format!("the run ends at t = {} in the middle of an impact, which is not listed", last.t));
    }
    if trajectory.t.last().is_some_and(|&t| t < last.t) {
        trajectory.push(last.t, &last.q, &last.v_left);
    }
    audit.landings = watch.landings;
    let mut run = Run {
        trajectory,
        audit,
        status,
        steps: done,
        step,
        warnings,
        notes: Vec::new(),
        timeline: Timeline::default(),
    };
    close(problem, options, &mut run);
    Ok(run)
}

/// Whether forces or gaps of a model depend on time: rest is then never final.
pub(crate) fn depends_on_time(model: &crate::Model) -> bool {
    let timed = |node| model.graph.depends_on(node, model.t);
    model.force.iter().any(|&g| timed(g)) || model.constraints.iter().any(|c| timed(c.gap))
}

/// Completes the audit of a run and adds what the person should know.
pub(crate) fn close(problem: &Problem, options: &RunOptions, run: &mut Run) {
    close_audit(problem, &run.trajectory, &mut run.audit);
    let advice = advice(problem, options, run);
    run.warnings.extend(advice);
}

fn close_audit(problem: &Problem, trajectory: &Trajectory, audit: &mut Audit) {
    let fastest = trajectory.impacts.iter().map(|i| i.speed).fold(f64::MIN_POSITIVE, f64::max);
    for impact in trajectory.impacts.iter() {
        audit.energy_lost_at_impacts -= impact.energy_change;
        let residual = impact.law_residual * impact.speed / fastest;
        // A residual that is not a number is the worst there is.
        if !(residual <= audit.worst_law_residual) {
            audit.worst_law_residual = residual;
        }
    }
    let mut energy = problem.energy();
    let mut total = |k: usize| {
        let (kinetic, potential) = energy.both(trajectory.t[k], trajectory.q(k), trajectory.v(k, Side::Left));
        kinetic + potential
    };
    if !trajectory.is_empty() {
        audit.energy_start = total(0);
        audit.energy_end = total(trajectory.len() - 1);
    }
}

/// The number of steps and the step that divides the end time; a step that does not is made slightly smaller.
pub(crate) fn grid(step: f64, end: f64) -> Result<(u64, f64, Vec<String>), SetupError> {
    if !(step > 0.0 && step.is_finite()) {
        return Err(SetupError::new(format!("the step must be a positive number, not {step}")));
    }
    if !(end > 0.0 && end.is_finite()) {
        return Err(SetupError::new(format!("the end time must be a positive number, not {end}")));
    }
    if !(1.0 / step / step).is_finite() {
        return Err(SetupError::new(format!("the step {step:e} is too small to compute with")));
    }
    let ratio = end / step;
    if ratio > 1e15 {
        return Err(SetupError::new(format!("{ratio:e} steps are too many: time itself would be lost in rounding"))
            .help("take a larger step or an earlier end"));
    }
    let whole = ratio.round();
    if whole >= 1.0 && (ratio - whole).abs() <= 1e-9 * whole {
        return Ok((whole as u64, step, Vec::new()));
    }
    let steps = ratio.ceil().max(1.0);
    let fitted = end / steps;
    let warning = format!("the step {step} does not divide the end time {end}: {steps} steps of {fitted} are used");
    Ok((steps as u64, fitted, vec![warning]))
}
