//! `[inputs]`: sampled functions of time, from tables and records.

use super::tree::{self, Value};
use super::{Failure, Reader, get, need};
use crate::{inputs, records};
use saltus::{Outside, SetupError, Table};
use std::sync::Arc;
use toml::de::DeTable;

impl Reader<'_> {
    pub(super) fn inputs(&mut self, value: &Value) -> Result<(), Failure> {
        for (key, value) in tree::entries(tree::table(value, "[inputs]", "ag = \"record.csv\"")?) {
            let (file, outside, factor) = match value.get_ref().as_table() {
                None => (value, Outside::Hold, 1.0),
                Some(table) => {
                    tree::only(table, "an input", &["file", "outside", "unit"])?;
                    let file = need(table, "file", value.span(), "an input", "file = \"record.csv\"")?;
                    (file, outside(table)?, unit(table)?)
                }
            };
            let path = tree::string(file, "the file of an input")?;
            let (full, name) = (self.data_file(&path), key.get_ref());
            let is_record = path.to_ascii_lowercase().ends_with(".at2");
            let read = match is_record {
                true => records::at2(&full, name, outside).map(|(table, _)| table),
                false => inputs::table(&full, name, outside),
            };
            let table = read.map_err(|e| Failure::in_file(e, file))?;
            if is_record && factor != 1.0 {
                return Err(SetupError::new("the unit of an .AT2 record is in its header, and it is read in m/s²")
                    .at(value.span(), "leave `unit` out")
                    .into());
            }
            let table = match factor == 1.0 {
                true => table,
                false => scaled(&table, factor).map_err(|e| SetupError::new(e).at(file.span(), "named here"))?,
            };
            self.description.inputs.push((tree::name(key), Arc::new(table)));
        }
        Ok(())
    }
}

fn outside(table: &DeTable) -> Result<Outside, SetupError> {
    let Some(value) = get(table, "outside") else { return Ok(Outside::Hold) };
    match value.get_ref().as_str() {
        Some("hold") => Ok(Outside::Hold),
        Some("zero") => Ok(Outside::Zero),
        _ => Err(SetupError::new("`outside` says what an input is beyond its data")
            .at(value.span(), "\"hold\" (the end value) or \"zero\"")),
    }
}

/// The factor to m/s² of an acceleration in another unit.
fn unit(table: &DeTable) -> Result<f64, SetupError> {
    let Some(value) = get(table, "unit") else { return Ok(1.0) };
    match value.get_ref().as_str() {
        Some("m/s2") => Ok(1.0),
        Some("g") => Ok(9.80665),
        Some("cm/s2" | "gal") => Ok(0.01),
        _ => Err(SetupError::new("`unit` is that of an acceleration in the file; it is turned into m/s²")
            .at(value.span(), "\"g\", \"cm/s2\", \"gal\" or \"m/s2\"")),
    }
}

fn scaled(table: &Table, factor: f64) -> Result<Table, String> {
    let (x, y) = table.points();
    Table::new(table.name(), x.to_vec(), y.iter().map(|y| factor * y).collect(), table.outside())
}
