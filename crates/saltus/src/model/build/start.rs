//! Where a model starts: positions, velocities, states.

use super::super::description::*;
use super::super::names::{Family, Meaning, indexed};
use super::{Build, Locals, OUTSIDE, SLOT};
use crate::SetupError;
use saltus_expr::{NodeId, Span};

impl Build<'_> {
    /// Position and velocity of every coordinate at the start, each as an expression and as a number.
    #[allow(clippy::type_complexity)]
    pub(super) fn initial_data(&mut self) -> Result<Vec<((NodeId, f64), (NodeId, f64))>, SetupError> {
        let mut start = Vec::new();
        for c in &self.text.coordinates {
            let family = match self.names.get(&c.name.text) {
                Some(Meaning::Coordinate { family, .. }) => family.clone(),
                _ => None,
            };
            let (positions, spans) = self.series(&c.position, family.as_ref(), "position")?;
            self.places.positions.extend(spans);
            let (velocities, spans) = self.series(&c.velocity, family.as_ref(), "velocity")?;
            self.places.velocities.extend(spans);
            start.extend(positions.into_iter().zip(velocities));
        }
        let nothing = (self.graph.constant(0.0), 0.0);
        start.extend(self.initial_states()?.into_iter().map(|value| (nothing, value)));
        self.places.positions.resize(start.len(), 0..0);
        for (k, (target, value)) in self.text.starts.iter().enumerate() {
            let at = OUTSIDE + (self.text.overrides.len() + k) * SLOT;
            let (name, member, velocity) = self.target(target.trim(), at)?;
            let full = indexed(&name, member);
            let mut all = self.coordinates.iter().chain(&self.states);
            let Some(i) = all.position(|c| *c == full) else {
                let known = self.coordinates.iter().chain(&self.states).map(String::as_str);
                let message = format!("there is no coordinate or state `{full}` to start");
                return Err(SetupError::unknown(message, &full, known, "there are"));
            };
            let is_state = i >= self.coordinates.len();
            if is_state && velocity {
                return Err(SetupError::new(format!("the state `{full}` has no velocity to start with"))
                    .help(format!("set its value: {full}=…")));
            }
            let text = Text { text: value.clone(), span: at..at + value.len() };
            let number = self.number(&text, &Vec::new(), "an initial value")?;
            if velocity || is_state { start[i].1 = number } else { start[i].0 = number }
        }
        Ok(start)
    }

    /// One number, or one per member of a family.
    #[allow(clippy::type_complexity)]
    pub(super) fn series(
        &mut self,
        values: &Values,
        family: Option<&Family>,
        what: &str,
    ) -> Result<(Vec<(NodeId, f64)>, Vec<Span>), SetupError> {
        let what = format!("an initial {what}");
        let pairs: Vec<(&Text, Locals)> = match (values, family) {
            (Values::One(text), None) => vec![(text, Vec::new())],
            (Values::One(text), Some(f)) => f.members().map(|i| (text, vec![(f.index.clone(), i)])).collect(),
            (Values::Each(texts, span), Some(f)) => {
                if texts.len() != f.len() {
                    return Err(SetupError::new(format!("{} values for {} members", texts.len(), f.len()))
                        .at(span.clone(), "one value per member"));
                }
                texts.iter().map(|t| (t, Vec::new())).collect()
            }
            (Values::Each(_, span), None) => {
                return Err(SetupError::new("a list of values needs a family")
                    .at(span.clone(), "one number here")
                    .help("to make a family, add  for = \"i = 1..n\"  to this coordinate"));
            }
        };
        let mut numbers = Vec::new();
        let mut spans = Vec::new();
        for (text, locals) in pairs {
            numbers.push(self.number(text, &locals, &what)?);
            spans.push(text.span.clone());
        }
        Ok((numbers, spans))
    }
}
