//! The exact engine: flight of high order, located impacts, contact phases, accumulation points ([V] §2, [B]).
//!
//! The motion is a chain of Taylor polynomials ([`flow`]) in one mode after another. A mode is a *working set*: constraints
//! held closed, with reactions. It lasts until the first of
//!
//! - a gap turning negative: an impact, by the law of any number of contacts ([`impact`]);
//! - a reaction turning negative: a release;
//! - a switch of a force or gap with corners or jumps.
//!
//! All of these are the first place where a polynomial turns negative ([`locate`], [`polynomial`]): none that the
//! polynomials have is missed between the ends of a step, and [`trust`] checks that they are the motion. After an event the
//! next working set follows from the complementarity problem of the accelerations ([`contact`]). Impacts that accumulate
//! are recognised, their limit extrapolated and passed ([`accumulation`]).
//!
//! Tolerances, all relative to `tol`: the last terms of a series are below tol/10 of the largest speed (gap) so far; gaps
//! below tol of their largest value count as closed, so impacts that near to each other are one; bounces lower than that are
//! the tail of an accumulation.

mod accumulation;
mod contact;
mod flow;
mod impact;
mod locate;
mod polynomial;
mod record;
mod stretch;
mod trust;

pub(crate) use polynomial::{value, value_and_slope};

use crate::linalg::{Metric, Rows};
use crate::problem::{Dynamics, Gaps};
use crate::project::Polyhedron;
use crate::run::{self, Progress, Reporter, Run, RunOptions};
use crate::{Phase, PhaseKind, Problem, Reason, SetupError, Status, StepFailure};
use flow::{Flow, Scales};
use locate::Event;
use polynomial::{MOST, Roots};
use record::Record;

/// What a constraint does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Touch {
    /// Its gap is open.
    Open,
    /// Its gap is closed, and it exerts nothing: it is about to open, or redundant.
    Closed,
    /// It is held closed by a reaction.
    Working,
}

/// Events that follow each other without time going on are a stall beyond this many (and some for each constraint).
const PATIENCE: usize = 40;

/// Every so many steps it is looked how many more there would be; more than this many are too many.
const STIFF_WINDOW: usize = 20_000;
const STIFF: f64 = 5e6;

/// A gap velocity below this part of the largest is zero.
const STILL: f64 = 1e-12;

/// No step is longer than this part of the run. Together with the check of every step at points inside it, 128 of them where
/// nothing seems to happen, a feature that no derivative announces is seen if it is wider than 1/6400 of the run.
const LONGEST: f64 = 1.0 / 50.0;

struct Engine<'p> {
    problem: &'p Problem,
    tol: f64,
    end: f64,
    /// The interval at which instants are stored.
    interval: f64,
    safety_net: bool,
    /// Stretches crossed by time stepping.
    stretches: usize,
    flow: Flow<'p>,
    roots: Roots,
    kernel: Polyhedron,
    dynamics: Dynamics,
    checked: Gaps,
    probe: Metric,
    t: f64,
    q: Vec<f64>,
    v: Vec<f64>,
    touch: Vec<Touch>,
    working: Vec<usize>,
    /// Switches are to be set by their values: at the start, and after the velocity has jumped.
    fresh: bool,
    /// How long the next rough step may be, and whether the next step must be one.
    rough: f64,
    must_be_rough: bool,
    /// The longest the present step may be, and the length of the last one after one that did not hold.
    cap: f64,
    trusted: f64,
    /// Forces are constant and gaps affine: the series are the motion, to the last digit.
    is_polynomial: bool,
    /// Steps and their lengths since stiffness was last looked for.
    window: (usize, f64),
    /// Whether nothing moved in the last step.
    at_rest: bool,
    /// Events since time last went on.
    idle: usize,
    switched: usize,
    /// The largest values so far.
    scales: Scales,
    /// The largest gap velocities so far.
    rate_scale: Vec<f64>,
    /// What rounding makes of a gap within the present step.
    noise: Vec<f64>,
    /// What rounding makes of the reactions in the present mode.
    reaction_noise: Vec<f64>,
    /// Gaps that stay open in the present step, whatever their series say.
    far: Vec<bool>,
    /// What has happened to constraints since time last went on: let go, did not open though free to, or follow from the
    /// working set.
    released: Vec<bool>,
    pressed: Vec<bool>,
    implied: Vec<bool>,
    record: Record<'p>,
    buffers: Buffers,
}

/// Room for what is computed again and again.
struct Buffers {
    rows: Rows,
    members: Vec<usize>,
    /// The working set before the present choice.
    held: Vec<usize>,
    offsets: Vec<f64>,
    x: Vec<f64>,
    y: Vec<f64>,
    z: Vec<f64>,
    c: Vec<f64>,
    /// For each gap: its last sample, the least of them and the largest change.
    samples: Vec<(f64, f64, f64)>,
}

