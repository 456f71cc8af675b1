//! From texts to a [`Model`]: names are resolved, families expanded, M and g derived.

mod constraints;
mod dynamics;
mod laws;
mod start;
mod states;
mod warnings;

use super::description::*;
use super::names::{Family, Level, Meaning, Names, indexed};
use super::{Event, Model, Open, Places, Setting, Units};
use crate::{Kind, SetupError};
use saltus_expr::{
    Expr, ExprKind, Graph, NodeId, Program, Scalar, integer, lower_with, parse_at, parse_range_at, parse_target_at,
};
use std::rc::Rc;
use std::sync::Arc;

/// A system larger than this is a typing mistake, not a model for dense expressions.
const MAX_COORDINATES: usize = 2_000;

/// Coordinates in a row have one gap more than there are of them, if there is a wall at both ends; and some have two.
const MAX_FAMILY: usize = 2 * MAX_COORDINATES + 2;

pub(super) type Locals = Vec<(String, i64)>;

pub(super) struct Build<'a> {
    pub(super) text: &'a Description,
    pub(super) graph: Graph,
    pub(super) names: Names,
    coordinates: Vec<String>,
    states: Vec<String>,
    /// How many coordinates each entry of the text stands for.
    members: Vec<usize>,
    /// Open parameters, then ports.
    open: Vec<Open>,
    /// The speed of approach in restitutions.
    speed: Option<NodeId>,
    places: Places,
}

/// Overrides are in no file; their spans start here, far beyond any file's end, each in a slot of its own, and are
/// removed again.
const OUTSIDE: usize = 1 << 40;
const SLOT: usize = 1 << 24;

pub fn build(text: &Description) -> Result<Model, SetupError> {
    resolve(text).map_err(|mut error| {
        let outside = error.span.as_ref().and_then(|s| s.start.checked_sub(OUTSIDE));
        let replaced = || text.overrides.iter().chain(&text.starts);
        if let Some((name, value)) = outside.and_then(|at| replaced().nth(at / SLOT)) {
            error.span = None;
            error.message = format!("in `{name} = {value}`: {}", error.message);
        }
        error
    })
}

fn resolve(text: &Description) -> Result<Model, SetupError> {
    let mut graph = Graph::new();
    if !text.open.is_empty() {
        graph.note_demands();
    }
    let t = graph.symbol("t");
    let names = Names::new(t, text.open.iter().map(|(name, _)| name.clone()).collect());
    let mut b = Build {
        text,
        graph,
        names,
        coordinates: Vec::new(),
        states: Vec::new(),
        members: Vec::new(),
        open: Vec::new(),
        speed: None,
        places: Places::default(),
    };
    b.parameters()?;
    b.definitions()?;
    b.coordinates()?;
    b.states()?;
    let parameters = b.parameter_values()?;
    let start = b.initial_data()?;
    b.names.level = Level::Dynamics;
    b.check_definitions()?;
    let (mut mass, mut force, kinetic) = b.inertia()?;
    let potential = b.potential(&mut force)?;
    b.spread(&text.forces, &mut |b, k, value| force[k] = b.graph.add(force[k], value))?;
    let exact = b.exact()?;
    let states = b.rates()?;
    let (constraints, frictions) = b.constraints(&states)?;
    let joints = b.joints()?;
    let speed = b.speed.filter(|&speed| constraints.iter().any(|c| b.graph.depends_on(c.restitution_node, speed)));
    let (q, v) = b.append_states(&states, &mut mass, &mut force);
    let signals = b.signals()?;
    let events = b.events()?;
    let quantities = text.quantities.iter().map(|q| b.lower(q, &Vec::new())).collect::<Result<_, _>>()?;
    let settings = b.settings()?;
    let draw = b.drawing(&constraints)?;
    let units = Units::new(text, &b.members, &states)?;
    let warnings = b.warnings(&constraints, &force);
    let conservative = text.forces.is_empty()
        && text.states.is_empty()
        && frictions.is_empty()
        && matches!(text.inertia, Some(Inertia::Kinetic(_)))
        && ![kinetic, potential.unwrap_or(kinetic)].iter().any(|&energy| b.graph.depends_on(energy, t));
    let open: Vec<NodeId> = b.open.iter().filter(|p| !p.is_port).map(|p| p.symbol).collect();
    let demands = b.graph.demands(&open);
    Ok(Model {
        title: text.title.clone(),
        parameters,
        coordinates: b.coordinates,
        states,
        constraints,
        joints,
        frictions,
        speed,
        q0: start.iter().map(|x| x.0.1).collect(),
        v0: start.iter().map(|x| x.1.1).collect(),
        start_nodes: (start.iter().map(|x| x.0.0).collect(), start.iter().map(|x| x.1.0).collect()),
        open: b.open,
        events,
        quantities,
        t,
        q,
        v,
        mass,
        force,
        kinetic,
        potential,
        graph: b.graph,
        inputs: text.inputs.iter().map(|(_, table)| table.clone()).collect(),
        signals,
        settings,
        exact,
        draw,
        units,
        conservative,
        warnings,
        places: b.places,
        demands,
        description: Arc::new(text.clone()),
    })
}

