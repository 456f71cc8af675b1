//! The syntax tree: an expression as written, with spans.

use crate::error::Span;

/// An expression and its place in the text.
#[derive(Clone, Debug)]
pub struct Expr {
    /// The kind of expression, with its parts.
    pub kind: ExprKind,
    /// Its place in the text.
    pub span: Span,
}

/// The kinds of expression.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ExprKind {
    /// A literal number.
    Number(f64),
    /// `x`, `x[i, j]`, `x'`, `x[i]'`.
    Name {
        /// The identifier.
        name: String,
        /// The indices; empty if there are none.
        index: Vec<Expr>,
        /// Whether it has a prime.
        velocity: bool,
    },
    /// `-a`.
    Negate(Box<Expr>),
    /// `a + b` and other arithmetic.
    Binary {
        /// The operator.
        op: BinaryOp,
        /// Its left side.
        left: Box<Expr>,
        /// Its right side.
        right: Box<Expr>,
    },
    /// `a < b` and other comparisons.
    Compare {
        /// The comparison.
        op: CompareOp,
        /// Its left side.
        left: Box<Expr>,
        /// Its right side.
        right: Box<Expr>,
    },
    /// `f(a, b)`.
    Call {
        /// The function.
        name: String,
        /// The place of its name.
        name_span: Span,
        /// The arguments.
        args: Vec<Expr>,
    },
    /// `sum(i = from..to, body)`.
    Sum {
        /// The running index.
        index: String,
        /// Its first value.
        from: Box<Expr>,
        /// Its last value (inclusive).
        to: Box<Expr>,
        /// The summand.
        body: Box<Expr>,
    },
}

/// Arithmetic operators.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BinaryOp {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `^`
    Pow,
}

/// Comparisons; their value is 1 or 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CompareOp {
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
}

impl CompareOp {
    /// The comparison of two numbers, as 1 or 0.
    #[inline(always)]
    #[must_use]
    pub fn eval(self, a: f64, b: f64) -> f64 {
        let holds = match self {
            Self::Less => a < b,
            Self::LessEqual => a <= b,
            Self::Greater => a > b,
            Self::GreaterEqual => a >= b,
            Self::Equal => a == b,
            Self::NotEqual => a != b,
        };
        if holds { 1.0 } else { 0.0 }
    }

    /// The operator as written.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
            Self::Equal => "==",
            Self::NotEqual => "!=",
        }
    }
}

/// `i = 1..n`, the range of a family.
#[derive(Clone, Debug)]
pub struct IndexRange {
    /// The running index.
    pub index: String,
    /// The place of its name.
    pub index_span: Span,
    /// Its first value.
    pub from: Expr,
    /// Its last value (inclusive).
    pub to: Expr,
}

impl Expr {
    /// Sets the span of this expression and of all its parts. For strings with escapes, whose bytes differ from those
    /// in the file: errors then mark the whole string.
    pub fn cover(&mut self, span: &Span) {
        self.span = span.clone();
        match &mut self.kind {
            ExprKind::Number(_) => {}
            ExprKind::Name { index, .. } => index.iter_mut().for_each(|e| e.cover(span)),
            ExprKind::Negate(a) => a.cover(span),
            ExprKind::Binary { left, right, .. } | ExprKind::Compare { left, right, .. } => {
                left.cover(span);
                right.cover(span);
            }
            ExprKind::Call { name_span, args, .. } => {
                *name_span = span.clone();
                args.iter_mut().for_each(|e| e.cover(span));
            }
            ExprKind::Sum { from, to, body, .. } => {
                from.cover(span);
                to.cover(span);
                body.cover(span);
            }
        }
    }
}
