//! Expressions to graph nodes: names resolved, sums unrolled, constants checked.

use crate::ast::{BinaryOp, Expr, ExprKind};
use crate::error::{ExprError, Span};
use crate::function::{Function1, Function2};
use crate::graph::{Graph, NodeId};
use crate::names::{callable, foreign, nearest};

/// Limit on the terms of one sum.
const MAX_TERMS: i64 = 1_000_000;
/// Limit on the terms of all sums in one expression; those of nested sums multiply.
const MAX_BODIES: usize = 5_000_000;
/// Limit on the size of the graph, in nodes and operands.
const MAX_SIZE: usize = 5_000_000;

/// The meaning of the names in an expression.
pub trait Scope {
    /// The node for a name. `index` holds the values of the indices.
    ///
    /// # Errors
    /// The name does not exist or cannot be used in this way.
    fn resolve(
        &mut self,
        graph: &mut Graph,
        name: &str,
        index: &[i64],
        velocity: bool,
        span: &Span,
    ) -> Result<NodeId, ExprError>;

    /// Calls a function that is not built in, such as a sampled input. `None`: no such function.
    fn call(
        &mut self,
        graph: &mut Graph,
        name: &str,
        args: &[NodeId],
        span: &Span,
    ) -> Option<Result<NodeId, ExprError>> {
        let _ = (graph, name, args, span);
        None
    }

    /// Names of the functions of [`Scope::call`], for suggestions.
    fn functions(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Adds an expression to the graph.
///
/// `if` with a constant condition (and `and`, `or` with a constant first argument) lowers only
/// what is needed, so that `if(i < n, x[i+1], 0)` is valid at the end of a family.
///
/// # Errors
/// A name or function that does not exist, a constant part that is not a finite number (`1/0`),
/// an index that is not a whole number, or an expression too large to unroll.
pub fn lower(expr: &Expr, graph: &mut Graph, scope: &mut dyn Scope) -> Result<NodeId, ExprError> {
    lower_with(expr, graph, scope, &[])
}

/// Like [`lower`], with bound indices: they become constants and shadow names of the scope.
///
/// # Errors
/// Like [`lower`].
pub fn lower_with(
    expr: &Expr,
    graph: &mut Graph,
    scope: &mut dyn Scope,
    locals: &[(String, i64)],
) -> Result<NodeId, ExprError> {
    Lowering::new(graph, scope, locals).lower(expr)
}

/// The value of an index or of the bound of a range, which must be a whole number (to within 1e-9).
///
/// # Errors
/// Like [`lower`]; also if the value is not a constant whole number.
pub fn integer(
    expr: &Expr,
    graph: &mut Graph,
    scope: &mut dyn Scope,
    locals: &[(String, i64)],
) -> Result<i64, ExprError> {
    Lowering::new(graph, scope, locals).integer(expr)
}

struct Lowering<'a> {
    graph: &'a mut Graph,
    scope: &'a mut dyn Scope,
    locals: Vec<(String, i64)>,
    bodies: usize,
}

impl<'a> Lowering<'a> {
    fn new(graph: &'a mut Graph, scope: &'a mut dyn Scope, locals: &[(String, i64)]) -> Self {
        Self { graph, scope, locals: locals.to_vec(), bodies: 0 }
    }

    /// Lowers an expression. Chains such as `a + b + …` are left-associative and handled in a
    /// loop, so that the depth of recursion is that of the nesting.
    fn lower(&mut self, expr: &Expr) -> Result<NodeId, ExprError> {
        let mut spine = Vec::new();
        let mut first = expr;
        while let ExprKind::Binary { left, .. } = &first.kind {
            spine.push(first);
            first = left;
        }
        let mut node = self.leaf(first)?;
        for joint in spine.into_iter().rev() {
            if let ExprKind::Binary { op, right, .. } = &joint.kind {
                let right_node = self.lower(right)?;
                node = self.binary(*op, node, right_node, right, &joint.span)?;
            }
        }
        Ok(node)
    }

