//! Friction and joints by events, against closed forms.

use saltus::model::Builder;
use saltus::motion::{PhaseKind, Side};
use saltus::{Options, Run, Status};

fn finished(builder: Builder, end: f64) -> Run {
    let problem = builder.build().expect("a model").problem().expect("a problem");
    let run = problem.run(&Options::events(end).tolerance(1e-12)).expect("a run");
    assert_eq!(run.status, Status::Finished, "{:?}", run.warnings);
    run
}

/// x'' = −x with dry friction F: each half swing loses 2F, and it stays where |x| ≤ F.
#[test]
fn every_half_swing_loses_two_f_over_k() {
    let (f, x0) = (0.13, 1.5);
    let oscillator = Builder::new("dry").coordinate("x", x0, 0.0).kinetic("x'^2/2").potential("x^2/2");
    let run = finished(oscillator.slider("slider", "x'", f, None), 40.0);
    let mut turning = x0;
    let mut k = 0;
    let pi = std::f64::consts::PI;
    while turning.abs() > f {
        turning = -(turning - 2.0 * f * turning.signum());
        k += 1;
        let (q, v) = run.trajectory.at(pi * f64::from(k), Side::Left).expect("inside");
        assert!((q[0] - turning).abs() < 1e-10, "turning point {k}: {} {turning}", q[0]);
        assert!(v[0].abs() < 1e-10);
    }
    assert!((run.last().q[0] - turning).abs() < 1e-10 && run.last().v[0] == 0.0);
    assert_eq!(run.timeline.of(PhaseKind::Stick).count(), 1);
}

/// A block on an incline that tilts with the rate w: it slides from tan(w t) = μs on, then with μk.
#[test]
fn a_block_slides_when_the_incline_is_steep_enough() {
    let (w, mus, muk, g) = (0.1_f64, 0.5_f64, 0.3, 9.81);
    let model = Builder::new("incline")
        .parameter("w", w)
        .parameter("g", g)
        .coordinate("x", 0.0, 0.0)
        .coordinate("y", 0.0, 0.0)
        .kinetic("(x'^2 + y'^2)/2")
        .force("x", "g*sin(w*t)")
        .force("y", "-g*cos(w*t)")
        .restitution(0)
        .constraint("floor", "y")
        .friction(muk, &["x'"])
        .static_friction(mus);
    let run = finished(model, 6.0);
    let slips: Vec<f64> = run.timeline.of(PhaseKind::Slip).map(|p| p.start).collect();
    let expected = mus.atan() / w;
    assert_eq!(slips.len(), 1, "{slips:?}");
    assert!((slips[0] - expected).abs() < 1e-10, "{} {expected}", slips[0]);
    // From there on x'' = g (sin − μk cos).
    let v = |t: f64| g / w * (-(w * t).cos() - muk * (w * t).sin());
    let last = run.last();
    assert!((last.v[0] - (v(6.0) - v(expected))).abs() < 1e-9);
}

