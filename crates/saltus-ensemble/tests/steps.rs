//! The steps of schemes in lanes, against runs of the same schemes.

use saltus::model::Builder;
use saltus::{Problem, Start, Status};
use saltus_ensemble::{Engine, Job, Outcome, Scalar, StepWorker, Wanted, Worker};
use std::f64::consts::TAU;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

const SCHEMES: [&str; 3] = ["moreau-jean", "mabrouk", "paoli-schatzman"];

fn wanted(scheme: &str) -> Arc<Wanted> {
    let scheme = Some(scheme.to_string());
    Arc::new(Wanted { tolerance: 1e-10, scheme, strobe: true, impacts: 1000, settled: true, ..Wanted::default() })
}

fn in_lanes(problem: &Problem, jobs: &[Job], scheme: &str) -> Vec<Outcome> {
    let stop = Arc::new(AtomicBool::new(false));
    StepWorker::<8>::new(problem, &wanted(scheme), &stop).expect("it is linear").run(jobs, &wanted(scheme))
}

fn one_by_one(problem: &Problem, jobs: &[Job], scheme: &str) -> Vec<Outcome> {
    Scalar::new(problem, &Arc::new(AtomicBool::new(false))).run(jobs, &wanted(scheme))
}

/// The one-stop oscillator of the benchmarks, its frequency open.
fn oscillator() -> Problem {
    let model = Builder::new("one stop").parameter("w", 0.7).coordinate("x", 0.0, 0.0).kinetic("x'^2/2");
    let model = model.potential("x^2/2").force("x", "cos(w*t) - 0.04*x'").restitution(0.8).constraint("stop", "1 - x");
    model.build().expect("a model").open(&["w"]).expect("open").problem().expect("compiles")
}

/// Two masses with full inertia and damping, a fixed wall and one that moves.
fn pair() -> Problem {
    let model = Builder::new("pair").parameter("w", 1.3).coordinate("x", 0.1, 0.0).coordinate("y", 0.0, 0.3);
    let model = model.kinetic("x'^2/2 + y'^2 + 0.3*x'*y'").potential("x^2/2 + (x - y)^2");
    let model = model.force("x", "0.8*cos(w*t + 0.4) - 0.1*x'").force("y", "0.2*sin(2*w*t) - 0.05*y'");
    let model = model.restitution(0.6).constraint("right", "0.4 - x").constraint("below", "y + 0.5 + 0.1*cos(w*t)");
    model.build().expect("a model").open(&["w"]).expect("open").problem().expect("compiles")
}

fn jobs(problem: &Problem, count: usize, periods: f64, steps: f64) -> Vec<Job> {
    let job = |k: usize| {
        let w = 0.6 + 0.9 * k as f64 / count as f64;
        let period = TAU / w;
        let mut start: Start = problem.start();
        start.parameters = vec![w];
        Job { start, from: 0.0, end: periods * period, strobe: Some(period), step: Some(period / steps) }
    };
    (0..count).map(job).collect()
}

/// Whether two outcomes are the same to a figure; what differs.
fn differ(found: &Outcome, run: &Outcome, near: f64) -> Option<String> {
    let apart = |what: &str, a: f64, b: f64| {
        (!((a - b).abs() <= near)).then(|| format!("{what}: {a} in lanes and {b}, from {:.3e}", a - b))
    };
    if (found.impacts, found.hits.len(), found.strobe.len()) != (run.impacts, run.hits.len(), run.strobe.len()) {
        return Some(format!("{} impacts in lanes and {}", found.impacts, run.impacts));
    }
    let hits = found.hits.iter().zip(&run.hits).find_map(|(a, b)| {
        let constraint = apart("constraint", f64::from(a.constraint), f64::from(b.constraint));
        let values = apart("instant", a.t, b.t).or_else(|| apart("speed", a.speed, b.speed));
        constraint.or(values).or_else(|| apart("impulse", a.impulse, b.impulse))
    });
    let (d, row) = (found.q.len(), 1 + 2 * found.q.len());
    let states = found.strobe.chunks(row).zip(run.strobe.chunks(row)).find_map(|(a, b)| {
        let position = (1..=d).find_map(|i| apart("position", a[i], b[i]));
        // At the node of an impact, which side of it an instant is on is a matter of rounding: the velocity may be the other.
        let velocities = || (d + 1..row).find_map(|i| apart("velocity", a[i], b[i]));
        position.or_else(|| velocities().filter(|_| !run.hits.iter().any(|hit| (hit.t - a[0]).abs() < 0.03)))
    });
    let last = || {
        let (a, b) = (found.q.iter().chain(&found.v), run.q.iter().chain(&run.v));
        a.zip(b).find_map(|(a, b)| apart("last state", *a, *b))
    };
    let checks = || apart("violation", found.checks.violation, run.checks.violation);
    let law = || apart("law", found.checks.law, run.checks.law);
    hits.or(states).or_else(last).or_else(checks).or_else(law)
}