/// Integrates a problem by events; see [`crate::run`].
pub(crate) fn run(
    problem: &Problem,
    options: &RunOptions,
    safety_net: bool,
    report: &mut dyn FnMut(Progress) -> bool,
) -> Result<Run, SetupError> {
    check_tolerance(options.settings.tolerance)?;
    run::grid(options.step, options.end)?;
    let mut engine = Engine::new(problem, options, safety_net)?;
    let rest_is_final = options.until_rest && !run::depends_on_time(problem.model());
    let mut reporter = Reporter::new();
    let status = loop {
        if engine.end - engine.t <= engine.shortest() {
            engine.t = engine.end;
            break Status::Finished;
        }
        if reporter.is_due() && !report(engine.progress()) {
            break Status::Interrupted { t: engine.t };
        }
        let mut outcome = engine.advance();
        if let Err(reason) = &outcome
            && engine.can_cross(reason)
        {
            outcome = engine.cross(reason.clone(), report);
        }
        if rest_is_final && outcome.is_ok() && engine.at_rest {
            break Status::Finished;
        }
        if let Err(reason) = outcome {
            break Status::Failed(StepFailure { t: engine.t, q: engine.q.clone(), v: engine.v.clone(), reason });
        }
    };
    Ok(engine.finish(options, status))
}

/// A tolerance that can be met and means something.
fn check_tolerance(tol: f64) -> Result<(), SetupError> {
    if tol.is_finite() && (1e-14..=1e-2).contains(&tol) {
        return Ok(());
    }
    let why = match tol {
        tol if !(tol > 0.0) => "it must be positive",
        tol if tol < 1e-14 => "double precision has about 16 digits; below 1e-14 rounding decides",
        _ => "above 1e-2 the events of a motion are lost in the error",
    };
    Err(SetupError::new(format!("the tolerance {tol:e} cannot be used: {why}"))
        .help("take a number between 1e-14 and 1e-2, such as --tol 1e-10"))
}

impl<'p> Engine<'p> {
    fn new(problem: &'p Problem, options: &RunOptions, safety_net: bool) -> Result<Self, SetupError> {
        let tol = options.settings.tolerance;
        let (d, m) = (problem.dimension(), problem.constraints());
        let model = problem.model();
        // The order at which a step of a convergent series costs least a digit (Jorba & Zou 2005), and some more: a step has
        // costs of its own, and where hardly anything is multiplied (linear systems) further orders cost little.
        let simple = 1.0 - problem.motion()?.light.convolved();
        let order = (-0.5 * (0.1 * tol).ln() + 8.0 + 8.0 * simple * simple).ceil() as usize;
        let flow = Flow::new(problem, order.clamp(8, MOST - 2))?;
        let order = flow.order;
        let mut engine = Engine {
            problem,
            tol,
            end: options.end,
            interval: options.step,
            safety_net,
            stretches: 0,
            roots: Roots::new(order + 2),
            kernel: Polyhedron::new(d, m),
            dynamics: problem.dynamics(),
            checked: problem.gaps(),
            probe: problem.dynamics().metric(),
            t: 0.0,
            q: model.q0.clone(),
            v: model.v0.clone(),
            touch: vec![Touch::Open; m],
            working: Vec::with_capacity(m),
            fresh: true,
            rough: 0.0,
            must_be_rough: false,
            cap: 0.0,
            trusted: f64::INFINITY,
            is_polynomial: {
                let timed = run::depends_on_time(model);
                problem.dynamics().code.fixed && problem.gaps().code.affine && !timed
            },
            window: (0, 0.0),
            at_rest: false,
            idle: 0,
            switched: 0,
            scales: Scales {
                v: model.v0.iter().map(|v| v.abs()).collect(),
                gap: vec![0.0; m],
                reaction: vec![0.0; m],
                switch: vec![0.0; flow.switches()],
            },
            rate_scale: vec![0.0; m],
            noise: vec![0.0; m],
            reaction_noise: vec![0.0; m],
            far: vec![false; m],
            released: vec![false; m],
            pressed: vec![false; m],
            implied: vec![false; m],
            record: Record::new(problem, options)?,
            buffers: Buffers {
                rows: Rows::with_capacity(m, flow.gradients.values.len()),
                members: Vec::with_capacity(m),
                held: Vec::with_capacity(m),
                offsets: Vec::with_capacity(m),
                x: vec![0.0; d],
                y: vec![0.0; d],
                z: vec![0.0; d],
                c: vec![0.0; order + 2],
                samples: vec![(0.0, 0.0, 0.0); m],
            },
            flow,
        };
        engine.begin().map_err(|reason| SetupError::new(reason.to_string()))?;
        Ok(engine)
    }

