//! The tables of a run, column by column: the same as in its files.

use crate::column::Column;
use pyo3::IntoPyObject;
use saltus::motion::EventHit;
use saltus_cli::embed::Finished;
use saltus_io::output::{IMPACT_NUMBERS, impact_numbers, impact_state, impact_state_values};

/// A column of a table.
#[derive(IntoPyObject)]
pub enum Cells {
    /// Numbers.
    Numbers(Column),
    /// Whole numbers.
    Counts(Vec<i64>),
    /// Words.
    Words(Vec<String>),
    /// Yes or no.
    Truths(Vec<bool>),
}

/// Names of columns and what is in them.
type Table = Vec<(String, Cells)>;

/// Numbers, row by row, with the names of their columns: turned into columns.
struct Rows {
    names: Vec<String>,
    columns: Vec<Vec<f64>>,
}

impl Rows {
    fn new(names: Vec<String>) -> Self {
        let columns = names.iter().map(|_| Vec::new()).collect();
        Rows { names, columns }
    }

    fn push(&mut self, row: impl IntoIterator<Item = f64>) {
        self.columns.iter_mut().zip(row).for_each(|(column, x)| column.push(x));
    }

    fn cells(self) -> impl Iterator<Item = (String, Cells)> {
        self.names.into_iter().zip(self.columns).map(|(name, column)| (name, Cells::Numbers(Column::own(column))))
    }
}

fn names(of: &[&str]) -> Vec<String> {
    of.iter().map(|name| name.to_string()).collect()
}

/// The table of that name.
pub fn of(run: &Finished, name: &str) -> Option<Table> {
    match name {
        "impacts" => Some(impacts(run)),
        "contacts" => Some(contacts(run)),
        "timeline" => Some(timeline(run)),
        "events" => Some(events(run)),
        "energy" => Some(energy(run)),
        _ => None,
    }
}

fn impacts(run: &Finished) -> Table {
    let (model, done) = (run.system().model(), run.run());
    let state = impact_state(model);
    let mut rows = Rows::new([names(&["t"]), names(&IMPACT_NUMBERS), names(&["speed"]), state.clone()].concat());
    let (mut numbers, mut constraints, mut values) = (Vec::new(), Vec::new(), vec![0.0; state.len()]);
    for (k, (impact, entry)) in done.trajectory.impacts.iter().zip(&done.ledger.impacts).enumerate() {
        impact_state_values(model, &impact, &mut values);
        for (at, &a) in impact.constraints.iter().enumerate() {
            numbers.push(k as i64 + 1);
            constraints.push(model.constraints[a].name.clone());
            let own = impact_numbers(&impact, at, entry);
            let all = std::iter::once(impact.t).chain(own).chain([impact.speed]).chain(values.iter().copied());
            rows.push(all);
        }
    }
    let first = [("impact".to_string(), Cells::Counts(numbers)), ("constraint".to_string(), Cells::Words(constraints))];
    first.into_iter().chain(rows.cells()).collect()
}

fn contacts(run: &Finished) -> Table {
    let model = run.system().model();
    let mut rows = Rows::new(names(&["start", "end", "impulse"]));
    let mut constraints = Vec::new();
    for contact in &run.run().trajectory.contacts {
        constraints.push(model.constraints[contact.constraint].name.clone());
        rows.push([contact.start, contact.end, contact.impulse]);
    }
    std::iter::once(("constraint".to_string(), Cells::Words(constraints))).chain(rows.cells()).collect()
}

fn timeline(run: &Finished) -> Table {
    let model = run.system().model();
    let mut rows = Rows::new(names(&["start", "end", "error"]));
    let (mut kinds, mut constraints, mut counts, mut notes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for phase in &run.run().timeline.phases {
        let of: Vec<&str> = phase.constraints.iter().map(|&a| model.constraints[a].name.as_str()).collect();
        kinds.push(phase.kind.name().to_string());
        constraints.push(of.join(" + "));
        counts.push(phase.impacts as i64);
        notes.push(phase.note.clone());
        rows.push([phase.start, phase.end, phase.error]);
    }
    let words = |name: &str, words: Vec<String>| (name.to_string(), Cells::Words(words));
    let mut table = vec![words("phase", kinds)];
    table.extend(rows.cells());
    table.extend([
        words("constraints", constraints),
        ("impacts".to_string(), Cells::Counts(counts)),
        words("note", notes),
    ]);
    table
}

fn events(run: &Finished) -> Table {
    let (model, d) = (run.system().model(), run.system().model().coordinates.len());
    let velocities = model.coordinates.iter().map(|c| format!("v_{c}"));
    let states = model.states.iter().map(|s| s.name.clone());
    let of: Vec<String> =
        std::iter::once("t".to_string()).chain(model.coordinates.clone()).chain(velocities).chain(states).collect();
    let mut rows = Rows::new(of);
    let (mut named, mut rising) = (Vec::new(), Vec::new());
    for EventHit { event, t, rising: rises, q, v } in &run.run().trajectory.events {
        named.push(model.events[*event].name.clone());
        rising.push(*rises);
        rows.push(std::iter::once(*t).chain(q[..d].iter().copied()).chain(v.iter().copied()));
    }
    let first = [("event".to_string(), Cells::Words(named)), ("rising".to_string(), Cells::Truths(rising))];
    first.into_iter().chain(rows.cells()).collect()
}

fn energy(run: &Finished) -> Table {
    let columns =
        ["start", "end", "energy_change", "work", "wall_work", "residual", "impact_dissipated", "impact_wall_work"];
    let mut rows = Rows::new(names(&columns));
    for i in &run.run().ledger.intervals {
        rows.push([i.start, i.end, i.change, i.work, i.wall_work, i.residual(), i.dissipated, i.impact_wall_work]);
    }
    rows.cells().collect()
}
