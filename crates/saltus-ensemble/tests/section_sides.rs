//! A crossing of a section is one change of sign, however near other events are: against closed forms, in lanes and in compiled code.

#[path = "common/agree.rs"]
mod agree;

use saltus::{Problem, Status};
use saltus_ensemble::{Hit, Job, Outcome, Request, Wanted};
use saltus_io::{ModelFile, shipped};
use std::path::Path;
use std::sync::Arc;

const TOLERANCE: f64 = 1e-10;

/// A ball on a table that moves, with drag: it chatters and rests.
const BALL: &str = r#"
[parameters]
w = 5.0
[coordinates]
y = { position = 0.5, velocity = 0 }
[dynamics]
kinetic = "y'^2/2"
potential = "9.81*y"
[dynamics.force]
y = "-0.1*y'-0.05*y'^3"
[[constraint]]
name = "table"
gap = "y-0.3*sin(w*t)"
[impact]
restitution = 0.3
[run]
step = 1e-2
end = 6
"#;

/// Two bodies; one of them is a millionth of the other, chatters and rests.
const LIGHT: &str = r#"
[parameters]
w = 1.0
[coordinates]
x = { position = 0.1, velocity = 0 }
y = { position = 1e-7, velocity = 0 }
[dynamics]
kinetic = "x'^2/2+1e-6*y'^2/2"
potential = "x^2/2+1e-2*y^2/2+1e-4*x*y"
[dynamics.force]
x = "1.5*cos(w*t)-0.1*x'"
y = "1e-3*sin(w*t)-1e-5*y'"
[[constraint]]
name = "right"
gap = "1-x"
[[constraint]]
name = "below"
gap = "y+0.01"
[impact]
restitution = 0.5
[run]
step = 1e-2
end = 20
"#;

fn parsed(name: &str, text: &str) -> ModelFile {
    ModelFile::parse(name, text, Path::new(".")).expect("a model file")
}

fn oscillator() -> ModelFile {
    shipped::find("oscillator").expect("shipped").expect("parses")
}

/// A family with sections: its problem, its jobs and what is kept.
fn family(file: ModelFile, request: Request, sections: &[&str]) -> (Problem, Vec<Job>, Arc<Wanted>) {
    let request = Request {
        sections: sections.iter().map(ToString::to_string).collect(),
        impacts: Some("all".into()),
        tolerance: request.tolerance.or(Some(TOLERANCE)),
        ..request
    };
    let sweep = request.family(file).expect("a family");
    let mut maker = sweep.family.maker();
    let jobs = (0..sweep.family.len()).map(|k| maker.job(k, None).job).collect();
    (sweep.family.problem().clone(), jobs, sweep.wanted)
}

fn over(range: &str) -> Request {
    Request { over: vec![range.into()], ..Request::default() }
}

fn rows(outcome: &Outcome, k: usize) -> Vec<&[f64]> {
    let width = 2 + outcome.q.len() + outcome.v.len();
    outcome.sections.chunks(width).filter(|row| row[0] == k as f64).collect()
}

/// Sections of time alone, from 1e-14 to 1e-6 before the instants at which the trajectory stops, and before one another.
#[test]
fn beside_stops() {
    let offsets = [0.0, 1e-14, 1e-12, 1e-10, 1e-8, 1e-7, 1e-6];
    let texts = offsets.map(|offset| format!("sin(w*t + {offset:e})"));
    let texts = texts.each_ref().map(String::as_str);
    let request = Request { periods: Some("20".into()), strobe: true, ..over("w=0.6:2:21") };
    let (problem, jobs, wanted) = family(oscillator(), request, &texts);
    for (code, mut worker) in agree::crew("oscillator", &problem, TOLERANCE) {
        for (job, outcome) in jobs.iter().zip(worker.run(&jobs, &wanted)) {
            assert_eq!(outcome.status, Ok(Status::Finished), "{code}");
            assert_eq!(outcome.strobe.len(), 21 * 3, "{code}");
            let w = job.start.parameters[0];
            for (k, offset) in offsets.iter().enumerate() {
                let found = rows(&outcome, k);
                // (The last one is at the end, to rounding.)
                let count = 39 + usize::from(*offset > 1e-11);
                let is_near_end = (1e-14..1e-11).contains(offset) && found.len() == 40;
                assert!(found.len() == count || is_near_end, "{code}, w = {w}, {offset:e}: {} crossings", found.len());
                for (i, row) in found.iter().enumerate() {
                    let exact = ((i + 1) as f64 * std::f64::consts::PI - offset) / w;
                    assert!((row[1] - exact).abs() < 1e-10, "{code}, w = {w}, {offset:e}: {} {exact}", row[1]);
                }
            }
        }
    }
    // The tenth return upwards is after ten periods.
    let request = Request { periods: Some("40".into()), returns: Some(10), ..over("w=1:1.2:3") };
    let (problem, jobs, wanted) = family(oscillator(), request, &["sin(w*t+1e-10):up"]);
    for (code, mut worker) in agree::crew("oscillator", &problem, TOLERANCE) {
        for (job, outcome) in jobs.iter().zip(worker.run(&jobs, &wanted)) {
            let exact = 20.0 * std::f64::consts::PI / job.start.parameters[0];
            assert!((outcome.t - exact).abs() < 1e-9 && outcome.returns == 10, "{code}: {} {exact}", outcome.t);
        }
    }
}

