//! Vectors: a number per degree of freedom, from NumPy, Matrix Market or plain text.

use super::{LIMIT, npy, start, whole};
use crate::FileError;
use crate::lines::Source;
use std::path::Path;

/// Reads a vector, of `n` numbers where that is given; `what` is its name in messages, such as "the direction of the base".
///
/// NumPy arrays `(n,)`, `(n, 1)` and `(1, n)`; matrices of one row or column in any format that [`super::read`] knows; texts of `n`
/// numbers between blanks, commas or ends of lines, with comments after `#`.
///
/// # Errors
/// What is wrong with the file, and where.
pub fn vector(path: &Path, what: &str, n: Option<usize>) -> Result<Vec<f64>, FileError> {
    let head = start(path);
    let is_text = !head.starts_with(b"PK") && !head.starts_with(b"%") && !head.starts_with(npy::MAGIC);
    let values = if head.starts_with(npy::MAGIC) {
        npy::vector(path, what)?
    } else if is_text && super::unreadable(&head, &ending(path), path, what).is_none() && path.is_file() {
        plain(path, what)?
    } else {
        let read = super::read(path, what)?;
        if read.rows.min(read.columns) != 1 {
            let message = format!("{what} is a vector, and this matrix is {} × {}", read.rows, read.columns);
            return Err(whole(path, message, "write one number per degree of freedom"));
        }
        let mut values = vec![0.0; read.rows.max(read.columns)];
        read.entries.iter().for_each(|&(i, j, x)| values[i.max(j)] = x);
        values
    };
    if let Some(n) = n.filter(|&n| n != values.len()) {
        let message = format!("{what} has {} numbers, but there are {n} degrees of freedom", values.len());
        return Err(whole(path, message, "write one number per degree of freedom, in the order of the matrices"));
    }
    match values.iter().position(|x| !x.is_finite()) {
        Some(i) => {
            Err(whole(path, format!("{what} has an entry that is not finite: number {}", i + 1), "write it again"))
        }
        None => Ok(values),
    }
}

fn ending(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
}

fn plain(path: &Path, what: &str) -> Result<Vec<f64>, FileError> {
    let source = Source::open(path, "file of numbers", LIMIT)?;
    let mut values = Vec::new();
    for line in source.written() {
        let comment = line.text.find('#').map_or(usize::MAX, |at| line.start + at);
        for (span, field) in line.fields().take_while(|(span, _)| span.start < comment) {
            let field = &field[..field.len().min(comment - span.start)];
            values.push(super::text::value(&source, (span, field), what)?);
        }
    }
    Ok(values)
}
