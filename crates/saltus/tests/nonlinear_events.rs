//! Events whose expression is no linear combination of the state: their series is not as good as that of the motion.
//!
//! Long steps of smooth flight are where that shows. Zeros are compared with closed forms, with those of other expressions that have the
//! same ones, and with those of the known motion, found here by dense sampling and bisection.

use proptest::prelude::*;
use saltus::model::Builder;
use saltus::motion::Crossing;
use saltus::{Options, PhaseKind, Problem, Run, Status};
use std::f64::consts::PI;

fn problem(model: Builder) -> Problem {
    model.build().expect("a model").problem().expect("a problem")
}

fn by_events(problem: &Problem, end: f64) -> Run {
    let run = problem.run(&Options::events(end)).expect("starts");
    assert_eq!(run.status, Status::Finished, "{}", problem.model().title);
    run
}

/// Times and directions of event k.
fn crossings(run: &Run, k: usize) -> Vec<(f64, bool)> {
    run.trajectory.events.iter().filter(|e| e.event == k).map(|e| (e.t, e.rising)).collect()
}

#[track_caller]
fn same(found: &[(f64, bool)], expected: &[(f64, bool)], tol: f64, what: &str) {
    let agree = |(a, b): (&(f64, bool), &(f64, bool))| (a.0 - b.0).abs() <= tol && a.1 == b.1;
    let first = found.iter().zip(expected).find(|&(a, b)| !agree((a, b)));
    assert!(
        found.len() == expected.len() && first.is_none(),
        "{what}: {} for {}, {first:?}",
        found.len(),
        expected.len()
    );
}

/// x = 2 sin t.
fn harmonic() -> Builder {
    Builder::new("harmonic").coordinate("x", 0.0, 2.0).kinetic("x'^2/2").potential("x^2/2")
}

/// Sign changes of f on (0, end]: by dense samples and bisection.
fn zeros(f: impl Fn(f64) -> f64, end: f64) -> Vec<(f64, bool)> {
    let n = 40_000;
    let at = |i: usize| end * i as f64 / f64::from(n);
    let mut found = Vec::new();
    let mut last = (at(0), f(at(0)));
    for i in 1..=n as usize {
        let now = (at(i), f(at(i)));
        if last.1 * now.1 < 0.0 {
            let (mut low, mut high) = (last.0, now.0);
            for _ in 0..80 {
                let middle = 0.5 * (low + high);
                if f(middle) * last.1 > 0.0 { low = middle } else { high = middle }
            }
            found.push((high, now.1 > 0.0));
        }
        if now.1 != 0.0 {
            last = now;
        }
    }
    found
}

#[test]
fn a_monotone_function_of_a_coordinate_has_the_zeros_of_the_coordinate() {
    let model = harmonic()
        .event("plain", "x - pi/6", Crossing::Both)
        .event("sin", "sin(x) - 0.5", Crossing::Both)
        .event("atan", "atan(3*x) - atan(pi/2)", Crossing::Both)
        .event("cube", "x^3 - (pi/6)^3", Crossing::Both)
        .event("exp", "exp(x) - exp(pi/6)", Crossing::Both);
    let problem = problem(model);
    let run = by_events(&problem, 100.0);
    // (2 sin t stays below 5π/6, where sin x is one half again.)
    let expected = zeros(|t| 2.0 * t.sin() - PI / 6.0, 100.0);
    for k in 0..5 {
        same(&crossings(&run, k), &expected, 1e-8, &problem.model().events[k].name);
    }
}

#[test]
fn an_event_is_found_whatever_others_are_declared() {
    let alone = crossings(&by_events(&problem(harmonic().event("sin", "sin(x) - 0.5", Crossing::Both)), 50.0), 0);
    let with = harmonic().event("sin", "sin(x) - 0.5", Crossing::Both).event("fast", "cos(9*x*x')", Crossing::Both);
    let run = by_events(&problem(with), 50.0);
    same(&crossings(&run, 0), &alone, 1e-9, "beside another");
    let fast = zeros(|t| (18.0 * (2.0 * t).sin()).cos(), 50.0);
    same(&crossings(&run, 1), &fast, 1e-8, "the other");
}

