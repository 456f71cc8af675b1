//! The rows that a block of trajectories adds to the tables, as they are on the disk.

use super::layout::{Layout, STATUS};
use crate::{Block, Engine, Family, Outcome, Settled, Statistic};
use saltus::Status;

/// Rows of a table, column by column: the bits of numbers and whole numbers, eight bytes each, least significant first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    /// How many there are.
    pub count: usize,
    /// The number of columns.
    pub width: usize,
    bytes: Vec<u8>,
}

impl Rows {
    fn new(count: usize, width: usize) -> Self {
        Rows { count, width, bytes: vec![0; 8 * count * width] }
    }

    /// A column.
    pub fn column(&self, k: usize) -> &[u8] {
        &self.bytes[8 * self.count * k..8 * self.count * (k + 1)]
    }

    fn row(&mut self, row: usize) -> Row<'_> {
        Row { rows: self, row, at: 0 }
    }
}

/// The rows of trajectories next to each other, in all tables of a family.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// The number of the first trajectory, and that behind the last.
    pub first: u64,
    /// See `first`.
    pub end: u64,
    /// The rows of each table.
    pub(super) tables: Vec<Rows>,
    /// The reasons of its trajectories, to which the last column of the first table refers.
    pub(super) reasons: Vec<String>,
    /// How many of its trajectories ended in which way, in the order of [`STATUS`].
    pub(super) counts: [u64; STATUS.len()],
}

impl Piece {
    /// Of trajectories without any table.
    pub(super) fn empty(first: u64, end: u64) -> Self {
        Piece { first, end, tables: Vec::new(), reasons: Vec::new(), counts: [0; STATUS.len()] }
    }

    /// One more table, column by column.
    pub(super) fn add_table<'c>(&mut self, columns: impl Iterator<Item = &'c [u64]>) {
        let mut rows = Rows::default();
        for column in columns {
            (rows.count, rows.width) = (column.len(), rows.width + 1);
            rows.bytes.extend(column.iter().flat_map(|bits| bits.to_le_bytes()));
        }
        self.tables.push(rows);
    }

    /// How many values there are.
    pub fn values(&self) -> usize {
        self.tables.iter().map(|t| t.count * t.width).sum()
    }

    /// Numbers the reasons from another number on.
    pub(super) fn number_reasons_from(&mut self, first: usize) {
        let Some(points) = self.tables.first_mut().filter(|_| first > 0 && !self.reasons.is_empty()) else { return };
        let last = 8 * points.count * (points.width - 1);
        for bytes in points.bytes[last..].chunks_exact_mut(8) {
            let place = i64::from_le_bytes(bytes.try_into().unwrap_or_default());
            if place >= 0 {
                bytes.copy_from_slice(&(place + first as i64).to_le_bytes());
            }
        }
    }
}

/// One row in the making.
struct Row<'r> {
    rows: &'r mut Rows,
    row: usize,
    at: usize,
}

impl Row<'_> {
    fn bits(&mut self, bits: u64) {
        let place = 8 * (self.at * self.rows.count + self.row);
        self.rows.bytes[place..place + 8].copy_from_slice(&bits.to_le_bytes());
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

    /// How many columns there still are.
    fn left(&self) -> usize {
        self.rows.width - self.at
    }
}