    fn binary(&mut self, op: BinaryOp, a: NodeId, b: NodeId, right: &Expr, span: &Span) -> Result<NodeId, ExprError> {
        if op == BinaryOp::Div && self.graph.is_zero(b) {
            return Err(ExprError::new("division by zero", right.span.clone(), "this is zero"));
        }
        if op == BinaryOp::Div {
            self.graph.note_divisor(b);
        }
        let node = match op {
            BinaryOp::Add => self.graph.add(a, b),
            BinaryOp::Sub => self.graph.sub(a, b),
            BinaryOp::Mul => self.graph.mul(a, b),
            BinaryOp::Div => self.graph.div(a, b),
            BinaryOp::Pow => self.graph.pow(a, b),
        };
        self.checked(node, span)
    }

    /// Lowers anything but a binary operation.
    fn leaf(&mut self, expr: &Expr) -> Result<NodeId, ExprError> {
        let span = &expr.span;
        let node = match &expr.kind {
            ExprKind::Number(value) => self.graph.constant(*value),
            ExprKind::Name { name, index, velocity } => self.name(name, index, *velocity, span)?,
            ExprKind::Negate(inner) => {
                let inner = self.lower(inner)?;
                self.graph.neg(inner)
            }
            ExprKind::Binary { .. } => self.lower(expr)?,
            ExprKind::Compare { op, left, right } => {
                let (a, b) = (self.lower(left)?, self.lower(right)?);
                self.graph.compare(*op, a, b)
            }
            ExprKind::Call { name, name_span, args } => self.call(name, name_span, args, span)?,
            ExprKind::Sum { index, from, to, body } => self.sum(index, from, to, body, span)?,
        };
        self.checked(node, span)
    }

    /// Rejects constants that are not finite, and graphs that are too large.
    fn checked(&mut self, node: NodeId, span: &Span) -> Result<NodeId, ExprError> {
        if let Some(value) = self.graph.value(node)
            && !value.is_finite()
        {
            let what = if value.is_nan() { "not a number" } else { "infinite" };
            return Err(ExprError::new(
                format!("a constant part of the expression is {what}"),
                span.clone(),
                format!("this is {what}"),
            ));
        }
        self.graph.note_part(node);
        if self.graph.size() > MAX_SIZE {
            return Err(too_large(span, format!("more than {MAX_SIZE} operations and operands")));
        }
        Ok(node)
    }

    fn name(&mut self, name: &str, index: &[Expr], velocity: bool, span: &Span) -> Result<NodeId, ExprError> {
        let local = self.locals.iter().rev().find(|(local, _)| local == name);
        let value = match local {
            Some((_, k)) => Some(*k as f64),
            None if name == "pi" => Some(std::f64::consts::PI),
            None => None,
        };
        if let Some(value) = value {
            let kind = if local.is_some() { "an index" } else { "a constant" };
            if velocity {
                let message = format!("`{name}` is {kind} and has no velocity");
                return Err(ExprError::new(message, span.clone(), "remove the prime"));
            }
            if !index.is_empty() {
                let message = format!("`{name}` is {kind} and cannot be indexed");
                return Err(ExprError::new(message, span.clone(), "remove the index"));
            }
            return Ok(self.graph.constant(value));
        }
        let index = index.iter().map(|i| self.integer(i)).collect::<Result<Vec<_>, _>>()?;
        self.scope.resolve(self.graph, name, &index, velocity, span)
    }

    fn integer(&mut self, expr: &Expr) -> Result<i64, ExprError> {
        let node = self.lower(expr)?;
        let Some(value) = self.graph.value(node) else {
            return Err(ExprError::new(
                "an index or bound must be a whole number known before the run",
                expr.span.clone(),
                "not constant",
            ));
        };
        let whole = value.round();
        if (value - whole).abs() > 1e-9 || whole.abs() > 9e15 {
            return Err(ExprError::new(
                "an index or bound must be a whole number known before the run",
                expr.span.clone(),
                format!("this is {value}"),
            ));
        }
        Ok(whole as i64)
    }

