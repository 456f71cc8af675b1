//! Several runs side by side, one a core, with one progress bar.

use crate::progress::Bar;
use saltus::{Problem, Progress, Run, RunOptions, SetupError, run};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

/// A run and its wall time, or why it did not start.
pub type Outcome = Result<(Run, f64), SetupError>;

/// No more instants than about this many are stored of each run; jumps always are.
const STORED: f64 = 200_000.0;

/// Makes all runs of one problem; outcomes are in the order of the options.
pub fn all(problem: &Problem, options: &[RunOptions], quiet: bool) -> Vec<Outcome> {
    each(&options.iter().map(|o| (problem, o.clone())).collect::<Vec<_>>(), quiet)
}

/// Makes runs of several problems; outcomes are in the order of the jobs.
pub fn each(jobs: &[(&Problem, RunOptions)], quiet: bool) -> Vec<Outcome> {
    // By events progress is counted in millionths of the time.
    let expected = |o: &RunOptions| o.scheme.stepping().map_or(1_000_000, |_| (o.end / o.step).max(1.0) as u64);
    let total: u64 = jobs.iter().map(|(_, o)| expected(o)).sum();
    let (next, done) = (AtomicUsize::new(0), AtomicU64::new(0));
    let outcomes: Mutex<Vec<Option<Outcome>>> = Mutex::new(jobs.iter().map(|_| None).collect());
    let bar = Mutex::new(Bar::new(quiet));
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(jobs.len().max(1));
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let k = next.fetch_add(1, Ordering::SeqCst);
                    let Some((problem, asked)) = jobs.get(k) else { return };
                    let every = (asked.end / asked.step / STORED).ceil().max(1.0) as u64;
                    let asked = RunOptions { every: asked.every.max(every), ..asked.clone() };
                    let mut told = 0;
                    let started = Instant::now();
                    let outcome = run(problem, &asked, &mut |p: Progress| {
                        let step = done.fetch_add(p.step - told, Ordering::SeqCst) + p.step - told;
                        told = p.step;
                        let all = Progress { step, steps: total, ..p };
                        bar.lock().map_or(true, |mut bar| bar.report(all))
                    });
                    let outcome = outcome.map(|run| (run, started.elapsed().as_secs_f64()));
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
    outcomes.into_iter().map(|o| o.unwrap_or_else(|| Err(SetupError::new("the run was not made")))).collect()
}
