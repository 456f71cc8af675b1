//! Tokens to expressions: a Pratt parser with bounded depth and errors that say what to write.

use crate::ast::{BinaryOp, CompareOp, Expr, ExprKind, IndexRange};
use crate::error::{ExprError, Span};
use crate::lex::{Kind, Token, lex};

/// Parentheses, calls, signs and exponents inside each other.
const MAX_NESTING: usize = 200;
/// Height of the tree, which long chains `a + b + …` raise as well: whoever
/// walks, clones or drops the tree recursively must not run out of stack.
const MAX_HEIGHT: usize = 1000;

/// A mistake on its way up. Errors and trees are boxed inside the parser: its functions call
/// each other, and in code without optimisation every passing value takes room on the stack.
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
/// The first mistake, with its place.
pub fn parse(text: &str) -> Result<Expr, ExprError> {
    parse_at(text, 0)
}

/// Parses an expression that stands `offset` bytes into a file: all spans are shifted by it.
///
/// # Errors
/// The first mistake, with its place.
pub fn parse_at(text: &str, offset: usize) -> Result<Expr, ExprError> {
    whole(text, offset, |parser| Ok(*parser.expression()?.expr))
}

/// Parses the head of a family, `i = 1..n`.
///
/// # Errors
/// The first mistake, with its place.
pub fn parse_range_at(text: &str, offset: usize) -> Result<IndexRange, ExprError> {
    whole(text, offset, |parser| Ok(parser.range()?.0))
}

/// Parses a left-hand side: a name, maybe indexed, without a prime.
///
/// # Errors
/// The first mistake, with its place.
pub fn parse_target_at(text: &str, offset: usize) -> Result<Expr, ExprError> {
    let expr = parse_at(text, offset)?;
    match &expr.kind {
        ExprKind::Name { velocity: false, .. } => Ok(expr),
        ExprKind::Name { velocity: true, .. } => {
            Err(ExprError::new("a velocity cannot be named on a left-hand side", expr.span, "a prime is too much here")
                .with_help("write the name without `'`"))
        }
        _ => Err(ExprError::new(
            "a left-hand side is a plain name, or an indexed one such as `x[n]`",
            expr.span,
            "not a name",
        )),
    }
}

/// Runs a rule over all of the text.
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
    /// The token ahead; the closing `End` is never passed.
    fn peek(&self) -> Kind {
        self.tokens[self.at].kind
    }

    /// Its place in the file.
    fn place(&self) -> Span {
        let span = &self.tokens[self.at].span;
        span.start + self.offset..span.end + self.offset
    }

    fn advance(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    fn takes(&mut self, sign: &'static str) -> bool {
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

    /// An expression with at most one comparison, the loosest of the operators.
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

    /// Operands joined by operators that bind at least as tight as `least`: every nesting
    /// passes through here, and here it is counted.
    fn chain(&mut self, least: u8) -> Result<Tree, Mistake> {
        if self.nesting >= MAX_NESTING {
            return Err(self.too_deep());
        }
        self.nesting += 1;
        let mut left = self.operand()?;
        while let Some((op, power)) = self.operator().filter(|&(_, power)| power >= least) {
            self.advance();
            // `^` groups from the right, the others from the left.
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

    /// The end of the closing sign, or an error at the opening one.
    fn closing(&mut self, sign: &'static str, open: &Span) -> Result<usize, Mistake> {
        let end = self.place().end;
        if self.takes(sign) {
            return Ok(end);
        }
        Err(self.never_closed(sign, open))
    }
}

mod mistakes;
mod names;

#[cfg(test)]
mod tests;
