use saltus_expr::{ExprError, Graph, NodeId, Scope, Span, integer, lower, lower_with, parse};

use crate::common::{Symbols, value};

fn fails(text: &str) -> ExprError {
    let mut g = Graph::new();
    lower(&parse(text).unwrap(), &mut g, &mut Symbols).expect_err(text)
}

#[test]
fn mistakes() {
    for (text, span, message, help) in [
        ("1/0", 2..3, "division by zero", ""),
        ("x/(1 - 1)", 2..9, "division by zero", ""),
        ("1 + log(0)", 4..10, "infinite", ""),
        ("1 + log(-1)", 4..11, "not a number", ""),
        ("x + sqrt(-1)", 4..12, "not a number", ""),
        ("1e300*1e300", 0..11, "infinite", ""),
        ("0^-1", 0..4, "infinite", ""),
        ("ln(x)", 0..2, "unknown function `ln`", "log(x)"),
        ("pow(x, 2)", 0..3, "unknown function `pow`", "a^b"),
        ("arctan(x)", 0..6, "unknown function `arctan`", "`atan`"),
        ("fabs(x)", 0..4, "unknown function `fabs`", "`abs`"),
        ("sine_(x)", 0..5, "unknown function", ""),
        ("coz(missing2)", 0..3, "unknown function `coz`", ""),
        ("x(2)", 0..1, "unknown function `x`", "`x*(…)`"),
        ("pi(2)", 0..2, "unknown function `pi`", "`pi*(…)`"),
        ("2*missing", 2..9, "no such name", ""),
        ("pi'", 0..3, "`pi` is a constant and has no velocity", ""),
        ("pi[1]", 0..5, "`pi` is a constant and cannot be indexed", ""),
        ("sum(i = 1..3, i')", 14..16, "`i` is an index", ""),
        ("x[y]", 2..3, "whole number known before the run", ""),
        ("x[1.5]", 2..5, "whole number known before the run", ""),
        ("sum(i = 1..n, i)", 11..12, "whole number known before the run", ""),
        ("sum(i = 1..1e7, i)", 0..18, "too large", ""),
        ("sum(i = 1..1e5, sum(j = 1..1e5, 1))", 16..34, "too large", ""),
        ("sum(i = 1..1e5, sum(j = 1..200, sin(x[i]*x[j])))", 32..47, "too large", ""),
    ] {
        let error = fails(text);
        if text != "sum(i = 1..1e5, sum(j = 1..200, sin(x[i]*x[j])))" {
            assert_eq!(error.span, span, "{text}: {error:?}");
        }
        assert!(error.message.contains(message), "{text}: {error:?}");
        assert!(error.help.unwrap_or_default().contains(help), "{text}");
    }
}

/// A scope with one value, `t`, and one function.
struct OnlyGust;

impl Scope for OnlyGust {
    fn resolve(&mut self, graph: &mut Graph, name: &str, _: &[i64], _: bool, span: &Span) -> Result<NodeId, ExprError> {
        if name == "t" {
            return Ok(graph.symbol("t"));
        }
        Err(ExprError::new("no such name", span.clone(), "not known"))
    }
    fn call(&mut self, graph: &mut Graph, name: &str, args: &[NodeId], _: &Span) -> Option<Result<NodeId, ExprError>> {
        (name == "gust").then(|| Ok(graph.scale(10.0, args[0])))
    }
    fn functions(&self) -> Vec<String> {
        vec!["gust".into()]
    }
}

#[test]
fn functions_of_the_scope() {
    let mut g = Graph::new();
    let n = lower(&parse("gust(2*t)").unwrap(), &mut g, &mut OnlyGust).unwrap();
    assert_eq!(g.display(n), "20*t");
    let error = lower(&parse("gsut(t)").unwrap(), &mut g, &mut OnlyGust).unwrap_err();
    assert_eq!(error.help.as_deref(), Some("did you mean `gust`?"));
    let error = lower(&parse("coss(t)").unwrap(), &mut g, &mut OnlyGust).unwrap_err();
    assert_eq!(error.help.as_deref(), Some("did you mean `cos`?"));
    let error = lower(&parse("zzzzz(t)").unwrap(), &mut g, &mut OnlyGust).unwrap_err();
    assert!(error.help.unwrap().ends_with("sum, gust"));
}

#[test]
fn only_the_selected_branch_is_lowered() {
    assert_eq!(value("if(1, 2, missing)"), 2.0);
    assert_eq!(value("if(0, 1/0, 3)"), 3.0);
    assert_eq!(value("and(0, missing)"), 0.0);
    assert_eq!(value("or(1, missing)"), 1.0);
    assert_eq!(value("sum(i = 1..3, if(i < 3, i, 10))"), 13.0);
}

#[test]
fn locals_are_constants_and_shadow_names() {
    let mut g = Graph::new();
    let locals = [("i".to_owned(), 3), ("x".to_owned(), 5)];
    let expr = parse("i + x + y[i + 1]'").unwrap();
    let n = lower_with(&expr, &mut g, &mut Symbols, &locals).unwrap();
    assert_eq!(g.display(n), "y[4]' + 8");
    let expr = parse("sum(i = 1..2, i) + i").unwrap();
    let n = lower_with(&expr, &mut g, &mut Symbols, &locals).unwrap();
    assert_eq!(g.value(n), Some(6.0));
    let expr = parse("2*i - 1 + 1e-12").unwrap();
    assert_eq!(integer(&expr, &mut g, &mut Symbols, &locals), Ok(5));
    let expr = parse("1e17").unwrap();
    assert!(integer(&expr, &mut g, &mut Symbols, &locals).is_err());
}

#[test]
fn the_deepest_expressions_can_be_lowered() {
    let mut g = Graph::new();
    let nested = format!("{}x{}", "sin(-".repeat(95), ")".repeat(95));
    let chain = vec!["x*y"; 900].join(" - ");
    let sums = format!("{}x{}", "sum(i = 1..1, 1 + ".repeat(90), ")".repeat(90));
    for text in [nested, chain, sums] {
        let expr = parse(&text).unwrap();
        lower(&expr.clone(), &mut g, &mut Symbols).unwrap();
        assert!(!format!("{expr:?}").is_empty());
    }
}
