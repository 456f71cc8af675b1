//! Tokens to expressions: a Pratt parser with bounded depth and errors that say what to write instead.

use crate::ast::{BinaryOp, CompareOp, Expr, ExprKind, IndexRange};
use crate::error::{ExprError, Span};
use crate::lex::{Kind, Token, lex};

/// Limit on nested parentheses, calls, signs and exponents.
const MAX_NESTING: usize = 200;
/// Limit on the height of the tree, to which long chains `a + b + …` contribute as well: recursive
/// traversal, cloning and dropping must not overflow the stack.
const MAX_HEIGHT: usize = 1000;

/// Errors and trees are boxed inside the parser: its functions are recursive, and unoptimised
/// code keeps every value on the stack.
type Mistake = Box<ExprError>;

// Binding powers: the operand of a sign binds tighter than `*`, looser than `^`.
const SUM: u8 = 1;
const PRODUCT: u8 = 2;
const SIGNED: u8 = 3;
const POWER: u8 = 4;

/// Parses an expression.
///
/// ```
/// assert!(saltus_expr::parse("-k*x - c*x' + F*cos(w*t)").is_ok());
/// let error = saltus_expr::parse("a < b < c").unwrap_err();
/// assert!(error.help.unwrap().contains("and(a < b, b < c)"));
/// ```
///
/// # Errors
/// The first error, with its place.
pub fn parse(text: &str) -> Result<Expr, ExprError> {
    parse_at(text, 0)
}

/// Parses an expression that starts `offset` bytes into a file: all spans are shifted by it.
///
/// # Errors
/// The first error, with its place.
pub fn parse_at(text: &str, offset: usize) -> Result<Expr, ExprError> {
    whole(text, offset, |parser| Ok(*parser.expression()?.expr))
}

/// Parses the range of a family, `i = 1..n`.
///
/// # Errors
/// The first error, with its place.
pub fn parse_range_at(text: &str, offset: usize) -> Result<IndexRange, ExprError> {
    whole(text, offset, |parser| Ok(parser.range()?.0))
}

/// Parses a left-hand side: a name, optionally indexed, without a prime.
///
/// # Errors
/// The first error, with its place.
pub fn parse_target_at(text: &str, offset: usize) -> Result<Expr, ExprError> {
    let expr = parse_at(text, offset)?;
    match &expr.kind {
        ExprKind::Name { velocity: false, .. } => Ok(expr),
        ExprKind::Name { velocity: true, .. } => {
            Err(ExprError::new("the left-hand side cannot be a velocity", expr.span, "a velocity")
                .with_help("remove the prime"))
        }
        _ => Err(ExprError::new("the left-hand side must be a name, such as `x` or `x[n]`", expr.span, "not a name")),
    }
}

/// Applies a rule that must consume the whole text.
fn whole<T>(text: &str, offset: usize, rule: impl FnOnce(&mut Parser) -> Result<T, Mistake>) -> Result<T, ExprError> {
    let tokens = lex(text).map_err(|mut error| {
        error.span = error.span.start + offset..error.span.end + offset;
        error
    })?;
    let mut parser = Parser { text, tokens, at: 0, nesting: 0, offset };
    let result = rule(&mut parser).map_err(|mistake| *mistake)?;
    match parser.peek() {
        Kind::End => Ok(result),
        _ => Err(*parser.out_of_place()),
    }
}

/// An expression and the height of its tree.
struct Tree {
    expr: Box<Expr>,
    height: usize,
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    nesting: usize,
    offset: usize,
}

