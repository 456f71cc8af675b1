//! Mass, forces, energies and the exact motion.

use super::super::description::*;
use super::super::lagrange::{self, Symbols};
use super::super::names::Meaning;
use super::{Build, Locals, is_literal, usage, whole};
use crate::SetupError;
use saltus_expr::{ExprKind, NodeId, integer, parse_target_at};

impl Build<'_> {
    pub(super) fn inertia(&mut self) -> Result<(Vec<NodeId>, Vec<NodeId>, NodeId), SetupError> {
        let d = self.names.q.len();
        let Some(inertia) = &self.text.inertia else {
            return Err(SetupError::new("the model has no inertia").help(
                "give the kinetic energy in [dynamics], such as  kinetic = \"m*y'^2/2\",  or a mass matrix  mass = [[\"m\"]]",
            ));
        };
        match inertia {
            Inertia::Kinetic(text) => {
                let kinetic = self.lower(text, &Vec::new())?;
                self.refuse_states(kinetic, text, "the kinetic energy")?;
                self.places.inertia = text.span.clone();
                let symbols = Symbols { t: self.names.t, q: &self.names.q, v: &self.names.v };
                let (mass, force) = lagrange::inertia(&mut self.graph, kinetic, &symbols)
                    .map_err(|e| e.at(text.span.clone(), "couples them"))?;
                let varying = mass.iter().filter(|&&m| self.graph.value(m).is_none());
                if varying.copied().any(|m| self.graph.depends_on_any(m, &self.names.v)) {
                    return Err(SetupError::new("the kinetic energy is not quadratic in the velocities")
                        .at(text.span.clone(), "its second derivative still contains a velocity")
                        .help("T must be ½ v·M(q)v, perhaps with terms linear in v; put other effects in [dynamics.force]"));
                }
                Ok((mass, force, kinetic))
            }
            Inertia::Mass(rows, span) => {
                self.places.inertia = span.clone();
                if rows.len() != d || rows.iter().any(|r| r.len() != d) {
                    let sizes: Vec<String> = rows.iter().map(|r| r.len().to_string()).collect();
                    return Err(SetupError::new(format!(
                        "the mass matrix must be {d} × {d}, one row and one column for each coordinate"
                    ))
                    .at(span.clone(), format!("row lengths here: {}", sizes.join(", "))));
                }
                let mut mass = Vec::with_capacity(d * d);
                for text in rows.iter().flatten() {
                    let entry = self.lower(text, &Vec::new())?;
                    self.refuse_states(entry, text, "a mass")?;
                    if self.graph.depends_on_any(entry, &self.names.v) {
                        return Err(SetupError::new("a mass may not depend on velocities")
                            .at(text.span.clone(), "velocity used here"));
                    }
                    mass.push(entry);
                }
                let zero = self.graph.constant(0.0);
                let kinetic = lagrange::kinetic(&mut self.graph, &mass, &self.names.v);
                Ok((mass, vec![zero; d], kinetic))
            }
        }
    }

    /// Lowers the potential and takes its gradient off the force.
    pub(super) fn potential(&mut self, force: &mut [NodeId]) -> Result<Option<NodeId>, SetupError> {
        let Some(text) = &self.text.potential else { return Ok(None) };
        let potential = self.lower(text, &Vec::new())?;
        if self.graph.depends_on_any(potential, &self.names.v) {
            return Err(SetupError::new("a potential may not depend on velocities")
                .at(text.span.clone(), "velocity used here")
                .help("put velocity-dependent forces in [dynamics.force]"));
        }
        for (f, &q) in force.iter_mut().zip(&self.names.q) {
            let slope = self.graph.derivative(potential, q);
            *f = self.graph.sub(*f, slope);
        }
        Ok(Some(potential))
    }

    /// Lowers texts that belong to coordinates, families expanded, and passes each value on with its coordinate.
    pub(super) fn spread(
        &mut self,
        texts: &[ForceText],
        take: &mut dyn FnMut(&mut Self, usize, NodeId),
    ) -> Result<(), SetupError> {
        for f in texts {
            let family = self.optional_family(&f.range)?;
            let mut target = parse_target_at(&f.target.text, f.target.span.start).map_err(|e| whole(e, &f.target))?;
            if !is_literal(&f.target) {
                target.cover(&f.target.span);
            }
            let ExprKind::Name { name, index, .. } = &target.kind else {
                return Err(SetupError::new("a coordinate is needed here").at(target.span, "not a coordinate"));
            };
            let Some(Meaning::Coordinate { first, family: of }) = self.names.get(name) else {
                let known = self.text.coordinates.iter().map(|c| c.name.text.as_str());
                let message = format!("`{name}` is not a coordinate");
                return Err(SetupError::unknown(message, name, known, "the coordinates are")
                    .at(target.span.clone(), "must be a coordinate"));
            };
            let (first, of) = (*first, of.clone());
            let members: Vec<(i64, Locals)> = match (&of, &family, index.as_slice()) {
                (None, None, []) => vec![(0, Vec::new())],
                (Some(_), Some(f), []) => f.members().map(|i| (i, vec![(f.index.clone(), i)])).collect(),
                (Some(_), None, [i]) => {
                    let i = integer(i, &mut self.graph, &mut self.names, &[])?;
                    vec![(i, Vec::new())]
                }
                _ => {
                    return Err(SetupError::new(format!("`{name}` is {} here", usage(of.is_some())))
                        .at(f.target.span.clone(), "which member?")
                        .help(format!(
                            "one member:  \"{name}[1]\" = \"…\"   several:  {name} = {{ for = \"i = 1..n\", value = \"…\" }}"
                        )));
                }
            };
            for (i, locals) in members {
                let offset = match &of {
                    Some(of) if (of.from..=of.to).contains(&i) => (i - of.from) as usize,
                    Some(of) => {
                        return Err(SetupError::new(format!(
                            "`{name}[{i}]` is outside the family {name}[{}..{}]",
                            of.from, of.to
                        ))
                        .at(f.target.span.clone(), "no such member"));
                    }
                    None => 0,
                };
                let value = self.lower(&f.value, &locals)?;
                take(self, first + offset, value);
            }
        }
        Ok(())
    }

    /// The exact motion: functions of time and parameters alone, for every coordinate or for none.
    pub(super) fn exact(&mut self) -> Result<Option<Vec<NodeId>>, SetupError> {
        let texts = &self.text.exact;
        let Some(first) = texts.first() else { return Ok(None) };
        let mut known: Vec<Option<NodeId>> = vec![None; self.names.q.len()];
        self.spread(texts, &mut |_, k, value| known[k] = Some(value))?;
        if let Some(k) = known.iter().position(Option::is_none) {
            return Err(SetupError::new(format!("the exact motion of `{}` is not given", self.coordinates[k]))
                .at(first.target.span.clone(), "others are")
                .help("give it for every coordinate, or leave [exact] out"));
        }
        let known: Vec<NodeId> = known.into_iter().flatten().collect();
        let moving = self.names.moving();
        for (text, &node) in texts.iter().zip(&known) {
            if self.graph.depends_on_any(node, &moving) {
                return Err(SetupError::new("an exact motion is a function of time and parameters alone")
                    .at(text.value.span.clone(), "a coordinate is used here"));
            }
        }
        Ok(Some(known))
    }
}
