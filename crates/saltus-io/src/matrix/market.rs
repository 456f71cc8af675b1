//! Matrix Market files, coordinate and array: <https://math.nist.gov/MatrixMarket/formats.html>.

use super::{Entry, Format, Half, LARGEST, SparseMatrix, text};
use crate::FileError;
use crate::lines::{Line, Source};

const EXAMPLE: &str = "the first line must be like `%%MatrixMarket matrix coordinate real symmetric`";

/// Reads a file that starts with a comment, which should be the banner.
pub fn read(source: &Source, what: &str) -> Result<SparseMatrix, FileError> {
    let mut lines = source.written();
    let (dense, half) = banner(source, &lines.next().unwrap_or_default(), what)?;
    let mut lines = lines.filter(|line| !line.text.starts_with('%'));
    let Some(size) = lines.next() else {
        let message = format!("{what} ends before the line that says its size");
        let help = "after the comments comes a line with the numbers of rows, columns and entries";
        return Err(source.fail(last(source).span(), message, "the last line", help));
    };
    match dense {
        true => array(source, what, &size, lines, half),
        false => coordinate(source, what, &size, lines, half),
    }
}

/// What the first line says: whether it is an array, and whether one half stands for both.
fn banner(source: &Source, line: &Line, what: &str) -> Result<(bool, Half), FileError> {
    let words: Vec<_> = line.fields().map(|(span, word)| (span, word.to_ascii_lowercase())).collect();
    let [first, object, format, field, symmetry] = &words[..] else {
        let message = format!("the header of {what} needs five words, it has {}", words.len());
        return Err(source.fail(line.span(), message, "not a Matrix Market header", EXAMPLE));
    };
    let refuse = |(span, word): &(saltus::Span, String), why: &str, help: &str| {
        Err(source.fail(span.clone(), format!("the header of {what} says `{word}`: {why}"), "cannot be read", help))
    };
    if first.1 != "%%matrixmarket" {
        return refuse(first, "it should start with `%%MatrixMarket`", EXAMPLE);
    }
    if object.1 != "matrix" {
        return refuse(object, "only a `matrix` can be read", EXAMPLE);
    }
    let array = match format.1.as_str() {
        "coordinate" => false,
        "array" => true,
        _ => return refuse(format, "the format is either `coordinate` or `array`", EXAMPLE),
    };
    match field.1.as_str() {
        "real" | "double" | "integer" | "unsigned-integer" => {}
        "pattern" => {
            return refuse(field, "a pattern has places but no values", "write the file with its values, `real`");
        }
        "complex" => {
            let help = "write the real part; damping, if that is the imaginary part, is a matrix of its own";
            return refuse(field, "its entries must be real", help);
        }
        _ => return refuse(field, "the entries are either `real` or `integer`", EXAMPLE),
    }
    let half = match symmetry.1.as_str() {
        "general" => Half::None,
        "symmetric" => Half::Mirrored,
        "skew-symmetric" => Half::Negated,
        "hermitian" => return refuse(symmetry, "its entries must be real", "write a real matrix as `symmetric`"),
        _ => return refuse(symmetry, "the symmetry is either `general` or `symmetric`", EXAMPLE),
    };
    Ok((array, half))
}

/// The numbers on the size line: rows, columns and, of a sparse matrix, entries.
fn sizes<const N: usize>(source: &Source, line: &Line, what: &str, half: Half) -> Result<[usize; N], FileError> {
    let names = if N == 2 { "rows and columns" } else { "rows, columns and entries" };
    let help = format!("after the comments comes a line with {N} whole numbers: {names}");
    let fail = |span, message: &str, label: &str| Err(source.fail(span, format!("{what}: {message}"), label, &help));
    let mut sizes = [0; N];
    if line.fields().count() != N {
        let message = format!("the size line needs {N} numbers, {names}");
        return fail(line.span(), &message, &format!("{} numbers", line.fields().count()));
    }
    for (k, (span, field)) in line.fields().enumerate() {
        sizes[k] = match field.parse() {
            Ok(0) if k < 2 => return fail(span, "a matrix needs rows and columns", "must be 1 or more"),
            Ok(size) if k < 2 && size > LARGEST => {
                return fail(span, &format!("more than {LARGEST} rows are not supported"), "too large");
            }
            Ok(size) => size,
            Err(_) => return fail(span, "the sizes must be whole numbers", "not a whole number"),
        };
    }
    match half != Half::None && sizes[0] != sizes[1] {
        true => fail(line.span(), "the header says `symmetric`, but it is not square", "not square"),
        false => Ok(sizes),
    }
}

