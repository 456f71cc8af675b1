//! Perturbations in compiled code against those of the event engine, and against closed forms.

use saltus::analysis::{LyapunovOptions, PhaseSpace, lyapunov};
use saltus::model::Builder;
use saltus::problem::Reached;
use saltus::{Options, Problem, Start};
use saltus_ensemble::{Exponents, Found, Motion, Native, Way};
use std::sync::{Arc, Mutex};

const TOLERANCE: f64 = 1e-11;

/// A model with the parameter `w` open.
struct Case {
    name: &'static str,
    problem: Problem,
    w: [f64; 4],
    lasts: f64,
}

fn case(name: &'static str, model: Builder, w: [f64; 4], lasts: f64) -> Case {
    let model = model.parameter("w", w[0]).build().expect(name).open(&["w"]).expect(name);
    Case { name, problem: model.problem().expect(name), w, lasts }
}

fn stop(name: &'static str, force: &str, gap: &str, e: f64) -> Builder {
    let body = Builder::new(name).coordinate("x", -0.1, 0.3).kinetic("x'^2/2").force("x", force);
    body.restitution(e).constraint("stop", gap)
}

fn pair() -> Builder {
    Builder::new("pair")
        .coordinate("x", 0.0, 0.0)
        .coordinate("y", 0.01, 0.1)
        .kinetic("x'^2/2 + 0.1*y'^2/2")
        .force("x", "cos(w*t) - 0.1*x' - x")
        .restitution(0.7)
        .constraint("left", "1 + y - x")
        .constraint("right", "1 - y + x")
}

fn pendulum() -> Builder {
    Builder::new("pendulum")
        .coordinate("a", 0.5, 0.0)
        .coordinate("b", 0.2, 0.0)
        .kinetic("a'^2 + b'^2/2 + a'*b'*cos(a - b)")
        .potential("-2*9.81*cos(a) - 9.81*cos(b)")
        .force("a", "2*cos(w*t) - 0.1*a'")
        .force("b", "-0.1*b'")
        .restitution(0.8)
        .constraint("wall", "0.72 - sin(a) - sin(b)")
}

/// Linear flight, a hardening spring, two bodies and two constraints, an inertia that varies and a curved wall, a moving table, a coupled
/// constant inertia, one inertia that varies, a curved wall that moves, a first-order state.
fn cases() -> Vec<Case> {
    let table = Builder::new("table").coordinate("y", 0.5, 0.0).kinetic("y'^2/2").force("y", "-9.81 - 0.05*y'^3");
    let coupled = Builder::new("coupled")
        .coordinate("x", 0.1, 0.0)
        .coordinate("y", 0.0, 0.2)
        .kinetic("x'^2/2 + 0.3*x'*y' + 0.4*y'^2")
        .force("x", "cos(w*t) - 0.1*x' - x*(1 + y^2)")
        .force("y", "-0.2*y' - 2*y + 0.1*sin(x)")
        .restitution(0.6)
        .constraint("stop", "0.4 - x + 0.3*y");
    let bead = Builder::new("bead")
        .coordinate("x", 0.3, 0.4)
        .kinetic("(1 + x^2/4)*x'^2/2")
        .force("x", "cos(w*t) - 0.1*x' - x")
        .restitution(0.8)
        .constraint("wall", "0.6 - x - x^2/5 + 0.1*sin(w*t)");
    let thrown = Builder::new("thrown")
        .coordinate("x", 0.0, 0.2)
        .coordinate("y", 0.8, 0.0)
        .kinetic("x'^2/2 + y'^2/2")
        .force("x", "-x - 0.1*x'")
        .force("y", "-3 - 0.1*y'")
        .restitution(0.9)
        .constraint("bowl", "y - 0.4*x^2 - 0.2*sin(w*t)*cos(x)");
    let servo = Builder::new("servo")
        .coordinate("x", 0.1, 0.0)
        .state("z", 0.2, "cos(w*t) - z + 0.3*x - 0.1*z^3")
        .kinetic("x'^2/2")
        .force("x", "z - 0.1*x' - x")
        .restitution(0.8)
        .constraint("stop", "0.5 - x");
    vec![
        case("linear", stop("a", "cos(w*t) - 0.04*x' - x", "0.3 - x", 0.8), [0.9, 1.7, 2.3, 3.1], 25.0),
        case("hardening", stop("b", "0.5*cos(w*t) - 0.1*x' - x - x^3", "0.5 - x", 0.8), [0.8, 1.1, 1.3, 1.6], 20.0),
        case("free", stop("f", "cos(w*t) - 0.2*x' - x - x^3/10", "50 - x", 0.8), [0.8, 1.1, 1.3, 1.6], 20.0),
        case("table", table.restitution(0.7).constraint("table", "y - 0.1*sin(w*t)"), [5.0, 6.0, 7.0, 9.0], 1.6),
        case("bead", bead, [0.8, 1.2, 1.7, 2.1], 14.0),
        case("pair", pair(), [0.8, 1.0, 1.2, 1.5], 10.0),
        case("coupled", coupled, [0.8, 1.0, 1.2, 1.5], 12.0),
        case("thrown", thrown, [2.0, 2.5, 3.0, 4.0], 3.0),
        case("servo", servo, [0.8, 1.0, 1.2, 1.5], 12.0),
        case("pendulum", pendulum(), [2.0, 2.5, 3.0, 4.0], 5.0),
    ]
}

