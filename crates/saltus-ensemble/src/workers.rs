//! Which worker runs the trajectories of a problem.

use crate::{Scalar, Worker};
use saltus::Problem;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A worker for a problem. Once `stop` is set it returns early, without the outcomes that are missing.
pub fn workers(problem: &Problem, stop: &Arc<AtomicBool>) -> Box<dyn Worker> {
    Box::new(Scalar::new(problem, stop))
}
