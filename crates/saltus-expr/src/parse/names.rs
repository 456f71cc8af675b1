//! Everything that starts with a name: values, indices, primes, calls, sums, ranges.

use super::*;
use crate::names::{arity, is_reserved};

impl Parser<'_> {
    /// The next token, which is a name.
    fn name(&self) -> &str {
        &self.text[self.tokens[self.at].span.clone()]
    }

    /// A name and what may follow it.
    pub(super) fn name_or_call(&mut self) -> Result<Tree, Mistake> {
        let name = self.name().to_owned();
        let span = self.place();
        self.advance();
        match self.peek() {
            Kind::Sign("(") if name == "sum" => self.sum(span),
            Kind::Sign("(") => self.call(name, span),
            _ if name == "sum" || arity(&name).is_some() => Err(Self::bare_function(&name, span)),
            _ => self.value(name, span),
        }
    }

    /// `x`, `x[i]`, `x'`, `x[i]'`, after the name.
    fn value(&mut self, name: String, mut span: Span) -> Result<Tree, Mistake> {
        let ahead = self.tokens.get(self.at + 1).map(|token| token.kind);
        if self.peek() == Kind::Sign("'") && ahead == Some(Kind::Sign("[")) {
            return Err(self.prime_before_index(&name, span.start));
        }
        let mut height = 1;
        let mut index = Vec::new();
        let open = self.place();
        if self.accept("[") {
            (index, height) = self.list()?;
            span.end = self.closing("]", &open)?;
            height += 1;
        }
        let prime = self.place();
        let velocity = self.accept("'");
        if velocity {
            span.end = prime.end;
            if self.peek() == Kind::Sign("'") {
                return Err(self.acceleration(span.start));
            }
        }
        let kind = ExprKind::Name { name, index, velocity };
        self.node(kind, span, height)
    }

    /// One or more expressions separated by commas, and their greatest height.
    fn list(&mut self) -> Result<(Vec<Expr>, usize), Mistake> {
        let mut items = Vec::new();
        let mut height = 0;
        loop {
            let item = self.expression()?;
            height = height.max(item.height);
            items.push(*item.expr);
            if !self.accept(",") {
                return Ok((items, height));
            }
        }
    }

    /// `(a, b)`, after the name of a function.
    fn call(&mut self, name: String, name_span: Span) -> Result<Tree, Mistake> {
        let open = self.place();
        self.advance();
        let (args, height) = if self.peek() == Kind::Sign(")") { (Vec::new(), 0) } else { self.list()? };
        let span = name_span.start..self.closing(")", &open)?;
        if let Some(arity) = arity(&name)
            && !arity.accepts(args.len())
        {
            return Err(Self::wrong_arity(&name, arity, args.len(), span));
        }
        self.no_prime()?;
        let kind = ExprKind::Call { name, name_span, args };
        self.node(kind, span, height + 1)
    }

    /// `(i = 1..n, body)`, after `sum`.
    fn sum(&mut self, name_span: Span) -> Result<Tree, Mistake> {
        let open = self.place();
        self.advance();
        let (range, height) = self.range()?;
        if !self.accept(",") {
            return Err(self.no_body());
        }
        let body = self.expression()?;
        let span = name_span.start..self.closing(")", &open)?;
        self.no_prime()?;
        let kind =
            ExprKind::Sum { index: range.index, from: Box::new(range.from), to: Box::new(range.to), body: body.expr };
        self.node(kind, span, 1 + height.max(body.height))
    }

    /// `i = from..to`, and the greater height of its bounds.
    pub(super) fn range(&mut self) -> Result<(IndexRange, usize), Mistake> {
        if self.peek() != Kind::Name {
            return Err(self.no_range("a range starts with the name of its index", "expected a name"));
        }
        let index = self.name().to_owned();
        let index_span = self.place();
        self.advance();
        if !self.accept("=") {
            let message = "a range needs `=` after the name of its index";
            return Err(self.no_range(message, "expected `=`"));
        }
        if is_reserved(&index) {
            return Err(Self::reserved_index(&index, index_span));
        }
        let from = self.chain(SUM)?;
        if !self.accept("..") {
            let message = "a range needs `..` between its bounds";
            return Err(self.no_range(message, "expected `..`"));
        }
        let to = self.chain(SUM)?;
        let height = from.height.max(to.height);
        let range = IndexRange { index, index_span, from: *from.expr, to: *to.expr };
        Ok((range, height))
    }
}
