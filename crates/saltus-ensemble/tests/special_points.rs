//! Motions that start where the last terms of a Taylor series vanish by themselves, or all of them: even functions at their middle, high powers at
//! zero, pulses between them. Such a series says nothing about how far it reaches. Lanes and compiled code against SciPy (DOP853, rtol 1e-13,
//! located impacts), and against the event engine.

#[path = "common/agree.rs"]
mod agree;

use saltus::Problem;
use saltus::model::Builder;
use saltus_ensemble::{Job, LaneWorker, Scalar, Wanted, Worker};
use std::f64::consts::PI;
use std::sync::Arc;

const TOLERANCE: f64 = 1e-10;

/// Force, gap, restitution; start, end; where SciPy ends, and its number of impacts.
type Case = (&'static str, &'static str, f64, [f64; 3], [f64; 2], u64);

const CASES: [Case; 15] = [
    ("cos(20*t^2)", "1e6 - x", 0.5, [0.0, 0.0, 3.0], [0.42041635965, 0.13346251459], 0),
    ("cos(20*t^2)", "0.3 - x", 0.7, [0.0, 0.0, 3.0], [0.22357309737, -0.09544732520], 1),
    ("1/(1 + 20*t^4)", "0.3 - x", 0.7, [0.0, 0.0, 3.0], [-0.40356820427, -0.32882830816], 1),
    ("-x^5", "50 - x", 0.5, [0.0, 1.0, 3.0], [-0.08334368507, -0.99999994414], 0),
    ("-x^5", "0.9 - x", 0.5, [0.0, 1.0, 3.0], [-0.35428003819, -0.61822418148], 1),
    ("x^8/(1 + x^8)", "1.05 - x", 0.5, [0.0, 1.0, 3.0], [0.36284379204, -0.30957405436], 1),
    ("x^10/(1 + x^10)", "1.05 - x", 0.5, [0.0, 1.0, 3.0], [0.33040598161, -0.33922913435], 1),
    ("-0.5403*x^2", "3 + x", 1.0, [0.0, -0.5, 4.0], [-1.28869315666, 1.01039089337], 1),
    ("sin(t + 0.1)^20", "1000 - x", 0.5, [0.0, 0.1, 12.0], [14.07934362591, 2.31415745391], 0),
    ("sin(t)^32", "1000 - x", 0.5, [0.0, 0.1, 4.0 * PI], [12.30664094496, 1.85866273925], 0),
    ("-x^7", "50 - x", 0.5, [0.0, 1.0, 10.0], [-1.04555524912, 0.80184836391], 0),
    ("-x^8", "x", 1.0, [0.0, 1.0, 50.0], [1.151932508, 0.454254065], 18),
    ("-x^10", "x", 0.9, [0.0, 1.0, 50.0], [0.843258364, -0.265711786], 11),
    ("0", "x - 1.5*sin(t)^16", 0.5, [1.0, 0.0, 3.0], [10.04779191605, 5.47228975594], 1),
    ("0", "x - 1.5*(sin(t/2)^2)^10", 0.5, [1.0, 0.0, 3.0], [1.79264052417, 3.05130175471], 1),
];

fn problem(force: &str, gap: &str, e: f64, [x, v, _]: [f64; 3]) -> Problem {
    let model = Builder::new("special").coordinate("x", x, v).kinetic("x'^2/2").force("x", force).restitution(e);
    model.constraint("wall", gap).build().expect("a model").problem().expect("a problem")
}

fn job(problem: &Problem, end: f64) -> Job {
    Job { start: problem.start(), from: 0.0, end, strobe: None, step: None }
}

fn wanted() -> Arc<Wanted> {
    Arc::new(Wanted { tolerance: TOLERANCE, impacts: 1000, ..Wanted::default() })
}

#[test]
fn a_series_that_says_nothing_about_its_reach_is_not_trusted() {
    for (force, gap, e, start, truth, impacts) in CASES {
        let problem = problem(force, gap, e, start);
        let jobs = [job(&problem, start[2])];
        for (code, mut worker) in agree::crew(force, &problem, TOLERANCE) {
            let outcome = &worker.run(&jobs, &wanted())[0];
            let what = format!("{force}, {gap}, {code}: {outcome:?}");
            assert!(outcome.status.as_ref().is_ok_and(|status| *status == saltus::Status::Finished), "{what}");
            assert_eq!(outcome.impacts, impacts, "{what}");
            for (found, truth) in [(outcome.q[0], truth[0]), (outcome.v[0], truth[1])] {
                // (What each of many bounces leaves adds up.)
                let near = if impacts > 1 { 3e-7 } else { 3e-8 };
                assert!((found - truth).abs() < near, "{what}: {truth}");
            }
        }
    }
}

