//! What the parser returns: the expression as written, with places.

use crate::error::Span;

/// An expression and the bytes it was written in.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands.
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
        /// The indices, empty if none were written.
        index: Vec<Expr>,
        /// Whether a prime followed.
        velocity: bool,
    },
    /// `-a`.
    Negate(Box<Expr>),
    /// `a + b` and the like.
    Binary {
        /// The operator.
        op: BinaryOp,
        /// Its left side.
        left: Box<Expr>,
        /// Its right side.
        right: Box<Expr>,
    },
    /// `a < b` and the like.
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
        /// Where its name stands.
        name_span: Span,
        /// The arguments.
        args: Vec<Expr>,
    },
    /// `sum(i = from..to, body)`.
    Sum {
        /// The index that runs.
        index: String,
        /// Its first value.
        from: Box<Expr>,
        /// Its last value, included.
        to: Box<Expr>,
        /// What is summed.
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

/// Comparisons; they give 1 or 0.
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

/// `i = 1..n`, the head of a family.
#[derive(Clone, Debug)]
pub struct IndexRange {
    /// The index that runs.
    pub index: String,
    /// Where its name stands.
    pub index_span: Span,
    /// Its first value.
    pub from: Expr,
    /// Its last value, included.
    pub to: Expr,
}

impl Expr {
    /// Gives this expression and all its parts one span: for a text whose letters are not those of the file (a string
    /// with escapes), the whole of it is the best place there is.
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
