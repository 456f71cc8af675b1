//! A run in progress, kept alive between calls.

use super::begin::Begun;
use super::{Options, Progress, Run, System, advice};
use crate::ledger::{Evidence, Ledger};
use crate::motion::{BaseShear, EventHit, Obstacle, Side, Timeline, Trajectory, Variation, touches_of};
use crate::problem::{PortChange, PortHistory, Reached, Start};
use crate::record::{Audit, Extremes, Gauge, Keep};
use crate::stepping::Account;
use crate::structure::BaseMotion;
use crate::{Model, SetupError, Status, StepFailure};
use std::collections::VecDeque;
use std::sync::Arc;

/// Why [`Simulation::advance_to`] returned.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Stop {
    /// The time asked for is reached.
    Time,
    /// An event of the user's own occurred. By events the simulation is there; with time steps it is at the next node.
    Event {
        /// Its name.
        name: String,
        /// When, where, and in which direction.
        hit: EventHit,
    },
    /// Everything is at rest, and the options asked to stop there.
    Rest,
}

/// A run in progress: advanced piece by piece, with ports set in between.
///
/// ```
/// use saltus::{Options, Stop, model::Builder, motion::Crossing};
/// let cart = Builder::new("cart").coordinate("x", 0.0, 1.0).kinetic("x'^2/2").port("u").force("x", "u")
///     .constraint("wall", "2 - x").restitution(0.5).event("back", "x'", Crossing::Down).build()?.problem()?;
/// let mut sim = cart.engine(&Options::steps("mabrouk", 1e-3))?;
/// while sim.t() < 10.0 {
///     sim.set("u", -0.1 * sim.v()[0])?;
///     match sim.advance_to(sim.t() + 0.1)? {
///         Stop::Event { name, .. } if name == "back" => break,
///         _ => {}
///     }
/// }
/// let run = sim.finish();
/// assert_eq!(run.trajectory.impacts.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Simulation {
    begun: Begun,
    model: Arc<Model>,
    options: Options,
    start: Start,
    status: Status,
    events: VecDeque<EventHit>,
    rest_is_final: bool,
    ports: PortHistory,
}

impl Simulation {
    /// A run that begins at a start.
    pub(crate) fn at(system: &dyn System, start: &Start, options: &Options) -> Result<Self, SetupError> {
        Simulation::new(system, start, options)
    }

    pub(super) fn new(system: &dyn System, start: &Start, options: &Options) -> Result<Self, SetupError> {
        options.check()?;
        let mut begun = system.begin(start, options)?;
        if start.reached_by().is_some_and(|by| by.within_impact) {
            let consequence = match begun.engine.goes_on() {
                true => "neither of both runs lists it, and the energy account of this one lacks a part of it",
                false => "the rebound is not that of an uninterrupted run",
            };
            begun.warnings.push(format!(
                "the run that reached this start, at t = {}, was within an impact, which takes its scheme several steps: {consequence}. \
                 Go on from some steps earlier or later",
                start.t
            ));
        }
        let model = system.model().clone();
        Ok(Simulation {
            rest_is_final: options.until_rest && !begun.is_forced,
            ports: PortHistory::new(begun.engine.cells()),
            begun,
            model,
            options: options.clone(),
            start: start.clone(),
            status: Status::Finished,
            events: VecDeque::new(),
        })
    }

    /// The time reached.
    pub fn t(&self) -> f64 {
        self.begun.engine.t()
    }

    /// The position there: all coordinates of a model, the modes or points of a structure.
    pub fn q(&self) -> &[f64] {
        self.begun.engine.state().0
    }

    /// The velocity there.
    pub fn v(&self) -> &[f64] {
        self.begun.engine.state().1
    }

    /// Impacts so far.
    pub fn impacts(&self) -> usize {
        self.begun.engine.impacts()
    }

    /// The perturbations that travel along ([`Options::vary`]), at this instant; None if there are none. An obstacle says from
    /// where on there are no derivatives.
    pub fn variation(&mut self) -> Option<Result<Variation, Obstacle>> {
        self.begun.engine.variation()
    }

    /// Other perturbations from here on.
    pub fn set_variation(&mut self, columns: &Variation) {
        self.begun.engine.set_variation(columns);
    }

