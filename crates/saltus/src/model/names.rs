//! What a name in an expression stands for: a parameter, a coordinate, a definition, an input, the time.

use saltus_expr::{Expr, ExprError, Graph, NodeId, Scope, Span, Table, is_name, is_reserved, lower_with, nearest};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// What may be used in the expression at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Numbers known before the run: parameters, initial data, ranges, restitutions.
    Constants,
    /// Time, coordinates, velocities and all the rest.
    Dynamics,
}

/// An index range `from..=to` of a family, with the name of its index.
#[derive(Clone, Debug)]
pub struct Family {
    pub index: String,
    pub from: i64,
    pub to: i64,
}

impl Family {
    pub fn len(&self) -> usize {
        usize::try_from(self.to - self.from + 1).unwrap_or(0)
    }

    pub fn members(&self) -> impl Iterator<Item = i64> + use<> {
        self.from..=self.to
    }
}

/// A name's meaning.
pub enum Meaning {
    Parameter {
        values: Vec<Rc<Expr>>,
        list: bool,
    },
    Port,
    Coordinate {
        first: usize,
        family: Option<Family>,
    },
    /// A first-order state: its place among the states.
    State {
        first: usize,
        family: Option<Family>,
    },
    Definition {
        value: Rc<Expr>,
        family: Option<Family>,
    },
    Input(Arc<Table>),
}

/// Definitions nested deeper than this are rejected: each level is a level of the machine's stack.
const MAX_DEPTH: usize = 100;

/// All names of a model.
pub struct Names {
    meanings: BTreeMap<String, Meaning>,
    known: BTreeMap<(String, Option<i64>), NodeId>,
    /// Names being resolved at present, outermost first: meeting one again is a cycle.
    pending: Vec<(String, Option<i64>)>,
    pub level: Level,
    /// Parameters that stay symbols.
    pub open: Vec<String>,
    pub t: NodeId,
    pub q: Vec<NodeId>,
    pub v: Vec<NodeId>,
    /// First-order states.
    pub z: Vec<NodeId>,
    /// What `speed` stands for in the expression at hand: a law may depend on the speed of approach or of sliding.
    pub speed: Option<NodeId>,
}

fn error(message: String, span: &Span, label: &str, help: Option<String>) -> ExprError {
    ExprError { message, span: span.clone(), label: label.to_string(), help }
}

/// A name with its index, as a person writes it.
pub fn indexed(name: &str, index: Option<i64>) -> String {
    index.map_or_else(|| name.to_string(), |i| format!("{name}[{i}]"))
}

impl Names {
    pub fn new(t: NodeId, open: Vec<String>) -> Self {
        Names {
            open,
            meanings: BTreeMap::new(),
            known: BTreeMap::new(),
            pending: Vec::new(),
            level: Level::Constants,
            t,
            q: Vec::new(),
            v: Vec::new(),
            z: Vec::new(),
            speed: None,
        }
    }

    /// Enters a new name; rejects an invalid, reserved or taken one.
    pub fn define(&mut self, name: &str, span: &Span, meaning: Meaning) -> Result<(), ExprError> {
        if !is_name(name) {
            let help = "a name starts with a letter or _ and goes on with letters, digits and _";
            return Err(error(format!("`{name}` cannot be a name"), span, "not a name", Some(help.into())));
        }
        if is_reserved(name) {
            let message = format!("`{name}` is a word of the expression language");
            return Err(error(message, span, "reserved", Some("choose another name".into())));
        }
        if let Some(first) = self.meanings.get(name) {
            let kind = match first {
                Meaning::Parameter { .. } => "a parameter",
                Meaning::Port => "a port",
                Meaning::Coordinate { .. } => "a coordinate",
                Meaning::State { .. } => "a state",
                Meaning::Definition { .. } => "a definition",
                Meaning::Input(_) => "an input",
            };
            let message = format!("the name `{name}` is used twice");
            let help = format!(
                "it is already the name of {kind}; parameters, inputs, coordinates and definitions share names"
            );
            return Err(error(message, span, "second use", Some(help)));
        }
        self.meanings.insert(name.to_string(), meaning);
        Ok(())
    }

    /// The symbols of all that moves: coordinates, velocities and states.
    pub fn moving(&self) -> Vec<NodeId> {
        self.q.iter().chain(&self.v).chain(&self.z).copied().collect()
    }

    /// The meaning of a name, if it has one.
    pub fn get(&self, name: &str) -> Option<&Meaning> {
        self.meanings.get(name)
    }

