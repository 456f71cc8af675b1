//! Trajectories in lanes against the event engine, which is the truth here.

#[path = "common/agree.rs"]
mod agree;

use saltus::model::Builder;
use saltus::motion::Crossing;
use saltus::{Keep, Options, Problem};
use saltus_ensemble::{Job, LaneWorker, Outcome, Scalar, Settled, Wanted, Worker, workers};
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
        Job { start, from: 0.2 * case.end, end: case.end, strobe: Some(0.1 * case.end), step: None }
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
        for (code, mut worker) in agree::crew(case.name, &case.problem, TOLERANCE) {
            let outcomes = worker.run(&jobs, &wanted());
            let found = agree::compare(case.name, &case.problem, &jobs, &outcomes, TOLERANCE);
            println!("{} {code}: {found:?}", case.name);
            assert!(found.compared >= 12, "{} {code}: {found:?}", case.name);
            assert!(found.in_lanes * 10 >= 9 * jobs.len(), "{} {code}: {found:?}", case.name);
        }
    }
}

/// Near grazing, where a gap opens again in the middle of an interval: nothing passes through the wall.
#[test]
fn grazes_are_not_missed() {
    let model = Builder::new("graze")
        .coordinate("x", 0.0, 0.0)
        .kinetic("x'^2/2")
        .force("x", "A*cos(w*t) - 0.1*x' - x")
        .restitution(0.7)
        .constraint("stop", "1 - x");
    let case = case("graze", model, &[("w", 0.85, 0.15), ("A", 0.4, 0.2)], 2600.0);
    let grid = |k: usize| {
        let values = [("w", 0.7 + 0.3 * (k / 30) as f64 / 39.0), ("A", 0.2 + 0.4 * (k % 30) as f64 / 29.0)];
        let start = case.problem.start_with(&values).expect("a start");
        Job { start, from: 0.0, end: case.end, strobe: None, step: None }
    };
    let jobs: Vec<Job> = (0..1200).map(grid).collect();
    for (code, mut worker) in agree::crew(case.name, &case.problem, TOLERANCE) {
        let outcomes = worker.run(&jobs, &Arc::new(Wanted { tolerance: TOLERANCE, ..Wanted::default() }));
        for (job, outcome) in jobs.iter().zip(&outcomes) {
            assert!(!outcome.checks.is_breached, "{code} {:?}: {:?}", job.start.parameters, outcome.status);
        }
    }
}

/// Thousands of periods of a steady motion in one flight, against its closed form: times that are added up interval by interval would
/// be late by then.
#[test]
fn clocks_do_not_drift() {
    for w in [0.77, 1.0, 1.9] {
        // x = Re(X e^(iwt)) with X (1 - w² + 0.1 i w) = 0.3.
        let (real, imaginary) = (1.0 - w * w, 0.1 * w);
        let scale = 0.3 / (real * real + imaginary * imaginary);
        let model = Builder::new("steady")
            .coordinate("x", scale * real, w * scale * imaginary)
            .kinetic("x'^2/2")
            .force("x", "0.3*cos(w*t) - 0.1*x' - x")
            .restitution(0.5)
            .constraint("stop", "9 - x");
        let case = case("steady", model, &[("w", w, 0.0)], 20_000.0);
        let start = case.problem.start_with(&[("w", w)]).expect("a start");
        let job = Job { start, from: 0.0, end: case.end, strobe: None, step: None };
        let (cos, sin) = ((w * case.end).cos(), (w * case.end).sin());
        let exact = [scale * (real * cos + imaginary * sin), w * scale * (imaginary * cos - real * sin)];
        for (code, mut worker) in agree::crew(case.name, &case.problem, TOLERANCE) {
            let outcome =
                worker.run(std::slice::from_ref(&job), &Arc::new(Wanted { tolerance: TOLERANCE, ..Wanted::default() }));
            let last = &outcome[0];
            let off = (last.q[0] - exact[0]).abs().max((last.v[0] - exact[1]).abs());
            println!("{code} {w}: {off:.1e}");
            assert!(
                off < 3e-11,
                "{code} at {w}: off by {off:.1e} after {} periods",
                w * case.end / std::f64::consts::TAU
            );
        }
    }
}