    /// Sets a port; it keeps its value until it is set again.
    pub fn set(&mut self, port: &str, value: f64) -> Result<(), SetupError> {
        let Some(k) = self.model.open.iter().position(|p| p.name == port && p.is_port) else {
            let known = self.model.open.iter().filter(|p| p.is_port).map(|p| p.name.as_str());
            return Err(SetupError::unknown(format!("there is no port `{port}`"), port, known, "the ports are"));
        };
        if !value.is_finite() {
            return Err(SetupError::new(format!("the port `{port}` must be a finite number, not {value}")));
        }
        let cells = self.begun.engine.cells();
        if cells.get(k) != value {
            cells.set(k, value);
            let change = PortChange { t: self.begun.engine.t(), port: k, value };
            self.ports.changes.push(change);
            self.begun.engine.port_changed();
        }
        Ok(())
    }

    /// Advances to a time, or to the first event of the user's own before it.
    pub fn advance_to(&mut self, t: f64) -> Result<Stop, StepFailure> {
        let t = t.min(self.options.end);
        loop {
            if let Some(hit) = self.events.pop_front() {
                return Ok(Stop::Event { name: self.model.events[hit.event].name.clone(), hit });
            }
            if let Status::Failed(failure) = &self.status {
                return Err(failure.clone());
            }
            if self.begun.engine.is_at(t) {
                return Ok(Stop::Time);
            }
            if self.rest_is_final && self.begun.engine.is_at_rest() {
                return Ok(Stop::Rest);
            }
            self.step(t);
            self.events.extend(self.begun.engine.recorder().fresh_events.drain(..));
        }
    }

    /// One step or piece; a failure becomes the status.
    pub(super) fn step(&mut self, until: f64) {
        if let Err(reason) = self.begun.engine.advance(until) {
            let engine = &self.begun.engine;
            let (q, v) = engine.state();
            self.status = Status::Failed(StepFailure { t: engine.t(), q: q.to_vec(), v: v.to_vec(), reason });
        }
    }

    /// Whether a scheme is within an impact, which a slice that ends here would cut in two.
    pub(super) fn is_within_impact(&self) -> bool {
        self.begun.engine.is_within_impact()
    }

    /// Whether the end is reached, everything is at rest, or a step failed.
    pub(super) fn is_over(&self) -> bool {
        self.begun.engine.is_at(self.options.end)
            || matches!(self.status, Status::Failed(_))
            || (self.rest_is_final && self.begun.engine.is_at_rest())
    }

    pub(super) fn interrupt(&mut self) {
        self.status = Status::Interrupted { t: self.t() };
    }

