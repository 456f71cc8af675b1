//! Error against time: the event-driven engine and the time-stepping schemes on two problems whose answers are known.
//!
//! ```text
//! cargo run --release -p saltus-bench --bin work_precision            a table (of the schemes or problems named, if any)
//! cargo run --release -p saltus-bench --bin work_precision -- --json  one JSON object a line, for peers/work_precision.py
//! ```
//!
//! The error is the largest of the final position and velocity. `oscillator` (P04 of the references): x'' + 0.1 x' + x =
//! cos(t + φ), x ≤ 1, e = 0.8, started on its periodic orbit, 20.5 periods; the answer is the closed form of the linear
//! flow half a period after an impact. `pounding` (P17): two buildings, 23 impacts in 20 s; the answer was computed with 40
//! digits.

use saltus::scheme::SCHEMES;
use saltus::{Options, Problem, Side, model::Builder};
use saltus_io::shipped;
use std::hint::black_box;
use std::time::Instant;

/// The periodic orbit of P04 for A = 1: speed and phase of its impact.
const SPEED: f64 = 1.695_732_937_594_882;
const PHASE: f64 = 0.075_952_164_938_312_39;

/// P17 for e = 0.65 at t = 20: u1, u1', u2, u2'.
const POUNDED: [f64; 4] = [0.01416348920318, -0.0399666217044313, 0.000990289996714119, -0.0105240084364386];

/// The least time a measurement takes; it is repeated until then.
const LONG_ENOUGH: f64 = 0.2;

struct Case {
    name: &'static str,
    problem: Problem,
    end: f64,
    /// Final positions and velocities.
    answer: Vec<f64>,
    /// The steps of the time-stepping schemes.
    steps: Vec<f64>,
}

fn main() {
    let json = std::env::args().any(|a| a == "--json");
    let only: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    if !json {
        println!(
            "{:12} {:18} {:>12} {:>12} {:>12} {:>10}",
            "problem", "scheme", "tol or step", "error", "seconds", "steps"
        );
    }
    for case in [oscillator(), pounding()] {
        for scheme in SCHEMES.iter().filter(|s| s.name != "auto" && s.follows_law && s.restitution.starts_with("any")) {
            let knobs: Vec<f64> = match scheme.is_event_driven() {
                false => case.steps.clone(),
                true => (3..=13).map(|k| 10f64.powi(-k)).collect(),
            };
            if !only.is_empty() && !only.iter().any(|name| name == scheme.name || name == case.name) {
                continue;
            }
            for knob in knobs {
                let options = Options::with(*scheme, case.end);
                let options = match scheme.is_event_driven() {
                    false => options.step(knob).every(u64::MAX >> 12),
                    true => options.step(case.end).tolerance(knob),
                };
                measure(&case, &options, knob, json);
            }
        }
    }
}

fn measure(case: &Case, options: &Options, knob: f64, json: bool) {
    let (mut error, mut steps, mut count) = (0.0_f64, 0, 0_u32);
    let start = Instant::now();
    while start.elapsed().as_secs_f64() < LONG_ENOUGH {
        let done = case.problem.run(options).expect("runs");
        let last = done.trajectory.len() - 1;
        let state = done.trajectory.q(last).iter().chain(done.trajectory.v(last, Side::Left));
        error = state.zip(&case.answer).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        steps = done.steps;
        black_box(done.trajectory.impacts.len());
        count += 1;
    }
    let seconds = start.elapsed().as_secs_f64() / f64::from(count);
    let (problem, scheme) = (case.name, options.scheme.name);
    if json {
        println!(
            "{{\"problem\": \"{problem}\", \"method\": \"{scheme}\", \"knob\": {knob:e}, \"error\": {error:e}, \"seconds\": {seconds:e}}}"
        );
    } else {
        println!("{problem:12} {scheme:18} {knob:>12.1e} {error:>12.2e} {seconds:>12.2e} {steps:>10}");
    }
}

fn oscillator() -> Case {
    let (z, period) = (0.05_f64, std::f64::consts::TAU);
    let model = Builder::new("oscillator")
        .coordinate("x", "1", format!("{:?}", -0.8 * SPEED))
        .kinetic("x'^2/2")
        .potential("x^2/2")
        .force("x", format!("cos(t + {PHASE:?}) - 0.1*x'"))
        .restitution("0.8")
        .constraint("stop", "1 - x");
    // x = Re(a e^{i(t + φ)}) + e^{−zt}(c cos ωt + s sin ωt), with a = 1/(2z i): the drive is at resonance.
    let (t, root) = (0.5 * period, (1.0 - z * z).sqrt());
    let forced = |t: f64| ((t + PHASE).sin() / (2.0 * z), (t + PHASE).cos() / (2.0 * z));
    let (p, dp) = forced(0.0);
    let c = 1.0 - p;
    let s = (-0.8 * SPEED - dp + z * c) / root;
    let (decay, (sin, cos)) = ((-z * t).exp(), (root * t).sin_cos());
    let (free, dfree) = (decay * (c * cos + s * sin), decay * ((s * root - z * c) * cos - (c * root + z * s) * sin));
    let (p, dp) = forced(t);
    Case {
        name: "oscillator",
        problem: Problem::new(model.build().expect("a model")).expect("a problem"),
        end: 20.5 * period,
        answer: vec![p + free, dp + dfree],
        steps: [200.0, 2e3, 2e4, 2e5].iter().map(|n| period / n).collect(),
    }
}

fn pounding() -> Case {
    let file = shipped::find("pounding").expect("shipped").expect("parses");
    let (problem, _) = file.problem(&[]).expect("valid");
    let [u1, v1, u2, v2] = POUNDED;
    Case { name: "pounding", problem, end: 20.0, answer: vec![u1, u2, v1, v2], steps: vec![1e-2, 1e-3, 1e-4, 1e-5] }
}