fn coordinate<'a>(
    source: &Source,
    what: &str,
    size: &Line,
    lines: impl Iterator<Item = Line<'a>>,
    half: Half,
) -> Result<SparseMatrix, FileError> {
    let [rows, columns, stored] = sizes(source, size, what, half)?;
    let mut entries: Vec<Entry> = Vec::new();
    let mut lines = lines.peekable();
    while let Some(line) = lines.next() {
        // Cut off within a line.
        if entries.len() < stored && lines.peek().is_none() && line.fields().count() < 3 {
            return Err(truncated(source, what, entries.len(), stored));
        }
        if entries.len() == stored {
            let found = stored + 1 + lines.count();
            let message = format!("the size line of {what} says {stored} entries, but the file has {found}");
            return Err(source.fail(line.span(), message, "one too many", "correct the third number of the size line"));
        }
        let entry = text::entry(source, &line, what)?;
        let (i, j) = (entry.row + 1, entry.column + 1);
        let mut places = line.fields().map(|(span, _)| span);
        for (name, at, size) in [("row", i, rows), ("column", j, columns)] {
            let span = places.next().unwrap_or(line.span());
            if at > size {
                let message = format!("{what} has an entry in {name} {at}, but its size is {rows} × {columns}");
                return Err(source.fail(span, message, "beyond the size", "correct the size line or this index"));
            }
        }
        if half != Half::None && j > i {
            let message =
                format!("{what} has the entry ({i}, {j}) above the diagonal, but the header says `symmetric`");
            let help = "a symmetric file stores the lower half only: leave this entry out, swap its row and column if \
                        only the upper half is stored, or write `general` in the header if both are";
            return Err(source.fail(line.span(), message, "above the diagonal", help));
        }
        if half == Half::Negated && i == j && entry.value != 0.0 {
            let message = format!("{what} has the entry ({i}, {i}), but the header says `skew-symmetric`");
            let help = "such a matrix has zeros on the diagonal; write `general` in the header and store both halves";
            return Err(source.fail(line.span(), message, "on the diagonal", help));
        }
        entries.push(entry);
    }
    match entries.len() < stored {
        true => Err(truncated(source, what, entries.len(), stored)),
        false => Ok(SparseMatrix::assemble(Format::MatrixMarket, (rows, columns), entries, half)),
    }
}

fn array<'a>(
    source: &Source,
    what: &str,
    size: &Line,
    lines: impl Iterator<Item = Line<'a>>,
    half: Half,
) -> Result<SparseMatrix, FileError> {
    let [rows, columns] = sizes(source, size, what, half)?;
    // At most 10^14, because both are bounded.
    let stored = match half {
        Half::None => rows * columns,
        Half::Mirrored => rows * (rows + 1) / 2,
        Half::Negated => rows * (rows - 1) / 2,
    };
    let (mut entries, mut count) = (Vec::new(), 0);
    // The first row of a column: of a half, that of the diagonal or the one below.
    let first = |column: usize| match half {
        Half::None => 0,
        Half::Mirrored => column,
        Half::Negated => column + 1,
    };
    let (mut row, mut column) = (first(0), 0);
    for line in lines {
        for (span, field) in line.fields() {
            if count == stored {
                let message = format!("{what} has more than the {stored} values that its size line asks for");
                let help = "an array file holds its values column by column; of a symmetric one, the lower half";
                return Err(source.fail(span, message, "one too many", help));
            }
            let value = text::value(source, (span, field), what)?;
            if value != 0.0 {
                entries.push(Entry { row, column, value, line: line.number });
            }
            count += 1;
            row += 1;
            if row == rows {
                column += 1;
                row = first(column);
            }
        }
    }
    match count < stored {
        true => Err(truncated(source, what, count, stored)),
        false => Ok(SparseMatrix::assemble(Format::MatrixMarket, (rows, columns), entries, half)),
    }
}

fn truncated(source: &Source, what: &str, found: usize, stored: usize) -> FileError {
    let message = format!("{what} is truncated: the file has {found} of the {stored} entries that its size line says");
    source.fail(last(source).span(), message, "the last line", "copy or write the file again")
}

fn last(source: &Source) -> Line<'_> {
    source.written().last().unwrap_or_default()
}
