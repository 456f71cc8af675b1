//! What every scheme in the list must do. A new scheme is tested by being in the list.

use proptest::prelude::*;
use saltus::contact::ImpactLaw;
use saltus::linalg::{Metric, Rows};
use saltus::model::Builder;
use saltus::scheme::{Node, SCHEMES, Scheme, Settings, Stepper, find};
use saltus::{Model, Options, Problem, SetupError, Side, Status};
use std::sync::Arc;

/// The settings of a scheme for a step; where a stiffness is needed, one that the step resolves for the inertias here.
fn settings(scheme: &Scheme, step: f64) -> Settings {
    Settings::new().with("stiffness", 2e-3 / (step * step)).among(scheme.settings)
}

fn options(scheme: &Scheme, step: f64, end: f64) -> Options {
    let mut options = Options::with(*scheme, end).step(step);
    options.settings = settings(scheme, step);
    options
}

fn stepper(
    problem: &Problem,
    scheme: &Scheme,
    h: f64,
    settings: &Settings,
) -> Option<Result<Box<dyn Stepper>, SetupError>> {
    let at = problem.instance(&problem.start()).expect("a start");
    scheme.steps().map(|s| (s.start)(&at, h, settings))
}

/// The schemes that accept a problem; the others must refuse it before the first step, with advice.
fn willing(problem: &Problem) -> Vec<&'static Scheme> {
    let accepts = |scheme: &&Scheme| match stepper(problem, scheme, 1e-3, &settings(scheme, 1e-3)) {
        None | Some(Ok(_)) => true,
        Some(Err(refusal)) => {
            assert!(refusal.help.is_some() && refusal.message.contains(scheme.name), "{refusal:?}");
            false
        }
    };
    let willing: Vec<_> = SCHEMES.iter().filter(accepts).collect();
    assert!(
        willing.len() + 1 >= SCHEMES.len(),
        "{} schemes refuse {}",
        SCHEMES.len() - willing.len(),
        problem.model().title
    );
    willing
}

fn gravity_ball(e: f64) -> Problem {
    let model = Builder::new("ball")
        .coordinate("y", "1", "0")
        .kinetic("y'^2/2")
        .potential("2*y")
        .restitution(e.to_string())
        .constraint("floor", "y");
    Problem::new(model.build().expect("a model")).expect("a problem")
}

/// Models that between them use everything a step can contain.
fn demanding() -> Vec<Problem> {
    let pendulum = Builder::new("damped double pendulum with two stops")
        .coordinate("a", "1", "0")
        .coordinate("b", "0.5", "0")
        .kinetic("a'^2 + b'^2/2 + a'*b'*cos(a - b)")
        .potential("-2*9.81*cos(a) - 9.81*cos(b)")
        .force("a", "-0.1*a' - 0.05*a'*abs(a') + sin(3*t)")
        .constraint_with("knee", "a - b", "0.5")
        .constraint_with("wall", "sin(a) + sin(b) + 0.8 + 0.1*sin(t)", "0");
    let disc = Builder::new("particle in a disc")
        .coordinate("x", "0.5", "1")
        .coordinate("y", "-0.5", "1")
        .kinetic("(x'^2 + y'^2)/2")
        .potential("y")
        .restitution("0.5")
        .constraint("circle", "1 - hypot(x, y)");
    let rods = Builder::new("rods")
        .parameter("n", "6")
        .coordinate_family("x", "i = 1..n", "i", "sin(3*i)")
        .kinetic("sum(i = 1..n, x[i]'^2/2)")
        .restitution("1")
        .constraint("left", "x[1]")
        .constraint_family("pair", "i = 1..n-1", "x[i+1] - x[i]")
        .constraint("right", "n + 1 - x[n]");
    let build = |b: Builder| Problem::new(b.build().expect("a model")).expect("a problem");
    vec![gravity_ball(0.5), build(pendulum), build(disc), build(rods)]
}

#[test]
fn no_step_allocates() {
    for problem in demanding() {
        for scheme in willing(&problem).into_iter().filter(|s| s.steps().is_some()) {
            for forcing in ["centred", "averaged"] {
                let settings = settings(scheme, 1e-2).with("forcing", forcing).among(scheme.settings);
                let mut stepper = stepper(&problem, scheme, 1e-2, &settings).expect("steps").expect("starts");
                let mut node = Node::new(problem.dimension(), problem.constraints());
                let mut contacts = 0;
                let count = allocation_counter::measure(|| {
                    for _ in 0..2000 {
                        stepper.advance(&mut node).expect("a step");
                        contacts += u64::from(node.contact);
                    }
                });
                let title = &problem.model().title;
                assert!(contacts > 0, "{title} should meet its constraints");
                assert_eq!(count.count_total, 0, "{} on {title}", scheme.name);
            }
        }
    }
}

