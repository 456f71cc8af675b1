//! Time stepping: the steps of a scheme, watched for impacts and contacts, and recorded.

use super::Engine;
use super::noting::Noting;
use crate::linalg::max_abs;
use crate::motion::{BaseShear, EventHit};
use crate::problem::{Cells, Memory};
use crate::record::{Audit, Crossings, Gauge, Keep, Recorder, Watch};
use crate::scheme::Stepping;
use crate::stepping::{Node, Stepper};
use crate::structure::BaseMotion;
use crate::{Kind, Model, Reason, SetupError};
use std::sync::Arc;

/// At rest for this many steps a run may end.
const QUIET_STEPS: u32 = 200;

/// Positions, velocities and impulses beyond this have squares that overflow, and with them every energy.
const LARGEST: f64 = 1e150;

/// A stepper and what is known about it.
pub(crate) struct StepPlan {
    pub model: Arc<Model>,
    pub stepper: Box<dyn Stepper>,
    pub stepping: Stepping,
    pub gauge: Gauge,
    pub crossings: Option<Crossings>,
    pub cells: Cells,
    /// The points of a structure that are base shears.
    pub shears: Vec<usize>,
    /// What its stops do to the side, by name.
    pub sides: Vec<String>,
    /// For each constraint what slides along it, where touches are wanted.
    pub slides: Option<Vec<crate::motion::Slide>>,
    /// What the base adds to the accelerations, where they are wanted.
    pub base: Option<BaseMotion>,
    /// Constraints that are in contact at the start, where a run reached it.
    pub closed: Option<Vec<usize>>,
    pub t0: f64,
    pub q0: Vec<f64>,
    pub v0: Vec<f64>,
    pub h: f64,
    /// Number of steps, and where the last of them ends; None: no end is set.
    pub end: Option<(u64, f64)>,
    pub every: u64,
    /// What is kept at every step.
    pub follow: Vec<usize>,
    pub keep: Keep,
}

/// The engine of time-stepping schemes.
pub(crate) struct StepEngine {
    model: Arc<Model>,
    stepper: Box<dyn Stepper>,
    watch: Watch,
    crossings: Option<Crossings>,
    cells: Cells,
    hits: Vec<EventHit>,
    recorder: Recorder,
    node: Box<Node>,
    /// The last complete instant; the two buffers change places after every step.
    last: Box<Node>,
    /// The node to be completed next.
    n: u64,
    end: Option<(u64, f64)>,
    h: f64,
    t0: f64,
    every: u64,
    /// The next node to be stored.
    next: u64,
    /// The part of a jump that the velocity of a lasting contact has at its node.
    share: f64,
    is_moving: bool,
    wants_extremes: bool,
    history: Option<Noting>,
    fastest: f64,
    quiet: u32,
    /// Whether the velocity jumped at the last node.
    jumped: bool,
    /// Where the motion has been slow since, and how far from its start it has been before.
    halt: Vec<f64>,
    farthest: f64,
    origin: Vec<f64>,
    is_finished: bool,
    /// Whether the velocity jumps at the last node.
    ends_with_jump: bool,
    /// Whether velocities belong to the middles of steps, so that an impact takes more than one.
    is_staggered: bool,
    /// Whether contacts are motions of their own, as those of springs are.
    feels_contacts: bool,
}

