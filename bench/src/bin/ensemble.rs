//! Families of motions: what a period of a trajectory costs in lanes, beside the event engine and beside a loop written by hand.
//!
//! ```text
//! cargo run --release -p saltus-bench --bin ensemble [-- A B … steps valve]
//! ```
//!
//! Five problems from their model files, on one core, 512 trajectories over a range of the frequency; processor time, the shortest of
//! some runs. Errors are those of the final state after ten periods against the event engine with a tolerance of 1e-13, of the
//! trajectories that are not chaotic. The loop written by hand solves the first problem with Dormand–Prince's pair of orders 5 and 4 and
//! finds impacts by bisection of the step.
//!
//! The relief valve of the tutorials of MPGOS, over its flow: what a return to its largest lift costs.
//!
//! Then fixed steps of the first problem, a thousand in a period: schemes in lanes and in native code, beside runs of the same schemes and a
//! loop written by hand with Moreau–Jean's steps.

#[path = "../problems.rs"]
mod problems;

use problems::{PROBLEMS, VALVE, problem, valve};
use saltus::{Keep, Options, Problem};
use saltus_ensemble::{Engine, Job, LaneWorker, Native, Outcome, Scalar, StepWorker, Target, Wanted, Worker};
use std::hint::black_box;
use std::sync::Arc;

const TRAJECTORIES: usize = 512;
const PERIODS: f64 = 100.0;
const TOLERANCE: f64 = 1e-10;

fn main() {
    println!(
        "{:22} {:>8} {:>10} {:>8} {:>9} {:>9} {:>9} {:>8} {:>7}",
        "problem", "code", "ns/period", "events", "ratio", "error", "99 %", "impacts", "handed"
    );
    let chosen: Vec<String> = std::env::args().skip(1).collect();
    let is_chosen = |name: &str| chosen.is_empty() || chosen.iter().any(|letter| name.starts_with(letter.as_str()));
    for (name, text, low, high) in PROBLEMS.into_iter().filter(|(name, ..)| is_chosen(name)) {
        let problem = problem(text);
        let wanted = Arc::new(Wanted { tolerance: TOLERANCE, ..Wanted::default() });
        let family = jobs(&problem, low, high, PERIODS);
        let short: Vec<Job> = jobs(&problem, low, high, 10.0).into_iter().step_by(8).collect();
        let events = shortest(3, || short.iter().for_each(|job| drop(black_box(by_events(&problem, job, TOLERANCE)))));
        let events = events / (short.len() as f64 * 10.0);
        let mut crew: Vec<(&str, Box<dyn Worker>)> = Vec::new();
        match Native::compile(&problem) {
            Ok(native) => crew.push(("native", native.worker(&problem, TOLERANCE, &Arc::default()))),
            Err(why) => println!("{name}: no native code: {why}"),
        }
        if let Ok(worker) = LaneWorker::<32>::new(&problem, TOLERANCE, &Arc::default()) {
            crew.push(("lanes", Box::new(worker)));
        }
        let exact: Vec<Option<Vec<f64>>> = short.iter().map(|job| steady(&problem, job)).collect();
        for (code, worker) in &mut crew {
            let outcomes = worker.run(&family, &wanted);
            let lanes =
                shortest(25, || drop(black_box(worker.run(&family, &wanted)))) / (TRAJECTORIES as f64 * PERIODS);
            let ends = worker.run(&short, &wanted);
            let off = |(end, exact): (&Outcome, &Option<Vec<f64>>)| {
                exact.as_ref().map(|exact| apart(exact, &[&end.q[..], &end.v].concat()))
            };
            let mut errors: Vec<f64> = ends.iter().zip(&exact).filter_map(off).collect();
            errors.sort_by(f64::total_cmp);
            let impacts: u64 = outcomes.iter().map(|o| o.impacts).sum();
            let handed = outcomes.iter().filter(|o| o.engine != Engine::Lanes).count();
            println!(
                "{name:22} {code:>8} {lanes:>10.0} {events:>8.0} {:>9.1} {:>9.1e} {:>9.1e} {:>8.2} {handed:>7}",
                events / lanes,
                errors[errors.len() / 2],
                errors[errors.len() * 99 / 100],
                impacts as f64 / (TRAJECTORIES as f64 * PERIODS)
            );
        }
    }
    if is_chosen("steps") {
        fixed_steps();
    }
    if is_chosen("valve") {
        returns();
    }
    if !is_chosen("A") {
        return;
    }
    let problem = problem(PROBLEMS[0].1);
    let short: Vec<Job> = jobs(&problem, 0.5, 1.5, 10.0).into_iter().step_by(8).collect();
    for tolerance in [1e-8, 1e-10, 1e-12] {
        let mut worst: Vec<f64> = Vec::new();
        for job in &short {
            let hand = by_hand(job.start.parameters[0], job.end, tolerance);
            worst.push(apart(&by_events(&problem, job, 1e-13), &hand));
        }
        worst.sort_by(f64::total_cmp);
        let time = shortest(3, || {
            for job in &short {
                black_box(by_hand(job.start.parameters[0], job.end, tolerance));
            }
        });
        println!(
            "A by hand, Dormand–Prince, tolerance {tolerance:.0e}: {:.0} ns/period, error {:.1e} median, {:.1e} at 99 %",
            time / (short.len() as f64 * 10.0),
            worst[worst.len() / 2],
            worst[worst.len() * 99 / 100]
        );
    }
}

