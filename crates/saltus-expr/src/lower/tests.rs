use super::*;
use crate::parse::parse;
use crate::testing::{Symbols, node, value};

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

/// A scope in which parameters are symbols whose numbers are known: n = 3, p = 0.5, zero = 0. `x` is a family of 3.
#[derive(Default)]
struct Parameters {
    structural: bool,
    /// The parameters that were resolved to numbers, in order.
    used: Vec<String>,
}

const KNOWN: [(&str, f64); 3] = [("n", 3.0), ("p", 0.5), ("zero", 0.0)];

impl Scope for Parameters {
    fn resolve(
        &mut self,
        graph: &mut Graph,
        name: &str,
        index: &[i64],
        _: bool,
        span: &Span,
    ) -> Result<NodeId, ExprError> {
        if let Some((_, value)) = KNOWN.iter().find(|(known, _)| *known == name) {
            if self.structural {
                self.used.push(name.into());
                return Ok(graph.constant(*value));
            }
            return Ok(graph.symbol(name));
        }
        match (name, index) {
            ("t", []) => Ok(graph.symbol("t")),
            // A definition, lowered in the same mode.
            ("last", []) => lower(&parse("n - 1 + 1").unwrap(), graph, self),
            ("x", &[i]) if (1..=3).contains(&i) => Ok(graph.symbol(&format!("x{i}"))),
            _ => Err(ExprError::new(format!("no such name: {name}"), span.clone(), "not known")),
        }
    }
    fn set_structural(&mut self, on: bool) -> bool {
        std::mem::replace(&mut self.structural, on)
    }
    fn is_known(&self, graph: &Graph, node: NodeId) -> bool {
        graph.symbols_in(node).iter().all(|name| KNOWN.iter().any(|(known, _)| known == name))
    }
}

/// Lowers a text; also returns the parameters that were resolved to numbers on the way.
fn with_parameters(g: &mut Graph, text: &str) -> (Result<NodeId, ExprError>, Vec<String>) {
    let mut scope = Parameters::default();
    let node = lower(&parse(text).unwrap(), g, &mut scope);
    assert!(!scope.structural, "{text}: the mode was not restored");
    (node, scope.used)
}

#[test]
fn structural_parameters() {
    for (text, expected, used) in [
        // Values stay symbols; indices and bounds are numbers.
        ("2*n*t", "2*n*t", ""),
        ("x[n]", "x3", "n"),
        ("x[n - 1]*n", "n*x2", "n"),
        ("x[last]", "x3", "n"),
        ("sum(i = 1..n, x[i]*p)", "p*x1 + p*x2 + p*x3", "n"),
        ("x[if(p < 1, 1, 99)]", "x1", "p"),
        ("x[sum(i = 1..n - 1, 1)]", "x2", "n"),
        // Both branches are valid: the condition stays.
        ("if(p > 1, x[1], x[2])", "if(1 < p, x1, x2)", ""),
        ("if(t > 1, x[1], x[2])", "if(1 < t, x1, x2)", ""),
        // One branch is invalid: the number of the parameter decides.
        ("sum(i = 1..3, if(i < n, x[i + 1], t))", "if(1 < n, x2, t) + if(2 < n, x3, t) + t", "n"),
        ("if(n <= 3, t, x[4])", "t", "n"),
        ("if(zero, x[4], t)", "t", "zero"),
        ("if(if(n > 3, x[4], 0), x[5], t)", "t", "n"),
        ("and(n > 3, x[4])", "0", "n"),
        ("or(n <= 3, x[4])", "1", "n"),
        ("and(n > 3, x[1])", "and(3 < n, x1)", ""),
        ("or(p, x[1])", "or(p, x1)", ""),
    ] {
        let mut g = Graph::new();
        let (result, mut resolved) = with_parameters(&mut g, text);
        let n = result.unwrap_or_else(|e| panic!("{text}: {e:?}"));
        assert_eq!(n, node(&mut g, expected), "{text}: {}", g.display(n));
        resolved.dedup();
        assert_eq!(resolved.join(" "), used, "{text}");
    }
}

#[test]
fn structural_mistakes() {
    for (text, message) in [
        ("x[p]", "whole number known before the run"),
        ("x[t]", "whole number known before the run"),
        ("x[n + missing]", "no such name: missing"),
        ("x[1/zero]", "division by zero"),
        // The selected branch is the invalid one.
        ("if(n < 4, x[4], t)", "no such name: x"),
        ("if(n > 4, t, x[4])", "no such name: x"),
        ("if(n < 4, x[4], missing)", "no such name: x"),
        ("if(n > 4, x[4], missing)", "no such name: missing"),
        ("and(n > 2, x[4])", "no such name: x"),
        ("or(n > 4, x[4])", "no such name: x"),
        // A condition that is not known before the run does not hide a mistake.
        ("if(n + t > 4, t, x[4])", "no such name: x"),
        ("and(t > 0, x[4])", "no such name: x"),
        // A condition without a finite value.
        ("if(1/zero > 1, x[4], t)", "division by zero"),
    ] {
        let error = with_parameters(&mut Graph::new(), text).0.expect_err(text);
        assert!(error.message.contains(message), "{text}: {error:?}");
    }
}

#[test]
fn a_scope_without_parameters_is_not_affected() {
    let mut g = Graph::new();
    let n = lower(&parse("if(t > 0, t, 2*t)").unwrap(), &mut g, &mut OnlyGust).unwrap();
    assert_eq!(g.display(n), "if(0 < t, t, 2*t)");
    assert!(lower(&parse("if(t > 0, t, missing)").unwrap(), &mut g, &mut OnlyGust).is_err());
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