/// Beside an impact a section is crossed before and after it; beside one another each has its own crossings, with speeds of either sign in turn.
#[test]
fn beside_impacts_and_one_another() {
    let sections = ["s-x-1e-10", "s-x-1e-9", "s-x-1e-8", "x", "x-1e-10", "x-1e-13"];
    let request = Request { periods: Some("20".into()), ..over("w=0.6:2:21") };
    let (problem, jobs, wanted) = family(oscillator(), request, &sections);
    for (code, mut worker) in agree::crew("oscillator", &problem, TOLERANCE) {
        for outcome in worker.run(&jobs, &wanted) {
            assert_eq!(outcome.status, Ok(Status::Finished), "{code}");
            for k in 0..sections.len() {
                let found = rows(&outcome, k);
                if k < 3 {
                    assert_eq!(found.len() as u64, 2 * outcome.impacts, "{code}: {}", sections[k]);
                }
                let is_in_turn = found.windows(2).all(|pair| pair[0][3] * pair[1][3] < 0.0);
                assert!(is_in_turn, "{code}: {} {found:?}", sections[k]);
            }
            let many = rows(&outcome, 3).len();
            let near = [4, 5].map(|k| rows(&outcome, k).len());
            assert!(many > 20 && near.iter().all(|n| n.abs_diff(many) <= 1), "{code}: {many} {near:?} {:?}", outcome.t);
        }
    }
}

/// Odd powers cross zero where their roots do, to what rounding leaves of their values; even ones do not.
#[test]
fn flat_zeros() {
    let sections = ["x", "x^3", "x^5", "x^2", "(s-x)^2", "(x-0.1)*x^2"];
    let request = Request { periods: Some("10".into()), ..over("w=0.6:2:21") };
    let (problem, jobs, wanted) = family(oscillator(), request, &sections);
    for (code, mut worker) in agree::crew("oscillator", &problem, TOLERANCE) {
        for outcome in worker.run(&jobs, &wanted) {
            assert_eq!(outcome.status, Ok(Status::Finished), "{code}");
            let plain = rows(&outcome, 0);
            assert!(plain.len() > 10);
            for (k, apart) in [(1, 1e-3), (2, 3e-2)] {
                let flat = rows(&outcome, k);
                assert_eq!(flat.len(), plain.len(), "{code}: {}", sections[k]);
                for (a, b) in flat.iter().zip(&plain) {
                    assert!(a[2].abs() < apart && (a[1] - b[1]).abs() < 10.0 * apart, "{code}: {a:?} {b:?}");
                }
            }
            assert_eq!([3, 4].map(|k| rows(&outcome, k).len()), [0, 0], "{code}");
            let beside = rows(&outcome, 5);
            assert!(beside.len().abs_diff(plain.len()) <= 1, "{code}");
            assert!(beside.iter().all(|row| (row[2] - 0.1).abs() < 1e-6), "{code}");
        }
    }
}