/// The valve: what a return to its largest lift costs, with two states at sections and about one impact.
fn returns() {
    const RETURNS: u64 = 128;
    let problem = problem(VALVE);
    let family = valve(&problem, TRAJECTORIES, RETURNS);
    let wanted = |returns| {
        let (tolerance, last) = (TOLERANCE, Some(32));
        Arc::new(Wanted { tolerance, sections: true, returns: Some(returns), last, ..Wanted::default() })
    };
    let short: Vec<Job> = family.iter().step_by(16).cloned().collect();
    let mut scalar = Scalar::new(&problem, &Arc::default());
    let events = shortest(1, || drop(black_box(scalar.run(&short, &wanted(16))))) / (short.len() as f64 * 16.0);
    let mut crew: Vec<(&str, Box<dyn Worker>)> = Vec::new();
    match Native::compile(&problem) {
        Ok(native) => crew.push(("native", native.worker(&problem, TOLERANCE, &Arc::default()))),
        Err(why) => println!("valve: no native code: {why}"),
    }
    if let Ok(worker) = LaneWorker::<32>::new(&problem, TOLERANCE, &Arc::default()) {
        crew.push(("lanes", Box::new(worker)));
    }
    for (code, worker) in &mut crew {
        let outcomes = worker.run(&family, &wanted(RETURNS));
        let made: u64 = outcomes.iter().map(|o| o.returns).sum();
        let lanes = shortest(3, || drop(black_box(worker.run(&family, &wanted(RETURNS))))) / made as f64;
        let impacts: u64 = outcomes.iter().map(|o| o.impacts).sum();
        let handed = outcomes.iter().filter(|o| o.engine != Engine::Lanes).count();
        println!(
            "valve, {code}: {lanes:.0} ns/return, by events {events:.0}; {:.3} impacts a return, {made} returns, {handed} handed over",
            impacts as f64 / made as f64
        );
    }
}

