//! Sampled functions of time from a file with two columns.

use crate::lines::Source;
use crate::{FileError, read};
use saltus::{Outside, SetupError, Table};
use std::path::Path;

/// Ten million samples and more; a longer record is thinned out before it is simulated.
const LIMIT: u64 = 256 << 20;

/// Reads two columns, time and value, separated by a comma, a semicolon or white space. Empty lines and lines that
/// start with `#` are passed over; one line without numbers before the first sample is a header.
pub fn table(path: &Path, name: &str, outside: Outside) -> Result<Table, FileError> {
    let (x, y) = pairs(path, name, true)?.into_iter().unzip();
    Table::new(name, x, y, outside).map_err(|message| FileError {
        name: path.display().to_string(),
        text: String::new(),
        error: Box::new(SetupError::new(format!("the input `{name}` cannot be used: {message}"))),
    })
}

/// The two columns themselves; `increasing`: the first must increase.
pub fn pairs(path: &Path, name: &str, increasing: bool) -> Result<Vec<(f64, f64)>, FileError> {
    let text = read::text(path, "sampled input", LIMIT)?;
    let source = Source { name: path.display().to_string(), text: text.clone() };
    let fail = |span, message: String, label: &str| {
        source.fail(span, message, label, "two columns, time and value, separated by a comma, a semicolon or blanks")
    };
    let mut pairs: Vec<(f64, f64)> = Vec::new();
    let mut start = 0;
    let mut header = false;
    for line in text.split_inclusive('\n') {
        let span = start..start + line.trim_end().len();
        start += line.len();
        let body = line.trim_start_matches('\u{feff}').trim();
        if body.is_empty() || body.starts_with('#') {
            continue;
        }
        let fields: Vec<&str> = match [',', ';'].into_iter().find(|&c| body.contains(c)) {
            Some(separator) => body.split(separator).map(|f| f.trim().trim_matches('"')).collect(),
            None => body.split_whitespace().collect(),
        };
        let numbers: Vec<Option<f64>> = fields.iter().map(|f| f.parse().ok()).collect();
        if pairs.is_empty() && !header && numbers.iter().all(Option::is_none) {
            header = true;
            continue;
        }
        let (&[Some(a), Some(b)], 2) = (&numbers[..numbers.len().min(2)], numbers.len()) else {
            let message = format!("the input `{name}` needs two numbers on each line, time and value");
            return Err(fail(span, message, "not two numbers"));
        };
        if !a.is_finite() || !b.is_finite() {
            return Err(fail(span, format!("the input `{name}` has a value that is not finite"), "not finite"));
        }
        if increasing && pairs.last().is_some_and(|&(last, _)| a <= last) {
            let message = format!("the times of the input `{name}` must increase");
            return Err(fail(span, message, "not later than the line before"));
        }
        pairs.push((a, b));
    }
    Ok(pairs)
}