    fn unknown(&self, name: &str, span: &Span) -> ExprError {
        let names = self.meanings.keys().map(String::as_str).chain(["t", "pi"]);
        if let Some(help) = self.derivative(name) {
            return error(format!("unknown name `{name}`"), span, "not defined", Some(help));
        }
        let help = match nearest(name, names) {
            Some(near) => format!("did you mean `{near}`?"),
            None if self.meanings.is_empty() => "no names are defined yet".to_string(),
            None => format!("known names: {}", self.list()),
        };
        error(format!("unknown name `{name}`"), span, "not defined", Some(help))
    }

    /// A derivative as other programs write it: `xdot`, `x_dot`, `dx`, `vx`.
    fn derivative(&self, name: &str) -> Option<String> {
        let of = |stem: &str| {
            let stem = stem.trim_matches('_');
            matches!(self.meanings.get(stem), Some(Meaning::Coordinate { .. })).then(|| stem.to_string())
        };
        if ["ddot", "dotdot"].iter().any(|end| name.strip_suffix(end).and_then(of).is_some()) {
            return Some("accelerations cannot be used in expressions; use coordinates and velocities only".into());
        }
        let before = ["d", "v"].iter().find_map(|start| name.strip_prefix(start).and_then(of));
        let after = ["dot", "_t", "d", "prime"].iter().find_map(|end| name.strip_suffix(end).and_then(of));
        let dotted = name.strip_prefix("dot").and_then(of);
        let stem = after.or(dotted).or(before)?;
        Some(format!("the velocity of `{stem}` is written `{stem}'`"))
    }

    fn list(&self) -> String {
        let shown: Vec<_> = self.meanings.keys().take(12).map(String::as_str).collect();
        let more = if self.meanings.len() > 12 { ", …" } else { "" };
        format!("{}{more}, t, pi", shown.join(", "))
    }

    /// Checks the number and the range of indices; returns the one index of a family member.
    fn member(name: &str, index: &[i64], family: Option<&Family>, span: &Span) -> Result<Option<i64>, ExprError> {
        match (family, index) {
            (None, []) => Ok(None),
            (Some(f), &[i]) if (f.from..=f.to).contains(&i) => Ok(Some(i)),
            (Some(f), &[i]) => Err(error(
                format!("`{name}[{i}]` is outside the family {name}[{}..{}]", f.from, f.to),
                span,
                "no such member",
                Some("guard the ends with if(i < n, …, …): only the branch taken is evaluated".into()),
            )),
            (Some(f), []) => {
                Err(error(format!("`{name}` is a family: write `{name}[{}]`", f.index), span, "needs an index", None))
            }
            (None, _) => {
                Err(error(format!("`{name}` is not a family and takes no index"), span, "no index here", None))
            }
            (Some(_), _) => Err(error(format!("`{name}` takes one index"), span, "too many indices", None)),
        }
    }

    /// Lowers the expression behind a name once, watching for cycles.
    fn work_out(
        &mut self,
        graph: &mut Graph,
        key: (String, Option<i64>),
        value: &Expr,
        locals: &[(String, i64)],
        level: Level,
        span: &Span,
    ) -> Result<NodeId, ExprError> {
        if let Some(&node) = self.known.get(&key) {
            return Ok(node);
        }
        if self.pending.contains(&key) || self.pending.len() >= MAX_DEPTH {
            let chain: Vec<_> = self.pending.iter().chain([&key]).map(|(n, i)| indexed(n, *i)).collect();
            let cyclic = self.pending.contains(&key);
            let shown = if cyclic { chain.join(" → ") } else { format!("{} → …", chain[..4].join(" → ")) };
            let message = match cyclic {
                true => format!("`{}` is defined by itself: {shown}", indexed(&key.0, key.1)),
                false => format!("definitions are nested more than {MAX_DEPTH} deep: {shown}"),
            };
            return Err(error(message, span, if cyclic { "closes the circle" } else { "too deep" }, None));
        }
        self.pending.push(key.clone());
        let outer = std::mem::replace(&mut self.level, level);
        // A definition means the same wherever it is used: `speed` is no part of it.
        let speed = self.speed.take();
        let node = lower_with(value, graph, self, locals);
        self.level = outer;
        self.speed = speed;
        self.pending.pop();
        let node = node?;
        self.known.insert(key, node);
        Ok(node)
    }
}

