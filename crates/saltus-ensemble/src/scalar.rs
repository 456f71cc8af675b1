//! The event engine as a worker: one trajectory after the other, each reduced while it is computed.

use crate::reduce::Reduction;
use crate::{Job, Outcome, Wanted, Worker};
use saltus::{Options, Problem, Run, Start, Status};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A run is made in slices of about this many pieces, so that long ones need no more memory.
const PIECES: f64 = 20_000.0;
/// Intervals of the stroboscope in the first slice.
const INTERVALS: f64 = 256.0;
/// Without a stroboscope: the share of the time in the first slice.
const SHARE: f64 = 0.125;

/// Runs jobs with the event engine.
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
        let mut reduction = match Reduction::new(&self.problem, job, wanted) {
            Ok(reduction) => reduction,
            Err(error) => return Some(Outcome::refused(job, error)),
        };
        let (mut at, mut length) = (job.start.clone(), first_slice(job));
        loop {
            let left = job.end - at.t;
            // What is left must not be a slice too short to be one.
            let until = if left <= 1.5 * length { job.end } else { at.t + length };
            let run = match self.slice(&at, until, wanted.tolerance) {
                Ok(run) => run,
                Err(error) => return Some(reduction.finish(Err(error))),
            };
            reduction.add(&run);
            match &run.status {
                Status::Interrupted { .. } => return None,
                Status::Failed(_) => return Some(reduction.finish(Ok(run.status))),
                _ if until >= job.end => return Some(reduction.finish(Ok(Status::Finished))),
                _ => {}
            }
            let pieces = run.trajectory.pieces.len().max(1) as f64;
            length = PIECES / pieces * (until - at.t);
            at = run.last().clone();
        }
    }

    fn slice(&self, at: &Start, until: f64, tolerance: f64) -> Result<Run, String> {
        let options = Options::events(until).tolerance(tolerance).step((until - at.t) / 4.0);
        let run = self.problem.run_observed(at, &options, &mut |_| !self.stop.load(Ordering::Relaxed));
        run.map_err(|e| e.message)
    }
}

/// The length of the first slice, of which nothing is known yet.
fn first_slice(job: &Job) -> f64 {
    match job.strobe {
        Some(interval) => INTERVALS * interval,
        None => SHARE * (job.end - job.start.t),
    }
}

impl Worker for Scalar {
    fn run(&mut self, jobs: &[Job], wanted: &Arc<Wanted>) -> Vec<Outcome> {
        let is_stopped = || self.stop.load(Ordering::Relaxed);
        jobs.iter().map_while(|job| if is_stopped() { None } else { self.one(job, wanted) }).collect()
    }
}
