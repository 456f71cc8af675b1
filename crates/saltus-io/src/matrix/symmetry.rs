//! Whether a matrix is symmetric, and if not, where and why.

use super::{Format, LIMIT, SparseMatrix, whole};
use crate::FileError;
use crate::lines::Source;
use saltus::Span;
use std::path::Path;

/// Differences of this part of the largest entry are rounding in the program that wrote the file.
const ROUNDING: f64 = 1e-9;

/// Checks that a matrix is square and symmetric, up to differences of 1e-9 of its largest entry. `path` and `what` are
/// those it was read with.
///
/// # Errors
/// Says which half is missing, or which two entries differ most; in a text file, with the line.
pub fn symmetric(matrix: &SparseMatrix, path: &Path, what: &str) -> Result<(), FileError> {
    square(matrix, path, what)?;
    let largest = matrix.entries.iter().fold(0.0, |largest: f64, e| largest.max(e.2.abs()));
    let (mut below, mut above) = (false, false);
    let (mut most, mut worst) = (ROUNDING * largest, None);
    // For each row, the entry that is looked at next: as `i` grows, the places (j, i) follow each other in row j.
    let mut next: Vec<usize> = (0..matrix.rows).map(|row| matrix.entries.partition_point(|e| e.0 < row)).collect();
    for (k, &(i, j, value)) in matrix.entries.iter().enumerate() {
        // A zero in a half that is not meant to be stored does not make it a stored one.
        below |= i > j && value != 0.0;
        above |= i < j && value != 0.0;
        while matrix.entries.get(next[j]).is_some_and(|e| (e.0, e.1) < (j, i)) {
            next[j] += 1;
        }
        let mirrored = matrix.entries.get(next[j]).filter(|e| (e.0, e.1) == (j, i)).map_or(0.0, |e| e.2);
        if (value - mirrored).abs() > most {
            most = (value - mirrored).abs();
            worst = Some((k, mirrored));
        }
    }
    match worst {
        None => Ok(()),
        Some(_) if below != above => Err(half(matrix, path, what, below)),
        Some((k, mirrored)) => {
            let (i, j, value) = matrix.entries[k];
            let (row, column) = (matrix.row_name(i), matrix.row_name(j));
            let message = format!(
                "{what} is not symmetric: the entry ({row}, {column}) is {value}, but ({column}, {row}) is {mirrored}"
            );
            let place = |source: &Source| {
                let number = *matrix.lines.as_ref()?.get(k)?;
                source.lines().find(|line| line.number == number).map(|line| line.span())
            };
            let help = "store the same value at both places (differences below 1e-9 of the largest entry are taken for \
                        rounding); damping or stiffness that is meant so, of flow or rotation: `unsymmetric = true` in [structure]";
            Err(fail(matrix, path, place, message, &format!("({column}, {row}) is {mirrored}"), help))
        }
    }
}

/// Checks that a matrix is square.
///
/// # Errors
/// Its size.
pub fn square(matrix: &SparseMatrix, path: &Path, what: &str) -> Result<(), FileError> {
    if matrix.rows == matrix.columns {
        return Ok(());
    }
    let message = format!("{what} must be square, but it is {} × {}", matrix.rows, matrix.columns);
    Err(match matrix.format {
        Format::MatrixMarket => fail(matrix, path, size, message, "not square", "is it the right file?"),
        _ => whole(path, message, "is it the right file?"),
    })
}

/// Only one half is stored.
fn half(matrix: &SparseMatrix, path: &Path, what: &str, below: bool) -> FileError {
    let side = if below { "lower" } else { "upper" };
    let message = format!("{what} is not symmetric: only the {side} half is stored");
    if matrix.format != Format::MatrixMarket {
        let help = match below {
            true => "store both halves: in Python, `K + scipy.sparse.tril(K, -1).T`",
            false => "store both halves: in Python, `K + scipy.sparse.triu(K, 1).T`",
        };
        return whole(path, message, help);
    }
    let array = |source: &Source| header(source, 2).is_some_and(|(_, word)| word.eq_ignore_ascii_case("array"));
    let dense = Source::open(path, "matrix file", LIMIT).is_ok_and(|source| array(&source));
    let help = match (dense, below) {
        (true, _) => "store both halves",
        (false, true) => "write `symmetric` in the header, or store both halves",
        (false, false) => "swap rows and columns and write `symmetric` in the header, or store both halves",
    };
    let place = |source: &Source| header(source, 4).map(|(span, _)| span);
    fail(matrix, path, place, format!("{message}, but the header says `general`"), "says that both are", help)
}

/// A word of the header of a Matrix Market file.
fn header(source: &Source, word: usize) -> Option<(Span, &str)> {
    source.written().next()?.fields().nth(word)
}

/// The size line of a Matrix Market file.
fn size(source: &Source) -> Option<Span> {
    source.written().find(|line| !line.text.starts_with('%')).map(|line| line.span())
}

/// A mistake at a place, which is looked up in the text if the file is one.
fn fail(
    matrix: &SparseMatrix,
    path: &Path,
    place: impl Fn(&Source) -> Option<Span>,
    message: String,
    label: &str,
    help: &str,
) -> FileError {
    // The text is read once more for the message alone: kept, it would take more memory than the matrix.
    let source = matrix.lines.as_ref().and_then(|_| Source::open(path, "matrix file", LIMIT).ok());
    match source.as_ref().and_then(|source| Some((source, place(source)?))) {
        Some((source, span)) => source.fail(span, message, label, help),
        None => whole(path, message, help),
    }
}
