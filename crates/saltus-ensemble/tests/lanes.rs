//! Trajectories in lanes against the event engine, which is the truth here.

use saltus::model::Builder;
use saltus::{Keep, Options, Problem, Start};
use saltus_ensemble::{Engine, Job, LaneWorker, Outcome, Wanted, Worker};
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

fn distance(a: &Start, b: &Outcome) -> f64 {
    a.q.iter().zip(&b.q).chain(a.v.iter().zip(&b.v)).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
}

/// Motions that are not chaotic agree to 100 tolerances, with the same impacts; how much of an error is the motion's own doing is
/// measured by the event engine with another tolerance, and with a nudge of the start.
#[test]
fn lanes_agree_with_the_event_engine() {
    for case in cases() {
        let jobs = jobs(&case, 48);
        let mut worker: LaneWorker = LaneWorker::new(&case.problem, TOLERANCE, &Arc::default()).expect(case.name);
        let outcomes = worker.run(&jobs, &wanted());
        let mut in_lanes = 0;
        let mut compared = 0;
        for (job, outcome) in jobs.iter().zip(&outcomes) {
            let run = |start: &Start, tolerance: f64| {
                let options = Options::events(job.end).tolerance(tolerance).keep(Keep::IMPACTS);
                case.problem.run_from(start, &options).expect("runs")
            };
            let exact = run(&job.start, 1e-13);
            let mut nudged = job.start.clone();
            nudged.v[0] += 1e-9;
            let sensitivity = {
                let near = run(&nudged, 1e-13);
                let pairs = near.last().q.iter().zip(&exact.last().q).chain(near.last().v.iter().zip(&exact.last().v));
                pairs.map(|(x, y)| (x - y).abs()).fold(0.0, f64::max) / 1e-9
            };
            assert!(outcome.status.as_ref().is_ok_and(|s| s.is_complete()), "{}: {:?}", case.name, outcome.status);
            in_lanes += usize::from(outcome.engine == Engine::Lanes);
            if sensitivity > 1e4 {
                continue;
            }
            compared += 1;
            let off = distance(exact.last(), outcome);
            let what = format!("{} at {:?}: sensitivity {sensitivity:.1e}", case.name, job.start.parameters);
            assert!(off <= 100.0 * TOLERANCE * (1.0 + sensitivity), "{what}: {off:e}");
            // Impacts one by one, but for the last ones of accumulations.
            let hardest = outcome.hits.iter().map(|hit| hit.speed).fold(0.0, f64::max);
            let lanes: Vec<f64> =
                outcome.hits.iter().filter(|hit| hit.speed > 1e-2 * hardest).map(|hit| hit.t).collect();
            let events = exact.trajectory.impacts.iter().filter(|i| i.t >= job.from && -i.approach > 1e-2 * hardest);
            let events: Vec<f64> = events.map(|i| i.t).collect();
            assert_eq!(lanes.len(), events.len(), "{what}: impacts");
            for (a, b) in lanes.iter().zip(&events) {
                assert!(
                    (a - b).abs() <= 1e3 * TOLERANCE * (1.0 + sensitivity) * case.end,
                    "{what}: impact at {a} or {b}"
                );
            }
        }
        println!("{}: {compared} of {} compared, {in_lanes} in lanes alone", case.name, jobs.len());
        assert!(compared >= 12, "{}: {compared} compared", case.name);
        assert!(in_lanes * 10 >= 9 * jobs.len(), "{}: {in_lanes} in lanes alone", case.name);
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