impl Scope for Names {
    fn resolve(
        &mut self,
        graph: &mut Graph,
        name: &str,
        index: &[i64],
        velocity: bool,
        span: &Span,
    ) -> Result<NodeId, ExprError> {
        if name == "t" {
            return match (index, velocity, self.level) {
                ([], false, Level::Dynamics) => Ok(self.t),
                ([], false, Level::Constants) => Err(not_constant("the time `t`", span)),
                _ => Err(error("`t` has no index and no velocity".into(), span, "plain `t` only", None)),
            };
        }
        let Some(meaning) = self.meanings.get(name) else {
            return match (name, self.speed, index, velocity) {
                ("speed", Some(speed), [], false) => Ok(speed),
                _ => Err(self.unknown(name, span)),
            };
        };
        if velocity && matches!(meaning, Meaning::State { .. }) {
            let message = format!("`{name}` is a first-order state: it has no velocity");
            let help = format!(
                "its rate is the expression given for it in [states]; give that a name in [definitions] and use it in place of {name}'"
            );
            return Err(error(message, span, "not a coordinate", Some(help)));
        }
        if velocity && !matches!(meaning, Meaning::Coordinate { .. }) {
            let message = format!("`{name}'` would be a velocity, but `{name}` is not a coordinate");
            return Err(error(message, span, "not a coordinate", None));
        }
        match meaning {
            Meaning::Coordinate { first, family } => {
                let member = Self::member(name, index, family.as_ref(), span)?;
                if self.level == Level::Constants {
                    return Err(not_constant(&format!("the coordinate `{name}`"), span));
                }
                let k = first + member.map_or(0, |i| (i - family.as_ref().map_or(0, |f| f.from)) as usize);
                Ok(if velocity { self.v[k] } else { self.q[k] })
            }
            Meaning::State { first, family } => {
                let member = Self::member(name, index, family.as_ref(), span)?;
                if self.level == Level::Constants {
                    return Err(not_constant(&format!("the state `{name}`"), span));
                }
                let k = first + member.map_or(0, |i| (i - family.as_ref().map_or(0, |f| f.from)) as usize);
                Ok(self.z[k])
            }
            Meaning::Parameter { values, list: true }
                if index.len() == 1 && !(1..=values.len() as i64).contains(&index[0]) =>
            {
                let message =
                    format!("`{name}[{}]` is outside the list `{name}`, which has {} entries", index[0], values.len());
                Err(error(message, span, "no such entry", None))
            }
            Meaning::Parameter { values, list } => {
                let family = list.then(|| Family { index: "i".into(), from: 1, to: values.len() as i64 });
                let member = Self::member(name, index, family.as_ref(), span)?;
                let full = indexed(name, member);
                if self.open.contains(&full) {
                    return Ok(graph.symbol(&full));
                }
                let value = values[member.map_or(0, |i| i as usize - 1)].clone();
                let key = (name.to_string(), member);
                self.work_out(graph, key, &value, &[], Level::Constants, span)
            }
            Meaning::Definition { value, family } => {
                let member = Self::member(name, index, family.as_ref(), span)?;
                let locals: Vec<_> = family.iter().zip(member).map(|(f, i)| (f.index.clone(), i)).collect();
                let (value, level) = (value.clone(), self.level);
                self.work_out(graph, (name.to_string(), member), &value, &locals, level, span)
            }
            Meaning::Port => {
                Self::member(name, index, None, span)?;
                match self.level {
                    Level::Constants => Err(not_constant(&format!("the port `{name}`"), span)),
                    Level::Dynamics => Ok(graph.symbol(name)),
                }
            }
            Meaning::Input(_) => {
                let message = format!("`{name}` is a sampled input: write `{name}(t)`");
                Err(error(message, span, "needs its argument", None))
            }
        }
    }

    fn call(
        &mut self,
        graph: &mut Graph,
        name: &str,
        args: &[NodeId],
        span: &Span,
    ) -> Option<Result<NodeId, ExprError>> {
        let meaning = self.meanings.get(name)?;
        Some(match (meaning, args) {
            (Meaning::Input(table), &[x]) => Ok(graph.table(table.clone(), x)),
            (Meaning::Input(_), _) => {
                Err(error(format!("the input `{name}` takes one argument"), span, "wrong number", None))
            }
            _ => {
                let help = Some(format!("to multiply, write `{name}*(…)`"));
                Err(error(format!("`{name}` is not a function"), span, "called here", help))
            }
        })
    }

    fn functions(&self) -> Vec<String> {
        let inputs = self.meanings.iter().filter(|(_, m)| matches!(m, Meaning::Input(_)));
        inputs.map(|(name, _)| name.clone()).collect()
    }
}

fn not_constant(what: &str, span: &Span) -> ExprError {
    error(
        format!("{what} cannot be used here"),
        span,
        "not known before the run",
        Some("parameters, initial data, ranges and restitutions are numbers made of parameters".into()),
    )
}
