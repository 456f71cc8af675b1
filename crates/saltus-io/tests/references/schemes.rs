//! Every scheme against the same references: discrete sequences, orders, orbits, statistics.

use super::*;
use saltus::scheme::{SCHEMES, Scheme};

/// The time-stepping schemes that take any restitution and follow the law.
fn general() -> impl Iterator<Item = Scheme> {
    SCHEMES.iter().copied().filter(|s| s.steps().is_some() && s.follows_law && s.restitution.starts_with("any"))
}

fn with(scheme: Scheme, name: &str, set: &[(&str, f64)], step: f64, end: f64) -> Run {
    scheme_run(scheme, &models::shipped_file(name), set, step, end, 1)
}

fn scheme_run(scheme: Scheme, file: &ModelFile, set: &[(&str, f64)], step: f64, end: f64, every: u64) -> Run {
    let (problem, _) = models::problem(file, set);
    let run = problem.run(&Options::with(scheme, end).step(step).every(every)).expect("runs");
    breaches::only(&[], &run, &problem.model().title);
    run
}

#[test]
fn p01_mabrouk_is_the_sequence_of_the_paper() {
    let mabrouk = saltus::scheme::find("mabrouk").expect("listed");
    for case in reference("P01")["cases"].as_array().expect("cases") {
        let (h, e) = (num(&case["h"]), num(&case["e"]));
        let mm = &case["MM"];
        let p = mm["p"].as_u64().expect("p") as usize;
        let last = mm["q_end"][0].as_u64().expect("index") as usize;
        let run = with(mabrouk, "ball", &[("e", e)], h, last as f64 * h);
        let q = |i: usize| run.trajectory.q(i)[0];
        // Where 1/h is whole, q is zero exactly in rational arithmetic only: rounding may make the impact a step late.
        let tie = (1.0 / h - (1.0 / h).round()).abs() < 1e-9;
        for i in 0..=last {
            let law = |p: usize| {
                if i <= p + 1 { 1.0 - i as f64 * h } else { 1.0 - (p + 1) as f64 * h + (i - p - 1) as f64 * e * h }
            };
            let exact = (q(i) - law(p)).abs() < 1e-12 || (tie && (q(i) - law(p + 1)).abs() < 1e-12);
            assert!(exact, "h = {h}, e = {e}, i = {i}: {} not {}", q(i), law(p));
        }
        assert!(tie || (q(last) - num(&mm["q_end"][1])).abs() < 1e-12);
    }
}

#[test]
fn p06_corner_hits_obey_the_law_in_every_scheme() {
    for case in reference("P06")["cases"].as_array().expect("cases").iter().filter(|c| c["aim"] == "corner") {
        let (angle, e) = (num(&case["theta_deg"]), num(&case["e"]));
        let (v0, expected) = (nums(&case["v0"]), nums(&case["v_final"]));
        if v0[0] != 0.0 {
            continue;
        }
        for scheme in
            SCHEMES.iter().copied().filter(|s| s.follows_law && (e == 0.0 || s.restitution.starts_with("any")))
        {
            let run = with(scheme, "wedge", &[("angle", angle), ("e", e)], 0.997e-3, 2000.0 * 0.997e-3);
            let v = run.trajectory.v(run.trajectory.len() - 1, Side::Left);
            let close = v.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-9);
            assert!(close, "{} {angle}° e = {e}: {v:?} not {expected:?}", scheme.name);
        }
    }
}

#[test]
fn p14_touching_balls_follow_the_law_in_every_scheme() {
    let file = ModelFile::parse("test", super::many::CRADLE, Path::new("")).expect("parses");
    for (n, e) in [(2.0, 0.5), (3.0, 0.0), (3.0, 1.0), (5.0, 0.5), (5.0, 1.0)] {
        for scheme in
            SCHEMES.iter().copied().filter(|s| s.follows_law && (e == 0.0 || s.restitution.starts_with("any")))
        {
            let run = scheme_run(scheme, &file, &[("n", n), ("e", e)], 0.997e-3, 1.5, 1);
            let v = run.trajectory.v(run.trajectory.len() - 1, Side::Left);
            for (i, v) in v.iter().enumerate() {
                let exact = (1.0 + e) / n - if i == 0 { e } else { 0.0 };
                assert!((v - exact).abs() < 1e-9, "{} N = {n}, e = {e}: {v} not {exact}", scheme.name);
            }
        }
    }
}

#[test]
fn p13_p17_p18_have_their_order_in_every_scheme() {
    let pounding = reference("P17")["rows"][0].clone();
    let times: Vec<f64> = pounding["impacts"].as_array().expect("impacts").iter().map(|i| num(&i["t"])).collect();
    for scheme in general() {
        let errors = [1e-3, 1e-4, 1e-5].map(|h| {
            let run = with(scheme, "pounding", &[("e", 0.65)], h, 5.0);
            (3..8).map(|k| (run.trajectory.impacts.get(k).t - times[k]).abs()).fold(0.0, f64::max)
        });
        first_order(&format!("P17 {}", scheme.name), errors);
        let errors = [1e-3, 1e-4, 1e-5].map(|h| {
            let run = with(scheme, "hard-rods", &[], h, 1.0);
            let (last, x) = (run.trajectory.len() - 1, nums(&reference("P18")["hard_rods"]["rows"][0]["x"]));
            (0..5).map(|i| (run.trajectory.q(last)[i] - x[i]).abs()).fold(0.0, f64::max)
        });
        first_order(&format!("P18 hard rods {}", scheme.name), errors);
        let run = with(scheme, "moving-corner", &[], 1e-4, 3.0);
        let end = nums(&reference("P13")["e_moving_corner"]["u_at_3"]);
        assert!((position(&run, 3.0, 0) - end[0]).abs() < 1e-3 && (position(&run, 3.0, 1) - end[1]).abs() < 1e-3);
    }
}