#[test]
fn a_bouncing_ball_passes_a_height_as_often_in_any_expression() {
    let ball = Builder::new("ball")
        .coordinate("y", 1.0, 0.0)
        .kinetic("y'^2/2")
        .potential("9.81*y")
        .restitution(0.8)
        .constraint("floor", "y")
        .event("bell", "1/(1 + y^2) - 0.7", Crossing::Both)
        .event("height", "y - sqrt(3/7)", Crossing::Both)
        .event("energy", "y'^2/2 + 9.81*y - 5", Crossing::Both);
    let run = by_events(&problem(ball), 2.0);
    let height = |y: f64| (2.0 * (1.0 - y) / 9.81).sqrt();
    same(&crossings(&run, 0), &[(height((3.0f64 / 7.0).sqrt()), true)], 1e-9, "bell");
    same(&crossings(&run, 1), &[(height((3.0f64 / 7.0).sqrt()), false)], 1e-9, "height");
    // (Energy is lost in impacts only: 9.81 e^2k, below 5 with the second one, which comes 2 e later than the first.)
    same(&crossings(&run, 2), &[(height(0.0) * 2.6, false)], 1e-9, "energy");
}

/// Steady vibration against a stop: the same zeros from expressions that have them.
#[test]
fn expressions_with_the_same_zeros_in_vibro_impact() {
    let model = |w: f64| {
        Builder::new("oscillator")
            .coordinate("x", 0.3, 0.0)
            .kinetic("x'^2/2")
            .force("x", format!("-x - 0.04*x' + cos({w:?}*t)"))
            .restitution(0.8)
            .constraint("stop", "1 - x")
            .event("x", "x", Crossing::Both)
            .event("sin", "sin(x)", Crossing::Both)
            .event("bend", "x/(1 + x^2)", Crossing::Both)
            .event("exp", "exp(x) - 1", Crossing::Both)
            .event("flat", "x^3", Crossing::Both)
            .event("flatter", "(x + 0.2)^5*(1 + x^2)", Crossing::Both)
            .event("off", "x + 0.2", Crossing::Both)
            .event("speed", "x' - 0.1^(1/3)", Crossing::Both)
            .event("cubed", "x'^3 - 0.1", Crossing::Both)
    };
    for w in [0.6, 0.85, 1.27] {
        let end = 40.0 * PI / w;
        let run = by_events(&problem(model(w)), end);
        assert!(run.trajectory.impacts.len() > 5);
        let of = |k| crossings(&run, k);
        for k in 1..5 {
            same(&of(k), &of(0), 1e-8, &format!("w = {w}: {k}"));
        }
        same(&of(5), &of(6), 1e-8, &format!("w = {w}: fifth power"));
        same(&of(8), &of(7), 1e-8, &format!("w = {w}: speed"));
    }
}

#[test]
fn flight_that_is_not_linear() {
    let duffing = Builder::new("duffing")
        .coordinate("x", 1.2, 0.0)
        .kinetic("x'^2/2")
        .force("x", "-x - x^3 + 0.3*cos(1.4*t)")
        .restitution(0.7)
        .constraint("stop", "x + 0.8")
        .event("x", "x - 0.1", Crossing::Both)
        .event("tanh", "tanh(4*x) - tanh(0.4)", Crossing::Both)
        .event("cube", "(x - 0.1)^3", Crossing::Both)
        .event("root", "sqrt(2 + x) - sqrt(2.1)", Crossing::Both);
    let run = by_events(&problem(duffing), 60.0);
    for k in 1..4 {
        same(&crossings(&run, k), &crossings(&run, 0), 1e-8, &format!("{k}"));
    }
    assert!(crossings(&run, 0).len() > 20);
}

