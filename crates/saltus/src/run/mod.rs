//! Runs: what to run ([`Options`]), on what ([`System`]), a run in progress ([`Simulation`]) and what it leaves ([`Run`]).
//!
//! There is one way through the code for every kind of system: a system begins an engine, the engine writes to a recorder,
//! and the ledger is computed from what was recorded.

mod advice;
mod begin;
mod options;
mod outcome;
mod resolution;
mod simulation;
mod system;

pub use crate::engine::Progress;
pub use begin::Begun;
pub use options::{Options, SchemeChoice};
pub use outcome::Run;
#[doc(hidden)]
pub use simulation::Recorded;
pub use simulation::{Simulation, Stop};
pub use system::{Resumed, System};

use crate::SetupError;
use crate::engine::Reporter;
use crate::problem::Start;

/// A slice of a long run is made this many steps longer where an impact is in progress at its end.
const LONGEST_IMPACT: u64 = 1_000;

/// Runs a system from its own start.
///
/// ```
/// use saltus::{Options, model::Builder, run};
/// let ball = Builder::new("ball").coordinate("y", 1.0, 0.0).kinetic("y'^2/2").potential("9.81*y")
///     .restitution(0.5).constraint("floor", "y").build()?.problem()?;
/// let done = run(&ball, &Options::events(2.0))?;
/// assert!((done.trajectory.impacts.get(0).t - (2.0f64 / 9.81).sqrt()).abs() < 1e-9);
/// # Ok::<(), saltus::SetupError>(())
/// ```
pub fn run(system: &dyn System, options: &Options) -> Result<Run, SetupError> {
    run_observed(system, &system.start(), options, &mut |_| true)
}

/// Runs a system from a start. `observer` is called periodically with the progress and the state; return false to stop: the
/// run keeps what it has.
pub fn run_observed(
    system: &dyn System,
    start: &Start,
    options: &Options,
    observer: &mut dyn FnMut(Progress) -> bool,
) -> Result<Run, SetupError> {
    run_slice(system, start, options, u64::MAX, observer)
}

/// The same for at most so many steps, by events so many pieces: a slice of a long run, whose status is then
/// [`crate::Status::Interrupted`], and which goes on from [`Run::last`].
pub fn run_slice(
    system: &dyn System,
    start: &Start,
    options: &Options,
    most: u64,
    observer: &mut dyn FnMut(Progress) -> bool,
) -> Result<Run, SetupError> {
    if !options.end.is_finite() {
        return Err(SetupError::new("a run needs an end time").help("Options::until sets it"));
    }
    let began = std::time::Instant::now();
    let mut simulation = Simulation::new(system, start, options)?;
    let setup = began.elapsed();
    let (mut reporter, mut steps) = (Reporter::new(), 0);
    while !simulation.is_over() {
        steps += 1;
        // (An impact that takes a scheme several steps is not cut in two.)
        let is_slice = steps > most && (steps > most.saturating_add(LONGEST_IMPACT) || !simulation.is_within_impact());
        if is_slice || (reporter.is_due() && !observer(simulation.progress())) {
            simulation.interrupt();
            break;
        }
        simulation.step(options.end);
    }
    let mut run = simulation.finish();
    run.setup = setup;
    Ok(run)
}
