//! First-order states: they are integrated at full order by events, and with the order of each scheme in steps.

use saltus::analysis::{ProbeOptions, probe, sequentially};
use saltus::model::Builder;
use saltus::{Model, Options, Start};
use std::sync::Arc;

/// A mass on a spring whose damper is a Maxwell element: the force F in it obeys F' = k1 x' − F/τ.
fn maxwell() -> Arc<Model> {
    Builder::new("Maxwell element")
        .coordinate("x", 1.0, 0.0)
        .kinetic("x'^2/2")
        .potential("2*x^2/2")
        .state("F", 0.5, "3*x' - F/0.7")
        .force("x", "-F")
        .build()
        .expect("a model")
}

/// The exact solution of the linear system by its Taylor series in small steps: x, x', F at t.
fn exact(t: f64) -> [f64; 3] {
    let rate = |y: [f64; 3]| [y[1], -2.0 * y[0] - y[2], 3.0 * y[1] - y[2] / 0.7];
    let steps = 400;
    let h = t / f64::from(steps);
    let mut y = [1.0, 0.0, 0.5];
    for _ in 0..steps {
        let mut term = y;
        for k in 1..20 {
            term = rate(term).map(|r| r * h / f64::from(k));
            (0..3).for_each(|i| y[i] += term[i]);
        }
    }
    y
}

#[test]
fn by_events_at_full_order() {
    let problem = maxwell().problem().expect("a problem");
    let run = problem.run(&Options::events(5.0)).expect("a run").ok().expect("finished");
    let y = exact(5.0);
    let last = run.last();
    assert!((last.q[0] - y[0]).abs() < 1e-9, "{} {}", last.q[0], y[0]);
    assert!((last.v[0] - y[1]).abs() < 1e-9);
    assert!((last.v[1] - y[2]).abs() < 1e-9, "{} {}", last.v[1], y[2]);
}

#[test]
fn in_steps_with_the_order_of_the_scheme() {
    let problem = maxwell().problem().expect("a problem");
    let y = exact(2.0);
    for scheme in ["paoli-schatzman", "mabrouk", "moreau-jean", "moreau-midpoint"] {
        let error = |h: f64| {
            let options = Options::steps(scheme, h).until(2.0);
            let run = problem.run(&options).expect("a run");
            (run.last().v[1] - y[2]).abs().max((run.last().q[0] - y[0]).abs())
        };
        let order = (error(2e-3) / error(1e-3)).log2();
        assert!(order > 0.9, "{scheme}: order {order}, errors {} {}", error(2e-3), error(1e-3));
    }
}

#[test]
fn a_start_may_leave_states_out_or_set_them() {
    let problem = maxwell().problem().expect("a problem");
    let run = |start: Start| problem.run_from(&start, &Options::events(1.0)).expect("a run").last().v[1];
    let without = run(Start::new(0.0, vec![1.0], vec![0.0]));
    assert_eq!(without, run(Start::new(0.0, vec![1.0], vec![0.0]).with_states(&[0.5])));
    assert_ne!(without, run(Start::new(0.0, vec![1.0], vec![0.0]).with_states(&[0.6])));
}

#[test]
fn a_probe_sees_states_that_part() {
    // The state falls to one side or the other, and the body does not care.
    let body = |rate: &str| {
        let body = Builder::new("body").coordinate("x", 1.0, 0.5).kinetic("x'^2/2").potential("x^2/2");
        body.state("z", 0.0, rate).build().expect("a model").problem().expect("a problem")
    };
    let found = |rate: &str| {
        let problem = body(rate);
        let how = ProbeOptions { starts: 12, size: 1e-6, seed: 3 };
        let options = Options::events(40.0);
        probe(&problem, &problem.start(), &options, &how, &mut sequentially(&problem)).expect("a probe")
    };
    let parted = found("z - z^3");
    assert!(parted.splits && parted.states.0 > 1.9 && parted.states.1 > 1.9, "{parted:?}");
    let ends: Vec<f64> = parted.groups.iter().map(|(_, end)| end[1]).collect();
    assert!(ends.len() == 2 && ends.iter().all(|z| (z.abs() - 1.0).abs() < 1e-6), "{ends:?}");
    assert!(!found("-z").splits);
}

/// A pendulum that a state pushes, and that hits a wall, with a joint and with an angle.
#[test]
fn a_state_beside_a_joint_is_one_beside_an_angle() {
    let joint = Builder::new("joint")
        .coordinate("x", 1.0, 0.0)
        .coordinate("y", 0.0, 0.0)
        .state("p", 0.5, "-p + x + 0.1*y'")
        .kinetic("(x'^2 + y'^2)/2")
        .potential("9.81*y")
        .force("x", "p")
        .joint("rod", &["x^2 + y^2 - 1"])
        .restitution(0.5)
        .constraint("wall", "x + 0.2");
    let angle = Builder::new("angle")
        .coordinate("a", std::f64::consts::FRAC_PI_2, 0.0)
        .state("p", 0.5, "-p + sin(a) + 0.1*sin(a)*a'")
        .kinetic("a'^2/2")
        .potential("-9.81*cos(a)")
        .force("a", "p*cos(a)")
        .restitution(0.5)
        .constraint("wall", "sin(a) + 0.2");
    let [joint, angle] = [joint, angle].map(|model| model.build().expect("a model").problem().expect("a problem"));
    let by_events = Options::events(5.0).scheme("event-driven").tolerance(1e-12);
    let [one, other] = [&joint, &angle].map(|problem| problem.run(&by_events).expect("runs").ok().expect("finishes"));
    assert!(one.trajectory.impacts.len() > 1);
    assert_eq!(one.trajectory.impacts.len(), other.trajectory.impacts.len());
    let last = |run: &saltus::Run| (run.trajectory.q(run.trajectory.len() - 1).to_vec(), run.last().v.clone());
    let ((q, v), (a, w)) = (last(&one), last(&other));
    assert!((q[0] - a[0].sin()).abs() < 1e-10 && (q[1] + a[0].cos()).abs() < 1e-10, "{q:?} {a:?}");
    assert!((v[2] - w[1]).abs() < 1e-10, "{v:?} {w:?}");
    for scheme in ["moreau-jean", "moreau-midpoint", "mabrouk", "paoli-schatzman"] {
        let error = |h: f64| {
            let run = joint.run(&Options::steps(scheme, h).until(5.0)).expect("runs").ok().expect("finishes");
            (run.last().v[2] - w[1]).abs()
        };
        let (coarse, fine) = (error(2e-3), error(2.5e-4));
        assert!(fine < 2e-3 && fine < 0.4 * coarse, "{scheme}: {coarse} {fine}");
    }
}
