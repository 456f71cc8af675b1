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
//! are recognised and extrapolated to their limit ([`accumulation`]).
//!
//! Tolerances, all relative to `tol`: the last terms of a series are below tol/10 of the speeds and gaps of the step and of
//! those just before; gaps whose distance to zero is below tol of the largest since the constraint was last in contact count
//! as closed, so impacts that near to each other are one; bounces lower than that are the tail of an accumulation. Where the
//! polynomial of a gap is not accurate enough to decide whether it closes, the step ends before that place ([`locate`]); a
//! hit is where the gap itself vanishes, not its polynomial.

mod accumulation;
mod contact;
mod engine;
mod flow;
mod happen;
mod impact;
mod locate;
mod own;
mod own_apart;
mod own_turn;
mod polynomial;
mod record;
mod rubbing;
mod scales;
mod stretch;
mod trust;
mod vary;

use crate::linalg::{Metric, Rows};
use crate::motion::{Crossing, PhaseKind, Variation};
use crate::problem::{Dynamics, EventValues, Gaps, Instance};
use crate::project::Polyhedron;
use crate::record::Keep;
use crate::{Reason, SetupError};
use flow::{Flow, Scales};
use locate::Event;
use polynomial::{MAX_DEGREE, Roots};
use record::Record;
use rubbing::Rubbing;
use scales::{Window, sum};
use vary::Vary;
pub(crate) use vary::{GapSlopes, Stroke};

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

/// More events than this (and some per constraint) while time does not advance are a stall.
const PATIENCE: usize = 40;

/// A gap velocity below this part of the terms it is the sum of is zero.
const STILL: f64 = 1e-12;

/// Where expressions can vary quickly without any Taylor coefficient announcing it, no step is longer than this part of the
/// run. Together with the check of such steps at 128 points, a feature is seen if it is wider than 1/6400 of the run.
const LONGEST: f64 = 1.0 / 50.0;

/// What an engine is made from.
pub(crate) struct EventPlan {
    pub instance: Instance,
    pub tolerance: f64,
    /// Whether time stepping takes over where events cannot be resolved.
    pub safety_net: bool,
    /// The interval at which instants are stored.
    pub interval: f64,
    /// The end of the run; infinite if none is set.
    pub end: f64,
    /// Whether the run ends where everything has come to rest.
    pub until_rest: bool,
    pub keep: Keep,
    /// Perturbations to be carried along.
    pub vary: Option<Variation>,
}

/// The engine that goes from event to event.
pub(crate) struct EventEngine {
    instance: Instance,
    tol: f64,
    t0: f64,
    /// Where the present advance ends, and where the run does.
    end: f64,
    final_end: f64,
    /// Some expression can vary quickly without any coefficient announcing it.
    may_hide: bool,
    /// A stretch being crossed by time stepping.
    crossing: Option<stretch::Crossing>,
    /// For each of the user's events, the sign of its expression so far (0: not known yet), when it changed last, and which directions
    /// count.
    own: Vec<f64>,
    own_at: Vec<f64>,
    /// Of those that may have no value in places: the side where they occur, or where the step ends.
    own_found: Vec<f64>,
    directions: Vec<Crossing>,
    /// Their expressions, where there are any.
    own_values: Option<EventValues>,
    /// The interval at which instants are stored.
    interval: f64,
    until_rest: bool,
    safety_net: bool,
    /// Stretches crossed by time stepping, one soon after another, and where the last one ended.
    stretches: usize,
    last_stretch: f64,
    flow: Flow,
    roots: Roots,
    kernel: Polyhedron,
    dynamics: Dynamics,
    checked: Gaps,
    probe: Metric,
    /// Time, and what rounding has left of it.
    t: f64,
    t_rest: f64,
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
    /// How long steps are at present is their pace.
    window: Window,
    pace: f64,
    /// Whether nothing moved in the last step.
    at_rest: bool,
    /// Events since time last advanced.
    idle: usize,
    switched: usize,
    /// The largest values of late.
    scales: Scales,
    /// The largest gap velocities of late, and what time, which is rounded, makes of them.
    rate_scale: Vec<f64>,
    rate_noise: Vec<f64>,
    /// The largest distance of each gap from zero since it was last in contact: gap over slope.
    extent: Vec<f64>,
    /// What rounding makes of a gap at the point last evaluated.
    noise: Vec<f64>,
    /// What rounding makes of the reactions in the present mode.
    reaction_noise: Vec<f64>,
    /// How long the step is in which events are searched, and whether the search has become as short as it gets.
    search: f64,
    undecided: bool,
    /// Gaps that stay open in the present step, whatever their series say.
    far: Vec<bool>,
    /// What has happened to constraints since time last advanced: released, did not open though free to, or follow from the
    /// working set.
    released: Vec<bool>,
    pressed: Vec<bool>,
    implied: Vec<bool>,
    /// Joints and friction.
    rubbing: Rubbing,
    /// Perturbations that travel along.
    vary: Option<Box<Vary>>,
    record: Record,
    buffers: Buffers,
}

