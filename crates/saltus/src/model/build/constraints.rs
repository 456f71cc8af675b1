//! Gaps and restitutions.

use super::super::names::{Level, indexed};
use super::super::{Constraint, ConstraintText, Friction, State};
use super::{Build, Locals, parse};
use crate::{Kind, SetupError};
use saltus_expr::{CompareOp, Expr, ExprKind, NodeId, lower_with};

impl Build<'_> {
    /// Constraints with their friction.
    pub(super) fn constraints(&mut self, states: &[State]) -> Result<(Vec<Constraint>, Vec<Friction>), SetupError> {
        let mut constraints: Vec<Constraint> = Vec::new();
        let mut frictions: Vec<Friction> = Vec::new();
        for c in &self.text.constraints {
            if c.name.text.trim().is_empty() {
                return Err(SetupError::new("a constraint needs a name").at(c.name.span.clone(), "empty"));
            }
            let expr = parse(&c.gap)?;
            refuse_comparison(&expr)?;
            for (member, locals) in self.members(&c.range)? {
                let gap = lower_with(&expr, &mut self.graph, &mut self.names, &locals)?;
                if self.graph.depends_on_any(gap, &self.names.v) {
                    return Err(SetupError::new("a gap may not depend on velocities")
                        .at(c.gap.span.clone(), "velocity used here")
                        .help("unilateral constraints are f(t, q) ≥ 0; there are no one-sided speed limits"));
                }
                if !self.graph.depends_on_any(gap, &self.names.q) {
                    return Err(SetupError::new("the gap does not depend on any coordinate")
                        .at(c.gap.span.clone(), "constrains nothing"));
                }
                let q = self.names.q.clone();
                if q.iter().all(|&q| {
                    let slope = self.graph.derivative(gap, q);
                    self.graph.is_zero(slope)
                }) {
                    return Err(SetupError::new("the gap has no slope anywhere")
                        .at(c.gap.span.clone(), "constant in pieces")
                        .help("a gap is a distance: it must grow as the system moves away from the obstacle"));
                }
                let (restitution_node, restitution) = self.restitution(c, &locals)?;
                let name = indexed(&c.name.text, member);
                if constraints.iter().any(|other| other.name == name) {
                    return Err(SetupError::new(format!("two constraints are called `{name}`"))
                        .at(c.name.span.clone(), "second use")
                        .help("reports tell constraints apart by their names"));
                }
                self.check_states_of_gap(gap, c, states)?;
                let friction = match &c.friction {
                    Some(text) => {
                        frictions.push(self.friction(text, &locals, constraints.len(), &name)?);
                        Some(frictions.len() - 1)
                    }
                    None => None,
                };
                let span = c.gap.span.clone();
                constraints.push(Constraint { name, gap, restitution, restitution_node, friction, span });
            }
        }
        self.sliders(&mut frictions, &constraints)?;
        Ok((constraints, frictions))
    }

    /// A gap may use states like the time: its velocity must not jump because of them.
    fn check_states_of_gap(&self, gap: NodeId, c: &ConstraintText, states: &[State]) -> Result<(), SetupError> {
        let jumps = |(z, state): &(&NodeId, &State)| {
            self.graph.depends_on(gap, **z) && self.graph.depends_on_any(state.rate, &self.names.v)
        };
        let Some((_, state)) = self.names.z.iter().zip(states).find(jumps) else { return Ok(()) };
        Err(SetupError::new(format!("the rate of `{}`, which the gap uses, depends on velocities", state.name))
            .at(c.gap.span.clone(), format!("`{}` is used here", state.name))
            .help(format!(
                "velocities jump in an impact, so the velocity of this gap would jump by itself and no impulse is defined: \
                 give `{}` a rate that depends on time, positions and states only (a state in between, \
                 v_slow' = (x' - v_slow)/tau, smooths a velocity), or give the obstacle inertia as a coordinate",
                state.name
            )))
    }

    fn restitution(&mut self, c: &ConstraintText, locals: &Locals) -> Result<(NodeId, f64), SetupError> {
        let Some(text) = c.restitution.as_ref().or(self.text.restitution.as_ref()) else {
            return Err(SetupError::new(format!("the constraint `{}` has no restitution", c.name.text))
                .at(c.name.span.clone(), "no restitution for this one")
                .help("add  [impact]  restitution = 0.8  for all constraints, or  restitution = …  to this one"));
        };
        let text = text.clone();
        let speed = self.graph.symbol("|approach speed|");
        self.speed = Some(speed);
        self.names.speed = Some(speed);
        let outer = std::mem::replace(&mut self.names.level, Level::Constants);
        let node = self.lower(&text, locals);
        self.names.level = outer;
        self.names.speed = None;
        let node = node?;
        // (Where it depends on the speed of approach, a sweep over twenty decades.)
        let speeds = match self.graph.depends_on(node, speed) {
            true => (0..=400).map(|k| if k == 0 { 0.0 } else { 10f64.powf(0.05 * f64::from(k) - 10.0) }).collect(),
            false => vec![0.0],
        };
        let (mut first, mut wrong) = (None, None);
        for s in speeds {
            let at = self.graph.constant(s);
            let there = self.graph.substitute(node, &[(speed, at)]);
            let e = self.value(there).ok_or_else(|| {
                SetupError::new("a restitution must be a number known before the run, or depend on `speed` alone")
                    .at(text.span.clone(), "depends on time or coordinates")
            })?;
            first = first.or(Some(e));
            if !(0.0..=1.0).contains(&e) {
                wrong = Some((e, s));
                break;
            }
        }
        let Some((e, s)) = wrong else { return Ok((node, first.unwrap_or(0.0))) };
        let at = if s > 0.0 { format!(" at an approach speed of {s}") } else { String::new() };
        Err(SetupError::new(format!("the restitution {e}{at} is outside [0, 1]"))
            .with_kind(Kind::OutOfRange { name: "restitution".into(), value: e })
            .at(text.span, "must be between 0 and 1")
            .help("0 keeps the bodies together, 1 loses no energy; above 1 an impact would create energy"))
    }
}

/// `gap = "x == 0"` or `gap = "x >= 1"`: say what to write instead.
fn refuse_comparison(expr: &Expr) -> Result<(), SetupError> {
    let ExprKind::Compare { op, .. } = &expr.kind else { return Ok(()) };
    Err(match op {
        CompareOp::Equal | CompareOp::NotEqual => SetupError::new("a constraint is one-sided: gap ≥ 0")
            .at(expr.span.clone(), "an equation")
            .help("an equation that holds for all time is a joint:  [[joint]]  equation = \"…\""),
        _ => SetupError::new("a gap is an expression, not a comparison").at(expr.span.clone(), "a comparison").help(
            "the constraint is gap ≥ 0: for  x >= a  write  gap = \"x - a\", for  x <= b  write  gap = \"b - x\"",
        ),
    })
}