    /// Which constraints are closed at the start, and the first mode.
    fn begin(&mut self) -> Result<(), Reason> {
        self.look(true)?;
        self.measure_noise(0.0);
        self.record.instant(self.t, &self.q, &self.v);
        for a in 0..self.touch.len() {
            self.scales.gap[a] = self.flow.gaps[a].abs();
            if self.flow.gaps[a] <= 4.0 * self.noise[a] {
                self.touch[a] = Touch::Closed;
            }
        }
        self.choose()
    }

    /// Evaluates everything at the present state.
    fn look(&mut self, fresh: bool) -> Result<(), Reason> {
        self.flow.look(self.t, &self.q, &self.v, fresh)?;
        for a in 0..self.touch.len() {
            let rate = self.flow.walls[a].abs() + self.flow.gradients.dot_abs(a, &self.v);
            self.rate_scale[a] = self.rate_scale[a].max(rate);
        }
        Ok(())
    }

    /// Time does not go on in steps shorter than this.
    fn shortest(&self) -> f64 {
        4.0 * f64::EPSILON * self.t.max(1e-3 * self.end)
    }

    /// A gap velocity below this is zero.
    fn still(&self, a: usize) -> f64 {
        STILL * self.rate_scale[a]
    }

    /// How far the run has come, time on a scale of a million.
    fn progress(&self) -> Progress {
        let step = (1e6 * self.t / self.end) as u64;
        Progress { step, steps: 1_000_000, t: self.t, impacts: self.record.trajectory.impacts.len() }
    }

    fn constraint(&self, a: usize) -> String {
        self.problem.model().constraints[a].name.clone()
    }

    /// One step: an expansion, up to the first event in it.
    fn advance(&mut self) -> Result<(), Reason> {
        self.flow.expand(self.t, &self.q, &self.v, &self.working, self.fresh)?;
        self.fresh = false;
        let left = self.end - self.t;
        // After a step that did not hold, caution: no more than twice as long as the one that did.
        let cap = left.min(LONGEST * self.end).min(2.0 * self.trusted);
        self.cap = cap;
        let shortest = self.shortest();
        let mut h = self.length(cap)?;
        // The last step ends at the end.
        if h > left * (1.0 - 1e-12) {
            h = left;
        }
        let (s, event) = loop {
            if !(h > shortest) {
                return Err(self.flow.singular());
            }
            self.measure_noise(h);
            let (s, event) = self.first_event(h);
            if s <= shortest || self.flow.is_rough || self.holds(s) {
                break (s, event);
            }
            h = 0.5 * s;
            self.trusted = h;
        };
        if self.trusted.is_finite() && s > shortest {
            self.trusted = if s >= LONGEST * self.end { f64::INFINITY } else { self.trusted.max(s) };
        }
        if s > 0.0 {
            self.accept(s, s == left)?;
        }
        self.look_for_stiffness(s)?;
        // Only what makes no progress at all is idle.
        if s > shortest {
            self.idle = 0;
            self.released.fill(false);
            self.pressed.fill(false);
        } else {
            self.idle += 1;
        }
        if self.idle > PATIENCE + 4 * self.touch.len() {
            return Err(match event {
                Some(Event::Switch { switch, .. }) if self.flow.is_root(switch) => self.flow.singular(),
                Some(Event::Switch { .. }) => Reason::Sliding,
                Some(Event::Hit(a) | Event::Release(a)) => Reason::Stalled { constraint: self.constraint(a) },
                None => self.flow.singular(),
            });
        }
        match event {
            None => Ok(()),
            Some(event) => self.handle(event, s <= shortest),
        }
    }

    /// With the safety net: steps so short that millions of them would be needed belong to a stiff system, where an
    /// implicit step does better.
    fn look_for_stiffness(&mut self, s: f64) -> Result<(), Reason> {
        self.window.0 += 1;
        self.window.1 += s;
        if self.window.0 == STIFF_WINDOW {
            let steps = (self.end - self.t) / (self.window.1 / STIFF_WINDOW as f64);
            self.window = (0, 0.0);
            if self.safety_net && steps > STIFF {
                return Err(Reason::Stiff { steps });
            }
        }
        Ok(())
    }