/// What a step of a trajectory costs.
fn fixed_steps() {
    const STEPS: f64 = 1000.0;
    let problem = problem(PROBLEMS[0].1);
    let with_steps = |mut job: Job| {
        job.step = Some(std::f64::consts::TAU / job.start.parameters[0] / STEPS);
        job
    };
    let family: Vec<Job> = jobs(&problem, 0.5, 1.5, PERIODS).into_iter().map(with_steps).collect();
    let short: Vec<Job> = jobs(&problem, 0.5, 1.5, 10.0).into_iter().map(with_steps).step_by(8).collect();
    let per_step = |time: f64, jobs: &[Job], periods: f64| time / (jobs.len() as f64 * periods * STEPS);
    for scheme in ["moreau-jean", "mabrouk", "paoli-schatzman"] {
        let wanted = Arc::new(Wanted { tolerance: TOLERANCE, scheme: Some(scheme.into()), ..Wanted::default() });
        let mut worker = StepWorker::<16>::new(&problem, &wanted, &Arc::default()).expect("its flight is linear");
        let lanes = shortest(5, || drop(black_box(worker.run(&family, &wanted))));
        let mut scalar = Scalar::new(&problem, &Arc::default());
        let runs = shortest(3, || drop(black_box(scalar.run(&short, &wanted))));
        let (by_lanes, by_runs) = (worker.run(&short, &wanted), scalar.run(&short, &wanted));
        let mut apart: Vec<f64> = by_lanes.iter().zip(&by_runs).map(|(a, b)| apart(&a.q, &b.q)).collect();
        apart.sort_by(f64::total_cmp);
        let native = Native::compile_for(&problem, Some(scheme), Target::Processor);
        let native = native.map_or(f64::NAN, |native| {
            let mut worker = native.worker(&problem, TOLERANCE, &Arc::default());
            shortest(5, || drop(black_box(worker.run(&family, &wanted))))
        });
        println!(
            "A by {scheme}: {:.2} ns per step in lanes, {:.2} ns in native code, {:.1} ns in runs; apart after ten periods {:.1e} median",
            per_step(lanes, &family, PERIODS),
            per_step(native, &family, PERIODS),
            per_step(runs, &short, 10.0),
            apart[apart.len() / 2],
        );
    }
    let hand = shortest(3, || {
        short.iter().for_each(|job| _ = black_box(moreau_jean(job.start.parameters[0], 10 * STEPS as u64, STEPS)));
    });
    println!("A by hand, Moreau–Jean, one trajectory after the other: {:.1} ns per step", per_step(hand, &short, 10.0));
}

/// Moreau–Jean's steps with θ = γ = ½ of x'' = cos(w t) − 0.04 x' − x against a stop at 1, e = 0.8.
fn moreau_jean(w: f64, steps: u64, in_period: f64) -> [f64; 2] {
    let h = std::f64::consts::TAU / w / in_period;
    let (mut x, mut v) = (0.0, 0.0);
    for n in 0..steps {
        let (now, next) = ((w * n as f64 * h).cos(), (w * (n + 1) as f64 * h).cos());
        let drifted = x + 0.5 * h * v;
        let given = v + 0.5 * h * (now - 0.04 * v - x) + 0.5 * h * (next - drifted);
        let free = given / (1.0 + 0.25 * h * h + 0.02 * h);
        let after = if drifted >= 1.0 && free > -0.8 * v { -0.8 * v } else { free };
        x = drifted + 0.5 * h * after;
        v = after;
    }
    [x, v]
}

fn jobs(problem: &Problem, low: f64, high: f64, periods: f64) -> Vec<Job> {
    let job = |k: usize| {
        let w = low + (high - low) * k as f64 / TRAJECTORIES as f64;
        let start = problem.start_with(&[("w", w)]).expect("a start");
        Job { start, from: 0.0, end: periods * std::f64::consts::TAU / w, strobe: None, step: None }
    };
    (0..TRAJECTORIES).map(job).collect()
}

fn by_events(problem: &Problem, job: &Job, tolerance: f64) -> Vec<f64> {
    let options = Options::events(job.end).tolerance(tolerance).keep(Keep::NOTHING);
    let run = problem.run_from(&job.start, &options).expect("runs");
    [&run.last().q[..], &run.last().v].concat()
}

/// The exact end of a motion that is not chaotic.
fn steady(problem: &Problem, job: &Job) -> Option<Vec<f64>> {
    let exact = by_events(problem, job, 1e-13);
    let mut nudged = job.clone();
    nudged.start.v[0] += 1e-9;
    (apart(&exact, &by_events(problem, &nudged, 1e-13)) < 1e-7).then_some(exact)
}

fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
}

/// Nanoseconds of the shortest of some runs.
fn shortest(runs: usize, mut run: impl FnMut()) -> f64 {
    let time = |_| {
        let start = now();
        run();
        now() - start
    };
    (0..runs).map(time).fold(f64::INFINITY, f64::min)
}

/// Nanoseconds that this thread has had of a processor: what others do on the machine matters less.
#[cfg(unix)]
fn now() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// Nanoseconds on the clock.
#[cfg(not(unix))]
fn now() -> f64 {
    use std::time::Instant;
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64() * 1e9
}