/// Compiled code for the processor and for a GPU; none where the machine has no compiler.
fn both(name: &str, problem: &Problem, tolerance: f64) -> Vec<(&'static str, Exponents)> {
    let mut made = Vec::new();
    saltus_mock_gpu::load();
    for (code, native) in [("native", Native::compile(problem)), ("gpu", Native::compile_gpu(problem))] {
        match native {
            Ok(native) => made.push((code, Exponents::new(problem, &native, tolerance).expect(name))),
            Err(why) => assert!(why.to_string().starts_with("there is no "), "{name}: {why}"),
        }
    }
    made
}

/// Orthonormal columns, one after the other, and the logarithms of their lengths, of a matrix by rows.
fn factored(n: usize, rows: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let (mut frame, mut logs): (Vec<Vec<f64>>, Vec<f64>) = (Vec::new(), Vec::new());
    for k in 0..n {
        let mut x: Vec<f64> = (0..n).map(|i| rows[i * n + k]).collect();
        for _ in 0..2 {
            for before in &frame {
                let along: f64 = x.iter().zip(before).map(|(x, b)| x * b).sum();
                x.iter_mut().zip(before).for_each(|(x, b)| *x -= along * b);
            }
        }
        let length = x.iter().map(|x| x * x).sum::<f64>().sqrt();
        x.iter_mut().for_each(|x| *x /= length);
        logs.push(length.ln());
        frame.push(x);
    }
    (frame.concat(), logs)
}

#[test]
fn products_are_those_of_the_event_engine() {
    let (mut compared, mut impacts) = (0, 0);
    for Case { name, problem, w, lasts } in cases() {
        let space = PhaseSpace::of(&problem);
        for (code, exponents) in both(name, &problem, TOLERANCE) {
            for w in w {
                let start = problem.start_with(&[("w", w)]).expect(name);
                let options = Options::events(start.t).tolerance(1e-12);
                let passage = space.pass(&problem, &start, lasts, &options).expect(name);
                let (frame, logs) = factored(space.dimension(), &passage.jacobian);
                let (grown, found) = exponents.growth(&start, lasts, 1).expect(name);
                // (Where a contact has taken all, nothing is left to compare.)
                if logs[0] == f64::NEG_INFINITY {
                    assert!(found.iter().all(|x| *x == 0.0), "{name} {code} w = {w}: {found:?}");
                    continue;
                }
                let off = |a: &[f64], b: &[f64]| a.iter().zip(b).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
                let off = off(&frame, &found).max(off(&logs, &grown[0]));
                println!("{name} {code} w = {w}: {off:.1e}, {} impacts", passage.run.trajectory.impacts.len());
                assert!(off < 1e-8, "{name} {code} w = {w}: {logs:?} {grown:?} {frame:?} {found:?}");
                compared += 1;
                impacts += passage.run.trajectory.impacts.len();
            }
        }
    }
    assert!(compared == 0 || impacts >= 3 * compared, "{impacts} impacts in {compared}");
}

/// Two bodies, one of which chatters against a stop, rests there and leaves it.
fn resting(e: f64) -> Problem {
    let model = Builder::new("resting")
        .parameter("w", 1.0)
        .coordinate("x", 0.1, 0.3)
        .coordinate("y", 0.2, 0.0)
        .kinetic("x'^2/2 + y'^2/2")
        .force("x", "2*cos(w*t) + 0.5 - 0.1*x' - x + (y - x)/2")
        .force("y", "(x - y)/2 - 0.1*y' - y - y^3")
        .restitution(e)
        .constraint("stop", "0.2 - x");
    model.build().expect("a model").open(&["w"]).expect("open").problem().expect("a problem")
}

