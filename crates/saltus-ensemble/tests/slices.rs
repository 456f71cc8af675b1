//! Sound motions have no breaches, however they are cut into slices: a slice in which nearly nothing happens has nothing by which large errors could be
//! told from small ones but its positions, its forces and its times.

use saltus::Status;
use saltus_ensemble::{LaneWorker, Request, Scalar, Worker};
use saltus_io::ModelFile;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A mass that leaves its stop at t = 6π, where its force, the rate of it and the rate of that vanish: x = 1 − (t − 6π)⁴/24 …
const LEAVES_SLOWLY: &str = r#"
[parameters]
e = 0.5
[coordinates]
x = { position = 0.0, velocity = 0.0 }
[dynamics]
kinetic = "x'^2/2"
potential = "x^2/2"
[dynamics.force]
x = "cos(t)"
[[constraint]]
name = "stop"
gap = "1 - x"
[impact]
restitution = "e"
[run]
end = 30.0
step = 1e-2
"#;

/// A body that rests on one stop is hit by another, and neither gives way.
const BETWEEN: &str = r#"
[parameters]
w = 1.3
c = 0.1
g = 1.0
[coordinates]
x = { position = -0.004, velocity = -0.376 }
y = { position = -0.071, velocity = 0.499 }
z = { position = 0.048, velocity = -0.043 }
[dynamics]
kinetic = "1.299*x'^2/2 + 1.317*y'^2/2 + 0.49*z'^2/2"
potential = "-0.282*x^2/2 + -0.264*y^2/2 + 0.231*z^2/2 + 0.408*(x-y)^2/2 + 0.147*x^4/4 + 0.303*g*x"
[dynamics.force]
x = "0.203*cos(w*t + 0.5) - c*x'"
y = "1.227*cos(w*t) - c*y'"
z = "1.749*cos(w*t + 0.5) - c*z'"
[[constraint]]
name = "c0"
gap = "1 + 0.2*sin(w*t) - x"
[[constraint]]
name = "c1"
gap = "x + 0.752"
[[constraint]]
name = "c2"
gap = "y - x + 0.491"
[impact]
restitution = 0
[run]
end = 8.0
step = 1e-2
"#;

/// Two stops that a pair of bodies chatters on, each by itself and both at once.
const CHATTERS: &str = r#"
[parameters]
w = 1.3
c = 0.1
e = 0.6
[coordinates]
x = { position = 0.006, velocity = -0.498 }
y = { position = -0.022, velocity = -0.292 }
[dynamics]
kinetic = "0.495*x'^2/2 + 2.27*y'^2/2"
potential = "0.974*x^2/2 + -0.397*y^2/2 + 1.455*(x-y)^2/2"
[dynamics.force]
x = "1.716*cos(w*t + 0.5) - c*x'"
y = "1.555*cos(w*t + 0.5) - c*y'"
[[constraint]]
name = "c0"
gap = "1 - x"
[[constraint]]
name = "c1"
gap = "x + 0.583"
[[constraint]]
name = "c2"
gap = "y - x + 0.455"
[impact]
restitution = "e"
[run]
end = 8.0
step = 1e-2
"#;

/// A family in lanes, with the event engine where they cannot decide, and by the event engine alone.
fn is_sound(text: &str, over: &str) {
    let file = ModelFile::parse("model", text, Path::new(".")).expect("a model file");
    let request = Request { over: vec![over.into()], ..Request::default() };
    let sweep = request.family(file).expect("a family");
    let mut maker = sweep.family.maker();
    let jobs: Vec<_> = (0..sweep.family.len()).map(|k| maker.job(k, None).job).collect();
    let (problem, stop) = (sweep.family.problem(), Arc::new(AtomicBool::new(false)));
    let mut lanes: LaneWorker = LaneWorker::new(problem, sweep.wanted.tolerance, &stop).expect("lanes");
    let alone = Scalar::new(problem, &stop).run(&jobs, &sweep.wanted);
    for (job, outcome) in jobs.iter().zip(lanes.run(&jobs, &sweep.wanted)).chain(jobs.iter().zip(alone)) {
        let what = format!("{:?} by {:?}", job.start.parameters, outcome.engine);
        assert_eq!(outcome.status, Ok(Status::Finished), "{what}");
        let checks = outcome.checks;
        assert!(checks.law < 1e-9 && checks.balance < 1e-8 && checks.violation < 1e-11, "{what}: {checks:?}");
    }
}

#[test]
fn a_slice_in_which_nearly_nothing_moves() {
    is_sound(LEAVES_SLOWLY, "e=0,0.3,0.5");
}

#[test]
fn an_impact_of_a_body_that_does_not_move() {
    is_sound(BETWEEN, "g=-3:3:6");
}

#[test]
fn a_slice_with_the_end_of_an_accumulation() {
    is_sound(CHATTERS, "e=0:1:6");
}
