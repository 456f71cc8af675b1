//! Joints, and impacts with friction in mechanisms: a four-bar chain, a slider-crank, Kane's double pendulum.

use super::exact::{shipped_exact, text_exact};
use super::*;

/// The four-bar chain without motor, damping and stop: it turns a thousand times.
#[test]
fn four_bar() {
    let set = [("torque", 0.0), ("c", 0.0), ("stop", 10.0), ("v0", 20.0)];
    let file = models::shipped_file("four-bar");
    let (problem, _) = models::problem(&file, &set);
    let options = Options::events(380.0).scheme("event-driven").step(0.05).tolerance(1e-12);
    let run = problem.run(&options).expect("runs");
    breaches::only(&[], &run, "four-bar");
    assert!(run.last().q[0] > 0.8 + 1000.0 * std::f64::consts::TAU, "{:?}", run.last().q);
    let (d, l1, l2, l3, rho, g) = (1.0, 0.3, 0.9, 0.7, 2.0, 9.81);
    let energy = |q: &[f64], v: &[f64]| {
        let middle = l1 * l1 * v[0] * v[0] + l1 * l2 * v[0] * v[1] * (q[0] - q[1]).cos() + l2 * l2 / 3.0 * v[1] * v[1];
        let cube = |l: f64| l * l * l;
        let kinetic = rho / 6.0 * (cube(l1) * v[0] * v[0] + cube(l3) * v[2] * v[2]) + rho * l2 / 2.0 * middle;
        let heights = l1 * l1 / 2.0 * q[0].sin() + l2 * (l1 * q[0].sin() + l2 / 2.0 * q[1].sin());
        kinetic + rho * g * (heights + l3 * l3 / 2.0 * q[2].sin())
    };
    let trajectory = &run.trajectory;
    let first = energy(trajectory.q(0), trajectory.v(0, Side::Right));
    let (mut open, mut off) = (0.0_f64, 0.0_f64);
    for k in 0..trajectory.len() {
        let q = trajectory.q(k);
        // The angle of the crank grows, and what its last digits are worth with it.
        let digit = 2.0 * f64::EPSILON * l1 * q[0];
        let x = l1 * q[0].cos() + l2 * q[1].cos() - d - l3 * q[2].cos();
        let y = l1 * q[0].sin() + l2 * q[1].sin() - l3 * q[2].sin();
        open = open.max(x.abs() - digit).max(y.abs() - digit);
        off = off.max((energy(q, trajectory.v(k, Side::Left)) - first).abs() / first);
    }
    println!("four-bar: joint {open:e}, energy {off:e}");
    assert!(open <= 1e-13, "the chain is open by {open:e}");
    assert!(off < 1e-10, "energy is off by {off:e}");
}

/// The same chain by the places of its two moving pins, which stay small: three bars of fixed length.
#[test]
fn four_bar_by_places() {
    let text = r#"
[parameters]
rho = 2.0
a0 = 0.8
w = 20.0
X = "1 - 0.3*cos(a0)"
Y = "-0.3*sin(a0)"
D = "hypot(X, Y)"
b0 = "atan2(Y, X) + acos((0.9^2 + D^2 - 0.7^2)/(2*0.9*D))"
px = "0.3*cos(a0) + 0.9*cos(b0)"
py = "0.3*sin(a0) + 0.9*sin(b0)"
c0 = "atan2(py, px - 1)"
wc = "w*0.3*sin(b0 - a0)/(0.7*sin(b0 - c0))"
[coordinates]
x1 = { position = "0.3*cos(a0)", velocity = "-0.3*w*sin(a0)" }
y1 = { position = "0.3*sin(a0)", velocity = "0.3*w*cos(a0)" }
x2 = { position = "px", velocity = "-0.7*wc*sin(c0)" }
y2 = { position = "py", velocity = "0.7*wc*cos(c0)" }
[dynamics]
kinetic = """rho*0.3*(x1'^2 + y1'^2)/6 + rho*0.7*(x2'^2 + y2'^2)/6
  + rho*0.9*(x1'^2 + y1'^2 + x1'*x2' + y1'*y2' + x2'^2 + y2'^2)/6"""
potential = "rho*9.81*(0.3*y1 + 0.9*(y1 + y2) + 0.7*y2)/2"
[[joint]]
name = "bars"
equation = ["x1^2 + y1^2 - 0.3^2", "(x2 - x1)^2 + (y2 - y1)^2 - 0.9^2", "(x2 - 1)^2 + y2^2 - 0.7^2"]
"#;
    let file = ModelFile::parse("test", text, Path::new("")).expect("parses");
    let (problem, _) = models::problem(&file, &[]);
    let options = Options::events(380.0).scheme("event-driven").step(0.05).tolerance(1e-12);
    let run = problem.run(&options).expect("runs");
    breaches::only(&[], &run, "four-bar by places");
    let energy = |q: &[f64], v: &[f64]| {
        let square = |i: usize| v[i] * v[i] + v[i + 1] * v[i + 1];
        let both = square(0) + v[0] * v[2] + v[1] * v[3] + square(2);
        let kinetic = 2.0 / 6.0 * (0.3 * square(0) + 0.7 * square(2) + 0.9 * both);
        kinetic + 9.81 * (0.3 * q[1] + 0.9 * (q[1] + q[3]) + 0.7 * q[3])
    };
    let trajectory = &run.trajectory;
    let first = energy(trajectory.q(0), trajectory.v(0, Side::Right));
    let (mut open, mut off) = (0.0_f64, 0.0_f64);
    for k in 0..trajectory.len() {
        let q = trajectory.q(k);
        let bars = [
            q[0] * q[0] + q[1] * q[1] - 0.3 * 0.3,
            (q[2] - q[0]).powi(2) + (q[3] - q[1]).powi(2) - 0.9 * 0.9,
            (q[2] - 1.0).powi(2) + q[3] * q[3] - 0.7 * 0.7,
        ];
        open = bars.into_iter().map(f64::abs).fold(open, f64::max);
        off = off.max((energy(q, trajectory.v(k, Side::Left)) - first).abs() / first);
    }
    println!("four-bar by places: joint {open:e}, energy {off:e}");
    assert!(open <= 1e-13, "the chain is open by {open:e}");
    assert!(off < 1e-10, "energy is off by {off:e}");
}