/// Room for what is computed again and again.
struct Buffers {
    rows: Rows,
    members: Vec<usize>,
    /// The working set before the present choice.
    held: Vec<usize>,
    offsets: Vec<f64>,
    /// Reactions or impulses of the members, and those of joints and slips.
    lambda: Vec<f64>,
    others: Vec<(usize, f64)>,
    x: Vec<f64>,
    y: Vec<f64>,
    z: Vec<f64>,
    c: Vec<f64>,
    /// The polynomial of a user's event.
    own: Vec<f64>,
    /// For each gap: its last sample, the least of them and the largest change.
    samples: Vec<(f64, f64, f64)>,
}

impl EventEngine {
    pub fn new(plan: EventPlan) -> Result<Self, SetupError> {
        let EventPlan { instance, tolerance: tol, safety_net, interval, end, until_rest, keep, vary } = plan;
        let (d, m) = (instance.dimension(), instance.constraints());
        let code = instance.problem().motion()?;
        // The order at which a step of a convergent series costs least per digit (Jorba & Zou 2005), and some more: a step
        // has costs of its own, and where hardly anything is multiplied (linear systems) further orders cost little.
        let simple = 1.0 - code.light.convolved();
        let may_hide = code.may_hide_features;
        let order = (-0.5 * (0.1 * tol).ln() + 8.0 + 8.0 * simple * simple).ceil() as usize;
        let flow = Flow::new(&instance, order.clamp(8, MAX_DEGREE - 2))?;
        let order = flow.order;
        let (dynamics, checked) = (instance.dynamics(), instance.gaps());
        let (model, start) = (instance.model(), instance.start());
        let mut engine = EventEngine {
            tol,
            t0: start.t,
            end,
            final_end: end,
            may_hide,
            crossing: None,
            own: vec![0.0; model.events.len()],
            own_at: vec![f64::NEG_INFINITY; model.events.len()],
            own_found: vec![0.0; model.events.len()],
            directions: model.events.iter().map(|e| e.crossing).collect(),
            own_values: instance.events(),
            interval,
            until_rest,
            safety_net,
            stretches: 0,
            last_stretch: f64::NEG_INFINITY,
            roots: Roots::new(order + 2),
            kernel: Polyhedron::new(d, m),
            probe: dynamics.metric(),
            t: start.t,
            t_rest: 0.0,
            q: start.q.clone(),
            v: start.v.clone(),
            touch: vec![Touch::Open; m],
            working: Vec::with_capacity(m),
            fresh: true,
            rough: 0.0,
            must_be_rough: false,
            cap: 0.0,
            trusted: f64::INFINITY,
            is_polynomial: dynamics.code.fixed
                && checked.code.affine
                && !checked.code.uses_states
                && !model.depends_on_time()
                && !model.has_joints_or_friction(),
            dynamics,
            checked,
            window: Window::default(),
            pace: 0.0,
            at_rest: false,
            idle: 0,
            switched: 0,
            scales: Scales {
                v: start.v.iter().map(|v| v.abs()).collect(),
                gap: vec![0.0; m],
                reaction: vec![0.0; code.rows.len()],
                switch: vec![0.0; flow.switches()],
            },
            rate_scale: vec![0.0; m],
            rate_noise: vec![0.0; m],
            extent: vec![0.0; m],
            noise: vec![0.0; m],
            reaction_noise: vec![0.0; m],
            search: 0.0,
            undecided: false,
            far: vec![false; m],
            released: vec![false; m],
            pressed: vec![false; m],
            implied: vec![false; m],
            rubbing: Rubbing::new(&instance)?,
            vary: vary.map(|seed| Vary::new(&instance, &seed, order).map(Box::new)).transpose()?,
            record: Record::new(&instance, interval, end, keep)?,
            buffers: Buffers {
                rows: Rows::with_capacity(m, flow.gradients.values.len()),
                members: Vec::with_capacity(m),
                held: Vec::with_capacity(m),
                offsets: Vec::with_capacity(m),
                lambda: Vec::with_capacity(m),
                others: Vec::new(),
                x: vec![0.0; d],
                y: vec![0.0; d],
                z: vec![0.0; d],
                c: vec![0.0; order + 2],
                own: Vec::with_capacity(order + 1),
                samples: vec![(0.0, 0.0, 0.0); m],
            },
            flow,
            instance,
        };
        engine.begin().map_err(|reason| {
            let refused = SetupError::new(reason.to_string());
            match reason {
                Reason::Painleve { .. } => refused.help("use `auto`, or start where the friction is smaller"),
                _ => refused,
            }
        })?;
        Ok(engine)
    }

