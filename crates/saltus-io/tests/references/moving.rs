//! P13: constraints that move. P03: the periodic orbit on a vibrating table.

use super::*;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_3};

fn swept(t: f64) -> f64 {
    match t {
        t if t <= FRAC_PI_3 => 0.5,
        t if t <= FRAC_PI_2 => 1.0 - t.cos(),
        t => 1.0 + t - FRAC_PI_2,
    }
}

#[test]
fn p13_moving_corner_sweeps_the_particle_along() {
    let exact = reference("P13");
    let errors = [1e-2, 1e-3, 1e-4].map(|h| {
        let run = shipped_run("moving-corner", &[], h, 3.0);
        // With e = 0 every position is in K(t), and the wall's impulse is 1 in all.
        assert!(run.audit.max_violation < 1e-14);
        let left = run.trajectory.contacts.iter().find(|c| c.constraint == 0).expect("carried by the wall");
        assert!((left.impulse - 1.0).abs() < h && (left.end - FRAC_PI_2).abs() < 2.0 * h);
        let y = |t: f64| if t <= 0.5 { 0.125 } else { t / 4.0 };
        sup_error(&run, 0, swept).max(sup_error(&run, 1, y))
    });
    // Better than first order, as in the independent implementation the reference quotes (1.9e-5, 1.2e-7, 2.1e-9).
    println!("P13 moving corner: errors {errors:?}");
    assert!(errors[0] < 1e-4 && errors[1] < 1e-6 && errors[2] < 1e-8, "{errors:?}");
    let run = shipped_run("moving-corner", &[], 1e-4, 3.0);
    let end = nums(&exact["e_moving_corner"]["u_at_3"]);
    assert!((position(&run, 3.0, 0) - end[0]).abs() < 1e-8 && (position(&run, 3.0, 1) - end[1]).abs() < 1e-10);
    let jump = run.trajectory.impacts.get(1);
    assert!((jump.t - num(&exact["a_wall_1mcos"]["values"]["t_star"])).abs() < 1e-6);
    assert!((jump.v_after[0] - num(&exact["a_wall_1mcos"]["values"]["jump"])).abs() < 1e-3);
}

/// A particle between a wall at rest and one that closes in.
pub const CLOSING: &str = r#"
[coordinates]
x = { position = 0, velocity = 1 }
[dynamics]
kinetic = "x'^2/2"
[[constraint]]
name = "still"
gap = "x"
[[constraint]]
name = "closing"
gap = "1 - 0.1*t - x"
[impact]
restitution = 1
"#;

/// The exact motion between 0 and a wall at 1 − s t with e = 1, started at 0 with speed 1.
fn closing(s: f64, t: f64) -> f64 {
    let (mut v, mut x, mut now) = (1.0, 0.0, 0.0);
    loop {
        let hit = now + (1.0 - s * now - x) / (v + s);
        if t <= hit {
            return x + v * (t - now);
        }
        let wall = 1.0 - s * hit;
        let back = v + 2.0 * s;
        let home = hit + wall / back;
        if t <= home {
            return wall - back * (t - hit);
        }
        (v, x, now) = (back, 0.0, home);
    }
}

#[test]
fn p13_closing_gap_with_elastic_walls_is_first_order() {
    let t10 = num(&reference("P13")["d_closing_gap_e1"]["t_10"]);
    // The model of the motion used here agrees with the reference at the tenth hit.
    assert!((closing(0.1, t10) - num(&reference("P13")["d_closing_gap_e1"]["L10"])).abs() < 1e-12);
    let errors = [1e-3, 1e-4, 1e-5].map(|h| {
        let run = text_run(CLOSING, &[], h, 7.0);
        sup_error(&run, 0, |t| closing(0.1, t))
    });
    first_order("P13 closing gap", errors);
    let run = text_run(CLOSING, &[], 1e-4, 7.0);
    let tenth = run.trajectory.impacts.iter().filter(|i| i.constraints == [1]).nth(9).expect("ten hits");
    assert!((tenth.t - t10).abs() < 5e-3, "{} {t10}", tenth.t);
    assert!((tenth.v_after[0] + 3.0).abs() < 1e-6, "each hit adds twice the wall's speed");
}

#[test]
fn p13_a_moving_frame_changes_nothing() {
    // The wedge carried along with velocity c: velocities relative to it are those at rest.
    let text = r#"
[parameters]
c = 0.3
[coordinates]
x = { position = 0.1, velocity = "c" }
y = { position = 1, velocity = "-1" }
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
[[constraint]]
name = "left"
gap = "(x - c*t)*cos(pi/4) + y*sin(pi/4)"
[[constraint]]
name = "right"
gap = "-(x - c*t)*cos(pi/4) + y*sin(pi/4)"
[impact]
restitution = 0.5
"#;
    let (still, carried) = (text_run(text, &[("c", 0.0)], 1e-3, 3.0), text_run(text, &[("c", 0.3)], 1e-3, 3.0));
    assert_eq!(still.trajectory.impacts.len(), carried.trajectory.impacts.len());
    for t in [0.5, 1.2, 2.0, 3.0] {
        let (a, b) =
            (still.trajectory.at(t, Side::Left).expect("in"), carried.trajectory.at(t, Side::Left).expect("in"));
        assert!((a.0[0] + 0.3 * t - b.0[0]).abs() < 1e-9 && (a.0[1] - b.0[1]).abs() < 1e-9);
        assert!((a.1[0] + 0.3 - b.1[0]).abs() < 1e-9);
    }
}

#[test]
fn p03_periodic_orbit_on_the_vibrating_table() {
    let exact = reference("P03")["example_G1.3_e0.5"].clone();
    let period = std::f64::consts::TAU;
    let errors = [1e-2, 1e-3, 1e-4].map(|ratio| {
        let h = period / (period / ratio).round();
        let run = shipped_run("ball-table", &[("phase", num(&exact["phi"]))], h, 30.0 * period);
        let last = run.trajectory.impacts.len() - 1;
        assert!((28..=30).contains(&last), "one impact a period");
        let takeoff = num(&exact["takeoff_abs_velocity"]);
        let late = (last - 4..=last).map(|k| (run.trajectory.impacts.get(k).v_after[0] - takeoff).abs());
        late.fold(0.0, f64::max)
    });
    first_order("P03 takeoff velocity on the orbit", errors);
}
