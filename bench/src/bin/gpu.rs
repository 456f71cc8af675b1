//! Families of motions on a GPU: kernel time per period of a trajectory, and how far the results are from those of the processor.
//!
//! ```text
//! cargo run --release -p saltus-bench --bin gpu [-- A B …]
//! cargo run --release -p saltus-bench --bin gpu -- --emit FOLDER
//! ```
//!
//! The five problems of `ensemble`, 262 144 trajectories × 100 periods, with frequencies in order (neighbours take nearly the same
//! steps) and in random order. The second form writes the CUDA source of each.

#[path = "../problems.rs"]
mod problems;

use problems::{PROBLEMS, problem};
use saltus::Problem;
use saltus_ensemble::{Engine, Job, Native, Wanted, Worker};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

const TRAJECTORIES: usize = 1 << 18;
const PERIODS: f64 = 100.0;

fn main() {
    let chosen: Vec<String> = std::env::args().skip(1).collect();
    if let [first, folder] = &chosen[..]
        && first == "--emit"
    {
        for (name, text, ..) in PROBLEMS {
            let name = &name[..1];
            let source = Native::cuda(&problem(text)).expect("source");
            std::fs::write(Path::new(folder).join(format!("{name}.cu")), source).expect("written");
        }
        return;
    }
    println!(
        "{:4} {:7} {:>9} {:>11} {:>10} {:>10} {:>9} {:>9} {:>9} {:>9}",
        "", "order", "tolerance", "per second", "kernel s", "whole s", "compile s", "steps", "handed", "99 %"
    );
    for (name, text, low, high) in PROBLEMS {
        let name = &name[..1];
        if !chosen.is_empty() && !chosen.iter().any(|letter| letter == name) {
            continue;
        }
        let problem = problem(text);
        let begun = Instant::now();
        let native = match Native::compile_gpu(&problem) {
            Ok(native) => native.with_width(TRAJECTORIES),
            Err(why) => {
                println!("{name}: {why}");
                continue;
            }
        };
        let compile = begun.elapsed().as_secs_f64();
        for tolerance in [1e-8, 1e-10] {
            for order in ["sorted", "random"] {
                let jobs = jobs(&problem, low, high, PERIODS, order == "random");
                let wanted = Arc::new(Wanted { tolerance, ..Wanted::default() });
                let mut worker = native.worker(&problem, tolerance, &Arc::default());
                drop(worker.run(&jobs[..1024], &wanted));
                let (before, begun) = (native.spent().unwrap_or_default(), Instant::now());
                let outcomes = worker.run(&jobs, &wanted);
                let (whole, after) = (begun.elapsed().as_secs_f64(), native.spent().unwrap_or_default());
                let handed = outcomes.iter().filter(|o| o.engine != Engine::Lanes).count();
                let kernel = after.seconds - before.seconds;
                println!(
                    "{name:4} {order:7} {tolerance:>9.0e} {:>11.2e} {kernel:>10.4} {whole:>10.3} {compile:>9.2} {:>9} {handed:>9} {:>9.1e}",
                    TRAJECTORIES as f64 * PERIODS / kernel,
                    after.longest,
                    error(&problem, &native, low, high, tolerance)
                );
            }
        }
    }
}

fn jobs(problem: &Problem, low: f64, high: f64, periods: f64, mixed: bool) -> Vec<Job> {
    let job = |k: usize| {
        // (An odd factor permutes the numbers below a power of two.)
        let place = if mixed { (k * 40_503 + 12_345) % TRAJECTORIES } else { k };
        let w = low + (high - low) * place as f64 / TRAJECTORIES as f64;
        let start = problem.start_with(&[("w", w)]).expect("a start");
        Job { start, from: 0.0, end: periods * std::f64::consts::TAU / w, strobe: None, step: None }
    };
    (0..TRAJECTORIES).map(job).collect()
}

/// The 99th percentile of the difference from lanes with a tolerance of 1e-13 after ten periods.
fn error(problem: &Problem, native: &Native, low: f64, high: f64, tolerance: f64) -> f64 {
    let short: Vec<Job> = jobs(problem, low, high, 10.0, false).into_iter().step_by(256).collect();
    let run = |worker: &mut dyn Worker, tolerance: f64| {
        worker.run(&short, &Arc::new(Wanted { tolerance, ..Wanted::default() }))
    };
    let exact = saltus_ensemble::LaneWorker::<16>::new(problem, 1e-13, &Arc::default())
        .map(|mut worker| run(&mut worker, 1e-13))
        .unwrap_or_default();
    let found = run(native.worker(problem, tolerance, &Arc::default()).as_mut(), tolerance);
    let off = |(a, b): (&saltus_ensemble::Outcome, &saltus_ensemble::Outcome)| {
        a.q.iter().zip(&b.q).chain(a.v.iter().zip(&b.v)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    };
    let mut errors: Vec<f64> = exact.iter().zip(&found).map(off).collect();
    errors.sort_by(f64::total_cmp);
    errors.get(errors.len() * 99 / 100).copied().unwrap_or(f64::NAN)
}
