//! What a step costs, model by model, beside the same scheme written by hand for the ball.
//!
//! ```text
//! cargo run --release -p saltus-bench
//! ```
//!
//! Each figure is the median of several runs, recording included; the steps are Paoli–Schatzman's, or Moreau–Jean's where there is
//! friction. The hand-written loop is the limit: the same
//! arithmetic for one ball and one wall, with nothing to interpret and nothing to check.

use saltus::{Options, Problem, Stop};
use saltus_io::shipped;
use std::hint::black_box;
use std::time::Instant;

const REPEATS: usize = 15;

fn main() {
    let by_hand = median(|| hand_written_ball(1_000_000));
    println!("{:18} {:>10} {:>12} {:>10}", "model", "steps", "ns per step", "impacts");
    println!("{:18} {:>10} {by_hand:>12.1} {:>10}", "ball by hand", 1_000_000, "");
    let mut ball = f64::NAN;
    // (Names of models may be given.)
    let chosen: Vec<String> = std::env::args().skip(1).collect();
    let is_chosen = |name: &&str| chosen.is_empty() || chosen.iter().any(|c| c == name);
    for name in shipped::names(false).filter(is_chosen) {
        let (ns, steps, impacts) = cost(name);
        println!("{name:18} {steps:>10} {ns:>12.1} {impacts:>10}");
        if name == "ball-gravity" {
            ball = ns;
        }
    }
    println!("\nball-gravity from its model file costs {:.1} times the hand-written loop", ball / by_hand);
    println!("\n{:18} {:>20} {:>20}", "ledger, % of a run", "steps", "events");
    for name in shipped::names(false).filter(is_chosen) {
        let problem = shipped::find(name).expect("shipped").expect("parses").problem(&[]).expect("valid").0;
        let share = |scheme: &str| 100.0 * ledger_share(name, scheme);
        println!("{name:18} {:>20.1} {:>20.1}", share(stepping(&problem)), share("auto"));
    }
}

/// What the ledger of a shipped run costs, with all else that follows the last step, as a part of the run.
fn ledger_share(name: &str, scheme: &str) -> f64 {
    let file = shipped::find(name).expect("shipped").expect("parses");
    let (problem, defaults) = file.problem(&[]).expect("valid");
    let (step, end) = (defaults.step.expect("a step"), defaults.end.expect("an end"));
    let options = Options::events(end).scheme(scheme).step(step);
    let mut shares: Vec<f64> = (0..REPEATS)
        .map(|_| {
            let start = Instant::now();
            let mut simulation = problem.engine(&options).expect("begins");
            while simulation.advance_to(end).expect("runs") != Stop::Time {}
            let running = start.elapsed();
            black_box(simulation.finish().ledger.balance.closure);
            1.0 - running.as_secs_f64() / start.elapsed().as_secs_f64()
        })
        .collect();
    shares.sort_by(f64::total_cmp);
    shares[REPEATS / 2]
}

/// The scheme whose steps are timed: Paoli–Schatzman's, or, where there is friction, which it does not know, Moreau–Jean's.
fn stepping(problem: &Problem) -> &'static str {
    if problem.model().frictions.is_empty() { "paoli-schatzman" } else { "moreau-jean" }
}

/// Median nanoseconds per step of a shipped model, over at least 10⁵ steps, and its steps and impacts.
fn cost(name: &str) -> (f64, u64, usize) {
    let file = shipped::find(name).expect("shipped").expect("parses");
    let (problem, defaults) = file.problem(&[]).expect("valid");
    let (step, end) = (defaults.step.expect("a step"), defaults.end.expect("an end"));
    // Long enough for the clock: a shipped run of few steps is made finer.
    let finer = if name == "ball-gravity" { 1_000_000.0 } else { 100_000.0 } * step / end;
    let step = if finer > 1.0 { step / finer } else { step };
    let options = Options::steps(stepping(&problem), step).until(end);
    let (mut steps, mut impacts) = (0, 0);
    let ns = median(|| {
        let done = problem.run(&options).expect("runs");
        (steps, impacts) = (done.steps, done.trajectory.impacts.len());
        black_box(done.trajectory.len());
        steps
    });
    (ns, steps, impacts)
}

/// Median nanoseconds per step of something that says how many steps it made.
fn median(mut made: impl FnMut() -> u64) -> f64 {
    let mut times: Vec<f64> = (0..REPEATS)
        .map(|_| {
            let start = Instant::now();
            let steps = made();
            start.elapsed().as_secs_f64() * 1e9 / steps as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[REPEATS / 2]
}

/// Paoli–Schatzman for the ball under gravity, e = 0.8, recording t, q and v.
fn hand_written_ball(steps: u64) -> u64 {
    let (h, g, e) = (black_box(5e-6), black_box(9.81), black_box(0.8));
    let n = steps as usize;
    let (mut t, mut q, mut v) = (Vec::with_capacity(n + 1), Vec::with_capacity(n + 1), Vec::with_capacity(n + 1));
    let (mut before, mut now) = (1.0, 1.0 - 0.5 * h * h * g);
    for k in 0..=steps {
        let free: f64 = 2.0 * now - before - h * h * g;
        let next = if free + e * before < 0.0 { -e * before } else { free };
        t.push(k as f64 * h);
        q.push(now);
        v.push((next - before) / (2.0 * h));
        (before, now) = (now, next);
    }
    black_box((&t, &q, &v));
    steps
}
