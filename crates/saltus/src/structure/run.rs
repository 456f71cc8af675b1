//! The run loop of structures: a scheme's steps, what is recorded of them, the books.

use super::record::Recorder;
use super::shocks::Shocks;
use super::{Linear, Reduction, Signals, Structure, events};
use crate::linalg::Rows;
use crate::run::{Progress, Reporter, grid, make_room};
use crate::scheme::{Forcing, SCHEMES, Settings, Structures};
use crate::{Ledger, Reason, Run, RunOptions, SetupError, Side, Status, StepFailure};

/// What a run of a structure needs besides the options of any run.
#[derive(Clone, Debug, Default)]
pub struct StructureOptions {
    /// Modes instead of degrees of freedom.
    pub reduction: Option<Reduction>,
    /// Contacts of one stop nearer to each other than this are one shock of several rebounds; zero: a hundredth of the period
    /// of the first mode, at least four steps.
    pub rest: f64,
    /// Degrees of freedom to keep at every stored instant besides the points (for drawing): rows and their instants.
    pub outline: bool,
}

/// A run of a structure.
#[derive(Clone, Debug)]
pub struct StructureRun {
    /// The motion of the points, impacts, contacts; coordinates are the points.
    pub run: Run,
    /// What held and what did not.
    pub ledger: Ledger,
    /// The table of shocks and its statistics.
    pub shocks: Shocks,
    /// Displacements of the outline at some instants, for drawing.
    pub shapes: Vec<(f64, Vec<f64>)>,
}

/// Work and losses since the start, up to just before a node.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    /// Of the loads.
    pub work: f64,
    /// By damping.
    pub dissipated: f64,
    /// At the stops.
    pub lost: f64,
}

impl Tally {
    pub fn add(&mut self, other: &Tally) {
        self.work += other.work;
        self.dissipated += other.dissipated;
        self.lost += other.lost;
    }

    pub fn since(&self, other: &Tally) -> Tally {
        Tally {
            work: self.work - other.work,
            dissipated: self.dissipated - other.dissipated,
            lost: self.lost - other.lost,
        }
    }
}

/// A structure on its way. A step allocates nothing.
pub(crate) trait Stepper {
    /// Completes the next node t_0, t_1, …
    fn advance(&mut self) -> Result<(), Reason>;
    /// Its time.
    fn t(&self) -> f64;
    /// The displacements there.
    fn position(&self) -> &[f64];
    /// A limit of the velocity there, by a row.
    fn velocity(&self, side: Side, rows: &Rows, r: usize) -> f64;
    /// The impulses of the stops there.
    fn impulses(&self) -> &[f64];
    /// Over how many nodes an impact spreads.
    fn spread(&self) -> u64 {
        2
    }
    /// Kinetic and elastic energy just before the node.
    fn energy(&mut self) -> (f64, f64);
    /// Work and losses up to just before the node.
    fn tally(&self) -> Tally;
}

/// Loads at three successive nodes, with their mean ¼, ½, ¼, and offsets of stops; constant ones are looked at once.
#[derive(Clone, Debug)]
pub(super) struct Averages {
    h: f64,
    loads: [Vec<f64>; 3],
    mean: Vec<f64>,
    moving: bool,
    fixed: Vec<f64>,
    at: f64,
}

impl Averages {
    pub fn new(signals: &Signals, h: f64) -> Self {
        let mut signals = signals.clone();
        let mut look = |t: f64| {
            signals.look(t);
            (signals.offsets.clone(), signals.rates.clone(), signals.loads.clone())
        };
        let (fixed, _, start) = look(0.0);
        let (_, _, next) = look(h);
        Averages {
            h,
            mean: start.clone(),
            loads: [next, start.clone(), start],
            moving: !signals.is_still(),
            fixed,
            at: f64::NAN,
        }
    }

    /// Makes node n the middle one.
    pub fn advance(&mut self, signals: &mut Signals, n: u64) -> Result<(), Reason> {
        // The first node has its three loads already: nothing pulled before the start, but a load that is there at t = 0
        // counts as one that was.
        if n > 0 {
            self.loads.rotate_right(1);
            signals.look((n + 1) as f64 * self.h);
            self.loads[0].copy_from_slice(&signals.loads);
        }
        for (l, mean) in self.mean.iter_mut().enumerate() {
            *mean = 0.25 * (self.loads[0][l] + 2.0 * self.loads[1][l] + self.loads[2][l]);
        }
        finite(&self.mean).and(finite(&self.loads[0]))
    }

    /// ¼ p^{n+1} + ½ p^n + ¼ p^{n−1}.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// p^{n+1}.
    pub fn next(&self) -> &[f64] {
        &self.loads[0]
    }

    /// p^n.
    pub fn now(&self) -> &[f64] {
        &self.loads[1]
    }

    /// The offset of stop a at a time.
    pub fn offset(&mut self, signals: &mut Signals, a: usize, t: f64) -> f64 {
        if !self.moving {
            return self.fixed[a];
        }
        if self.at != t {
            signals.look(t);
            self.at = t;
        }
        signals.offsets[a]
    }
}