/// Sections that vanish where the trajectory stops anyway leave nothing to a slice without length, and neither does chatter on a section.
#[test]
fn at_stops() {
    let at_stops = ["sin(w*t)", "cos(w*t - pi/2)", "sin(w*t + pi):up"];
    let periodic = Request { periods: Some("20".into()), ..over("w=0.6:2:21") };
    let cases = [
        family(oscillator(), periodic, &at_stops),
        family(parsed("ball", BALL), Request { end: Some("6".into()), ..over("w=2:9:100") }, &["y"]),
    ];
    for (problem, jobs, wanted) in cases {
        for (code, mut worker) in agree::crew("at stops", &problem, TOLERANCE) {
            for (job, outcome) in jobs.iter().zip(worker.run(&jobs, &wanted)) {
                assert_eq!(outcome.status, Ok(Status::Finished), "{code} at {:?}", job.start.parameters);
            }
        }
    }
}

/// Every impact that is listed takes the velocity to the other side, be it the last one before contact; contact itself is no crossing. Sections
/// leave the motion as it is.
#[test]
fn of_velocities_in_chatter() {
    let request = || Request { end: Some("20".into()), ..over("w=0.5:2:21") };
    let (problem, jobs, wanted) = family(parsed("light", LIGHT), request(), &["y'", "x-0.5"]);
    let (free, free_jobs, nothing) = family(parsed("light", LIGHT), request(), &[]);
    let scalar = saltus_ensemble::Scalar::new(&problem, &Arc::default());
    let exact: Vec<Outcome> = jobs.iter().map(|job| scalar.one(job, &wanted).expect("an outcome")).collect();
    let alone = agree::crew("alone", &free, TOLERANCE);
    for ((code, mut worker), (_, mut alone)) in agree::crew("light", &problem, TOLERANCE).into_iter().zip(alone) {
        let without = alone.run(&free_jobs, &nothing);
        for ((outcome, exact), without) in worker.run(&jobs, &wanted).iter().zip(&exact).zip(&without) {
            assert_eq!(outcome.status, Ok(Status::Finished), "{code}");
            assert_eq!((outcome.impacts, outcome.accumulations), (without.impacts, without.accumulations), "{code}");
            let off = [outcome.q[0] - without.q[0], outcome.q[1] - without.q[1], outcome.v[0] - without.v[0]];
            assert!(off.iter().all(|off| off.abs() < 1e-7), "{code}: {off:?}");
            let turns = rows(outcome, 0);
            let is_turn = |hit: &&Hit| turns.iter().any(|row| row[1] == hit.t);
            let hits: Vec<&Hit> = outcome.hits.iter().filter(|hit| hit.constraint == 1).collect();
            assert!(hits.len() > 20 && hits.iter().all(is_turn), "{code}");
            // (The event engine has the last impact before contact as a part of it, and the velocity on the other side when contact ends.)
            assert!(
                turns.len().abs_diff(rows(exact, 0).len()) <= 1,
                "{code}: {} {}",
                turns.len(),
                rows(exact, 0).len()
            );
            assert_eq!(rows(outcome, 1).len(), rows(exact, 1).len(), "{code}");
        }
    }
}

/// What lands without a bounce and rests has no velocity that could change its sign, whatever the size of the first flight, which is one step.
#[test]
fn of_velocities_at_rest() {
    const REST: &str = r#"
[parameters]
w = 1.0
h = 1
[coordinates]
x = { position = "h" }
[dynamics]
kinetic = "x'^2/2"
potential = "9.81*h*x"
[dynamics.force]
x = "0.3*h*cos(w*t)"
[[constraint]]
name = "floor"
gap = "x"
[impact]
restitution = 0
"#;
    for h in ["1", "1e-9", "1e9"] {
        let set = vec![("h".to_string(), h.to_string())];
        let request = Request { set, end: Some("60".into()), returns: Some(5), ..over("w=1:1.3:7") };
        let (problem, jobs, wanted) = family(parsed("rest", REST), request, &["x'"]);
        for (code, mut worker) in agree::crew("rest", &problem, TOLERANCE) {
            for outcome in worker.run(&jobs, &wanted) {
                assert_eq!((outcome.t, outcome.returns, outcome.sections.len()), (60.0, 0, 0), "{code}, h = {h}");
            }
        }
    }
}

