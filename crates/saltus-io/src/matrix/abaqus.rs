//! What Abaqus writes with `*MATRIX OUTPUT`: `row, column, value`, or nodes and degrees of freedom instead of indices.

use super::{Entry, Format, SparseMatrix, text};
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
    Ok(SparseMatrix::assemble(Format::Abaqus, (size, size), entries, below != above))
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
    let full = SparseMatrix::assemble(Format::Abaqus, (size, size), entries.clone().collect(), false);
    // Abaqus stores a half by its own order of the nodes, so in ours the entries may lie on both sides of the diagonal.
    let apart = full.entries.iter().filter(|e| e.0 != e.1);
    let mut pairs: Vec<_> = apart.map(|&(i, j, _)| (i.min(j), i.max(j))).collect();
    pairs.sort_unstable();
    let mut matrix = match pairs.windows(2).any(|two| two[0] == two[1]) {
        true => full,
        false => SparseMatrix::assemble(Format::Abaqus, (size, size), entries.collect(), true),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines::testing::says;

    fn matrix(text: &str) -> Result<SparseMatrix, FileError> {
        read(&Source { name: "K_STIF1.mtx".into(), text: text.into() }, "the stiffness matrix")
    }

    fn refused(text: &str, message: &str, marked: (usize, &str), help: &str) {
        says(matrix(text), message, Some(marked), help);
    }

    const CHAIN: [(usize, usize, f64); 4] = [(0, 0, 2e9), (0, 1, -1e9), (1, 0, -1e9), (1, 1, 1e9)];

    #[test]
    fn coordinates_full_lower_and_upper() {
        for text in [
            "** written by Abaqus\n1,1, 2.000000000000000e+09\n2,1,-1.000000000000000e+09\n2,2, 1.00000000000e+09\n",
            "      1       1  2.000000000000000e+09\r\n      1       2 -1.0E+09\r\n      2       2  1.0D+09\r\n",
            "1 1 2e9\n1 2 -1e9\n2 1 -1e9\n2 2 1e9\n",
        ] {
            let matrix = matrix(text).expect(text);
            assert_eq!((matrix.rows, matrix.columns, matrix.entries), (2, 2, CHAIN.to_vec()));
            assert_eq!(matrix.labels, None);
        }
        assert_eq!(matrix("1,1,1.0\n3,3,1.0\n").expect("a diagonal").rows, 3);
    }

    #[test]
    fn nodes_and_degrees_of_freedom() {
        let text = "*MATRIX INPUT, NAME=K\n12,3, 12,3, 1.0e+09\n7,1, 7,1, 2.0e+09\n12,3, 7,1,-1.0e+09\n";
        let matrix = matrix(text).expect("good");
        assert_eq!(matrix.labels, Some(vec!["n7.d1".to_string(), "n12.d3".to_string()]));
        assert_eq!(matrix.entries, CHAIN);
        assert_eq!(matrix.lines, Some(vec![3, 4, 4, 2]));
    }

    #[test]
    fn a_half_in_another_order_of_the_nodes() {
        // Abaqus numbers the nodes it adds last; here they come first, and the lower half is spread over both.
        let matrix = matrix("1,1,1,1,4.0\n2,1,1,1,-1.0\n2,1,2,1,4.0\n-1,1,2,1,-2.0\n-1,1,-1,1,4.0\n").expect("good");
        assert_eq!(matrix.labels.as_ref().map(|l| l[0].as_str()), Some("n-1.d1"));
        assert_eq!((matrix.get(0, 2), matrix.get(2, 0), matrix.get(1, 2), matrix.get(2, 1)), (-2.0, -2.0, -1.0, -1.0));
    }

    #[test]
    fn an_unsymmetric_matrix_stays_so() {
        let three = matrix("1,1,4.0\n1,2,1.0\n2,1,3.0\n").expect("good");
        assert_eq!((three.get(0, 1), three.get(1, 0)), (1.0, 3.0));
        let five = matrix("1,1,1,2,1.0\n1,2,1,1,3.0\n2,1,1,1,7.0\n").expect("good");
        assert_eq!((five.get(0, 1), five.get(1, 0), five.get(0, 2)), (1.0, 3.0, 0.0));
    }

    #[test]
    fn mistakes() {
        refused("** K\n0,0,4.0\n", "seems to count from 0", (2, "0"), "add 1");
        refused("1,1,4.0\n2,-1,4.0\n", "column of an entry", (2, "-1"), "in this order");
        refused("1,1,4.0\n2,1\n", "three numbers", (2, "2,1"), "one entry a line");
        refused("1,1,NaN\n", "not finite", (1, "NaN"), "division by zero");
        refused("1,1,4.0\n2,2,*****\n", "not a number", (2, "*****"), "point");
        refused("4 -1\n-1 4\n", "three numbers a line", (1, "4 -1"), "FORMAT=COORDINATE");
        refused("** nothing\n", "no entries", (1, "** nothing"), "again");
        refused("** K\n*USER ELEMENT,NODES=2\n1.0\n", "element by element", (2, "*USER ELEMENT,NODES=2"), "leave");
        refused("99999999,1,4.0\n", "not supported", (1, "99999999"), "right file");
        refused("3 3 2\n1 1 4\n3 3 4\n", "without its header", (1, "3 3 2"), "put");
    }

    #[test]
    fn mistakes_in_five_columns() {
        let after = |line: &str, message: &str, marked: &str| {
            refused(&format!("1,1,1,1,4.0\n{line}\n"), message, (2, marked), "");
        };
        after("2,1,1,4.0", "five numbers", "2,1,1,4.0");
        after("x,1,1,1,4.0", "a node in the stiffness matrix", "x");
        after("2,0,1,1,4.0", "degree of freedom (from 1)", "0");
        after("2,1,1,1.5,4.0", "degree of freedom", "1.5");
        after("2,1,1,1,inf", "not finite", "inf");
    }
}
