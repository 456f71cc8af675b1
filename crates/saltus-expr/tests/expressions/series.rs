use std::sync::Arc;

use saltus_expr::{Function1, Graph, Outside, Program, Scalar, Series, SeriesCode, Table};

use crate::common::{NAMES, smooth, try_node};
use proptest::prelude::*;

const ORDER: usize = 12;

/// The series of `text` for inputs that are polynomials of t, and a function that evaluates the expression at t.
fn expand(text: &str, inputs: &[[f64; 3]; 3]) -> Option<(Series, impl FnMut(f64) -> f64 + use<>)> {
    let mut g = Graph::new();
    let symbols = NAMES.map(|name| g.symbol(name));
    let node = try_node(&mut g, text)?;
    let code = SeriesCode::compile(&g, &symbols, &[usize::MAX; 3], &[node]).expect("all inputs given");
    let mut series = Series::new(Arc::new(code), ORDER);
    for k in 0..=ORDER {
        for (i, input) in inputs.iter().enumerate() {
            series.set_input(i, k, input.get(k).copied().unwrap_or(0.0));
        }
        series.advance(k, true);
    }
    let mut scalar = Scalar::new(Arc::new(Program::compile(&g, &symbols, &[node]).expect("inputs")));
    let inputs = *inputs;
    let value = move |t: f64| {
        let mut out = [0.0];
        scalar.eval(&inputs.map(|c| c[0] + t * (c[1] + t * c[2])), &mut out);
        out[0]
    };
    Some((series, value))
}

fn horner(c: &[f64], t: f64) -> f64 {
    c.iter().rev().fold(0.0, |sum, c| sum * t + c)
}

/// Compares series and function at a t for which the last terms show convergence. False if there is no series.
fn agrees(text: &str, inputs: &[[f64; 3]; 3]) -> bool {
    let Some((series, mut value)) = expand(text, inputs) else { return false };
    let c = series.output(0);
    let size = c.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    if !size.is_finite() || c.iter().any(|x| x.is_nan()) {
        return false;
    }
    // At this t the last two terms are below 1e-13 of the largest coefficient.
    let bound = |k: usize| (1e-13 * size / c[k].abs().max(1e-300)).powf(1.0 / k as f64);
    let t = bound(ORDER).min(bound(ORDER - 1)).min(0.1);
    for t in [t, -t, 0.3 * t] {
        let (a, b) = (horner(c, t), value(t));
        assert!((a - b).abs() <= 1e-10 * (size + b.abs()), "{text} at {t}: series {a:e}, value {b:e} {c:?}");
    }
    true
}

#[test]
fn every_function_has_a_series() {
    let inputs = [[0.3, 0.7, -0.2], [1.4, -0.5, 0.1], [0.9, 0.2, 0.4]];
    for text in [
        "sin(x)",
        "cos(x*y)",
        "tan(x)",
        "asin(x)",
        "acos(x)",
        "atan(x*z)",
        "sinh(x)",
        "cosh(y)",
        "tanh(2*x)",
        "exp(-x)",
        "log(y)",
        "sqrt(y)",
        "atan2(x, y)",
        "hypot(x, y)",
        "x^2.5",
        "y^z",
        "2^x",
        "x/y",
        "1/(y^3)",
        "x^7",
        "mod(x, 2)",
        "abs(x - 1)",
        "min(x, y)",
        "max(x, y)",
        "if(and(x < y, not(z < 0)), sin(x), cos(x))",
        "floor(y)*x",
        "sign(-x)*z",
        "x*y - z",
        "sin(x)*cos(x)*tan(x)",
        "exp(sin(x) + 2)/(1 + y^2)",
    ] {
        assert!(agrees(text, &inputs), "{text} has no series here");
    }
}

proptest! {
    #[test]
    fn series_of_random_expressions(text in smooth(), seed in prop::array::uniform9(-1.0f64..1.0)) {
        agrees(&text, &[[seed[0], seed[1], seed[2]], [seed[3], seed[4], seed[5]], [seed[6], seed[7], seed[8]]]);
    }
}

#[test]
fn known_degrees_do_not_change_the_series() {
    let mut g = Graph::new();
    let (t, x) = (g.symbol("t"), g.symbol("x"));
    let turn = g.scale(3.0, t);
    let s = g.unary(Function1::Sin, turn);
    let node = g.mul(s, x);
    let node = g.mul(node, t);
    let run = |degree: usize| {
        let code = SeriesCode::compile(&g, &[t, x], &[degree, usize::MAX], &[node]).expect("inputs");
        let mut series = Series::new(Arc::new(code), ORDER);
        for k in 0..=ORDER {
            series.set_input(0, k, [0.4, 1.0].get(k).copied().unwrap_or(0.0));
            series.set_input(1, k, 1.0 / (k + 1) as f64);
            series.advance(k, true);
        }
        series.output(0).to_vec()
    };
    for (a, b) in run(1).iter().zip(run(usize::MAX)) {
        assert!((a - b).abs() <= 1e-15 * b.abs().max(1.0));
    }
}