/// The exact height of a ball dropped from 1 with g = 2.
fn height(e: f64, t: f64) -> f64 {
    if t < 1.0 {
        return 1.0 - t * t;
    }
    let (mut start, mut v) = (1.0, 2.0 * e);
    while v > 1e-15 {
        let s = t - start;
        if s < v {
            return v * s - s * s;
        }
        (start, v) = (start + v, e * v);
    }
    0.0
}

#[test]
fn the_declared_order_is_observed() {
    for e in [0.0, 0.3, 0.5, 0.8] {
        let problem = gravity_ball(e);
        for scheme in willing(&problem).into_iter().filter(|s| s.follows_law) {
            let errors = [1e-2, 1e-3, 1e-4].map(|h| {
                let run = problem.run(&options(scheme, h, 4.0)).expect("runs");
                let t = &run.trajectory;
                (0..t.len()).map(|k| (t.q(k)[0] - height(e, t.t[k])).abs()).fold(0.0, f64::max)
            });
            let order = (errors[0] / errors[2]).log10() / 2.0;
            println!("{} e = {e}: errors {errors:?}, order {order:.3}", scheme.name);
            let exact = errors.iter().all(|&d| d < 1e-12);
            assert!(exact || (order - scheme.order).abs() < 0.2, "{} e = {e}: {errors:?}, order {order}", scheme.name);
        }
    }
}

#[test]
fn penalty_tends_to_the_rigid_motion_as_its_stiffness_grows() {
    let penalty = find("penalty").expect("listed");
    for e in [0.3, 0.8] {
        let problem = gravity_ball(e);
        let errors = [1e2, 1e3, 1e4].map(|k: f64| {
            // Fine enough that the contact is resolved far better than it lasts.
            let h = 4e-6;
            let options = Options::steps(penalty, h).until(1.6).setting("stiffness", k).every(10);
            let run = problem.run(&options).expect("runs");
            let first = run.trajectory.impacts.get(0);
            // Gravity acts during the contact, which lasts O(1/√k).
            assert!((first.v_after[0] + e * first.v_before[0]).abs() < 6.0 / k.sqrt() + 5e-3, "{first:?}");
            let t = &run.trajectory;
            (0..t.len()).map(|k| (t.q(k)[0] - height(e, t.t[k])).abs()).fold(0.0, f64::max)
        });
        // The error is the time of a contact, O(1/√k).
        let order = (errors[0] / errors[2]).log10() / 2.0;
        assert!((0.4..=0.6).contains(&order), "e = {e}: {errors:?}, order {order} in k");
    }
}

#[test]
fn violations_fall_with_the_step_and_impacts_lose_energy() {
    for problem in demanding() {
        for scheme in willing(&problem) {
            let coarse = problem.run(&options(scheme, 1e-3, 5.0)).expect("runs");
            let fine = problem.run(&options(scheme, 1e-4, 5.0)).expect("runs");
            // Compliant obstacles are far from the law with coarse steps, which are a large part of a contact.
            assert_eq!(fine.status, Status::Finished, "{} {}", scheme.name, problem.model().title);
            let is_soft = |complaint: &String| complaint.starts_with("(P4)") || complaint.starts_with("(C4)");
            assert!(coarse.status.is_complete());
            assert!(coarse.ledger.complaints().iter().all(|c| !scheme.follows_law && is_soft(c)), "{}", scheme.name);
            assert!(fine.audit.max_violation < 0.3 * coarse.audit.max_violation + 1e-12, "{}", problem.model().title);
            assert!(!fine.trajectory.impacts.is_empty());
            for impact in fine.trajectory.impacts.iter() {
                let moving = problem.model().constraints.iter().any(|c| c.name == "wall");
                let kinetic = 0.5 * impact.speed * impact.speed;
                assert!(
                    moving || !scheme.follows_law || impact.energy_change <= 1e-3 * kinetic,
                    "{} {impact:?}",
                    problem.model().title
                );
            }
        }
    }
}

#[test]
fn a_stopped_run_keeps_what_it_has() {
    for scheme in SCHEMES {
        let mut calls = 0;
        let stop = &mut |_: saltus::Progress| {
            calls += 1;
            calls < 3
        };
        let ball = gravity_ball(if scheme.is_event_driven() { 0.9 } else { 0.0 });
        let run = ball.run_observed(&ball.start(), &options(scheme, 1e-5, 10.0), stop).expect("runs");
        let Status::Interrupted { t } = run.status else { panic!("{:?}", run.status) };
        assert_eq!(run.trajectory.t.last().copied(), Some(t));
        assert!(t > 0.0 && t < 10.0);
    }
}

