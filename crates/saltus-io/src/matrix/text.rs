//! What the text formats share: entries of row, column and value.

use super::{Entry, LARGEST};
use crate::FileError;
use crate::lines::{Line, Source, number};
use saltus::Span;

/// The entry on a line of three fields.
pub fn entry(source: &Source, line: &Line, what: &str) -> Result<Entry, FileError> {
    let mut fields = line.fields();
    let (Some(row), Some(column), Some(stored), None) = (fields.next(), fields.next(), fields.next(), fields.next())
    else {
        let message = format!("an entry of {what} needs three numbers: row, column and value");
        let help = "one entry a line, such as `2 1 -350.0`";
        return Err(source.fail(line.span(), message, &format!("{} numbers", line.fields().count()), help));
    };
    let row = index(source, row, what, "row")?;
    let column = index(source, column, what, "column")?;
    Ok(Entry { row, column, value: value(source, stored, what)?, line: line.number })
}

/// An index from 1 in the file, as one from 0.
fn index(source: &Source, (span, field): (Span, &str), what: &str, axis: &str) -> Result<usize, FileError> {
    match field.parse::<usize>() {
        Ok(0) => {
            let message =
                format!("{what} has an entry in {axis} 0: indices count from 1; this file seems to count from 0");
            Err(source.fail(span, message, "must be 1 or more", "add 1 to every row and column"))
        }
        Ok(k) if k > LARGEST => {
            let message = format!("{what} has an entry in {axis} {k}, but more than {LARGEST} rows are not supported");
            Err(source.fail(span, message, "too large", "is this the right file?"))
        }
        Ok(k) => Ok(k - 1),
        Err(_) => {
            let message = format!("the {axis} of an entry of {what} must be a whole number from 1, not `{field}`");
            Err(source.fail(span, message, "not an index", "a line holds row, column and value, in this order"))
        }
    }
}

/// The value of an entry.
pub fn value(source: &Source, (span, field): (Span, &str), what: &str) -> Result<f64, FileError> {
    match number(field) {
        Some(value) if value.is_finite() => Ok(value),
        Some(value) => {
            let message = format!("{what} has an entry that is not finite: {value}");
            let help = "look for a division by zero or an overflow in the program that wrote it";
            Err(source.fail(span, message, "not finite", help))
        }
        None => {
            let message = format!("an entry of {what} is not a number: `{field}`");
            Err(source.fail(span, message, "not a number", "write it as `-1.5e6`, with a point for the decimals"))
        }
    }
}
