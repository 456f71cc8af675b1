use std::sync::Arc;

use saltus_expr::{Graph, Outside, Table};

use crate::common::{NAMES, node, run, smooth, try_node};
use proptest::prelude::*;

/// Asserts that the derivative of `a` with respect to x is `b`.
fn by_x(a: &str, b: &str) {
    let mut g = Graph::new();
    let (n, x) = (node(&mut g, a), g.symbol("x"));
    let d = g.derivative(n, x);
    let expected = node(&mut g, b);
    assert_eq!(d, expected, "({a})' is {}, not {b}", g.display(d));
}

#[test]
fn identities() {
    for (a, b) in [
        ("3", "0"),
        ("y", "0"),
        ("x", "1"),
        ("x^3", "3*x^2"),
        ("1/x", "-1/x^2"),
        ("x*y + sin(y)", "y"),
        ("sin(2*x)", "2*cos(2*x)"),
        ("cos(x)", "-sin(x)"),
        ("tan(x)", "1 + tan(x)^2"),
        ("asin(x)", "1/sqrt(1 - x^2)"),
        ("acos(x)", "-1/sqrt(1 - x^2)"),
        ("atan(x)", "1/(1 + x^2)"),
        ("sinh(x)", "cosh(x)"),
        ("cosh(x)", "sinh(x)"),
        ("tanh(x)", "1 - tanh(x)^2"),
        ("exp(x*y)", "y*exp(x*y)"),
        ("log(x)", "1/x"),
        ("sqrt(x)", "1/(2*sqrt(x))"),
        ("x^2.5", "2.5*x^1.5"),
        ("x^1.5", "1.5*sqrt(x)"),
        ("2^x", "2^x*log(2)"),
        ("x^y", "y*x^(y - 1)"),
        ("y^x", "y^x*log(y)"),
        ("0^x", "0"),
        ("atan2(x, y)", "y/(x^2 + y^2)"),
        ("atan2(y, x)", "-y/(x^2 + y^2)"),
        ("hypot(x, y)", "if(hypot(x, y) == 0, 0, x/hypot(x, y))"),
        ("abs(x)", "if(x >= 0, 1, -1)"),
        ("abs(y)", "0"),
        ("sign(x) + floor(x) + (x < y) + and(x, y) + not(x)", "0"),
        ("min(x, y)", "if(x <= y, 1, 0)"),
        ("max(y, x)", "if(y >= x, 0, 1)"),
        ("mod(x, y)", "1"),
        ("mod(y, x)", "-floor(y/x)"),
        ("if(x > 0, x^2, y)", "if(x > 0, 2*x, 0)"),
    ] {
        by_x(a, b);
    }
}

#[test]
fn derivatives_of_tables() {
    let mut g = Graph::new();
    let f = Table::new("f", vec![0.0, 1.0, 2.0], vec![0.0, 3.0, 1.0], Outside::Hold).unwrap();
    let x = g.symbol("x");
    let double = g.scale(2.0, x);
    let n = g.table(Arc::new(f), double);
    let d = g.derivative(n, x);
    assert_eq!(run(&mut g, d, [0.25, 0.0, 0.0]), 6.0);
    assert_eq!(run(&mut g, d, [0.5, 0.0, 0.0]), -4.0, "the right-hand slope");
    assert_eq!(run(&mut g, d, [5.0, 0.0, 0.0]), 0.0);
    let second = g.derivative(d, x);
    assert!(g.is_zero(second));
}

#[test]
fn double_pendulum_mass_matrix() {
    let mut g = Graph::new();
    let energy = node(&mut g, "3*0.7^2*a'^2/2 + 1.3/2*(0.7^2*a'^2 + 1.1^2*b'^2 + 2*0.7*1.1*a'*b'*cos(a-b))");
    let [a, b] = ["a'", "b'"].map(|name| g.symbol(name));
    let da = g.derivative(energy, a);
    let daa = g.derivative(da, a);
    let m = g.value(daa).expect("the entry is constant");
    assert!((m - 4.3 * 0.49).abs() < 1e-14);
    let dab = g.derivative(da, b);
    assert!(!g.depends_on_any(dab, &[a, b]));
    let expected = node(&mut g, "cos(a - b)");
    let ratio = g.div(dab, expected);
    assert!((g.value(ratio).expect("a multiple of cos(a - b)") - 1.3 * 0.77).abs() < 1e-14);
    let db = g.derivative(energy, b);
    let dba = g.derivative(db, a);
    assert_eq!(dab, dba, "{} {}", g.display(dab), g.display(dba));
}

#[test]
fn mass_matrix_entries_do_not_contain_velocities() {
    let mut g = Graph::new();
    let energy = node(&mut g, "(x' + 0.8*cos(a)*a')^2/2 + (0.8*sin(a)*a')^2/2");
    let [x, a] = ["x'", "a'"].map(|name| g.symbol(name));
    for (p, q) in [(x, x), (x, a), (a, a)] {
        let d = g.derivative(energy, p);
        let dd = g.derivative(d, q);
        assert!(!g.depends_on_any(dd, &[x, a]), "{}", g.display(dd));
    }
    let dx = g.derivative(energy, x);
    let dxa = g.derivative(dx, a);
    let expected = node(&mut g, "0.8*cos(a)");
    assert_eq!(dxa, expected);
}

#[test]
fn derivatives_are_memoised() {
    let mut g = Graph::new();
    let n = node(&mut g, "sin(x)^3*exp(x*y)");
    let x = g.symbol("x");
    let d = g.derivative(n, x);
    let size = g.len();
    assert_eq!(g.derivative(n, x), d);
    assert_eq!(g.len(), size);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]
    #[test]
    fn agrees_with_differences(
        text in smooth(),
        at in [-1.5..1.5_f64, -1.5..1.5, -1.5..1.5],
        which in 0..3_usize,
    ) {
        let mut g = Graph::new();
        let Some(n) = try_node(&mut g, &text) else {
            return Ok(());
        };
        let s = g.symbol(NAMES[which]);
        let d = g.derivative(n, s);
        let exact = run(&mut g, d, at);
        let mut value = |offset: f64| {
            let mut moved = at;
            moved[which] += offset;
            run(&mut g, n, moved)
        };
        // Central differences with two step sizes: their difference estimates the error of the finer one.
        let mut difference = |h: f64| (value(h) - value(-h)) / (2.0 * h);
        let (coarse, fine) = (difference(2e-4), difference(1e-4));
        let size = value(0.0).abs();
        prop_assume!(size < 1e6 && exact.abs() < 1e6);
        let error = 2.0 * (coarse - fine).abs() + 1e-9 * (1.0 + size + exact.abs());
        prop_assert!((exact - fine).abs() <= error, "{text}: {exact} but {fine}");
    }
}
