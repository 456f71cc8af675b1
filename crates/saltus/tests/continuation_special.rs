//! Special points of branches that are hard to see, against closed forms: folds beside grazing, symmetry that is broken, impacts
//! that vanish together, orbits that shrink to an equilibrium, families of orbits.

#[path = "common/bisection.rs"]
mod bisection;

use bisection::root;
use saltus::analysis::{
    Branch, Clock, ContinueOptions, CurveOptions, Orbit, OrbitOptions, Origin, SpecialKind, WalkOptions,
    continue_orbit, curve, orbit,
};
use saltus::model::Builder;
use saltus::{Options, Problem, Side, Start};
use std::f64::consts::{PI, TAU};

/// x'' + x'/10 + x = A cos ωt, x ≤ 1 and, with two stops, x ≥ −1.
fn oscillator(a: f64, w: f64, e: f64, has_two: bool, open: &[&str]) -> Problem {
    let mut builder = Builder::new("oscillator")
        .parameter("A", a)
        .parameter("w", w)
        .parameter("s", 1.0)
        .coordinate("x", 0.0, 0.0)
        .kinetic("x'^2/2")
        .potential("x^2/2")
        .force("x", "A*cos(w*t) - x'/10")
        .restitution(e)
        .constraint("right", "s - x");
    if has_two {
        builder = builder.constraint("left", "s + x");
    }
    builder.build().and_then(|model| model.open(open)).and_then(|model| model.problem()).expect("a problem")
}

fn first(problem: &Problem, period: Option<f64>) -> Orbit {
    let transient = if period.is_some() { 100.0 } else { 200.0 };
    let from = OrbitOptions { period, transient, ..OrbitOptions::default() };
    orbit(problem, &problem.start(), &from).expect("an orbit")
}

fn branches(problem: &Problem, period: Option<f64>, name: &str, range: (f64, f64), doublings: usize) -> Vec<Branch> {
    let walk = WalkOptions { range, step: 0.02, points: 1500 };
    let options = ContinueOptions { walk, doublings, tolerance: 1e-13, directions: (true, true) };
    let clock = Clock::of(problem).expect("periodic");
    continue_orbit(problem, clock, &first(problem, period), name, &options, &mut |_| true).expect("followed")
}

fn specials(branches: &[Branch], kind: SpecialKind) -> Vec<f64> {
    let all = branches.iter().flat_map(|b| &b.specials).filter(|s| s.1.kind == kind);
    all.map(|s| s.1.point.values[0]).collect()
}

fn is_one(values: &[f64], expected: f64, by: f64) -> bool {
    values.len() == 1 && (values[0] - expected).abs() < by
}

/// exp(F t) of (x, x') for x'' + x'/10 + x = 0.
fn flow(t: f64) -> [[f64; 2]; 2] {
    let (c, d) = (0.1_f64, (-0.05 * t).exp());
    let wd = (1.0 - 0.25 * c * c).sqrt();
    let (cos, sin) = ((wd * t).cos(), (wd * t).sin());
    [[d * (cos + 0.5 * c / wd * sin), d * sin / wd], [-d * sin / wd, d * (cos - 0.5 * c / wd * sin)]]
}

/// (flow + shift)⁻¹ (0, y).
fn solved(flow: [[f64; 2]; 2], shift: f64, y: f64) -> [f64; 2] {
    let (a, b, c, d) = (flow[0][0] + shift, flow[0][1], flow[1][0], flow[1][1] + shift);
    let det = a * d - b * c;
    [-b * y / det, a * y / det]
}

