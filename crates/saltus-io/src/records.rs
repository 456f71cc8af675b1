//! Ground motion records: the acceleration files (`.AT2`) of the PEER strong motion database.

use crate::FileError;
use crate::lines::{Line, Source, number};
use saltus::{Outside, SetupError, Span, Table};
use std::path::Path;

/// Ten million samples; the longest records have some hundred thousand.
const LIMIT: u64 = 256 << 20;

/// Standard gravity, m/s².
const GRAVITY: f64 = 9.80665;

const LAYOUT: &str = "an .AT2 file has four header lines: the database, the event and station, `ACCELERATION TIME \
                      SERIES IN UNITS OF G`, and `NPTS=  5372, DT= .0050 SEC`";

/// Reads an acceleration record: the samples in m/s², the first at time 0, and the unit that the file itself is in, `g`,
/// `cm/s2` or `m/s2`.
///
/// # Errors
/// What is wrong with the file, and where.
pub fn at2(path: &Path, name: &str, outside: Outside) -> Result<(Table, String), FileError> {
    let source = Source::open(path, "ground motion record", LIMIT)?;
    let mut lines = source.lines();
    let (Some(_), Some(_), Some(quantity), Some(sampling)) = (lines.next(), lines.next(), lines.next(), lines.next())
    else {
        let last = source.lines().last().map_or(0..0, |line| line.span());
        let message = format!("the record `{name}` ends within its four header lines");
        return Err(source.fail(last, message, "the last line", LAYOUT));
    };
    let (unit, factor) = self::unit(&source, name, &quantity)?;
    let ((place, count), step) = self::sampling(&source, name, &sampling)?;
    let mut values = Vec::new();
    for (span, field) in lines.flat_map(|line| line.fields()) {
        match number(field).map(|value| factor * value) {
            Some(value) if value.is_finite() => values.push(value),
            Some(_) => {
                let message = format!("the record `{name}` has a value that is not finite");
                return Err(source.fail(span, message, "not finite", "download the record again"));
            }
            None => {
                let message = format!("the record `{name}` has a value that is not a number: `{field}`");
                return Err(source.fail(
                    span,
                    message,
                    "not a number",
                    "after the four header lines come only numbers",
                ));
            }
        }
    }
    if values.len() != count {
        let guess = if values.len() < count { "truncated?" } else { "or the header is of another record?" };
        let found = values.len();
        let message = format!("the record `{name}`: the header says {count} values, the file has {found}: {guess}");
        let help = "download the record again, or correct NPTS";
        return Err(source.fail(place, message, &format!("the file has {found}"), help));
    }
    let times = (0..count).map(|k| k as f64 * step).collect();
    match Table::new(name, times, values, outside) {
        Ok(table) => Ok((table, unit.to_string())),
        Err(why) => {
            let error = SetupError::new(format!("the record `{name}` cannot be used: {why}"));
            Err(FileError::whole(&source.name, error.help("is it the right file?")))
        }
    }
}

/// The unit that the third line says, and its size in m/s².
fn unit(source: &Source, name: &str, line: &Line) -> Result<(&'static str, f64), FileError> {
    let said = line.text.to_ascii_uppercase();
    for (word, other, ending) in [("VELOC", "velocities", "VT2"), ("DISPL", "displacements", "DT2")] {
        if said.contains(word) {
            let message = format!("the record `{name}` holds {other}, not accelerations");
            let help = format!("use the .AT2 file of the same record; this is its .{ending} file");
            return Err(source.fail(line.span(), message, &format!("holds {other}"), &help));
        }
    }
    if !said.contains("ACCEL") {
        let message = format!("the record `{name}` does not say that it holds accelerations");
        return Err(source.fail(line.span(), message, "the third line says what it holds", LAYOUT));
    }
    let Some(at) = said.find("UNITS OF") else {
        let message = format!("the record `{name}` does not say its unit");
        return Err(source.fail(line.span(), message, "`IN UNITS OF G` is missing here", LAYOUT));
    };
    let from = at + "UNITS OF".len();
    let rest = Line { start: line.start + from, text: &line.text[from..], ..*line };
    let (span, word) = rest.fields().next().unwrap_or((line.span(), ""));
    let plain = word.to_ascii_uppercase().trim_end_matches(['.', ';', ':']).replace("SEC", "S").replace(['*', '^'], "");
    match plain.as_str() {
        "G" => Ok(("g", GRAVITY)),
        "CM/S2" | "CM/S22" | "CM/S/S" | "GAL" | "GALS" => Ok(("cm/s2", 0.01)),
        "M/S2" | "M/S22" | "M/S/S" => Ok(("m/s2", 1.0)),
        _ => {
            let message = format!("the record `{name}` is in the unknown unit `{word}`");
            Err(source.fail(span, message, "unknown unit", "it can be G, CM/S2 or M/S2"))
        }
    }
}

/// The number of samples with its place, and the time between them, as the fourth line says.
fn sampling(source: &Source, name: &str, line: &Line) -> Result<((Span, usize), f64), FileError> {
    let said = line.text.to_ascii_uppercase();
    let missing = |what: &str| {
        let message = format!("the record `{name}` does not say {what}");
        source.fail(line.span(), message, "the fourth line should", LAYOUT)
    };
    // The number behind `NPTS=` and `DT=`, or the numbers before `NPTS, DT`.
    let behind = |key: &str| {
        let from = said.find(key)? + key.len();
        let from = from + said[from..].find('=')? + 1;
        let rest = said[from..].trim_start();
        let from = said.len() - rest.len();
        let length = rest.find(|c| !matches!(c, '0'..='9' | '.' | '+' | '-' | 'E' | 'D')).unwrap_or(rest.len());
        (length > 0).then_some((line.start + from..line.start + from + length, &said[from..from + length]))
    };
    let before = |place: usize| line.fields().nth(place).filter(|_| said.contains("NPTS") && !said.contains('='));
    let (span, field) = behind("NPTS").or_else(|| before(0)).ok_or_else(|| missing("how many values it has (NPTS)"))?;
    let Ok(count) = field.parse() else {
        let message = format!("the number of values of the record `{name}` must be a whole number, not `{field}`");
        return Err(source.fail(span, message, "not a whole number", LAYOUT));
    };
    let (place, field) = behind("DT").or_else(|| before(1)).ok_or_else(|| missing("its time step (DT)"))?;
    match number(field) {
        Some(step) if step > 0.0 && step.is_finite() => Ok(((span, count), step)),
        _ => {
            let message = format!("the time step of the record `{name}` must be a positive number, not `{field}`");
            Err(source.fail(place, message, "must be > 0", "DT is the time between two samples, in seconds"))
        }
    }
}