#[test]
fn contact_takes_two_directions_away() {
    for e in [0.0, 0.3] {
        let problem = resting(e);
        let space = PhaseSpace::of(&problem);
        for (code, exponents) in both("resting", &problem, TOLERANCE) {
            for w in [0.9, 1.0, 1.2] {
                let start = problem.start_with(&[("w", w)]).expect("a start");
                // Once around: it comes to rest and leaves.
                let lasts = 2.0 * std::f64::consts::TAU / w;
                let passage =
                    space.pass(&problem, &start, lasts, &Options::events(0.0).tolerance(1e-12)).expect("a map");
                let (frame, logs) = factored(4, &passage.jacobian);
                let (grown, found) = exponents.growth(&start, lasts, 1).expect("compiled code decides");
                println!("{code} e = {e} w = {w}: {logs:?} {grown:?} {found:?}");
                // (The map is singular: what is left of the last two columns is rounding.)
                assert!(logs[2] < -20.0 && logs[3] < -20.0 && logs[1] > -15.0, "{logs:?}");
                assert!(found[8..].iter().all(|x| *x == 0.0), "{code} e = {e} w = {w}: {found:?}");
                for k in 0..2 {
                    assert!((logs[k] - grown[0][k]).abs() < 1e-5, "{code} e = {e} w = {w}: {logs:?} {grown:?}");
                }
                assert!(frame[..8].iter().zip(&found).all(|(a, b)| (a - b).abs() < 1e-5), "{frame:?} {found:?}");
            }
        }
    }
}

fn run(exponents: &Exponents, motions: &[Motion], threads: usize) -> Vec<Found> {
    let found: Mutex<Vec<Option<Found>>> = Mutex::new(motions.iter().map(|_| None).collect());
    let deliver = |k: usize, one: Found| found.lock().expect("found")[k] = Some(one);
    exponents.run(motions, threads, &Arc::default(), &deliver);
    found.into_inner().expect("found").into_iter().map(|one| one.expect("all are delivered")).collect()
}

fn motions(problem: &Problem, w: &[f64], transient: usize, count: usize) -> Vec<Motion> {
    let motion = |&w: &f64| {
        let start: Start = problem.start_with(&[("w", w)]).expect("a start");
        (start, LyapunovOptions::blocks(std::f64::consts::TAU / w, transient, count))
    };
    w.iter().map(motion).collect()
}

#[test]
fn sums_are_closed_forms_and_means_those_of_the_analysis() {
    let linear = || stop("chaotic", "cos(w*t) - 0.02*x' - x", "-x", 0.9);
    for (name, model, w, damping, e) in
        [("linear", linear(), [3.1, 3.15, 3.12], 0.02, 0.9_f64), ("pair", pair(), [0.9, 1.0, 1.1], 0.1, 0.7)]
    {
        let Case { problem, .. } = case(name, model, [w[0]; 4], 0.0);
        let motions = motions(&problem, &w, 60, 240);
        let truth: Vec<_> =
            motions.iter().map(|m| lyapunov(&problem, &m.0, &m.1, &mut |_| true).expect(name)).collect();
        for (code, exponents) in both(name, &problem, 1e-10) {
            for ((found, way), truth) in run(&exponents, &motions, 2).into_iter().zip(&truth) {
                let found = found.expect(name);
                println!("{name} {code} {way:?}: {:?}, {:?}", found.exponents, truth.exponents);
                let sum = -damping + 2.0 * e.ln() * found.impacts as f64 / found.time;
                assert!((found.sum() - sum).abs() < 1e-7, "{name} {code}: {} {sum}", found.sum());
                assert_eq!(found.repeats.is_some(), truth.repeats.is_some());
                assert_eq!(way == Way::Closed, truth.repeats.is_some());
                for (a, b) in found.exponents.iter().zip(&truth.exponents) {
                    let allowed = if truth.repeats.is_some() { 1e-6 } else { 4.0 * a.error.hypot(b.error) + 1e-6 };
                    assert!((a.value - b.value).abs() < allowed, "{name} {code}: {a:?} {b:?}");
                }
            }
        }
    }
}