#[test]
fn a_fold_beside_grazing_is_seen_from_both_sides() {
    // One impact per period: (Y₁² + (e + Y₂)²/ω²) W² − 2Y₁W + 1 − A²P² = 0 (docs/continuation.md), here with ω = 1, P = 10. The
    // branch leaves grazing, A = 1/10, to smaller A, and folds where both roots are one: 3e-5 away.
    let e = 0.8;
    let y = solved(flow(TAU), -1.0, 1.0 + e);
    let (q2, q1) = (y[0] * y[0] + (e + y[1]).powi(2), -2.0 * y[0]);
    let fold = (1.0 - q1 * q1 / (4.0 * q2)).sqrt() / 10.0;
    assert!((fold - 0.0999707536).abs() < 1e-9, "{fold}");
    for a in [0.05, 1.0] {
        let found = branches(&oscillator(a, 1.0, e, false, &["A"]), Some(TAU), "A", (0.0, 2.0), 0);
        assert!(is_one(&specials(&found, SpecialKind::Fold), fold, 1e-10), "{:?}", found[1].specials);
        assert!(is_one(&specials(&found, SpecialKind::Grazing), 0.1, 1e-11), "{:?}", found[1].specials);
        // Both branches go to the ends of the range.
        for branch in &found {
            assert!(branch.end.contains("end of the range"), "{}", branch.end);
        }
        let ends: Vec<f64> = found.iter().map(|b| b.points[b.points.len() - 1].values[0]).collect();
        assert!((ends[0] - 2.0).abs() < 1e-12 && ends[1].abs() < 1e-12, "{ends:?}");
        // Unstable between grazing and the fold.
        let between = found.iter().flat_map(|b| &b.points).filter(|p| p.sequence != "no impact" && p.values[0] < 0.1);
        assert!(between.clone().count() >= 2);
        for point in between.filter(|p| p.stability.multipliers[0].0 > 1.0) {
            assert!(!point.stability.is_stable());
        }
    }
}

/// The symmetric orbit of two stops with one impact at each: trace and determinant of the map over half a period, reflected.
fn half_map(a: f64, w: f64, e: f64) -> (f64, f64) {
    let flow = flow(PI / w);
    // The free part changes its sign, but for the jump: Φy + y = (0, −(1 + e)W).
    let y = solved(flow, 1.0, -(1.0 + e));
    let p2 = a * a / ((1.0 - w * w).powi(2) + 0.01 * w * w);
    let (q2, q1, q0) = (y[0] * y[0] + ((e + y[1]) / w).powi(2), -2.0 * y[0], 1.0 - p2);
    let speed = (-q1 + (q1 * q1 - 4.0 * q2 * q0).sqrt()) / (2.0 * q2);
    let (pc, ps) = (1.0 - y[0] * speed, (e + y[1]) * speed / w);
    let force = (1.0 - w * w) * pc - 0.1 * w * ps;
    let (before, after) = (force - 0.1 * speed - 1.0, force + 0.1 * e * speed - 1.0);
    let lower = (after + e * before) / speed;
    let trace = -(-e * flow[0][0] + flow[0][1] * lower - e * flow[1][1]);
    (trace, e * e * (flow[0][0] * flow[1][1] - flow[0][1] * flow[1][0]))
}

#[test]
fn symmetry_is_broken_where_the_half_map_has_minus_one() {
    let expected = root(1.4, 1.8, |a| {
        let (trace, det) = half_map(a, 1.2, 0.7);
        1.0 + trace + det
    });
    let found = branches(&oscillator(1.0, 1.2, 0.7, true, &["A"]), Some(TAU / 1.2), "A", (0.3, 3.0), 1);
    let crossings = specials(&found, SpecialKind::Crossing);
    assert!(is_one(&crossings, expected, 1e-10), "{crossings:?} {expected}");
    // One branch leaves; the other is its mirror image.
    let leave: Vec<&Branch> = found.iter().filter(|b| matches!(b.origin, Origin::Crossing(..))).collect();
    assert_eq!(leave.len(), 1, "{:?}", found.iter().map(|b| &b.origin).collect::<Vec<_>>());
    assert!(leave[0].points.len() > 20 && leave[0].end.contains("end of the range"), "{}", leave[0].end);
    // Its orbits are periodic, and not their own mirror images; simulation stays on them where they are stable.
    let problem = oscillator(1.0, 1.2, 0.7, true, &["A"]);
    for point in leave[0].points.iter().filter(|p| p.stability.is_stable()).skip(10).step_by(8) {
        let (start, period) = (&point.start, point.period);
        let run = problem.run_from(start, &Options::events(start.t + 30.0 * period).tolerance(1e-12)).expect("runs");
        assert!((run.last().q[0] - start.q[0]).abs() < 1e-7, "{:?} {:?}", point.values, run.last());
        let (q, _) = run.trajectory.at(start.t + 0.5 * period, Side::Right).expect("within");
        assert!((q[0] + start.q[0]).abs() > 1e-3, "{:?}", point.values);
    }
    // The symmetric branch is unstable beyond.
    let symmetric = found[0].points.iter().filter(|p| (p.values[0] - expected).abs() > 1e-3);
    assert!(symmetric.clone().count() > 30);
    assert!(symmetric.clone().all(|p| p.stability.is_stable() == (p.values[0] < expected)));
}