    pub(super) fn progress(&self) -> Progress<'_> {
        let engine = &self.begun.engine;
        let ((step, steps), (q, v)) = (engine.steps(), engine.state());
        Progress { step, steps, t: engine.t(), impacts: engine.impacts(), q, v }
    }

    /// Ends the run: trajectory, ledger, status.
    pub fn finish(self) -> Run {
        self.finish_altered(&mut |_| {})
    }

    /// Ends the run after a change of what was recorded: for tests of the ledger, which must notice what is wrong.
    #[doc(hidden)]
    pub fn finish_altered(self, alter: &mut dyn FnMut(Recorded)) -> Run {
        let Simulation { mut begun, model, options, start, status, ports, .. } = self;
        let within_impact = begun.engine.is_within_impact();
        let variation = begun.engine.variation();
        begun.engine.finish();
        let (q, v, closed) = begun.engine.full_state();
        let sides = begun.engine.sides();
        let parameters = begun.engine.cells().to_vec();
        let memory = begun.engine.memory();
        let by = Reached { closed, modes: begun.modes, within_impact, sides, memory };
        let last = Start { parameters, ..Start::new(begun.engine.t(), q, v) }.reached(by);
        let recorder = begun.engine.recorder();
        let mut audit = std::mem::take(&mut recorder.audit);
        let mut trajectory = std::mem::take(&mut recorder.trajectory).with_states(model.states.len());
        let mut timeline = std::mem::take(&mut recorder.timeline);
        let side = if begun.tolerance.is_some() { Side::Right } else { Side::Left };
        close_audit(&mut begun.gauge, &trajectory, &recorder.accounts, side, &mut audit);
        alter(Recorded {
            trajectory: &mut trajectory,
            timeline: &mut timeline,
            audit: &mut audit,
            accounts: &mut recorder.accounts,
        });
        let names: Vec<String> = model.constraints.iter().map(|c| c.name.clone()).collect();
        let ledger = Ledger::new(&Evidence {
            trajectory: &trajectory,
            timeline: &timeline,
            audit: &audit,
            accounts: &recorder.accounts,
            gauge: &begun.gauge,
            ports: &ports,
            names: &names,
            keep: options.keep,
            contact_steps: begun.scheme.steps().and_then(|s| s.contact_steps),
            by_events: begun.tolerance.is_some(),
            step: begun.step,
            tolerance: begun.tolerance.unwrap_or(0.0),
            is_continued: start.reached_by().is_some(),
            q0: &begun.q0,
            v0: &begun.v0,
        });
        let mut run = Run {
            audit,
            ledger,
            status,
            steps: recorder.steps,
            step: begun.step,
            tolerance: begun.tolerance,
            scheme: begun.scheme,
            options,
            start,
            setup: std::time::Duration::ZERO,
            warnings: std::mem::take(&mut recorder.warnings),
            notes: std::mem::take(&mut recorder.notes),
            timeline,
            touches: std::mem::take(&mut recorder.touches),
            rubbed: std::mem::take(&mut recorder.rubbed),
            squared_forces: std::mem::take(&mut recorder.squared_forces),
            shears: std::mem::take(&mut recorder.shears),
            extremes: recorder.extremes_seen(),
            shapes: std::mem::take(&mut recorder.shapes),
            followed: std::mem::take(&mut recorder.followed),
            trajectory,
            last,
            variation,
        };
        run.warnings.splice(0..0, std::mem::take(&mut begun.warnings));
        run.notes.extend(std::mem::take(&mut begun.notes));
        run.notes = merged(std::mem::take(&mut run.notes));
        let advice = advice::advice(&model, &begun, &run);
        run.warnings.extend(advice);
        let breaches = run.ledger.complaints();
        run.warnings.extend(breaches.iter().map(|breach| format!("breach: {breach}")));
        if run.status == Status::Finished && !breaches.is_empty() {
            run.status = Status::Breached { breaches };
        }
        observe(&begun, &mut run);
        run
    }
}

/// What a run recorded, in the coordinates of its engine.
#[doc(hidden)]
pub struct Recorded<'a> {
    /// The motion.
    pub trajectory: &'a mut Trajectory,
    /// Its phases.
    pub timeline: &'a mut Timeline,
    /// What was checked and added up on the way.
    pub audit: &'a mut Audit,
    /// The energy account of a scheme that keeps one.
    pub accounts: &'a mut Vec<(f64, Account)>,
}

/// Notes that differ in their numbers only become one, with a count.
fn merged(notes: Vec<String>) -> Vec<String> {
    let mut kinds: Vec<(String, String, usize)> = Vec::new();
    for note in notes {
        let is_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | 'e');
        let words =
            note.split_whitespace().filter(|w| !(w.contains(|c: char| c.is_ascii_digit()) && w.chars().all(is_number)));
        let kind = words.collect::<Vec<_>>().join(" ");
        match kinds.iter_mut().find(|(k, ..)| *k == kind) {
            Some((_, _, more)) => *more += 1,
            None => kinds.push((kind, note, 0)),
        }
    }
    let counted = |(_, note, more): (String, String, usize)| match more {
        0 => note,
        1 => format!("{note} (and once more)"),
        _ => format!("{note} (and {more} more times)"),
    };
    kinds.into_iter().map(counted).collect()
}

/// Maps a run in modal coordinates to the points of a structure.
fn observe(begun: &Begun, run: &mut Run) {
    let Some(observed) = &begun.observed else { return };
    if run.options.keep.has(Keep::SHAPES) && !observed.outline.is_empty() {
        let stride = (run.trajectory.len() / 1_500).max(1);
        let shape = |q: &[f64]| (0..observed.outline.len()).map(|r| observed.outline.dot(r, q)).collect();
        let instants = (0..run.trajectory.len()).step_by(stride);
        run.shapes = instants.map(|k| (run.trajectory.t[k], shape(run.trajectory.q(k)))).collect();
    }
    let (modal, n) = (&run.trajectory, observed.drags.len());
    let mut shears = vec![0.0; n * modal.len()];
    for (k, row) in shears.chunks_exact_mut(n.max(1)).enumerate() {
        for (s, force) in row.iter_mut().enumerate() {
            let elastic = observed.points.dot(observed.shears[s], modal.q(k));
            *force = elastic + observed.drags.dot(s, modal.v(k, Side::Right));
        }
    }
    run.shears = observed.shears.iter().map(|&p| BaseShear::new(p)).collect();
    for row in shears.chunks_exact(n.max(1)) {
        run.shears.iter_mut().zip(row).for_each(|(seen, force)| seen.see(*force));
    }
    run.trajectory = run.trajectory.mapped(&observed.points);
    run.trajectory.history.with_shears(&observed.shears);
    accelerations(&mut observed.base.clone(), &shears, &mut run.trajectory);
    run.touches = touches_of(&run.trajectory, &observed.slides);
    run.extremes = (0..run.trajectory.dimension()).map(|p| extremes(run, p)).collect();
    if let Status::Failed(StepFailure { q, v, .. }) = &mut run.status {
        let map = |x: &[f64]| (0..observed.points.len()).map(|r| observed.points.dot(r, x)).collect();
        (*q, *v) = (map(q), map(v));
    }
}