/// A cubic that is written out is zero but for rounding around its zero: one crossing all the same.
#[test]
fn a_flat_zero_is_one_crossing() {
    let model = harmonic()
        .event("flat", "x^3 - 1.5*x^2 + 0.75*x - 0.125", Crossing::Both)
        .event("fifth", "x^5", Crossing::Both)
        .event("corner", "x*abs(x)", Crossing::Both);
    let run = by_events(&problem(model), 100.0);
    let expected = zeros(|t| 2.0 * t.sin() - 0.5, 100.0);
    same(&crossings(&run, 0), &expected, 1e-4, "written out");
    let nodes: Vec<(f64, bool)> = (1..=31).map(|k| (f64::from(k) * PI, k % 2 == 0)).collect();
    same(&crossings(&run, 1), &nodes, 1e-8, "fifth power");
    same(&crossings(&run, 2), &nodes, 1e-8, "corner");
    assert_eq!(run.timeline.of(PhaseKind::Stepped).count(), 0);
}

/// Gaps are no different: a disc and a parabola as walls, with straight and with harmonic flight.
#[test]
fn gaps_that_are_not_linear_close_where_they_vanish() {
    // Without loss every chord of the disc is as long as the first.
    let disc = Builder::new("disc")
        .coordinate("x", 0.0, 1.0)
        .coordinate("y", 0.6, 0.0)
        .kinetic("(x'^2 + y'^2)/2")
        .restitution(1.0)
        .constraint("rim", "1 - hypot(x, y)");
    let run = by_events(&problem(disc), 40.0);
    let times: Vec<f64> = run.trajectory.impacts.iter().map(|i| i.t).collect();
    let expected: Vec<f64> = (0..25).map(|k| 0.8 + 1.6 * f64::from(k)).take_while(|&t| t < 40.0).collect();
    assert_eq!(times.len(), expected.len());
    for (found, expected) in times.iter().zip(&expected) {
        assert!((found - expected).abs() < 1e-8, "{found} {expected}");
    }
    let walls = |gap: &str| {
        Builder::new("walls")
            .coordinate("x", 0.0, 2.0)
            .kinetic("x'^2/2")
            .potential("x^2/2")
            .restitution(0.9)
            .constraint("wall", gap)
    };
    let plain = by_events(&problem(walls("sqrt(1.2) - x")), 60.0);
    // (A parabola is two walls: one-sided by a term that closes nowhere else.)
    let bent = by_events(&problem(walls("(sqrt(1.2) - x)*(3 + x)")), 60.0);
    let (a, b) = (&plain.trajectory.impacts, &bent.trajectory.impacts);
    assert_eq!(a.len(), b.len());
    assert!(a.len() > 5);
    a.iter().zip(b.iter()).for_each(|(a, b)| assert!((a.t - b.t).abs() < 1e-8, "{} {}", a.t, b.t));
    let parabola = by_events(&problem(walls("1.2 - x^2")), 60.0);
    let first = parabola.trajectory.impacts.get(0);
    assert!((first.t - (1.2f64.sqrt() / 2.0).asin()).abs() < 1e-9);
    assert!(parabola.trajectory.impacts.iter().all(|i| (i.q[0].abs() - 1.2f64.sqrt()).abs() < 1e-9));
}

/// A smooth function of x and x', as text and as a number.
#[derive(Clone, Debug)]
enum Smooth {
    Line(f64, f64, f64),
    Sin(Box<Smooth>, f64),
    Tanh(Box<Smooth>, f64),
    Bell(Box<Smooth>),
    Product(Box<Smooth>, Box<Smooth>),
    Sum(Box<Smooth>, Box<Smooth>),
}

impl Smooth {
    fn text(&self) -> String {
        match self {
            Smooth::Line(a, b, c) => format!("({a:?}*x + {b:?}*x' + {c:?})"),
            Smooth::Sin(f, w) => format!("sin({w:?}*{})", f.text()),
            Smooth::Tanh(f, w) => format!("tanh({w:?}*{})", f.text()),
            Smooth::Bell(f) => format!("(1/(1 + {}^2))", f.text()),
            Smooth::Product(f, g) => format!("({}*{})", f.text(), g.text()),
            Smooth::Sum(f, g) => format!("({} + {})", f.text(), g.text()),
        }
    }

