//! Branches of orbits against closed forms: folds, period doublings and grazing of linear oscillators and of a ball on a table.

#[path = "common/bisection.rs"]
mod bisection;

use bisection::root;
use saltus::analysis::{
    Branch, Clock, ContinueOptions, CurveOptions, OrbitOptions, SpecialKind, WalkOptions, continue_orbit, curve, orbit,
};
use saltus::model::Builder;
use saltus::{Options, Problem, Start};
use std::f64::consts::{PI, TAU};

/// x'' + c x' + x + k x³ = A cos ωt, x ≤ s, with w, s and e open.
fn oscillator(c: f64, k: f64, w: f64, s: f64, e: f64, open: &[&str]) -> Problem {
    Builder::new("oscillator")
        .parameter("w", w)
        .parameter("s", s)
        .parameter("e", e)
        .coordinate("x", 0.0, 0.0)
        .kinetic("x'^2/2")
        .potential(format!("x^2/2 + {k}*x^4/4"))
        .force("x", format!("cos(w*t) - {c}*x'"))
        .restitution("e")
        .constraint("stop", "s - x")
        .build()
        .and_then(|model| model.open(open))
        .and_then(|model| model.problem())
        .expect("a problem")
}

/// A ball on a table that moves with G sin t.
fn ball(g: f64, e: f64, open: &[&str]) -> Problem {
    Builder::new("ball")
        .parameter("G", g)
        .parameter("e", e)
        .coordinate("y", 3.0, -3.0)
        .kinetic("y'^2/2")
        .potential("y")
        .restitution("e")
        .constraint("table", "y - G*sin(t)")
        .build()
        .and_then(|model| model.open(open))
        .and_then(|model| model.problem())
        .expect("a problem")
}

fn options(range: (f64, f64)) -> ContinueOptions {
    ContinueOptions {
        walk: WalkOptions { range, step: 0.02, points: 1500 },
        doublings: 0,
        tolerance: 1e-13,
        directions: (true, true),
    }
}

fn branches(problem: &Problem, period: f64, parameter: &str, options: &ContinueOptions) -> Vec<Branch> {
    let from = OrbitOptions { period: Some(period), ..OrbitOptions::default() };
    let first = orbit(problem, &problem.start(), &from).expect("an orbit");
    let clock = Clock::of(problem).expect("periodic");
    continue_orbit(problem, clock, &first, parameter, options, &mut |_| true).expect("followed")
}

/// The values of the special points of a kind, in order.
fn specials(branches: &[Branch], kind: SpecialKind) -> Vec<f64> {
    let all = branches.iter().flat_map(|b| &b.specials).filter(|s| s.1.kind == kind);
    let mut values: Vec<f64> = all.map(|s| s.1.point.values[0]).collect();
    values.sort_by(f64::total_cmp);
    values
}

/// Trace and determinant of the map over n periods of the orbit with one impact, x'' + c x' + x = cos ωt, x ≤ s: see
/// docs/continuation.md. The larger or the smaller of the two impact speeds.
fn single_impact(c: f64, w: f64, s: f64, e: f64, n: f64, is_larger: bool) -> (f64, f64, f64) {
    let t = n * TAU / w;
    let (d, wd) = ((-0.5 * c * t).exp(), (1.0 - 0.25 * c * c).sqrt());
    let (cos, sin) = ((wd * t).cos(), (wd * t).sin());
    // exp(F t) for (x, x').
    let flow = [[d * (cos + 0.5 * c / wd * sin), d * sin / wd], [-d * sin / wd, d * (cos - 0.5 * c / wd * sin)]];
    // The free part y of x = y + steady state: y(T) − y(0) = (0, (1 + e) W), and y(T) = flow y(0).
    let (a, b, cc, dd) = (flow[0][0] - 1.0, flow[0][1], flow[1][0], flow[1][1] - 1.0);
    let det = a * dd - b * cc;
    // y(0) = Y W.
    let y = [-b * (1.0 + e) / det, a * (1.0 + e) / det];
    // Steady state: x = P cos θ, x' = −ωP sin θ at the impact. P cos θ = s − Y₁W, −ωP sin θ = −eW − Y₂W.
    let p2 = 1.0 / ((1.0 - w * w).powi(2) + c * c * w * w);
    let (q2, q1, q0) = (y[0] * y[0] + ((e + y[1]) / w).powi(2), -2.0 * s * y[0], s * s - p2);
    let sign = if is_larger { 1.0 } else { -1.0 };
    let speed = (-q1 + sign * (q1 * q1 - 4.0 * q2 * q0).max(0.0).sqrt()) / (2.0 * q2);
    // Accelerations: x'' = force − c x' − x, and the force is that of the steady state: P((1 − ω²) cos θ − cω sin θ).
    let (pc, ps) = (s - y[0] * speed, (e + y[1]) * speed / w);
    let force = (1.0 - w * w) * pc - c * w * ps;
    let (before, after) = (force - c * speed - s, force + c * e * speed - s);
    let lower = (after + e * before) / speed;
    let trace = -e * flow[0][0] + lower * flow[0][1] - e * flow[1][1];
    (trace, e * e * d * d, speed)
}

