//! Trajectories that lanes cannot decide: the event engine goes on with them, and gives them back where nothing is in contact.

use super::LaneWorker;
use super::code::MOST;
use crate::{Hit, Job, Outcome, Wanted};
use saltus::problem::Reached;
use saltus::{Options, PhaseKind, Run, Start, Status};

/// A trajectory that is handed over this often stays with the event engine.
const OFTEN: u32 = 64;

/// The event engine keeps a trajectory for this many of the lane's last steps and for this part of the whole, at least, or until the
/// next stop.
const STRETCH: f64 = 32.0;
const SHORTEST: f64 = 1e-3;

impl<const W: usize> LaneWorker<W> {
    /// The event engine computes a whole trajectory.
    pub(super) fn by_events_alone(&mut self, l: usize, job: &Job, wanted: &Wanted) -> Outcome {
        self.group.modes[l].is_active = false;
        self.lanes[l].tally.by_lanes = false;
        let start = job.start.clone();
        match self.to_the_end(l, job, wanted, start) {
            Ok(outcome) | Err(outcome) => outcome,
        }
    }

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
        let mode = &mut self.group.modes[l];
        let closed: Vec<usize> =
            (0..self.group.code.m).filter(|&a| mode.held == Some(a) || (mode.zeros[a] > 0 && !back)).collect();
        self.lanes[l].bounced = None;
        self.counts.handed_over += 1;
        self.lanes[l].handed += 1;
        let start = Start::new(t, q[..d].to_vec(), v[..d].to_vec()).with_parameters(self.lanes[l].open.clone());
        let start = start.reached(Reached { closed, ..Reached::default() });
        if self.lanes[l].handed > OFTEN {
            return Some(match self.to_the_end(l, job, wanted, start) {
                Ok(outcome) | Err(outcome) => outcome,
            });
        }
        let until = self.until(l, job, t);
        match self.stretch(l, job, wanted, start, until) {
            Err(outcome) => Some(outcome),
            Ok(end) if end.t >= job.end => Some(self.finish(l, Ok(Status::Finished), end.t, &end.q, &end.v)),
            Ok(end) => {
                let extents: Vec<f64> = self.group.extent.iter().map(|extent| extent.0[l]).collect();
                self.group.forget(l, self.group.last.0[l]);
                self.group.extent.iter_mut().zip(extents).for_each(|(extent, was)| extent.0[l] = was);
                self.group.set_state(l, end.t, &end.q, &end.v);
                self.group.modes[l].zeros = [0; 2 * MOST];
                self.group.modes[l].is_new = true;
                self.group.stop.0[l] = self.lanes[l].tally.stop(job);
                self.group.modes[l].waits = true;
                None
            }
        }
    }

    /// How far the event engine goes at once.
    fn until(&self, l: usize, job: &Job, t: f64) -> f64 {
        let stretch = (STRETCH * self.group.last.0[l]).max(SHORTEST * (job.end - job.start.t));
        (t + stretch).min(self.lanes[l].tally.stop(job))
    }

    fn to_the_end(&mut self, l: usize, job: &Job, wanted: &Wanted, mut start: Start) -> Result<Outcome, Outcome> {
        loop {
            let until = self.lanes[l].tally.stop(job);
            if until <= start.t && start.t < job.end {
                let (q, v) = (start.q.clone(), start.v.clone());
                self.lanes[l].tally.stopped(job, wanted, start.t, &q, &v);
                continue;
            }
            let end = self.stretch_once(l, job, wanted, &start, until)?;
            if end.t >= job.end {
                return Ok(self.finish(l, Ok(Status::Finished), end.t, &end.q, &end.v));
            }
            start = end;
        }
    }

    /// From a start until a time, and on from stop to stop while a constraint is closed.
    fn stretch(&mut self, l: usize, job: &Job, wanted: &Wanted, start: Start, until: f64) -> Result<Start, Outcome> {
        let mut end = self.stretch_once(l, job, wanted, &start, until)?;
        while end.t < job.end && end.closed().is_some_and(|closed| !closed.is_empty()) {
            let until = self.lanes[l].tally.stop(job);
            end = self.stretch_once(l, job, wanted, &end, until)?;
        }
        Ok(end)
    }

    fn stretch_once(
        &mut self,
        l: usize,
        job: &Job,
        wanted: &Wanted,
        start: &Start,
        until: f64,
    ) -> Result<Start, Outcome> {
        let options = Options::events(until).tolerance(self.group.tolerance);
        self.lanes[l].tally.by_events = true;
        let run = match self.problem.run_from(start, &options) {
            Ok(run) => run,
            Err(refusal) => return Err(self.finish(l, Err(refusal.message), start.t, &start.q, &start.v)),
        };
        self.take(l, job, wanted, &run);
        let last = run.last().clone();
        if !run.status.is_complete() {
            return Err(self.finish(l, Ok(run.status), last.t, &last.q, &last.v));
        }
        if last.t >= self.lanes[l].tally.stop(job) {
            self.lanes[l].tally.stopped(job, wanted, last.t, &last.q, &last.v);
        }
        Ok(last)
    }

    /// What is kept of a run of the event engine.
    fn take(&mut self, l: usize, job: &Job, wanted: &Wanted, run: &Run) {
        let tally = &mut self.lanes[l].tally;
        for impact in run.trajectory.impacts.iter() {
            for (&constraint, &impulse) in impact.constraints.iter().zip(impact.impulses) {
                let hit = Hit { t: impact.t, constraint: constraint as u32, speed: -impact.approach, impulse };
                tally.hit(job, wanted, hit);
            }
        }
        let since = |p: &&saltus::Phase| p.end >= job.from;
        tally.accumulations += run.timeline.of(PhaseKind::Chatter).filter(since).count() as u64;
        if wanted.sections {
            for event in run.trajectory.events.iter().filter(|event| event.t >= job.from) {
                tally.sections.extend([event.event as f64, event.t]);
                tally.sections.extend(&event.q);
                tally.sections.extend(&event.v);
            }
        }
        let ledger = &run.ledger;
        tally.checks.is_breached |= !ledger.complaints().is_empty();
    }
}