/// A ball between two walls a distance d apart that shake with sin t.
fn pair(d: f64) -> Problem {
    Builder::new("impact pair")
        .parameter("d", d)
        .coordinate("x", 0.0, 0.1)
        .kinetic("x'^2/2")
        .restitution(0.6)
        .constraint("right", "d/2 - x + sin(t)")
        .constraint("left", "d/2 + x - sin(t)")
        .build()
        .and_then(|model| model.open(&["d"]))
        .and_then(|model| model.problem())
        .expect("a problem")
}

#[test]
fn an_impact_pair_and_all_that_leaves_its_symmetric_orbit() {
    // One impact per wall and period at the phase φ, with the speed u in between: cos φ = −r u, r = (1 − e)/(1 + e), d = πu − 2 sin φ.
    // Symmetry breaks where the half map has a multiplier of −1: its trace and determinant follow from the jump of the phase.
    let (e, r) = (0.6, 0.25);
    let of = |phi: f64| {
        let (c, s) = (phi.cos(), phi.sin());
        let u = -c / r;
        let a = (c + u) / (u - c);
        let trace = a + e - (1.0 + e) * s * PI / (u - c);
        (PI * u - 2.0 * s, 1.0 + trace + e * a)
    };
    let phi = root(0.55 * PI, 0.95 * PI, |phi| of(phi).1);
    let expected = of(phi).0;
    assert!((expected - 2.7317184533).abs() < 1e-9, "{expected}");
    let found = branches(&pair(1.0), Some(TAU), "d", (0.5, 4.0), 1);
    let crossings = specials(&found, SpecialKind::Crossing);
    let near: Vec<f64> = crossings.iter().copied().filter(|d| (d - expected).abs() < 1e-3).collect();
    assert!(!near.is_empty() && near.iter().all(|d| (d - expected).abs() < 1e-9), "{crossings:?}");
    // Both walls are grazed together, and from there a branch leaves on which only one of them is hit more often. It ends where
    // symmetry is broken, and is followed once.
    let graze = found[1].specials.iter().find(|s| s.1.touched.len() == 2).expect("both are grazed");
    let mixed: Vec<&Branch> = found.iter().filter(|b| matches!(b.origin, Origin::Grazing(..))).collect();
    assert_eq!(mixed.len(), 1);
    assert!(mixed[0].end.contains("ends on another branch"), "{}", mixed[0].end);
    let last = mixed[0].points[mixed[0].points.len() - 1].values[0];
    assert!((last - expected).abs() < 1e-9 && graze.1.point.values[0] < 0.51, "{last}");
    // Doublings that were not entered are said.
    assert!(mixed[0].left.iter().filter(|l| l.kind == SpecialKind::Doubling && !l.was_tried).count() == 2);
    // No branch joins another where there is none.
    assert!(found.iter().all(|b| !b.end.contains("half its period")));
}