    /// Which constraints are closed at the start, and the first mode.
    fn begin(&mut self) -> Result<(), Reason> {
        self.evaluate(true)?;
        self.record.instant(self.t, &self.q, &self.v);
        self.begin_own();
        let reached = self.instance.start().closed().map(<[usize]>::to_vec);
        for a in 0..self.touch.len() {
            self.scales.gap[a] = self.flow.gaps[a].abs();
            let held = reached.as_ref().is_some_and(|closed| closed.contains(&a));
            if held || self.flow.gaps[a] <= 4.0 * self.noise[a] {
                self.touch[a] = Touch::Closed;
            }
        }
        if reached.is_some() && self.touch.contains(&Touch::Closed) {
            // A state that a run reached is on its constraints to the accuracy of that run: to the last digit from here on.
            for a in 0..self.touch.len() {
                if self.touch[a] == Touch::Closed {
                    self.flow.close_gap(self.t, &mut self.q, &self.v, a)?;
                }
            }
            self.evaluate(true)?;
            // All of them, and joints, together: each moves the others.
            let closed: Vec<usize> = (0..self.touch.len()).filter(|&a| self.touch[a] == Touch::Closed).collect();
            let rows = self.rows_with(&closed);
            self.flow.set_working(&rows);
            let mut v = self.v.clone();
            self.flow.hold(self.t, &mut self.q, &mut v)?;
            self.evaluate(true)?;
            // A run that stopped at the very instant of an impact has not made it: what is not held and approaches is struck.
            let is_held = |a: usize| reached.as_ref().is_some_and(|closed| closed.contains(&a));
            let approaches = |a: usize| self.flow.gap_rate(a, &self.v) < 0.0;
            match (0..self.touch.len()).any(|a| self.touch[a] == Touch::Closed && !is_held(a) && approaches(a)) {
                true => {
                    let before = self.before_jump();
                    self.strike()?;
                    self.own_events_at_jump(&before);
                }
                false => self.stop()?,
            }
        }
        match self.choose() {
            Err(Reason::Painleve { constraint }) if self.safety_net => self.jam(&constraint),
            outcome => outcome,
        }
    }

    /// Evaluates everything at the present state.
    fn evaluate(&mut self, fresh: bool) -> Result<(), Reason> {
        self.flow.evaluate(self.t, &self.q, &self.v, fresh)?;
        self.measure_noise();
        for a in 0..self.touch.len() {
            self.extent[a] = self.extent[a].max(self.distance(a));
        }
        Ok(())
    }

    fn constraint(&self, a: usize) -> String {
        self.instance.model().constraints[a].name.clone()
    }