/// Runs a structure. `report` is told the progress now and then; when it returns false the run stops there and keeps what it
/// has.
pub fn run(
    structure: &Structure,
    options: &RunOptions,
    more: &StructureOptions,
    report: &mut dyn FnMut(Progress) -> bool,
) -> Result<StructureRun, SetupError> {
    let full = structure.linear.dimension();
    let forcing = options.settings.forcing;
    let by_events = matches!(options.scheme.structures, Structures::Events);
    let exactly = forcing == Forcing::Exact;
    if forcing == Forcing::Averaged {
        return Err(SetupError::new("structures are forced by newmark or exact, not averaged"));
    }
    // Modal damping, exact flight and events live in modal coordinates.
    let needs_modes = by_events || exactly || matches!(structure.damping, super::ModalDamping::Ratios(_));
    let reduction = more.reduction.or(needs_modes.then_some(Reduction { modes: usize::MAX, residual: false }));
    let reduced = match reduction {
        None => None,
        Some(Reduction { modes: usize::MAX, residual }) => {
            let all = full - structure.linear.massless().len();
            if all > MOST_MODES {
                let why = match (by_events, exactly) {
                    (true, _) => "events are followed in modal coordinates",
                    (_, true) => "exact flight is that of the modes",
                    _ => "modal damping is that of the modes",
                };
                return Err(SetupError::new(format!("{why}, and {all} modes are too many"))
                    .help("say how many to keep with --modes, and see with `saltus converge MODEL --over modes` whether they are enough"));
            }
            Some(structure.modal(Reduction { modes: all, residual })?)
        }
        Some(reduction) => Some(structure.modal(reduction)?),
    };
    let condensed = match &reduced {
        None if !structure.linear.massless().is_empty() => Some(structure.condensed()?),
        _ => None,
    };
    let linear = reduced.as_ref().or(condensed.as_ref()).unwrap_or(&structure.linear);
    if by_events {
        if linear.dimension() > MOST_MODES_BY_EVENTS {
            return Err(SetupError::new(format!("{} modes are too many to follow by events", linear.dimension()))
                .help(format!(
                    "take at most {MOST_MODES_BY_EVENTS} with --modes, or paoli-schatzman with --forcing exact"
                )));
        }
        return events::run(structure, linear, options, more, report);
    }
    let (steps, h, warnings) = grid(options.step, options.end)?;
    let settings = Settings { step: h, ..options.settings };
    let Structures::Steps(start) = options.scheme.structures else {
        let able = SCHEMES.iter().filter(|s| !matches!(s.structures, Structures::No)).map(|s| s.name);
        return Err(SetupError::new(format!("structures are not run with {}", options.scheme.name))
            .help(format!("they have {}", able.collect::<Vec<_>>().join(", "))));
    };
    let mut stepper = start(structure, linear, &settings)?;
    let mut recorder = Recorder::new(structure, linear, options, more, h)?;
    make_room(&mut recorder.trajectory, steps / options.every.max(1) + 2, options.every.max(1))?;
    let mut reporter = Reporter::new();
    let mut status = Status::Finished;
    let mut done = 0;
    for n in 0..=steps {
        let progress = Progress { step: n, steps, t: stepper.t(), impacts: recorder.trajectory.impacts.len() };
        if reporter.is_due() && !report(progress) {
            status = Status::Interrupted { t: stepper.t() };
            break;
        }
        if let Err(reason) = stepper.advance() {
            let (q, v) = recorder.last();
            status = Status::Failed(StepFailure { t: recorder.time(), q, v, reason });
            break;
        }
        if let Err(reason) = recorder.note(stepper.as_mut(), n, n == steps) {
            let (q, v) = recorder.last();
            status = Status::Failed(StepFailure { t: recorder.time(), q, v, reason });
            break;
        }
        done = n;
    }
    recorder.finish(stepper.as_mut());
    Ok(recorder.into_run(structure, linear, options, more, Ended { status, steps: done, h, warnings }))
}

/// Loads must be numbers.
pub(super) fn finite(loads: &[f64]) -> Result<(), Reason> {
    match loads.iter().position(|x| !(x.abs() < 1e150)) {
        Some(l) => Err(Reason::Load { load: l + 1 }),
        None => Ok(()),
    }
}

/// Prepares the steps of a scheme.
pub(crate) type Prepare = for<'a> fn(&'a Structure, &'a Linear, &Settings) -> Result<Box<dyn Stepper + 'a>, SetupError>;

/// How a run ended.
pub(super) struct Ended {
    pub status: Status,
    pub steps: u64,
    pub h: f64,
    pub warnings: Vec<String>,
}

/// All modes of a structure larger than this are not computed without being asked for.
const MOST_MODES: usize = 400;

/// The highest mode of more than these would make the steps of flight too short to be of use.
const MOST_MODES_BY_EVENTS: usize = 160;