/// Fast and slow motions, small and large ones, pulses with a long way to them: nothing is measured by units, and nothing that
/// appears late is missed.
#[test]
fn scales_and_pulses() {
    let oscillator = |rate: f64, size: f64| {
        Builder::new("scaled")
            .parameter("W", rate)
            .parameter("A", size)
            .coordinate("x", 0.0, 0.0)
            .kinetic("x'^2/2")
            .force("x", "W^2*A*cos(k*W*t) - 0.1*W*x' - W^2*x")
            .restitution(0.7)
            .constraint("stop", "0.5*A - x")
    };
    let mut all = Vec::new();
    for (rate, size) in [(1e6, 1.0), (1e-6, 1.0), (1.0, 1e-9), (1.0, 1e9), (1e8, 1e-6)] {
        all.push((case("scaled", oscillator(rate, size), &[("k", 1.0, 0.4)], 2000.0 / rate), size, rate));
    }
    let pulse = Builder::new("pulse")
        .coordinate("x", 0.0, 0.1)
        .kinetic("x'^2/2")
        .force("x", "5e6/(1 + 1e18*(t - p)^2)")
        .restitution(0.5)
        .constraint("stop", "1 - x");
    all.push((case("pulse", pulse, &[("p", 5.0, 2.0)], 12.0), 1.0, 1.0));
    for (case, size, rate) in all {
        // (From rest, with an end that is far away for what is fast, and nothing to stop at before it.)
        let jobs: Vec<Job> = jobs(&case, 16).into_iter().map(|job| Job { from: 0.0, strobe: None, ..job }).collect();
        let wanted = Arc::new(Wanted { tolerance: TOLERANCE, impacts: 100_000, ..Wanted::default() });
        let crew = agree::crew(case.name, &case.problem, TOLERANCE);
        let outcomes = crew.into_iter().flat_map(|(_, mut worker)| worker.run(&jobs, &wanted));
        for (job, outcome) in jobs.iter().cycle().zip(outcomes) {
            let options = Options::events(job.end).tolerance(1e-13).keep(Keep::IMPACTS);
            let exact = case.problem.run_from(&job.start, &options).expect("runs");
            // What comes first has had no time to be forgotten.
            let first = (exact.trajectory.impacts.get(0).t - outcome.hits[0].t).abs() * rate;
            // (Time resolves a pulse that lasts 1e-9 to seven digits.)
            let allowed = if case.name == "pulse" { 1e-6 } else { 1e-9 };
            assert!(
                first < allowed,
                "{} {rate:e} {size:e} {:?}: first impact off by {first:e}",
                case.name,
                job.start.parameters
            );
            let off = ((exact.last().q[0] - outcome.q[0]).abs() / size)
                .max((exact.last().v[0] - outcome.v[0]).abs() / (size * rate));
            assert!(off < 1e2 * allowed, "{} {rate:e} {size:e} {:?}: {off:e}", case.name, job.start.parameters);
            assert!(!exact.trajectory.impacts.is_empty(), "{}", case.name);
        }
    }
}

