use saltus_expr::{Function1, Graph};

use crate::common::{any_expression, node, run, try_node};
use proptest::prelude::*;

#[test]
fn text_is_readable() {
    let mut g = Graph::new();
    for (text, shown) in [
        ("-x", "-x"),
        ("1 - x", "1 - x"),
        ("-x - 1", "-x - 1"),
        ("y - 2*x + 3", "y - 2*x + 3"),
        ("-2*x + y", "y - 2*x"),
        ("x^2*y/(z*w^3)", "x^2*y/(z*w^3)"),
        ("1/x", "1/x"),
        ("(x + y)^2", "(x + y)^2"),
        ("(x^0.3)^0.7", "(x^0.3)^0.7"),
        ("(x^0.3)^2", "(x^0.3)^2"),
        ("2^(-x)", "2^(-x)"),
        ("(-2)^x", "(-2)^x"),
        ("-2^x", "-2^x"),
        ("if(x < y, sin(x), atan2(x, y))", "if(x < y, sin(x), atan2(x, y))"),
        ("(x < y)*z", "z*(x < y)"),
        ("1e-9*x + 1e300", "1e-9*x + 1e300"),
        ("x[3]' + x[3, 4]", "x[3]' + x[3, 4]"),
    ] {
        let n = node(&mut g, text);
        assert_eq!(g.display(n), shown);
        assert_eq!(node(&mut g, shown), n, "{shown}");
    }
}

#[test]
fn deep_and_shared_graphs_are_truncated() {
    let mut g = Graph::new();
    let mut n = g.symbol("x");
    for _ in 0..100_000 {
        n = g.unary(Function1::Sin, n);
    }
    assert!(g.display(n).starts_with("sin(sin("));
    let mut n = g.symbol("x");
    for _ in 0..100 {
        let s = g.unary(Function1::Sin, n);
        let c = g.unary(Function1::Cos, n);
        n = g.mul(s, c);
    }
    let text = g.display(n);
    assert!(text.ends_with('…') && text.len() < 2 << 20);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]
    #[test]
    fn text_parses_to_the_same_value(text in any_expression(), at in [-2.0..2.0_f64, -2.0..2.0, -2.0..2.0]) {
        let mut g = Graph::new();
        let Some(n) = try_node(&mut g, &text) else {
            return Ok(());
        };
        let shown = g.display(n);
        let again = node(&mut g, &shown);
        if again != n {
            let (a, b) = (run(&mut g, n, at), run(&mut g, again, at));
            prop_assert!(
                (a - b).abs() <= 1e-9 * (1.0 + a.abs()) || (a.is_nan() && b.is_nan()) || a == b,
                "{text}\n{shown}\n{}: {a} {b}", g.display(again)
            );
        }
    }
}
