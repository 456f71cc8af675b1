//! Which worker runs the trajectories of a problem.

use crate::{LaneWorker, Native, Scalar, StepWorker, Wanted, Worker};
use saltus::Problem;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A worker for a problem: steps of a scheme or compiled code where they are asked for, lanes where they can compute it. Once `stop` is set it returns early, without the outcomes that are
/// missing.
pub fn workers(problem: &Problem, wanted: &Wanted, native: Option<&Native>, stop: &Arc<AtomicBool>) -> Box<dyn Worker> {
    if wanted.scheme.is_some() {
        return match StepWorker::<16>::new(problem, wanted, stop) {
            Some(lanes) => Box::new(lanes),
            None => Box::new(Scalar::new(problem, stop)),
        };
    }
    // (Compiled code keeps neither sections nor statistics.)
    if let Some(native) = native.filter(|_| !wanted.sections && wanted.statistics.is_empty()) {
        return native.worker(problem, wanted.tolerance, stop);
    }
    let lanes: Result<LaneWorker, _> = LaneWorker::new(problem, wanted.tolerance, stop);
    match lanes {
        Ok(lanes) => Box::new(lanes),
        Err(_) => Box::new(Scalar::new(problem, stop)),
    }
}