impl StepEngine {
    pub fn new(plan: StepPlan) -> Result<Self, SetupError> {
        let StepPlan {
            model, stepper, stepping, mut gauge, crossings, cells, slides, base, closed, t0, q0, v0, h, ..
        } = plan;
        let (d, m) = (q0.len(), model.constraints.len());
        let mut recorder = Recorder::new(d, &gauge.compliant, plan.keep);
        let every = plan.every.max(1);
        if let Some((steps, _)) = plan.end {
            recorder.reserve(steps / every + 2, every)?;
            recorder.set_shape_stride(steps);
        }
        if every > 1 {
            recorder.follow(&plan.follow, plan.end.map_or(0, |(steps, _)| steps))?;
        }
        gauge.gaps.linearise(t0, &q0, &v0);
        let is_closed = |a: usize| match &closed {
            Some(list) => list.contains(&a),
            None => gauge.gaps.values[a] <= gauge.gaps.rounding(a, &q0),
        };
        let touched: Vec<bool> = (0..m).map(is_closed).collect();
        let is_moving = gauge.is_moving;
        let wants_extremes = slides.is_some();
        let history = base.map(|base| Noting {
            base,
            compliant: gauge.compliant.clone(),
            impulses: vec![0.0; m],
            accelerations: vec![0.0; d],
            shears: vec![0.0; plan.shears.len()],
            sides: [(); 3].map(|()| vec![0.0; plan.sides.len()]),
        });
        recorder.trajectory.history.with_shears(&plan.shears);
        recorder.trajectory.history.with_sides(&plan.sides);
        recorder.shears = plan.shears.iter().map(|&p| BaseShear::new(p)).collect();
        let mut watch = Watch::new(gauge, d, &touched, stepping, h);
        if let Some(slides) = slides {
            watch = watch.with_touches(slides);
        }
        let others = watch.gauge().bonds.as_ref().map_or(0, |bonds| bonds.len());
        recorder.audit.others = vec![0.0; others];
        let node = || Node { others: vec![0.0; others], ..Node::new(d, m) };
        let mut last = Box::new(node());
        last.t = t0;
        last.q.copy_from_slice(&q0);
        last.v_left.copy_from_slice(&v0);
        last.v_right.copy_from_slice(&v0);
        Ok(StepEngine {
            model,
            stepper,
            watch,
            crossings,
            cells,
            hits: Vec::new(),
            recorder,
            node: Box::new(node()),
            last,
            n: 0,
            end: plan.end,
            h,
            t0,
            every,
            next: 0,
            is_staggered: stepping.staggered,
            feels_contacts: stepping.contact_steps.is_none(),
            share: if stepping.staggered { 0.5 } else { 1.0 },
            is_moving,
            wants_extremes,
            history,
            fastest: 0.0,
            quiet: 0,
            jumped: false,
            halt: q0.clone(),
            farthest: 0.0,
            origin: q0,
            is_finished: false,
            ends_with_jump: false,
        })
    }

    fn is_last(&self) -> bool {
        self.end.is_some_and(|(steps, _)| self.n == steps)
    }

    /// Advances the stepper; checks what it gives.
    fn step(&mut self) -> Result<(), Reason> {
        if let Err(reason) = self.stepper.advance(&mut self.node) {
            return Err(match reason {
                Reason::NotFinite { .. } => {
                    let last = (self.last.q.clone(), self.last.v_left.clone());
                    self.blame(&last.0, &last.1).unwrap_or(reason)
                }
                other => other,
            });
        }
        if let (Some((_, end)), true) = (self.end, self.is_last()) {
            self.node.t = end;
        }
        if self.n == 0 && self.stepper.goes_on() {
            // The run before has completed this node, and has recorded what happened there.
            let (node, start) = (&mut self.node, &self.last);
            node.t = start.t;
            node.v_left.copy_from_slice(&start.v_right);
            node.v_right.copy_from_slice(&start.v_right);
            node.impulses.fill(0.0);
            node.others.fill(0.0);
            node.contact = false;
        }
        let node = &self.node;
        let fits = |values: &[f64]| values.iter().all(|x| x.abs() <= LARGEST);
        if !(fits(&node.q) && fits(&node.v_left) && fits(&node.v_right) && fits(&node.impulses)) {
            return Err(self.overflow());
        }
        let gaps = &mut self.watch.gauge().gaps;
        gaps.evaluate(self.node.t, &self.node.q, &self.node.v_right);
        let checked = self.recorder.check(self.node.t, &self.node.q, &gaps.values);
        checked.map_err(|a| Reason::Gap { constraint: self.model.constraints[a].name.clone() })
    }

