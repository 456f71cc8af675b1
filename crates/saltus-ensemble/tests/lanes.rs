//! Trajectories in lanes against the event engine, which is the truth here.

#[path = "common/agree.rs"]
mod agree;

use saltus::Problem;
use saltus::model::Builder;
use saltus_ensemble::{Job, LaneWorker, Outcome, Wanted, Worker};
use std::sync::Arc;

const TOLERANCE: f64 = 1e-10;

/// A model with open parameters, a base value and a spread of each, the length of a run, and its name.
struct Case {
    name: &'static str,
    problem: Problem,
    open: Vec<(&'static str, f64, f64)>,
    end: f64,
}

fn case(name: &'static str, model: Builder, open: &[(&'static str, f64, f64)], end: f64) -> Case {
    let names: Vec<&str> = open.iter().map(|o| o.0).collect();
    let model = open.iter().fold(model, |model, o| model.parameter(o.0, o.1));
    let model = model.build().expect("a model").open(&names).expect("open");
    Case { name, problem: model.problem().expect("a problem"), open: open.to_vec(), end }
}

/// Linear flight, a hardening spring, one that chatters and sticks, two bodies and two constraints, an inertia that varies with a
/// wall that is curved in the coordinates, a moving table, a first-order state.
fn cases() -> Vec<Case> {
    let oscillator = |force: &str, gap: &str, e: f64, name: &str| {
        Builder::new(name)
            .coordinate("x", 0.0, 0.0)
            .kinetic("x'^2/2")
            .force("x", force)
            .restitution(e)
            .constraint("stop", gap)
    };
    vec![
        case("linear", oscillator("cos(w*t) - 0.04*x' - x", "1 - x", 0.8, "a"), &[("w", 1.0, 0.5)], 60.0),
        case(
            "hardening",
            oscillator("0.5*cos(w*t) - c*x' - x - x^3", "0.5 - x", 0.8, "b"),
            &[("w", 1.1, 0.4), ("c", 0.1, 0.05)],
            60.0,
        ),
        case(
            "sticking",
            oscillator("2*cos(w*t) + 0.5 - 0.1*x' - x - x^3", "0.2 - x", 0.3, "s"),
            &[("w", 1.0, 0.4)],
            60.0,
        ),
        case("plastic", oscillator("2*cos(w*t) + 0.5 - 0.1*x' - x", "0.2 - x", 0.0, "p"), &[("w", 1.0, 0.4)], 60.0),
        case(
            "pair",
            Builder::new("c")
                .coordinate("x", 0.0, 0.0)
                .coordinate("y", 0.01, 0.1)
                .kinetic("x'^2/2 + 0.1*y'^2/2")
                .force("x", "cos(w*t) - 0.1*x' - x")
                .restitution(0.7)
                .constraint("left", "1 + y - x")
                .constraint("right", "1 - y + x"),
            &[("w", 1.0, 0.4)],
            25.0,
        ),
        case(
            "double pendulum",
            Builder::new("d")
                .coordinate("a", 0.5, 0.0)
                .coordinate("b", 0.2, 0.0)
                .kinetic("a'^2 + b'^2/2 + a'*b'*cos(a-b)")
                .potential("-2*9.81*cos(a) - 9.81*cos(b)")
                .force("a", "2*cos(w*t) - 0.3*a'")
                .force("b", "-0.3*b'")
                .restitution(0.6)
                .constraint("wall", "0.8 - sin(a) - sin(b)"),
            &[("w", 3.0, 1.0)],
            12.0,
        ),
        case(
            "table",
            Builder::new("t")
                .coordinate("y", 1.0, 0.0)
                .kinetic("y'^2/2")
                .potential("y")
                .restitution(0.5)
                .constraint("table", "y - A*sin(t)"),
            &[("A", 0.9, 0.5)],
            40.0,
        ),
        case(
            "state",
            Builder::new("z")
                .coordinate("x", 0.0, 0.0)
                .state("z", 0.3, "x - z")
                .kinetic("x'^2/2")
                .force("x", "cos(w*t) - 0.1*x' - x - z")
                .restitution(0.7)
                .constraint("stop", "0.5 - x"),
            &[("w", 1.0, 0.4)],
            40.0,
        ),
    ]
}

/// A number in [0, 1) that looks random.
fn spread(k: usize) -> f64 {
    (k as f64 * 0.618_033_988_749_895).fract()
}