/// x'' = cos(w t) − 0.04 x' − x against a stop at 1, e = 0.8.
fn by_hand(w: f64, end: f64, tolerance: f64) -> [f64; 2] {
    let f = |t: f64, y: [f64; 2]| [y[1], (w * t).cos() - 0.04 * y[1] - y[0]];
    let (mut t, mut y, mut h) = (0.0, [0.0, 0.0], 0.1);
    while t < end {
        h = f64::min(h, end - t);
        let (next, error) = dormand_prince(&f, t, y, h);
        let scaled = error / (tolerance * (1.0 + y[0].abs().max(y[1].abs())));
        if scaled > 1.0 {
            h *= (0.9 * scaled.powf(-0.2)).max(0.2);
            continue;
        }
        if next[0] > 1.0 {
            // The length of the step at which the stop is reached, by the secant method kept inside a bracket.
            let (mut low, mut high) = (0.0, h);
            let (mut below, mut above) = (y[0] - 1.0, next[0] - 1.0);
            let mut state = next;
            let mut s = h;
            for _ in 0..60 {
                let guess = low - below * (high - low) / (above - below);
                s = if guess > low && guess < high { guess } else { 0.5 * (low + high) };
                state = dormand_prince(&f, t, y, s).0;
                let value = state[0] - 1.0;
                if value.abs() < 1e-14 || high - low < 1e-15 * t.max(1.0) {
                    break;
                }
                match value < 0.0 {
                    true => (low, below, above) = (s, value, 0.5 * above),
                    false => (high, above, below) = (s, value, 0.5 * below),
                }
            }
            t += s;
            y = [state[0].min(1.0), if state[1] > 0.0 { -0.8 * state[1] } else { state[1] }];
            continue;
        }
        t += h;
        y = next;
        h *= (0.9 * scaled.max(1e-10).powf(-0.2)).min(5.0);
    }
    y
}

/// A step of Dormand and Prince's pair, and the difference of its two solutions.
fn dormand_prince(f: &impl Fn(f64, [f64; 2]) -> [f64; 2], t: f64, y: [f64; 2], h: f64) -> ([f64; 2], f64) {
    let at = |terms: &[(f64, [f64; 2])]| {
        let mut x = y;
        for (c, k) in terms {
            x[0] += h * c * k[0];
            x[1] += h * c * k[1];
        }
        x
    };
    let k1 = f(t, y);
    let k2 = f(t + h / 5.0, at(&[(1.0 / 5.0, k1)]));
    let k3 = f(t + 0.3 * h, at(&[(3.0 / 40.0, k1), (9.0 / 40.0, k2)]));
    let k4 = f(t + 0.8 * h, at(&[(44.0 / 45.0, k1), (-56.0 / 15.0, k2), (32.0 / 9.0, k3)]));
    let k5 = f(
        t + 8.0 / 9.0 * h,
        at(&[(19372.0 / 6561.0, k1), (-25360.0 / 2187.0, k2), (64448.0 / 6561.0, k3), (-212.0 / 729.0, k4)]),
    );
    let k6 = f(
        t + h,
        at(&[
            (9017.0 / 3168.0, k1),
            (-355.0 / 33.0, k2),
            (46732.0 / 5247.0, k3),
            (49.0 / 176.0, k4),
            (-5103.0 / 18656.0, k5),
        ]),
    );
    let weights = [35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0];
    let ks = [k1, k2, k3, k4, k5, k6];
    let next = at(&[(weights[0], k1), (weights[2], k3), (weights[3], k4), (weights[4], k5), (weights[5], k6)]);
    let k7 = f(t + h, next);
    let fourth = [
        5179.0 / 57600.0 - weights[0],
        0.0,
        7571.0 / 16695.0 - weights[2],
        393.0 / 640.0 - weights[3],
        -92097.0 / 339_200.0 - weights[4],
        187.0 / 2100.0 - weights[5],
    ];
    let error = |i: usize| h * (fourth.iter().zip(&ks).map(|(c, k)| c * k[i]).sum::<f64>() + k7[i] / 40.0);
    (next, error(0).abs().max(error(1).abs()))
}
