//! Figures of a sweep: a column of its tables over an axis.

use super::{Args, save};
use crate::setup::Refusal;
use crate::text::{out, printable};
use saltus::SetupError;
use saltus_ensemble::store::{Manifest, axis_names};
use saltus_io::table::SavedTable;
use saltus_report::paper::{self, Columns, Kind, Scatter};
use std::process::ExitCode;

/// The tables, in the order in which a name is looked up.
const TABLES: [&str; 4] = ["strobe", "impacts", "sections", "points"];

/// The tables that are there.
struct Tables(Vec<(&'static str, SavedTable)>);

impl Tables {
    fn open(args: &Args) -> Result<Self, SetupError> {
        let mut tables = Vec::new();
        for name in TABLES {
            let path = args.dir.join(format!("{name}.npz"));
            if path.exists() {
                tables.push((name, SavedTable::open(&path)?));
            }
        }
        match tables.iter().any(|(name, _)| *name == "points") {
            true => Ok(Tables(tables)),
            false => Err(SetupError::new(format!("there is no `points.npz` in `{}`", args.dir.display()))
                .help("the sweep is not complete (--resume goes on with it), is a part (see `saltus merge`), or was not written as npz")),
        }
    }

    fn named(&self, name: &str) -> Option<&SavedTable> {
        self.0.iter().find(|(n, _)| *n == name).map(|(_, table)| table)
    }

    /// The table and the column that a word means.
    fn find(&self, word: &str) -> Result<(&'static str, &SavedTable, String), SetupError> {
        for (name, table) in &self.0 {
            if let Some(column) = word.strip_prefix(name).and_then(|rest| rest.strip_prefix('.'))
                && table.has(column)
            {
                return Ok((name, table, column.to_string()));
            }
        }
        if let Some((name, table)) = self.0.iter().find(|(_, table)| table.has(word)) {
            return Ok((name, table, word.to_string()));
        }
        let mut known: Vec<&str> = Vec::new();
        for column in self.0.iter().flat_map(|(_, table)| table.names()).filter(|c| *c != "point") {
            if !known.contains(&column.as_str()) {
                known.push(column);
            }
        }
        let message = format!("the sweep has no column `{word}`");
        Err(SetupError::unknown(message, word, known.into_iter(), "there are"))
    }
}

pub fn main(args: &Args, kind: Kind) -> Result<ExitCode, Refusal> {
    let manifest = Manifest::read(&args.dir)?.ok_or_else(|| SetupError::new("there is no sweep here"))?;
    let sweep = manifest.sweep()?;
    let model = sweep.family.problem().model();
    let tables = Tables::open(args)?;
    let fallback = || match tables.named("impacts") {
        Some(_) => "speed".to_string(),
        None => model.coordinates[0].clone(),
    };
    let (table_name, table, column) = tables.find(&args.what.clone().unwrap_or_else(fallback))?;
    let axes = axis_names(&sweep.family);
    let against = args.against.clone().unwrap_or_else(|| axes[0].clone());
    let y = table.numbers(&column)?;
    let points = tables.named("points").ok_or_else(|| SetupError::new("there is no table of points"))?;
    let place: Vec<usize> = table.numbers("point")?.iter().map(|p| *p as usize).collect();
    // A column of the same table, else one of the points.
    let own = against.strip_prefix(table_name).and_then(|rest| rest.strip_prefix('.')).unwrap_or(&against);
    let is_own = table.has(own) && !axes.contains(&against);
    let x = match is_own {
        true => table.numbers(own)?,
        false => {
            let bare = against.strip_prefix("points.").unwrap_or(&against);
            let known = points.names().iter().chain(table.names()).map(String::as_str);
            if !points.has(bare) {
                let message = format!("the sweep has no column `{against}` to draw `{column}` against");
                return Err(SetupError::unknown(message, &against, known, "there are").into());
            }
            let all = points.numbers(bare)?;
            place.iter().map(|&p| all.get(p).copied().unwrap_or(f64::NAN)).collect()
        }
    };
    let (low, high) = (args.from.unwrap_or(f64::NEG_INFINITY), args.to.unwrap_or(f64::INFINITY));
    let group = groups(&tables, table_name, table, &place)?;
    let mut groups: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
    for k in 0..y.len() {
        if !(x[k] >= low && x[k] <= high) {
            continue;
        }
        let name = group.as_ref().map_or("", |names| names[k].as_str());
        let at = groups.iter().position(|(n, _)| n == name).unwrap_or_else(|| {
            groups.push((name.to_string(), Vec::new()));
            groups.len() - 1
        });
        groups[at].1.push((x[k], y[k]));
    }
    let shown = match (table_name, column.as_str()) {
        ("impacts", "speed") => "impact speed".to_string(),
        _ => column.clone(),
    };
    let unit = |name: &str| match name.strip_suffix('\'') {
        Some(stem) => model.coordinates.iter().position(|c| c == stem).map(|i| model.units.velocity(i)),
        None => model.coordinates.iter().position(|c| c == name).map(|i| model.units.position(i).to_string()),
    };
    let unit = |name: &str| unit(name).unwrap_or_else(|| model.units.parameter(name).to_string());
    let title = format!("{}: {shown} over {against}", manifest.title);
    let (x_unit, y_unit) = (unit(&against), unit(&column));
    let data = Scatter { title: &title, x: (&against, &x_unit), y: (&shown, &y_unit), groups };
    let columns = if args.columns == "two" { Columns::Two } else { Columns::One };
    let figure = paper::scatter(&data, columns).map_err(SetupError::new)?;
    save(args, kind, &figure)?;
    for note in &figure.notes {
        out!("note: {}\n", printable(note));
    }
    Ok(ExitCode::SUCCESS)
}

/// What distinguishes the dots: the way up and down, else the constraints, if there are several.
fn groups(tables: &Tables, name: &str, table: &SavedTable, place: &[usize]) -> Result<Option<Vec<String>>, SetupError> {
    let points = tables.named("points").filter(|points| points.has("direction"));
    let found = match points {
        Some(points) => {
            let all = points.texts("direction")?;
            Some(place.iter().map(|&p| all.get(p).cloned().unwrap_or_default()).collect::<Vec<_>>())
        }
        None if name == "impacts" => Some(table.texts("constraint")?),
        None if name == "sections" => Some(table.texts("section")?),
        None => None,
    };
    Ok(found.filter(|names| names.windows(2).any(|pair| pair[0] != pair[1])))
}