fn jobs(case: &Case, count: usize) -> Vec<Job> {
    let job = |k: usize| {
        let value = |(n, o): (usize, &(&'static str, f64, f64))| (o.0, o.1 + o.2 * (2.0 * spread(k + 7 * n) - 1.0));
        let values: Vec<(&str, f64)> = case.open.iter().enumerate().map(value).collect();
        let start = case.problem.start_with(&values).expect("a start");
        Job { start, from: 0.2 * case.end, end: case.end, strobe: Some(0.1 * case.end) }
    };
    (0..count).map(job).collect()
}

fn wanted() -> Arc<Wanted> {
    Arc::new(Wanted { tolerance: TOLERANCE, strobe: true, impacts: 1000, ..Wanted::default() })
}

#[test]
fn lanes_agree_with_the_event_engine() {
    for case in cases() {
        let jobs = jobs(&case, 48);
        let mut worker: LaneWorker = LaneWorker::new(&case.problem, TOLERANCE, &Arc::default()).expect(case.name);
        let outcomes = worker.run(&jobs, &wanted());
        let found = agree::compare(case.name, &case.problem, &jobs, &outcomes, TOLERANCE);
        println!("{}: {found:?}", case.name);
        assert!(found.compared >= 12, "{}: {found:?}", case.name);
        assert!(found.in_lanes * 10 >= 9 * jobs.len(), "{}: {found:?}", case.name);
    }
}

/// Not a bit depends on how many lanes there are, or on which trajectories are side by side.
#[test]
fn no_number_depends_on_the_lanes() {
    for case in cases() {
        let jobs = jobs(&case, 40);
        let wanted = wanted();
        let mut sixteen: LaneWorker<16> = LaneWorker::new(&case.problem, TOLERANCE, &Arc::default()).expect(case.name);
        let all = sixteen.run(&jobs, &wanted);
        let mut eight: LaneWorker<8> = LaneWorker::new(&case.problem, TOLERANCE, &Arc::default()).expect(case.name);
        assert!(all == eight.run(&jobs, &wanted), "{}: 8 lanes", case.name);
        let mut one: LaneWorker<1> = LaneWorker::new(&case.problem, TOLERANCE, &Arc::default()).expect(case.name);
        assert!(all == one.run(&jobs, &wanted), "{}: one lane", case.name);
        let backwards: Vec<Job> = jobs.iter().rev().cloned().collect();
        let mut other = sixteen.run(&backwards, &wanted);
        other.reverse();
        assert!(all == other, "{}: in another order", case.name);
        let parts: Vec<Outcome> = jobs.chunks(7).flat_map(|part| sixteen.run(part, &wanted)).collect();
        assert!(all == parts, "{}: in parts", case.name);
    }
}

/// What lanes cannot compute is refused with a reason, and the event engine computes it.
#[test]
fn what_lanes_cannot_do_is_said() {
    let model = |force: &str| {
        Builder::new("m")
            .coordinate("x", 0.5, 0.0)
            .kinetic("x'^2/2")
            .force("x", force)
            .restitution(0.5)
            .constraint("floor", "x")
    };
    for force in ["-sign(x - 2)", "exp(-x)", "-abs(x)"] {
        let problem = model(force).build().expect("a model").problem().expect("a problem");
        let refused = LaneWorker::<16>::new(&problem, TOLERANCE, &Arc::default()).err().expect(force);
        assert!(refused.contains("corners"), "{refused}");
    }
}

/// A start beyond a constraint has the reason, and the others run.
#[test]
fn bad_starts_have_their_reason() {
    let case = &cases()[0];
    let mut jobs = jobs(case, 20);
    jobs[3].start.q[0] = 1.5;
    jobs[7].start.v[0] = f64::NAN;
    let mut worker: LaneWorker = LaneWorker::new(&case.problem, TOLERANCE, &Arc::default()).expect("lanes");
    let outcomes = worker.run(&jobs, &wanted());
    for (k, outcome) in outcomes.iter().enumerate() {
        assert_eq!(outcome.status.is_err(), k == 3 || k == 7, "{k}: {:?}", outcome.status);
    }
    assert!(outcomes[3].status.as_ref().is_err_and(|e| e.contains("stop")), "{:?}", outcomes[3].status);
}
