//! What begins with a name: values, indices, primes, calls, sums, ranges.

use super::*;

impl Parser<'_> {
    /// A name, with what may follow it.
    pub(super) fn name_or_call(&mut self, token: &Token) -> Result<Tree, ExprError> {
        let name = &self.text[token.span.clone()];
        let start = self.shift(&token.span);
        if self.peek().kind == Kind::Sign("(") {
            let open = self.next().span;
            let open = self.shift(&open);
            return if name == "sum" {
                self.sum(start, open)
            } else {
                self.call(name.to_owned(), start, open)
            };
        }
        if name == "sum" || arity(name).is_some() {
            let form = match name {
                "sum" => "sum(i = 1..n, …)".to_owned(),
                "if" => "if(condition, a, b)".to_owned(),
                _ => format!("{name}(…)"),
            };
            return Err(ExprError::new(
                format!("`{name}` is a function"),
                start,
                "arguments are missing",
            )
            .with_help(format!("write `{form}`")));
        }
        let name = name.to_owned();
        let primed = self.peek().kind == Kind::Sign("'");
        if primed
            && self
                .tokens
                .get(self.at + 1)
                .is_some_and(|t| t.kind == Kind::Sign("["))
        {
            let span = start.start..self.shift(&self.tokens[self.at + 1].span).end;
            return Err(ExprError::new(
                "the index comes before the prime",
                span,
                "a prime before an index",
            )
            .with_help(format!("write `{name}[…]'`")));
        }
        let mut end = start.end;
        let mut height = 1;
        let mut index = Vec::new();
        if self.peek().kind == Kind::Sign("[") {
            let open = self.next().span;
            let open = self.shift(&open);
            (index, height) = self.list()?;
            end = self.closing("]", &open)?;
            height += 1;
        }
        let prime = self.peek().span.clone();
        let velocity = self.takes("'");
        if velocity {
            end = self.shift(&prime).end;
            if self.peek().kind == Kind::Sign("'") {
                let second = self.shift(&self.peek().span);
                return Err(ExprError::new(
                    "accelerations cannot be used in expressions",
                    start.start..second.end,
                    "a second prime",
                )
                .with_help(
                    "the equations of motion give the acceleration; use coordinates and velocities",
                ));
            }
        }
        let kind = ExprKind::Name {
            name,
            index,
            velocity,
        };
        self.node(kind, start.start..end, height)
    }

    /// Expressions between commas, at least one; and the greatest height among them.
    fn list(&mut self) -> Result<(Vec<Expr>, usize), ExprError> {
        let mut items = Vec::new();
        let mut height = 0;
        loop {
            let item = self.expression()?;
            height = height.max(item.height);
            items.push(item.expr);
            if !self.takes(",") {
                return Ok((items, height));
            }
        }
    }

    /// The arguments of a function, after its `(`.
    fn call(&mut self, name: String, name_span: Span, open: Span) -> Result<Tree, ExprError> {
        let (args, height) = if self.peek().kind == Kind::Sign(")") {
            (Vec::new(), 0)
        } else {
            self.list()?
        };
        let end = self.closing(")", &open)?;
        let span = name_span.start..end;
        if let Some(arity) = arity(&name)
            && !arity.accepts(args.len())
        {
            let given = match args.len() {
                0 => "none given".into(),
                n => format!("{n} given"),
            };
            let error = ExprError::new(format!("`{name}` {}", arity.sentence()), span, given);
            return Err(match name.as_str() {
                "if" => error.with_help("write `if(condition, a, b)`"),
                "and" | "or" if args.len() > 2 => {
                    error.with_help(format!("nest them: `{name}(a, {name}(b, c))`"))
                }
                _ => error,
            });
        }
        self.no_prime()?;
        let kind = ExprKind::Call {
            name,
            name_span,
            args,
        };
        self.node(kind, span, height + 1)
    }

    /// `i = 1..n, body)`, after `sum(`.
    fn sum(&mut self, name_span: Span, open: Span) -> Result<Tree, ExprError> {
        let (range, height) = self.range()?;
        let comma = self.peek().clone();
        if !self.takes(",") {
            return Err(ExprError::new(
                "a sum needs a body after its range",
                self.shift(&comma.span),
                "a comma should stand here",
            )
            .with_help("write `sum(i = 1..n, body)`"));
        }
        let body = self.expression()?;
        let end = self.closing(")", &open)?;
        self.no_prime()?;
        let kind = ExprKind::Sum {
            index: range.index,
            from: Box::new(range.from),
            to: Box::new(range.to),
            body: Box::new(body.expr),
        };
        self.node(kind, name_span.start..end, 1 + height.max(body.height))
    }

    /// `i = from..to`, and the greater height of its bounds.
    pub(super) fn range(&mut self) -> Result<(IndexRange, usize), ExprError> {
        const FORM: &str = "a range is written `i = 1..n`, a sum `sum(i = 1..n, body)`";
        let name = self.next();
        let index_span = self.shift(&name.span);
        if name.kind != Kind::Name {
            let error = ExprError::new(
                "a range begins with the name of its index",
                index_span,
                "not a name",
            );
            return Err(error.with_help(FORM));
        }
        let index = self.text[name.span].to_owned();
        let equals = self.peek().span.clone();
        if !self.takes("=") {
            let error = ExprError::new(
                "a range has `=` after the name of its index",
                self.shift(&equals),
                "`=` should stand here",
            );
            return Err(error.with_help(FORM));
        }
        if is_reserved(&index) {
            return Err(ExprError::new(
                format!("`{index}` cannot be an index"),
                index_span,
                "a name of the language",
            )
            .with_help("take another letter, such as `i`"));
        }
        let from = self.nested(|p| p.chain(SUM))?;
        let dots = self.peek().span.clone();
        if !self.takes("..") {
            let error = ExprError::new(
                "a range has `..` between its bounds",
                self.shift(&dots),
                "`..` should stand here",
            );
            return Err(error.with_help(FORM));
        }
        let to = self.nested(|p| p.chain(SUM))?;
        let height = from.height.max(to.height);
        let range = IndexRange {
            index,
            index_span,
            from: from.expr,
            to: to.expr,
        };
        Ok((range, height))
    }
}
