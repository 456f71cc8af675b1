//! The code of a series, order by order, as lanes compute it: sums, differences and multiples of registers that nothing else needs become
//! one linear combination, and what a polynomial does not have is left out.

use super::SeriesCode;
use super::rules::Rule;

/// How a coefficient of a register follows.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// Σ c x_k over these of the terms.
    Sum(usize, usize),
    /// By a rule that is not linear.
    Rule(Rule),
}

/// What is computed for one order.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    /// The register that is computed, operands before their users, and how.
    pub(super) steps: Vec<(usize, Step)>,
    /// Registers and their factors.
    pub(super) terms: Vec<(usize, f64)>,
}

/// The registers that a rule reads, of those that lanes know.
fn operands(rule: Rule) -> [Option<usize>; 3] {
    match rule {
        Rule::Add(a, b) | Rule::Sub(a, b) | Rule::Mul(a, b) | Rule::Div(a, b) => [Some(a), Some(b), None],
        Rule::Neg(a) | Rule::Scale(a, _) | Rule::Shift(a, _) | Rule::Square(a) | Rule::Power(a, _) => {
            [Some(a), None, None]
        }
        Rule::Exp(x) | Rule::Sqrt(x) | Rule::Turn { x, .. } | Rule::Slope { x, .. } => [Some(x), None, None],
        Rule::Quotient { x, d, .. } => [Some(x), Some(d), None],
        Rule::Angle { a, b, d } => [Some(a), Some(b), Some(d)],
        _ => [None; 3],
    }
}

/// The terms of a rule that is linear.
fn linear(rule: Rule) -> Option<[Option<(usize, f64)>; 2]> {
    match rule {
        Rule::Add(a, b) => Some([Some((a, 1.0)), Some((b, 1.0))]),
        Rule::Sub(a, b) => Some([Some((a, 1.0)), Some((b, -1.0))]),
        Rule::Neg(a) => Some([Some((a, -1.0)), None]),
        Rule::Scale(a, s) => Some([Some((a, s)), None]),
        Rule::Shift(a, _) => Some([Some((a, 1.0)), None]),
        _ => None,
    }
}

impl SeriesCode {
    /// What is computed for orders 1 to `order` (order 0 is that of the rules as they are).
    pub(super) fn combined(&self, order: usize) -> Vec<Order> {
        let mut uses = vec![0; self.registers];
        self.outputs.iter().chain(self.switches.iter().map(|switch| &switch.x)).for_each(|&r| uses[r] += 1);
        let mut rule_of = vec![None; self.registers];
        let mut is_summed = vec![false; self.registers];
        for &(target, rule) in &self.rules {
            rule_of[target] = Some(rule);
            operands(rule).into_iter().flatten().for_each(|r| uses[r] += 1);
            if linear(rule).is_some() {
                operands(rule).into_iter().flatten().for_each(|r| is_summed[r] = true);
            }
        }
        // Read once, by a rule that is linear.
        let is_absorbed: Vec<bool> = (0..self.registers)
            .map(|r| uses[r] == 1 && is_summed[r] && rule_of[r].is_some_and(|rule| linear(rule).is_some()))
            .collect();
        let mut orders = vec![Order::default(); order + 1];
        for (k, order) in orders.iter_mut().enumerate().skip(1) {
            for &(target, rule) in &self.rules {
                let is_there = self.degree[target] >= k && !is_absorbed[target] && !matches!(rule, Rule::Mark { .. });
                if !is_there {
                    continue;
                }
                let step = match linear(rule) {
                    None => Step::Rule(rule),
                    Some(_) => {
                        let from = order.terms.len();
                        self.collect(target, 1.0, k, &rule_of, &is_absorbed, &mut order.terms);
                        Step::Sum(from, order.terms.len())
                    }
                };
                order.steps.push((target, step));
            }
        }
        orders
    }

    /// Adds the terms of the linear rule of a register, times a factor.
    fn collect(
        &self,
        register: usize,
        factor: f64,
        k: usize,
        rule_of: &[Option<Rule>],
        is_absorbed: &[bool],
        terms: &mut Vec<(usize, f64)>,
    ) {
        for (r, c) in rule_of[register].and_then(linear).into_iter().flatten().flatten() {
            if self.degree[r] < k {
                continue;
            }
            match is_absorbed[r] {
                true => self.collect(r, factor * c, k, rule_of, is_absorbed, terms),
                false => terms.push((r, factor * c)),
            }
        }
    }
}
