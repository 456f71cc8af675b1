//! What a file of numbers says about itself, so that it can be understood without the files beside it.

use super::Record;
use saltus::Model;

/// A number or a text.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
}

/// Title, scheme, step, version, hash … of a run, each under its name.
pub fn of(record: &Record, model: &Model) -> Vec<(&'static str, Value)> {
    let text = |t: &str| Value::Text(t.to_string());
    let summary = &record.summary;
    let mut meta = vec![
        ("title", text(&summary.title)),
        ("model", text(&summary.model)),
        ("model_sha256", text(&record.model_sha256)),
        ("program", text("saltus")),
        ("version", text(&record.saltus)),
        ("scheme", text(summary.scheme)),
        ("step", Value::Number(summary.step)),
    ];
    meta.extend(summary.tolerance.map(|t| ("tolerance", Value::Number(t))));
    meta.extend([
        ("end", Value::Number(summary.end)),
        ("status", text(summary.status)),
        ("message", text(&summary.message)),
    ]);
    let units = &model.units;
    let known = [
        ("time_unit", &units.time),
        ("gap_unit", &units.length),
        ("reaction_unit", &units.force),
        ("impulse_unit", &units.impulse),
        ("energy_unit", &units.energy),
    ];
    meta.extend(known.into_iter().filter(|(_, unit)| !unit.is_empty()).map(|(name, unit)| (name, text(unit))));
    meta
}