    /// Why a step gave something that is not a number, or too large for one.
    fn overflow(&mut self) -> Reason {
        let [last, now] = [&self.last, &self.node].map(|node| (node.q.clone(), node.v_left.clone()));
        if let Some(steep) = self.blame(&last.0, &last.1).or_else(|| self.blame(&now.0, &now.1)) {
            return steep;
        }
        let node = &self.node;
        let wrong = |i: usize| [node.q[i], node.v_left[i], node.v_right[i]].iter().any(|x| !(x.abs() <= LARGEST));
        // Impulses alone: the motion they act on is the one to name.
        let i = (0..node.q.len()).find(|&i| wrong(i)).unwrap_or(0);
        Reason::NotFinite { coordinate: self.model.unknown(i).to_string() }
    }

    /// A gap whose slope is not a finite number at a position.
    fn blame(&mut self, q: &[f64], v: &[f64]) -> Option<Reason> {
        let t = self.last.t;
        let gaps = &mut self.watch.gauge().gaps;
        gaps.evaluate(t, q, v);
        gaps.kinematics(t, q, v);
        let is_bad = |a: &usize| gaps.gradients.row(*a).1.iter().any(|x| !x.is_finite());
        let a = (0..gaps.values.len()).find(is_bad)?;
        Some(Reason::Steep { constraint: self.model.constraints[a].name.clone() })
    }

    /// Keeps a node.
    fn record(&mut self) {
        let (n, is_last) = (self.n, self.is_last());
        let Self { node, recorder, watch, .. } = self;
        if node.contact {
            recorder.audit.contact_steps += 1;
            recorder.audit.impulses.iter_mut().zip(&node.impulses).for_each(|(sum, p)| *sum += p);
        }
        let was_in_impact = watch.is_in_impact();
        recorder.audit.others.iter_mut().zip(&node.others).for_each(|(sum, p)| *sum += p);
        let jumps = watch.note(node, recorder);
        self.ends_with_jump = jumps;
        work(watch.gauge(), node, &self.last, &mut recorder.audit);
        let wants_account = (n == 1 || (jumps && !was_in_impact && n > 0)) && recorder.wants_account();
        if wants_account && let Some(account) = self.stepper.account() {
            recorder.accounts.push((node.t, account));
        }
        if let Some(crossings) = &mut self.crossings {
            crossings.note(node, &mut self.hits);
            self.hits.iter().for_each(|hit| recorder.event(hit.clone()));
        }
        if let Some(history) = &mut self.history {
            history.take(node, jumps, self.is_staggered, self.h, &recorder.audit.impulses);
            history.shear(node, &*self.stepper, recorder);
            history.aside(node, &*self.stepper);
        }
        if node.contact && !jumps {
            // A lasting contact: its reaction is a density, and the velocity is continuous. It is the mean of the steps that
            // meet here, or the node's own where a scheme has its velocities at the nodes.
            if self.is_moving {
                let gaps = &mut watch.gauge().gaps;
                gaps.kinematics(node.t, &node.q, &node.v_left);
                let work = node.impulses.iter().zip(&gaps.partial_t).map(|(p, rate)| p * rate).sum::<f64>();
                recorder.audit.contact_work -= work;
            }
            if !self.stepper.contact_velocity(&mut node.v_left) {
                for (left, right) in node.v_left.iter_mut().zip(&node.v_right) {
                    *left += self.share * (right - *left);
                }
            }
        }
        // (What a model's velocities may change by is known from its forces.)
        if watch.gauge().energy.is_none() {
            if n > 1 && !jumps && !self.jumped {
                let changes = &mut recorder.audit.changes;
                changes.resize(node.q.len(), 0.0);
                for (i, change) in changes.iter_mut().enumerate() {
                    *change = change.max((node.v_left[i] - self.last.v_left[i]).abs());
                }
            }
            if n > 1 && jumps {
                // What elastic forces change beside the impulses, which is most where a node is hit that the step does not resolve.
                let changes = &mut recorder.audit.changes;
                changes.resize(node.q.len(), 0.0);
                changes.iter_mut().zip(&node.acceleration).for_each(|(c, a)| *c = c.max(self.h * a.abs()));
            }
            self.jumped = jumps;
        }
        let is_due = n == self.next;
        if is_due {
            self.next += self.every;
        }
        if jumps {
            recorder.jump(node.t, &node.q, &node.v_left, &node.v_right);
        } else if is_due || is_last {
            recorder.instant(node.t, &node.q, &node.v_left);
        }
        let right = if jumps { &node.v_right } else { &node.v_left };
        recorder.followed.note(node.t, &node.q, &node.v_left, right);
        if self.wants_extremes {
            recorder.extremes(node.t, &node.q);
        }
        if let Some(history) = &mut self.history {
            history.keep(node.t, recorder);
        }
        if recorder.wants_shape(n, is_last)
            && let Some(shape) = self.stepper.shape()
        {
            recorder.shapes.push((node.t, shape));
        }
    }
}

