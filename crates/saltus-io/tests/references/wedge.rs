//! P06: a particle in a wedge, the corner law. P18: a right-angled wedge under gravity.

use super::*;

#[test]
fn p06_corner_hits_obey_the_projection_law() {
    let cases = reference("P06")["cases"].as_array().expect("cases").clone();
    let mut seen = 0;
    for case in cases.iter().filter(|c| c["aim"] == "corner") {
        let (angle, e) = (num(&case["theta_deg"]), num(&case["e"]));
        let (v0, expected) = (nums(&case["v0"]), nums(&case["v_final"]));
        // An oblique approach reaches the two walls in different steps; where the motion depends discontinuously on
        // its data (obtuse wedge, or e > 0 away from 90°) no scheme can be asked to hit the corner case.
        if v0[0] != 0.0 && angle > 90.0 {
            continue;
        }
        seen += 1;
        let run = text_run(WEDGE, &[("angle", angle), ("e", e), ("vx", v0[0])], 0.997e-3, 2000.0 * 0.997e-3);
        let v = run.trajectory.v(run.trajectory.len() - 1, Side::Left);
        for i in 0..2 {
            assert!((v[i] - expected[i]).abs() < 1e-9, "{angle}° e = {e} v0 = {v0:?}: {v:?} not {expected:?}");
        }
        let impact = run.trajectory.impacts.get(0);
        assert_eq!(impact.constraints, [0, 1]);
        assert!((impact.t - 1.0).abs() < 1e-9 && impact.law_residual < 1e-9);
    }
    assert!(seen >= 20, "{seen} cases");
}

const WEDGE: &str = r#"
[parameters]
angle = 60.0
e = 0.5
vx = 0.0
half = "angle/2*pi/180"
[coordinates]
x = { position = "-vx", velocity = "vx" }
y = { position = 1.0, velocity = -1.0 }
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
[[constraint]]
name = "left"
gap = "x*cos(half) + y*sin(half)"
[[constraint]]
name = "right"
gap = "-x*cos(half) + y*sin(half)"
[impact]
restitution = "e"
"#;

#[test]
fn p06_right_angle_and_inelastic_acute_wedges_do_not_depend_on_the_aim() {
    for (angle, e) in [(90.0, 0.5), (90.0, 1.0), (60.0, 0.0), (45.0, 0.0)] {
        for x0 in [-0.01, 0.003, 0.02] {
            let run = shipped_run("wedge", &[("angle", angle), ("e", e), ("x0", x0)], 1e-4, 2.0);
            let v = run.trajectory.v(run.trajectory.len() - 1, Side::Left);
            assert!(v[0].abs() < 1e-9 && (v[1] - e).abs() < 1e-9, "{angle}° e = {e} x0 = {x0}: {v:?}");
        }
    }
}

#[test]
fn p06_of_two_energy_conserving_motions_the_law_chooses_one() {
    for e in [1.0, 0.4] {
        let run = shipped_run("corner", &[("e", e)], 1e-3, 2.0);
        let (q, v) = run.trajectory.at(1.9, Side::Left).expect("inside");
        assert!((q[0] + e * 0.9).abs() < 3e-3 && q[1] == 0.0);
        assert!((v[0] + e).abs() < 1e-9 && v[1] == 0.0);
    }
}

/// Distance from a wall under the constant acceleration g towards it, from rest at y0, and its exact bounces.
fn bouncing(g: f64, y0: f64, e: f64, t: f64) -> f64 {
    let (mut start, mut v) = ((2.0 * y0 / g).sqrt(), e * (2.0 * g * y0).sqrt());
    if t < start {
        return y0 - 0.5 * g * t * t;
    }
    while v > 1e-14 {
        let s = t - start;
        if s < 2.0 * v / g {
            return v * s - 0.5 * g * s * s;
        }
        (start, v) = (start + 2.0 * v / g, e * v);
    }
    0.0
}

#[test]
fn p18_right_angled_wedge_under_gravity_separates() {
    let reference = reference("P18")["wedge90_gravity"].clone();
    let text =
        WEDGE.replace("[[constraint]]\nname = \"left\"", "potential = \"9.81*y\"\n[[constraint]]\nname = \"left\"");
    let text = text
        .replace("\"-vx\", velocity = \"vx\"", "0.3, velocity = 0")
        .replace("1.0, velocity = -1.0", "1.5, velocity = 0");
    let g = 9.81 / 2f64.sqrt();
    let errors = [1e-2, 1e-3, 1e-4].map(|h| {
        let run = text_run(&text, &[("angle", 90.0), ("e", 0.6)], h, 3.0);
        let s = 0.5f64.sqrt();
        let mut error: f64 = 0.0;
        for k in 0..run.trajectory.len() {
            let (q, t) = (run.trajectory.q(k), run.trajectory.t[k]);
            error = error.max((s * (q[1] + q[0]) - bouncing(g, 1.8 * s, 0.6, t)).abs());
            error = error.max((s * (q[1] - q[0]) - bouncing(g, 1.2 * s, 0.6, t)).abs());
        }
        if h == 1e-4 {
            let times: Vec<f64> = run.trajectory.impacts.iter().take(2).map(|i| i.t).collect();
            assert!((times[0] - num(&reference["t1_wall_q"])).abs() < 1e-6);
            assert!((times[1] - num(&reference["t1_wall_p"])).abs() < 1e-6);
            let rest = run.trajectory.q(run.trajectory.len() - 1);
            assert!(rest.iter().all(|x| x.abs() < 1e-12), "at rest in the apex after both accumulations");
        }
        error
    });
    first_order("P18 wedge at 90° under gravity", errors);
}
