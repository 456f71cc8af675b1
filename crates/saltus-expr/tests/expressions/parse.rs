use saltus_expr::{ExprKind, parse, parse_at, parse_range_at, parse_target_at};

use crate::common::value;
use proptest::prelude::*;

#[test]
fn precedence() {
    for (text, expected) in [
        ("-2^2", -4.0),
        ("2^3^2", 512.0),
        ("2^-1", 0.5),
        ("2^-2^2", 0.0625),
        ("-2^-2", -0.25),
        ("8/4*2", 4.0),
        ("8/4/2", 1.0),
        ("1 - 2 - 3", -4.0),
        ("1 + 2*3", 7.0),
        ("2*-3", -6.0),
        ("2*-3^2", -18.0),
        ("--3", 3.0),
        ("+3 - +2", 1.0),
        ("(1 + 2)*3", 9.0),
        ("1 + 1 < 3", 1.0),
        ("1 < 2 - 2", 0.0),
        ("2 == 2", 1.0),
        ("2 != 2", 0.0),
        ("3 >= 3", 1.0),
        ("if(1 < 2, 5, 6)", 5.0),
        ("min(3, 1, 2)", 1.0),
        ("max(3, 1, 2)", 3.0),
        ("mod(-1, 3)", 2.0),
        ("and(1, 2) + or(0, 0) + not(0)", 2.0),
        ("sum(i = 1..4, i^2)", 30.0),
        ("sum(i = 1..0, i)", 0.0),
        ("sum(i = 1..3, sum(j = i..3, i*j))", 25.0),
        ("hypot(3, 4)", 5.0),
        ("atan2(0, -1) - pi", 0.0),
        ("log(exp(1))", 1.0),
        (".5 + 1.", 1.5),
        ("1e2 + 2.5E+1 + 1e-1", 125.1),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn names() {
    let name = |text: &str| match parse(text).unwrap().kind {
        ExprKind::Name { name, index, velocity } => (name, index.len(), velocity),
        other => panic!("{other:?}"),
    };
    assert_eq!(name("θ"), ("θ".into(), 0, false));
    assert_eq!(name("y'"), ("y".into(), 0, true));
    assert_eq!(name("y\u{2019}"), ("y".into(), 0, true));
    assert_eq!(name("x[i + 1]"), ("x".into(), 1, false));
    assert_eq!(name("x[1, j]'"), ("x".into(), 2, true));
}

#[test]
fn spans_are_shifted() {
    let expr = parse_at("a + sin(b)", 100).unwrap();
    assert_eq!(expr.span, 100..110);
    let ExprKind::Binary { right, .. } = expr.kind else { panic!() };
    assert_eq!(right.span, 104..110);
    assert_eq!(parse_at("a + $", 100).unwrap_err().span, 104..105);
    assert_eq!(parse_at("a +", 100).unwrap_err().span, 103..103);
    assert_eq!(parse_at("2x", 100).unwrap_err().span, 100..102);
    assert_eq!(parse_at("a < b < c", 100).unwrap_err().span, 106..107);
}

#[test]
fn mistakes() {
    for (text, span, message, help) in [
        ("", 0..0, "empty", ""),
        ("  ", 2..2, "empty", ""),
        ("1 +", 3..3, "ends where a value should follow", ""),
        ("* 2", 0..1, "expected a value, found `*`", ""),
        ("2x", 0..2, "without an operator", "`2*x`"),
        ("a b", 0..3, "without an operator", "`a*b`"),
        ("2(x+1)", 0..2, "without an operator", "`2*(…)`"),
        ("(a)(b)", 2..4, "without an operator", "`(…)*(…)`"),
        ("(a)b", 2..4, "without an operator", "`(…)*b`"),
        ("1.2.3", 0..5, "without an operator", ""),
        ("x = 1", 2..3, "`=` is not an operator", "`==`"),
        ("if(x = 1, 2, 3)", 5..6, "`=` is not an operator", "`==`"),
        ("a < b < c", 6..7, "chained", "`and(a < b, b < c)`"),
        ("0 <= x + 1 < 2", 11..12, "chained", "`and(0 <= x + 1, x + 1 < 2)`"),
        ("a ** b", 2..4, "`**`", "`a^b`"),
        ("a && b", 2..4, "`&&`", "and(a, b)"),
        ("a || b", 2..4, "`||`", "or(a, b)"),
        ("!a", 0..1, "`!`", "not(a)"),
        ("x'[i]", 0..3, "index comes before the prime", "`x[…]'`"),
        ("y''", 0..3, "accelerations", ""),
        ("x[1]''", 0..6, "accelerations", ""),
        ("(x)'", 3..4, "can only follow the name", "`y'`"),
        ("sin(x)'", 6..7, "can only follow the name", "`y'`"),
        ("(a", 0..1, "never closed", "`)`"),
        ("sin(a", 3..4, "never closed", "`)`"),
        ("x[1", 1..2, "never closed", "`]`"),
        ("a)", 1..2, "unmatched", ""),
        ("a]", 1..2, "unmatched", ""),
        ("(a]", 2..3, "unmatched", ""),
        ("2[1]", 1..2, "only names can be indexed", "x[i]"),
        ("1, 5", 1..2, "comma", "decimals"),
        ("1..2", 1..3, "range", "sum"),
        ("sin", 0..3, "`sin` is a function", "`sin(…)`"),
        ("if + 1", 0..2, "`if` is a function", "if(condition, a, b)"),
        ("sin(1, 2)", 0..9, "`sin` takes 1 argument", ""),
        ("sin()", 0..5, "`sin` takes 1 argument", ""),
        ("atan2(1)", 0..8, "`atan2` takes 2 arguments", ""),
        ("if(1, 2)", 0..8, "`if` takes 3 arguments", "condition"),
        ("min(1)", 0..6, "`min` takes 2 or more arguments", ""),
        ("and(1, 2, 3)", 0..12, "`and` takes 2 arguments", "nest"),
        ("sum(1, 2)", 4..5, "name of its index", "i = 1..n"),
        ("sum(i, 2)", 5..6, "`=` after the name", "i = 1..n"),
        ("sum(i = 1, 2)", 9..10, "`..` between its bounds", "i = 1..n"),
        ("sum(i = 1..2)", 12..13, "needs a body", "sum(i = 1..n, body)"),
        ("sum(t = 1..2, t)", 4..5, "`t` cannot be an index", ""),
        ("sum(i = 1..2, i)'", 16..17, "can only follow", ""),
    ] {
        let error = parse(text).expect_err(text);
        assert_eq!(error.span, span, "{text}: {error:?}");
        assert!(error.message.contains(message), "{text}: {error:?}");
        assert!(!error.message.ends_with('.') && !error.label.is_empty(), "{text}");
        assert!(error.help.unwrap_or_default().contains(help), "{text}");
    }
}

#[test]
fn targets_and_ranges() {
    assert!(parse_target_at("x", 0).is_ok());
    assert!(parse_target_at("x[n]", 0).is_ok());
    assert_eq!(parse_target_at("x'", 7).unwrap_err().span, 7..9);
    assert_eq!(parse_target_at("x + 1", 7).unwrap_err().span, 7..12);
    let range = parse_range_at(" i = 1..n-1 ", 10).unwrap();
    assert_eq!((range.index.as_str(), range.index_span), ("i", 11..12));
    assert_eq!((range.from.span, range.to.span), (15..16, 18..21));
    assert!(parse_range_at("i = 1", 0).is_err());
    assert!(parse_range_at("i = 1..2..3", 0).is_err());
    assert!(parse_range_at("i = 1..n, x", 0).is_err());
}

#[test]
fn depth_is_bounded() {
    for unit in ["(", "-", "sin(", "x[", "2^", "if(1,", "sum(i=1..2,", "+", "(-"] {
        let error = parse(&unit.repeat(100_000)).unwrap_err();
        assert!(error.message.contains("nested"), "{unit}: {error:?}");
    }
    let nested = |k: usize| format!("{}1{}", "(".repeat(k), ")".repeat(k));
    assert!(parse(&nested(150)).is_ok());
    for operator in ["+", "*", "-", "/"] {
        let chain = vec!["1"; 100_000].join(operator);
        assert!(parse(&chain).unwrap_err().message.contains("operations"));
        let chain = vec!["1"; 900].join(operator);
        assert!(parse(&chain).is_ok());
    }
    // Heights of nested chains add up.
    let mut deep = String::from("1");
    for _ in 0..150 {
        deep = format!("({deep}{})", "+1".repeat(50));
    }
    assert!(parse(&deep).unwrap_err().message.contains("operations"));
}

proptest! {
    #[test]
    fn arbitrary_text_never_panics(text in any::<String>(), offset in 0..1000_usize) {
        let _ = parse_at(&text, offset);
        let _ = parse_range_at(&text, offset);
        let _ = parse_target_at(&text, offset);
    }

    #[test]
    fn nearly_valid_text_never_panics(
        parts in prop::collection::vec(prop::sample::select(vec![
            "x", "y'", "[", "]", "(", ")", "1", "2.5e3", "..", ",", "sum(i = 1..n,", "if(", "sin",
            "+", "-", "*", "/", "^", "<", "==", "=", "'", "θ", " ", "²", "!", "min(", "i", "1.",
        ]), 0..30)
    ) {
        let text = parts.concat();
        let result = parse(&text);
        if let Err(error) = result {
            prop_assert!(error.span.start <= error.span.end && error.span.end <= text.len());
            prop_assert!(text.get(error.span).is_some());
        }
    }
}
