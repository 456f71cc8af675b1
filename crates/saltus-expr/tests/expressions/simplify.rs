use saltus_expr::{Graph, parse};

use crate::common::{any_expression, interpret, node, run, try_node};
use proptest::prelude::*;

/// Asserts that both texts become the same node.
fn same(a: &str, b: &str) {
    let mut g = Graph::new();
    let (m, n) = (node(&mut g, a), node(&mut g, b));
    assert_eq!(m, n, "{a} is {}, {b} is {}", g.display(m), g.display(n));
}

#[test]
fn identities() {
    for (a, b) in [
        ("x + 0", "x"),
        ("x*1", "x"),
        ("x*0", "0"),
        ("x - x", "0"),
        ("x/1", "x"),
        ("x/x", "1"),
        ("--x", "x"),
        ("x^0", "1"),
        ("x^1", "x"),
        ("x*x*x", "x^3"),
        ("x^2*x^3/x", "x^4"),
        ("x^0.5", "sqrt(x)"),
        ("x^-0.5", "1/sqrt(x)"),
        ("x + y", "y + x"),
        ("x*y", "y*x"),
        ("x + -y", "x - y"),
        ("-x*y", "-(x*y)"),
        ("x*-y", "-(y*x)"),
        ("-x*-y", "x*y"),
        ("2*(3*x)", "6*x"),
        ("2*x + 3*x", "5*x"),
        ("2*x*y + y*x", "3*x*y"),
        ("x + y + z - (z + y)", "x"),
        ("-(x - y)", "y - x"),
        ("2*(x - y) - 3*(x - y)", "y - x"),
        ("(x*y)^2", "x^2*y^2"),
        ("(2*x)^2", "4*x^2"),
        ("x/y/z", "x/(y*z)"),
        ("x/4", "0.25*x"),
        ("1^x", "1"),
        ("if(1 > 0, x, y)", "x"),
        ("if(x > 0, y, y)", "y"),
        ("x > y", "y < x"),
        ("x >= y", "y <= x"),
        ("x == y", "y == x"),
        ("x < x", "0"),
        ("x <= x", "1"),
        ("min(x, x)", "x"),
        ("and(x, 0)", "0"),
        ("or(x, 3)", "1"),
        ("and(x, y)", "and(y, x)"),
        ("hypot(x, y)", "hypot(y, x)"),
        ("sin(x + y)", "sin(y + x)"),
        ("1 + x + 2", "x + 3"),
    ] {
        same(a, b);
    }
}

#[test]
fn equal_parts_are_one_node() {
    let mut g = Graph::new();
    node(&mut g, "sin(x + y)*exp(x + y)");
    let before = g.len();
    node(&mut g, "sin(y + x)");
    node(&mut g, "exp(x + y)*sin(x + y)");
    assert_eq!(g.len(), before);
    // x, y, x + y, sin, exp, product
    assert_eq!(before, 6);
}

#[test]
fn extremes_do_not_overflow() {
    let mut g = Graph::new();
    for (text, x, expected) in [
        ("1e200*(1e200*x)", 1e-300, 1e100),
        ("1e-200*(1e-200*x)", 1e300, 1e-100),
        ("1e308 + x + 1e308", -1.5e308, 0.5e308),
        ("x/1e-310", 1e-300, 1e10),
        ("(1e200*x)^2", 1e-200, 1.0),
    ] {
        let n = node(&mut g, text);
        let value = run(&mut g, n, [x, 0.0, 0.0]);
        assert!((value / expected - 1.0).abs() < 1e-14, "{text}: {value}");
    }
}

#[test]
fn long_sums_take_linear_space() {
    let mut g = Graph::new();
    let mut total = g.constant(0.0);
    for k in 0..20_000 {
        let term = g.symbol(&format!("x{k}"));
        total = g.add(total, term);
    }
    assert!(g.size() < 20_000 * 40, "{}", g.size());
    let x7 = g.symbol("x7");
    let d = g.derivative(total, x7);
    assert_eq!(g.value(d), Some(1.0));
    let mut product = g.constant(1.0);
    for k in 0..5_000 {
        let factor = g.symbol(&format!("x{k}"));
        product = g.mul(product, factor);
    }
    let d = g.derivative(product, x7);
    assert!(!g.depends_on(d, x7));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]
    #[test]
    fn values_are_preserved(
        text in any_expression(),
        at in [-2.0..2.0_f64, -2.0..2.0, -2.0..2.0],
    ) {
        let expected = interpret(&parse(&text).unwrap(), at);
        prop_assume!(expected.value.is_finite() && expected.error.is_finite());
        let mut g = Graph::new();
        let Some(n) = try_node(&mut g, &text) else {
            return Ok(());
        };
        let got = run(&mut g, n, at);
        prop_assert!(
            (got - expected.value).abs() <= expected.error,
            "{text} at {at:?}: {got} but {expected:?}; simplified {}", g.display(n)
        );
    }
}