impl Parser<'_> {
    /// The next token; `End` is never consumed.
    fn peek(&self) -> Kind {
        self.tokens[self.at].kind
    }

    /// The place of the next token in the file.
    fn place(&self) -> Span {
        let span = &self.tokens[self.at].span;
        span.start + self.offset..span.end + self.offset
    }

    fn advance(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    /// Consumes the next token if it is the given sign.
    fn accept(&mut self, sign: &'static str) -> bool {
        let found = self.peek() == Kind::Sign(sign);
        if found {
            self.advance();
        }
        found
    }

    fn node(&self, kind: ExprKind, span: Span, height: usize) -> Result<Tree, Mistake> {
        if height > MAX_HEIGHT {
            return Err(mistakes::too_high(span));
        }
        let expr = Box::new(Expr { kind, span });
        Ok(Tree { expr, height })
    }

    /// An expression with at most one comparison, the operator with the lowest precedence.
    fn expression(&mut self) -> Result<Tree, Mistake> {
        let left = self.chain(SUM)?;
        let Some(op) = self.comparison() else {
            return Ok(left);
        };
        self.advance();
        let right = self.chain(SUM)?;
        if let Some(second) = self.comparison() {
            return Err(self.chained(&left.expr, op, &right.expr, second));
        }
        let span = left.expr.span.start..right.expr.span.end;
        let height = 1 + left.height.max(right.height);
        let (left, right) = (left.expr, right.expr);
        self.node(ExprKind::Compare { op, left, right }, span, height)
    }

    fn comparison(&self) -> Option<CompareOp> {
        let Kind::Sign(sign) = self.peek() else {
            return None;
        };
        Some(match sign {
            "<" => CompareOp::Less,
            "<=" => CompareOp::LessEqual,
            ">" => CompareOp::Greater,
            ">=" => CompareOp::GreaterEqual,
            "==" => CompareOp::Equal,
            "!=" => CompareOp::NotEqual,
            _ => return None,
        })
    }

    /// Operands joined by operators that bind at least as tightly as `least`. Every level of nesting
    /// passes through here and is counted.
    fn chain(&mut self, least: u8) -> Result<Tree, Mistake> {
        if self.nesting >= MAX_NESTING {
            return Err(self.too_deep());
        }
        self.nesting += 1;
        let mut left = self.operand()?;
        while let Some((op, power)) = self.operator().filter(|&(_, power)| power >= least) {
            self.advance();
            // `^` is right-associative, the others are left-associative.
            let tighter = power + u8::from(op != BinaryOp::Pow);
            let right = self.chain(tighter)?;
            left = self.join(op, left, right)?;
        }
        if matches!(self.peek(), Kind::Number(_) | Kind::Name | Kind::Sign("(")) {
            return Err(self.side_by_side(&left.expr));
        }
        self.nesting -= 1;
        Ok(left)
    }

    fn operator(&self) -> Option<(BinaryOp, u8)> {
        Some(match self.peek() {
            Kind::Sign("+") => (BinaryOp::Add, SUM),
            Kind::Sign("-") => (BinaryOp::Sub, SUM),
            Kind::Sign("*") => (BinaryOp::Mul, PRODUCT),
            Kind::Sign("/") => (BinaryOp::Div, PRODUCT),
            Kind::Sign("^") => (BinaryOp::Pow, POWER),
            _ => return None,
        })
    }

    fn join(&self, op: BinaryOp, left: Tree, right: Tree) -> Result<Tree, Mistake> {
        let span = left.expr.span.start..right.expr.span.end;
        let height = 1 + left.height.max(right.height);
        let (left, right) = (left.expr, right.expr);
        self.node(ExprKind::Binary { op, left, right }, span, height)
    }

    fn operand(&mut self) -> Result<Tree, Mistake> {
        match self.peek() {
            Kind::Name => self.name_or_call(),
            Kind::Number(value) => self.number(value),
            Kind::Sign("-") => self.negation(),
            Kind::Sign("+") => {
                self.advance();
                self.chain(SIGNED)
            }
            Kind::Sign("(") => self.parentheses(),
            _ => Err(self.no_value()),
        }
    }

    fn number(&mut self, value: f64) -> Result<Tree, Mistake> {
        let span = self.place();
        self.advance();
        self.no_prime()?;
        self.node(ExprKind::Number(value), span, 1)
    }

    fn negation(&mut self) -> Result<Tree, Mistake> {
        let start = self.place().start;
        self.advance();
        let inner = self.chain(SIGNED)?;
        let span = start..inner.expr.span.end;
        self.node(ExprKind::Negate(inner.expr), span, inner.height + 1)
    }

    fn parentheses(&mut self) -> Result<Tree, Mistake> {
        let open = self.place();
        self.advance();
        let mut inner = self.expression()?;
        let end = self.closing(")", &open)?;
        inner.expr.span = open.start..end;
        self.no_prime()?;
        Ok(inner)
    }

    /// Consumes a closing bracket and returns its end; otherwise an error at the opening one.
    fn closing(&mut self, sign: &'static str, open: &Span) -> Result<usize, Mistake> {
        let end = self.place().end;
        if self.accept(sign) {
            return Ok(end);
        }
        Err(self.never_closed(sign, open))
    }
}

mod mistakes;
mod names;