    fn sum(&mut self, index: &str, from: &Expr, to: &Expr, body: &Expr, span: &Span) -> Result<NodeId, ExprError> {
        let (first, last) = (self.integer(from)?, self.integer(to)?);
        if last.saturating_sub(first) >= MAX_TERMS {
            let terms = last.saturating_sub(first).saturating_add(1);
            return Err(too_large(span, format!("{terms} terms; the limit is {MAX_TERMS}")));
        }
        let mut terms = Vec::new();
        for k in first..=last {
            self.bodies += 1;
            if self.bodies > MAX_BODIES {
                return Err(too_large(span, "too many terms in nested sums".into()));
            }
            self.locals.push((index.to_owned(), k));
            let term = self.lower(body);
            self.locals.pop();
            terms.push(term?);
        }
        Ok(self.graph.sum(&terms))
    }

    fn call(&mut self, name: &str, name_span: &Span, args: &[Expr], span: &Span) -> Result<NodeId, ExprError> {
        match (name, args) {
            ("if", [condition, yes, no]) => return self.choice(condition, yes, no),
            ("and" | "or", [first, second]) => {
                let a = self.lower(first)?;
                // A constant that decides the result makes the second argument unnecessary.
                if let Some(value) = self.graph.value(a)
                    && (value != 0.0) == (name == "or")
                {
                    return Ok(self.graph.constant(f64::from(u8::from(name == "or"))));
                }
                let b = self.lower(second)?;
                let f = if name == "or" { Function2::Or } else { Function2::And };
                return Ok(self.graph.binary(f, a, b));
            }
            _ => {}
        }
        let nodes = args.iter().map(|arg| self.lower(arg)).collect::<Result<Vec<_>, _>>()?;
        if let (Some(f), &[a]) = (Function1::from_name(name), nodes.as_slice()) {
            return Ok(self.graph.unary(f, a));
        }
        if let (Some(f), [a, rest @ ..]) = (Function2::from_name(name), nodes.as_slice())
            && (rest.len() == 1 || (rest.len() > 1 && matches!(f, Function2::Min | Function2::Max)))
        {
            return Ok(rest.iter().fold(*a, |a, &b| self.graph.binary(f, a, b)));
        }
        match self.scope.call(self.graph, name, &nodes, span) {
            Some(result) => result,
            None => Err(self.unknown_function(name, name_span)),
        }
    }

    fn choice(&mut self, condition: &Expr, yes: &Expr, no: &Expr) -> Result<NodeId, ExprError> {
        let condition = self.lower(condition)?;
        match self.graph.value(condition) {
            Some(value) if value != 0.0 => self.lower(yes),
            Some(_) => self.lower(no),
            None => {
                let (a, b) = (self.lower(yes)?, self.lower(no)?);
                Ok(self.graph.select(condition, a, b))
            }
        }
    }

    fn unknown_function(&mut self, name: &str, span: &Span) -> ExprError {
        let error = |label: &str| ExprError::new(format!("unknown function `{name}`"), span.clone(), label);
        if let Some(help) = foreign(name) {
            return error("not defined").with_help(help);
        }
        let is_value = name == "pi"
            || self.locals.iter().any(|(local, _)| local == name)
            || self.scope.resolve(self.graph, name, &[], false, span).is_ok();
        if is_value {
            return error("a value, not a function").with_help(format!("to multiply, write `{name}*(…)`"));
        }
        let extra = self.scope.functions();
        let mut known: Vec<&str> = callable().collect();
        known.extend(extra.iter().map(String::as_str));
        match nearest(name, known.iter().copied()) {
            Some(near) => error("not defined").with_help(format!("did you mean `{near}`?")),
            None => error("not defined").with_help(format!("available functions: {}", known.join(", "))),
        }
    }
}

fn too_large(span: &Span, label: String) -> ExprError {
    ExprError::new("the expression is too large", span.clone(), label)
}