#[test]
fn results_do_not_depend_on_threads() {
    let Case { problem, .. } = case("linear", stop("t", "cos(w*t) - 0.02*x' - x", "-x", 0.9), [3.0; 4], 0.0);
    let w: Vec<f64> = (0..21).map(|k| 2.9 + 0.02 * f64::from(k)).collect();
    let motions = motions(&problem, &w, 20, 40);
    for (code, exponents) in both("linear", &problem, 1e-10) {
        let values = |found: Vec<Found>| -> Vec<Vec<f64>> {
            let of = |(found, _): Found| found.expect("exponents").exponents.iter().map(|e| e.value).collect();
            found.into_iter().map(of).collect()
        };
        let (one, three) = (values(run(&exponents, &motions, 1)), values(run(&exponents, &motions, 3)));
        assert_eq!(one, three, "{code}");
        // (Alone, as in company.)
        assert_eq!(values(run(&exponents, &motions[7..8], 1))[0], one[7], "{code}");
    }
}

/// One body is pressed against a stop until shortly before a time, so that the event engine goes on until then; another swings freely, driven
/// by a state that is fast.
fn pressed(rate: f64, until: f64) -> Problem {
    let model = Builder::new("pressed")
        .parameter("w", 1.0)
        .coordinate("x", 0.2, 0.0)
        .coordinate("y", 0.0, 0.4)
        .state("z", 0.2, format!("{rate}*(cos(w*t) - z)"))
        .kinetic("x'^2/2 + y'^2/2")
        .force("x", format!("cos({}*t)", 1.6 / until))
        .force("y", "z - 0.05*y' - y - y^3/10")
        .restitution(0.5)
        .constraint("left", "0.2 - x");
    model.build().expect("a model").open(&["w"]).expect("open").problem().expect("a problem")
}

#[test]
fn what_shrinks_fast_is_not_lost_where_a_motion_is_handed_over() {
    for (rate, lasts) in [(10.0, 1000.0), (400.0, 100.0)] {
        let problem = pressed(rate, lasts);
        let start = problem.start_with(&[("w", 1.0)]).expect("a start");
        let start = start.reached(Reached { closed: vec![0], ..Reached::default() });
        for (code, exponents) in both("pressed", &problem, 1e-10) {
            let (grown, frame) = exponents.growth(&start, lasts, 1).expect("compiled code decides");
            println!("{rate} {code}: {grown:?}");
            // The contact takes one body's directions, and no others: the state's shrinks as it does by itself.
            let gone: Vec<bool> = frame.chunks(5).map(|column| column.iter().all(|x| *x == 0.0)).collect();
            assert_eq!(gone, [true, false, true, false, false], "{rate} {code}");
            let (swings, fast) = (grown[0][1] + grown[0][3], grown[0][4]);
            assert!((swings + 0.05 * lasts).abs() < 1e-6 * lasts, "{rate} {code}: {swings}");
            assert!((fast / (rate * lasts) + 1.0).abs() < 1e-8, "{rate} {code}: {fast}");
        }
    }
}

/// Two bodies, one of which strikes a curved wall and is pressed against it at once, or leaves it again.
fn curved() -> Problem {
    let model = Builder::new("curved")
        .parameter("w", 1.1)
        .coordinate("x", 0.1, 0.3)
        .coordinate("y", 0.2, 0.0)
        .kinetic("x'^2/2 + y'^2/2")
        .potential("x^2/2 + y^2/2 + y^4/4 + 0.5*(x - y)^2")
        .force("x", "3.2*cos(w*t) - 0.05*x'")
        .force("y", "9*cos(0.7*w*t) - 0.05*y'")
        .restitution(0.0)
        .constraint("stop", "1 - x - 0.1*x^2");
    model.build().expect("a model").open(&["w"]).expect("open").problem().expect("a problem")
}

#[test]
fn an_impact_that_ends_in_contact_counts_once() {
    let problem = curved();
    let motions = motions(&problem, &[1.1, 1.101, 1.102, 1.11], 5, 40);
    let truth: Vec<_> =
        motions.iter().map(|m| lyapunov(&problem, &m.0, &m.1, &mut |_| true).expect("exponents")).collect();
    for (code, exponents) in both("curved", &problem, 1e-10) {
        let mut compiled = 0;
        for ((found, way), truth) in run(&exponents, &motions, 1).into_iter().zip(&truth) {
            let found = found.expect("exponents");
            println!("{code} {way:?}: {} {}", found.impacts, truth.impacts);
            let off = found.impacts.abs_diff(truth.impacts);
            assert!(off <= 2 && truth.impacts > 20, "{code}: {} {}", found.impacts, truth.impacts);
            compiled += usize::from(way == Way::Compiled);
        }
        assert!(compiled > 0, "{code}");
    }
}
