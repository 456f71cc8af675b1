//! What a run leaves.

use super::Options;
use crate::ledger::Ledger;
use crate::motion::{BaseShear, Followed, Obstacle, Rubbed, Timeline, Touch, Trajectory, Variation};
use crate::problem::Start;
use crate::record::{Audit, Extremes};
use crate::scheme::Scheme;
use crate::{RunFailure, Status, StepFailure};

/// A finished (or interrupted, or failed) run.
#[derive(Clone, Debug)]
#[must_use = "a run may have failed: see Run::ok and Run::status"]
#[non_exhaustive]
pub struct Run {
    /// The motion of the observed coordinates.
    pub trajectory: Trajectory,
    /// What was checked along the way.
    pub audit: Audit,
    /// What held and what did not.
    pub ledger: Ledger,
    /// How it ended.
    pub status: Status,
    /// Steps made.
    pub steps: u64,
    /// The step used: the one asked for, or slightly less so that the steps fit the end time. By events, the interval at
    /// which instants are stored.
    pub step: f64,
    /// The tolerance, for a run by events.
    pub tolerance: Option<f64>,
    /// The scheme that ran.
    pub scheme: Scheme,
    /// The options it was started with.
    pub options: Options,
    /// Where it started.
    pub start: Start,
    /// How long it took until the first step: factors of matrices, modes.
    pub setup: std::time::Duration,
    /// What a user should know.
    pub warnings: Vec<String>,
    /// What was done where, when that does not follow from the rest.
    pub notes: Vec<String>,
    /// The phases of the motion, from an engine that locates them.
    pub timeline: Timeline,
    /// Uninterrupted touches of each stop, for structures.
    pub touches: Vec<Touch>,
    /// What friction did at the stops of a structure that have some.
    pub rubbed: Vec<Rubbed>,
    /// ∫F²dt of each stop that is a spring.
    pub squared_forces: Vec<f64>,
    /// Base shears of the points that ask for them: damping included.
    pub shears: Vec<BaseShear>,
    /// Largest, smallest and root mean square of each point, for structures.
    pub extremes: Vec<Extremes>,
    /// Deflected shapes at some instants, for drawing.
    pub shapes: Vec<(f64, Vec<f64>)>,
    /// The coordinates that were to be kept at every step ([`Options::follow`]), where fewer instants are stored.
    pub followed: Followed,
    /// The perturbations that travelled along ([`Options::vary`]), at the end; or why there are none there.
    pub variation: Option<Result<Variation, Obstacle>>,
    pub(crate) last: Start,
}

impl Run {
    /// The run, or what is wrong with it if it failed or its ledger has breaches: for code that must not overlook either.
    pub fn ok(self) -> Result<Run, RunFailure> {
        match self.status {
            Status::Failed(failure) => Err(RunFailure::Failed(failure)),
            Status::Breached { breaches } => Err(RunFailure::Breached { breaches }),
            _ => Ok(self),
        }
    }

    /// The run, or the failure if it failed; breaches are left to [`Run::status`] and the ledger. For studies with coarse steps.
    pub fn complete(self) -> Result<Run, StepFailure> {
        match self.status {
            Status::Failed(failure) => Err(failure),
            _ => Ok(self),
        }
    }

    /// The last state, with its clock, its active set and its parameters: a valid start of another run.
    pub fn last(&self) -> &Start {
        &self.last
    }

    /// Evenly spaced times from start to end, `n` intervals: all of them inside the motion.
    pub fn times(&self, n: usize) -> impl Iterator<Item = f64> + use<> {
        self.trajectory.times(n)
    }

    /// The largest gain of energy at an impact, which only moving obstacles may give; zero if none gained.
    pub fn largest_energy_gain(&self) -> f64 {
        self.trajectory.impacts.iter().map(|i| i.energy_change).fold(0.0, f64::max)
    }

    /// Whether positions stay where they are from a time on, to a hundredth of what they covered before: a small velocity
    /// beside a very large one is not rest.
    pub fn stays_since(&self, t: f64) -> bool {
        let motion = &self.trajectory;
        let covered = |instants: std::ops::Range<usize>| {
            let range = |i: usize| {
                let of = instants.clone().map(|k| motion.q(k)[i]);
                let (low, high) = of.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
                if high >= low { high - low } else { 0.0 }
            };
            motion.displacements().map(range).fold(0.0, f64::max)
        };
        let from = motion.t.partition_point(|&s| s < t);
        let reach = motion.reach();
        let before = covered(0..motion.len().min(from + 1));
        covered(from..motion.len()) <= (0.01 * before).max(1e-9 * reach)
    }

    /// Whether it went from event to event.
    pub fn by_events(&self) -> bool {
        self.tolerance.is_some()
    }
}
