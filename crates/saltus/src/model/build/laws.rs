//! Joints and friction.

use super::super::names::indexed;
use super::super::{Constraint, Friction, FrictionText, Joint, Slip, Text};
use super::{Build, Locals, parse};
use crate::{Kind, SetupError};
use saltus_expr::{CompareOp, ExprKind, NodeId, lower_with};

impl Build<'_> {
    pub(super) fn joints(&mut self) -> Result<Vec<Joint>, SetupError> {
        let mut joints: Vec<Joint> = Vec::new();
        for text in &self.text.joints {
            if text.equations.is_empty() {
                return Err(SetupError::new(format!("the joint `{}` has no equation", text.name.text))
                    .at(text.name.span.clone(), "holds nothing"));
            }
            for (member, locals) in self.members(&text.range)? {
                let base = indexed(&text.name.text, member);
                for (k, equation) in text.equations.iter().enumerate() {
                    let name = match text.equations.len() {
                        1 => base.clone(),
                        _ => format!("{base}[{}]", k + 1),
                    };
                    if joints.iter().any(|other| other.name == name) {
                        return Err(SetupError::new(format!("two joints are called `{name}`"))
                            .at(text.name.span.clone(), "second use"));
                    }
                    let node = self.equation(equation, &locals)?;
                    joints.push(Joint { name, equation: node, span: equation.span.clone() });
                }
            }
        }
        Ok(joints)
    }

    /// The left-hand side of an equation `f`, `f == 0` or `f == g`.
    fn equation(&mut self, text: &Text, locals: &Locals) -> Result<NodeId, SetupError> {
        let expr = parse(text)?;
        let node = match &expr.kind {
            ExprKind::Compare { op: CompareOp::Equal, left, right } => {
                let left = lower_with(left, &mut self.graph, &mut self.names, locals)?;
                let right = lower_with(right, &mut self.graph, &mut self.names, locals)?;
                self.graph.sub(left, right)
            }
            ExprKind::Compare { .. } => {
                return Err(SetupError::new("a joint is an equation, not an inequality")
                    .at(expr.span.clone(), "an inequality")
                    .help("one-sided constraints are [[constraint]] sections with a gap"));
            }
            _ => lower_with(&expr, &mut self.graph, &mut self.names, locals)?,
        };
        if self.graph.depends_on_any(node, &self.names.v) {
            return Err(SetupError::new("a joint may not depend on velocities")
                .at(text.span.clone(), "velocity used here")
                .help("joints are equations f(t, q) = 0; for rolling without slip give the integrated condition"));
        }
        if self.graph.depends_on_any(node, &self.names.z) {
            return Err(SetupError::new("a joint may not depend on first-order states")
                .at(text.span.clone(), "a state is used here")
                .help("joints are equations f(t, q) = 0"));
        }
        if !self.graph.depends_on_any(node, &self.names.q) {
            return Err(SetupError::new("the equation of the joint contains no coordinate")
                .at(text.span.clone(), "holds nothing"));
        }
        Ok(node)
    }

    /// The members of an optional family with their indices.
    pub(super) fn members(&mut self, range: &Option<Text>) -> Result<Vec<(Option<i64>, Locals)>, SetupError> {
        Ok(match self.optional_family(range)? {
            Some(f) => f.members().map(|i| (Some(i), vec![(f.index.clone(), i)])).collect(),
            None => vec![(None, Vec::new())],
        })
    }

    /// Friction at a constraint.
    pub(super) fn friction(
        &mut self,
        text: &FrictionText,
        locals: &Locals,
        constraint: usize,
        name: &str,
    ) -> Result<Friction, SetupError> {
        if !(1..=2).contains(&text.slips.len()) {
            return Err(SetupError::new("friction needs a slip velocity: one in the plane, two in space")
                .at(text.coefficient.span.clone(), format!("{} given", text.slips.len()))
                .help("slip = \"x' + r*theta'\"   or, in space,   slip = [\"x'\", \"y'\"]"));
        }
        let tangential = match &text.tangential {
            Some(text) => self.number(text, locals, "a tangential restitution")?.1,
            None => 0.0,
        };
        if !(0.0..=1.0).contains(&tangential) {
            let place = text.tangential.as_ref().map_or(text.coefficient.span.clone(), |t| t.span.clone());
            return Err(SetupError::new(format!("the tangential restitution {tangential} is outside [0, 1]"))
                .with_kind(Kind::OutOfRange { name: "tangential".into(), value: tangential })
                .at(place, "must be between 0 and 1"));
        }
        let (coefficient, sticking) = (&text.coefficient, text.static_coefficient.as_ref());
        let mut friction = self.slides(name, &text.slips, coefficient, sticking, locals)?;
        friction.constraint = Some(constraint);
        friction.tangential = tangential;
        Ok(friction)
    }

    /// Dry friction of known limit, behind that of the constraints.
    pub(super) fn sliders(
        &mut self,
        frictions: &mut Vec<Friction>,
        constraints: &[Constraint],
    ) -> Result<(), SetupError> {
        for text in &self.text.sliders {
            for (member, locals) in self.members(&text.range)? {
                let name = indexed(&text.name.text, member);
                if frictions.iter().any(|f| f.name == name) || constraints.iter().any(|c| c.name == name) {
                    return Err(SetupError::new(format!("the name `{name}` is used twice"))
                        .at(text.name.span.clone(), "second use")
                        .help("reports tell constraints and friction apart by their names"));
                }
                let slips = std::slice::from_ref(&text.slip);
                let slider = self.slides(&name, slips, &text.limit, text.static_limit.as_ref(), &locals)?;
                frictions.push(slider);
            }
        }
        Ok(())
    }

    fn slides(
        &mut self,
        name: &str,
        slips: &[Text],
        kinetic: &Text,
        sticking: Option<&Text>,
        locals: &Locals,
    ) -> Result<Friction, SetupError> {
        let slips = slips.iter().map(|text| self.slip(text, locals)).collect::<Result<Vec<_>, _>>()?;
        // No name of a model can be this one.
        let speed = self.graph.symbol(&format!("|slip of {name}|"));
        let zero = self.graph.constant(0.0);
        self.names.speed = Some(speed);
        let sliding = self.lower(kinetic, locals);
        self.names.speed = Some(zero);
        let held = sticking.map(|text| self.lower(text, locals)).transpose();
        self.names.speed = None;
        let sliding = sliding?;
        let held = match held? {
            Some(node) => node,
            None => self.graph.substitute(sliding, &[(speed, zero)]),
        };
        for (node, text) in [(sliding, kinetic), (held, sticking.unwrap_or(kinetic))] {
            if let Some(value) = self.value(node).filter(|x| !(*x >= 0.0 && x.is_finite())) {
                return Err(SetupError::new(format!("the friction of `{name}` is {value}"))
                    .with_kind(Kind::OutOfRange { name: "friction".into(), value })
                    .at(text.span.clone(), "must not be negative")
                    .help("friction acts against the slip by itself; its coefficient or limit is a size"));
            }
        }
        Ok(Friction {
            name: name.to_string(),
            constraint: None,
            slips,
            kinetic: sliding,
            sticking: held,
            speed,
            tangential: 0.0,
            span: kinetic.span.clone(),
        })
    }

    /// A slip velocity, which must be affine in the velocities.
    fn slip(&mut self, text: &Text, locals: &Locals) -> Result<Slip, SetupError> {
        let value = self.lower(text, locals)?;
        let (v, zero) = (self.names.v.clone(), self.graph.constant(0.0));
        let row: Vec<NodeId> = v.iter().map(|&v| self.graph.derivative(value, v)).collect();
        if row.iter().all(|&slope| self.graph.is_zero(slope)) {
            return Err(SetupError::new("the slip contains no velocity")
                .at(text.span.clone(), "nothing slides here")
                .help("a slip is the velocity with which two surfaces slide on each other, such as  x' + r*theta'"));
        }
        if row.iter().any(|&slope| self.graph.depends_on_any(slope, &v)) || !self.graph.corners_are_free_of(value, &v) {
            return Err(SetupError::new("a slip must be affine in the velocities")
                .at(text.span.clone(), "not affine in them")
                .help(
                    "give the sliding velocity itself, with its sign, such as  x' + r*theta';  in space two of them",
                ));
        }
        let at_rest: Vec<(NodeId, NodeId)> = v.iter().map(|&v| (v, zero)).collect();
        let rest = self.graph.substitute(value, &at_rest);
        Ok(Slip { value, row, rest })
    }
}
