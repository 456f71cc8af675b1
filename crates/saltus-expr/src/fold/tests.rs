use std::sync::Arc;

use super::*;
use crate::parse::parse;
use crate::table::{Outside, Table};
use crate::testing::{NAMES, any_expression, interpret, node, run, smooth, try_node};
use proptest::prelude::*;

/// The values of the symbols whose flag is set.
fn bind(g: &mut Graph, at: [f64; 3], flags: [bool; 3]) -> Vec<(NodeId, f64)> {
    (0..3).filter(|&k| flags[k]).map(|k| (g.symbol(NAMES[k]), at[k])).collect()
}

#[test]
fn folding_simplifies() {
    for (text, p, expected) in [
        ("p*x", 1.0, "x"),
        ("p*x", 0.0, "0"),
        ("p*x - 3*x", 3.0, "0"),
        ("2*(p + x) + q", 4.0, "q + 2*(x + 4)"),
        ("x^p", 2.0, "x^2"),
        ("x^p", 0.5, "sqrt(x)"),
        ("x^p", 0.3, "x^0.3"),
        ("if(p > 0, x, y)", 1.0, "x"),
        ("if(p > 0, x, y)", -1.0, "y"),
        ("and(p, x > 0)", 0.0, "0"),
        ("min(p*x, 2*x)", 2.0, "2*x"),
        ("sin(p)*x", 0.0, "0"),
        ("x + y", 5.0, "x + y"),
    ] {
        let mut g = Graph::new();
        // p is created last, so that its id is the greatest.
        for name in ["x", "y", "q", "p"] {
            g.symbol(name);
        }
        let (n, p_node) = (node(&mut g, text), g.symbol("p"));
        let mut folded = g.fold(&[(p_node, p)]);
        let new = folded.node(n);
        let expected = node(&mut folded.graph, expected);
        assert_eq!(new, expected, "{text}: {}", folded.graph.display(new));
    }
}

#[test]
fn a_division_by_a_zero_parameter_stays_a_division() {
    let mut g = Graph::new();
    let (n, y) = (node(&mut g, "x/y"), g.symbol("y"));
    let mut folded = g.fold(&[(y, 0.0)]);
    let new = folded.node(n);
    assert_eq!(run(&mut folded.graph, new, [1.0, 9.0, 9.0]), f64::INFINITY);
    assert_eq!(run(&mut folded.graph, new, [-1.0, 9.0, 9.0]), f64::NEG_INFINITY);
}

#[test]
fn tables_keep_their_identity_and_fold() {
    let mut g = Graph::new();
    let table = Arc::new(Table::new("f", vec![0.0, 1.0, 2.0], vec![0.0, 3.0, 1.0], Outside::Hold).unwrap());
    let (x, y) = (g.symbol("x"), g.symbol("y"));
    let product = g.mul(x, y);
    let n = g.table(table.clone(), product);
    let slope = g.derivative(n, x);

    let mut half = g.fold(&[(y, 2.0)]);
    let (n_half, slope_half) = (half.node(n), half.node(slope));
    let twice_x = half.node(product);
    assert_eq!(half.graph.table_arguments(&table), [twice_x]);
    assert_eq!(run(&mut half.graph, n_half, [0.25, 0.0, 0.0]), 1.5);
    assert_eq!(run(&mut half.graph, slope_half, [0.25, 0.0, 0.0]), 6.0);
    // The same Arc gives the same node.
    assert_eq!(half.graph.table(table, twice_x), n_half);

    let full = g.fold(&[(x, 0.75), (y, 2.0)]);
    assert_eq!(full.graph.value(full.node(n)), Some(2.0));
    assert_eq!(full.graph.value(full.node(slope)), Some(-4.0));
}

#[test]
fn other_symbols_keep_their_order() {
    let mut g = Graph::new();
    let n = node(&mut g, "c*b*a + p");
    let p = g.symbol("p");
    let folded = g.fold(&[(p, 1.0)]);
    assert_eq!(folded.graph.symbols_in(folded.node(n)), ["c", "b", "a"]);
}

