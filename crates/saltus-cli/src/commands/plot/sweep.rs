//! Figures of a sweep: a column of its tables over an axis.

mod groups;

use super::{Args, save};
use crate::commands::atlas::{chatter, no_numbers, unit, without};
use crate::setup::Refusal;
use crate::text::{count, out, printable};
use saltus::SetupError;
use saltus_ensemble::store::{Manifest, axis_names};
use saltus_io::table::SavedTable;
use saltus_report::chart::{self, Chart, Dots, Pane, Quantity};
use saltus_report::paper::{self, Columns, Kind};
use std::process::ExitCode;

/// The tables, in the order in which a name is looked up.
const TABLES: [&str; 4] = ["strobe", "impacts", "sections", "points"];

/// The tables that are there.
pub struct Tables(Vec<(&'static str, SavedTable)>);

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
                .help("the sweep is not complete (continue it with --resume), is a part (see `saltus merge`), or was not written as npz")),
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
    let mut y = table.numbers(&column)?;
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
    let is_seen = |x: f64| x >= low && x <= high;
    let mut notes = Vec::new();
    if table_name == "points" && matches!(column.as_str(), "period" | "impacts_per_period") {
        notes.extend(settled_only(points, &column, &mut y)?);
    }
    if table_name != "points" || !matches!(column.as_str(), "period" | "impacts_per_period") {
        let seen = || (0..y.len()).filter(|&k| is_seen(x[k]));
        let left_out = seen().filter(|&k| !y[k].is_finite()).count() as u64;
        let left_out = (left_out, seen().count() as u64);
        if let Some(error) = no_numbers(left_out) {
            return Err(error.into());
        }
        notes.extend(without(left_out));
    }
    let (kinds, of) = groups::groups(&tables, table_name, table, &place, &axes)?;
    let mut dots: Vec<Dots> = kinds;
    for k in (0..y.len()).filter(|&k| is_seen(x[k])) {
        dots[of[k]].x.push(x[k]);
        dots[of[k]].y.push(y[k]);
    }
    dots.retain(|d| !d.x.is_empty());
    let mut infinity = None;
    if let Some(rings) = chatter(&dots) {
        infinity = rings.y.first().copied();
        dots.push(rings);
        notes.push("at ∞: chatter, infinitely many impacts in a finite time".to_string());
    }
    let is_own_name = column.contains('(') || saltus_ensemble::points::names(model).contains(&column);
    let shown = match (table_name, column.as_str()) {
        ("impacts", "speed") => "impact speed".to_string(),
        (_, name) if is_own_name => name.to_string(),
        (_, word) => word.replace('_', " "),
    };
    let across = against.strip_prefix("points.").unwrap_or(own);
    let pane = Pane {
        x: Quantity::new(across.strip_prefix("start_").unwrap_or(across), unit(model, across)),
        y: Quantity::new(&*shown, unit(model, &column)),
        dots,
        infinity,
        ..Pane::default()
    };
    let title = format!("{}: {shown} over {against}", manifest.title);
    let ends = chart::range(x.iter().filter(|x| **x >= low && **x <= high));
    let chart = Chart { title, panes: vec![pane], ends, ..Chart::default() };
    let columns = if args.columns == "two" { Columns::Two } else { Columns::One };
    let figure = paper::chart(&chart, columns).map_err(SetupError::new)?;
    save(args, kind, &figure)?;
    for note in notes.iter().chain(&figure.notes) {
        out!("note: {}\n", printable(note));
    }
    Ok(ExitCode::SUCCESS)
}

/// Leaves periods, and impacts in them, of motions that have a period: others are no numbers, and those whose impacts accumulate
/// are infinite. Returns what is to be said about it.
fn settled_only(points: &SavedTable, column: &str, y: &mut [f64]) -> Result<Option<String>, SetupError> {
    let (settled, accumulations) = (points.texts("settled")?, points.numbers("accumulations")?);
    let mut left_out = 0;
    for (k, y) in y.iter_mut().enumerate() {
        let is_periodic = matches!(settled[k].as_str(), "periodic" | "travelling");
        if !(is_periodic || (column != "period" && settled[k] == "rest")) {
            *y = f64::NAN;
            left_out += 1;
        } else if column != "period" && is_periodic && accumulations[k] > 0.0 {
            *y = f64::INFINITY;
        }
    }
    let all = y.len() as u64;
    Ok((left_out > 0).then(|| format!("{left_out} of {} have no period and are left out", count(all, "motion"))))
}
