//! What is to be computed.

use crate::{Checks, Engine, Outcome};
use saltus::scheme::Settings;
use saltus::{Options, Start};
use std::sync::Arc;

/// One trajectory of a family.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Where it starts, with the values of all open parameters.
    pub start: Start,
    /// The time from which on things are kept; not before the start.
    pub from: f64,
    /// Where it ends.
    pub end: f64,
    /// The interval of the stroboscope, from `from` on.
    pub strobe: Option<f64>,
    /// The time step, where it is computed by a scheme that makes steps.
    pub step: Option<f64>,
}

impl Job {
    /// A job without a start, in whose place others are put.
    pub(crate) fn nothing() -> Self {
        Job { start: Start::new(0.0, Vec::new(), Vec::new()), from: 0.0, end: 0.0, strobe: None, step: None }
    }

    /// Instant `k` of the stroboscope, from 0 at [`Job::from`]; None beyond the end, but for rounding.
    pub fn instant(&self, k: u64) -> Option<f64> {
        let interval = self.strobe?;
        let (t, rounding) = (self.from + k as f64 * interval, 1e-9 * interval);
        (t <= self.end + rounding).then_some(t.min(self.end))
    }
}

impl Outcome {
    /// Of a job that cannot start, with the reason.
    pub fn refused(job: &Job, reason: String) -> Self {
        Outcome {
            status: Err(reason),
            t: job.start.t,
            q: job.start.q.clone(),
            v: job.start.v.clone(),
            impacts: 0,
            accumulations: 0,
            strobe: Vec::new(),
            sections: Vec::new(),
            returns: 0,
            hits: Vec::new(),
            statistics: Vec::new(),
            settled: None,
            checks: Checks::default(),
            engine: Engine::Scalar,
        }
    }
}

/// What is kept of each trajectory. Final states and counts always are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wanted {
    /// The relative tolerance of the event engine.
    pub tolerance: f64,
    /// The scheme that makes steps ([`Job::step`]); by events if there is none.
    pub scheme: Option<String>,
    /// What it is set to, where that is not the default.
    pub settings: Settings,
    /// Whether the states at the stroboscope are kept.
    pub strobe: bool,
    /// Whether the states at the events of the model ([`saltus::Model::events`]) are kept: sections.
    pub sections: bool,
    /// After how many crossings of the first section a trajectory ends, if not before.
    pub returns: Option<u64>,
    /// How many of the last states at each section are kept; all if it is not given.
    pub last: Option<usize>,
    /// How many of the last impacts are kept; none of them for 0.
    pub impacts: usize,
    /// The expressions of which statistics are kept: numbered as the problem has them.
    pub statistics: Vec<usize>,
    /// Whether they have corners or jumps, which are looked for in shorter parts of a motion.
    pub rough: bool,
    /// All expressions of the problem as they are written, as far as messages are to name them.
    pub expressions: Vec<String>,
    /// Whether to report what the trajectory settled on.
    pub settled: bool,
}

impl Wanted {
    /// The options of a run that does a job.
    pub fn options(&self, job: &Job) -> Options {
        match (&self.scheme, job.step) {
            (Some(scheme), Some(h)) => {
                let mut options = Options::steps(scheme.as_str(), h).until(job.end);
                options.settings = self.settings.clone();
                options
            }
            _ => Options::events(job.end).tolerance(self.tolerance),
        }
    }
}

/// Runs jobs of one problem.
pub trait Worker: Send {
    /// Runs all jobs; one outcome for each, in their order.
    fn run(&mut self, jobs: &[Job], wanted: &Arc<Wanted>) -> Vec<Outcome>;
}
