//! What Abaqus writes with `*MATRIX OUTPUT`: `row, column, value`, or nodes and degrees of freedom instead of indices.

use super::{Entry, Format, Half, SparseMatrix, text};
use crate::FileError;
use crate::lines::{Line, Source};
use saltus::Span;

/// A degree of freedom of a node; the nodes that Abaqus adds by itself have negative numbers.
type Dof = (i64, u32);

/// Reads `FORMAT=COORDINATE` (three columns) and `FORMAT=MATRIX INPUT` (five). The files have no header: the size is
/// the largest index, and one half alone is how a symmetric matrix is written.
pub fn read(source: &Source, what: &str) -> Result<SparseMatrix, FileError> {
    if let Some(line) = source.written().find(|l| l.text.to_ascii_uppercase().starts_with("*USER ELEMENT")) {
        let message = format!("{what} is written element by element, not as one matrix");
        let help = "leave `ELEMENT BY ELEMENT` out of `*MATRIX GENERATE`";
        return Err(source.fail(line.span(), message, "the matrix of one element", help));
    }
    let mut lines = source.written().filter(|line| !line.text.starts_with('*')).peekable();
    match lines.peek().map(|first| (*first, first.fields().count())) {
        Some((first, 3)) => coordinate(source, what, first, lines),
        Some((_, 5)) => labelled(source, what, lines),
        Some((first, count)) => {
            let message = format!(
                "{what} should have three numbers a line (row, column, value) or five (node and degree of freedom of \
                 the row, the same of the column, value)"
            );
            let help = "write it in Abaqus with `*MATRIX OUTPUT, FORMAT=COORDINATE`; a Matrix Market file starts with \
                        `%%MatrixMarket`";
            Err(source.fail(first.span(), message, &format!("{count} numbers"), help))
        }
        None => {
            let message = format!("the file of {what} has comments but no entries");
            let first = source.written().next().map_or(0..0, |line| line.span());
            Err(source.fail(first, message, "no entries below", "write the matrix again"))
        }
    }
}

fn coordinate<'a>(
    source: &Source,
    what: &str,
    first: Line,
    lines: impl Iterator<Item = Line<'a>>,
) -> Result<SparseMatrix, FileError> {
    let entries = lines.map(|line| text::entry(source, &line, what)).collect::<Result<Vec<_>, _>>()?;
    let largest = |entries: &[Entry], of: fn(&Entry) -> usize| entries.iter().map(of).max().map_or(0, |k| k + 1);
    // A size line would pass for an entry at the last place, whose value happens to be the number of the others.
    let rest = entries.get(1..).unwrap_or_default();
    let size = [largest(rest, |e| e.row), largest(rest, |e| e.column), rest.len()];
    if first.fields().map(|(_, field)| field.parse().ok()).eq(size.map(Some)) {
        let message = format!("{what} seems to be a Matrix Market file without its header");
        let help = "put `%%MatrixMarket matrix coordinate real symmetric` (or `general`) above this line";
        return Err(source.fail(first.span(), message, "rows, columns and entries?", help));
    }
    let size = largest(&entries, |e| e.row.max(e.column));
    let below = entries.iter().any(|e| e.row > e.column);
    let above = entries.iter().any(|e| e.row < e.column);
    let half = if below != above { Half::Mirrored } else { Half::None };
    Ok(SparseMatrix::assemble(Format::Abaqus, (size, size), entries, half))
}

fn labelled<'a>(source: &Source, what: &str, lines: impl Iterator<Item = Line<'a>>) -> Result<SparseMatrix, FileError> {
    let mut stored: Vec<(Dof, Dof, f64, u32)> = Vec::new();
    for line in lines {
        let fields: Vec<_> = line.fields().collect();
        let [node, degree, other_node, other_degree, value] = &fields[..] else {
            let message = format!(
                "an entry of {what} needs five numbers: node, degree of freedom, the same of the column, and value"
            );
            let help = "the lines before this one have five; is the file complete?";
            return Err(source.fail(line.span(), message, &format!("{} numbers", fields.len()), help));
        };
        let row = dof(source, what, node, degree)?;
        let column = dof(source, what, other_node, other_degree)?;
        stored.push((row, column, text::value(source, value.clone(), what)?, line.number));
    }
    let mut dofs: Vec<Dof> = stored.iter().flat_map(|&(row, column, ..)| [row, column]).collect();
    dofs.sort_unstable();
    dofs.dedup();
    let place = |dof: Dof| dofs.partition_point(|&other| other < dof);
    let entries = stored.iter().map(|&(row, column, value, line)| {
        // Every degree of freedom is in the list, so it is found at its own place.
        Entry { row: place(row), column: place(column), value, line }
    });
    let size = dofs.len();
    let full = SparseMatrix::assemble(Format::Abaqus, (size, size), entries.clone().collect(), Half::None);
    // Abaqus stores a half by its own order of the nodes, so in ours the entries may lie on both sides of the diagonal.
    let apart = full.entries.iter().filter(|e| e.0 != e.1);
    let mut pairs: Vec<_> = apart.map(|&(i, j, _)| (i.min(j), i.max(j))).collect();
    pairs.sort_unstable();
    let mut matrix = match pairs.windows(2).any(|two| two[0] == two[1]) {
        true => full,
        false => SparseMatrix::assemble(Format::Abaqus, (size, size), entries.collect(), Half::Mirrored),
    };
    matrix.labels = Some(dofs.iter().map(|(node, degree)| format!("n{node}.d{degree}")).collect());
    Ok(matrix)
}

fn dof(source: &Source, what: &str, node: &(Span, &str), degree: &(Span, &str)) -> Result<Dof, FileError> {
    let fail = |(span, field): &(Span, &str), name: &str| {
        let message = format!("a {name} in {what} must be a whole number, not `{field}`");
        let help = "a line holds node, degree of freedom, the same of the column, and value, in this order";
        source.fail(span.clone(), message, "not a number of this kind", help)
    };
    let number = node.1.parse().map_err(|_| fail(node, "node"))?;
    match degree.1.parse() {
        Ok(k) if k > 0 => Ok((number, k)),
        _ => Err(fail(degree, "degree of freedom (from 1)")),
    }
}
