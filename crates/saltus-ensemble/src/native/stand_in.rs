//! What a thread of a GPU does, on the processor, in the place of a GPU: to test what is around a GPU on any machine, and what happens
//! where one fails.

use super::gpu::Spent;
use super::iterate::{Fault, Iterate};
use super::library::Iteration;
use super::state::State;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// See the module.
#[derive(Clone)]
pub struct StandIn {
    iteration: Iteration,
    /// How many trajectories a worker is said to take at a time.
    pub width: usize,
    /// Launches that are left before it fails.
    left: Arc<AtomicU64>,
    pub spent: Arc<Mutex<Spent>>,
}

impl StandIn {
    pub fn new(iteration: Iteration, width: usize, fails_after: Option<u64>) -> Self {
        let left = Arc::new(AtomicU64::new(fails_after.unwrap_or(u64::MAX)));
        StandIn { iteration, width, left, spent: Arc::default() }
    }

    /// How it fails.
    pub fn fails_after(&self) -> Option<u64> {
        Some(self.left.load(Ordering::SeqCst)).filter(|&left| left < u64::MAX)
    }
}

impl Iterate for StandIn {
    fn room(&self) -> (State, Vec<f64>) {
        self.iteration.room()
    }

    fn prepare(&mut self, wanted: usize, flags: i32) -> Result<usize, Fault> {
        self.iteration.prepare(wanted, flags)
    }

    fn is_coupled(&self) -> bool {
        true
    }

    fn is_packed(&self) -> bool {
        self.iteration.is_packed()
    }

    fn advance(&mut self, state: &mut State, log: &mut Vec<f64>, tolerance: f64, flags: i32) -> Result<(), Fault> {
        let less = |left: u64| if left == u64::MAX { Some(left) } else { left.checked_sub(1) };
        if self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less).is_err() {
            return Err(Fault::Failed("the GPU's driver says: this one was to fail".into()));
        }
        let begun = Instant::now();
        let advanced = self.iteration.advance(state, log, tolerance, flags);
        if let Ok(mut spent) = self.spent.lock() {
            spent.seconds += begun.elapsed().as_secs_f64();
            spent.launches += 1;
        }
        advanced
    }
}