/// Whether the text stands in the source letter by letter; else (escapes, numbers in another form) its places are
/// not known one by one and the whole of it is marked.
fn is_literal(text: &Text) -> bool {
    text.span.len() == text.text.len()
}

fn parse(text: &Text) -> Result<Expr, SetupError> {
    let parsed = parse_at(&text.text, text.span.start);
    if is_literal(text) {
        return Ok(parsed?);
    }
    let mut expr = parsed.map_err(|e| whole(e, text))?;
    expr.cover(&text.span);
    Ok(expr)
}

fn whole(error: saltus_expr::ExprError, text: &Text) -> SetupError {
    let label = error.label.clone();
    SetupError::from(error).at(text.span.clone(), label)
}

impl Build<'_> {
    pub(super) fn lower(&mut self, text: &Text, locals: &Locals) -> Result<NodeId, SetupError> {
        let expr = parse(text)?;
        Ok(lower_with(&expr, &mut self.graph, &mut self.names, locals)?)
    }

    /// A number known before the run, as an expression of open parameters and as its present value.
    pub(super) fn number(&mut self, text: &Text, locals: &Locals, what: &str) -> Result<(NodeId, f64), SetupError> {
        let outer = std::mem::replace(&mut self.names.level, Level::Constants);
        let node = self.lower(text, locals);
        self.names.level = outer;
        let node = node?;
        let value = self.value(node).ok_or_else(|| {
            SetupError::new(format!("{what} must be a number known before the run"))
                .at(text.span.clone(), "depends on time or coordinates")
        })?;
        Ok((node, value))
    }

    /// The value of an expression of parameters, open ones at their present values.
    fn value(&self, node: NodeId) -> Option<f64> {
        if let Some(value) = self.graph.value(node) {
            return Some(value);
        }
        let inputs: Vec<NodeId> = self.open.iter().map(|p| p.symbol).collect();
        let mut scalar = Scalar::new(Arc::new(Program::compile(&self.graph, &inputs, &[node]).ok()?));
        scalar.inputs_mut().iter_mut().zip(&self.open).for_each(|(x, p)| *x = p.value);
        scalar.run();
        Some(scalar.output(0))
    }

    fn family(&mut self, range: &Text) -> Result<Family, SetupError> {
        let parsed = parse_range_at(&range.text, range.span.start);
        let mut parsed = if is_literal(range) { parsed? } else { parsed.map_err(|e| whole(e, range))? };
        if !is_literal(range) {
            parsed.from.cover(&range.span);
            parsed.to.cover(&range.span);
        }
        let outer = std::mem::replace(&mut self.names.level, Level::Constants);
        let from = integer(&parsed.from, &mut self.graph, &mut self.names, &[]);
        let to = integer(&parsed.to, &mut self.graph, &mut self.names, &[]);
        self.names.level = outer;
        let (from, to) = (from?, to?);
        let size = to.saturating_sub(from);
        if size >= MAX_FAMILY as i64 {
            return Err(SetupError::new(format!("a family of {} members is too large", size.saturating_add(1)))
                .with_kind(Kind::TooLarge)
                .at(range.span.clone(), format!("at most {MAX_FAMILY}")));
        }
        Ok(Family { index: parsed.index, from, to })
    }

    pub(super) fn optional_family(&mut self, range: &Option<Text>) -> Result<Option<Family>, SetupError> {
        range.as_ref().map(|r| self.family(r)).transpose()
    }

    fn parameters(&mut self) -> Result<(), SetupError> {
        let mut overrides = self.overrides()?;
        for p in &self.text.parameters {
            let (texts, list) = match &p.value {
                Values::One(text) => (std::slice::from_ref(text), false),
                Values::Each(texts, _) => (texts.as_slice(), true),
            };
            let mut values = texts.iter().map(|t| parse(t).map(Rc::new)).collect::<Result<Vec<_>, _>>()?;
            for (name, member, value) in overrides.extract_if(.., |o| o.0 == p.name.text) {
                let slot = match (list, member) {
                    (false, None) => values.first_mut(),
                    (true, Some(i)) => usize::try_from(i - 1).ok().and_then(|i| values.get_mut(i)),
                    _ => None,
                };
                let Some(slot) = slot else {
                    let help = match list {
                        true => format!("`{name}` is a list of {}: set one entry, {name}[1]=…", values.len()),
                        false => format!("`{name}` is one number: set {name}=…"),
                    };
                    let what = indexed(&name, member);
                    return Err(SetupError::new(format!("there is no parameter `{what}` to set")).help(help));
                };
                *slot = Rc::new(value);
            }
            self.names.define(&p.name.text, &p.name.span, Meaning::Parameter { values, list })?;
        }
        for (name, value) in &self.text.open {
            let symbol = self.graph.symbol(name);
            self.open.push(Open { name: name.clone(), symbol, value: *value, is_port: false });
        }
        for name in &self.text.ports {
            self.names.define(&name.text, &name.span, Meaning::Port)?;
            let symbol = self.graph.symbol(&name.text);
            self.open.push(Open { name: name.text.clone(), symbol, value: 0.0, is_port: true });
        }
        for (name, table) in &self.text.inputs {
            self.names.define(&name.text, &name.span, Meaning::Input(table.clone()))?;
        }
        if let Some((name, ..)) = overrides.first() {
            let known = self.text.parameters.iter().map(|p| p.name.text.as_str());
            let message = format!("there is no parameter `{name}` to set");
            return Err(SetupError::unknown(message, name, known, "the parameters are"));
        }
        Ok(())
    }

    /// The overrides as (name, member, expression).
    fn overrides(&mut self) -> Result<Vec<(String, Option<i64>, Expr)>, SetupError> {
        let mut parsed: Vec<(String, Option<i64>, Expr)> = Vec::new();
        for (k, (target, value)) in self.text.overrides.iter().enumerate() {
            let (name, member, _) = self.target(target.trim(), OUTSIDE + k * SLOT)?;
            let value = parse_at(value, OUTSIDE + k * SLOT)?;
            if parsed.iter().any(|(n, m, _)| *n == name && *m == member) {
                return Err(SetupError::new(format!("`{target}` is set twice")).help("which of the two is meant?"));
            }
            parsed.push((name, member, value));
        }
        Ok(parsed)
    }

    /// The name, the member of a family, and whether a velocity is meant, of what a value is given for.
    fn target(&mut self, target: &str, at: usize) -> Result<(String, Option<i64>, bool), SetupError> {
        let velocity = target.ends_with('\'');
        let name = parse_target_at(target.strip_suffix('\'').unwrap_or(target), at)?;
        let ExprKind::Name { name, index, .. } = name.kind else {
            return Err(SetupError::new(format!("`{target}` is not a name")));
        };
        let member = match index.as_slice() {
            [] => None,
            [i] => Some(integer(i, &mut self.graph, &mut self.names, &[])?),
            _ => return Err(SetupError::new(format!("`{target}` has more than one index"))),
        };
        Ok((name, member, velocity))
    }

    fn coordinates(&mut self) -> Result<(), SetupError> {
        if self.text.coordinates.is_empty() {
            return Err(SetupError::new("the model has no coordinates")
                .help("add a [coordinates] section, such as  y = { position = 1.0, velocity = 0.0 }"));
        }
        for c in &self.text.coordinates {
            let family = self.optional_family(&c.range)?;
            let first = self.coordinates.len();
            let members: Vec<Option<i64>> = match &family {
                Some(f) => f.members().map(Some).collect(),
                None => vec![None],
            };
            self.names.define(&c.name.text, &c.name.span, Meaning::Coordinate { first, family })?;
            self.members.push(members.len());
            for member in members {
                let name = indexed(&c.name.text, member);
                let q = self.graph.symbol(&name);
                let v = self.graph.symbol(&format!("{name}'"));
                self.names.q.push(q);
                self.names.v.push(v);
                self.coordinates.push(name);
            }
            if self.coordinates.len() > MAX_COORDINATES {
                let message = format!("{} coordinates are too many", self.coordinates.len());
                return Err(SetupError::new(message)
                    .with_kind(Kind::TooLarge)
                    .at(c.name.span.clone(), format!("at most {MAX_COORDINATES}")));
            }
        }
        if self.coordinates.is_empty() {
            let span = self.text.coordinates[0].name.span.clone();
            return Err(SetupError::new("the model has no coordinates").at(span, "an empty family"));
        }
        Ok(())
    }

    fn definitions(&mut self) -> Result<(), SetupError> {
        for d in &self.text.definitions {
            let family = self.optional_family(&d.range)?;
            let value = Rc::new(parse(&d.value)?);
            self.names.define(&d.name.text, &d.name.span, Meaning::Definition { value, family })?;
        }
        Ok(())
    }

    /// Every definition is looked at, used or not: an unused one with a mistake is still a mistake.
    fn check_definitions(&mut self) -> Result<(), SetupError> {
        for d in &self.text.definitions {
            let family = match self.names.get(&d.name.text) {
                Some(Meaning::Definition { family, .. }) => family.clone(),
                _ => None,
            };
            let members: Vec<Vec<i64>> = match family {
                Some(f) => f.members().map(|i| vec![i]).collect(),
                None => vec![Vec::new()],
            };
            for index in members {
                use saltus_expr::Scope;
                self.names.resolve(&mut self.graph, &d.name.text, &index, false, &d.name.span)?;
            }
        }
        Ok(())
    }

    /// All parameters as numbers.
    fn parameter_values(&mut self) -> Result<Vec<(String, f64)>, SetupError> {
        use saltus_expr::Scope;
        let mut values = Vec::new();
        for p in &self.text.parameters {
            let members: Vec<Option<i64>> = match &p.value {
                Values::One(_) => vec![None],
                Values::Each(texts, _) => (1..=texts.len() as i64).map(Some).collect(),
            };
            for member in members {
                let index: Vec<i64> = member.into_iter().collect();
                let node = self.names.resolve(&mut self.graph, &p.name.text, &index, false, &p.name.span)?;
                let value = self.value(node).ok_or_else(|| {
                    SetupError::new(format!("the parameter `{}` is not a number", p.name.text))
                        .at(p.name.span.clone(), "not constant")
                })?;
                values.push((indexed(&p.name.text, member), value));
            }
        }
        Ok(values)
    }

    /// Functions of time and parameters alone.
    fn signals(&mut self) -> Result<Vec<NodeId>, SetupError> {
        let moving = self.names.moving();
        let mut signals = Vec::new();
        for text in &self.text.signals {
            let node = self.lower(text, &Vec::new())?;
            if self.graph.depends_on_any(node, &moving) {
                return Err(SetupError::new("this must be a function of time and parameters alone")
                    .at(text.span.clone(), "a displacement is used here"));
            }
            signals.push(node);
        }
        Ok(signals)
    }

    /// Events of the user's own.
    fn events(&mut self) -> Result<Vec<Event>, SetupError> {
        let mut events: Vec<Event> = Vec::new();
        for e in &self.text.events {
            let name = e.name.text.trim().to_string();
            if name.is_empty() || events.iter().any(|other| other.name == name) {
                return Err(SetupError::new("every event needs a name of its own").at(e.name.span.clone(), "this one"));
            }
            let value = self.lower(&e.value, &Vec::new())?;
            if self.graph.value(value).is_some() {
                return Err(SetupError::new(format!("the event `{name}` never occurs: its expression is constant"))
                    .at(e.value.span.clone(), "constant")
                    .help("an event is a zero crossing of an expression of t, the coordinates and their velocities"));
            }
            events.push(Event { name, value, crossing: e.crossing });
        }
        Ok(events)
    }

    fn settings(&mut self) -> Result<Vec<Setting>, SetupError> {
        let texts = self.text.settings.iter();
        texts
            .map(|(name, text)| {
                let (node, value) = self.number(text, &Vec::new(), name)?;
                Ok(Setting { name: name.clone(), node, value, span: text.span.clone() })
            })
            .collect()
    }
}

fn usage(family: bool) -> &'static str {
    if family { "a family and needs an index or a range" } else { "not a family and takes no index or range" }
}
