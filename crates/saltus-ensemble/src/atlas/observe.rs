//! Quantities at the instants of a table: a column, an expression of the motion, or one of the numbers of an impact.

use super::{At, Tables};
use crate::Sweep;
use saltus::SetupError;
use saltus_expr::{ExprError, Graph, NodeId, Program, Scalar, Scope, Span, lower, parse};
use saltus_io::table::SavedTable;
use std::sync::Arc;

/// An expression of named numbers.
pub struct Expression {
    numbers: Scalar,
}

/// Names as inputs of a program, and others that are numbers.
struct Named<'n> {
    inputs: &'n [String],
    fixed: &'n [(String, f64)],
}

impl Scope for Named<'_> {
    fn resolve(
        &mut self,
        graph: &mut Graph,
        name: &str,
        index: &[i64],
        velocity: bool,
        span: &Span,
    ) -> Result<NodeId, ExprError> {
        let full = match index {
            [] => format!("{name}{}", if velocity { "'" } else { "" }),
            index => {
                let places: Vec<String> = index.iter().map(i64::to_string).collect();
                format!("{name}[{}]{}", places.join(","), if velocity { "'" } else { "" })
            }
        };
        if self.inputs.contains(&full) {
            return Ok(graph.symbol(&full));
        }
        match self.fixed.iter().find(|(fixed, _)| *fixed == full) {
            Some((_, value)) => Ok(graph.constant(*value)),
            None => Err(ExprError::new(format!("unknown name `{full}`"), span.clone(), "not defined")),
        }
    }
}

impl Expression {
    /// An expression of inputs, in their order, and of numbers that are known.
    pub fn new(text: &str, inputs: &[String], fixed: &[(String, f64)]) -> Result<Self, SetupError> {
        let known = || inputs.iter().chain(fixed.iter().map(|(name, _)| name)).map(String::as_str);
        let wrong = |e: ExprError| {
            let names: Vec<&str> = known().collect();
            SetupError::new(format!("`{text}`: {}", e.message)).help(format!("there are {}", names.join(", ")))
        };
        let mut graph = Graph::new();
        let node = parse(text).and_then(|e| lower(&e, &mut graph, &mut Named { inputs, fixed })).map_err(wrong)?;
        let symbols: Vec<NodeId> = inputs.iter().map(|name| graph.symbol(name)).collect();
        let program = Program::compile(&graph, &symbols, &[node]).map_err(|e| SetupError::new(e.to_string()))?;
        Ok(Expression { numbers: Scalar::new(Arc::new(program)) })
    }

    /// Its value.
    pub fn at(&mut self, inputs: impl Iterator<Item = f64>) -> f64 {
        self.numbers.inputs_mut().iter_mut().zip(inputs).for_each(|(slot, x)| *slot = x);
        self.numbers.run();
        self.numbers.output(0)
    }
}

/// Whether an expression can be evaluated at the impacts of a sweep: before anything is computed.
///
/// # Errors
/// It cannot, with the reason.
pub fn check_at_impacts(sweep: &Sweep, text: &str) -> Result<(), SetupError> {
    let model = sweep.family.problem().model();
    let phase = sweep.family.has_period().then_some("phase");
    let own = ["t", "speed", "impulse"].into_iter().chain(phase).map(String::from);
    let inputs: Vec<String> = own.chain(model.open.iter().map(|p| p.name.clone())).collect();
    Expression::new(text, &inputs, &model.parameters).map(|_| ())
}

/// Gives the values of quantities at the instants of a table.
pub struct Observer<'t> {
    tables: &'t Tables,
    /// The table of the instants.
    pub table: SavedTable,
    at: At,
    /// The trajectory of each row.
    pub point: Vec<u64>,
}

impl<'t> Observer<'t> {
    /// For the instants of a family.
    pub fn new(tables: &'t Tables, at: At) -> Result<Self, SetupError> {
        let table = tables.named(at.table())?;
        let point = table.numbers("point")?.into_iter().map(|p| p as u64).collect();
        Ok(Observer { tables, table, at, point })
    }

