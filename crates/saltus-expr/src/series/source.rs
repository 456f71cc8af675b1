//! The recurrences of a series as source text in C, which CUDA understands as well.
//!
//! One block of statements for order 0, one for each of the next orders up to the highest degree of a polynomial in time, and one for
//! all orders `k` beyond, to be put into a loop. The text uses a type `real` (a number, or a vector of numbers), the macros `ALL(c)`
//! (a constant), `ZERO`, `UNROLL`, `sine_and_cosine(x, &s, &c)` and `f_NAME(x)` for other functions, and `inverse[k]` for 1/k. Register
//! n is called `r<n>`: an array of its coefficients where a later order needs earlier ones, else a variable. The coefficients of
//! inputs are arrays, those of constants (degree 0) variables.

use super::SeriesCode;
use super::rules::Rule;
use super::switch::Kind;
use crate::function::Function1;
use std::fmt::Write;

/// Polynomials in time of a higher degree than this are treated like any other function.
const PEELED: usize = 6;

/// Source text of a series.
#[derive(Clone, Debug)]
pub struct SeriesSource {
    /// Declarations of all registers but the inputs.
    pub declarations: String,
    /// Statements for orders 0, 1, … that differ from those below.
    pub orders: Vec<String>,
    /// Statements for all other orders k.
    pub rest: String,
    /// The registers of the outputs.
    outputs: Vec<(usize, usize)>,
    stored: Vec<bool>,
    /// The registers of the denominators and arguments of logarithms: arrays.
    pub marks: Vec<String>,
    /// How many arrays there are beside the inputs.
    pub arrays: usize,
}

/// An order, as the text is written for it.
#[derive(Clone, Copy, PartialEq)]
enum At {
    Order(usize),
    Rest,
}

/// The order before.
fn previous(at: At) -> Option<String> {
    match at {
        At::Order(k) => k.checked_sub(1).map(|k| k.to_string()),
        At::Rest => Some("k - 1".into()),
    }
}

struct Writer<'a> {
    code: &'a SeriesCode,
    prefix: &'a str,
    /// Registers whose earlier coefficients are needed; those of which k x_k is needed.
    stored: Vec<bool>,
    weighted: Vec<bool>,
    text: String,
    sums: usize,
}

impl SeriesCode {
    /// The source of the series up to an order; all coefficients of the outputs `whole` are kept. `unrolled`: with statements of their own
    /// for all orders, which are many. None if the code is not smooth ([`SeriesCode::is_smooth`]).
    #[must_use]
    pub fn source(&self, prefix: &str, order: usize, whole: &[usize], unrolled: bool) -> Option<SeriesSource> {
        if !self.is_smooth() {
            return None;
        }
        let mut writer = Writer {
            code: self,
            prefix,
            stored: vec![false; self.registers],
            weighted: vec![false; self.registers],
            text: String::new(),
            sums: 0,
        };
        let marks: Vec<usize> = self.switches.iter().filter(|s| matches!(s.kind, Kind::Decades)).map(|s| s.x).collect();
        let varies = |r: &usize| self.degree[*r] > 0;
        whole.iter().map(|&k| self.outputs[k]).filter(varies).for_each(|r| writer.stored[r] = true);
        marks.iter().for_each(|&r| writer.stored[r] = true);
        (0..self.inputs).for_each(|r| writer.stored[r] = self.degree[r] > 0);
        writer.needs();
        let declarations = writer.declarations(order);
        let last = (0..self.registers).map(|r| writer.degree(r)).filter(|&d| d != usize::MAX).max().unwrap_or(0);
        let mut orders = Vec::new();
        let last = if unrolled { order } else { last.min(order) };
        for k in 0..=last {
            writer.order(At::Order(k));
            orders.push(std::mem::take(&mut writer.text));
        }
        writer.order(At::Rest);
        let rest = std::mem::take(&mut writer.text);
        let arrays = writer.stored.iter().skip(self.inputs).chain(&writer.weighted).filter(|is| **is).count();
        Some(SeriesSource {
            arrays,
            declarations,
            orders,
            rest,
            outputs: self.outputs.iter().map(|&r| (r, writer.degree(r))).collect(),
            stored: writer.stored,
            marks: marks.iter().map(|r| format!("{prefix}{r}")).collect(),
        })
    }
}

impl SeriesSource {
    /// The name of output k: an array if all its coefficients are kept.
    #[must_use]
    pub fn output(&self, prefix: &str, k: usize) -> String {
        format!("{prefix}{}", self.outputs[k].0)
    }

