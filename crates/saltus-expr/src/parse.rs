//! Tokens to expressions: a Pratt parser with bounded depth and errors that say what to write.

use crate::ast::{BinaryOp, CompareOp, Expr, ExprKind, IndexRange};
use crate::error::{ExprError, Span};
use crate::lex::{Kind, Token, lex};
use crate::names::{arity, is_reserved};

/// Parentheses, calls, signs and exponents inside each other.
const MAX_NESTING: usize = 100;
/// Height of the tree, which long chains `a + b + …` raise as well: whoever
/// walks, clones or drops the tree recursively must not run out of stack.
const MAX_HEIGHT: usize = 1000;

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
    whole(text, offset, |parser| {
        parser.expression().map(|tree| tree.expr)
    })
}

/// Parses the head of a family, `i = 1..n`.
///
/// # Errors
/// The first mistake, with its place.
pub fn parse_range_at(text: &str, offset: usize) -> Result<IndexRange, ExprError> {
    whole(text, offset, |parser| {
        parser.range().map(|(range, _)| range)
    })
}

/// Parses a left-hand side: a name, maybe indexed, without a prime.
///
/// # Errors
/// The first mistake, with its place.
pub fn parse_target_at(text: &str, offset: usize) -> Result<Expr, ExprError> {
    whole(text, offset, |parser| {
        let tree = parser.expression()?;
        match &tree.expr.kind {
            ExprKind::Name {
                velocity: false, ..
            } => Ok(tree.expr),
            ExprKind::Name { velocity: true, .. } => Err(ExprError::new(
                "a velocity cannot be named on a left-hand side",
                tree.expr.span,
                "a prime is too much here",
            )
            .with_help("write the name without `'`")),
            _ => Err(ExprError::new(
                "a left-hand side is a plain name, or an indexed one such as `x[n]`",
                tree.expr.span,
                "not a name",
            )),
        }
    })
}

/// Runs a rule over all of the text and shifts the places.
fn whole<T>(
    text: &str,
    offset: usize,
    rule: impl FnOnce(&mut Parser) -> Result<T, ExprError>,
) -> Result<T, ExprError> {
    let shifted = |mut error: ExprError| {
        error.span = error.span.start + offset..error.span.end + offset;
        error
    };
    let mut parser = Parser {
        text,
        tokens: lex(text).map_err(shifted)?,
        at: 0,
        nesting: 0,
        offset,
    };
    let result = rule(&mut parser)?;
    parser.finished()?;
    Ok(result)
}

