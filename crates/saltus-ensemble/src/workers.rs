//! Which worker runs the trajectories of a problem.

use crate::lanes::plain_worker;
use crate::{Native, Wanted, Worker};
use saltus::Problem;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A worker for a problem: steps of a scheme or compiled code where they are asked for, lanes where they can compute it. Once `stop` is set it returns early, without the outcomes that are
/// missing.
pub fn workers(problem: &Problem, wanted: &Wanted, native: Option<&Native>, stop: &Arc<AtomicBool>) -> Box<dyn Worker> {
    // (Compiled code keeps no statistics, and no sections of steps.)
    let is_kept = wanted.statistics.is_empty() && !(wanted.sections && wanted.scheme.is_some());
    let native = native.filter(|native| native.is_for(wanted) && is_kept);
    match native {
        Some(native) => native.worker(problem, wanted.tolerance, stop),
        None => plain_worker(problem, wanted, stop),
    }
}