#[test]
fn grazing_where_the_amplitude_is_the_clearance() {
    let problem = oscillator(0.1, 0.0, 1.0, 1.0, 0.8, &["w"]);
    let found = branches(&problem, TAU, "w", &options((0.6, 2.0)));
    let grazing = specials(&found, SpecialKind::Grazing);
    // (1 − w²)² + c²w² = 1
    let expected = 1.99_f64.sqrt();
    assert!(grazing.iter().any(|w| (w - expected).abs() < 1e-11), "{grazing:?}");
    // It goes on beyond without an impact, to the end.
    let up = &found[0];
    assert!(up.points.last().is_some_and(|p| p.sequence == "no impact" && p.values[0] == 2.0), "{}", up.end);
    // The smooth motion has the multipliers exp((−c/2 ± iω)T): stable.
    assert!(up.points.last().is_some_and(|p| p.stability.is_stable()));
    // The branch with the impact folds at larger w; unstable between.
    let fold = specials(&found, SpecialKind::Fold);
    // (Where both speeds are one, the quadratic has a double root: that is the fold.)
    let discriminant = |w: f64| {
        let (_, _, high) = single_impact(0.1, w, 1.0, 0.8, 1.0, true);
        let (_, _, low) = single_impact(0.1, w, 1.0, 0.8, 1.0, false);
        high - low
    };
    let expected = root(1.7, 1.8, |w| if discriminant(w) > 0.0 { 1.0 } else { -1.0 });
    assert!(fold.iter().any(|w| (w - expected).abs() < 1e-8), "{fold:?} {expected}");
}

#[test]
fn a_period_doubling_in_closed_form() {
    // P04: c = 0, s = 0, e = 0.8.
    let test = |w: f64| {
        let (trace, det, _) = single_impact(0.0, w, 0.0, 0.8, 1.0, true);
        1.0 + trace + det
    };
    let expected = root(2.6, 2.7, test);
    let problem = oscillator(0.0, 0.0, 2.6, 0.0, 0.8, &["w"]);
    let (_, _, speed) = single_impact(0.0, 2.6, 0.0, 0.8, 1.0, true);
    let after = Start::new(3.029382935753975 / 2.6, vec![0.0], vec![-0.8 * speed]);
    let guess = problem.run_from(&after, &Options::events(after.t + 0.5)).expect("starts").last().clone();
    let from = OrbitOptions { period: Some(TAU / 2.6), transient: 0.0, multiple: Some(1), ..OrbitOptions::default() };
    let first = orbit(&problem, &guess, &from).expect("an orbit");
    let mut settings = options((2.5, 2.7));
    settings.doublings = 1;
    let clock = Clock::of(&problem).expect("periodic");
    let found = continue_orbit(&problem, clock, &first, "w", &settings, &mut |_| true).expect("followed");
    let doublings = specials(&found[..2], SpecialKind::Doubling);
    assert!(doublings.iter().any(|w| (w - expected).abs() < 1e-9), "{doublings:?} {expected}");
    // Multipliers along the branch.
    for point in found[0].points.iter().filter(|p| p.sequence == "impact stop") {
        let (trace, det, _) = single_impact(0.0, point.values[0], 0.0, 0.8, 1.0, true);
        let [a, b] = point.stability.multipliers[..] else { panic!("two multipliers") };
        assert!((a.0 + b.0 - trace).abs() < 1e-8 * (1.0 + trace.abs()), "{point:?} {trace}");
        assert!((a.0 * b.0 - a.1 * b.1 - det).abs() < 1e-8, "{point:?}");
    }
    // Orbits of twice the period begin there.
    let doubled = found.iter().find(|b| b.points[0].multiple == Some(2)).expect("a branch of doubled orbits");
    assert!((doubled.points[0].values[0] - expected).abs() < 1e-3, "{:?}", doubled.points[0].values);
    assert!(doubled.points.len() > 5 && doubled.points[0].sequence == "impact stop, impact stop");
}

