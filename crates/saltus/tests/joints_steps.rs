//! Joints in time steps, against closed forms: values, drift and orders of convergence.

use saltus::linalg::{Dice, Metric, Rows};
use saltus::model::Builder;
use saltus::problem::Problem;
use saltus::project::Polyhedron;
use saltus::{Model, Options, Run, Start};
use std::sync::Arc;

/// The schemes that know joints.
const SCHEMES: [&str; 4] = ["moreau-jean", "moreau-midpoint", "mabrouk", "paoli-schatzman"];

fn run(model: &Arc<Model>, scheme: &str, h: f64, end: f64) -> Run {
    let problem = model.problem().expect("a problem");
    let run = problem.run(&Options::steps(scheme, h).until(end)).expect("a run");
    run.ok().unwrap_or_else(|e| panic!("{scheme} with h = {h}: {e}"))
}

/// A pendulum of length 1 from the angle 2, in Cartesian coordinates.
fn pendulum() -> Arc<Model> {
    Builder::new("a pendulum")
        .coordinate("x", "sin(2)", "0.5*cos(2)")
        .coordinate("y", "-cos(2)", "0.5*sin(2)")
        .kinetic("1.5*(x'^2 + y'^2)/2")
        .potential("1.5*9.81*y")
        .joint("rod", &["sqrt(x^2 + y^2) - 1"])
        .build()
        .expect("a model")
}

/// θ'' = −g sin θ by its Taylor series (sine and cosine have recursions), in small steps.
fn angle(t: f64) -> f64 {
    let (mut theta, mut omega) = (2.0_f64, 0.5_f64);
    let steps = (t / 0.02).ceil().max(1.0) as usize;
    let h = t / steps as f64;
    const N: usize = 16;
    for _ in 0..steps {
        let (mut a, mut s, mut c) = ([0.0; N + 2], [0.0; N + 2], [0.0; N + 2]);
        (a[0], a[1], s[0], c[0]) = (theta, omega, theta.sin(), theta.cos());
        for k in 0..N {
            a[k + 2] = -9.81 * s[k] / ((k + 1) * (k + 2)) as f64;
            let sum = |f: &[f64]| (0..=k).map(|j| (j + 1) as f64 * a[j + 1] * f[k - j]).sum::<f64>() / (k + 1) as f64;
            let (ds, dc) = (sum(&c), -sum(&s));
            (s[k + 1], c[k + 1]) = (ds, dc);
        }
        let mut power = 1.0;
        (theta, omega) = (0.0, 0.0);
        for k in 0..N {
            theta += a[k] * power;
            omega += (k + 1) as f64 * a[k + 1] * power;
            power *= h;
        }
    }
    theta
}

fn order_of(errors: &[(f64, f64)]) -> f64 {
    let n = errors.len() as f64;
    let logs: Vec<(f64, f64)> = errors.iter().map(|(h, e)| (h.ln(), e.ln())).collect();
    let (mx, my) = (logs.iter().map(|p| p.0).sum::<f64>() / n, logs.iter().map(|p| p.1).sum::<f64>() / n);
    let top: f64 = logs.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum();
    top / logs.iter().map(|p| (p.0 - mx).powi(2)).sum::<f64>()
}

#[test]
fn a_pendulum_with_a_joint_is_one_with_an_angle() {
    for scheme in SCHEMES {
        let mut errors = Vec::new();
        for h in [4e-3, 2e-3, 1e-3] {
            let run = run(&pendulum(), scheme, h, 3.0);
            let mut worst = 0.0_f64;
            for t in [0.5, 1.0, 1.5, 2.0, 2.5, 3.0] {
                let k = (t / h).round() as usize;
                let (q, theta) = (run.trajectory.q(k), angle(t));
                worst = worst.max((q[0] - theta.sin()).hypot(q[1] + theta.cos()));
            }
            errors.push((h, worst));
            let drift =
                (0..run.trajectory.len()).map(|k| (run.trajectory.q(k)[0].hypot(run.trajectory.q(k)[1]) - 1.0).abs());
            let drift = drift.fold(0.0, f64::max);
            assert!(drift <= 1e-13, "{scheme}: {drift}");
        }
        let order = order_of(&errors);
        println!("{scheme}: order {order:.3} {errors:?}");
        // As in free flight: mabrouk is of first order, the others of second.
        let allowed = if scheme == "mabrouk" { 0.8..1.2 } else { 1.8..2.2 };
        assert!(allowed.contains(&order), "{scheme}: order {order} {errors:?}");
    }
}