#[test]
fn powers_pulses_and_chirps_of_every_order() {
    let mut compared = 0;
    for p in 2..=24 {
        let forces = [
            format!("-x^{p}"),
            format!("cos(3*t^{p})"),
            format!("1/(1 + 5*t^{p})"),
            format!("sin(t)^{p}"),
            format!("cos(t)^{p}"),
            format!("x^{p}/(1 + x^{p}) - x'^{p}/3"),
        ];
        for force in forces {
            for (start, gap) in
                [([0.0, 1.0, 5.0], "1.3 - x"), ([0.0, 0.0, 5.0], "0.6 - x"), ([0.0, -0.4, 5.0], "1.5 + x")]
            {
                let problem = problem(&force, gap, 0.6, start);
                // (A chirp of high order is as fast as one likes.)
                let end = if force.starts_with("cos(3") { 1.6 } else { start[2] };
                let jobs = [job(&problem, end)];
                let Ok(mut lanes) = LaneWorker::<8>::new(&problem, TOLERANCE, &Arc::default()) else { continue };
                let truth = Scalar::new(&problem, &Arc::default()).run(&jobs, &wanted());
                let found = lanes.run(&jobs, &wanted());
                let (truth, found) = (&truth[0], &found[0]);
                let is_whole = |status: &Result<saltus::Status, String>| status.as_ref().is_ok_and(|s| s.is_complete());
                if !is_whole(&truth.status) {
                    continue;
                }
                let what = format!("{force}, {gap}: {found:?}, {truth:?}");
                assert!(is_whole(&found.status), "{what}");
                assert_eq!((found.impacts, found.accumulations), (truth.impacts, truth.accumulations), "{what}");
                let off = (found.q[0] - truth.q[0]).abs().max((found.v[0] - truth.v[0]).abs());
                assert!(off <= 1e-6 * (1.0 + truth.q[0].abs() + truth.v[0].abs()), "{what}: {off:e}");
                compared += 1;
            }
        }
    }
    println!("{compared} compared");
    assert!(compared > 300, "{compared}");
}

#[test]
fn an_impact_without_rebound_is_one_impact() {
    // A wall that is curved in the coordinate, which compiled code cannot hold: the event engine goes on after the impact, from a velocity that
    // is zero, or what rounding makes of it.
    let force = "a*0.3837/(1.2 + cos(2.209*t)) - 0.262*x' - 1.382*x^5";
    let model = Builder::new("curved").parameter("a", 1.0).coordinate("x", -0.1349413510971599, 0.14118472700829665);
    let model =
        model.kinetic("1.848*x'^2/2").force("x", force).restitution(0.0).constraint("far", "0.996 - x - 0.3*x^3");
    let model = model.constraint("near", "0.9739 - x").build().expect("a model").open(&["a"]).expect("open");
    let problem = model.problem().expect("a problem");
    let start = |k: u32| problem.start_with(&[("a", 1.3 + 0.001 * f64::from(k))]).expect("a start");
    let jobs: Vec<Job> = (0..200).map(|k| Job { start: start(k), ..job(&problem, 5.0) }).collect();
    let truth = Scalar::new(&problem, &Arc::default()).run(&jobs, &wanted());
    assert!(truth.iter().all(|truth| truth.impacts >= 1));
    for (code, mut worker) in agree::crew("curved", &problem, TOLERANCE) {
        for (found, truth) in worker.run(&jobs, &wanted()).iter().zip(&truth) {
            assert_eq!(found.impacts, truth.impacts, "{code}: {found:?}, {truth:?}");
            assert!((found.q[0] - truth.q[0]).abs() < 1e-8, "{code}");
        }
    }
}

#[test]
fn sections_between_pulses_are_not_passed_over() {
    // sin(t)^16 is 1/2 at asin(2^(-1/16)) and at π less that, in each half-turn; x' = 1 tells nothing about it, nor do its first terms.
    let first = 0.5_f64.powf(1.0 / 16.0).asin();
    let truth: Vec<f64> = (0..6).flat_map(|n| [first, PI - first].map(|t| t + PI * f64::from(n))).collect();
    let model =
        Builder::new("pulses").coordinate("x", 0.0, 1.0).kinetic("x'^2/2").force("x", "-1e-9*x^3").restitution(0.5);
    let model = model.constraint("wall", "1000 - x").event("pulse", "sin(t)^16 - 0.5", saltus::motion::Crossing::Both);
    let problem = model.build().expect("a model").problem().expect("a problem");
    let jobs = [job(&problem, 6.0 * PI)];
    let wanted = Arc::new(Wanted { sections: true, ..(*wanted()).clone() });
    for (code, mut worker) in agree::crew("pulses", &problem, TOLERANCE) {
        let outcome = &worker.run(&jobs, &wanted)[0];
        let found: Vec<f64> = outcome.sections.chunks(4).map(|row| row[1]).collect();
        assert_eq!(found.len(), truth.len(), "{code}: {found:?}");
        let off = found.iter().zip(&truth).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < 1e-8, "{code}: {off:e}");
    }
}
