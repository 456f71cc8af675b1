//! Helpers: a scope of symbols, random expressions, and an interpreter of the syntax
//! tree that is independent of the graph.

use std::sync::Arc;

use proptest::prelude::*;

use saltus_expr::{
    BinaryOp, Expr, ExprError, ExprKind, Function1, Function2, Graph, NodeId, Program, Scalar, Scope, Span, lower,
    parse,
};

/// Every name is a symbol, spelled as written.
pub struct Symbols;

impl Scope for Symbols {
    fn resolve(
        &mut self,
        graph: &mut Graph,
        name: &str,
        index: &[i64],
        velocity: bool,
        span: &Span,
    ) -> Result<NodeId, ExprError> {
        if name == "missing" {
            return Err(ExprError::new("no such name", span.clone(), "not known"));
        }
        let mut text = name.to_owned();
        if !index.is_empty() {
            let index: Vec<String> = index.iter().map(i64::to_string).collect();
            text += &format!("[{}]", index.join(", "));
        }
        if velocity {
            text.push('\'');
        }
        Ok(graph.symbol(&text))
    }
}

/// The node of a random text; `None` if one of its constant parts overflows.
pub fn try_node(graph: &mut Graph, text: &str) -> Option<NodeId> {
    lower(&parse(text).unwrap(), graph, &mut Symbols).ok()
}

/// The node of a text whose names are symbols.
pub fn node(graph: &mut Graph, text: &str) -> NodeId {
    let expr = parse(text).unwrap_or_else(|e| panic!("{text}: {e:?}"));
    lower(&expr, graph, &mut Symbols).unwrap_or_else(|e| panic!("{text}: {e:?}"))
}

/// The value of a text without names.
pub fn value(text: &str) -> f64 {
    let mut graph = Graph::new();
    let n = node(&mut graph, text);
    graph.value(n).unwrap_or_else(|| panic!("{text} is not constant"))
}

/// The symbols of the random expressions.
pub const NAMES: [&str; 3] = ["x", "y", "z"];

/// The value of a node at given x, y, z, computed by a program.
pub fn run(graph: &mut Graph, n: NodeId, at: [f64; 3]) -> f64 {
    let inputs = NAMES.map(|name| graph.symbol(name));
    let program = Program::compile(graph, &inputs, &[n]).unwrap();
    let mut out = [0.0];
    Scalar::new(Arc::new(program)).eval(&at, &mut out);
    out[0]
}

/// Random expressions of smooth functions, defined everywhere.
pub fn smooth() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        3 => prop::sample::select(&NAMES[..]).prop_map(str::to_owned),
        1 => (-30..30_i32).prop_map(|k| format!("({})", f64::from(k) / 8.0)),
    ];
    leaf.prop_recursive(5, 40, 3, |inner| {
        prop_oneof![
            4 => (inner.clone(), prop::sample::select(vec!["+", "-", "*"]), inner.clone())
                .prop_map(|(a, op, b)| format!("({a} {op} {b})")),
            1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a}/(2 + cos({b})))")),
            1 => (inner.clone(), 0..4_i32).prop_map(|(a, p)| format!("(({a})^{p})")),
            1 => inner.clone().prop_map(|a| format!("(-{a})")),
            1 => inner.clone().prop_map(|a| format!("sqrt(1 + ({a})^2)")),
            1 => inner.clone().prop_map(|a| format!("log(1 + ({a})^2)")),
            1 => inner.clone().prop_map(|a| format!("(1 + ({a})^2)^0.7")),
            1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("(2 + sin({a}))^sin({b})")),
            1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("atan2({a}, 2 + sin({b}))")),
            1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("hypot({a}, 1 + ({b})^2)")),
            3 => (prop::sample::select(vec!["sin", "cos", "atan", "tanh"]), inner.clone())
                .prop_map(|(f, a)| format!("{f}({a})")),
            1 => (prop::sample::select(vec!["exp", "sinh", "cosh", "tan"]), inner.clone())
                .prop_map(|(f, a)| format!("{f}(sin({a}))")),
            1 => (prop::sample::select(vec!["asin", "acos"]), inner)
                .prop_map(|(f, a)| format!("{f}(sin({a})/2)")),
        ]
    })
}