#[test]
fn impacts_that_vanish_together() {
    // The smooth motion touches both stops where its amplitude is the clearance: (1 − w²)² + w²/100 = 1.
    let problem = oscillator(1.0, 1.8, 0.7, true, &["w", "s"]);
    let found = branches(&problem, Some(TAU / 1.8), "w", (1.2, 2.0), 0);
    let grazing = specials(&found, SpecialKind::Grazing);
    assert!(is_one(&grazing, 1.99_f64.sqrt(), 1e-11), "{grazing:?}");
    // It goes on with an impact at each.
    let beyond = found[1].points.iter().filter(|p| p.sequence.contains("right") && p.sequence.contains("left"));
    assert!(beyond.count() > 20, "{}", found[1].end);
    // The curve of such orbits over two parameters.
    let special = found[1].specials.iter().find(|s| s.1.kind == SpecialKind::Grazing).expect("grazing").1.clone();
    let axes = [("w".to_string(), 1.2, 2.0), ("s".to_string(), 0.3, 2.0)];
    let options = CurveOptions { axes, step: 0.05, points: 200, tolerance: 1e-13 };
    let clock = Clock::of(&problem).expect("periodic");
    let all = curve(&problem, clock, &special, &options, &mut |_| true).expect("followed");
    assert!(all.points.len() > 20, "{:?}", all.ends);
    for point in &all.points {
        let (w, s) = (point.values[0], point.values[1]);
        let amplitude = ((1.0 - w * w).powi(2) + 0.01 * w * w).sqrt().recip();
        assert!((s - amplitude).abs() < 1e-10, "{w} {s} {amplitude}");
    }
}

#[test]
fn an_orbit_shrinks_to_an_equilibrium() {
    // A relief valve: x'' = p − 1.25x' − (x + 10), p' = 20(q − x√p). Its characteristic polynomial at rest, with g = 10x/√p, is
    // λ³ + (1.25 + g)λ² + (1 + 1.25g)λ + g + 20√p: a pair is on the axis where the product of the middle ones is the last.
    let at_rest = |x: f64| {
        let p: f64 = x + 10.0;
        let g = 10.0 * x / p.sqrt();
        (x * p.sqrt(), (1.25 + g) * (1.0 + 1.25 * g) - g - 20.0 * p.sqrt())
    };
    let expected = at_rest(root(1.0, 4.0, |x| at_rest(x).1)).0;
    let problem = Builder::new("valve")
        .parameter("q", 8.0)
        .coordinate("x", 0.5, 0.0)
        .state("p", 10.0, "20*(q - x*sqrt(p))")
        .kinetic("x'^2/2")
        .potential("(x + 10)^2/2")
        .force("x", "p - 1.25*x'")
        .restitution(0.8)
        .constraint("seat", "x")
        .build()
        .and_then(|model| model.open(&["q"]))
        .and_then(|model| model.problem())
        .expect("a problem");
    let found = branches(&problem, None, "q", (7.8, 9.0), 0);
    let hopf = specials(&found, SpecialKind::Hopf);
    assert!(is_one(&hopf, expected, 1e-8), "{hopf:?} {expected} {}", found[0].end);
    assert!(found[0].end.contains("shrinks to an equilibrium"), "{}", found[0].end);
    assert!(specials(&found, SpecialKind::Fold).is_empty() && specials(&found, SpecialKind::Crossing).is_empty());
}

#[test]
fn families_of_orbits_are_neutral() {
    // Without damping, orbits around a resting one come in families: both multipliers are on the unit circle.
    let problem = Builder::new("driven")
        .parameter("A", 1.0)
        .coordinate("x", 0.0, 0.0)
        .kinetic("x'^2/2")
        .potential("x^2/2")
        .force("x", "A*cos(1.7*t)")
        .build()
        .and_then(|model| model.open(&["A"]))
        .and_then(|model| model.problem())
        .expect("a problem");
    let start = Start::new(0.0, vec![1.0 / (1.0 - 1.7_f64.powi(2))], vec![0.0]);
    let from = OrbitOptions { period: Some(TAU / 1.7), transient: 0.0, multiple: Some(1), ..OrbitOptions::default() };
    let first = orbit(&problem, &start, &from).expect("an orbit");
    let walk = WalkOptions { range: (0.5, 2.0), step: 0.05, points: 100 };
    let options = ContinueOptions { walk, doublings: 0, tolerance: 1e-13, directions: (true, true) };
    let clock = Clock::of(&problem).expect("periodic");
    let found = continue_orbit(&problem, clock, &first, "A", &options, &mut |_| true).expect("followed");
    let points = found.iter().flat_map(|b| &b.points);
    assert!(points.clone().count() > 20);
    for point in points {
        assert!(point.stability.is_neutral() && !point.stability.is_stable(), "{point:?}");
    }
}

