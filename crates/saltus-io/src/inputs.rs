//! Sampled functions of time from a file with two columns.

use crate::lines::Source;
use crate::{FileError, read};
use saltus::{Outside, SetupError, Table};
use std::path::Path;

/// Ten million samples and more; a longer record is thinned out before it is simulated.
const LIMIT: u64 = 256 << 20;

/// Reads two columns, time and value, separated by a comma, a semicolon or white space. Empty lines and lines that
/// start with `#` are passed over; one line without numbers before the first sample is a header.
///
/// `factor`: what the values are multiplied by to be in m/s², with which the units that a header names must agree; None: as they are.
pub fn table(path: &Path, name: &str, outside: Outside, factor: Option<f64>) -> Result<Table, FileError> {
    let (x, y) = columns(path, name, true, factor)?.into_iter().unzip();
    Table::new(name, x, y, outside).map_err(|message| FileError {
        name: path.display().to_string(),
        text: String::new(),
        error: Box::new(SetupError::new(format!("the input `{name}` cannot be used: {message}"))),
    })
}

/// The two columns themselves; `increasing`: the first must increase.
pub fn pairs(path: &Path, name: &str, increasing: bool) -> Result<Vec<(f64, f64)>, FileError> {
    columns(path, name, increasing, None)
}

/// The unit that a heading names in brackets: `acc (g)`, `t [ms]`.
fn unit_in(heading: &str) -> Option<String> {
    let open = heading.find(['(', '['])?;
    let close = open + heading[open..].find([')', ']'])?;
    let plain: String =
        heading[open + 1..close].chars().filter(|c| !c.is_whitespace() && !matches!(c, '^' | '*')).collect();
    Some(plain.to_lowercase().replace('²', "2").replace("sec", "s"))
}

/// What contradicts the way in which columns are read, and what to do.
fn contradiction(headings: &[&str], factor: f64) -> Option<(String, String)> {
    let time = headings.first().and_then(|h| unit_in(h));
    let part = match time.as_deref() {
        Some("ms" | "msec" | "millis") => Some(("ms", "0.001")),
        Some("min") => Some(("min", "60")),
        Some("us" | "µs") => Some(("µs", "1e-6")),
        _ => None,
    };
    if let Some((unit, times)) = part {
        let help = format!("multiply the times by {times}, and correct the header; or say unit = \"as is\"");
        return Some((format!("the header says that times are in {unit}, and they are read in seconds"), help));
    }
    let value = headings.get(1).and_then(|h| unit_in(h))?;
    let own = match value.as_str() {
        "g" => 9.80665,
        "gal" | "gals" | "cm/s2" | "cm/s/s" => 0.01,
        // (In a model whose lengths are in mm that is its own unit.)
        "mm/s2" | "mm/s/s" if factor != 1.0 => 0.001,
        "m/s2" | "m/s/s" => 1.0,
        _ => return None,
    };
    let read = match factor {
        9.80665 => "g",
        0.01 => "cm/s2",
        _ => "m/s2",
    };
    let help = match value.as_str() {
        "g" | "gal" | "cm/s2" => format!(
            "say {{ file = …, unit = \"{value}\" }}, which gives m/s²; or unit = \"as is\" where the model itself converts"
        ),
        _ => "correct the header or the unit; unit = \"as is\" takes the values as they are".to_string(),
    };
    (own != factor).then(|| (format!("the header says that values are in {value}, and they are read in {read}"), help))
}

fn columns(path: &Path, name: &str, increasing: bool, factor: Option<f64>) -> Result<Vec<(f64, f64)>, FileError> {
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
            if let Some((why, help)) = factor.and_then(|factor| contradiction(&fields, factor)) {
                return Err(source.fail(span, format!("the input `{name}`: {why}"), "the header", &help));
            }
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
