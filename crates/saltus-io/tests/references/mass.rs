//! P07 and P11: systems whose mass matrix is not the identity, or depends on the configuration.

use super::*;

#[test]
fn p07_rocking_block_impacts_and_accumulates_at_the_right_times() {
    for case in reference("P07")["cases"].as_array().expect("cases") {
        let exact = &case["frictionless"];
        let times = nums(&exact["impact_times"]);
        let (b, tilt) = (num(&case["b"]), num(&case["theta0"]));
        let zeno = num(&exact["zeno_time"]);
        // The last reference impacts are near the accumulation, where the coarsest step resolves nothing.
        let few = &times[..3];
        let errors = [1e-3, 1e-4, 1e-5].map(|h| {
            let run = shipped_run("rocking-block", &[("b", b), ("tilt", tilt)], h, 2.2);
            let impacts = &run.trajectory.impacts;
            if h == 1e-5 {
                let first = impacts.get(0);
                assert!((first.v_before[2].abs() - num(&exact["omega_pre"])).abs() < 1e-3);
                assert!((first.v_after[2].abs() - num(&exact["omega_post"])).abs() < 1e-3);
                for (k, t) in times.iter().enumerate() {
                    assert!((impacts.get(k).t - t).abs() < 1e-3, "impact {k}: {} not {t}", impacts.get(k).t);
                }
                let rest = run.trajectory.contacts.iter().filter(|c| c.end >= 2.2 - 1e-9);
                let starts: Vec<f64> = rest.map(|c| c.start).collect();
                assert_eq!(starts.len(), 2, "it comes to rest on both corners");
                assert!(starts.iter().all(|s| (s - zeno).abs() < 1e-2), "{starts:?} not {zeno}");
            }
            // At an impact the block stands upright: θ = 0, y = h.
            few.iter().map(|&t| position(&run, t, 2).abs().max((position(&run, t, 1) - 1.0).abs())).fold(0.0, f64::max)
        });
        first_order(&format!("P07 block b = {b}"), errors);
    }
}

#[test]
fn p07_kinetic_angle_is_right_at_height_sqrt2_times_width() {
    use saltus::contact::kinetic_angle;
    let angle = |b: f64, h: f64| {
        let set = [("b", b), ("h", h), ("tilt", 0.0)];
        let (problem, _) = models::problem(&models::shipped_file("rocking-block"), &set);
        let (mut gaps, mut dynamics) = (problem.gaps(), problem.dynamics());
        let q = [0.0, h, 0.0];
        gaps.kinematics(0.0, &q, &[]);
        dynamics.evaluate(0.0, &q, &[0.0; 3]);
        let mut metric = dynamics.metric();
        metric.set(&dynamics.mass).expect("positive");
        kinetic_angle(&metric, &gaps.gradients, 0, 1).expect("gradients").to_degrees()
    };
    let exact = reference("P07")["kinetic_angle"].clone();
    assert!((angle(1.0, 2f64.sqrt()) - 90.0).abs() < 1e-10);
    let s = 3f64.sqrt() / 2.0;
    assert!((angle(1.0, s) - num(&exact["height_over_width_s32"]["kinetic_angle_deg"])).abs() < 1e-10);
    assert!((angle(s, 1.0) - num(&exact["width_over_height_s32"]["kinetic_angle_deg"])).abs() < 1e-10);
}

#[test]
fn p11_rod_in_coordinates_with_a_full_mass_matrix() {
    let cases = reference("P11")["rod"]["cases"].clone();
    let quarter = std::f64::consts::FRAC_PI_4;
    for (key, e, theta0) in [
        ("A: l=1,m=1,g=9.81,e=1,y0=1,v=0,theta0=pi/4,omega0=0", 1.0, quarter),
        ("B: e=0.5 same data", 0.5, quarter),
        ("C: theta0=0.1,e=0.5", 0.5, 0.1),
        ("D: e=0, theta0=pi/4", 0.0, quarter),
    ] {
        let impacts: Vec<Value> = cases[key]["impacts"].as_array().expect("impacts").iter().take(4).cloned().collect();
        let last = num(&impacts[impacts.len() - 1]["t"]);
        let mut worst_times = Vec::new();
        let errors = [1e-3, 1e-4, 1e-5].map(|h| {
            let run = shipped_run("rod", &[("e", e), ("theta0", theta0)], h, ((last + 0.01) / h).ceil() * h);
            if h == 1e-5 {
                for (k, exact) in impacts.iter().enumerate() {
                    let impact = run.trajectory.impacts.get(k);
                    assert_eq!(impact.constraints, [exact["tip"].as_u64().expect("tip") as usize]);
                    worst_times.push((impact.t - num(&exact["t"])).abs());
                    assert!((impact.v_after[2] - num(&exact["om"])).abs() < 2e-2, "{key} impact {k}");
                    assert!((impact.impulses[0] - num(&exact["P"])).abs() < 5e-3, "{key} impact {k}");
                    assert!((impact.approach - num(&exact["vn"])).abs() < 5e-3, "{key} impact {k}");
                }
            }
            let at = |exact: &Value| {
                let t = num(&exact["t"]);
                let (s, theta) = (position(&run, t, 1), position(&run, t, 2));
                let y = s + 0.5 * theta.sin();
                (theta - num(&exact["theta"])).abs().max((y - num(&exact["y"])).abs())
            };
            impacts.iter().map(at).fold(0.0, f64::max)
        });
        // One impact alone leaves no lag behind: the position at its instant is then better than first order.
        if impacts.len() > 1 {
            first_order(&format!("P11 rod {}", &key[..1]), errors);
        }
        assert!(worst_times.iter().all(|&d| d < 1e-3), "{worst_times:?}");
    }
}