/// The slider-crank of the shipped model without clearance: the crank's angle determines everything.
#[test]
fn slider_crank_without_clearance() {
    let text = shipped::MODELS.iter().find(|(n, _)| *n == "slider-crank").expect("shipped").1;
    let (head, rest) = text.split_once("[[constraint]]").expect("a constraint");
    let (_, tail) = rest.split_once("[run]").expect("a run");
    let joint = "[[joint]]\nname = \"guide\"\nequation = [\"ys\", \"th3\"]\n\n[run]";
    let run = text_exact(&format!("{head}{joint}{tail}"), &[("tilt", 0.0)], 0.5);
    let (l1, l2, m1, m2, m3, j1, j2, g) = (0.153, 0.306, 0.038, 0.038, 0.076, 7.4e-5, 5.9e-4, 9.81);
    // Energy as a function of the angle and its speed w: the other speeds are proportional to w.
    let inertia = |a: f64| {
        let b = -(l1 / l2 * a.sin()).asin();
        let rate = -l1 * a.cos() / (l2 * b.cos());
        let slider = -l1 * a.sin() - l2 * b.sin() * rate;
        let (x, y) = (-l1 * a.sin() - l2 / 2.0 * b.sin() * rate, l1 * a.cos() + l2 / 2.0 * b.cos() * rate);
        (j1 + m1 * l1 * l1 / 4.0 + m2 * (x * x + y * y) + j2 * rate * rate + m3 * slider * slider, b, rate)
    };
    let height = |a: f64, b: f64| m1 * g * l1 / 2.0 * a.sin() + m2 * g * (l1 * a.sin() + l2 / 2.0 * b.sin());
    let total = inertia(0.0).0 * 150.0_f64.powi(2) / 2.0;
    let trajectory = &run.trajectory;
    assert!(run.last().q[0] > 45.0, "{:?}", run.last().q);
    for k in 0..trajectory.len() {
        let (q, v) = (trajectory.q(k), trajectory.v(k, Side::Left));
        let (inertia, b, rate) = inertia(q[0]);
        let w = (2.0 * (total - height(q[0], b)) / inertia).sqrt();
        assert!((q[1] - b).abs() < 1e-12 && q[2].abs() < 1e-13, "{k}: {q:?} {b}");
        assert!((v[0] / w - 1.0).abs() < 1e-9, "{k}: {} {w}", v[0]);
        assert!((v[1] - rate * v[0]).abs() < 1e-9 * w, "{k}: {v:?} {rate}");
        let slider = l1 * q[0].cos() + (l2 * l2 - (l1 * q[0].sin()).powi(2)).sqrt();
        assert!((l1 * q[0].cos() + l2 * q[1].cos() - slider).abs() < 1e-13);
    }
}

/// With the clearance: energy only goes, and the account closes.
#[test]
fn slider_crank_with_clearance() {
    let run = shipped_exact("slider-crank", &[], 0.1);
    breaches::only(&[], &run, "slider-crank");
    let impacts = &run.trajectory.impacts;
    assert!(impacts.len() > 100);
    assert!((0..impacts.len()).all(|k| impacts.get(k).energy_change <= 0.0));
}