#[test]
fn a_joint_takes_no_energy() {
    for scheme in SCHEMES {
        let run = run(&pendulum(), scheme, 5e-3, 200.0);
        let balance = &run.ledger.balance;
        let drift = (balance.end - balance.start).abs() / balance.exchanged;
        println!("{scheme}: {drift:.3e}");
        assert!(drift < 2e-2, "{scheme}: {drift}");
        let worst = (0..run.trajectory.len()).map(|k| {
            let (q, v) = (run.trajectory.q(k), run.trajectory.v(k, saltus::Side::Right));
            (q[0] * v[0] + q[1] * v[1]).abs()
        });
        let worst = worst.fold(0.0, f64::max);
        // (The velocities of the position level are differences of positions.)
        let allowed = if scheme == "paoli-schatzman" { 1e-2 } else { 1e-12 };
        assert!(worst < allowed, "{scheme}: {worst}");
    }
}

/// The same pendulum with its joint written twice, and a redundant third time squared.
#[test]
fn redundant_joints_change_nothing() {
    let twice = Builder::new("a pendulum, held twice")
        .coordinate("x", "sin(2)", "0.5*cos(2)")
        .coordinate("y", "-cos(2)", "0.5*sin(2)")
        .kinetic("1.5*(x'^2 + y'^2)/2")
        .potential("1.5*9.81*y")
        .joint("rod", &["sqrt(x^2 + y^2) - 1", "2*(sqrt(x^2 + y^2) - 1)", "x^2 + y^2 - 1"])
        .build()
        .expect("a model");
    for scheme in SCHEMES {
        let (a, b) = (run(&pendulum(), scheme, 2e-3, 1.0), run(&twice, scheme, 2e-3, 1.0));
        for (x, y) in a.last().q.iter().zip(&b.last().q) {
            assert!((x - y).abs() < 1e-9, "{scheme}: {x} {y}");
        }
    }
}

/// Two masses on a rigid bar hit a floor with one end: the impact jumps both.
#[test]
fn an_impact_acts_through_a_joint() {
    let bar = Builder::new("a bar that falls on one end")
        .coordinate("x", 0, 0)
        .coordinate("y", 0.5, 0)
        .coordinate("u", 1, 0)
        .coordinate("w", 1.5, 0)
        .kinetic("(x'^2 + y'^2)/2 + 3*(u'^2 + w'^2)/2")
        .potential("9.81*y + 3*9.81*w")
        .restitution(0.4)
        .joint("bar", &["(u - x)^2 + (w - y)^2 - 2"])
        .constraint("floor", "y")
        .build()
        .expect("a model");
    // v⁻ = −√(2 g 0.5) in all of it; n = (1, 1)/√2 along the bar. Impulse P on mass 1, joint impulse along the bar.
    let v = (9.81_f64).sqrt();
    // Unknowns: P, J. Along the bar: (P n_y + J)/1 − ... both masses keep their distance: (P n_y − J)/1 = J/3 ⇒ J = 3 P n_y/4.
    let n = 0.5_f64.sqrt();
    // y' after = −v + P − J n = −v + P (1 − 3/8) = 0.4 v.
    let p = 1.4 * v / (1.0 - 3.0 / 8.0);
    for scheme in SCHEMES {
        let run = run(&bar, scheme, 2e-4, 0.35);
        let impact = run.trajectory.impacts.get(0);
        assert!((impact.impulses[0] - p).abs() < 0.02 * p, "{scheme}: {} {p}", impact.impulses[0]);
        let joint = 3.0 * p * n / 4.0;
        // The row of the joint is 2 (x − u, …): its length is 2√2.
        let listed = impact.others[0].1 * 2.0 * 2.0_f64.sqrt();
        assert!((listed.abs() - joint).abs() < 0.02 * joint, "{scheme}: {listed} {joint}");
        let (dx, dw) = (impact.v_after[0] - impact.v_before[0], impact.v_after[3] - impact.v_before[3]);
        assert!(
            (dx + joint * n).abs() < 0.03 * joint && (dw - joint * n / 3.0).abs() < 0.03 * joint,
            "{scheme}: {dx} {dw}"
        );
        assert!(run.ledger.balance.relative() < 0.02, "{scheme}: {:?}", run.ledger.balance);
    }
}