#[test]
fn motions_and_impacts_are_those_of_the_scheme() {
    let problem = oscillator();
    for scheme in SCHEMES {
        let jobs = jobs(&problem, 21, 25.0, 400.0);
        let (lanes, runs) = (in_lanes(&problem, &jobs, scheme), one_by_one(&problem, &jobs, scheme));
        for (k, (found, run)) in lanes.iter().zip(&runs).enumerate() {
            assert_eq!(found.engine, Engine::Steps);
            assert!(found.status.as_ref().is_ok_and(Status::is_complete), "{scheme}: {:?}", found.status);
            assert_eq!(differ(found, run, 1e-9), None, "{scheme}, trajectory {k}");
        }
        assert!(lanes.iter().map(|o| o.impacts).sum::<u64>() > 500, "{scheme}");
    }
}

/// Full inertia, damping, a wall that moves, lasting contact, two constraints that act together: the motion is sensitive, so that it is
/// followed for a while only.
#[test]
fn coupled_masses_between_walls_move_as_the_scheme_says() {
    let problem = pair();
    for scheme in SCHEMES {
        let jobs = jobs(&problem, 21, 4.0, 400.0);
        let (lanes, runs) = (in_lanes(&problem, &jobs, scheme), one_by_one(&problem, &jobs, scheme));
        let differences: Vec<String> = lanes.iter().zip(&runs).filter_map(|(a, b)| differ(a, b, 1e-7)).collect();
        assert!(differences.len() <= 1, "{scheme}: {differences:?}");
        assert!(lanes.iter().map(|o| o.impacts).sum::<u64>() > 100, "{scheme}");
    }
}

#[test]
fn not_a_bit_depends_on_the_lanes() {
    let problem = pair();
    let jobs = jobs(&problem, 19, 8.0, 250.0);
    for scheme in SCHEMES {
        let together = in_lanes(&problem, &jobs, scheme);
        let alone: Vec<Outcome> =
            jobs.iter().flat_map(|job| in_lanes(&problem, std::slice::from_ref(job), scheme)).collect();
        assert_eq!(together, alone, "{scheme}");
        let mut backwards: Vec<Job> = jobs.clone();
        backwards.reverse();
        let mut back = in_lanes(&problem, &backwards, scheme);
        back.reverse();
        assert_eq!(together, back, "{scheme}");
    }
}

/// Contact at the start, a stroboscope between nodes, an end that the step does not divide: a run of the scheme takes over.
#[test]
fn what_is_not_plain_is_run() {
    let problem = oscillator();
    let plain = jobs(&problem, 1, 5.0, 100.0).remove(0);
    let mut touching = plain.clone();
    touching.start.q = vec![1.0];
    let between = Job { strobe: plain.strobe.map(|t| 0.7123 * t), ..plain.clone() };
    let odd = Job { end: plain.end + 0.3 * plain.step.unwrap_or_default(), ..plain.clone() };
    let wrong = Job { step: Some(-1.0), ..plain.clone() };
    for scheme in SCHEMES {
        let jobs = [touching.clone(), between.clone(), odd.clone(), wrong.clone(), plain.clone()];
        let (lanes, runs) = (in_lanes(&problem, &jobs, scheme), one_by_one(&problem, &jobs, scheme));
        for (found, run) in lanes.iter().zip(&runs) {
            assert_eq!(found.status.is_ok(), run.status.is_ok(), "{scheme}");
            assert_eq!(differ(found, run, 1e-9), None, "{scheme}");
        }
        assert!(lanes[3].status.is_err());
    }
}

/// Steps that grow without bound end as a run of them ends.
#[test]
fn steps_that_grow_fail_with_the_reason_of_a_run() {
    let model = Builder::new("unstable").parameter("c", 1.0).coordinate("x", 1.0, 0.0).kinetic("x'^2/2");
    let model = model.force("x", "c*x'").restitution(0.5).constraint("wall", "x + 1");
    let problem = model.build().expect("a model").open(&["c"]).expect("open").problem().expect("compiles");
    let mut start = problem.start();
    (start.v, start.parameters) = (vec![1.0], vec![40.0]);
    let job = Job { start, from: 0.0, end: 40.0, strobe: None, step: Some(0.01) };
    for scheme in SCHEMES {
        let (found, run) = (
            in_lanes(&problem, std::slice::from_ref(&job), scheme),
            one_by_one(&problem, std::slice::from_ref(&job), scheme),
        );
        assert!(matches!(found[0].status, Ok(Status::Failed(_))), "{scheme}: {:?}", found[0].status);
        assert_eq!(found, run, "{scheme}");
    }
}
