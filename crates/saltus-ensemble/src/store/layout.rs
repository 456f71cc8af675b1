//! The tables of a family: their columns, and the rows that a trajectory adds to them.

use crate::points::Slot;
use crate::{Engine, Family, Job, Outcome, Settled, Statistic, Wanted};
use saltus::{Model, Status};
use saltus_io::table::{Column, Kind};

/// How a trajectory can end, as a word.
pub const STATUS: [&str; 5] = ["finished", "breached", "interrupted", "failed", "refused"];
/// What a trajectory can settle on, as a word.
pub const SETTLED: [&str; 4] = ["rest", "periodic", "neither", "travelling"];
const ENGINES: [&str; 4] = ["scalar", "lanes", "both", "steps"];
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
}

/// Rows of a table: one list a column, of the bits of numbers and whole numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    /// The columns.
    pub columns: Vec<Vec<u64>>,
}

impl Rows {
    /// The number of rows.
    pub fn len(&self) -> usize {
        self.columns.first().map_or(0, Vec::len)
    }
}

/// One row in the making.
struct Row<'r> {
    rows: &'r mut Rows,
    at: usize,
}

impl Row<'_> {
    fn bits(&mut self, bits: u64) {
        self.rows.columns[self.at].push(bits);
        self.at += 1;
    }

    fn number(&mut self, x: f64) {
        self.bits(x.to_bits());
    }

    fn numbers(&mut self, x: impl IntoIterator<Item = f64>) {
        x.into_iter().for_each(|x| self.number(x));
    }

    fn integer(&mut self, x: i64) {
        self.bits(x as u64);
    }

    /// A state: each coordinate with its velocity, then first-order states.
    fn state(&mut self, degrees: usize, q: &[f64], v: &[f64]) {
        (0..degrees).for_each(|i| self.numbers([q[i], v[i]]));
        self.numbers(v[degrees..].iter().copied());
    }
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
        Layout { tables }
    }

    /// Empty rows of all tables.
    pub fn rows(&self) -> Vec<Rows> {
        self.tables.iter().map(|t| Rows { columns: vec![Vec::new(); t.columns.len()] }).collect()
    }

    /// Adds a trajectory to the rows; a reason that it has goes to the list of reasons.
    pub fn add(
        &self,
        family: &Family,
        point: u64,
        (job, outcome): &(Job, Outcome),
        rows: &mut [Rows],
        reasons: &mut Vec<String>,
    ) {
        let model = family.problem().model();
        let (degrees, dimension, has_period) = (model.degrees(), model.dimension(), family.has_period());
        for (layout, rows) in self.tables.iter().zip(rows) {
            match layout.name {
                "points" => {
                    let mut row = Row { rows, at: 0 };
                    row.integer(point as i64);
                    row.numbers(family.values(point));
                    if family.carry().is_some() {
                        row.integer(i64::from(family.is_down(point)));
                    }
                    points_row(&mut row, (degrees, dimension), has_period, outcome, reasons);
                }
                "strobe" => {
                    for (k, state) in outcome.strobe.chunks_exact(1 + 2 * dimension).enumerate() {
                        let mut row = Row { rows, at: 0 };
                        row.integer(point as i64);
                        row.integer(k as i64);
                        row.number(state[0]);
                        row.state(degrees, &state[1..=dimension], &state[1 + dimension..]);
                    }
                }
                "impacts" => {
                    for hit in &outcome.hits {
                        let mut row = Row { rows, at: 0 };
                        row.integer(point as i64);
                        row.number(hit.t);
                        if has_period {
                            row.number(job.strobe.map_or(f64::NAN, |period| (hit.t / period).rem_euclid(1.0)));
                        }
                        row.integer(i64::from(hit.constraint));
                        row.numbers([hit.speed, hit.impulse]);
                    }
                }
                _ => {
                    for state in outcome.sections.chunks_exact(2 + 2 * dimension) {
                        let mut row = Row { rows, at: 0 };
                        row.integer(point as i64);
                        row.integer(state[0] as i64);
                        row.number(state[1]);
                        row.state(degrees, &state[2..2 + dimension], &state[2 + dimension..]);
                    }
                }
            }
        }
    }
}

/// What stands behind the axes.
fn points_row(
    row: &mut Row,
    (degrees, dimension): (usize, usize),
    has_period: bool,
    outcome: &Outcome,
    reasons: &mut Vec<String>,
) {
    let (status, reason) = match &outcome.status {
        Ok(status) => match status {
            Status::Breached { breaches } => (status.name(), Some(breaches.join("; "))),
            Status::Failed(failure) => (status.name(), Some(failure.to_string())),
            _ => (status.name(), None),
        },
        Err(reason) => ("refused", Some(reason.clone())),
    };
    let is_refused = outcome.status.is_err();
    row.integer(STATUS.iter().position(|s| *s == status).unwrap_or(0) as i64);
    row.integer(outcome.impacts as i64);
    match is_refused {
        // Nothing was computed: there is no state to show.
        true => row.numbers(std::iter::repeat_n(f64::NAN, degrees + dimension)),
        false => row.state(degrees, &outcome.q, &outcome.v),
    }
    for i in 0..statistics_in(row) {
        let nothing = Statistic { min: f64::NAN, max: f64::NAN, mean: f64::NAN, rms: f64::NAN };
        let s = outcome.statistics.get(i).copied().unwrap_or(nothing);
        row.numbers([s.min, s.max, s.mean, s.rms]);
    }
    if row.rows.columns.len() - row.at > TAIL {
        let (kind, period, impacts) = match outcome.settled {
            Some(Settled::Rest) => (0, 0.0, 0),
            Some(Settled::Periodic { intervals, impacts }) => (1, f64::from(intervals), impacts),
            Some(Settled::Travelling { intervals, impacts }) => (3, f64::from(intervals), impacts),
            Some(Settled::Recurrent { time, impacts }) => (1, time, impacts),
            Some(Settled::Neither) | None => (2, 0.0, 0),
        };
        row.integer(kind);
        match has_period {
            true => row.integer(period as i64),
            false => row.number(period),
        }
        row.integer(i64::from(impacts));
    }
    row.number(if is_refused { f64::NAN } else { outcome.t });
    row.integer(outcome.accumulations as i64);
    let checks = &outcome.checks;
    let checked = [checks.violation, checks.law, checks.balance];
    row.numbers(if is_refused { [f64::NAN; 3] } else { checked });
    row.integer(match outcome.engine {
        Engine::Scalar => 0,
        Engine::Lanes => 1,
        Engine::Both => 2,
        Engine::Steps => 3,
    });
    row.integer(match reason {
        Some(reason) => {
            reasons.push(reason);
            reasons.len() as i64 - 1
        }
        None => -1,
    });
}

/// Columns of `points` behind everything that is asked for.
const TAIL: usize = 7;

/// How many expressions have statistics: four columns each, before what it settled on (three columns) and the tail.
fn statistics_in(row: &Row) -> usize {
    (row.rows.columns.len() - row.at - TAIL) / 4
}
