//! An engine carries a motion forward and writes to a [`Recorder`]: [`StepEngine`] by the steps of a scheme, the event
//! engine (in `event`) from event to event. The run loop sees nothing else.

mod noting;
mod steps;

pub(crate) use steps::{StepEngine, StepPlan, grid};

use crate::Reason;
use crate::motion::{Obstacle, Variation};
use crate::problem::{Cells, Memory};
use crate::record::Recorder;
use std::time::{Duration, Instant};

/// How far a run has come.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Progress<'a> {
    /// Steps made; by events, millionths of the time.
    pub step: u64,
    /// Steps to make; by events, a million.
    pub steps: u64,
    /// The time reached.
    pub t: f64,
    /// Impacts so far.
    pub impacts: usize,
    /// The position there.
    pub q: &'a [f64],
    /// The velocity there.
    pub v: &'a [f64],
}

/// What the run loop sees of an engine.
pub(crate) trait Engine {
    /// One step, or a piece up to the next event, not beyond `until`.
    fn advance(&mut self, until: f64) -> Result<(), Reason>;

    /// The time reached.
    fn t(&self) -> f64;

    /// Whether `until` is reached.
    fn is_at(&self, until: f64) -> bool;

    /// Observed position and velocity, after any impact at this instant.
    fn state(&self) -> (&[f64], &[f64]);

    /// Position and velocity of all degrees of freedom, and the constraints that are closed.
    fn full_state(&self) -> (Vec<f64>, Vec<f64>, Vec<usize>);

    /// On which sides of the user's events it is; see [`crate::problem::Reached::sides`].
    fn sides(&self) -> Vec<i8>;

    /// Whether nothing moves any more.
    fn is_at_rest(&self) -> bool;

    /// Whether a time-stepping scheme is within an impact that takes it more than one step.
    fn is_within_impact(&self) -> bool {
        false
    }

    /// What a time-stepping scheme remembers besides the full state.
    fn memory(&self) -> Option<Memory> {
        None
    }

    /// Whether it goes on from such a memory.
    fn goes_on(&self) -> bool {
        false
    }

    /// Steps made and to make.
    fn steps(&self) -> (u64, u64);

    /// What has been recorded.
    fn recorder(&mut self) -> &mut Recorder;

    /// Number of impacts so far.
    fn impacts(&self) -> usize;

    /// Open parameters and ports.
    fn cells(&self) -> &Cells;

    /// A port has changed: what was extrapolated from its old value is no longer valid.
    fn port_changed(&mut self) {}

    /// The perturbations carried along, at the present state; None if there are none.
    fn variation(&mut self) -> Option<Result<Variation, Obstacle>> {
        None
    }

    /// Other perturbations from here on.
    fn set_variation(&mut self, _columns: &Variation) {}

    /// Closes what is open: impacts, contacts, the last instant.
    fn finish(&mut self);
}

/// Reports are made, and a stop is possible, about this often, however long a step takes.
const REPORT_INTERVAL: Duration = Duration::from_millis(20);

/// Asks for a report every so often, at the cost of a counter.
pub(crate) struct Reporter {
    count: u64,
    next: u64,
    stride: u64,
    last: Instant,
}

impl Reporter {
    pub fn new() -> Self {
        Reporter { count: 0, next: 1, stride: 1, last: Instant::now() }
    }

    /// Counts a step; true if a report is due.
    pub fn is_due(&mut self) -> bool {
        let due = self.count == self.next;
        if due {
            let now = Instant::now();
            self.stride = match now.duration_since(self.last) < REPORT_INTERVAL {
                // Steps may suddenly become slow: the next look at the clock must not be far away.
                true => (2 * self.stride).min(1 << 9),
                false => (self.stride / 2).max(1),
            };
            (self.next, self.last) = (self.count + self.stride, now);
        }
        self.count += 1;
        due
    }
}