    /// The last order of output k, where it is not a constant; `usize::MAX` where there is none.
    #[must_use]
    pub fn last_order(&self, k: usize) -> Option<usize> {
        Some(self.outputs[k].1).filter(|&degree| degree > 0)
    }

    /// The coefficient of output k in the statements of an order (None: those of the rest); "ZERO" where there is none.
    #[must_use]
    pub fn coefficient(&self, prefix: &str, k: usize, order: Option<usize>) -> String {
        let (r, degree) = self.outputs[k];
        let is_there = order.map_or(degree == usize::MAX, |order| order <= degree);
        match (is_there, self.stored[r], order) {
            (false, ..) => "ZERO".into(),
            (true, false, _) => format!("{prefix}{r}"),
            (true, true, Some(order)) => format!("{prefix}{r}[{order}]"),
            (true, true, None) => format!("{prefix}{r}[k]"),
        }
    }
}

impl Writer<'_> {
    fn degree(&self, r: usize) -> usize {
        if self.code.degree[r] > PEELED { usize::MAX } else { self.code.degree[r] }
    }

    /// Marks what later orders need.
    fn needs(&mut self) {
        for &(target, rule) in &self.code.rules {
            if self.degree(target) == 0 {
                continue;
            }
            let (mut store, mut weigh): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
            match rule {
                Rule::Mul(a, b) if self.degree(a) > 0 && self.degree(b) > 0 => store.extend([a, b]),
                Rule::Square(a) => store.push(a),
                Rule::Div(_, b) if self.degree(b) > 0 => store.extend([b, target]),
                Rule::Exp(x) => {
                    store.push(target);
                    weigh.push(x);
                }
                Rule::Sqrt(_) => store.push(target),
                Rule::Power(a, _) => store.extend([a, target]),
                Rule::Turn { x, .. } | Rule::Slope { x, .. } => {
                    store.extend([target, target + 1]);
                    weigh.push(x);
                }
                Rule::Quotient { d, .. } => {
                    store.push(d);
                    weigh.push(target);
                }
                Rule::Angle { a, b, d } => {
                    store.extend([a, b, d]);
                    weigh.extend([a, b, target]);
                }
                _ => {}
            }
            store.into_iter().filter(|&r| self.code.degree[r] > 0).for_each(|r| self.stored[r] = true);
            weigh.into_iter().for_each(|r| self.weighted[r] = true);
        }
    }

    fn declarations(&self, order: usize) -> String {
        let (p, length) = (self.prefix, order + 1);
        let mut text = String::new();
        for r in 0..self.code.registers {
            if self.weighted[r] {
                let _ = writeln!(text, "real {p}d{r}[{length}];");
            }
            if r < self.code.inputs {
                continue;
            }
            let constant = r.checked_sub(self.code.inputs).and_then(|k| self.code.constants.get(k));
            let _ = match (constant, self.stored[r]) {
                (Some(c), _) => writeln!(text, "const real {p}{r} = ALL({c:e});"),
                (None, true) => writeln!(text, "real {p}{r}[{length}];"),
                (None, false) => writeln!(text, "real {p}{r};"),
            };
        }
        for &(target, rule) in &self.code.rules {
            if self.divisor(target, rule).is_some() {
                let _ = writeln!(text, "real {p}i{target};");
            }
        }
        // What a polynomial does not have is zero.
        for r in 0..self.code.registers {
            let degree = self.degree(r);
            if degree < order && self.stored[r] {
                let _ = writeln!(text, "UNROLL for (int k = {}; k < {length}; k++) {p}{r}[k] = ZERO;", degree + 1);
            }
            if degree < order && self.weighted[r] {
                let _ = writeln!(text, "UNROLL for (int k = {}; k < {length}; k++) {p}d{r}[k] = ZERO;", degree + 1);
            }
        }
        text
    }

    /// The coefficient of a register at an order; None where it is zero.
    fn operand(&self, r: usize, at: At) -> Option<String> {
        let p = self.prefix;
        match at {
            At::Order(k) if self.degree(r) < k => None,
            At::Rest if self.degree(r) != usize::MAX => None,
            At::Order(k) if self.stored[r] => Some(format!("{p}{r}[{k}]")),
            At::Rest if self.stored[r] => Some(format!("{p}{r}[k]")),
            _ => Some(format!("{p}{r}")),
        }
    }

    fn first(&self, r: usize) -> String {
        self.operand(r, At::Order(0)).unwrap_or_default()
    }

    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn assign(&mut self, r: usize, at: At, value: &str) {
        let target = match (self.stored[r], at) {
            (true, At::Order(k)) => format!("{}{r}[{k}]", self.prefix),
            (true, At::Rest) => format!("{}{r}[k]", self.prefix),
            _ => format!("{}{r}", self.prefix),
        };
        self.line(&format!("{target} = {value};"));
        self.weigh(r, at);
    }

    /// k x_k, where it is needed.
    fn weigh(&mut self, r: usize, at: At) {
        if let (true, Some(x)) = (self.weighted[r], self.operand(r, at)) {
            let p = self.prefix;
            match at {
                At::Order(0) => {}
                At::Order(k) => self.line(&format!("{p}d{r}[{k}] = {k}.0 * {x};")),
                At::Rest => self.line(&format!("{p}d{r}[k] = (double)k * {x};")),
            }
        }
    }

    /// Σ a_j b_{k−j} for j from `from` to k − `rest`: arrays by name and degree.
    fn sum(&mut self, a: (&str, usize), b: (&str, usize), from: usize, rest: usize, at: At) -> String {
        let term = |i: String, j: String| format!("{}[{i}] * {}[{j}]", a.0, b.0);
        let terms: Vec<String> = match at {
            At::Order(k) => (from..=k.saturating_sub(rest))
                .filter(|&j| j <= a.1 && k - j <= b.1)
                .map(|j| term(j.to_string(), (k - j).to_string()))
                .collect(),
            At::Rest if a.1 != usize::MAX => (from..=a.1).map(|j| term(j.to_string(), format!("k - {j}"))).collect(),
            At::Rest if b.1 != usize::MAX => (rest..=b.1).map(|i| term(format!("k - {i}"), i.to_string())).collect(),
            At::Rest => {
                let name = format!("s{}", self.sums);
                self.sums += 1;
                let body = term("j".into(), "k - j".into());
                self.line(&format!("real {name} = ZERO;"));
                self.line(&format!("UNROLL for (int j = {from}; j <= k - {rest}; j++) {name} += {body};"));
                return name;
            }
        };
        // (Two chains of additions are done in the time of one.)
        let half = |from: usize| terms.iter().skip(from).step_by(2).cloned().collect::<Vec<_>>().join(" + ");
        match terms.len() {
            0 => "ZERO".into(),
            1..=5 => format!("({})", terms.join(" + ")),
            _ => format!("(({}) + ({}))", half(0), half(1)),
        }
    }

    fn array(&self, r: usize) -> String {
        format!("{}{r}", self.prefix)
    }

    fn slopes(&self, r: usize) -> String {
        format!("{}d{r}", self.prefix)
    }

    fn square(&mut self, a: usize, at: At) -> String {
        let name = self.array(a);
        match at {
            At::Order(k) => {
                let top = self.degree(a);
                let pairs =
                    (0..k.div_ceil(2)).filter(|&j| k - j <= top).map(|j| format!("{name}[{j}] * {name}[{}]", k - j));
                let pairs: Vec<String> = pairs.collect();
                let middle = (k % 2 == 0 && k / 2 <= top).then(|| format!("{name}[{0}] * {name}[{0}]", k / 2));
                let double = (!pairs.is_empty()).then(|| format!("2.0 * ({})", pairs.join(" + ")));
                let parts: Vec<String> = middle.into_iter().chain(double).collect();
                if parts.is_empty() { "ZERO".into() } else { format!("({})", parts.join(" + ")) }
            }
            At::Rest if self.degree(a) != usize::MAX => "ZERO".into(),
            At::Rest => {
                let s = format!("s{}", self.sums);
                self.sums += 1;
                self.line(&format!("real {s} = ZERO;"));
                self.line(&format!("UNROLL for (int j = 0; 2 * j < k; j++) {s} += {name}[j] * {name}[k - j];"));
                self.line(&format!("{s} += {s};"));
                self.line(&format!("if (k % 2 == 0) {s} += {name}[k / 2] * {name}[k / 2];"));
                s
            }
        }
    }

    fn order(&mut self, at: At) {
        (0..self.code.inputs).for_each(|r| self.weigh(r, at));
        for index in 0..self.code.rules.len() {
            let (target, rule) = self.code.rules[index];
            let is_there = match at {
                At::Order(k) => k <= self.degree(target),
                At::Rest => self.degree(target) == usize::MAX,
            };
            if is_there && !matches!(rule, Rule::Mark { .. }) {
                match at {
                    At::Order(0) => self.start(target, rule),
                    _ => self.next(target, rule, at),
                }
            }
        }
    }

    /// Order 0.
    fn start(&mut self, target: usize, rule: Rule) {
        let at = At::Order(0);
        let value = match rule {
            Rule::Add(a, b) => format!("{} + {}", self.first(a), self.first(b)),
            Rule::Sub(a, b) => format!("{} - {}", self.first(a), self.first(b)),
            Rule::Neg(a) => format!("-{}", self.first(a)),
            Rule::Scale(a, s) => format!("{s:e} * {}", self.first(a)),
            Rule::Shift(a, s) => format!("{} + {s:e}", self.first(a)),
            Rule::Mul(a, b) => format!("{} * {}", self.first(a), self.first(b)),
            Rule::Square(a) => format!("{0} * {0}", self.first(a)),
            Rule::Div(a, b) => format!("{} / {}", self.first(a), self.first(b)),
            Rule::Exp(a) => format!("f_exp({})", self.first(a)),
            Rule::Sqrt(a) => format!("f_sqrt({})", self.first(a)),
            Rule::Power(a, p) => format!("f_pow({}, {p:e})", self.first(a)),
            Rule::Turn { x, of, with, .. } => {
                let (x, sine, other) = (self.first(x), self.first(target), self.first(target + 1));
                match of {
                    Function1::Sin => self.line(&format!("sine_and_cosine({x}, &{sine}, &{other});")),
                    _ => {
                        self.line(&format!("{sine} = f_{}({x});", of.name()));
                        self.line(&format!("{other} = f_{}({x});", with.name()));
                    }
                }
                return;
            }
            Rule::Slope { x, sign, of } => {
                let (x, y, slope) = (self.first(x), self.first(target), self.first(target + 1));
                self.line(&format!("{y} = f_{}({x});", of.name()));
                self.line(&format!("{slope} = 1.0 + {sign:e} * {y} * {y};"));
                return;
            }
            Rule::Quotient { x, of, .. } => format!("f_{}({})", of.name(), self.first(x)),
            Rule::Angle { a, b, .. } => format!("f_atan2({}, {})", self.first(a), self.first(b)),
            _ => "ALL(NAN)".into(),
        };
        self.assign(target, at, &value);
        if let Some(divisor) = self.divisor(target, rule) {
            self.line(&format!("{}i{target} = 1.0 / {divisor};", self.prefix));
        }
    }

    /// What the coefficients of a register are divided by, order by order.
    fn divisor(&self, target: usize, rule: Rule) -> Option<String> {
        let divisor = match rule {
            Rule::Div(_, b) | Rule::Power(b, _) => self.first(b),
            Rule::Sqrt(_) => format!("(2.0 * {})", self.first(target)),
            Rule::Quotient { d, .. } | Rule::Angle { d, .. } => self.first(d),
            _ => return None,
        };
        (self.degree(target) > 0).then_some(divisor)
    }

    /// Order k > 0.
    fn next(&mut self, target: usize, rule: Rule, at: At) {
        let over = |at: At| match at {
            At::Order(k) => format!("inverse[{k}]"),
            At::Rest => "inverse[k]".into(),
        };
        let (order, unbounded) = (over(at), usize::MAX);
        let (y, inverse) = ((self.array(target), self.degree(target)), format!("{}i{target}", self.prefix));
        let value = match rule {
            Rule::Add(a, b) => match (self.operand(a, at), self.operand(b, at)) {
                (Some(a), Some(b)) => format!("{a} + {b}"),
                (Some(one), None) | (None, Some(one)) => one,
                (None, None) => "ZERO".into(),
            },
            Rule::Sub(a, b) => match (self.operand(a, at), self.operand(b, at)) {
                (Some(a), Some(b)) => format!("{a} - {b}"),
                (Some(a), None) => a,
                (None, Some(b)) => format!("-{b}"),
                (None, None) => "ZERO".into(),
            },
            Rule::Neg(a) => self.operand(a, at).map_or("ZERO".into(), |a| format!("-{a}")),
            Rule::Scale(a, s) => self.operand(a, at).map_or("ZERO".into(), |a| format!("{s:e} * {a}")),
            Rule::Shift(a, _) => self.operand(a, at).unwrap_or("ZERO".into()),
            Rule::Mul(a, b) => match (self.degree(a), self.degree(b)) {
                (0, _) => self.operand(b, at).map_or("ZERO".into(), |x| format!("{} * {x}", self.first(a))),
                (_, 0) => self.operand(a, at).map_or("ZERO".into(), |x| format!("{x} * {}", self.first(b))),
                (da, db) => self.sum((&self.array(a), da), (&self.array(b), db), 0, 0, at),
            },
            Rule::Square(a) => self.square(a, at),
            Rule::Div(a, b) => {
                let top = self.operand(a, at).unwrap_or("ZERO".into());
                match self.degree(b) {
                    0 => format!("{top} * {inverse}"),
                    db => {
                        let rest = self.sum((&self.array(b), db), (&y.0, y.1), 1, 0, at);
                        format!("({top} - {rest}) * {inverse}")
                    }
                }
            }
            Rule::Exp(x) => {
                let sum = self.sum((&self.slopes(x), self.degree(x)), (&y.0, y.1), 1, 0, at);
                format!("{order} * {sum}")
            }
            Rule::Sqrt(x) => {
                let rest = self.sum((&y.0, y.1), (&y.0, y.1), 1, 1, at);
                let top = self.operand(x, at).unwrap_or("ZERO".into());
                format!("({top} - {rest}) * {inverse}")
            }
            Rule::Power(a, p) => {
                let name = self.array(a);
                let s = format!("s{}", self.sums);
                self.sums += 1;
                let k = if let At::Order(k) = at { k.to_string() } else { "k".into() };
                let top = if self.degree(a) == unbounded { k.clone() } else { self.degree(a).to_string() };
                self.line(&format!("real {s} = ZERO;"));
                self.line(&format!(
                    "UNROLL for (int j = 1; j <= {top} && j <= {k}; j++) {s} += ({p:e} * j - ({k} - j)) * {name}[j] * {}[{k} - j];",
                    y.0
                ));
                format!("{order} * {s} * {inverse}")
            }
            Rule::Turn { x, sign, .. } => {
                let (slopes, dx) = (self.slopes(x), self.degree(x));
                let other = self.array(target + 1);
                if let (1, Some(before)) = (dx, previous(at)) {
                    // A harmonic of time: one factor for both.
                    let rate = format!("s{}", self.sums);
                    self.sums += 1;
                    self.line(&format!("real {rate} = {order} * {slopes}[1];"));
                    let turned = if sign < 0.0 {
                        format!("-({rate} * {}[{before}])", y.0)
                    } else {
                        format!("{rate} * {}[{before}]", y.0)
                    };
                    self.assign(target, at, &format!("{rate} * {other}[{before}]"));
                    self.assign(target + 1, at, &turned);
                    return;
                }
                let value = self.sum((&slopes, dx), (&other, unbounded), 1, 0, at);
                let turned = self.sum((&slopes, dx), (&y.0, unbounded), 1, 0, at);
                self.assign(target, at, &format!("{order} * {value}"));
                self.assign(target + 1, at, &format!("{sign:e} * {order} * {turned}"));
                return;
            }
            Rule::Slope { x, sign, .. } => {
                let (slopes, dx) = (self.slopes(x), self.degree(x));
                let sum = self.sum((&slopes, dx), (&self.array(target + 1), unbounded), 1, 0, at);
                self.assign(target, at, &format!("{order} * {sum}"));
                let squared = self.square(target, at);
                self.assign(target + 1, at, &format!("{sign:e} * {squared}"));
                return;
            }
            Rule::Quotient { x, d, sign, .. } => {
                let rest = self.sum((&self.slopes(target), unbounded), (&self.array(d), self.degree(d)), 1, 1, at);
                let top = self.operand(x, at).unwrap_or("ZERO".into());
                format!("({sign:e} * {top} - {order} * {rest}) * {inverse}")
            }
            Rule::Angle { a, b, d } => {
                let (left, right) = ((self.slopes(a), self.array(b)), (self.slopes(b), self.array(a)));
                let one = self.sum((&left.0, self.degree(a)), (&left.1, self.degree(b)), 1, 0, at);
                let two = self.sum((&right.0, self.degree(b)), (&right.1, self.degree(a)), 1, 0, at);
                let rest = self.sum((&self.slopes(target), unbounded), (&self.array(d), self.degree(d)), 1, 1, at);
                format!("{order} * ({one} - {two} - {rest}) * {inverse}")
            }
            _ => "ALL(NAN)".into(),
        };
        self.assign(target, at, &value);
    }
}