/// Kane's double pendulum (Kane & Levinson, Dynamics: Theory and Applications, 1985): two rods strike the floor with their
/// tip. Newton's restitution with Coulomb's friction would create energy in some of these impacts; there restitution is
/// reduced, and the run says so.
#[test]
fn kanes_double_pendulum() {
    let (mut created, mut most) = (0, f64::NEG_INFINITY);
    for (a, b) in [(0.35, 0.52), (0.2, 0.9), (0.6, 0.3), (0.9, 1.2)] {
        for (wa, wb) in [(-0.1, -0.2), (-1.0, 0.5), (0.7, -1.5), (-2.0, -0.1), (1.0, -3.0)] {
            for (e, mu) in [(0.5, 0.5), (0.7, 0.5), (0.9, 0.2), (0.8, 1.5)] {
                // The tip moves down where Σ sin·ω < 0.
                if f64::sin(a) * wa + f64::sin(b) * wb > -0.05 {
                    continue;
                }
                let text = format!(
                    r#"
[parameters]
a0 = {a:?}
b0 = {b:?}
[coordinates]
a = {{ position = "a0", velocity = {wa:?} }}
b = {{ position = "b0", velocity = {wb:?} }}
[dynamics]
kinetic = "4/3*a'^2/2 + b'^2/6 + cos(a - b)*a'*b'/2"
potential = "-9.81*(3/2*cos(a) + cos(b)/2)"
[[constraint]]
name = "floor"
gap = "cos(a0) + cos(b0) + 1e-9 - cos(a) - cos(b)"
friction = {mu:?}
slip = "a'*cos(a) + b'*cos(b)"
[impact]
restitution = {e:?}
"#
                );
                let run = text_exact(&text, &[], 1e-6);
                let impact = run.trajectory.impacts.get(0);
                let (q, v, u) = (impact.q, impact.v_before, impact.v_after);
                // Newton's law with Coulomb's, by hand.
                let (sa, ca, sb, cb) = (q[0].sin(), q[0].cos(), q[1].sin(), q[1].cos());
                let (m11, m12, m22) = (4.0 / 3.0, (q[0] - q[1]).cos() / 2.0, 1.0 / 3.0);
                let det = m11 * m22 - m12 * m12;
                let inverse = |x: [f64; 2]| [(m22 * x[0] - m12 * x[1]) / det, (m11 * x[1] - m12 * x[0]) / det];
                let (n, t) = ([sa, sb], [ca, cb]);
                let dot = |x: [f64; 2], y: [f64; 2]| x[0] * y[0] + x[1] * y[1];
                let (dn, dt) = (inverse(n), inverse(t));
                let (nn, nt, tt) = (dot(n, dn), dot(n, dt), dot(t, dt));
                let speed = [v[0], v[1]];
                let (un, ut) = (dot(n, speed), dot(t, speed));
                // Stick: both end as wished.
                let (rn, rt, d) = (-(1.0 + e) * un, -ut, nn * tt - nt * nt);
                let mut p = [(tt * rn - nt * rt) / d, (nn * rt - nt * rn) / d];
                if p[1].abs() > mu * p[0] {
                    let slides = |s: f64| {
                        let pn = -(1.0 + e) * un / (nn - mu * s * nt);
                        let left = ut + nt * pn - mu * s * tt * pn;
                        (pn > 0.0 && left * s > 0.0).then_some([pn, -mu * s * pn])
                    };
                    p = slides(1.0).or_else(|| slides(-1.0)).expect("slides");
                }
                let energy =
                    p[0] * un + p[1] * ut + 0.5 * (p[0] * p[0] * nn + 2.0 * p[0] * p[1] * nt + p[1] * p[1] * tt);
                let kinetic = |v: &[f64]| 0.5 * (m11 * v[0] * v[0] + 2.0 * m12 * v[0] * v[1] + m22 * v[1] * v[1]);
                let change = kinetic(u) - kinetic(v);
                most = most.max(change);
                let is_reduced = run.notes.iter().any(|note| note.contains("restitution"));
                assert!(change <= 1e-12 * kinetic(v), "energy grows by {change:e}: {a} {b} {wa} {wb} {e} {mu}");
                assert_eq!(is_reduced, energy > 1e-12 * kinetic(v), "{energy:e} {:?}", run.notes);
                if is_reduced {
                    created += 1;
                } else {
                    // The law as it stands.
                    let by_hand = [v[0] + p[0] * dn[0] + p[1] * dt[0], v[1] + p[0] * dn[1] + p[1] * dt[1]];
                    assert!((u[0] - by_hand[0]).abs() < 1e-9 && (u[1] - by_hand[1]).abs() < 1e-9, "{u:?} {by_hand:?}");
                }
            }
        }
    }
    assert!(created >= 3, "{created} impacts would create energy; largest change {most:e}");
}