#[test]
fn the_last_number_of_a_symbol_is_used() {
    let mut g = Graph::new();
    let x = g.symbol("x");
    let folded = g.fold(&[(x, 1.0), (x, 2.0)]);
    assert_eq!(folded.graph.value(folded.node(x)), Some(2.0));
}

#[test]
#[should_panic(expected = "only symbols")]
fn only_symbols_can_be_bound() {
    let mut g = Graph::new();
    let n = node(&mut g, "x + y");
    let _ = g.fold(&[(n, 1.0)]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]
    #[test]
    fn values_are_preserved(
        text in any_expression(),
        at in [-2.0..2.0_f64, -2.0..2.0, -2.0..2.0],
        flags in [any::<bool>(), any::<bool>(), any::<bool>()],
    ) {
        let expected = interpret(&parse(&text).unwrap(), at);
        prop_assume!(expected.value.is_finite() && expected.error.is_finite());
        let mut g = Graph::new();
        let Some(n) = try_node(&mut g, &text) else {
            return Ok(());
        };
        let values = bind(&mut g, at, flags);
        let mut folded = g.fold(&values);
        let new = folded.node(n);
        let unfolded = run(&mut g, n, at);
        // Bound symbols must not have any effect.
        let mut wrong = at;
        (0..3).filter(|&k| flags[k]).for_each(|k| wrong[k] = f64::NAN);
        let got = run(&mut folded.graph, new, wrong);
        prop_assert!((got - expected.value).abs() <= expected.error, "{text} at {at:?}: {got} but {expected:?}");
        prop_assert!((got - unfolded).abs() <= 2.0 * expected.error, "{text} at {at:?}: {got} but {unfolded}");
        for (k, name) in NAMES.iter().enumerate() {
            let symbol = folded.graph.symbol(name);
            prop_assert!(!flags[k] || !folded.graph.depends_on(new, symbol), "{text} still depends on {name}");
        }
    }

    #[test]
    fn binding_all_symbols_gives_constants(text in any_expression(), at in [-2.0..2.0_f64, -2.0..2.0, -2.0..2.0]) {
        let mut g = Graph::new();
        let Some(n) = try_node(&mut g, &text) else {
            return Ok(());
        };
        let values = bind(&mut g, at, [true; 3]);
        let x = g.symbol("x");
        g.derivative(n, x);
        let folded = g.fold(&values);
        for old in g.ids() {
            prop_assert!(folded.graph.value(folded.node(old)).is_some(), "{text}: {}", g.display(old));
        }
    }

    #[test]
    fn binding_nothing_changes_nothing(text in any_expression(), at in [-2.0..2.0_f64, -2.0..2.0, -2.0..2.0]) {
        let mut g = Graph::new();
        let Some(n) = try_node(&mut g, &text) else {
            return Ok(());
        };
        let mut folded = g.fold(&[]);
        let new = folded.node(n);
        let (before, after) = (run(&mut g, n, at), run(&mut folded.graph, new, at));
        prop_assert!(before == after || before.is_nan() && after.is_nan(), "{text}: {before} became {after}");
    }

    #[test]
    fn folding_commutes_with_differentiation(text in smooth(), at in [-1.5..1.5_f64, -1.5..1.5, -1.5..1.5]) {
        let mut g = Graph::new();
        let Some(n) = try_node(&mut g, &text) else {
            return Ok(());
        };
        let x = g.symbol("x");
        let before = g.derivative(n, x);
        let values = bind(&mut g, at, [false, true, true]);
        let mut folded = g.fold(&values);
        let (before, new, x) = (folded.node(before), folded.node(n), folded.node(x));
        let after = folded.graph.derivative(new, x);
        let (before, after) = (run(&mut folded.graph, before, at), run(&mut folded.graph, after, at));
        prop_assume!(before.abs() < 1e6);
        prop_assert!((before - after).abs() <= 1e-8 * (1.0 + before.abs()), "{text}: {before} but {after}");
    }
}