/// Not a bit depends on how many lanes there are, or on which trajectories are side by side.
#[test]
fn no_number_depends_on_the_lanes() {
    for case in cases() {
        let jobs = jobs(&case, 40);
        let wanted = wanted();
        let mut most: LaneWorker = LaneWorker::new(&case.problem, TOLERANCE, &Arc::default()).expect(case.name);
        let all = most.run(&jobs, &wanted);
        let mut eight: LaneWorker<8> = LaneWorker::new(&case.problem, TOLERANCE, &Arc::default()).expect(case.name);
        assert!(all == eight.run(&jobs, &wanted), "{}: 8 lanes", case.name);
        let mut one: LaneWorker<1> = LaneWorker::new(&case.problem, TOLERANCE, &Arc::default()).expect(case.name);
        assert!(all == one.run(&jobs, &wanted), "{}: one lane", case.name);
        let backwards: Vec<Job> = jobs.iter().rev().cloned().collect();
        let mut other = most.run(&backwards, &wanted);
        other.reverse();
        assert!(all == other, "{}: in another order", case.name);
        let parts: Vec<Outcome> = jobs.chunks(7).flat_map(|part| most.run(part, &wanted)).collect();
        assert!(all == parts, "{}: in parts", case.name);
        for (code, mut worker) in agree::crew(case.name, &case.problem, TOLERANCE).into_iter().skip(1) {
            let all = worker.run(&jobs, &wanted);
            let mut other = worker.run(&backwards, &wanted);
            other.reverse();
            assert!(all == other, "{} {code}: in another order", case.name);
            let parts: Vec<Outcome> = jobs.chunks(3).flat_map(|part| worker.run(part, &wanted)).collect();
            assert!(all == parts, "{} {code}: in parts", case.name);
        }
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
    // More sections than there is room for: all of them are located, by the event engine.
    let many = (1..=9).fold(model("-1"), |model, k| {
        model.event(&format!("level {k}"), format!("x - {}", 0.05 * f64::from(k)).as_str(), Crossing::Down)
    });
    let problem = many.build().expect("a model").problem().expect("a problem");
    let job = Job { start: problem.start(), from: 0.0, end: 0.95, strobe: None, step: None };
    let wanted = Arc::new(Wanted { tolerance: TOLERANCE, sections: true, ..Wanted::default() });
    let outcomes = workers(&problem, &wanted, None, &Arc::default()).run(&[job], &wanted);
    assert_eq!(outcomes[0].sections.len(), 9 * 4, "{:?}", outcomes[0].sections);
}

/// A start beyond a constraint has the reason, and the others run.
#[test]
fn bad_starts_have_their_reason() {
    let case = &cases()[0];
    let mut jobs = jobs(case, 20);
    jobs[3].start.q[0] = 1.5;
    jobs[7].start.v[0] = f64::NAN;
    for (_, mut worker) in agree::crew("starts", &case.problem, TOLERANCE) {
        let outcomes = worker.run(&jobs, &wanted());
        for (k, outcome) in outcomes.iter().enumerate() {
            assert_eq!(outcome.status.is_err(), k == 3 || k == 7, "{k}: {:?}", outcome.status);
        }
        assert!(outcomes[3].status.as_ref().is_err_and(|e| e.contains("stop")), "{:?}", outcomes[3].status);
    }
}

/// What rests at zero, to rounding, violates nothing: violations are measured by the gaps that there were.
#[test]
fn rest_is_no_violation() {
    let ball = Builder::new("ball")
        .coordinate("y", 1.0, 0.0)
        .kinetic("y'^2/2")
        .potential("9.81*y")
        .restitution(0.5)
        .constraint("floor", "y - 0.1*s");
    let case = case("ball", ball, &[("s", 0.0, 1.0)], 30.0);
    let jobs = jobs(&case, 40);
    for (code, mut worker) in agree::crew(case.name, &case.problem, TOLERANCE) {
        for outcome in worker.run(&jobs, &wanted()) {
            assert_eq!(outcome.status, Ok(saltus::Status::Finished), "{code}: {:?}", outcome.checks);
        }
    }
}

/// What a motion settled on. (How many of infinitely many impacts are computed one by one is up to the engine.)
fn kind(o: &Outcome) -> (u32, u32, u32) {
    match o.settled {
        Some(Settled::Periodic { intervals, impacts }) if o.accumulations == 0 => (1, intervals, impacts),
        Some(Settled::Periodic { intervals, .. }) => (1, intervals, 0),
        Some(Settled::Rest) => (2, 0, 0),
        _ => (3, 0, 0),
    }
}

/// Sections, states at the stroboscope, statistics, and what a motion settled on are those of the event engine.
#[test]
fn what_is_kept_is_the_same() {
    let (mut settled, mut early) = (0, 0);
    for case in cases() {
        let mut model = (**case.problem.model()).clone();
        let (x, v) = (model.q[0], model.v[0]);
        let square = model.graph.mul(v, v);
        model.quantities = vec![x, square];
        let half = model.graph.constant(0.1);
        let value = model.graph.sub(x, half);
        model.events = vec![saltus::model::Event { name: "section".to_string(), value, crossing: Crossing::Up }];
        let problem = Problem::new(model).expect("a problem");
        // The stroboscope has the period of the forcing, 2π for the table.
        let rate = |job: &Job| if case.name == "table" { 1.0 } else { job.start.parameters[0] };
        let with_strobe = |job: Job| Job { strobe: Some(std::f64::consts::TAU / rate(&job)), ..job };
        let jobs: Vec<Job> = jobs(&case, 24).into_iter().map(with_strobe).collect();
        let wanted = Arc::new(Wanted {
            tolerance: 1e-11,
            strobe: true,
            sections: true,
            impacts: 4,
            statistics: vec![1, 0],
            settled: true,
            ..Wanted::default()
        });
        let mut lanes: LaneWorker = LaneWorker::new(&problem, 1e-11, &Arc::default()).expect(case.name);
        let scalar = Scalar::new(&problem, &Arc::default()).run(&jobs, &wanted);
        for (a, b) in lanes.run(&jobs, &wanted).iter().zip(&scalar) {
            // (Motions that amplify errors by more than this are compared elsewhere.)
            let same = |a: &[f64], b: &[f64]| {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-6 * (1.0 + a.abs()))
            };
            assert_eq!(a.strobe.len(), b.strobe.len(), "{}", case.name);
            if !same(&a.q, &b.q) || !same(&a.v, &b.v) {
                continue;
            }
            assert!(same(&a.strobe, &b.strobe), "{}: strobe", case.name);
            assert!(same(&a.sections, &b.sections), "{}: sections {:?} {:?}", case.name, a.sections, b.sections);
            let numbers =
                |o: &Outcome| -> Vec<f64> { o.statistics.iter().flat_map(|s| [s.min, s.max, s.mean, s.rms]).collect() };
            assert!(same(&numbers(a), &numbers(b)), "{}: {:?} {:?}", case.name, a.statistics, b.statistics);
            // (A motion that is still on its way may be near enough to its limit for one, and not for the other.)
            let is_early = [a, b].iter().any(|o| o.settled == Some(Settled::Neither));
            early += usize::from(kind(a) != kind(b));
            assert!(is_early || kind(a) == kind(b), "{}: {:?} {:?}", case.name, a.settled, b.settled);
            assert!(a.settled.is_some() && a.statistics.len() == 2);
            settled += usize::from(a.settled != Some(Settled::Neither));
        }
        // Compiled code keeps all but statistics, as lanes do.
        let less = Wanted { statistics: Vec::new(), ..(*wanted).clone() };
        let less = Arc::new(less);
        let from_lanes = lanes.run(&jobs, &less);
        for (_, mut worker) in agree::crew(case.name, &problem, 1e-11).into_iter().skip(1) {
            for (a, b) in worker.run(&jobs, &less).iter().zip(&from_lanes) {
                let off = a.q.iter().zip(&b.q).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert_eq!(a.strobe.len(), b.strobe.len(), "{}", case.name);
                if off < 1e-8 {
                    assert_eq!(a.hits.len(), b.hits.len(), "{}", case.name);
                    assert_eq!(a.accumulations, b.accumulations, "{}", case.name);
                    assert_eq!(a.sections.len(), b.sections.len(), "{}", case.name);
                    let is_early = [a, b].iter().any(|o| o.settled == Some(Settled::Neither));
                    early += usize::from(kind(a) != kind(b));
                    assert!(is_early || kind(a) == kind(b), "{}: {:?} {:?}", case.name, a.settled, b.settled);
                }
            }
        }
    }
    assert!(settled > 10 && early <= 8, "{settled} {early}");
}