/// The accelerations of a motion whose polynomials are known: right limits, at the end the left ones.
fn accelerations(base: &mut BaseMotion, shears: &[f64], motion: &mut Trajectory) {
    let n = motion.history.shear_points().len();
    let mut row = vec![0.0; motion.dimension()];
    for k in 0..motion.len() {
        let t = motion.t[k];
        let Some(piece) = motion.pieces.find(t, false).or_else(|| motion.pieces.find(t, true)) else { return };
        motion.pieces.accelerations(piece, t, &mut row);
        base.add(t, &mut row);
        motion.history.fill_to(k + 1, &[], &row, &shears[k * n..(k + 1) * n], &[]);
    }
}

/// Largest, smallest and root mean square (over time) of a coordinate at the stored instants.
fn extremes(run: &Run, p: usize) -> Extremes {
    let motion = &run.trajectory;
    let at = |k: usize| motion.q(k)[p];
    let (mut max, mut min, mut integral) = (f64::NEG_INFINITY, f64::INFINITY, 0.0);
    for k in 0..motion.len() {
        (max, min) = (max.max(at(k)), min.min(at(k)));
        if k > 0 {
            integral += 0.5 * (motion.t[k] - motion.t[k - 1]) * (at(k).powi(2) + at(k - 1).powi(2));
        }
    }
    let span = motion.span().map_or(0.0, |(first, last)| last - first);
    Extremes { max, min, rms: (integral / span.max(f64::MIN_POSITIVE)).sqrt() }
}

/// Completes the audit of a run.
/// (`side`: the limit of the last velocity that is after the impacts listed.)
fn close_audit(gauge: &mut Gauge, trajectory: &Trajectory, accounts: &[(f64, Account)], side: Side, audit: &mut Audit) {
    let fastest = trajectory.impacts.iter().map(|i| i.speed).fold(f64::MIN_POSITIVE, f64::max);
    for impact in trajectory.impacts.iter() {
        audit.energy_lost_at_impacts -= impact.energy_change;
        let residual = impact.law_residual * impact.speed / fastest;
        // A residual that is not a number is the worst there is.
        if !(residual <= audit.worst_law_residual) {
            audit.worst_law_residual = residual;
        }
    }
    match &mut gauge.energy {
        Some((energy, _)) => {
            let mut total = |k: usize, side: Side| {
                let (kinetic, potential) = energy.both(trajectory.t[k], trajectory.q(k), trajectory.v(k, side));
                kinetic + potential
            };
            if !trajectory.is_empty() {
                audit.energy_start = total(0, Side::Left);
                audit.energy_end = total(trajectory.len() - 1, side);
            }
        }
        None => {
            if let (Some((_, first)), Some((_, last))) = (accounts.first(), accounts.last()) {
                (audit.energy_start, audit.energy_end) = (first.energy(), last.energy());
                audit.energy_lost_at_impacts = last.lost - first.lost;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::merged;

    #[test]
    fn notes_of_one_kind_are_one_with_a_count() {
        let stepped = |k: u32| format!("from t = {k} to {k}.5e-3 the motion was time-stepped with mabrouk: stiff");
        let mut notes: Vec<String> = (0..21).map(stepped).collect();
        notes.insert(3, "something else at x[1]".into());
        notes.push("something else at x[2]".into());
        let found = merged(notes);
        assert_eq!(found[0], format!("{} (and 20 more times)", stepped(0)));
        assert_eq!(found[1..], ["something else at x[1]", "something else at x[2]"]);
    }
}
