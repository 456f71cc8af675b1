//! First-order states: their symbols, values at the start and rates.

use super::super::State;
use super::super::names::{Meaning, indexed};
use super::{Build, Locals, Text};
use crate::SetupError;
use saltus_expr::NodeId;

impl Build<'_> {
    /// Enters the names of the states.
    pub(super) fn states(&mut self) -> Result<(), SetupError> {
        for state in &self.text.states {
            let family = self.optional_family(&state.range)?;
            let first = self.states.len();
            let members: Vec<Option<i64>> = match &family {
                Some(f) => f.members().map(Some).collect(),
                None => vec![None],
            };
            self.names.define(&state.name.text, &state.name.span, Meaning::State { first, family })?;
            for member in members {
                let name = indexed(&state.name.text, member);
                let symbol = self.graph.symbol(&name);
                self.names.z.push(symbol);
                self.states.push(name);
            }
        }
        Ok(())
    }

    /// Their values at the start, each as an expression and as a number.
    pub(super) fn initial_states(&mut self) -> Result<Vec<(NodeId, f64)>, SetupError> {
        let mut start = Vec::new();
        for state in &self.text.states {
            let family = match self.names.get(&state.name.text) {
                Some(Meaning::State { family, .. }) => family.clone(),
                _ => None,
            };
            let (values, spans) = self.series(&state.start, family.as_ref(), "value")?;
            self.places.velocities.extend(spans);
            start.extend(values);
        }
        Ok(start)
    }

    /// Their rates.
    pub(super) fn rates(&mut self) -> Result<Vec<State>, SetupError> {
        let mut states = Vec::new();
        for text in &self.text.states {
            let family = match self.names.get(&text.name.text) {
                Some(Meaning::State { family, .. }) => family.clone(),
                _ => None,
            };
            let members: Vec<(Option<i64>, Locals)> = match family {
                Some(f) => f.members().map(|i| (Some(i), vec![(f.index.clone(), i)])).collect(),
                None => vec![(None, Vec::new())],
            };
            for (member, locals) in members {
                let rate = self.lower(&text.rate, &locals)?;
                states.push(State { name: indexed(&text.name.text, member), rate, span: text.rate.span.clone() });
            }
        }
        Ok(states)
    }

    /// Coordinates and velocities with the states behind them, which have unit inertia and their rates as forces.
    pub(super) fn append_states(
        &mut self,
        states: &[State],
        mass: &mut Vec<NodeId>,
        force: &mut Vec<NodeId>,
    ) -> (Vec<NodeId>, Vec<NodeId>) {
        let (d, n) = (self.names.q.len(), self.names.q.len() + states.len());
        let (mut q, mut v) = (self.names.q.clone(), self.names.v.clone());
        if n > d {
            let (zero, one) = (self.graph.constant(0.0), self.graph.constant(1.0));
            let entry = |i: usize, j: usize| match i < d && j < d {
                true => mass[i * d + j],
                false => [zero, one][usize::from(i == j)],
            };
            *mass = (0..n * n).map(|k| entry(k / n, k % n)).collect();
            force.extend(states.iter().map(|state| state.rate));
            v.extend(&self.names.z);
            // (No name of a model can be this one.)
            q.extend(states.iter().map(|state| self.graph.symbol(&format!("∫{}", state.name))));
        }
        (q, v)
    }

    /// Refuses states in an energy or a mass, whose time derivatives the equations of motion would need.
    pub(super) fn refuse_states(&self, node: NodeId, text: &Text, what: &str) -> Result<(), SetupError> {
        match self.graph.depends_on_any(node, &self.names.z) {
            false => Ok(()),
            true => Err(SetupError::new(format!("{what} may not depend on first-order states"))
                .at(text.span.clone(), "a state is used here")
                .help("states may be used in forces, potentials, gaps, friction, rates, events and drawings")),
        }
    }
}
