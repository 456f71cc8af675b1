//! The tables of a family and their columns.

use crate::points::Slot;
use crate::{Family, Sweep, Wanted};
use saltus::{Model, SetupError};
use saltus_io::table::{Column, Kind};

/// How a trajectory can end, as a word.
pub const STATUS: [&str; 5] = ["finished", "breached", "interrupted", "failed", "refused"];
/// What a trajectory can settle on, as a word.
pub const SETTLED: [&str; 4] = ["rest", "periodic", "neither", "travelling"];
const ENGINES: [&str; 5] = ["scalar", "lanes", "both", "steps", "again"];
const DIRECTIONS: [&str; 2] = ["up", "down"];

/// A table: its name and its columns.
#[derive(Clone, Debug, PartialEq)]
pub struct TableLayout {
    /// Its name.
    pub name: &'static str,
    /// Its columns.
    pub columns: Vec<Column>,
}

/// All tables of a family: `points`, and `strobe`, `impacts`, `sections` where they are asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// The tables.
    pub tables: Vec<TableLayout>,
    /// Where in the first table the state at the end begins, and whether the number of returns is before it.
    pub(super) state: usize,
    pub(super) has_returns: bool,
}

fn column(name: impl Into<String>, kind: Kind) -> Column {
    Column { name: name.into(), kind }
}

fn words<'a>(words: impl IntoIterator<Item = &'a str>) -> Kind {
    Kind::Word(words.into_iter().map(str::to_string).collect())
}

fn state_columns(model: &Model) -> impl Iterator<Item = Column> + '_ {
    let coordinates = model.coordinates.iter().flat_map(|c| [c.clone(), format!("{c}'")]);
    let states = model.states.iter().map(|s| s.name.clone());
    coordinates.chain(states).map(|name| column(name, Kind::Number))
}

/// The names of the axes in tables. A start has a name of its own, because the state at the end has the coordinate's.
pub fn axis_names(family: &Family) -> Vec<String> {
    let name = |(name, slot): (&str, &Slot)| match slot {
        Slot::Parameter(_) => name.to_string(),
        _ => format!("start_{name}"),
    };
    family.points().names().into_iter().zip(family.slots()).map(name).collect()
}

impl Layout {
    /// The tables of a sweep; a mistake where two columns of one would have the same name.
    pub fn of(sweep: &Sweep) -> Result<Self, SetupError> {
        let layout = Self::new(&sweep.family, &sweep.wanted, &sweep.request.statistics);
        for table in &layout.tables {
            let names = |k: usize| table.columns[..k].iter().any(|c| c.name == table.columns[k].name);
            if let Some(twice) = (0..table.columns.len()).find(|&k| names(k)) {
                let message =
                    format!("the table `{}` would have two columns `{}`", table.name, table.columns[twice].name);
                return Err(SetupError::new(message).help(
                    "give another name to the parameter or coordinate of this name, or leave out what is asked for twice",
                ));
            }
        }
        Ok(layout)
    }

    /// The tables of a family. `statistics` are the expressions asked for.
    pub fn new(family: &Family, wanted: &Wanted, statistics: &[String]) -> Self {
        let model = family.problem().model();
        let number = |name: &str| column(name, Kind::Number);
        let integer = |name: &str| column(name, Kind::Integer);
        let mut points = vec![integer("point")];
        points.extend(axis_names(family).iter().map(|name| number(name)));
        if family.carry().is_some() {
            points.push(column("direction", words(DIRECTIONS)));
        }
        points.extend([column("status", words(STATUS)), integer("impacts")]);
        if wanted.returns.is_some() {
            points.push(integer("returns"));
        }
        let state = points.len();
        points.extend(state_columns(model));
        for text in statistics {
            points.extend(["min", "max", "mean", "rms"].map(|what| number(&format!("{what}({text})"))));
        }
        if wanted.settled {
            points.push(column("settled", words(SETTLED)));
            // In periods of the forcing, or, where there is none, in time.
            let period = if family.has_period() { integer("period") } else { number("period") };
            points.extend([period, integer("impacts_per_period")]);
        }
        points.extend([number("t"), integer("accumulations"), number("violation"), number("law"), number("energy")]);
        points.extend([column("engine", words(ENGINES)), column("reason", Kind::Remark(Vec::new()))]);
        let mut tables = vec![TableLayout { name: "points", columns: points }];
        if wanted.strobe {
            let columns = [integer("point"), integer("k"), number("t")].into_iter().chain(state_columns(model));
            tables.push(TableLayout { name: "strobe", columns: columns.collect() });
        }
        if wanted.impacts > 0 {
            let mut columns = vec![integer("point"), number("t")];
            columns.extend(family.has_period().then(|| number("phase")));
            columns.push(column("constraint", words(model.constraints.iter().map(|c| c.name.as_str()))));
            columns.extend([number("speed"), number("impulse")]);
            tables.push(TableLayout { name: "impacts", columns });
        }
        if wanted.sections {
            let names = words(model.events.iter().map(|e| e.name.as_str()));
            let columns =
                [integer("point"), column("section", names), number("t")].into_iter().chain(state_columns(model));
            tables.push(TableLayout { name: "sections", columns: columns.collect() });
        }
        Layout { tables, state, has_returns: wanted.returns.is_some() }
    }
}