/// An expression and the height of its tree.
struct Tree {
    expr: Expr,
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
    fn peek(&self) -> &Token {
        // The closing `End` is never passed.
        &self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn next(&mut self) -> Token {
        let token = self.peek().clone();
        if token.kind != Kind::End {
            self.at += 1;
        }
        token
    }

    fn takes(&mut self, sign: &'static str) -> bool {
        let found = self.peek().kind == Kind::Sign(sign);
        self.at += usize::from(found);
        found
    }

    fn shift(&self, span: &Span) -> Span {
        span.start + self.offset..span.end + self.offset
    }

    /// The text of a place in the file, shortened for use in a message.
    fn quote(&self, span: &Span) -> String {
        let range = span.start - self.offset..span.end - self.offset;
        let text = self.text.get(range).unwrap_or("…").trim();
        if text.chars().count() > 24 {
            "…".into()
        } else {
            text.into()
        }
    }

    fn node(&self, kind: ExprKind, span: Span, height: usize) -> Result<Tree, ExprError> {
        if height > MAX_HEIGHT {
            return Err(ExprError::new(
                format!("the expression has more than {MAX_HEIGHT} operations one upon another"),
                span,
                "too long a chain",
            )
            .with_help("use `sum(i = 1..n, …)`, or name parts of it"));
        }
        Ok(Tree {
            expr: Expr { kind, span },
            height,
        })
    }

    /// Counts a level of nesting around a rule.
    fn nested<T>(
        &mut self,
        rule: impl FnOnce(&mut Self) -> Result<T, ExprError>,
    ) -> Result<T, ExprError> {
        if self.nesting >= MAX_NESTING {
            let span = self.shift(&self.peek().span);
            return Err(ExprError::new(
                format!("the expression is nested more than {MAX_NESTING} levels deep"),
                span,
                "too deep",
            )
            .with_help("name parts of it and use the names"));
        }
        self.nesting += 1;
        let result = rule(self);
        self.nesting -= 1;
        result
    }

    /// An expression with at most one comparison, the loosest of the operators.
    fn expression(&mut self) -> Result<Tree, ExprError> {
        let left = self.nested(|p| p.chain(SUM))?;
        let Some(op) = self.comparison() else {
            return Ok(left);
        };
        self.at += 1;
        let right = self.nested(|p| p.chain(SUM))?;
        if let Some(second) = self.comparison() {
            let span = self.shift(&self.peek().span);
            self.at += 1;
            let third = self.nested(|p| p.chain(SUM))?;
            let (a, b, c) = (
                self.quote(&left.expr.span),
                self.quote(&right.expr.span),
                self.quote(&third.expr.span),
            );
            let (first, second) = (op.symbol(), second.symbol());
            return Err(ExprError::new(
                "comparisons cannot be chained",
                span,
                "a second comparison",
            )
            .with_help(format!("write `and({a} {first} {b}, {b} {second} {c})`")));
        }
        let span = left.expr.span.start..right.expr.span.end;
        let height = 1 + left.height.max(right.height);
        let (left, right) = (Box::new(left.expr), Box::new(right.expr));
        self.node(ExprKind::Compare { op, left, right }, span, height)
    }

    fn comparison(&self) -> Option<CompareOp> {
        let Kind::Sign(sign) = self.peek().kind else {
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

    /// Operands joined by operators that bind at least as tight as `least`.
    fn chain(&mut self, least: u8) -> Result<Tree, ExprError> {
        let mut left = self.operand()?;
        loop {
            let (op, power) = match self.peek().kind {
                Kind::Sign("+") => (BinaryOp::Add, SUM),
                Kind::Sign("-") => (BinaryOp::Sub, SUM),
                Kind::Sign("*") => (BinaryOp::Mul, PRODUCT),
                Kind::Sign("/") => (BinaryOp::Div, PRODUCT),
                Kind::Sign("^") => (BinaryOp::Pow, POWER),
                _ => break,
            };
            if power < least {
                break;
            }
            self.at += 1;
            // `^` groups from the right, the others from the left.
            let tighter = if op == BinaryOp::Pow {
                power
            } else {
                power + 1
            };
            let right = self.nested(|p| p.chain(tighter))?;
            let span = left.expr.span.start..right.expr.span.end;
            let height = 1 + left.height.max(right.height);
            let kind = ExprKind::Binary {
                op,
                left: Box::new(left.expr),
                right: Box::new(right.expr),
            };
            left = self.node(kind, span, height)?;
        }
        self.no_operand_beside(&left.expr)?;
        Ok(left)
    }

    /// `2x`, `a b`, `2(x+1)`: a product sign was left out.
    fn no_operand_beside(&self, left: &Expr) -> Result<(), ExprError> {
        let token = self.peek();
        let begins = matches!(token.kind, Kind::Number(_) | Kind::Name | Kind::Sign("("));
        if !begins {
            return Ok(());
        }
        let last = self.shift(&self.tokens[self.at.saturating_sub(1)].span);
        let here = self.shift(&token.span);
        let a = self.quote(&last);
        let b = self.quote(&here);
        let example = match (token.kind, a.as_str()) {
            (Kind::Sign("("), ")") => "(…)*(…)".into(),
            (Kind::Sign("("), a) => format!("{a}*(…)"),
            (_, ")") => format!("(…)*{b}"),
            (_, a) => format!("{a}*{b}"),
        };
        Err(ExprError::new(
            "two values stand side by side without an operator",
            last.start.max(left.span.start)..here.end,
            "an operator is missing",
        )
        .with_help(format!("multiplication is written `{example}`")))
    }

    fn operand(&mut self) -> Result<Tree, ExprError> {
        let token = self.next();
        let span = self.shift(&token.span);
        match token.kind {
            Kind::Number(value) => {
                let tree = self.node(ExprKind::Number(value), span, 1)?;
                self.no_prime()?;
                Ok(tree)
            }
            Kind::Name => self.name_or_call(&token),
            Kind::Sign("-") => {
                let inner = self.nested(|p| p.chain(SIGNED))?;
                let span = span.start..inner.expr.span.end;
                let height = inner.height + 1;
                self.node(ExprKind::Negate(Box::new(inner.expr)), span, height)
            }
            Kind::Sign("+") => self.nested(|p| p.chain(SIGNED)),
            Kind::Sign("(") => {
                let mut inner = self.expression()?;
                let end = self.closing(")", &span)?;
                inner.expr.span = span.start..end;
                self.no_prime()?;
                Ok(inner)
            }
            _ => Err(self.no_value(&token)),
        }
    }

    /// What stands where a value should.
    fn no_value(&self, token: &Token) -> ExprError {
        let span = self.shift(&token.span);
        match token.kind {
            Kind::End if self.text.trim().is_empty() => {
                ExprError::new("the expression is empty", span, "nothing here")
            }
            Kind::End => ExprError::new(
                "the expression ends where a value should follow",
                span,
                "a value is missing",
            ),
            Kind::Sign("=") => self.lone_equals(),
            Kind::Sign(sign) => ExprError::new(
                format!("`{sign}` stands where a value should"),
                span,
                "a value is missing",
            ),
            _ => ExprError::new("a value is missing", span, "here"),
        }
    }

    fn lone_equals(&self) -> ExprError {
        let token = self
            .tokens
            .iter()
            .find(|t| t.kind == Kind::Sign("="))
            .unwrap_or(self.peek());
        ExprError::new(
            "`=` is not an operator",
            self.shift(&token.span),
            "not a comparison",
        )
        .with_help("equality is tested with `==`")
    }

    /// A prime after anything but a name.
    fn no_prime(&self) -> Result<(), ExprError> {
        if self.peek().kind != Kind::Sign("'") {
            return Ok(());
        }
        Err(ExprError::new(
            "`'` can only follow the name of a coordinate",
            self.shift(&self.peek().span),
            "not after a name",
        )
        .with_help("the velocity of `y` is `y'`; other derivatives are not written in expressions"))
    }

    /// The end of the closing sign, or an error at the opening one.
    fn closing(&mut self, sign: &'static str, open: &Span) -> Result<usize, ExprError> {
        let token = self.peek().clone();
        if self.takes(sign) {
            return Ok(token.span.end + self.offset);
        }
        Err(match token.kind {
            Kind::End => {
                let opening = if sign == ")" { "(" } else { "[" };
                ExprError::new(
                    format!("this `{opening}` is never closed"),
                    open.clone(),
                    "opened here",
                )
                .with_help(format!("add a `{sign}`"))
            }
            _ => self.out_of_place(&token),
        })
    }

    /// A token that cannot stand after a complete value.
    fn out_of_place(&self, token: &Token) -> ExprError {
        let span = self.shift(&token.span);
        match token.kind {
            Kind::Sign("=") => self.lone_equals(),
            Kind::Sign(")") => ExprError::new("this `)` closes nothing", span, "no `(` before it"),
            Kind::Sign("]") => ExprError::new("this `]` closes nothing", span, "no `[` before it"),
            Kind::Sign("[") => {
                ExprError::new("only a name can be indexed", span, "not after a name")
                    .with_help("write `x[i]`, and its velocity `x[i]'`")
            }
            Kind::Sign("..") => ExprError::new("a range cannot stand here", span, "a range")
                .with_help("ranges stand in `sum(i = 1..n, …)`; decimals have one dot"),
            Kind::Sign(",") => ExprError::new("a comma cannot stand here", span, "unexpected")
                .with_help("commas separate the arguments of a function; decimals have a dot"),
            _ => ExprError::new(
                format!("`{}` cannot stand here", self.quote(&span)),
                span,
                "unexpected",
            ),
        }
    }

    fn finished(&mut self) -> Result<(), ExprError> {
        let token = self.peek().clone();
        match token.kind {
            Kind::End => Ok(()),
            _ => Err(self.out_of_place(&token)),
        }
    }
}

mod names;

#[cfg(test)]
mod tests;
