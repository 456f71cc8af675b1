//! Several runs side by side, one per core, with one progress bar.

use crate::progress::{Bar, is_stopped};
use saltus::analysis::{Job, Timed};
use saltus::{Options, Progress, SetupError, System, run_observed};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

/// Makes runs of a system on all cores; outcomes are in the order of the jobs.
pub fn on_all_cores(system: &dyn System, quiet: bool) -> impl FnMut(&[Job]) -> Vec<Result<Timed, SetupError>> + '_ {
    move |jobs| execute(system, jobs, quiet)
}

fn execute(system: &dyn System, jobs: &[Job], quiet: bool) -> Vec<Result<Timed, SetupError>> {
    // By events progress is counted in millionths of the time.
    let expected = |job: &Job| match (&job.options, job.start.t) {
        (Options { scheme, .. }, _) if scheme.is_event_driven() => 1_000_000,
        (o, t0) => ((o.end - t0) / o.step.unwrap_or(f64::INFINITY)).max(1.0) as u64,
    };
    let total: u64 = jobs.iter().map(expected).sum();
    let (next, done) = (AtomicUsize::new(0), AtomicU64::new(0));
    let outcomes: Mutex<Vec<Option<Result<Timed, SetupError>>>> = Mutex::new(jobs.iter().map(|_| None).collect());
    let bar = Mutex::new(Bar::new(quiet));
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(jobs.len().max(1));
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::SeqCst)) {
                    let k = jobs.iter().position(|j| std::ptr::eq(j, job)).unwrap_or(0);
                    let mut counted = 0;
                    let started = Instant::now();
                    if is_stopped() {
                        return;
                    }
                    let run = run_observed(system, &job.start, &job.options, &mut |p: Progress| {
                        let step = done.fetch_add(p.step - counted, Ordering::SeqCst) + p.step - counted;
                        counted = p.step;
                        bar.lock().map_or(true, |mut bar| bar.advance(step, total, p.t, p.impacts))
                    });
                    let outcome = run.map(|run| Timed { run, seconds: started.elapsed().as_secs_f64() });
                    if let Ok(mut outcomes) = outcomes.lock() {
                        outcomes[k] = Some(outcome);
                    }
                }
            });
        }
    });
    if let Ok(bar) = bar.into_inner() {
        bar.finish();
    }
    let outcomes = outcomes.into_inner().unwrap_or_default();
    outcomes.into_iter().map(|o| o.unwrap_or_else(|| Err(SetupError::new("not run: interrupted")))).collect()
}
