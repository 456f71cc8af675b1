//! Where trajectories begin: on constraints, with an inertia that is none, and at instants of the stroboscope at which something is hit.

#[path = "common/agree.rs"]
mod agree;

use saltus::Problem;
use saltus_ensemble::{Engine, Job, Native, Outcome, Request, Scalar, Settled, Sweep, Wanted, Worker, workers};
use saltus_io::{ModelFile, shipped};
use std::path::Path;
use std::sync::Arc;

const TOLERANCE: f64 = 1e-10;

const BALL: &str = r#"
[parameters]
g = 2.0
h = 1.0
e = 1.0
m = 1.0
[coordinates]
y = { position = "h" }
[dynamics]
kinetic = "m*y'^2/2"
potential = "m*g*y"
[[constraint]]
name = "floor"
gap = "y"
restitution = "e"
[run]
end = 5
"#;

fn swept(text: &str, request: Request) -> Sweep {
    let file = ModelFile::parse("model.toml", text, Path::new(".")).expect("parses");
    request.sweep(file).expect("a sweep")
}

fn jobs(sweep: &Sweep) -> Vec<Job> {
    let mut maker = sweep.family.maker();
    (0..sweep.family.len()).map(|k| maker.job(k, None).job).collect()
}

/// Lanes, native code and a GPU where there is a compiler, and the event engine alone.
fn all(problem: &Problem, wanted: &Wanted) -> Vec<(&'static str, Box<dyn Worker>)> {
    let mut all: Vec<(&str, Box<dyn Worker>)> = vec![
        ("lanes", workers(problem, wanted, None, &Arc::default())),
        ("events", Box::new(Scalar::new(problem, &Arc::default()))),
    ];
    saltus_mock_gpu::load();
    for (name, made) in [("native", Native::compile(problem)), ("gpu", Native::compile_gpu(problem))] {
        all.extend(made.ok().map(|native| (name, native.worker(problem, TOLERANCE, &Arc::default()))));
    }
    all
}

#[test]
fn what_starts_on_a_constraint_comes_back_to_lanes() {
    // A ball that rests on a table until it is thrown off, and one that is thrown off at once.
    let file = || shipped::find("ball-table").expect("shipped").expect("parses");
    for start in [vec![], vec![("y".to_string(), "0".to_string()), ("y'".to_string(), "0".to_string())]] {
        let over = vec!["G=1.1:1.9:9".to_string()];
        let request =
            Request { over, start, periods: Some("6".into()), impacts: Some("all".into()), ..Request::default() };
        let sweep = request.sweep(file()).expect("a sweep");
        let (problem, jobs) = (sweep.family.problem(), jobs(&sweep));
        for (code, mut worker) in agree::crew("ball-table", problem, TOLERANCE) {
            let outcomes = worker.run(&jobs, &sweep.wanted);
            assert!(outcomes.iter().all(|o| o.engine == Engine::Both || o.status.is_err()), "{code}");
            let found = agree::compare("ball-table", problem, &jobs, &outcomes, TOLERANCE);
            println!("{code}: {found:?}");
        }
    }
}

#[test]
fn an_inertia_that_is_none_is_refused_in_linear_flight() {
    let request = Request { over: vec!["m=-0.5,0,0.5".into()], ..Request::default() };
    let sweep = swept(BALL, request);
    for (code, mut worker) in all(sweep.family.problem(), &sweep.wanted) {
        let outcomes = worker.run(&jobs(&sweep), &sweep.wanted);
        let refused = |o: &Outcome| o.status.as_ref().is_err_and(|why| why.contains("not positive definite"));
        assert_eq!(outcomes.iter().map(refused).collect::<Vec<_>>(), [true, true, false], "{code}");
    }
}