/// A crank that is driven: x follows a moving joint, and a load is moved by it.
#[test]
fn a_moving_joint_drives() {
    let model = Builder::new("driven")
        .coordinate("x", 0, 2)
        .coordinate("y", 0, 0)
        .kinetic("x'^2/2 + 2*y'^2/2")
        .potential("30*(y - x)^2/2")
        .joint("drive", &["x - sin(2*t)"])
        .build()
        .expect("a model");
    // y'' = 15 (sin 2t − y): y = (15/11) (sin 2t − (2/√15) sin √15 t).
    let exact = |t: f64| 15.0 / 11.0 * ((2.0 * t).sin() - 2.0 / 15f64.sqrt() * (15f64.sqrt() * t).sin());
    for scheme in SCHEMES {
        let mut errors = Vec::new();
        for h in [4e-3, 2e-3, 1e-3] {
            let run = run(&model, scheme, h, 4.0);
            let motion = &run.trajectory;
            let worst = (0..motion.len()).map(|k| (motion.q(k)[1] - exact(motion.t[k])).abs()).fold(0.0, f64::max);
            errors.push((h, worst));
            assert!(run.ledger.balance.relative() < 0.02, "{scheme}: {:?}", run.ledger.balance);
        }
        let order = order_of(&errors);
        println!("{scheme}: driven, order {order:.3} {errors:?}");
        assert!(order > 0.8, "{scheme}: order {order} {errors:?}");
    }
}

/// The nearest point of a polyhedron with equations: feasible, stationary, complementary; also where equations are redundant.
#[test]
fn equations_in_a_projection() {
    let mut dice = Dice::new(3);
    for trial in 0..500 {
        let (d, equations, m) = (4, 2, 6);
        let mut normals: Vec<f64> = (0..m * d).map(|_| dice.between(-1.0, 1.0)).collect();
        let mut offsets: Vec<f64> = (0..m).map(|_| dice.between(0.0, 1.0)).collect();
        (0..equations).for_each(|a| offsets[a] = 0.0);
        if trial % 3 == 0 {
            (0..d).for_each(|i| normals[d + i] = -2.0 * normals[i]);
        }
        let mut metric = Metric::diagonal(d);
        metric.set(&(0..d).map(|_| dice.between(0.2, 2.0)).collect::<Vec<_>>()).expect("positive");
        let rows = Rows::dense(d, &normals);
        let free: Vec<f64> = (0..d).map(|_| dice.between(-3.0, 3.0)).collect();
        let mut x = free.clone();
        let mut kernel = Polyhedron::new(d, m).with_equations(equations);
        kernel.project(&metric, &rows, &offsets, &mut x).expect("the origin is feasible");
        let mut residual = vec![0.0; d];
        metric.apply(&x.iter().zip(&free).map(|(a, b)| a - b).collect::<Vec<_>>(), &mut residual);
        for (a, offset) in offsets.iter().enumerate() {
            let (slack, lambda) = (offset + rows.dot(a, &x), kernel.multipliers()[a]);
            if a < equations {
                assert!(slack.abs() < 1e-11, "trial {trial}: {slack}");
            } else {
                assert!(
                    slack > -1e-11 && lambda >= 0.0 && (slack * lambda).abs() < 1e-10,
                    "trial {trial}: {slack} {lambda}"
                );
            }
            rows.add_to(a, -lambda, &mut residual);
        }
        assert!(residual.iter().all(|r| r.abs() < 1e-10), "trial {trial}: {residual:?}");
    }
}

