//! Several runs of one system: the library says which, the caller how (one after another, or side by side on threads).

use crate::SetupError;
use crate::problem::Start;
use crate::run::{Options, Run, System, run_observed};

/// A run to be made.
#[derive(Clone, Debug)]
pub struct Job {
    /// Where it starts.
    pub start: Start,
    /// What to run.
    pub options: Options,
}

/// A run and its wall time.
#[derive(Clone, Debug)]
pub struct Timed {
    /// The run.
    pub run: Run,
    /// Wall time in seconds.
    pub seconds: f64,
}

/// Makes runs; outcomes are in the order of the jobs.
pub type Execute<'a> = &'a mut dyn FnMut(&[Job]) -> Vec<Result<Timed, SetupError>>;

/// Makes runs one after another.
pub fn sequentially(system: &dyn System) -> impl FnMut(&[Job]) -> Vec<Result<Timed, SetupError>> + '_ {
    move |jobs| {
        let one = |job: &Job| {
            let started = std::time::Instant::now();
            let run = run_observed(system, &job.start, &job.options, &mut |_| true)?;
            Ok(Timed { run, seconds: started.elapsed().as_secs_f64() })
        };
        jobs.iter().map(one).collect()
    }
}