#[test]
fn margins_and_next_states_of_switches() {
    let mut g = Graph::new();
    let x = g.symbol("x");
    let table = Arc::new(Table::new("f", vec![0.0, 1.0, 3.0], vec![0.0, 2.0, 1.0], Outside::Hold).expect("points"));
    let (f, a) = (g.table(table, x), g.unary(Function1::Abs, x));
    let code = SeriesCode::compile(&g, &[x], &[usize::MAX], &[f, a]).expect("inputs");
    let mut series = Series::new(Arc::new(code), 2);
    let set = |series: &mut Series, value: f64, fresh: bool| {
        for (k, c) in [value, 1.0, 0.0].into_iter().enumerate() {
            series.set_input(0, k, c);
            series.advance(k, fresh);
        }
    };
    set(&mut series, 0.5, true);
    assert_eq!((series.output(0), series.output(1)), (&[1.0, 2.0, 0.0][..], &[0.5, 1.0, 0.0][..]));
    let mut margin = [0.0; 3];
    assert_eq!(series.margin(0, 1, &mut margin), Some(1));
    assert_eq!(margin, [0.5, -1.0, 0.0]);
    assert_eq!(series.margin(0, 0, &mut margin), Some(-1));
    assert_eq!(margin, [0.5, 1.0, 0.0]);
    assert_eq!((series.margin(1, 0, &mut margin), series.margin(1, 1, &mut margin)), (Some(-1), None));
    assert_eq!(series.argument(0), [0.5, 1.0, 0.0]);
    // In the next state, at the knot, the value is the same and the slope is that of the next segment.
    series.set_state(0, 1);
    set(&mut series, 1.0, false);
    assert_eq!(series.output(0), [2.0, -0.5, 0.0]);
    // Beyond the last knot there is no end.
    series.set_state(0, 2);
    set(&mut series, 3.5, false);
    assert_eq!((series.output(0), series.margin(0, 1, &mut margin)), (&[1.0, 0.0, 0.0][..], None));
}

#[test]
fn nan_propagates_and_zero_stays_zero() {
    let first = |text: &str, x: [f64; 3]| expand(text, &[x, [0.0; 3], [0.0; 3]]).expect("parses").0.output(0).to_vec();
    assert!(first("sqrt(x - 5)", [0.3, 0.7, -0.2])[0].is_nan());
    // An open Hertz contact has zero force and a regular series.
    assert!(first("max(-x, 0)^1.5", [0.3, 0.7, -0.2]).iter().all(|&c| c == 0.0));
    // At first touch it has a value but no series.
    let touch = first("max(-x, 0)^1.5", [0.0, -0.7, 0.0]);
    assert!(touch[0] == 0.0 && touch[1].is_nan());
    // The test for a zero distance is not a switch.
    let (series, _) =
        expand("if(hypot(x, y) == 0, 0, x/hypot(x, y))", &[[1.0, 2.0, 0.0], [1.0; 3], [0.0; 3]]).expect("parses");
    assert_eq!((0..series.switches()).filter(|&k| !series.is_root(k) && !series.is_mark(k)).count(), 0);
    // The series of a root ends where it reaches zero: √(x²) with x = t − 0.5 is 0.5 − t until then.
    let (series, _) = expand("sqrt(x^2)", &[[-0.5, 1.0, 0.0], [0.0; 3], [0.0; 3]]).expect("parses");
    let mut margin = [0.0; ORDER + 1];
    assert_eq!((series.margin(0, 0, &mut margin), series.margin(0, 1, &mut [0.0; 1])), (Some(0), None));
    assert!((margin[0] - 0.5).abs() < 1e-15 && (margin[1] + 1.0).abs() < 1e-15, "{margin:?}");
}

#[test]
fn what_no_coefficient_announces_has_marks() {
    let zeros = [0.0; 3];
    let marks = |text: &str, x: f64| {
        let (series, _) = expand(text, &[[x, 1.0, 0.0], zeros, zeros]).expect("parses");
        let switch = (0..series.switches()).find(|&k| series.is_mark(k)).expect("a mark");
        let mut margin = [0.0; ORDER + 1];
        let beyond = series.margin(switch, 1, &mut margin);
        (series.state(switch), beyond, margin[0], margin[1])
    };
    // Far below its peak, at x = −1e3, exp(−x²) is zero; the first mark is at −740.
    let (state, beyond, margin, slope) = marks("exp(-x^2)", -1e3);
    assert_eq!((state, beyond), (0, Some(1)));
    assert!((margin - (1e6 - 740.0)).abs() < 1e-6 && (slope + 2e3).abs() < 1e-9, "{margin} {slope}");
    assert_eq!(marks("tanh(x)", -50.0), (0, Some(1), 30.0, -1.0));
    // 1 + x² falls through a power of 10⁴ on the way to its least value; towards larger ones it is 10⁸ from here.
    let (state, beyond, margin, _) = marks("1/(1 + x^2)", -1e3);
    assert_eq!((state, beyond), (1, Some(2)));
    assert!((margin - (1e8 - 1e6 - 1.0)).abs() < 1e-3, "{margin}");
}

#[test]
fn what_cancels_has_the_rounding_of_its_terms() {
    let zeros = [0.0; 3];
    let of = |text: &str, x: f64| expand(text, &[[x, 1.0, 0.0], zeros, zeros]).expect("parses").0.rounding()[0];
    let eps = f64::EPSILON;
    let difference = of("tanh(x) - tanh(x + 5)", -40.0);
    assert!((2.0 * eps..8.0 * eps).contains(&difference), "{difference:e}");
    // 1 − cos x at a small x: the rounding of 1.
    assert!((eps..4.0 * eps).contains(&of("1 - cos(x)", 1e-9)));
    assert!((1e2 * eps..1e4 * eps).contains(&of("sin(1e3*x)", 1.0)));
    // Far out the relative error is that of the argument: 400 units in the last place, a few times.
    let tail = of("exp(-x^2)", 20.0) / (-400.0_f64).exp();
    assert!((4e2 * eps..4e3 * eps).contains(&tail), "{tail:e}");
}
