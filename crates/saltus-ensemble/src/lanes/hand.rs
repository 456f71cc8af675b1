//! Trajectories that lanes cannot decide: the event engine goes on with them, and gives them back where nothing is in contact.

use super::code::{LaneCode, MOST};
use super::law::Local;
use super::limits::TOUCHES;
use super::noise::Noise;
use crate::meetings::Meetings;
use crate::reduce::Reader;
use crate::scalar::STEPS;
use crate::tally::Tally;
use crate::{Job, Wanted};
use saltus::{Options, Problem, Progress, Start, Status, run_slice};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A trajectory that is handed over this often stays with the event engine.
const OFTEN: u32 = 64;

/// The event engine keeps a trajectory for this many of the lane's last steps and for this part of the whole, at least, or until the next stop.
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
    pub meetings: Meetings,
    pub tolerance: f64,
    pub stop: Arc<AtomicBool>,
    /// Whether the inertia is one, where that is the same for all trajectories and known.
    is_inertia: Option<bool>,
}

impl Hand {
    pub fn new(problem: &Problem, code: &LaneCode, tolerance: f64, stop: &Arc<AtomicBool>) -> Self {
        Hand {
            problem: problem.clone(),
            local: Local::new(code),
            noise: Noise::new(code),
            meetings: Meetings::new(problem),
            tolerance,
            stop: stop.clone(),
            is_inertia: (!code.is_explicit).then_some(true),
        }
    }

    /// Whether the inertia at a start is positive. (What is divided by it does not notice; elsewhere its factors do.)
    pub fn has_inertia(&mut self, code: &LaneCode, start: &Start) -> bool {
        if let Some(known) = self.is_inertia {
            return known;
        }
        self.local.evaluate(start.t, &start.q, &start.v, &start.parameters);
        // (Not what else may be wrong there: that belongs to this start.)
        let is_one = self.local.is_factored();
        self.is_inertia = (!code.varies_inertia).then_some(is_one);
        is_one
    }

    /// The constraints that something rests against, or slides along: they have gaps and gap velocities of rounding. `widest` is the largest gap so far.
    pub fn touched(&self, at: &Start, widest: f64) -> Vec<usize> {
        let mut gaps = self.problem.gaps_at(at);
        gaps.evaluate(at.t, &at.q, &at.v);
        gaps.kinematics(at.t, &at.q, &at.v);
        let is_touched = |a: &usize| {
            let size = gaps.gradients.dot_abs(*a, &at.v) + gaps.partial_t[*a].abs();
            gaps.values[*a].abs() <= TOUCHES * widest && gaps.rate(*a, &at.v).abs() <= TOUCHES * size
        };
        (0..gaps.values.len()).filter(is_touched).collect()
    }

    /// Takes away the gap velocities that are left, by rounding, of constraints that were hit and do not bounce: the event engine, which has not
    /// seen how fast they closed, would take them for impacts.
    pub fn quieten(&mut self, start: &mut Start, quiet: &[usize]) {
        let mut pull = [0.0; MOST];
        for &a in quiet {
            if !self.local.evaluate(start.t, &start.q, &start.v, &start.parameters) {
                return;
            }
            let (rate, compliance) = (self.local.rate(a, &start.v), self.local.pull(a, &mut pull));
            for (v, pull) in start.v.iter_mut().zip(pull) {
                let left = *v - rate * pull / compliance;
                *v = if left.abs() <= 8.0 * f64::EPSILON * v.abs() { 0.0 } else { left };
            }
        }
    }

    /// Begins with a trajectory that starts on a constraint.
    pub fn begin(&mut self, tally: &mut Tally, job: &Job, wanted: &Wanted) -> Left {
        // (What is hit there is hit before the first instant of the stroboscope.)
        *tally = Tally::new(self.problem.model(), wanted);
        self.go_on(tally, job.start.clone(), 0.0, 1, job, wanted)
    }

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
        tally.by_events = true;
        let mut reader = Reader::new(&self.problem, job, wanted);
        let most = STEPS / self.problem.dimension().max(1) as u64;
        let mut stretch = (STRETCH * last).max(SHORTEST * (job.end - job.start.t));
        let next = tally.stop(job) - start.t;
        if next > 16.0 * f64::EPSILON * start.t.abs() {
            stretch = stretch.min(next);
        }
        let mut at = start;
        loop {
            // (An end that is there but for rounding is no slice of its own.)
            if job.end - at.t <= 16.0 * f64::EPSILON * at.t.abs() {
                at.t = job.end;
                tally.pass(job, wanted, at.t, &at.q, &at.v);
                return Left::Ended(Status::Finished, at);
            }
            let until = if job.end - at.t <= 1.5 * stretch { job.end } else { at.t + stretch };
            // What is stored never changes the motion; the ledger needs few instants beside the pieces.
            let options = Options::events(until).tolerance(self.tolerance).step((until - at.t) / 4.0);
            let is_running = &mut |_: Progress| !self.stop.load(Ordering::Relaxed);
            let run = match run_slice(&self.problem, &at, &options, most, is_running) {
                Ok(run) => run,
                Err(refusal) => return Left::Refused(refusal.message),
            };
            if let Some(end) = reader.add(tally, &run) {
                return Left::Ended(Status::Finished, end);
            }
            at = run.last().clone();
            match run.status {
                Status::Interrupted { .. } if self.stop.load(Ordering::Relaxed) => return Left::Stopped,
                Status::Interrupted { .. } => continue,
                status @ Status::Failed(_) => return Left::Ended(status, at),
                _ => {}
            }
            if until >= job.end {
                // (The last instant of a run is its end, to rounding.)
                at.t = job.end;
                return Left::Ended(Status::Finished, at);
            }
            let is_closed = at.closed().is_some_and(|closed| !closed.is_empty());
            if !(is_closed || handed > OFTEN) {
                return Left::At(at);
            }
            // (What lasts is computed in few slices.)
            stretch *= 4.0;
        }
    }
}
