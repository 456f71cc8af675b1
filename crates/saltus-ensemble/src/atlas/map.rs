//! Maps over two parameters: what trajectories settled on, or a number of each.

use super::{Label, Tables};
use crate::store::axis_names;
use saltus::SetupError;

/// A map over two axes.
#[derive(Clone, Debug)]
pub struct Map {
    /// The names of both axes.
    pub names: [String; 2],
    /// The values of the first axis, and of the second.
    pub x: Vec<f64>,
    /// See `x`.
    pub y: Vec<f64>,
    /// The cells: those of the first value of y, then those of the second, and so on.
    pub cells: Vec<Cell>,
}

/// A trajectory of a map.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    /// The number of the trajectory.
    pub point: u64,
    /// What it settled on.
    pub label: Label,
    /// The number that is shown; NaN if there is none.
    pub value: f64,
}

impl Map {
    /// The map of a family with two axes. `of` is `period`, `impacts` (in a period), `exponent` or a column.
    pub fn read(tables: &Tables, of: &str) -> Result<Self, SetupError> {
        let family = &tables.sweep.family;
        let names = axis_names(family);
        let [first, second] = names.as_slice() else {
            return Err(SetupError::new(format!("a map has two axes, and this family has {}", names.len())));
        };
        let row = family.points().row() as usize;
        let rows = family.points().len() as usize / row.max(1);
        let labels = tables.labels()?;
        let values = match of {
            "period" | "impacts" => vec![f64::NAN; labels.len()],
            "exponent" => {
                let found = tables.exponents()?;
                found.ok_or_else(|| SetupError::new("the exponents of this map were not computed"))?.largest
            }
            column => tables.points.numbers(column)?,
        };
        let cell = |k: usize, j: usize| {
            let at = k * row + j;
            let label = labels[at];
            let value = match (of, label) {
                ("period", Label::Periodic { period, .. }) => f64::from(period),
                ("impacts", Label::Periodic { impacts, .. } | Label::Recurrent { impacts, .. }) => f64::from(impacts),
                ("period", Label::Recurrent { time, .. }) => time,
                _ => values[at],
            };
            Cell { point: at as u64, label, value }
        };
        Ok(Map {
            names: [first.clone(), second.clone()],
            x: (0..rows).map(|k| family.values((k * row) as u64)[0]).collect(),
            y: (0..row).map(|j| family.values(j as u64)[1]).collect(),
            cells: (0..row).flat_map(|j| (0..rows).map(move |k| (k, j))).map(|(k, j)| cell(k, j)).collect(),
        })
    }
}