#[test]
fn p11_coordinates_do_not_matter() {
    // The rod once more with M = diag(m, m, m l²/12) and the height of its centre as coordinate.
    let plain = r#"
[coordinates]
x = { position = 0, velocity = 0 }
y = { position = 1, velocity = 0 }
theta = { position = "pi/4", velocity = 0 }
[dynamics]
kinetic = "(x'^2 + y'^2)/2 + theta'^2/24"
potential = "9.81*y"
[[constraint]]
name = "tip 1"
gap = "y - sin(theta)/2"
[[constraint]]
name = "tip 2"
gap = "y + sin(theta)/2"
[impact]
restitution = 0.5
"#;
    let a = text_run(plain, &[], 1e-5, 0.7);
    let b = shipped_run("rod", &[("e", 0.5)], 1e-5, 0.7);
    for t in [0.2, 0.4, 0.5, 0.6, 0.7] {
        assert!((position(&a, t, 2) - position(&b, t, 2)).abs() < 1e-3);
        let y = position(&b, t, 1) + 0.5 * position(&b, t, 2).sin();
        assert!((position(&a, t, 1) - y).abs() < 1e-3);
    }
}

#[test]
fn p11_pendulum_against_a_wall_with_mass_depending_on_q() {
    // The coordinate q = sin θ gives M(q) = m l²/(1 − q²).
    let text = r#"
[parameters]
theta0 = 1.5
e = 0.8
[coordinates]
q = { position = "sin(theta0)", velocity = 0 }
[dynamics]
kinetic = "q'^2/(1 - q^2)/2"
potential = "-9.81*sqrt(1 - q^2)"
[[constraint]]
name = "wall"
gap = "q"
[impact]
restitution = "e"
"#;
    for row in reference("P11")["pendulum_wall"]["rows"].as_array().expect("rows") {
        let (theta0, e) = (num(&row["theta0"]), num(&row["e"]));
        if theta0 > 1.55 {
            continue;
        }
        let times = nums(&row["impact_times"]);
        let errors = [1e-2, 1e-3, 1e-4].map(|h| {
            let run = text_run(text, &[("theta0", theta0), ("e", e)], h, 6.0);
            let worst = |k: usize| (run.trajectory.impacts.get(k).t - times[k]).abs();
            (1..4).map(worst).fold(0.0, f64::max)
        });
        first_order(&format!("P11 pendulum θ0 = {theta0}, e = {e}"), errors);
    }
}

#[test]
fn p11_double_pendulum_with_a_knee_stop() {
    for (key, e) in [("e=1", 1.0), ("e=0.5", 0.5)] {
        let exact = reference("P11")["double_pendulum"]["cases"][key].clone();
        let (times, angles) = (nums(&exact["impact_times"]), nums(&exact["theta_at_impact"]));
        let errors = [1e-3, 1e-4, 1e-5].map(|h| {
            let run = shipped_run("double-pendulum", &[("e", e)], h, 3.0);
            if h == 1e-5 {
                for (k, t) in times.iter().enumerate() {
                    assert!((run.trajectory.impacts.get(k).t - t).abs() < 2e-3, "{key} impact {k}");
                }
                let post = nums(&exact["post_velocities"][0]);
                let first = run.trajectory.impacts.get(0).v_after;
                assert!((first[0] - post[0]).abs() < 1e-4 && (first[1] - post[1]).abs() < 1e-4);
            }
            let at = |k: usize| (0..2).map(|i| (position(&run, times[k], i) - angles[k]).abs()).fold(0.0, f64::max);
            (0..5).map(at).fold(0.0, f64::max)
        });
        first_order(&format!("P11 double pendulum {key}"), errors);
    }
}