/// A solid sphere set down with backspin, in space: it rolls from t = 2u₀/(7μg) on, the slip keeps its direction, and the path
/// until then is a parabola.
#[test]
fn a_sphere_with_backspin_rolls() {
    let (mu, g) = (0.2, 9.81);
    let (vx, vy, wx, wy) = (2.0, -0.5, 3.0, -8.0);
    // Radius 1, mass 1, inertia 2/5; slip of the lowest point: v + ω × (−e_z) = (x' − wy, y' + wx).
    let model = Builder::new("sphere")
        .coordinate("x", 0.0, vx)
        .coordinate("y", 0.0, vy)
        .coordinate("z", 0.0, 0.0)
        .coordinate("a", 0.0, wx)
        .coordinate("b", 0.0, wy)
        .kinetic("(x'^2 + y'^2 + z'^2)/2 + (a'^2 + b'^2)/5")
        .potential("9.81*z")
        .restitution(0)
        .constraint("table", "z")
        .friction(mu, &["x' - b'", "y' + a'"]);
    let (ux, uy): (f64, f64) = (vx - wy, vy + wx);
    let u0 = ux.hypot(uy);
    let rolls = 2.0 * u0 / (7.0 * mu * g);
    let run = finished(model, 2.0 * rolls);
    let sticks: Vec<f64> = run.timeline.of(PhaseKind::Stick).map(|p| p.start).collect();
    assert_eq!(sticks.len(), 1);
    assert!((sticks[0] - rolls).abs() < 1e-9, "{} {rolls}", sticks[0]);
    for share in [0.25, 0.5, 0.99] {
        let t = share * rolls;
        let (q, _) = run.trajectory.at(t, Side::Left).expect("inside");
        let expected = [vx * t - 0.5 * mu * g * ux / u0 * t * t, vy * t - 0.5 * mu * g * uy / u0 * t * t];
        assert!((q[0] - expected[0]).abs() < 1e-9 && (q[1] - expected[1]).abs() < 1e-9, "{share}");
    }
    let last = run.last();
    assert!((last.v[0] - (vx - 2.0 / 7.0 * ux)).abs() < 1e-9 && (last.v[1] - (vy - 2.0 / 7.0 * uy)).abs() < 1e-9);
}

/// A spinning ball that bounces: it sticks in the impact if |u_T| ≤ (7/2) μ(1+e)|u_N|, and slides otherwise.
#[test]
fn a_spinning_ball_bounces() {
    let (mu, e, vz) = (0.2, 0.7, -3.0);
    let limit = 3.5 * mu * (1.0 + e) * 3.0;
    for (ut, sticks) in [(0.99 * limit, true), (1.01 * limit, false)] {
        let model = Builder::new("ball")
            .coordinate("x", 0.0, ut)
            .coordinate("z", 1.0, vz)
            .coordinate("b", 0.0, 0.0)
            .kinetic("(x'^2 + z'^2)/2 + b'^2/5")
            .restitution(e)
            .constraint("table", "z")
            .friction(mu, &["x' - b'"]);
        let run = finished(model, 1.0);
        let last = run.last();
        let slip = last.v[0] - last.v[2];
        assert!((last.v[1] + e * vz).abs() < 1e-12);
        let lost = if sticks { 2.0 / 7.0 * ut } else { mu * (1.0 + e) * 3.0 };
        assert!((last.v[0] - (ut - lost)).abs() < 1e-12, "{sticks}: {} {}", last.v[0], ut - lost);
        assert_eq!(slip.abs() < 1e-12, sticks, "{slip}");
    }
}

/// A uniform rod that slides on a floor: Painlevé's region begins at μ = 4/3 where tan θ = 2.
#[test]
fn painleve_is_reported() {
    let rod = |mu: f64| {
        Builder::new("rod")
            .parameter("th", 2f64.atan())
            .coordinate("x", 0.0, -1.0)
            .coordinate("y", "sin(th)", 0.0)
            .coordinate("a", "th", 0.0)
            .kinetic("(x'^2 + y'^2)/2 + a'^2/6")
            .potential("9.81*y")
            .restitution(0)
            // The lower end is at (x − cos a, y − sin a): half length one, sliding towards the side to which it leans.
            .constraint("floor", "y - sin(a)")
            .friction(mu, &["x' + a'*sin(a)"])
    };
    for (mu, is_paradox) in [(1.33, false), (1.34, true)] {
        let problem = rod(mu).build().expect("a model").problem().expect("a problem");
        let run = problem.run(&Options::events(1e-3).scheme("event-driven")).map_err(|e| e.to_string());
        let text = match &run {
            Ok(run) => format!("{:?}", run.status),
            Err(error) => error.clone(),
        };
        assert_eq!(text.contains("Painlev"), is_paradox, "{mu}: {text}");
    }
}