/// The first doubling of the ball: G cos φ = π(1 − e)/(1 + e), G sin φ = 1 + ((1 − e)/(1 + e))².
fn doubling_of_ball(e: f64) -> f64 {
    let r = (1.0 - e) / (1.0 + e);
    (PI * r).hypot(1.0 + r * r)
}

#[test]
fn a_ball_doubles_its_period_where_it_should() {
    let problem = ball(1.3, 0.5, &["G"]);
    let found = branches(&problem, TAU, "G", &options((1.0, 1.7)));
    let doublings = specials(&found, SpecialKind::Doubling);
    assert!(doublings.iter().any(|g| (g - doubling_of_ball(0.5)).abs() < 1e-10), "{doublings:?}");
    // It begins at a fold, G = π(1 − e)/(1 + e), and comes back as a saddle.
    let folds = specials(&found, SpecialKind::Fold);
    assert!(folds.iter().any(|g| (g - PI / 3.0).abs() < 1e-10), "{folds:?}");
    let down = &found[1];
    let saddle = down.points.iter().rev().find(|p| p.sequence == "impact table").expect("orbits");
    assert!(saddle.stability.multipliers[0].0 > 1.0, "{saddle:?}");
}

fn curve_options(axes: [(&str, f64, f64); 2]) -> CurveOptions {
    let axes = axes.map(|(name, low, high)| (name.to_string(), low, high));
    CurveOptions { axes, step: 0.05, points: 200, tolerance: 1e-13 }
}

#[test]
fn curves_over_two_parameters_in_closed_form() {
    // Grazing: amplitude = clearance.
    let problem = oscillator(0.1, 0.0, 1.45, 1.0, 0.8, &["w", "s"]);
    let found = branches(&problem, TAU / 1.45, "w", &options((1.2, 1.9)));
    let special = |found: &[Branch], kind| {
        let mut all = found.iter().flat_map(|b| &b.specials);
        all.find(|s| s.1.kind == kind).expect("a special point").1.clone()
    };
    let clock = || Clock::of(&problem).expect("periodic");
    let settings = curve_options([("w", 1.2, 2.0), ("s", 0.2, 2.0)]);
    let graze = special(&found, SpecialKind::Grazing);
    let all = curve(&problem, clock(), &graze, &settings, &mut |_| true).expect("followed");
    assert!(all.points.len() > 20, "{} {:?}", all.points.len(), all.ends);
    for point in &all.points {
        let (w, s) = (point.values[0], point.values[1]);
        let amplitude = ((1.0 - w * w).powi(2) + 0.01 * w * w).sqrt().recip();
        assert!((s - amplitude).abs() < 1e-10, "{w} {s} {amplitude}");
    }
    assert!(all.ends.iter().all(|end| end.contains("range")), "{:?}", all.ends);
    // Doubling and fold of the ball.
    let problem = ball(1.3, 0.5, &["G", "e"]);
    let found = branches(&problem, TAU, "G", &options((1.0, 1.6)));
    let settings = curve_options([("G", 0.5, 2.5), ("e", 0.3, 0.7)]);
    let clock = || Clock::of(&problem).expect("periodic");
    let doubling = special(&found, SpecialKind::Doubling);
    let all = curve(&problem, clock(), &doubling, &settings, &mut |_| true).expect("followed");
    assert!(all.points.len() > 8, "{} {:?}", all.points.len(), all.ends);
    for point in &all.points {
        assert!((point.values[0] - doubling_of_ball(point.values[1])).abs() < 1e-9, "{:?}", point.values);
    }
    let fold = special(&found, SpecialKind::Fold);
    let all = curve(&problem, clock(), &fold, &settings, &mut |_| true).expect("followed");
    assert!(all.points.len() > 8, "{} {:?}", all.points.len(), all.ends);
    for point in &all.points {
        let e = point.values[1];
        assert!((point.values[0] - PI * (1.0 - e) / (1.0 + e)).abs() < 1e-9, "{:?}", point.values);
    }
}