impl Engine for StepEngine {
    fn advance(&mut self, _until: f64) -> Result<(), Reason> {
        self.hits.clear();
        if let Err(reason) = self.step() {
            // Only the velocity of the last instant needed a step beyond it.
            if let (true, true, Some((_, end)), Some(q)) =
                (self.is_last(), self.n > 0, self.end, self.stepper.pending())
            {
                let q = q.to_vec();
                let v = self.last.v_right.clone();
                self.recorder.warnings.push(format!("the last velocity is that of the step before the end: {reason}"));
                self.recorder.last_instant(end, &q, &v, &v);
                (self.last.t, self.last.q) = (end, q);
                self.n += 1;
                return Ok(());
            }
            return Err(reason);
        }
        self.record();
        self.recorder.steps = self.n;
        let speed = max_abs(&self.node.v_right);
        self.fastest = self.fastest.max(speed);
        if speed <= 1e-6 * self.fastest {
            self.quiet += 1;
        } else {
            self.quiet = 0;
            self.halt.copy_from_slice(&self.node.q);
            self.farthest = self.farthest.max(distance(&self.node.q, &self.origin));
        }
        std::mem::swap(&mut self.node, &mut self.last);
        self.n += 1;
        Ok(())
    }

    fn t(&self) -> f64 {
        self.last.t
    }

    fn is_at(&self, until: f64) -> bool {
        match self.end {
            Some((steps, end)) if until >= end => self.n > steps,
            _ => self.n > 0 && self.last.t >= until - 1e-6 * self.h,
        }
    }

    fn state(&self) -> (&[f64], &[f64]) {
        (&self.last.q, &self.last.v_right)
    }

    fn full_state(&self) -> (Vec<f64>, Vec<f64>, Vec<usize>) {
        let observed = || (self.last.q.clone(), self.last.v_right.clone());
        let (q, v) = self.stepper.state().unwrap_or_else(observed);
        (q, v, self.watch.closed())
    }

    fn sides(&self) -> Vec<i8> {
        self.crossings.as_ref().map(Crossings::sides).unwrap_or_default()
    }

    fn is_within_impact(&self) -> bool {
        self.is_staggered && (self.watch.is_in_impact() || (self.feels_contacts && self.last.contact))
    }

    fn memory(&self) -> Option<Memory> {
        let (q, v, _) = self.full_state();
        self.stepper.memory().map(|memory| Memory { q, v, ..memory })
    }

    fn goes_on(&self) -> bool {
        self.stepper.goes_on()
    }

    fn is_at_rest(&self) -> bool {
        // Slow beside a very large speed is not at rest: the position has to stay, too.
        self.quiet > QUIET_STEPS && distance(&self.last.q, &self.halt) <= 0.01 * self.farthest
    }

    fn steps(&self) -> (u64, u64) {
        (self.n, self.end.map_or(u64::MAX, |(steps, _)| steps))
    }

    fn recorder(&mut self) -> &mut Recorder {
        &mut self.recorder
    }

    fn impacts(&self) -> usize {
        self.recorder.trajectory.impacts.len()
    }

    fn cells(&self) -> &Cells {
        &self.cells
    }