/// A four-bar chain in Cartesian coordinates of its two moving pins: energy is kept for many turns.
#[test]
fn a_closed_chain_keeps_its_energy() {
    // Crank 1, coupler 2, rocker 1.8, ground 2.2 (Grashof: the crank turns).
    let (c, s) = (0.3_f64.cos(), 0.3_f64.sin());
    // The second pin: distances 2 from the first and 1.8 from (2.2, 0), the upper one.
    let (dx, dy) = (2.2 - c, -s);
    let l = dx.hypot(dy);
    let along = (4.0 - 1.8 * 1.8 + l * l) / (2.0 * l);
    let across = (4.0 - along * along).sqrt();
    let pin = (c + (along * dx - across * dy) / l, s + (along * dy + across * dx) / l);
    let start = Builder::new("a four-bar chain")
        .coordinate("x", c, 0)
        .coordinate("y", s, 0)
        .coordinate("u", pin.0, 0)
        .coordinate("w", pin.1, 0)
        .kinetic("2*(x'^2 + y'^2)/2 + 0.5*(u'^2 + w'^2)/2")
        .potential("9.81*(2*y + 0.5*w)")
        .joint("chain", &["hypot(x, y) - 1", "hypot(u - x, w - y) - 2", "hypot(u - 2.2, w) - 1.8"])
        .build()
        .expect("a model");
    let problem = start.problem().expect("a problem");
    let turning = Start::new(0.0, problem.start().q, vec![-8.0 * s, 8.0 * c, 0.0, 0.0]);
    let start = problem.assembled(&turning).expect("assembles");
    for scheme in SCHEMES {
        let run = problem.run_from(&start, &Options::steps(scheme, 1e-3).until(10.0)).expect("a run");
        let run = run.ok().unwrap_or_else(|e| panic!("{scheme}: {e}"));
        let balance = &run.ledger.balance;
        let drift = (balance.end - balance.start).abs() / balance.exchanged;
        println!("{scheme}: drift {drift:.2e}");
        assert!(drift < 2e-2, "{scheme}: {drift}");
    }
}

#[test]
fn what_is_put_together_is_inside_all_gaps() {
    let rod = |floor: &str| {
        let rod = Builder::new("rod").coordinate("x", 0.0, 0.0).coordinate("y", 0.05, -1.0);
        let rod = rod.kinetic("(x'^2 + y'^2)/2").joint("rod", &["(x - 1)^2 + (y - 1)^2 - 2.1"]);
        rod.restitution(0.5).constraint("floor", floor).build().expect("a model")
    };
    // The circle alone would be met below the floor.
    let (problem, start) = Problem::assemble(rod("y - 0.05"), 0.0).expect("assembled");
    let x = 1.0 - (2.1_f64 - 0.95 * 0.95).sqrt();
    assert!((start.q[0] - x).abs() < 1e-9 && (start.q[1] - 0.05).abs() < 1e-12, "{start:?}");
    // The velocity leads neither off the circle nor into the floor.
    assert!(start.v.iter().all(|v| v.abs() < 1e-12), "{start:?}");
    let run = problem.run_from(&start, &Options::events(0.5)).expect("runs").ok().expect("finishes");
    assert!(run.audit.max_violation < 1e-12);
    let refused = Problem::assemble(rod("y - 3"), 0.0).expect_err("nothing of the circle is there");
    assert!(refused.message.contains("`floor`") || refused.message.contains("`rod`"), "{refused:?}");
    assert!(refused.span.is_some() && refused.help.is_some());
}