#[test]
fn what_bounces_forever_is_not_at_rest() {
    // Bounces last 2 and 4: at every instant of the stroboscope, and in the middle of each flight, the ball is at its apex.
    let over = vec!["e=1".into(), "g=2,0.5".into()];
    let period = Request { period: Some("4".into()), periods: Some("100".into()), ..Request::default() };
    let timed = Request { end: Some("200".into()), transient: Some("20".into()), ..Request::default() };
    for (request, expected) in [
        (period, [Settled::Periodic { intervals: 1, impacts: 2 }, Settled::Periodic { intervals: 1, impacts: 1 }]),
        (timed, [Settled::Recurrent { time: 2.0, impacts: 1 }, Settled::Recurrent { time: 4.0, impacts: 1 }]),
    ] {
        let sweep = swept(BALL, Request { over: over.clone(), settled: true, ..request });
        for (code, mut worker) in all(sweep.family.problem(), &sweep.wanted) {
            for (outcome, expected) in worker.run(&jobs(&sweep), &sweep.wanted).iter().zip(expected) {
                match (outcome.settled, expected) {
                    (Some(Settled::Recurrent { time, impacts }), Settled::Recurrent { time: exact, impacts: n }) => {
                        assert!((time - exact).abs() < 1e-8 && impacts == n, "{code}: {time} {impacts}");
                    }
                    (found, expected) => assert_eq!(found, Some(expected), "{code}"),
                }
            }
        }
    }
}

#[test]
fn a_state_of_the_stroboscope_is_the_one_after_an_impact_at_its_instant() {
    // The first impact is at sqrt(2h/g), and every other instant is one of an impact; rounding puts it on either side.
    let request = Request {
        over: vec!["g=1:12:45".into()],
        period: Some("sqrt(h*2/g)".into()),
        transient: Some("50".into()),
        periods: Some("300".into()),
        strobe: true,
        settled: true,
        ..Request::default()
    };
    let sweep = swept(BALL, request);
    for (code, mut worker) in all(sweep.family.problem(), &sweep.wanted) {
        for (job, outcome) in jobs(&sweep).iter().zip(worker.run(&jobs(&sweep), &sweep.wanted)) {
            let g = job.start.parameters[0];
            assert_eq!(outcome.settled, Some(Settled::Periodic { intervals: 2, impacts: 1 }), "{code} at g = {g}");
            let speed = (2.0 * g).sqrt();
            let is_right = |row: &[f64]| match row[1] < 0.5 {
                true => (row[2] - speed).abs() < 1e-6 * speed,
                false => row[2].abs() < 1e-6 * speed,
            };
            assert!(outcome.strobe.chunks(3).all(is_right), "{code} at g = {g}");
        }
    }
}

/// What slides along one constraint without pressing on it, and hits another, is hit by both: they act together.
#[test]
fn what_is_touched_acts_with_what_is_hit() {
    const WEDGE: &str = r#"
[parameters]
a = 0.3961675818395548
u = -1
[coordinates]
x = { position = 1, velocity = "u" }
y = { position = 0.2, velocity = -0.038769292909779374 }
[dynamics]
kinetic = "(x'^2+y'^2)/2"
[[constraint]]
name = "f"
gap = "y"
restitution = 0
[[constraint]]
name = "w"
gap = "x*sin(a)-y*cos(a)"
restitution = 0.6
"#;
    let request = Request {
        over: vec!["u=-0.5441951335118402,-0.5,-0.6".into(), "a=0.3961675818395548,0.3,0.5".into()],
        end: Some("3".into()),
        ..Request::default()
    };
    let sweep = swept(WEDGE, request);
    let (jobs, mut exact) = (jobs(&sweep), Vec::new());
    for (code, mut worker) in all(sweep.family.problem(), &sweep.wanted) {
        let ends: Vec<[f64; 2]> =
            worker.run(&jobs, &sweep.wanted).iter().map(|o| [o.q[0] + o.q[1], o.v[0] + o.v[1]]).collect();
        exact = if exact.is_empty() { ends.clone() } else { exact };
        for (job, (a, b)) in jobs.iter().zip(ends.iter().zip(&exact)) {
            let off = (a[0] - b[0]).abs().max((a[1] - b[1]).abs());
            assert!(off < 1e-9, "{code} at {:?}: {a:?} {b:?}", job.start.parameters);
        }
    }
    // (By the law: along the floor with 0.6 of the speed at which the wedge is hit.)
    let (x, speed) = (exact[0][0], exact[0][1]);
    assert!((x - 0.260_519_863).abs() < 1e-8 && (speed - 0.261_973_329).abs() < 1e-8, "{:?}", exact[0]);
}
