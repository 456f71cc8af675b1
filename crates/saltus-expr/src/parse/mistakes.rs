//! Errors of the parser: what is wrong, and what to write instead.

use super::*;
use crate::names::Arity;

fn mistake(message: impl Into<String>, span: Span, label: impl Into<String>) -> Mistake {
    Box::new(ExprError::new(message, span, label))
}

fn advised(message: impl Into<String>, span: Span, label: impl Into<String>, help: impl Into<String>) -> Mistake {
    Box::new(ExprError::new(message, span, label).with_help(help))
}

pub(super) fn too_high(span: Span) -> Mistake {
    advised(
        format!("the expression has a chain of more than {MAX_HEIGHT} operations"),
        span,
        "chain too long",
        "use `sum(i = 1..n, …)`, or split it into named parts",
    )
}

impl Parser<'_> {
    /// The text of a place in the file, or `…` if it is too long for a message.
    fn quote(&self, span: &Span) -> &str {
        let range = span.start - self.offset..span.end - self.offset;
        let text = self.text.get(range).unwrap_or("…").trim();
        if text.chars().count() > 24 { "…" } else { text }
    }

    /// The place of the previous token.
    fn place_before(&self) -> Span {
        let span = &self.tokens[self.at.saturating_sub(1)].span;
        span.start + self.offset..span.end + self.offset
    }

    pub(super) fn too_deep(&self) -> Mistake {
        advised(
            format!("the expression is nested more than {MAX_NESTING} levels deep"),
            self.place(),
            "too deep",
            "split it into named parts",
        )
    }

    /// `a < b < c`; the next token is the second comparison.
    pub(super) fn chained(&mut self, left: &Expr, op: CompareOp, right: &Expr, second: CompareOp) -> Mistake {
        let span = self.place();
        self.advance();
        let third = match self.chain(SUM) {
            Ok(third) => third,
            Err(mistake) => return mistake,
        };
        let [a, b, c] = [left, right, &third.expr].map(|e| self.quote(&e.span));
        let (op, second) = (op.symbol(), second.symbol());
        advised(
            "comparisons cannot be chained",
            span,
            "a second comparison",
            format!("write `and({a} {op} {b}, {b} {second} {c})`"),
        )
    }

    /// `2x`, `a b`, `2(x+1)`: the multiplication sign is missing.
    pub(super) fn side_by_side(&self, left: &Expr) -> Mistake {
        let (last, here) = (self.place_before(), self.place());
        let (a, b) = (self.quote(&last), self.quote(&here));
        let example = match (self.peek(), a) {
            (Kind::Sign("("), ")") => "(…)*(…)".into(),
            (Kind::Sign("("), a) => format!("{a}*(…)"),
            (_, ")") => format!("(…)*{b}"),
            (_, a) => format!("{a}*{b}"),
        };
        advised(
            "two values follow each other without an operator",
            last.start.max(left.span.start)..here.end,
            "missing operator",
            format!("to multiply, write `{example}`"),
        )
    }

    /// The next token is not a value.
    pub(super) fn no_value(&self) -> Mistake {
        let span = self.place();
        match self.peek() {
            Kind::End if self.text.trim().is_empty() => mistake("the expression is empty", span, "expected a value"),
            Kind::End => mistake("the expression ends where a value should follow", span, "expected a value"),
            Kind::Sign("=") => self.lone_equals(),
            _ => mistake(format!("expected a value, found `{}`", self.quote(&span)), span, "expected a value"),
        }
    }

    fn lone_equals(&self) -> Mistake {
        advised("`=` is not an operator", self.place(), "not a comparison", "use `==` to test for equality")
    }

    /// Rejects a prime after anything but a name.
    pub(super) fn no_prime(&self) -> Result<(), Mistake> {
        if self.peek() != Kind::Sign("'") {
            return Ok(());
        }
        Err(advised(
            "`'` can only follow the name of a coordinate",
            self.place(),
            "not after a name",
            "`y'` is the velocity of `y`; other derivatives are not supported",
        ))
    }

    /// The next token is not the expected closing bracket.
    pub(super) fn never_closed(&self, sign: &'static str, open: &Span) -> Mistake {
        if self.peek() != Kind::End {
            return self.out_of_place();
        }
        let opening = if sign == ")" { "(" } else { "[" };
        advised(format!("this `{opening}` is never closed"), open.clone(), "opened here", format!("add a `{sign}`"))
    }

    /// The next token cannot follow a complete value.
    pub(super) fn out_of_place(&self) -> Mistake {
        let span = self.place();
        match self.peek() {
            Kind::Sign("=") => self.lone_equals(),
            Kind::Sign(")") => mistake("unmatched `)`", span, "no matching `(`"),
            Kind::Sign("]") => mistake("unmatched `]`", span, "no matching `[`"),
            Kind::Sign("[") => advised(
                "only names can be indexed",
                span,
                "not after a name",
                "write `x[i]`, or `x[i]'` for its velocity",
            ),
            Kind::Sign("..") => advised(
                "unexpected range",
                span,
                "a range is not allowed here",
                "ranges are used in `sum(i = 1..n, …)`; a decimal number has one dot",
            ),
            Kind::Sign(",") => advised(
                "unexpected comma",
                span,
                "a comma is not allowed here",
                "commas separate function arguments; use a dot in decimals",
            ),
            _ => mistake(format!("unexpected `{}`", self.quote(&span)), span, "not allowed here"),
        }
    }

    /// A function without its arguments.
    pub(super) fn bare_function(name: &str, span: Span) -> Mistake {
        let form = match name {
            "sum" => "sum(i = 1..n, …)".to_owned(),
            "if" => "if(condition, a, b)".to_owned(),
            _ => format!("{name}(…)"),
        };
        advised(format!("`{name}` is a function"), span, "missing arguments", format!("write `{form}`"))
    }

    /// `x'[i]`; the next token is the prime.
    pub(super) fn prime_before_index(&mut self, name: &str, start: usize) -> Mistake {
        self.advance();
        advised(
            "the index comes before the prime",
            start..self.place().end,
            "a prime before an index",
            format!("write `{name}[…]'`"),
        )
    }

    /// `y''`; the next token is the second prime.
    pub(super) fn acceleration(&self, start: usize) -> Mistake {
        advised(
            "accelerations cannot be used in expressions",
            start..self.place().end,
            "a second prime",
            "use coordinates and velocities only",
        )
    }

    pub(super) fn wrong_arity(name: &str, arity: Arity, given: usize, span: Span) -> Mistake {
        let label = match given {
            0 => "none given".into(),
            n => format!("{n} given"),
        };
        let message = format!("`{name}` {}", arity.sentence());
        match name {
            "if" => advised(message, span, label, "write `if(condition, a, b)`"),
            "and" | "or" if given > 2 => {
                let help = format!("nest them: `{name}(a, {name}(b, c))`");
                advised(message, span, label, help)
            }
            _ => mistake(message, span, label),
        }
    }

    pub(super) fn no_body(&self) -> Mistake {
        advised("a sum needs a body after its range", self.place(), "expected a comma", "write `sum(i = 1..n, body)`")
    }

    /// The next token does not fit into a range.
    pub(super) fn no_range(&self, message: &str, label: &str) -> Mistake {
        const FORM: &str = "write a range as `i = 1..n`, a sum as `sum(i = 1..n, body)`";
        advised(message, self.place(), label, FORM)
    }

    pub(super) fn reserved_index(index: &str, span: Span) -> Mistake {
        advised(format!("`{index}` cannot be an index"), span, "reserved name", "use another name, such as `i`")
    }
}