    /// Keeps the motion up to s and goes there.
    fn accept(&mut self, s: f64, last: bool) -> Result<(), Reason> {
        self.record.piece(self.t, s, &self.flow);
        let t = if last { self.end } else { self.t + s };
        self.flow.state(s, &mut self.q, &mut self.v);
        if let Some(i) = (0..self.q.len()).find(|&i| !(self.q[i].abs() < 1e150 && self.v[i].abs() < 1e150)) {
            return Err(Reason::NotFinite { coordinate: self.problem.model().coordinates[i].clone() });
        }
        self.at_rest = (0..self.q.len()).all(|i| self.flow.velocity(i).iter().all(|&c| c == 0.0));
        let kind = if self.working.is_empty() { PhaseKind::Flight } else { PhaseKind::Contact };
        self.record.timeline.go_on(kind, self.t, t, &self.working);
        self.note_grazes(s);
        self.grow_scales(s);
        self.t = t;
        if !self.working.is_empty() {
            self.flow.hold(self.t, &mut self.q, &mut self.v)?;
        }
        // Where there is no series, switches are not located either: they are set anew.
        self.fresh |= self.flow.is_rough;
        self.record.reached(self.t, &self.q, &self.v);
        Ok(())
    }

    /// Brings the scales up to date with a step that is kept: at its middle and its end.
    fn grow_scales(&mut self, s: f64) {
        let Self { flow, scales, touch, noise, far, .. } = self;
        for a in 0..touch.len() {
            if far[a] {
                continue;
            }
            let (middle, gap) = (value(flow.gap(a), 0.5 * s), value(flow.gap(a), s));
            scales.gap[a] = scales.gap[a].max(gap.abs()).max(middle.abs());
            if touch[a] == Touch::Closed && gap > 4.0 * noise[a] {
                touch[a] = Touch::Open;
            }
        }
        for (k, &a) in flow.working().iter().enumerate() {
            let reaction = value(flow.reaction(k), s).abs().max(flow.reaction(k)[0].abs());
            scales.reaction[a] = scales.reaction[a].max(reaction);
        }
        for (scale, v) in scales.v.iter_mut().zip(&self.v) {
            *scale = scale.max(v.abs());
        }
        // (After a rough step there is no series of the arguments.)
        for switch in 0..if flow.is_rough { 0 } else { scales.switch.len() } {
            scales.switch[switch] = scales.switch[switch].max(flow.argument(switch, s).abs());
        }
    }

    /// What an event does to the state and the mode.
    fn handle(&mut self, event: Event, at_once: bool) -> Result<(), Reason> {
        match event {
            Event::Switch { switch, state } => {
                self.flow.set_state(switch, state);
                self.switched += usize::from(!self.flow.is_root(switch));
                // At the place itself a root has no series to go on with.
                self.must_be_rough = at_once && self.flow.is_root(switch);
                self.follow_jumps()?;
                self.implied.fill(false);
            }
            Event::Release(a) => {
                self.touch[a] = Touch::Closed;
                self.released[a] = true;
                self.implied.fill(false);
                self.record.timeline.push(Phase::new(PhaseKind::Release, self.t, self.t, &[a]));
                self.record.instant(self.t, &self.q, &self.v);
            }
            Event::Hit(a) => {
                let was = self.touch[a];
                self.look(false)?;
                self.touch[a] = Touch::Closed;
                if self.flow.gap_rate(a, &self.v) < -self.still(a) {
                    self.implied.fill(false);
                    self.strike()?;
                } else if was == Touch::Open {
                    // No speed: a tangential contact.
                    self.record.timeline.push(Phase::new(PhaseKind::Graze, self.t, self.t, &[a]));
                } else if at_once {
                    // Free to open, it did not: it is pressed, by a higher derivative than the acceleration.
                    self.pressed[a] = true;
                    self.record.timeline.unrelease(self.t, a);
                }
            }
        }
        self.choose()
    }

    /// A gap may jump with a switch: a support that goes opens it; an obstacle that appears around the body is no motion.
    fn follow_jumps(&mut self) -> Result<(), Reason> {
        self.look(false)?;
        for a in 0..self.touch.len() {
            let (gap, near) = (self.flow.gaps[a], (self.tol * self.scales.gap[a]).max(1e2 * self.noise[a]));
            if gap < -near.max(1e-9 * self.scales.gap[a]) {
                return Err(Reason::Inside { constraint: self.constraint(a) });
            }
            if self.touch[a] != Touch::Open && gap > near {
                self.touch[a] = Touch::Open;
            }
        }
        Ok(())
    }

    fn finish(mut self, options: &RunOptions, status: Status) -> Run {
        self.record.close(self.t, &self.q, &self.v);
        let mut run = self.record.into_run(options, status);
        if self.switched > 0 {
            let times = if self.switched == 1 { "once".to_string() } else { format!("{} times", self.switched) };
            run.notes.push(format!("forces or gaps switched {times}; each switch was located like an impact"));
        }
        run
    }
}
