//! All shipped models that a GPU computes, at random points, beside the processor's lanes: the same events, and the same states.
//!
//! How sensitive a motion is to an error is measured with a nudge of its start. What is more sensitive than [`SENSITIVE`], or has other events after the
//! nudge, cannot be compared and is left out.

use saltus::{Model, Problem};
use saltus_ensemble::{Engine, Job, Native, Outcome, Wanted, workers};
use saltus_io::{AnySystem, shipped};
use std::sync::Arc;

const TOLERANCE: f64 = 1e-10;
const NUDGE: f64 = 1e-8;
const SENSITIVE: f64 = 1e3;
/// Longer ones are chaotic, or the same again.
const LONGEST: f64 = 40.0;

pub fn compare(points: usize, chosen: &[String]) {
    println!(
        "{:16} {:>8} {:>9} {:>9} {:>9} {:>9} {:>9} {:>8} {:>8} {:>9}",
        "model", "points", "compared", "events ≠", "largest", "median", "> 1e-8", "handed", "steps", "kernel s"
    );
    for &(name, _) in shipped::MODELS {
        if !chosen.is_empty() && !chosen.iter().any(|chosen| chosen == name) {
            continue;
        }
        let opened = shipped::find(name).expect("shipped").expect("parses").system().expect("valid");
        let (AnySystem::Problem(problem), Some(end)) = (&opened.system, opened.defaults.end) else { continue };
        let names = open(problem.model());
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let problem = problem.model().open(&names).and_then(|model| model.problem()).expect("a problem");
        match Native::compile_gpu(&problem) {
            Ok(native) => one(name, &problem, &native, end.min(LONGEST), points),
            Err(why) => println!("{name:16} {why}"),
        }
    }
}

/// The parameters of a model that can be left open, all together.
fn open(model: &Model) -> Vec<String> {
    let mut open: Vec<String> = Vec::new();
    for (parameter, _) in &model.parameters {
        open.push(parameter.clone());
        let names: Vec<&str> = open.iter().map(String::as_str).collect();
        if model.open(&names).is_err() {
            open.pop();
        }
    }
    open
}

/// Numbers between −1 and 1 (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
}

fn jobs(problem: &Problem, end: f64, points: usize) -> Vec<Job> {
    let (model, mut random, mut made) = (problem.model(), Random(5), Vec::new());
    for _ in 0..100 * points {
        let values: Vec<(&str, f64)> =
            model.open.iter().map(|p| (p.name.as_str(), p.value * (1.0 + 0.03 * random.next()))).collect();
        let Ok(mut start) = problem.start_with(&values) else { continue };
        start.v.iter_mut().for_each(|v| *v += 0.01 * *v * random.next());
        made.push(Job { from: start.t, end: start.t + end, strobe: None, step: None, start });
        if made.len() == points {
            break;
        }
    }
    made
}

fn one(name: &str, problem: &Problem, native: &Native, end: f64, points: usize) {
    let jobs = jobs(problem, end, points);
    let wanted = Arc::new(Wanted { tolerance: TOLERANCE, ..Wanted::default() });
    let degrees = problem.model().degrees();
    let mut gpu = native.worker(problem, TOLERANCE, &Arc::default());
    let found: Vec<Outcome> = jobs.chunks(1 << 14).flat_map(|jobs| gpu.run(jobs, &wanted)).collect();
    let spent = native.spent().unwrap_or_default();
    let mut lanes = workers(problem, &wanted, None, &Arc::default());
    let exact = lanes.run(&jobs, &wanted);
    let mut nudged = jobs.clone();
    nudged.iter_mut().for_each(|job| job.start.v.iter_mut().for_each(|v| *v += NUDGE));
    let near = lanes.run(&nudged, &wanted);
    let apart = |a: &Outcome, b: &Outcome| {
        // (The position of a first-order state means nothing.)
        let pairs = a.q[..degrees].iter().zip(&b.q[..degrees]).chain(a.v.iter().zip(&b.v));
        pairs.map(|(x, y)| (x - y).abs() / (1.0 + y.abs())).fold(0.0, f64::max)
    };
    // (Of an accumulation, how many bounces are counted before its limit depends on the last digits.)
    let events = |o: &Outcome| (o.accumulations, if o.accumulations == 0 { o.impacts } else { 0 });
    let is_whole = |o: &Outcome| o.status.as_ref().is_ok_and(|status| status.is_complete());
    let (mut off, mut unequal) = (Vec::new(), 0);
    for ((a, b), c) in found.iter().zip(&exact).zip(&near) {
        assert_eq!(is_whole(a), is_whole(b), "{name}: {:?}, {:?}", a.status, b.status);
        if !is_whole(b) || !is_whole(c) || events(b) != events(c) || apart(b, c) > SENSITIVE * NUDGE {
            continue;
        }
        unequal += usize::from(events(a) != events(b));
        off.push(apart(a, b));
    }
    off.sort_by(f64::total_cmp);
    let handed = found.iter().filter(|o| o.engine != Engine::Lanes).count();
    println!(
        "{name:16} {:>8} {:>9} {unequal:>9} {:>9.1e} {:>9.1e} {:>9} {handed:>8} {:>8} {:>9.3}",
        jobs.len(),
        off.len(),
        off.last().copied().unwrap_or(0.0),
        off.get(off.len() / 2).copied().unwrap_or(0.0),
        off.iter().filter(|x| **x > 1e-8).count(),
        spent.longest,
        spent.seconds
    );
}