    fn finish(&mut self) {
        if std::mem::replace(&mut self.is_finished, true) {
            return;
        }
        let Self { last, recorder, watch, .. } = self;
        if self.n > 0 && !watch.finish(last, recorder) {
            recorder
                .warnings
                .push(format!("the run ends at t = {} in the middle of an impact, which is not listed", last.t));
        }
        if let Some(account) = self.stepper.account().filter(|_| self.n > 1) {
            recorder.accounts.push((last.t, account));
        }
        recorder.warnings.extend(self.stepper.warning());
        recorder.rubbed = self.stepper.rubbed();
        // (The final velocity is that after an impact of the last step.)
        let left = last.v_left.clone();
        let right = if self.ends_with_jump { last.v_right.clone() } else { left.clone() };
        recorder.last_instant(last.t.max(self.t0), &last.q, &left, &right);
        if let Some(history) = &mut self.history {
            history.keep(last.t, recorder);
        }
        recorder.trajectory.contacts.sort_by(|a, b| a.start.total_cmp(&b.start));
    }
}

/// What friction turns into heat in a step, and what moving joints and moving friction partners give: P·U and −P·rest at the mean
/// velocity of the step. What an impact takes of it is its own, and leaves this account when it is listed ([`Watch::note`]): a landing
/// that is too slow to be one is not.
fn work(gauge: &mut Gauge, node: &Node, last: &Node, audit: &mut Audit) {
    let Some(bonds) = gauge.bonds.as_mut().filter(|_| node.others.iter().any(|&p| p != 0.0)) else { return };
    bonds.evaluate(node.t, &node.q, &node.v_right);
    for k in 0..bonds.frictions.len() {
        for row in bonds.slips(k) {
            let p = node.others[row];
            if p != 0.0 {
                let driven = bonds.rest(row);
                let mean = driven + 0.5 * (bonds.dot(row, &last.v_right) + bonds.dot(row, &node.v_right));
                audit.friction_loss -= p * mean;
                audit.contact_work -= p * driven;
            }
        }
    }
    let joints = (0..bonds.joint_count()).map(|row| node.others[row] * bonds.rest(row));
    audit.contact_work -= joints.sum::<f64>();
}

/// The largest difference of two positions.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
}

/// The number of steps from t0 to the end and the step that divides the interval; a step that does not is made slightly
/// smaller, with a warning.
pub(crate) fn grid(step: f64, t0: f64, end: f64) -> Result<(u64, f64, Option<String>), SetupError> {
    let span = end - t0;
    let positive = |name: &str, value: f64| {
        SetupError::new(format!("the {name} must be a positive number, not {value}"))
            .with_kind(Kind::OutOfRange { name: name.to_string(), value })
    };
    if !(step > 0.0 && step.is_finite()) {
        return Err(positive("step", step));
    }
    if !(span > 0.0 && end.is_finite()) {
        return Err(match t0 == 0.0 {
            true => positive("end time", end),
            false => SetupError::new(format!("the end time {end} must be after the start time {t0}"))
                .with_kind(Kind::OutOfRange { name: "end time".into(), value: end }),
        });
    }
    if !(1.0 / step / step).is_finite() {
        return Err(SetupError::new(format!("the step {step:e} is too small to compute with")));
    }
    let ratio = span / step;
    if ratio > 1e15 {
        return Err(SetupError::new(format!("{ratio:e} steps are too many: time itself would be lost in rounding"))
            .with_kind(Kind::TooLarge)
            .help("use a larger step or an earlier end"));
    }
    let whole = ratio.round();
    if whole >= 1.0 && (ratio - whole).abs() <= 1e-9 * whole {
        return Ok((whole as u64, step, None));
    }
    let steps = ratio.ceil().max(1.0);
    let fitted = span / steps;
    let interval = if t0 == 0.0 { format!("the end time {end}") } else { format!("the interval from {t0} to {end}") };
    let warning = format!("the step {step} does not divide {interval}: {steps} steps of {fitted} are used");
    Ok((steps as u64, fitted, Some(warning)))
}