    /// One step: an expansion, up to the first event in it.
    fn step(&mut self) -> Result<(), Reason> {
        self.flow.expand(self.t, &self.q, &self.v, &self.rubbing.rows, self.fresh)?;
        self.fresh = false;
        let left = self.end - self.t;
        // After a step that did not hold, caution: no more than twice as long as the one that did.
        let longest = if self.may_hide { LONGEST * (self.end - self.t0) } else { f64::INFINITY };
        let launch = self.launch();
        let cap = left.min(longest).min(2.0 * self.trusted).min(launch);
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
            let (s, event) = self.first_event(h);
            if s <= shortest {
                break (s, event);
            }
            if let Some(s) = self.polish(s, h, event)?
                && (self.flow.is_rough || self.holds(s))
            {
                break (s, event);
            }
            if self.flow.is_rough {
                // Another one, up to the place in doubt.
                self.flow.expand(self.t, &self.q, &self.v, &self.rubbing.rows, false)?;
                self.must_be_rough = true;
                self.rough = 0.25 * s;
                h = self.length(0.5 * s)?;
                continue;
            }
            h = 0.5 * s;
            self.trusted = h;
        };
        if self.trusted.is_finite() && s > shortest {
            self.trusted = if s >= longest.min(left) { f64::INFINITY } else { self.trusted.max(s) };
        }
        // Where a rest ends the run, one interval of it is enough.
        let s = if self.until_rest && self.flow_is_still() { s.min(self.interval) } else { s };
        self.vary_along(s);
        if s > 0.0 {
            self.accept(s, s == left)?;
            self.follow_own_breaks(s, event);
        }
        self.check_stiffness(s)?;
        // Only what makes no progress at all counts as idle.
        if s > shortest {
            self.pace = s.max(0.5 * self.pace);
            self.idle = 0;
            self.released.fill(false);
            self.pressed.fill(false);
            self.rubbing.loose.fill(None);
            self.rubbing.edge.fill(false);
        } else {
            self.idle += 1;
        }
        if self.idle > PATIENCE + 4 * self.touch.len() {
            return Err(match event {
                Some(Event::Switch { switch, .. }) if self.flow.is_root(switch) => self.flow.singular(),
                Some(Event::Switch { .. }) => Reason::Sliding,
                Some(Event::Hit(a) | Event::Release(a)) => Reason::Stalled { constraint: self.constraint(a) },
                Some(Event::Stop(f) | Event::Slip { friction: f, .. }) => {
                    Reason::Stalled { constraint: self.instance.model().frictions[f].name.clone() }
                }
                Some(Event::Own(k)) => {
                    Reason::Singular { what: format!("the event `{}`", self.instance.model().events[k].name) }
                }
                None => self.flow.singular(),
            });
        }
        match event {
            None if self.slip_stops()? => self.choose(),
            None => Ok(()),
            Some(event) => self.handle(event, s <= shortest),
        }
    }

    /// Whether nothing moves in the present piece.
    fn flow_is_still(&self) -> bool {
        let degrees = self.instance.model().degrees();
        let still = |c: &[f64]| c.iter().all(|&c| c == 0.0);
        (0..self.q.len()).all(|i| still(&self.flow.velocity(i)[usize::from(i >= degrees)..]))
    }

    /// Keeps the motion up to s and goes there.
    fn accept(&mut self, s: f64, last: bool) -> Result<(), Reason> {
        let (t, rest) = if last { (self.end, 0.0) } else { sum(self.t, self.t_rest + s) };
        // (What is shorter than time can tell is no piece of the motion.)
        if t > self.t {
            self.record.piece(self.t, s, &self.flow);
        }
        self.flow.state(s, &mut self.q, &mut self.v);
        if let Some(i) = (0..self.q.len()).find(|&i| !(self.q[i].abs() < 1e150 && self.v[i].abs() < 1e150)) {
            return Err(Reason::NotFinite { coordinate: self.instance.model().unknown(i).to_string() });
        }
        self.at_rest = self.flow_is_still();
        let kind = if self.working.is_empty() { PhaseKind::Flight } else { PhaseKind::Contact };
        self.record.extend_phase(kind, self.t, t, &self.working);
        self.note_grazes(s);
        self.grow_scales(s);
        (self.t, self.t_rest) = (t, rest);
        if !self.rubbing.rows.is_empty() {
            self.hold(s)?;
        }
        // Where there is no series, switches are not located either: they are set anew.
        self.fresh |= self.flow.is_rough;
        self.record.reached(self.t, &self.q, &self.v);
        Ok(())
    }
}
