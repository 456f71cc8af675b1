//! What is kept of a trajectory.

use saltus::Status;

/// A trajectory, reduced to what was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// How it ended; refused starts have the reason.
    pub status: Result<Status, String>,
    /// The last time, position and velocity.
    pub t: f64,
    /// See `t`.
    pub q: Vec<f64>,
    /// See `t`.
    pub v: Vec<f64>,
    /// The number of impacts from `Job::from` on, and of accumulations, whose impacts are infinitely many.
    pub impacts: u64,
    /// See `impacts`.
    pub accumulations: u64,
    /// States at the stroboscope: t, q, v of each, one after the other.
    pub strobe: Vec<f64>,
    /// States at sections: index of the event, t, q, v of each, one after the other.
    pub sections: Vec<f64>,
    /// How often the first section was crossed.
    pub returns: u64,
    /// The last impacts, oldest first.
    pub hits: Vec<Hit>,
    /// One for each expression asked for.
    pub statistics: Vec<Statistic>,
    /// What it settled on, where asked for.
    pub settled: Option<Settled>,
    /// What holds.
    pub checks: Checks,
    /// What computed it.
    pub engine: Engine,
}

/// An impact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// When.
    pub t: f64,
    /// The constraint.
    pub constraint: u32,
    /// The speed at which its gap closed.
    pub speed: f64,
    /// The impulse.
    pub impulse: f64,
}

/// Least and largest value, mean and root of the mean square of an expression over a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Statistic {
    /// The least value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
    /// The mean over time.
    pub mean: f64,
    /// The root of the mean square over time.
    pub rms: f64,
}

/// What a trajectory settled on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Settled {
    /// It is at rest.
    Rest,
    /// It repeats after so many intervals of the stroboscope, with so many impacts.
    Periodic {
        /// Intervals of the stroboscope.
        intervals: u32,
        /// Impacts in a period.
        impacts: u32,
    },
    /// It repeats in the same way but for where it is: one or more coordinates advance by a constant in each period.
    Travelling {
        /// Intervals of the stroboscope.
        intervals: u32,
        /// Impacts in a period.
        impacts: u32,
    },
    /// Without a stroboscope: its impacts repeat after this time, so many of them.
    Recurrent {
        /// The period.
        time: f64,
        /// Impacts in a period.
        impacts: u32,
    },
    /// Neither, in the time computed.
    Neither,
}

/// What a trajectory promises, and by how much it is off at worst.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Checks {
    /// The deepest violation of a constraint.
    pub violation: f64,
    /// The largest residual of the impact law, relative to the speed of the impact.
    pub law: f64,
    /// The largest relative residual of the energy account; for trajectories computed in lanes the largest relative residual of
    /// the equations of motion at the ends of steps.
    pub balance: f64,
    /// Whether any of them is beyond what is promised.
    pub is_breached: bool,
}

/// What computed a trajectory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// The event engine, by itself.
    #[default]
    Scalar,
    /// Lanes, all of it.
    Lanes,
    /// Lanes, and the event engine where they could not decide.
    Both,
    /// The steps of a scheme.
    Steps,
    /// The same, made again from the start: what makes them side by side could not decide something.
    Again,
}

impl Outcome {
    /// The same, made again from the start by what is slower.
    pub(crate) fn again(self) -> Self {
        Outcome { engine: Engine::Again, ..self }
    }
}