    fn at(&self, x: f64, v: f64) -> f64 {
        match self {
            Smooth::Line(a, b, c) => a * x + b * v + c,
            Smooth::Sin(f, w) => (w * f.at(x, v)).sin(),
            Smooth::Tanh(f, w) => (w * f.at(x, v)).tanh(),
            Smooth::Bell(f) => 1.0 / (1.0 + f.at(x, v).powi(2)),
            Smooth::Product(f, g) => f.at(x, v) * g.at(x, v),
            Smooth::Sum(f, g) => f.at(x, v) + g.at(x, v),
        }
    }
}

fn smooth() -> impl Strategy<Value = Smooth> {
    let line = (-1.5f64..1.5, -1.5f64..1.5, -0.7f64..0.7).prop_map(|(a, b, c)| Smooth::Line(a, b, c));
    line.prop_recursive(3, 8, 2, |inner| {
        prop_oneof![
            (inner.clone(), 0.3f64..4.0).prop_map(|(f, w)| Smooth::Sin(f.into(), w)),
            (inner.clone(), 0.3f64..3.0).prop_map(|(f, w)| Smooth::Tanh(f.into(), w)),
            inner.clone().prop_map(|f| Smooth::Bell(f.into())),
            (inner.clone(), inner.clone()).prop_map(|(f, g)| Smooth::Product(f.into(), g.into())),
            (inner.clone(), inner).prop_map(|(f, g)| Smooth::Sum(f.into(), g.into())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    /// Along x = 2 sin t, and along a parabola: the zeros of any smooth expression.
    #[test]
    fn zeros_of_smooth_expressions_along_known_motions(f in smooth(), level in -0.4f64..0.4, falls in any::<bool>()) {
        let end = if falls { 3.0 } else { 30.0 };
        let state = |t: f64| match falls {
            true => (-1.0 + 3.0 * t - t * t, 3.0 - 2.0 * t),
            false => (2.0 * t.sin(), 2.0 * t.cos()),
        };
        let g = |t: f64| { let (x, v) = state(t); f.at(x, v) - level };
        // (Where it nearly touches zero, or starts there, whether it crosses is a question of rounding.)
        let samples: Vec<f64> = (0..=30_000).map(|i| g(end * f64::from(i) / 30_000.0)).collect();
        let most = samples.iter().fold(0.0f64, |m, g| m.max(g.abs()));
        prop_assume!(most > 1e-3 && samples[0].abs() > 1e-6 * most && samples[30_000].abs() > 1e-6 * most);
        let touches = samples.windows(3).any(|w| {
            (w[1] - w[0]) * (w[2] - w[1]) <= 0.0 && w[1].abs() < 1e-6 * most
        });
        prop_assume!(!touches);
        let model = match falls {
            true => Builder::new("falls").coordinate("x", -1.0, 3.0).kinetic("x'^2/2").potential("2*x"),
            false => harmonic(),
        };
        let text = format!("{} - {level:?}", f.text());
        let run = by_events(&problem(model.event("e", text.clone(), Crossing::Both)), end);
        let (found, expected) = (crossings(&run, 0), zeros(g, end));
        prop_assert_eq!(found.len(), expected.len(), "{}: {:?} for {:?}", text, &found, &expected);
        for (found, expected) in found.iter().zip(&expected) {
            let slope = (g(expected.0 + 1e-6) - g(expected.0 - 1e-6)).abs() / 2e-6;
            let allowed = 1e-8 + 1e-9 * most / slope.max(1e-12);
            prop_assert!((found.0 - expected.0).abs() < allowed && found.1 == expected.1, "{}: {:?} {:?}", text, found, expected);
        }
    }
}
