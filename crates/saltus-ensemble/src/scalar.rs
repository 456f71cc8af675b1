//! The event engine, or a scheme that makes steps, as a worker: one trajectory after the other, each reduced while it is computed.

use crate::meetings::Meetings;
use crate::reduce::Reader;
use crate::tally::Tally;
use crate::{Engine, Job, Outcome, Wanted, Worker};
use saltus::{Problem, Progress, Start, Status, run_slice};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A run is made in slices of so many steps, divided by the number of unknowns, so that long ones need no more memory.
pub(crate) const STEPS: u64 = 40_000;

/// Runs jobs with the event engine, or by steps.
pub struct Scalar {
    problem: Problem,
    stop: Arc<AtomicBool>,
}

impl Scalar {
    /// A worker for a problem. Where `stop` is set, it returns without the outcomes that are missing.
    pub fn new(problem: &Problem, stop: &Arc<AtomicBool>) -> Self {
        Scalar { problem: problem.clone(), stop: stop.clone() }
    }

    /// One trajectory; None if it was stopped.
    pub fn one(&self, job: &Job, wanted: &Wanted) -> Option<Outcome> {
        if let Err(error) = self.problem.instance(&job.start) {
            return Some(Outcome::refused(job, error.message));
        }
        let mut tally = Tally::new(self.problem.model(), wanted);
        let mut reader = Reader::new(&self.problem, job, wanted);
        let engine = if wanted.scheme.is_some() { Engine::Steps } else { Engine::Scalar };
        let finish = |mut tally: Tally, status: Status, end: Start| {
            tally.complain(self.problem.model(), wanted);
            Some(Outcome { engine, ..tally.outcome(&mut Meetings::new(&self.problem), status, end, job, wanted) })
        };
        // (A trajectory that ends with a return is computed to the end of the slice in which that is.)
        let steps = if wanted.returns.is_some() { STEPS / 32 } else { STEPS };
        let most = (steps / self.problem.dimension().max(1) as u64).max(100);
        // What is stored never changes the motion; the ledger needs few instants beside the pieces.
        let step = (job.end - job.start.t) / 4.0;
        let options = wanted.options(job);
        let mut step = job.step.filter(|_| wanted.scheme.is_some()).unwrap_or(step);
        let mut at = job.start.clone();
        // (What is left over is not a slice of its own: what a slice promises is measured by what happens in it.)
        let mut left_over = 0.0;
        loop {
            let most = if job.end - at.t <= left_over { 4 * most } else { most };
            let options = options.clone().step(step.min(job.end - at.t));
            let is_running = &mut |_: Progress| !self.stop.load(Ordering::Relaxed);
            let run = match run_slice(&self.problem, &at, &options, most, is_running) {
                Ok(run) => run,
                Err(error) => return Some(Outcome::refused(job, error.message)),
            };
            // (Where it does not divide the time, a scheme's step is the one that does; that of all slices is the same.)
            step = if wanted.scheme.is_some() { run.step } else { step };
            if let Some(end) = reader.add(&mut tally, &run) {
                return finish(tally, Status::Finished, end);
            }
            let last = run.last().clone();
            match run.status {
                Status::Interrupted { .. } if self.stop.load(Ordering::Relaxed) => return None,
                Status::Interrupted { .. } => {
                    let before = std::mem::replace(&mut at, last).t;
                    left_over = 1.5 * (at.t - before);
                }
                Status::Failed(failure) => return finish(tally, Status::Failed(failure), last),
                _ => return finish(tally, Status::Finished, last),
            }
        }
    }
}

impl Worker for Scalar {
    fn run(&mut self, jobs: &[Job], wanted: &Arc<Wanted>) -> Vec<Outcome> {
        let is_stopped = || self.stop.load(Ordering::Relaxed);
        jobs.iter().map_while(|job| if is_stopped() { None } else { self.one(job, wanted) }).collect()
    }
}