/// Random expressions, also with corners and jumps.
pub fn any_expression() -> impl Strategy<Value = String> {
    let op = prop::sample::select(vec!["<", "<=", ">", ">=", "==", "!="]);
    prop_oneof![
        2 => smooth(),
        1 => (smooth(), smooth(), op, smooth(), smooth())
            .prop_map(|(a, b, op, c, d)| format!("if({a} {op} {b}, {c}, {d})*min({a}, {d})")),
        1 => (smooth(), smooth(), smooth())
            .prop_map(|(a, b, c)| format!("max({a}, {b}, {c}) + abs({a}) - sign({b})*floor({c})")),
        1 => (smooth(), smooth())
            .prop_map(|(a, b)| format!("mod({a}, 1.5 + sin({b})) + and({a} > 0, not({b} > 0))")),
    ]
}

/// A value and a first-order bound on its rounding error.
#[derive(Clone, Copy, Debug)]
pub struct Bounded {
    pub value: f64,
    pub error: f64,
}

/// Interprets the tree directly. The error bound is generous: several roundings per operation.
pub fn interpret(expr: &Expr, at: [f64; 3]) -> Bounded {
    let rounded = |value: f64, error: f64| Bounded { value, error: error + 16.0 * f64::EPSILON * value.abs() };
    match &expr.kind {
        ExprKind::Number(value) => rounded(*value, 0.0),
        ExprKind::Name { name, .. } => {
            let k = NAMES.iter().position(|n| n == name).unwrap();
            rounded(at[k], 0.0)
        }
        ExprKind::Negate(a) => {
            let a = interpret(a, at);
            rounded(-a.value, a.error)
        }
        ExprKind::Binary { op, left, right } => {
            let (a, b) = (interpret(left, at), interpret(right, at));
            let (x, y) = (a.value, b.value);
            // Sums may be computed in another order, with an error of the size of the terms.
            let size = 16.0 * f64::EPSILON * (x.abs() + y.abs());
            match op {
                BinaryOp::Add => rounded(x + y, a.error + b.error + size),
                BinaryOp::Sub => rounded(x - y, a.error + b.error + size),
                BinaryOp::Mul => rounded(x * y, a.error * y.abs() + b.error * x.abs()),
                BinaryOp::Div => {
                    let q = x / y;
                    rounded(q, (a.error + b.error * q.abs()) / y.abs())
                }
                BinaryOp::Pow => {
                    let p = x.powf(y);
                    let by_x = (y * x.powf(y - 1.0)).abs() * a.error;
                    let by_y = if b.error > 1e-14 { (p * x.ln()).abs() * b.error } else { 0.0 };
                    rounded(p, by_x + by_y + 64.0 * f64::EPSILON * p.abs())
                }
            }
        }
        ExprKind::Compare { op, left, right } => {
            let (a, b) = (interpret(left, at), interpret(right, at));
            // Too close to decide: either result is acceptable.
            let unsure = (a.value - b.value).abs() <= a.error + b.error;
            let error = if unsure { f64::INFINITY } else { 0.0 };
            Bounded { value: op.eval(a.value, b.value), error }
        }
        ExprKind::Call { name, args, .. } => {
            let args: Vec<Bounded> = args.iter().map(|arg| interpret(arg, at)).collect();
            if name == "if" {
                let chosen = if args[0].value != 0.0 { args[1] } else { args[2] };
                return Bounded { error: chosen.error + args[0].error, ..chosen };
            }
            call(name, &args)
        }
        other => unreachable!("{other:?} is not generated"),
    }
}

fn call(name: &str, args: &[Bounded]) -> Bounded {
    let apply = |v: &[f64]| match (Function1::from_name(name), Function2::from_name(name)) {
        (Some(f), _) => f.eval(v[0]),
        (_, Some(f)) => v[1..].iter().fold(v[0], |a, &b| f.eval(a, b)),
        _ => unreachable!("{name}"),
    };
    let values: Vec<f64> = args.iter().map(|a| a.value).collect();
    let value = apply(&values);
    // The sensitivity to each argument, evaluated at the ends of its interval.
    let mut error = 16.0 * f64::EPSILON * value.abs().max(1.0);
    for k in 0..args.len() {
        for side in [-1.0, 1.0] {
            let mut moved = values.clone();
            moved[k] += side * args[k].error;
            error += 2.0 * (apply(&moved) - value).abs();
        }
        if args[k].error.is_infinite() {
            error = f64::INFINITY;
        }
    }
    Bounded { value, error }
}
