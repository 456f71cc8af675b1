//! Trajectories that lanes cannot decide: the event engine goes on with them, and gives them back where nothing is in contact.

use super::code::MOST;
use super::{LaneState, LaneWorker};
use crate::{Hit, Job, Outcome, Wanted};
use saltus::problem::Reached;
use saltus::{Options, PhaseKind, Run, Side, Start, Status};
use std::sync::atomic::Ordering;

/// A trajectory that is handed over this often stays with the event engine.
const OFTEN: u32 = 64;

/// The event engine keeps a trajectory for this many of the lane's last steps and for this part of the whole, at least, or until the
/// next stop.
const STRETCH: f64 = 32.0;
const SHORTEST: f64 = 1e-3;

/// Where the event engine leaves a trajectory.
enum Left {
    /// A state to go on from, or the end.
    At(Start),
    /// It failed.
    Failed(Box<Outcome>),
    /// The worker was stopped.
    Stopped,
}

impl<const W: usize> LaneWorker<W> {
    /// The event engine goes on from the state of a lane, or, if the last step failed, from that before it.
    pub(super) fn hand_over(&mut self, l: usize, back: bool, jobs: &[Job], wanted: &Wanted) -> Option<Outcome> {
        let job = &jobs[self.lanes[l].job];
        let d = self.group.code.d;
        let (mut q, mut v) = ([0.0; MOST], [0.0; MOST]);
        let t = match back {
            true => self.group.state_before(l, &mut q, &mut v),
            false => {
                self.group.state(l, &mut q, &mut v);
                self.group.t.0[l]
            }
        };
        let mode = &self.group.modes[l];
        let closed: Vec<usize> =
            (0..self.group.code.m).filter(|&a| mode.held == Some(a) || (mode.zeros[a] > 0 && !back)).collect();
        let state = &mut self.lanes[l];
        state.bounced = None;
        state.has_arrived = false;
        if back && state.tally.before.is_some() {
            state.tally.gatherer = state.tally.before.take();
        }
        state.handed += 1;
        state.tally.by_events = true;
        let start = Start::new(t, q[..d].to_vec(), v[..d].to_vec()).with_parameters(state.open.clone());
        let start = start.reached(Reached { closed, ..Reached::default() });
        let stretch = (STRETCH * self.group.last.0[l]).max(SHORTEST * (job.end - job.start.t));
        let end = match self.events(l, job, wanted, start, stretch) {
            Left::Failed(outcome) => return Some(*outcome),
            Left::Stopped => return None,
            Left::At(end) if end.t >= job.end => return Some(self.finish(l, Status::Finished, end.t, &end.q, &end.v)),
            Left::At(end) => end,
        };
        let extents: Vec<f64> = self.group.extent.iter().map(|extent| extent.0[l]).collect();
        self.group.forget(l, self.group.last.0[l]);
        self.group.extent.iter_mut().zip(extents).for_each(|(extent, was)| extent.0[l] = was);
        self.group.set_state(l, end.t, &end.q, &end.v);
        let mode = &mut self.group.modes[l];
        mode.zeros = [0; 2 * MOST];
        mode.is_new = true;
        mode.waits = true;
        self.group.stop.0[l] = self.lanes[l].tally.stop(job);
        None
    }

    /// The event engine from a start on for some time, and until no constraint is closed; to the end where it was asked too often.
    fn events(&mut self, l: usize, job: &Job, wanted: &Wanted, start: Start, stretch: f64) -> Left {
        let mut at = start;
        let mut until = (at.t + stretch).min(self.lanes[l].tally.stop(job));
        loop {
            let options = Options::events(until).tolerance(self.group.tolerance);
            let stop = self.stop.clone();
            let run = self.problem.run_observed(&at, &options, &mut |_| !stop.load(Ordering::Relaxed));
            let run = match run {
                Ok(run) => run,
                Err(refusal) => {
                    self.group.modes[l].is_active = false;
                    return Left::Failed(Box::new(Outcome::refused(job, refusal.message)));
                }
            };
            self.take(l, job, wanted, &run);
            at = run.last().clone();
            match run.status {
                Status::Interrupted { .. } => return Left::Stopped,
                status @ Status::Failed(_) => {
                    return Left::Failed(Box::new(self.finish(l, status, at.t, &at.q, &at.v)));
                }
                _ => {}
            }
            // (The last instant of a run is its end, to rounding.)
            let reached = self.lanes[l].tally.stop(job);
            self.lanes[l].tally.pass(
                job,
                wanted,
                if until >= reached { at.t.max(reached) } else { at.t },
                &at.q,
                &at.v,
            );
            let is_closed = at.closed().is_some_and(|closed| !closed.is_empty());
            if at.t >= job.end || until >= job.end || !(is_closed || self.lanes[l].handed > OFTEN) {
                at.t = if until >= job.end { job.end } else { at.t };
                return Left::At(at);
            }
            until = self.lanes[l].tally.stop(job);
        }
    }

    /// What is kept of a run of the event engine.
    fn take(&mut self, l: usize, job: &Job, wanted: &Wanted, run: &Run) {
        let d = self.group.code.d;
        let LaneState { tally, open, .. } = &mut self.lanes[l];
        let motion = &run.trajectory;
        for impact in motion.impacts.iter().filter(|impact| impact.t >= job.from) {
            tally.impacts += 1;
            self.local.evaluate(impact.t, &impact.q[..d], &impact.v_before[..d], open);
            for (&a, &impulse) in impact.constraints.iter().zip(impact.impulses) {
                let speed = -self.local.rate(a, impact.v_before);
                tally.hit(wanted, Hit { t: impact.t, constraint: a as u32, speed, impulse });
            }
        }
        let since = |p: &&saltus::Phase| p.end >= job.from;
        tally.accumulations += run.timeline.of(PhaseKind::Chatter).filter(since).count() as u64;
        if wanted.sections {
            let events = motion.events.iter().filter(|event| event.t >= job.from);
            events.for_each(|event| tally.section(event.event, event.t, &event.q, &event.v));
        }
        if tally.is_tracking() {
            for k in 0..motion.len().saturating_sub(1) {
                tally.pass(job, wanted, motion.t[k], motion.q(k), motion.v(k, Side::Right));
            }
        }
        if let Some(gatherer) = &mut tally.gatherer
            && let Some(mut quantities) = self.problem.instance(&job.start).ok().and_then(|at| at.quantities())
            && motion.span().is_some_and(|(_, last)| last > job.from)
        {
            gatherer.add(motion, &mut quantities, job.from);
        }
        let checks = &mut tally.checks;
        checks.violation = checks.violation.max(run.audit.max_violation);
        checks.law = checks.law.max(run.audit.worst_law_residual);
        checks.balance = checks.balance.max(run.ledger.balance.relative());
        tally.breaches.extend(run.status.breaches().iter().cloned());
    }
}
