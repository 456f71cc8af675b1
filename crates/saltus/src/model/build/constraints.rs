//! Gaps and restitutions.

use super::super::names::indexed;
use super::super::{Constraint, ConstraintText};
use super::{Build, Locals, parse};
use crate::{Kind, SetupError};
use saltus_expr::{CompareOp, Expr, ExprKind, NodeId, lower_with};

impl Build<'_> {
    pub(super) fn constraints(&mut self) -> Result<Vec<Constraint>, SetupError> {
        let mut constraints: Vec<Constraint> = Vec::new();
        for c in &self.text.constraints {
            if c.name.text.trim().is_empty() {
                return Err(SetupError::new("a constraint needs a name").at(c.name.span.clone(), "empty"));
            }
            let expr = parse(&c.gap)?;
            refuse_comparison(&expr)?;
            let members: Vec<(Option<i64>, Locals)> = match self.optional_family(&c.range)? {
                Some(f) => f.members().map(|i| (Some(i), vec![(f.index.clone(), i)])).collect(),
                None => vec![(None, Vec::new())],
            };
            for (member, locals) in members {
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
                constraints.push(Constraint { name, gap, restitution, restitution_node, span: c.gap.span.clone() });
            }
        }
        Ok(constraints)
    }

    fn restitution(&mut self, c: &ConstraintText, locals: &Locals) -> Result<(NodeId, f64), SetupError> {
        let Some(text) = c.restitution.as_ref().or(self.text.restitution.as_ref()) else {
            return Err(SetupError::new(format!("the constraint `{}` has no restitution", c.name.text))
                .at(c.name.span.clone(), "no restitution for this one")
                .help("add  [impact]  restitution = 0.8  for all constraints, or  restitution = …  to this one"));
        };
        let text = text.clone();
        let (node, e) = self.number(&text, locals, "a restitution")?;
        if (0.0..=1.0).contains(&e) {
            return Ok((node, e));
        }
        Err(SetupError::new(format!("the restitution {e} is outside [0, 1]"))
            .with_kind(Kind::OutOfRange { name: "restitution".into(), value: e })
            .at(text.span, "must be between 0 and 1")
            .help("0 keeps the bodies together, 1 loses no energy; above 1 an impact would create energy"))
    }
}

/// `gap = "x == 0"` or `gap = "x >= 1"`: say what to write instead.
fn refuse_comparison(expr: &Expr) -> Result<(), SetupError> {
    let ExprKind::Compare { op, .. } = &expr.kind else { return Ok(()) };
    Err(match op {
        CompareOp::Equal | CompareOp::NotEqual => SetupError::new("bilateral constraints (joints) are not supported")
            .at(expr.span.clone(), "an equation")
            .help(
                "Saltus has unilateral constraints, gap ≥ 0; choose coordinates that satisfy the joint by themselves",
            ),
        _ => SetupError::new("a gap is an expression, not a comparison").at(expr.span.clone(), "a comparison").help(
            "the constraint is gap ≥ 0: for  x >= a  write  gap = \"x - a\", for  x <= b  write  gap = \"b - x\"",
        ),
    })
}
