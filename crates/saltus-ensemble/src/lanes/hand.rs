//! Trajectories that lanes cannot decide: the event engine goes on with them, and gives them back where nothing is in contact.

use super::law::Local;
use super::noise::Noise;
use super::tally::Tally;
use crate::{Hit, Job, Wanted};
use saltus::motion::EventHit;
use saltus::{Options, PhaseKind, Problem, Run, Side, Start, Status};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A trajectory that is handed over this often stays with the event engine.
const OFTEN: u32 = 64;

/// The event engine keeps a trajectory for this many of the lane's last steps and for this part of the whole, at least, or until the
/// next stop.
const STRETCH: f64 = 32.0;
const SHORTEST: f64 = 1e-3;

/// Where the event engine leaves a trajectory.
pub enum Left {
    /// A state to go on from.
    At(Start),
    /// The end, or the place where it failed.
    Ended(Status, Start),
    /// The state was refused.
    Refused(String),
    /// The worker was stopped.
    Stopped,
}

/// The event engine, for trajectories of lanes.
pub struct Hand {
    pub problem: Problem,
    pub local: Local,
    pub noise: Noise,
    pub tolerance: f64,
    pub stop: Arc<AtomicBool>,
}

impl Hand {
    /// Goes on from a start for some time, as measured by the last step, and until no constraint is closed; to the end where it was
    /// asked too often.
    pub fn go_on(
        &mut self,
        tally: &mut Tally,
        start: Start,
        last: f64,
        handed: u32,
        job: &Job,
        wanted: &Wanted,
    ) -> Left {
        let stretch = (STRETCH * last).max(SHORTEST * (job.end - job.start.t));
        tally.by_events = true;
        let mut at = start;
        let mut until = (at.t + stretch).min(tally.stop(job));
        loop {
            // (A stop that is there but for rounding is no slice of its own.)
            let reached = tally.stop(job);
            if reached - at.t <= 16.0 * f64::EPSILON * at.t.abs() {
                at.t = at.t.max(reached);
                tally.pass(job, wanted, at.t, &at.q, &at.v);
                if at.t >= job.end {
                    return Left::Ended(Status::Finished, at);
                }
                until = (at.t + stretch).min(tally.stop(job));
                continue;
            }
            let options = Options::events(until).tolerance(self.tolerance);
            let stop = self.stop.clone();
            let run = self.problem.run_observed(&at, &options, &mut |_| !stop.load(Ordering::Relaxed));
            let run = match run {
                Ok(run) => run,
                Err(refusal) => return Left::Refused(refusal.message),
            };
            if let Some(end) = self.take(tally, job, wanted, &run) {
                return Left::Ended(Status::Finished, end);
            }
            at = run.last().clone();
            match run.status {
                Status::Interrupted { .. } => return Left::Stopped,
                status @ Status::Failed(_) => return Left::Ended(status, at),
                _ => {}
            }
            // (The last instant of a run is its end, to rounding.)
            let reached = tally.stop(job);
            tally.pass(job, wanted, if until >= reached { at.t.max(reached) } else { at.t }, &at.q, &at.v);
            if at.t >= job.end || until >= job.end {
                at.t = job.end;
                return Left::Ended(Status::Finished, at);
            }
            let is_closed = at.closed().is_some_and(|closed| !closed.is_empty());
            if !(is_closed || handed > OFTEN) {
                return Left::At(at);
            }
            until = tally.stop(job);
        }
    }

    /// What is kept of a run of the event engine; where it ends, if it does so with its last return to a section.
    fn take(&mut self, tally: &mut Tally, job: &Job, wanted: &Wanted, run: &Run) -> Option<Start> {
        let (d, open) = (self.problem.dimension(), &job.start.parameters);
        let motion = &run.trajectory;
        let events = motion.events.iter().filter(|e| e.t >= job.from);
        let events: Vec<&EventHit> = if wanted.sections { events.collect() } else { Vec::new() };
        let end = tally.sections.last_return(events.iter().copied());
        let to = end.map_or(f64::INFINITY, |end| end.t);
        for impact in motion.impacts.iter().filter(|impact| impact.t >= job.from && impact.t <= to) {
            tally.impacts += 1;
            self.local.evaluate(impact.t, &impact.q[..d], &impact.v_before[..d], open);
            for (&a, &impulse) in impact.constraints.iter().zip(impact.impulses) {
                let speed = -self.local.rate(a, impact.v_before);
                tally.hit(wanted, Hit { t: impact.t, constraint: a as u32, speed, impulse });
            }
        }
        let since = |p: &&saltus::Phase| p.end >= job.from && p.end <= to;
        tally.accumulations += run.timeline.of(PhaseKind::Chatter).filter(since).count() as u64;
        for event in events.iter().filter(|event| event.t <= to) {
            tally.section(event.event, event.t, &event.q, &event.v);
        }
        if tally.is_tracking() {
            for k in (0..motion.len().saturating_sub(1)).take_while(|&k| motion.t[k] <= to) {
                tally.pass(job, wanted, motion.t[k], motion.q(k), motion.v(k, Side::Right));
            }
        }
        if let Some(gatherer) = &mut tally.gatherer
            && let Some(mut quantities) = self.problem.instance(&job.start).ok().and_then(|at| at.quantities())
            && motion.span().is_some_and(|(_, last)| last > job.from)
        {
            gatherer.add(motion, &mut quantities, job.from, to);
        }
        let checks = &mut tally.checks;
        checks.violation = checks.violation.max(run.audit.max_violation);
        checks.law = checks.law.max(run.audit.worst_law_residual);
        checks.balance = checks.balance.max(run.ledger.balance.relative());
        tally.breaches.extend(run.status.breaches().iter().cloned());
        end.map(|end| Start::new(end.t, end.q.clone(), end.v.clone()).with_parameters(open.clone()))
    }
}