/// No number depends on which trajectories are side by side.
#[test]
fn alone_and_together() {
    let sections = ["sin(w*t+1e-10)", "x^3", "s-x-1e-9", "x'", "x*x'-0.1"];
    let request = Request { periods: Some("10".into()), ..over("w=0.6:2:21") };
    let (problem, jobs, wanted) = family(oscillator(), request, &sections);
    for (code, mut worker) in agree::crew("oscillator", &problem, TOLERANCE) {
        let together = worker.run(&jobs, &wanted);
        for k in [0, 7, 20] {
            let alone = worker.run(&jobs[k..=k], &wanted);
            assert_eq!(alone[0], together[k], "{code} {k}");
        }
    }
}

/// A product changes its sign where one of its factors does, also where another one vanishes: at the stroboscope, at an impact.
#[test]
fn products_and_their_factors() {
    let cases: [(&str, &str, &[&str]); 7] = [
        ("5", "sin(w*t)*x'", &["sin(w*t)", "x'"]),
        ("0.9", "sin(w*t)*x'", &["sin(w*t)", "x'"]),
        ("5", "sin(2*w*t)*x'", &["sin(2*w*t)", "x'"]),
        ("5", "cos(t)*cos(t+0.05)", &["cos(t)", "cos(t+0.05)"]),
        // (The gap vanishes where the velocity jumps, and has no sign.)
        ("1", "(s-x)*x'", &["x'"]),
        ("1", "(s-x)*(x-s+0.2)*x'", &["x-s+0.2", "x'"]),
        ("1", "(s-x)*(x-s+0.01)*x'", &["x-s+0.01", "x'"]),
    ];
    for (s, product, factors) in cases {
        let sections: Vec<&str> = [product].into_iter().chain(factors.iter().copied()).collect();
        for (range, e) in [("w=0.6:3:49", "0.8"), ("w=0.8:1.3:11", "0.3")] {
            let set = [("s", s), ("e", e)].map(|(name, value)| (name.to_string(), value.to_string()));
            let request = Request { end: Some("60".into()), set: set.to_vec(), ..over(range) };
            let (problem, jobs, wanted) = family(oscillator(), request, &sections);
            for (code, mut worker) in agree::crew("oscillator", &problem, TOLERANCE) {
                for (job, outcome) in jobs.iter().zip(worker.run(&jobs, &wanted)) {
                    assert_eq!(outcome.status, Ok(Status::Finished), "{code}");
                    let times = |k: usize| rows(&outcome, k).iter().map(|row| row[1]).collect::<Vec<f64>>();
                    let found = times(0);
                    let mut parts: Vec<f64> = (1..sections.len()).flat_map(times).collect();
                    parts.sort_by(f64::total_cmp);
                    let w = job.start.parameters[0];
                    assert_eq!(found.len(), parts.len(), "{code}, {product}, s = {s}, e = {e}, w = {w}");
                    let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-6;
                    assert!(found.iter().zip(&parts).all(near), "{code}, {product}, s = {s}, e = {e}, w = {w}");
                }
            }
        }
    }
}

/// A gap is never crossed: not by impacts, not by contact, and not where one that takes all of the speed is followed by flight.
#[test]
fn gaps() {
    let set = |e: &str| vec![("e".to_string(), e.to_string())];
    for e in ["0", "0.3", "0.8"] {
        for tolerance in [1e-6, 1e-8, 1e-10] {
            let set = [set(e), vec![("A".into(), "1.7".into()), ("s".into(), "0.4".into())]].concat();
            let (transient, periods) = (Some("5".into()), Some("30".into()));
            let request = Request { set, transient, periods, tolerance: Some(tolerance), ..over("w=0.3:1.6:100") };
            let (problem, jobs, wanted) = family(oscillator(), request, &["x - s"]);
            let mut crew = agree::crew("oscillator", &problem, tolerance);
            crew.push(("events", Box::new(saltus_ensemble::Scalar::new(&problem, &Arc::default()))));
            for (code, mut worker) in crew {
                let (mut crossings, mut impacts) = (0, 0);
                for outcome in worker.run(&jobs, &wanted) {
                    assert_eq!(outcome.status, Ok(Status::Finished), "{code}");
                    crossings += rows(&outcome, 0).len();
                    impacts += outcome.impacts;
                }
                assert!(
                    crossings == 0 && impacts > 1000,
                    "{code}, e = {e}, {tolerance:e}: {crossings} crossings, {impacts} impacts"
                );
            }
        }
    }
}