#[test]
fn failures_name_time_and_culprit_and_keep_the_past() {
    let crushed = Builder::new("crushed")
        .coordinate("x", "0.5", "0")
        .kinetic("x'^2/2")
        .restitution("0")
        .constraint("left", "x")
        .constraint("right", "1 - t - x");
    let blown = Builder::new("blown up").coordinate("x", "1", "0").kinetic("x'^2/2").force("x", "1/(1 - t)^3 + x^9");
    let thinned = Builder::new("loses its mass").coordinate("x", "1", "-1").kinetic("x*x'^2/2");
    let outside = Builder::new("leaves the domain of its gap")
        .coordinate("x", "1", "-1")
        .kinetic("x'^2/2")
        .restitution("0")
        .constraint("root", "sqrt(x - 0.5) + 1");
    for (builder, culprit, latest) in
        [(crushed, "crush", 1.2), (blown, "`x`", 1.1), (thinned, "`x`", 2.0), (outside, "root", 0.6)]
    {
        let problem = Problem::new(builder.build().expect("a model")).expect("a problem");
        // Springs can always be pressed harder: the penalty scheme is crushed without noticing.
        let rigid = willing(&problem).into_iter().filter(|s| s.follows_law || culprit != "crush");
        for scheme in rigid {
            let run = problem.run(&options(scheme, 1e-3, 5.0)).expect("starts");
            let Status::Failed(failure) = &run.status else { panic!("{:?} {}", run.status, problem.model().title) };
            assert!(failure.t <= latest && failure.to_string().contains(culprit), "{failure}");
            assert!(run.trajectory.len() > 100 && run.trajectory.positions().iter().all(|x| x.is_finite()));
        }
    }
}

#[test]
fn unknown_schemes_are_answered_with_the_nearest() {
    let error = find("paoli-schatzmann").expect_err("misspelt");
    assert!(error.help.is_some_and(|h| h.contains("`paoli-schatzman`")));
}

/// A particle of random mass matrix flying at random walls through one point, no forces.
fn corner(d: usize, m: usize, e: f64, seed: &[f64]) -> (Arc<Model>, Metric, Rows, Vec<f64>, Vec<f64>) {
    let names: Vec<String> = (0..d).map(|i| format!("x{i}")).collect();
    let b = |i: usize, j: usize| seed[i * 4 + j];
    let mass: Vec<f64> = (0..d * d)
        .map(|k| {
            let (i, j) = (k / d, k % d);
            (0..d).map(|l| b(i, l) * b(j, l)).sum::<f64>() + if i == j { 1.0 } else { 0.0 }
        })
        .collect();
    let normals = seed[16..16 + m * d].to_vec();
    let walls: Vec<f64> = seed[32..32 + m].iter().map(|w| 0.3 * w).collect();
    let v: Vec<f64> = seed[36..36 + d].to_vec();
    let mut builder = Builder::new("corner").restitution(format!("{e:?}"));
    for i in 0..d {
        builder = builder.coordinate(&names[i], format!("{:?}", -v[i]), format!("{:?}", v[i]));
    }
    let terms: Vec<String> =
        (0..d * d).map(|k| format!("({:?})*{}'*{}'/2", mass[k], names[k / d], names[k % d])).collect();
    builder = builder.kinetic(terms.join(" + "));
    for a in 0..m {
        let dot: Vec<String> = (0..d).map(|i| format!("({:?})*{}", normals[a * d + i], names[i])).collect();
        builder = builder.constraint(&format!("w{a}"), format!("{} + ({:?})*(t - 1)", dot.join(" + "), walls[a]));
    }
    let mut metric = Metric::full(d);
    metric.set(&mass).expect("positive definite");
    (builder.build().expect("a model"), metric, Rows::dense(d, &normals), walls, v)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    /// All walls, still or moving, are reached at t = 1. The velocity afterwards is the law's.
    #[test]
    fn random_corners_obey_the_law(
        d in 1usize..4, m in 1usize..4, e in prop::sample::select(vec![0.0, 0.3, 0.5, 1.0]),
        seed in prop::collection::vec(-1.0f64..1.0, 40),
    ) {
        let m = m.min(d);
        prop_assume!((0..m * d).all(|k| seed[16 + k].abs() > 1e-3));
        let (model, metric, rows, walls, v) = corner(d, m, e, &seed);
        // Every wall must be approached at a decent pace, or it is not met before the end.
        prop_assume!((0..m).all(|a| walls[a] + rows.dot(a, &v) < -0.1));
        let problem = Problem::new(model).expect("starts inside");
        let mut expected = v.clone();
        let mut law = ImpactLaw::new(d, m);
        prop_assume!(law.apply(&metric, &rows, &walls, &vec![e; m], &mut expected).is_ok());
        for scheme in willing(&problem).into_iter().filter(|s| s.follows_law) {
            let run = problem.run(&options(scheme, 0.997e-3, 1.02)).expect("runs");
            prop_assert_eq!(&run.status, &Status::Finished);
            let last = run.trajectory.v(run.trajectory.len() - 1, Side::Right);
            for i in 0..d {
                prop_assert!((last[i] - expected[i]).abs() < 1e-8, "{}: {last:?} {expected:?}", scheme.name);
            }
        }
    }
}