#[test]
fn a_stick_phase_that_shrinks_to_nothing() {
    // A block on a belt sticks for 2A/V, A = (mus − muk) g/k: until both coefficients are one. Below, it slides in a family of orbits.
    let problem = Builder::new("belt")
        .parameter("mus", 0.12)
        .coordinate("x", 0.0, 0.0)
        .kinetic("x'^2/2")
        .potential("2*x^2")
        .slider("belt", "x' - 0.2", "0.08*9.81", Some("mus*9.81".into()))
        .build()
        .and_then(|model| model.open(&["mus"]))
        .and_then(|model| model.problem())
        .expect("a problem");
    let found = branches(&problem, None, "mus", (0.05, 0.2), 0);
    let changes = specials(&found, SpecialKind::Change);
    assert!(is_one(&changes, 0.08, 1e-10), "{changes:?}");
    let points = found[1].points.iter().filter(|p| (p.values[0] - 0.08).abs() > 1e-4);
    assert!(points.clone().all(|p| if p.values[0] > 0.08 {
        p.stability.is_stable()
    } else {
        p.stability.is_neutral()
    }));
    assert!(points.filter(|p| p.stability.is_neutral()).count() > 3);
}

#[test]
fn a_wall_that_moves() {
    // x'' + x'/10 + x = 0 beside a wall at 1/2 + B cos ωt. With the speed U relative to the wall, the free motion has
    // (x, x'⁺) = Y U at the impact, so (Y₁U − 1/2)² + ((Y₂ + e)U/ω)² = B²: grazing at B = 1/2, where U = 0, and a fold where B is least.
    let (w, e) = (1.3, 0.7);
    let y = solved(flow(TAU / w), -1.0, 1.0 + e);
    let size = y[0] * y[0] + ((y[1] + e) / w).powi(2);
    let fold = 0.5 * (1.0 - y[0] * y[0] / size).sqrt();
    let problem = Builder::new("wall")
        .parameter("B", 0.8)
        .coordinate("x", 0.0, 0.0)
        .kinetic("x'^2/2")
        .potential("x^2/2")
        .force("x", "-x'/10")
        .restitution(e)
        .constraint("wall", "0.5 - x + B*cos(1.3*t)")
        .build()
        .and_then(|model| model.open(&["B"]))
        .and_then(|model| model.problem())
        .expect("a problem");
    let found = branches(&problem, Some(TAU / w), "B", (0.1, 1.5), 0);
    assert!(is_one(&specials(&found, SpecialKind::Fold), fold, 1e-10), "{fold} {:?}", found[1].specials);
    assert!(is_one(&specials(&found, SpecialKind::Grazing), 0.5, 1e-10), "{:?}", found[1].specials);
}

#[test]
fn two_masses_between_two_stops() {
    // The symmetric orbit from the matrix exponential (SciPy): the half map, reflected, has −1 where symmetry breaks, and a pair on
    // the unit circle at the torus.
    let problem = Builder::new("two masses")
        .parameter("w", 1.5)
        .coordinate("x", 0.0, 0.0)
        .coordinate("y", 0.0, 0.0)
        .kinetic("x'^2/2 + y'^2/4")
        .potential("x^2/2 + 0.4*(x - y)^2")
        .force("x", "cos(w*t) - 0.06*x' - 0.06*(x' - y')")
        .force("y", "-0.06*(y' - x')")
        .restitution(0.75)
        .constraint("top", "0.6 - y")
        .constraint("bottom", "0.6 + y")
        .build()
        .and_then(|model| model.open(&["w"]))
        .and_then(|model| model.problem())
        .expect("a problem");
    let found = branches(&problem, Some(TAU / 1.5), "w", (1.45, 1.85), 0);
    let (crossing, torus) = (specials(&found, SpecialKind::Crossing), specials(&found, SpecialKind::Torus));
    assert!(is_one(&crossing, 1.592_364_204_300_03, 1e-10), "{crossing:?}");
    assert!(is_one(&torus, 1.768_469_040_810_4, 1e-10), "{torus:?}");
}
