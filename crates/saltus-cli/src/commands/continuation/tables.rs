//! Branches as tables: one row for each orbit, one for each special point.

use super::record::{Entry, Row};
use saltus::Problem;
use saltus::analysis::PhaseSpace;
use saltus_io::output::{Format, WriteError};
use saltus_io::table::{self, Column, Kind, Table, Values};
use std::io;
use std::path::Path;

/// A table in memory.
struct Memory {
    columns: Vec<Column>,
    values: Vec<Values>,
    chunks: Vec<u64>,
}

impl Memory {
    fn new(rows: usize) -> Self {
        Memory { columns: Vec::new(), values: Vec::new(), chunks: vec![rows as u64] }
    }

    fn numbers(&mut self, name: impl Into<String>, values: Vec<f64>) {
        let mut name = name.into();
        // (A parameter may have the name of another column.)
        while self.columns.iter().any(|c| c.name == name) {
            name.push('_');
        }
        self.columns.push(Column { name, kind: Kind::Number });
        self.values.push(Values::Numbers(values));
    }

    fn integers(&mut self, name: &str, values: Vec<i64>) {
        self.columns.push(Column { name: name.into(), kind: Kind::Integer });
        self.values.push(Values::Integers(values));
    }

    fn words(&mut self, name: &str, each: Vec<&str>) {
        let mut words: Vec<String> = each.iter().map(|w| (*w).to_string()).collect();
        words.sort();
        words.dedup();
        let place = |w: &&str| words.binary_search_by(|x| x.as_str().cmp(w)).map_or(-1, |k| k as i64);
        let places = each.iter().map(place).collect();
        self.columns.push(Column { name: name.into(), kind: Kind::Word(words) });
        self.values.push(Values::Integers(places));
    }
}

impl Table for Memory {
    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn chunks(&self) -> &[u64] {
        &self.chunks
    }

    fn read(&self, _: usize, column: usize) -> io::Result<Values> {
        Ok(self.values[column].clone())
    }
}

/// The columns that orbits and special points share.
fn common(table: &mut Memory, rows: &[(usize, &Row)], problem: &Problem, parameters: &[String], shown: &str) {
    let of = |f: &dyn Fn(&Row) -> f64| rows.iter().map(|(_, r)| f(r)).collect::<Vec<f64>>();
    table.integers("branch", rows.iter().map(|(b, _)| *b as i64 + 1).collect());
    for (k, name) in parameters.iter().enumerate() {
        table.numbers(name, of(&|r| r.values.get(k).copied().unwrap_or(f64::NAN)));
    }
    table.numbers("period", of(&|r| r.period));
    table.integers("multiple", rows.iter().map(|(_, r)| r.multiple.unwrap_or(0) as i64).collect());
    table.words("stability", rows.iter().map(|(_, r)| r.stability()).collect());
    let most = rows.iter().map(|(_, r)| r.shown.len()).max().unwrap_or(0);
    for k in 0..if shown == "period" { 0 } else { most } {
        let name = if most == 1 { shown.to_string() } else { format!("{shown} {}", k + 1) };
        table.numbers(name, of(&|r| r.shown.get(k).copied().unwrap_or(f64::NAN)));
    }
    let count = rows.iter().map(|(_, r)| r.multipliers.len()).max().unwrap_or(0);
    for k in 0..count {
        let part = |r: &Row, f: fn(&(f64, f64)) -> f64| r.multipliers.get(k).map_or(f64::NAN, f);
        table.numbers(format!("multiplier_{}_re", k + 1), of(&|r| part(r, |z| z.0)));
        table.numbers(format!("multiplier_{}_im", k + 1), of(&|r| part(r, |z| z.1)));
    }
    table.numbers("t", of(&|r| r.start.t));
    let space = PhaseSpace::of(problem);
    for (k, name) in space.names().iter().enumerate() {
        let entry = |r: &Row| space_entry(r, k);
        table.numbers(format!("start_{name}"), of(&entry));
    }
    table.numbers("residual", of(&|r| r.residual));
    table.words("events", rows.iter().map(|(_, r)| r.sequence.as_str()).collect());
}

/// Entry `k` of a state: positions, velocities, first-order states.
fn space_entry(row: &Row, k: usize) -> f64 {
    let start = &row.start;
    let all = start.q.iter().chain(&start.v).chain(&start.z);
    all.copied().nth(k).unwrap_or(f64::NAN)
}

/// Writes `points` and `special` in some formats; the names of the files.
pub fn write(
    dir: &Path,
    entries: &[Entry],
    problem: &Problem,
    parameters: &[String],
    shown: &str,
    formats: &[Format],
) -> Result<Vec<String>, WriteError> {
    let mut points: Vec<(usize, &Row)> = Vec::new();
    let mut specials: Vec<(usize, &Row)> = Vec::new();
    let (mut kinds, mut words): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    for entry in entries {
        match entry {
            Entry::Point { branch, row } => points.push((*branch, row)),
            Entry::Special { branch, row, kind, words: said } => {
                specials.push((*branch, row));
                kinds.push(kind);
                words.push(said);
            }
            _ => {}
        }
    }
    let mut first = Memory::new(points.len());
    common(&mut first, &points, problem, parameters, shown);
    let mut second = Memory::new(specials.len());
    second.words("kind", kinds);
    common(&mut second, &specials, problem, parameters, shown);
    second.words("meaning", words);
    let mut files = Vec::new();
    for (name, table) in [("points", &first), ("special", &second)] {
        for &format in formats {
            table::write(dir, name, format, table, 1)?;
            files.push(format!("{name}.{}", format.name()));
        }
    }
    Ok(files)
}
