//! Outcomes of lanes against runs of the event engine.

// (Not every test compares with runs.)
#![allow(dead_code)]

use saltus::{Keep, Options, Problem, Start};
use saltus_ensemble::{Engine, Job, LaneWorker, Native, Outcome, Worker};
use std::sync::Arc;

/// What a comparison found.
#[derive(Clone, Copy, Debug, Default)]
pub struct Agreement {
    /// Trajectories whose motion is not too sensitive to be compared.
    pub compared: usize,
    /// Those that lanes computed alone.
    pub in_lanes: usize,
    /// The largest difference, in tolerances times sensitivity.
    pub worst: f64,
}

fn apart(a: &Start, degrees: usize, q: &[f64], v: &[f64]) -> f64 {
    // (The position of a first-order state means nothing.)
    a.q.iter().zip(&q[..degrees]).chain(a.v.iter().zip(v)).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
}

/// Motions that are not chaotic must agree to 100 tolerances, with the same impacts; how much of an error is the motion's own doing
/// is measured with nudges of the start.
pub fn compare(name: &str, problem: &Problem, jobs: &[Job], outcomes: &[Outcome], tolerance: f64) -> Agreement {
    let mut found = Agreement::default();
    assert_eq!(jobs.len(), outcomes.len(), "{name}");
    for (job, outcome) in jobs.iter().zip(outcomes) {
        let run = |start: &Start, tolerance: f64| {
            let options = Options::events(job.end).tolerance(tolerance).keep(Keep::IMPACTS);
            problem.run_from(start, &options)
        };
        let what = format!("{name} at {:?}", job.start.parameters);
        let exact = match run(&job.start, 1e-13) {
            Ok(exact) => exact,
            Err(_) => {
                assert!(outcome.status.is_err(), "{what}: {:?}", outcome.status);
                continue;
            }
        };
        let complete = outcome.status.as_ref().is_ok_and(|status| status.is_complete());
        assert_eq!(complete, exact.status.is_complete(), "{what}: {:?} {:?}", outcome.status, exact.status);
        found.in_lanes += usize::from(outcome.engine == Engine::Lanes);
        // Sensitive at the end, or only on the way there: both are seen from impacts and states of nudged motions.
        let mut sensitivity = 0.0_f64;
        let mut is_chaotic = !complete;
        let scale = exact.last().q.iter().chain(&exact.last().v).fold(0.0_f64, |m, x| m.max(x.abs()));
        let degrees = problem.model().degrees();
        for (i, nudge) in (0..degrees).flat_map(|i| [(i, 1e-9), (i, -1e-9)]) {
            let mut start = job.start.clone();
            start.v[i] += nudge;
            let Ok(near) = run(&start, 1e-13) else { continue };
            sensitivity = sensitivity.max(apart(near.last(), degrees, &exact.last().q, &exact.last().v) / nudge.abs());
            let (a, b) = (&near.trajectory.impacts, &exact.trajectory.impacts);
            if a.len().abs_diff(b.len()) > 2 {
                is_chaotic = true;
            }
            for (a, b) in a.iter().zip(b.iter()) {
                sensitivity = sensitivity.max((a.t - b.t).abs() * a.approach.abs().min(1.0) / nudge.abs());
            }
        }
        if is_chaotic || sensitivity > 1e4 {
            continue;
        }
        found.compared += 1;
        let off = apart(exact.last(), degrees, &outcome.q, &outcome.v);
        let unit = tolerance * (1.0 + scale + sensitivity);
        found.worst = found.worst.max(off / unit);
        assert!(off <= 100.0 * unit, "{what}: off by {off:e}, sensitivity {sensitivity:e}");
        // Impacts one by one, but for the last ones of accumulations.
        let hardest = outcome.hits.iter().map(|hit| hit.speed).fold(0.0, f64::max);
        let is_hard = |speed: f64| speed > 0.03 * hardest;
        let mut lanes: Vec<f64> = outcome.hits.iter().filter(|hit| is_hard(hit.speed)).map(|hit| hit.t).collect();
        // (Constraints that are hit together, or held while another one is hit, are one impact.)
        lanes.dedup();
        let impacts = exact.trajectory.impacts.iter().filter(|i| i.t >= job.from);
        let events: Vec<(f64, f64)> = impacts.map(|i| (i.t, -i.approach)).filter(|i| is_hard(i.1)).collect();
        let is_borderline = |speed: f64| (speed / (0.03 * hardest) - 1.0).abs() < 1e-3;
        if outcome.hits.iter().any(|hit| is_borderline(hit.speed)) {
            continue;
        }
        assert_eq!(lanes.len(), events.len(), "{what}: impacts");
        for (a, (b, _)) in lanes.iter().zip(&events) {
            let allowed = 1e3 * unit * (1.0 + job.end.abs());
            assert!((a - b).abs() <= allowed, "{what}: impact at {a} or {b}, sensitivity {sensitivity:e}");
        }
    }
    found
}

/// Lanes, and compiled code where the machine has a compiler: for its processor, and for a GPU.
pub fn crew(name: &str, problem: &Problem, tolerance: f64) -> Vec<(&'static str, Box<dyn Worker>)> {
    let lanes: LaneWorker = LaneWorker::new(problem, tolerance, &Arc::default()).expect(name);
    let mut crew: Vec<(&'static str, Box<dyn Worker>)> = vec![("lanes", Box::new(lanes))];
    saltus_mock_gpu::load();
    for (code, made) in [("native", Native::compile(problem)), ("gpu", Native::compile_gpu(problem))] {
        match made {
            Ok(native) => crew.push((code, native.worker(problem, tolerance, &Arc::default()))),
            // (There may be no compiler; slopes of hypot have a corner where it vanishes, which lanes can evaluate.)
            Err(why) => {
                let why = why.to_string();
                let known = ["there is no C compiler", "there is no NVIDIA driver", "its impact law has corners"];
                assert!(known.iter().any(|known| why.contains(known)), "{name}: {why}");
            }
        }
    }
    crew
}