/// A pendulum in Cartesian coordinates with a joint, against the angle.
#[test]
fn a_joint_does_not_drift() {
    let cartesian = Builder::new("joint")
        .coordinate("x", 1.0, 0.0)
        .coordinate("y", 0.0, 0.0)
        .kinetic("(x'^2 + y'^2)/2")
        .potential("y")
        .joint("rod", &["x^2 + y^2 - 1"]);
    let angle =
        Builder::new("angle").coordinate("a", std::f64::consts::FRAC_PI_2, 0.0).kinetic("a'^2/2").potential("-cos(a)");
    // A swing from the horizontal takes 4 K(1/√2) = 7.416….
    let end = 100.0 * 7.416_298_709_205_487;
    let (joint, angle) = (finished(cartesian, end), finished(angle, end));
    let a = angle.last().q[0];
    let last = joint.last();
    assert!((last.q[0] - a.sin()).abs() < 1e-10 && (last.q[1] + a.cos()).abs() < 1e-10, "{:?} {a}", last.q);
    for k in 0..joint.trajectory.len() {
        let q = joint.trajectory.q(k);
        assert!((q[0] * q[0] + q[1] * q[1] - 1.0).abs() < 1e-13, "{k}");
    }
}

/// A ball thrown with spin bounces to rest in normal direction (infinitely many impacts), slips, then rolls: the horizontal
/// momentum that friction takes is the spin's, so that the end speed follows from the angular momentum about the contact.
#[test]
fn a_thrown_ball_bounces_slides_and_rolls() {
    let ball = |mu: f64, e: f64| {
        Builder::new("thrown")
            .coordinate("x", 0.0, 3.0)
            .coordinate("z", 0.4, 0.0)
            .coordinate("b", 0.0, 1.0)
            .kinetic("(x'^2 + z'^2)/2 + b'^2/5")
            .potential("9.81*z")
            .restitution(e)
            .constraint("table", "z")
            .friction(mu, &["x' - b'"])
    };
    for (mu, e) in [(0.02, 0.5), (0.1, 0.7), (0.05, 0.0)] {
        let run = finished(ball(mu, e), 12.0);
        let rolling = (3.0 + 0.4 * 1.0) / 1.4;
        assert!((run.last().v[0] - rolling).abs() < 1e-9, "{mu} {e}: {} {rolling}", run.last().v[0]);
        assert!((run.last().v[2] - rolling).abs() < 1e-9 && run.last().q[1].abs() < 1e-12);
    }
}

/// Friction that begins from nothing: μ = t/10 under a push of F = 1 (weight 9.81): x'' = 1 − 0.981 t until it stands still.
#[test]
fn friction_that_grows_from_nothing() {
    for speed in [0.0, 0.5] {
        let block = Builder::new("growing")
            .coordinate("x", 0.0, speed)
            .coordinate("y", 0.0, 0.0)
            .kinetic("(x'^2 + y'^2)/2")
            .potential("9.81*y")
            .force("x", "1")
            .restitution(0)
            .constraint("floor", "y")
            .friction("t/10", &["x'"]);
        let run = finished(block, 4.0);
        let stop = (1.0 + (1.0_f64 + 2.0 * 0.981 * speed).sqrt()) / 0.981;
        let sticks: Vec<f64> = run.timeline.of(PhaseKind::Stick).map(|p| p.start).collect();
        assert!(sticks.len() == 1 && (sticks[0] - stop).abs() < 1e-10, "{sticks:?} {stop}");
        let x = speed * stop + stop * stop / 2.0 - 0.981 * stop.powi(3) / 6.0;
        assert!((run.last().q[0] - x).abs() < 1e-10, "{} {x}", run.last().q[0]);
    }
}