    /// The values of a quantity: a column, or an expression.
    pub fn values(&self, text: &str) -> Result<Vec<f64>, SetupError> {
        if self.table.has(text) {
            return self.table.numbers(text);
        }
        match self.at {
            At::Impacts => self.of_impacts(text),
            At::Strobe | At::Section => self.of_states(text),
        }
    }

    /// An expression of speed, impulse, phase, time and parameters.
    fn of_impacts(&self, text: &str) -> Result<Vec<f64>, SetupError> {
        let family = &self.tables.sweep.family;
        let model = family.problem().model();
        let columns: Vec<String> =
            ["t", "phase", "speed", "impulse"].into_iter().filter(|c| self.table.has(c)).map(String::from).collect();
        let open: Vec<String> = model.open.iter().map(|p| p.name.clone()).collect();
        let inputs: Vec<String> = columns.iter().chain(&open).cloned().collect();
        let fixed: Vec<(String, f64)> =
            model.parameters.iter().filter(|(name, _)| !inputs.contains(name)).cloned().collect();
        let mut expression = Expression::new(text, &inputs, &fixed)?;
        let data = columns.iter().map(|c| self.table.numbers(c)).collect::<Result<Vec<_>, _>>()?;
        let mut parameters = Parameters::new(self.tables);
        let value = |(row, &point): (usize, &u64)| {
            let open = parameters.of(point).iter().copied();
            expression.at(data.iter().map(|column| column[row]).chain(open))
        };
        Ok(self.point.iter().enumerate().map(value).collect())
    }

    /// An expression of the motion, which the model has as a quantity behind those of the statistics.
    fn of_states(&self, text: &str) -> Result<Vec<f64>, SetupError> {
        let request = &self.tables.sweep.request;
        let model = self.tables.sweep.family.problem().model();
        let known = request.observe.iter().position(|o| o == text);
        let node = known.and_then(|k| model.quantities.get(request.statistics.len() + k));
        let Some(&node) = node else {
            let columns = self.table.names().iter().map(String::as_str);
            let message = format!("`{text}` was not kept: there is no such column");
            return Err(SetupError::unknown(message, text, columns, "there are"));
        };
        let (degrees, d) = (model.degrees(), model.dimension());
        let inputs: Vec<NodeId> = [model.t]
            .into_iter()
            .chain(model.q.iter().copied())
            .chain(model.v.iter().copied())
            .chain(model.open.iter().map(|p| p.symbol))
            .collect();
        let program = Program::compile(&model.graph, &inputs, &[node]).map_err(|e| SetupError::new(e.to_string()))?;
        let mut numbers = Scalar::new(Arc::new(program));
        let column = |name: &str| self.table.numbers(name);
        let time = column("t")?;
        let q = model.coordinates.iter().map(|c| column(c)).collect::<Result<Vec<_>, _>>()?;
        let mut v = model.coordinates.iter().map(|c| column(&format!("{c}'"))).collect::<Result<Vec<_>, _>>()?;
        for state in &model.states {
            v.push(column(&state.name)?);
        }
        let mut parameters = Parameters::new(self.tables);
        let mut values = Vec::with_capacity(self.point.len());
        for (row, &point) in self.point.iter().enumerate() {
            let slots = numbers.inputs_mut();
            slots[0] = time[row];
            (0..degrees).for_each(|i| slots[1 + i] = q[i][row]);
            (0..d).for_each(|i| slots[1 + d + i] = v[i][row]);
            slots[1 + 2 * d..].copy_from_slice(parameters.of(point));
            numbers.run();
            values.push(numbers.output(0));
        }
        Ok(values)
    }
}

/// The values of open parameters, point by point.
struct Parameters<'t> {
    tables: &'t Tables,
    point: Option<u64>,
    values: Vec<f64>,
}

impl<'t> Parameters<'t> {
    fn new(tables: &'t Tables) -> Self {
        Parameters { tables, point: None, values: Vec::new() }
    }

    fn of(&mut self, point: u64) -> &[f64] {
        if self.point != Some(point) {
            self.values = self.tables.sweep.family.maker().job(point, None).job.start.parameters;
            self.point = Some(point);
        }
        &self.values
    }
}
