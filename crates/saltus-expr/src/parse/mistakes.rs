//! What can be wrong with a text, and what to write instead.

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
        format!("the expression has more than {MAX_HEIGHT} operations one upon another"),
        span,
        "too long a chain",
        "use `sum(i = 1..n, …)`, or name parts of it",
    )
}

impl Parser<'_> {
    /// The text of a place in the file, shortened for use in a message.
    fn quote(&self, span: &Span) -> &str {
        let range = span.start - self.offset..span.end - self.offset;
        let text = self.text.get(range).unwrap_or("…").trim();
        if text.chars().count() > 24 { "…" } else { text }
    }

    /// The place of the token before the one ahead.
    fn place_before(&self) -> Span {
        let span = &self.tokens[self.at.saturating_sub(1)].span;
        span.start + self.offset..span.end + self.offset
    }

    pub(super) fn too_deep(&self) -> Mistake {
        advised(
            format!("the expression is nested more than {MAX_NESTING} levels deep"),
            self.place(),
            "too deep",
            "name parts of it and use the names",
        )
    }

    /// `a < b < c`, with the second comparison ahead.
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

    /// `2x`, `a b`, `2(x+1)`: a product sign was left out.
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
            "two values stand side by side without an operator",
            last.start.max(left.span.start)..here.end,
            "an operator is missing",
            format!("multiplication is written `{example}`"),
        )
    }

    /// The token ahead stands where a value should.
    pub(super) fn no_value(&self) -> Mistake {
        let span = self.place();
        match self.peek() {
            Kind::End if self.text.trim().is_empty() => mistake("the expression is empty", span, "nothing here"),
            Kind::End => mistake("the expression ends where a value should follow", span, "a value is missing"),
            Kind::Sign("=") => self.lone_equals(),
            _ => mistake(format!("`{}` stands where a value should", self.quote(&span)), span, "a value is missing"),
        }
    }

    fn lone_equals(&self) -> Mistake {
        advised("`=` is not an operator", self.place(), "not a comparison", "equality is tested with `==`")
    }

    /// A prime after anything but a name.
    pub(super) fn no_prime(&self) -> Result<(), Mistake> {
        if self.peek() != Kind::Sign("'") {
            return Ok(());
        }
        Err(advised(
            "`'` can only follow the name of a coordinate",
            self.place(),
            "not after a name",
            "the velocity of `y` is `y'`; other derivatives are not written in expressions",
        ))
    }

    /// The token ahead is not the closing sign that should stand here.
    pub(super) fn never_closed(&self, sign: &'static str, open: &Span) -> Mistake {
        if self.peek() != Kind::End {
            return self.out_of_place();
        }
        let opening = if sign == ")" { "(" } else { "[" };
        advised(format!("this `{opening}` is never closed"), open.clone(), "opened here", format!("add a `{sign}`"))
    }

    /// The token ahead cannot stand after a complete value.
    pub(super) fn out_of_place(&self) -> Mistake {
        let span = self.place();
        match self.peek() {
            Kind::Sign("=") => self.lone_equals(),
            Kind::Sign(")") => mistake("this `)` closes nothing", span, "no `(` before it"),
            Kind::Sign("]") => mistake("this `]` closes nothing", span, "no `[` before it"),
            Kind::Sign("[") => advised(
                "only a name can be indexed",
                span,
                "not after a name",
                "write `x[i]`, and its velocity `x[i]'`",
            ),
            Kind::Sign("..") => advised(
                "a range cannot stand here",
                span,
                "a range",
                "ranges stand in `sum(i = 1..n, …)`; decimals have one dot",
            ),
            Kind::Sign(",") => advised(
                "a comma cannot stand here",
                span,
                "unexpected",
                "commas separate the arguments of a function; decimals have a dot",
            ),
            _ => mistake(format!("`{}` cannot stand here", self.quote(&span)), span, "unexpected"),
        }
    }

    /// A function without its arguments.
    pub(super) fn bare_function(name: &str, span: Span) -> Mistake {
        let form = match name {
            "sum" => "sum(i = 1..n, …)".to_owned(),
            "if" => "if(condition, a, b)".to_owned(),
            _ => format!("{name}(…)"),
        };
        advised(format!("`{name}` is a function"), span, "arguments are missing", format!("write `{form}`"))
    }

    /// `x'[i]`, with the prime ahead.
    pub(super) fn prime_before_index(&mut self, name: &str, start: usize) -> Mistake {
        self.advance();
        advised(
            "the index comes before the prime",
            start..self.place().end,
            "a prime before an index",
            format!("write `{name}[…]'`"),
        )
    }

    /// `y''`, with the second prime ahead.
    pub(super) fn acceleration(&self, start: usize) -> Mistake {
        advised(
            "accelerations cannot be used in expressions",
            start..self.place().end,
            "a second prime",
            "the equations of motion give the acceleration; use coordinates and velocities",
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
        advised(
            "a sum needs a body after its range",
            self.place(),
            "a comma should stand here",
            "write `sum(i = 1..n, body)`",
        )
    }

    /// The token ahead does not fit into a range.
    pub(super) fn no_range(&self, message: &str, label: &str) -> Mistake {
        const FORM: &str = "a range is written `i = 1..n`, a sum `sum(i = 1..n, body)`";
        advised(message, self.place(), label, FORM)
    }

    pub(super) fn reserved_index(index: &str, span: Span) -> Mistake {
        advised(
            format!("`{index}` cannot be an index"),
            span,
            "a name of the language",
            "take another letter, such as `i`",
        )
    }
}
