//! The exact engine: flight of high order, located impacts, contact phases, accumulation points ([V] §2, [B]).
//!
//! The motion is a chain of Taylor polynomials ([`flow`]) in one mode after another. A mode is a *working set*: constraints
//! held closed, with reactions. It lasts until the first of
//!
//! - a gap turning negative: an impact, by the law of any number of contacts ([`impact`]);
//! - a reaction turning negative: a release;
//! - a switch of a force or gap with corners or jumps.
//!
//! All of these are the first place where a polynomial turns negative ([`polynomial`]), so none is missed between the ends
//! of a step. After an event the next working set follows from the complementarity problem of the accelerations
//! ([`contact`]). Impacts that accumulate are recognised, their limit extrapolated and passed ([`accumulation`]).
//!
//! Tolerances, all relative to `tol`: the last terms of a series are below tol/10 of the largest speed (gap) so far; gaps
//! below tol of their largest value count as closed, so impacts that near to each other are one; bounces lower than that are
//! the tail of an accumulation.

mod accumulation;
mod contact;
mod flow;
mod impact;
mod polynomial;
mod record;
mod stretch;

pub(crate) use polynomial::{value, value_and_slope};

use crate::linalg::{Metric, Rows};
use crate::problem::{Dynamics, Gaps};
use crate::project::Polyhedron;
use crate::run::{self, Progress, Reporter, Run, RunOptions};
use crate::{Phase, PhaseKind, Problem, Reason, SetupError, Status, StepFailure};
use flow::Flow;
use polynomial::{MOST, Roots, leading};
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

/// What ends a step before its time.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Event {
    Hit(usize),
    Release(usize),
    Switch { switch: usize, state: i64 },
}

/// Events that follow each other without time going on are a stall beyond this many (and some for each constraint).
const PATIENCE: usize = 40;

/// No step is longer than this part of the run: together with the check of every step at two points inside it, a feature
/// of a force that no derivative announces is seen if it is wider than about a hundredth of the run.
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
    /// Events since time last went on.
    idle: usize,
    switched: usize,
    /// The largest speed of each coordinate, gap and gap velocity of each constraint so far.
    v_scale: Vec<f64>,
    gap_scale: Vec<f64>,
    rate_scale: Vec<f64>,
    /// The largest reaction of each constraint and the largest argument of each switch so far.
    reaction_scale: Vec<f64>,
    switch_scale: Vec<f64>,
    /// What rounding makes of a gap.
    noise: Vec<f64>,
    /// Gaps that cannot close in the present step.
    far: Vec<bool>,
    /// Gaps that depend on time.
    moving: Vec<bool>,
    record: Record<'p>,
    buffers: Buffers,
}

/// Room for what is computed again and again.
struct Buffers {
    rows: Rows,
    members: Vec<usize>,
    offsets: Vec<f64>,
    x: Vec<f64>,
    y: Vec<f64>,
    c: Vec<f64>,
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
    let mut reporter = Reporter::new();
    let status = loop {
        if engine.t >= engine.end {
            break Status::Finished;
        }
        if reporter.is_due() && !report(engine.progress()) {
            break Status::Interrupted { t: engine.t };
        }
        let mut outcome = engine.advance();
        if let Err(reason) = &outcome
            && engine.can_cross(reason)
        {
            outcome = engine.cross(reason.clone());
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
        // The order at which a step of a convergent series costs least a digit (Jorba & Zou 2005), and a few more, since
        // many series here converge everywhere.
        let order = ((-0.5 * (0.1 * tol).ln()).ceil() as usize + 4).clamp(8, MOST - 2);
        let flow = Flow::new(problem, order)?;
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
            idle: 0,
            switched: 0,
            v_scale: model.v0.iter().map(|v| v.abs()).collect(),
            gap_scale: vec![0.0; m],
            rate_scale: vec![0.0; m],
            reaction_scale: vec![0.0; m],
            switch_scale: vec![0.0; flow.switches()],
            noise: vec![0.0; m],
            far: vec![false; m],
            moving: model.constraints.iter().map(|c| model.graph.depends_on(c.gap, model.t)).collect(),
            record: Record::new(problem, options)?,
            buffers: Buffers {
                rows: Rows::with_capacity(m, flow.gradients.values.len()),
                members: Vec::with_capacity(m),
                offsets: Vec::with_capacity(m),
                x: vec![0.0; d],
                y: vec![0.0; d],
                c: vec![0.0; order + 2],
            },
            flow,
        };
        engine.begin().map_err(|reason| SetupError::new(reason.to_string()))?;
        Ok(engine)
    }