#[test]
fn p03_orbit_on_the_vibrating_table_in_every_scheme() {
    let exact = reference("P03")["example_G1.3_e0.5"].clone();
    let (takeoff, period) = (num(&exact["takeoff_abs_velocity"]), std::f64::consts::TAU);
    for scheme in general() {
        let errors = [600.0, 6000.0, 60000.0].map(|n| {
            let run = with(scheme, "ball-table", &[("phase", num(&exact["phi"]))], period / n, 20.5 * period);
            let impacts = &run.trajectory.impacts;
            let late = impacts.len() - 4..impacts.len();
            late.map(|k| (impacts.get(k).v_after[0] - takeoff).abs()).fold(0.0, f64::max)
        });
        println!("P03 {}: errors {errors:?}", scheme.name);
        assert!(errors[2] < 2e-3 && errors[0] > 5.0 * errors[2], "{}: {errors:?}", scheme.name);
    }
}

#[test]
fn p04_period_one_orbits_in_every_scheme() {
    let period = std::f64::consts::TAU;
    for row in reference("P04")["coco_15.2_c0.1_w1_d1_e0.8"].as_array().expect("rows") {
        let (a, w, phase) = (num(&row["A"]), num(&row["W"]), num(&row["phase"]));
        // Near grazing (A = 0.1) the impact speed goes with the root of any error.
        if row["admissible"] == false || w < 0.1 {
            continue;
        }
        for scheme in general() {
            let run = with(scheme, "oscillator", &[("A", a)], period / 6000.0, 80.5 * period);
            let impacts = &run.trajectory.impacts;
            for k in impacts.len() - 3..impacts.len() {
                let impact = impacts.get(k);
                assert!((impact.approach + w).abs() < 0.01 * w, "{} A = {a}: {} not {w}", scheme.name, impact.approach);
                let late = (impact.t - phase).rem_euclid(period);
                assert!(late.min(period - late) < 5e-3, "{} A = {a}: phase {late}", scheme.name);
            }
        }
    }
}

/// A forced oscillator between two stops, from any start and phase.
pub const TWO_STOPS: &str = r#"
[parameters]
w = 1.2
z = 0.05
s = 0.5
r = 0.7
x0 = 0.1
v0 = 0.2
phase = 0.0
[coordinates]
x = { position = "x0", velocity = "v0" }
[dynamics]
kinetic = "x'^2/2"
potential = "x^2/2"
[dynamics.force]
x = "cos(w*t + phase) - 2*z*x'"
[[constraint]]
name = "left"
gap = "x + s"
[[constraint]]
name = "right"
gap = "s - x"
[impact]
restitution = "r"
"#;

#[test]
fn p10_symmetric_orbits_between_two_stops() {
    let file = ModelFile::parse("test", TWO_STOPS, Path::new("")).expect("parses");
    for row in reference("P10")["rows"].as_array().expect("rows").iter().filter(|r| r["stable"] == true) {
        let (w, speed) = (num(&row["w"]), num(&row["W"]));
        let set = [("w", w), ("s", num(&row["s"])), ("r", num(&row["r"]))];
        let period = std::f64::consts::TAU / w;
        for scheme in general() {
            let run = scheme_run(scheme, &file, &set, period / 5000.0, 100.3 * period, 100);
            let impacts = &run.trajectory.impacts;
            for k in impacts.len() - 4..impacts.len() {
                let impact = impacts.get(k);
                assert!((impact.approach + speed).abs() < 0.01 * speed, "{} {row}: {}", scheme.name, impact.approach);
            }
        }
    }
}

#[test]
fn p20_statistics_of_a_chaotic_motion_within_one_per_cent() {
    // h = 2e-3, 15 000 time units, the first 500 thrown away.
    let file = ModelFile::parse("test", TWO_STOPS, Path::new("")).expect("parses");
    let exact = reference("P20");
    for scheme in general() {
        let run = scheme_run(scheme, &file, &[], 2e-3, 15_000.0, u64::MAX);
        let late: Vec<f64> = run.trajectory.impacts.iter().filter(|i| i.t > 500.0).map(|i| -i.approach).collect();
        let rate = late.len() as f64 / 14_500.0;
        let speed = late.iter().sum::<f64>() / late.len() as f64;
        let square = late.iter().map(|v| v * v).sum::<f64>() / late.len() as f64;
        println!("P20 {}: rate {rate}, mean speed {speed}, mean square {square}", scheme.name);
        for (measured, key, allowed) in [
            (rate, "impact_rate", 0.01),
            (speed, "mean_abs_impact_speed", 0.01),
            (square, "mean_sq_impact_speed", 0.02),
        ] {
            let expected = num(&exact[key]["mean"]);
            assert!((measured / expected - 1.0).abs() < allowed, "{} {key}: {measured} not {expected}", scheme.name);
        }
    }
}
