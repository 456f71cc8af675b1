//! Figures of a sweep: a column of its tables over an axis.

use super::{Args, save};
use crate::commands::atlas::unit;
use crate::setup::Refusal;
use crate::text::{number, out, printable};
use saltus::SetupError;
use saltus_ensemble::store::{Manifest, axis_names};
use saltus_io::table::SavedTable;
use saltus_report::chart::{Chart, Dots, Pane, Quantity};
use saltus_report::paper::{self, Columns, Kind};
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
    let group = groups(&tables, table_name, table, &place, &axes)?;
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
    let across = against.strip_prefix("points.").unwrap_or(own);
    let several = groups.len() > 1;
    let dots = |(k, (name, points)): (usize, (String, Vec<(f64, f64)>))| {
        let (x, y) = points.into_iter().unzip();
        Dots { name, colour: if several { k + 1 } else { 0 }, x, y, ..Dots::default() }
    };
    let pane = Pane {
        x: Quantity::new(across.strip_prefix("start_").unwrap_or(across), unit(model, across)),
        y: Quantity::new(&*shown, unit(model, &column)),
        dots: groups.into_iter().enumerate().map(dots).collect(),
        ..Pane::default()
    };
    let title = format!("{}: {shown} over {against}", manifest.title);
    let chart = Chart { title, panes: vec![pane], ..Chart::default() };
    let columns = if args.columns == "two" { Columns::Two } else { Columns::One };
    let figure = paper::chart(&chart, columns).map_err(SetupError::new)?;
    save(args, kind, &figure)?;
    for note in &figure.notes {
        out!("note: {}\n", printable(note));
    }
    Ok(ExitCode::SUCCESS)
}

/// Values of a second axis that have colours of their own.
const VALUES: usize = 6;

/// What distinguishes the dots: the way up and down, else the values of a second axis, if they are few, else the constraints, if
/// there are several.
fn groups(
    tables: &Tables,
    name: &str,
    table: &SavedTable,
    place: &[usize],
    axes: &[String],
) -> Result<Option<Vec<String>>, SetupError> {
    let points = tables.named("points").filter(|points| points.has("direction"));
    if let (None, Some(axis), Some(all)) = (points, axes.get(1), tables.named("points")) {
        let values = all.numbers(axis)?;
        let mut distinct: Vec<f64> = values.clone();
        distinct.sort_by(f64::total_cmp);
        distinct.dedup();
        if distinct.len() <= VALUES {
            let bare = axis.strip_prefix("start_").unwrap_or(axis);
            let word = |&p: &usize| values.get(p).map_or_else(String::new, |x| format!("{bare} = {}", number(*x, 4)));
            return Ok(Some(place.iter().map(word).collect()));
        }
    }
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