    /// Which constraints are closed at the start, and the first mode.
    fn begin(&mut self) -> Result<(), Reason> {
        self.look(true)?;
        self.record.instant(self.t, &self.q, &self.v);
        for a in 0..self.touch.len() {
            self.gap_scale[a] = self.flow.gaps[a].abs();
            if self.flow.gaps[a] <= 4.0 * self.noise[a] {
                self.touch[a] = Touch::Closed;
            }
        }
        self.choose(None, None)
    }

    /// Evaluates everything at the present state and brings the scales up to date.
    fn look(&mut self, fresh: bool) -> Result<(), Reason> {
        self.flow.look(self.t, &self.q, &self.v, fresh)?;
        for a in 0..self.touch.len() {
            let terms = self.flow.gradients.dot_abs(a, &self.q) + self.flow.gaps[a].abs();
            self.noise[a] = self.noise[a].max(1e-14 * terms).max(1e-300);
            let rate = self.flow.walls[a].abs() + self.flow.gradients.dot_abs(a, &self.v);
            self.rate_scale[a] = self.rate_scale[a].max(rate);
        }
        Ok(())
    }

    /// A gap velocity below this is zero.
    fn still(&self, a: usize) -> f64 {
        1e-12 * self.rate_scale[a]
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
        let cap = left.min(LONGEST * self.end);
        let mut h = self.length(cap);
        // The last step ends at the end.
        if h > left * (1.0 - 1e-12) {
            h = left;
        }
        let shortest = 4.0 * f64::EPSILON * self.t.max(1e-3 * self.end);
        let (s, event) = loop {
            if !(h > shortest) {
                return Err(self.flow.singular());
            }
            let (s, event) = self.first_event(h);
            if s <= shortest || self.holds(s) {
                break (s, event);
            }
            h = 0.5 * s;
        };
        if s > 0.0 {
            self.accept(s, h)?;
        }
        // A switch of a sampled input is as good as a step: only what makes no progress at all is idle.
        self.idle = if s > shortest { 0 } else { self.idle + 1 };
        if self.idle > PATIENCE + 4 * self.touch.len() {
            return Err(match event {
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

    /// How long a step may be. A gap that would shorten it much (the distance to a centre has a corner there) is left out
    /// if it is far: farther than four times what its gradient and the largest speeds of the step could take away.
    fn length(&mut self, cap: f64) -> f64 {
        let tol = 0.1 * self.tol;
        self.far.fill(false);
        let (h, alone) = self.flow.step(tol, cap, &self.v_scale, &self.gap_scale, &self.far);
        if h > 0.2 * alone || !alone.is_finite() {
            return h;
        }
        self.checked.kinematics(self.t, &self.q);
        for (i, fastest) in self.buffers.x.iter_mut().enumerate() {
            *fastest = polynomial::size(self.flow.velocity(i), alone);
        }
        for a in 0..self.touch.len() {
            let loss = 4.0 * alone * self.checked.gradients.dot_abs(a, &self.buffers.x);
            self.far[a] = self.touch[a] == Touch::Open && !self.moving[a] && self.flow.gaps[a] > loss;
        }
        match self.far.contains(&true) {
            true => self.flow.step(tol, cap, &self.v_scale, &self.gap_scale, &self.far).0,
            false => h,
        }
    }

    /// The first event in (0, h] and where it is.
    fn first_event(&mut self, h: f64) -> (f64, Option<Event>) {
        let (mut s, mut event) = (h, None);
        for a in 0..self.touch.len() {
            let found = match self.touch[a] {
                Touch::Open if self.far[a] => None,
                Touch::Open => self.roots.first_negative(self.flow.gap(a), s, self.noise[a]),
                Touch::Closed => self.reopening(a, s),
                Touch::Working => None,
            };
            if let Some(at) = found {
                (s, event) = (at, Some(Event::Hit(a)));
            }
        }
        for k in 0..self.working.len() {
            let a = self.working[k];
            let c = self.flow.reaction(k);
            let scale = &mut self.reaction_scale[a];
            *scale = scale.max(polynomial::largest_term(c, s));
            let early = match leading(c, s, 1e-14 * *scale) {
                Some(first) if c[first] < 0.0 => Some(0.0),
                Some(first) => self.roots.first_negative(&c[first..], s, 0.0),
                None => None,
            };
            if let Some(at) = early {
                (s, event) = (at, Some(Event::Release(a)));
            }
        }
        for switch in 0..self.flow.switches() {
            for end in 0..2 {
                let n = self.flow.order + 1;
                let c = &mut self.buffers.c[..n];
                let Some(state) = self.flow.margin(switch, end, c) else { continue };
                // At the boundary (just switched, or at rest on it) the first term that is there decides.
                let scale = &mut self.switch_scale[switch];
                *scale = scale.max(polynomial::largest_term(c, s));
                let found = match leading(c, s, 1e-14 * *scale) {
                    Some(first) if c[first] < 0.0 => Some(0.0),
                    Some(first) => self.roots.first_negative(&c[first..], s, 0.0),
                    None => None,
                };
                if let Some(at) = found {
                    (s, event) = (at, Some(Event::Switch { switch, state }));
                }
            }
        }
        (s, event)
    }

    /// Where a closed gap that is free to open closes again; 0 if it does not open at all.
    fn reopening(&mut self, a: usize, h: f64) -> Option<f64> {
        let n = self.flow.order + 1;
        let c = &mut self.buffers.c[..n];
        c.copy_from_slice(&self.flow.gap(a)[..n]);
        c[0] = 0.0;
        if c[1].abs() <= 1e-12 * self.rate_scale[a] {
            c[1] = 0.0;
        }
        let first = leading(c, h, self.noise[a])?;
        if c[first] < 0.0 {
            return Some(0.0);
        }
        self.roots.first_negative(&c[first..], h, 0.0)
    }

    /// Whether the series is the motion, as far as two points inside the step can tell: forces and gaps evaluated there
    /// are those of the polynomials. This is what a pulse that no derivative announces, or a series beyond its radius of
    /// convergence, does not pass.
    fn holds(&mut self, s: f64) -> bool {
        for part in [0.47, 0.96] {
            let at = part * s;
            let (q, a) = (&mut self.buffers.x, &mut self.buffers.y);
            self.flow.state(at, q, a);
            self.dynamics.evaluate(self.t + at, q, a);
            self.checked.linearise(self.t + at, q);
            for alpha in 0..self.touch.len() {
                if self.far[alpha] {
                    if !(self.checked.values[alpha] > 0.0) {
                        return false;
                    }
                    continue;
                }
                let off = (self.checked.values[alpha] - value(self.flow.gap(alpha), at)).abs();
                if !(off
                    <= 1e3 * self.tol * self.gap_scale[alpha].max(self.checked.values[alpha].abs())
                        + 1e3 * self.noise[alpha])
                {
                    return false;
                }
            }
            // M⁻¹(g + Σ λ ∇f); the position is not needed any more.
            let g = &mut self.buffers.x;
            g.copy_from_slice(&self.dynamics.g);
            for (k, &alpha) in self.working.iter().enumerate() {
                self.checked.gradients.add_to(alpha, value(self.flow.reaction(k), at), g);
            }
            for (i, a) in a.iter_mut().enumerate() {
                *a = value(self.flow.acceleration(i), at);
            }
            if self.probe.set(&self.dynamics.mass).is_err() {
                return false;
            }
            self.probe.solve(g);
            for i in 0..g.len() {
                if !((g[i] - a[i]).abs() * s <= 1e5 * self.tol * self.flow.scale(i)) {
                    return false;
                }
            }
        }
        true
    }

    /// Keeps the motion up to s and goes there.
    fn accept(&mut self, s: f64, h: f64) -> Result<(), Reason> {
        self.record.piece(self.t, s, &self.flow);
        let t = if s == h && (self.t + s - self.end).abs() <= 1e-12 * self.end { self.end } else { self.t + s };
        self.flow.state(s, &mut self.q, &mut self.v);
        if let Some(i) = (0..self.q.len()).find(|&i| !(self.q[i].abs() < 1e150 && self.v[i].abs() < 1e150)) {
            return Err(Reason::NotFinite { coordinate: self.problem.model().coordinates[i].clone() });
        }
        let kind = if self.working.is_empty() { PhaseKind::Flight } else { PhaseKind::Contact };
        self.record.timeline.push(Phase::new(kind, self.t, t, &self.working));
        self.note_grazes(s);
        for a in 0..self.touch.len() {
            let gap = if self.far[a] { self.flow.gaps[a] } else { value(self.flow.gap(a), s) };
            self.gap_scale[a] = self.gap_scale[a].max(gap.abs());
            if self.touch[a] == Touch::Closed && gap > 4.0 * self.noise[a] {
                self.touch[a] = Touch::Open;
            }
        }
        for (scale, v) in self.v_scale.iter_mut().zip(&self.v) {
            *scale = scale.max(v.abs());
        }
        self.t = t;
        if !self.working.is_empty() {
            self.flow.hold(self.t, &mut self.q, &mut self.v)?;
        }
        self.record.reached(self.t, &self.q, &self.v);
        Ok(())
    }

    /// Notes gaps that come within the tolerance of zero between the ends of a step and open again.
    fn note_grazes(&mut self, s: f64) {
        for a in 0..self.touch.len() {
            let near = 2.0 * self.tol * self.gap_scale[a];
            let c = self.flow.gap(a);
            if self.touch[a] != Touch::Open || self.far[a] || c[0] <= near || value(c, s) <= near {
                continue;
            }
            let lowered = &mut self.buffers.c[..c.len()];
            lowered.copy_from_slice(c);
            lowered[0] -= 0.5 * near;
            if let Some(dip) = self.roots.first_negative(lowered, s, 0.0) {
                let at = self.t + polynomial::bottom(c, dip, s);
                self.record.timeline.graze(at, a);
            }
        }
    }

    /// What an event does to the state and the mode.
    fn handle(&mut self, event: Event, at_once: bool) -> Result<(), Reason> {
        match event {
            Event::Switch { switch, state } => {
                self.flow.set_state(switch, state);
                self.switched += 1;
                self.choose(None, None)
            }
            Event::Release(a) => {
                self.touch[a] = Touch::Closed;
                self.record.timeline.push(Phase::new(PhaseKind::Release, self.t, self.t, &[a]));
                self.choose(Some(a), None)
            }
            Event::Hit(a) => {
                let was = self.touch[a];
                self.look(false)?;
                self.touch[a] = Touch::Closed;
                if self.flow.gap_rate(a, &self.v) < -self.still(a) {
                    self.strike()?;
                    return self.choose(None, None);
                }
                // No speed: a tangential contact, or one that presses without being held.
                if was == Touch::Open {
                    self.record.timeline.push(Phase::new(PhaseKind::Graze, self.t, self.t, &[a]));
                }
                self.choose(None, (at_once && was == Touch::Closed).then_some(a))
            }
        }
    }

    fn finish(mut self, options: &RunOptions, status: Status) -> Run {
        self.record.close(self.t, &self.q, &self.v);
        let mut run = self.record.into_run(options, status);
        if self.switched > 0 {
            run.notes.push(format!(
                "forces or gaps switched {} times; each switch was located like an impact",
                self.switched
            ));
        }
        run
    }
}