#[test]
fn a_stable_branch_is_what_simulation_settles_on() {
    // Duffing's oscillator with a stop.
    let problem = oscillator(0.1, 0.3, 1.0, 0.8, 0.7, &["w"]);
    let found = branches(&problem, TAU, "w", &options((0.8, 1.4)));
    let stable = found.iter().flat_map(|b| &b.points).filter(|p| p.stability.is_stable());
    let mut compared = 0;
    for point in stable.step_by(12) {
        let largest = point.stability.multipliers[0].0.hypot(point.stability.multipliers[0].1);
        if largest > 0.9 {
            continue;
        }
        // From beside the orbit, for as long as the deviation takes to vanish.
        let mut start = point.start.clone();
        start.q[0] -= 1e-3;
        let turns = (1e-12_f64.ln() / largest.max(0.01).ln()).ceil();
        let end = start.t + turns * point.period;
        let run = problem.run_from(&start, &Options::events(end).tolerance(1e-13)).expect("runs");
        let last = run.last();
        assert!((last.q[0] - point.start.q[0]).abs() < 1e-8, "{} {:?}", point.values[0], last.q);
        assert!((last.v[0] - point.start.v[0]).abs() < 1e-8, "{} {:?}", point.values[0], last.v);
        compared += 1;
    }
    assert!(compared > 4, "{compared}");
}

/// The first orbit of a model at its own parameters, followed over one of them from 0.3 to −0.3.
fn over_zero(problem: &Problem, parameter: &str) -> Vec<Branch> {
    branches(problem, TAU / 1.7, parameter, &options((-0.3, 0.3)))
}

#[test]
fn a_torus_and_a_crossing_at_zero() {
    // Damping that vanishes: multipliers exp(−cT/2 ± iω_d T) cross the circle at c = 0.
    let build = |builder: Builder, open: &str| {
        builder.build().and_then(|m| m.open(&[open])).and_then(|m| m.problem()).expect("a problem")
    };
    let driven = |name: &str| Builder::new(name).coordinate("x", 0.0, 0.0).kinetic("x'^2/2").potential("x^2/2");
    let damped = driven("damped").parameter("c", 0.2).force("x", "cos(1.7*t) - c*x'");
    let found = over_zero(&build(damped, "c"), "c");
    let torus = specials(&found, SpecialKind::Torus);
    assert!(torus.len() == 1 && torus[0].abs() < 1e-10, "{torus:?}");
    // Beside it a pendulum that buckles at m = 0: y'' + y' = m y − y³.
    let buckling = Builder::new("buckling")
        .parameter("m", -0.2)
        .coordinate("x", 0.0, 0.0)
        .coordinate("y", 0.0, 0.0)
        .kinetic("x'^2/2 + y'^2/2")
        .potential("x^2/2")
        .force("x", "cos(1.7*t) - x'")
        .force("y", "m*y - y^3 - y'");
    let found = over_zero(&build(buckling, "m"), "m");
    let crossing = specials(&found, SpecialKind::Crossing);
    assert!(crossing.iter().any(|m| m.abs() < 1e-8), "{crossing:?}");
    // The straight orbit is stable before, unstable beyond.
    let points = || found.iter().flat_map(|b| &b.points).filter(|p| p.start.q[1].abs() < 1e-9);
    assert!(points().all(|p| p.values[0].abs() < 1e-3 || p.stability.is_stable() == (p.values[0] < 0.0)));
    assert!(points().count() > 20);
}

#[test]
fn a_contact_phase_that_shrinks_to_nothing() {
    // e = 0: the ball leaves where G sin t = 1, and flies for a whole period where G cos t = π. Then no contact is left.
    let problem = ball(2.0, 0.0, &["G"]);
    let found = branches(&problem, TAU, "G", &options((1.5, 3.5)));
    let changes = specials(&found, SpecialKind::Change);
    let expected = 1.0_f64.hypot(PI);
    assert!(changes.iter().any(|g| (g - expected).abs() < 1e-8), "{changes:?} {expected}");
    let points = || found.iter().flat_map(|b| &b.points);
    assert!(points().filter(|p| p.values[0] < 3.29).all(|p| p.sequence.contains("contact table")));
    assert!(points().filter(|p| p.values[0] > 3.3).all(|p| !p.sequence.contains("contact")));
}