/// A block dropped on a rough floor with a speed along it: whatever bounces there are, the floor has given m g t in all once they
/// have ended, and taken μ g t of the speed; the impulses of the bounces that are not computed one by one as well.
#[test]
fn friction_acts_in_all_bounces_of_an_accumulation() {
    let (mu, g, u0) = (0.1, 9.81, 5.0);
    for (e, tolerance) in [(0.2, 1e-6), (0.5, 1e-10), (0.8, 1e-8)] {
        let model = Builder::new("block")
            .coordinate("x", 0.0, u0)
            .coordinate("y", 0.3, 0.0)
            .kinetic("(x'^2 + y'^2)/2")
            .potential("9.81*y")
            .restitution(e)
            .constraint("floor", "y")
            .friction(mu, &["x'"]);
        let problem = model.build().expect("a model").problem().expect("a problem");
        let run = problem.run(&Options::events(4.5).tolerance(tolerance)).expect("a run");
        assert_eq!(run.status, Status::Finished, "{:?}", run.warnings);
        let limit = run.timeline.of(PhaseKind::Chatter).next().expect("an accumulation").end;
        for t in [limit + 0.05, 4.5] {
            let (_, v) = run.trajectory.at(t, Side::Left).expect("inside");
            assert!((v[0] - (u0 - mu * g * t)).abs() < 1e-12, "e = {e}: {} at {t}", v[0] - (u0 - mu * g * t));
        }
    }
}

/// A mass on the ground, pushed to and fro, whose slip stops again and again after short slides: every stop is a stop, whatever
/// rounding leaves of the slip there, and no place needs time stepping.
#[test]
fn slip_that_stops_has_stopped() {
    for k in 0..400 {
        let inside = 0.0105 + 1e-5 * f64::from(k);
        let model = Builder::new("capsule")
            .parameter("m", inside)
            .coordinate("a", 0.0, 0.0)
            .coordinate("b", 0.0, 0.0)
            .kinetic("m*b'^2/2 + 0.022*a'^2/2")
            .potential("60*(b - a)^2")
            .force("b", "0.1*cos(113*t) - 0.06*(b' - a')")
            .force("a", "-0.1*cos(113*t) + 0.06*(b' - a')")
            .slider("ground", "a'", 0.1, None);
        let run = finished(model, 0.3);
        assert_eq!(run.timeline.of(PhaseKind::Stepped).count(), 0, "m = {inside}");
    }
}

/// A block that sticks is struck, slides, and stops: the timeline says all of it. So it does where bounces end in sliding contact.
#[test]
fn the_timeline_tells_slip_that_impacts_begin() {
    let model = Builder::new("struck")
        .coordinate("x", 0.0, 0.0)
        .coordinate("y", -1.0, 1.0)
        .kinetic("(x'^2 + y'^2)/2")
        .restitution(0.5)
        .constraint("blow", "x - y")
        .slider("ground", "x'", 0.3, None);
    let run = finished(model, 4.5);
    let of = |run: &Run, kind: PhaseKind| run.timeline.of(kind).map(|p| p.start).collect::<Vec<f64>>();
    // x' = 3/4 after the blow, and 0.75/0.3 later nothing.
    assert_eq!(of(&run, PhaseKind::Slip).len(), 1, "{:?}", run.timeline.phases);
    assert!((of(&run, PhaseKind::Slip)[0] - 1.0).abs() < 1e-12);
    let sticks = of(&run, PhaseKind::Stick);
    assert_eq!(sticks.len(), 2, "{sticks:?}");
    assert!(sticks[0] == 0.0 && (sticks[1] - 3.5).abs() < 1e-10, "{sticks:?}");
    let dropped = Builder::new("dropped")
        .coordinate("x", 0.0, 5.0)
        .coordinate("y", 0.3, 0.0)
        .kinetic("(x'^2 + y'^2)/2")
        .potential("9.81*y")
        .restitution(0.3)
        .constraint("floor", "y")
        .friction(0.1, &["x'"]);
    let run = finished(dropped, 1.0);
    let limit = run.timeline.of(PhaseKind::Chatter).next().expect("bounces").end;
    let slips = of(&run, PhaseKind::Slip);
    assert!(slips.len() == 1 && (slips[0] - limit).abs() < 1e-3, "{slips:?} {limit}");
}