impl Layout {
    /// The rows of a block.
    pub fn piece(&self, family: &Family, block: Block) -> Piece {
        let model = family.problem().model();
        let (degrees, dimension, has_period) = (model.degrees(), model.dimension(), family.has_period());
        let Block { first, jobs, outcomes } = block;
        let mut piece = Piece {
            first,
            end: first + outcomes.len() as u64,
            tables: Vec::with_capacity(self.tables.len()),
            reasons: Vec::new(),
            counts: [0; STATUS.len()],
        };
        let numbered = || (first..).zip(outcomes);
        let total = |of: &dyn Fn(&Outcome) -> usize| outcomes.iter().map(of).sum::<usize>();
        for layout in &self.tables {
            let width = layout.columns.len();
            let rows = match layout.name {
                "points" => {
                    let mut rows = Rows::new(outcomes.len(), width);
                    let mut values = Vec::new();
                    for (k, (point, outcome)) in numbered().enumerate() {
                        let mut row = rows.row(k);
                        row.integer(point as i64);
                        family.write_values(point, &mut values);
                        row.numbers(values.iter().copied());
                        if family.carry().is_some() {
                            row.integer(i64::from(family.is_down(point)));
                        }
                        let has = (has_period, self.has_returns);
                        let status = points_row(&mut row, (degrees, dimension), has, outcome, &mut piece.reasons);
                        piece.counts[status] += 1;
                    }
                    rows
                }
                "strobe" => {
                    let size = 1 + 2 * dimension;
                    let mut rows = Rows::new(total(&|o| o.strobe.len() / size), width);
                    let all = numbered().flat_map(|(point, o)| {
                        o.strobe.chunks_exact(size).enumerate().map(move |(k, state)| (point, k, state))
                    });
                    for (place, (point, k, state)) in all.enumerate() {
                        let mut row = rows.row(place);
                        row.integer(point as i64);
                        row.integer(k as i64);
                        row.number(state[0]);
                        row.state(degrees, &state[1..=dimension], &state[1 + dimension..]);
                    }
                    rows
                }
                "impacts" => {
                    let mut rows = Rows::new(total(&|o| o.hits.len()), width);
                    let all =
                        numbered().zip(jobs).flat_map(|((point, o), job)| o.hits.iter().map(move |h| (point, job, h)));
                    for (place, (point, job, hit)) in all.enumerate() {
                        let mut row = rows.row(place);
                        row.integer(point as i64);
                        row.number(hit.t);
                        if has_period {
                            row.number(job.strobe.map_or(f64::NAN, |period| (hit.t / period).rem_euclid(1.0)));
                        }
                        row.integer(i64::from(hit.constraint));
                        row.numbers([hit.speed, hit.impulse]);
                    }
                    rows
                }
                _ => {
                    let size = 2 + 2 * dimension;
                    let mut rows = Rows::new(total(&|o| o.sections.len() / size), width);
                    let all = numbered().flat_map(|(point, o)| o.sections.chunks_exact(size).map(move |s| (point, s)));
                    for (place, (point, state)) in all.enumerate() {
                        let mut row = rows.row(place);
                        row.integer(point as i64);
                        row.integer(state[0] as i64);
                        row.number(state[1]);
                        row.state(degrees, &state[2..2 + dimension], &state[2 + dimension..]);
                    }
                    rows
                }
            };
            piece.tables.push(rows);
        }
        piece
    }
}

/// What stands behind the axes; the place of the status among all.
fn points_row(
    row: &mut Row,
    (degrees, dimension): (usize, usize),
    (has_period, has_returns): (bool, bool),
    outcome: &Outcome,
    reasons: &mut Vec<String>,
) -> usize {
    let (status, reason) = match &outcome.status {
        Ok(Status::Finished) => (0, None),
        Ok(Status::Breached { breaches }) => (1, Some(breaches.join("; "))),
        Ok(Status::Failed(failure)) => (3, Some(failure.to_string())),
        Ok(other) => (STATUS.iter().position(|s| *s == other.name()).unwrap_or(0), None),
        Err(reason) => (4, Some(reason.clone())),
    };
    let is_refused = outcome.status.is_err();
    row.integer(status as i64);
    row.integer(outcome.impacts as i64);
    if has_returns {
        row.integer(outcome.returns as i64);
    }
    match is_refused {
        // Nothing was computed: there is no state to show.
        true => row.numbers(std::iter::repeat_n(f64::NAN, degrees + dimension)),
        false => row.state(degrees, &outcome.q, &outcome.v),
    }
    // (Four columns for each expression, before what it settled on and the tail.)
    for i in 0..(row.left() - TAIL) / 4 {
        let nothing = Statistic { min: f64::NAN, max: f64::NAN, mean: f64::NAN, rms: f64::NAN };
        let s = outcome.statistics.get(i).copied().unwrap_or(nothing);
        row.numbers([s.min, s.max, s.mean, s.rms]);
    }
    if row.left() > TAIL {
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
        Engine::Again => 4,
    });
    row.integer(match reason {
        Some(reason) => {
            reasons.push(reason);
            reasons.len() as i64 - 1
        }
        None => -1,
    });
    status
}

/// Columns of `points` behind everything that is asked for.
const TAIL: usize = 7;
