use std::sync::Arc;

use saltus_expr::{Function1, Graph, Outside, Table};

use crate::common::node;

#[test]
fn all_but_polynomials_and_waves_may_hide() {
    let mut g = Graph::new();
    for (text, expected) in [
        ("exp(x)", true),
        ("exp(-x^2/0.01)", true),
        ("tanh(50*x)", true),
        ("sinh(x) - 1", true),
        ("1/cosh(x)^2", true),
        ("1/(1 + exp(-x))", true),
        ("log(1 + exp(x))", true),
        ("2^x", true),
        ("(1 + x^2)^y", true),
        ("x*sin(y + tanh(z))", true),
        // Inside what is located as a switch it is still hidden.
        ("abs(tanh(x))", true),
        ("if(exp(x) > 2, 1, 0)", true),
        ("if(x > 0, exp(-x), 1)", true),
        ("x^3 - 2*x", false),
        ("1/(1 + x^2)", true),
        ("sin(x)*cos(y) + 3*z^2", false),
        ("sin(x)/2", false),
        ("tan(z)", true),
        ("atan(100*x) + atan2(x, y)", true),
        ("asin(x) + acos(x) + log(x)", true),
        ("sqrt(x) + hypot(x, y) + x^1.5 + x^-0.3", true),
        ("abs(x) + sign(x) + floor(x) + min(x, y) + max(x, y) + mod(x, y)", false),
        ("if(and(x > 0, not(y > 0)), x, y)", false),
        // Functions of constants.
        ("x*exp(2) + tanh(1)^2*y", false),
        ("x*2^0.5", false),
        ("3", false),
    ] {
        let n = node(&mut g, text);
        assert_eq!(g.may_hide_features(n), expected, "{text}");
    }
}

#[test]
fn tables_hide_nothing_but_their_arguments_may() {
    let mut g = Graph::new();
    let table = Arc::new(Table::new("f", vec![0.0, 1.0], vec![0.0, 1.0], Outside::Hold).unwrap());
    let x = g.symbol("x");
    let plain = g.table(table.clone(), x);
    let slope = g.derivative(plain, x);
    assert!(!g.may_hide_features(plain) && !g.may_hide_features(slope));
    let front = g.unary(Function1::Tanh, x);
    let hidden = g.table(table, front);
    assert!(g.may_hide_features(hidden));
}

#[test]
fn corners_and_their_symbols() {
    let mut g = Graph::new();
    let [x, y] = ["x", "y"].map(|name| g.symbol(name));
    for (text, smooth, free_of_x) in [
        ("x*sin(y)", true, true),
        ("x*abs(y)", false, true),
        ("abs(x)", false, false),
        ("if(y > 0, x, 2*x)", false, true),
        ("if(x > 0, y, 2*y)", false, false),
        ("min(y, y + x)", false, false),
        ("hypot(x, y)", true, true),
    ] {
        let n = node(&mut g, text);
        assert_eq!((g.is_smooth(n), g.corners_are_free_of(n, &[x])), (smooth, free_of_x), "{text}");
        assert!(!g.depends_on_any(n, &[]));
        assert!(g.depends_on(n, y) == text.contains('y'), "{text}");
    }
}
