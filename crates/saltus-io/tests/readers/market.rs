use crate::common::{read_bytes, says};
use saltus_io::FileError;
use saltus_io::matrix::SparseMatrix;

const HEAD: &str = "%%MatrixMarket matrix coordinate real";

fn matrix(text: &str) -> Result<SparseMatrix, FileError> {
    read_bytes("k.mtx", text.as_bytes(), "the stiffness matrix")
}

fn refused(text: &str, message: &str, marked: (usize, &str), help: &str) {
    says(matrix(text), message, Some(marked), help);
}

/// Row by row, as `scipy.io.mmwrite` and `mmread` see it.
fn full(matrix: &SparseMatrix) -> Vec<Vec<f64>> {
    (0..matrix.rows).map(|i| (0..matrix.columns).map(|j| matrix.get(i, j)).collect()).collect()
}

#[test]
fn files_as_scipy_writes_them() {
    let chain = vec![vec![4.0, -1.0, 0.0], vec![-1.0, 4.0, -1.0], vec![0.0, -1.0, 4.0]];
    for text in [
        "%%MatrixMarket matrix coordinate real symmetric\n%\n3 3 5\n1 1 4\n2 1 -1\n2 2 4\n3 2 -1\n3 3 4\n",
        "%%MatrixMarket matrix coordinate integer general\r\n%\r\n3 3 7\r\n1 1 4\r\n1 2 -1\r\n2 1 -1\r\n\
         2 2 4\r\n2 3 -1\r\n3 2 -1\r\n3 3 4\r\n",
        "%%MatrixMarket matrix array real symmetric\n%\n3 3\n4\n-1\n0\n4\n-1\n4\n",
    ] {
        let matrix = matrix(text).expect(text);
        assert_eq!((full(&matrix), matrix.entries.len()), (chain.clone(), 7));
    }
    let wide = matrix("%%MatrixMarket matrix array real general\n%\n2 3\n0\n3\n1\n4\n2\n5\n").expect("dense");
    assert_eq!(full(&wide), [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]);
}

#[test]
fn capitals_fortran_numbers_comments_and_duplicates() {
    let text = "%%matrixmarket MATRIX Coordinate REAL General\n% by hand\n\n 2 3  3\n2 3 1.5D+01\n% between\n\
                2 3 5.\n1 1 .5";
    let matrix = matrix(text).expect("good");
    assert_eq!(matrix.entries, [(0, 0, 0.5), (1, 2, 20.0)]);
    assert_eq!((matrix.columns, matrix.lines), (3, Some(vec![8, 5])));
}

#[test]
fn mistakes_in_the_header() {
    refused("%%MatrixMarket matrix\n", "needs five words, it has 2", (1, "%%MatrixMarket matrix"), "symmetric`");
    for (from, to, message, help) in [
        ("%%MatrixMarket", "%MatrixMarket", "should start with", "the first line"),
        ("matrix", "vector", "only a `matrix`", "the first line"),
        ("coordinate", "sparse", "either `coordinate` or `array`", "the first line"),
        ("real", "pattern", "places but no values", "with its values"),
        ("real", "complex", "must be real", "real part"),
        ("real", "float", "either `real` or `integer`", "the first line"),
        ("general", "hermitian", "must be real", "`symmetric`"),
        ("general", "lower", "either `general` or `symmetric`", "the first line"),
    ] {
        refused(&format!("{HEAD} general\n1 1 1\n1 1 1\n").replace(from, to), message, (1, to), help);
    }
}

#[test]
fn one_half_of_an_antisymmetric_matrix() {
    let stored = matrix(&format!("{HEAD} skew-symmetric\n3 3 2\n2 1 4\n3 2 -5\n")).expect("good");
    assert_eq!(stored.entries, [(0, 1, -4.0), (1, 0, 4.0), (1, 2, 5.0), (2, 1, -5.0)]);
    let array = HEAD.replace("coordinate", "array");
    let stored = matrix(&format!("{array} skew-symmetric\n3 3\n4\n0\n-5\n")).expect("good");
    assert_eq!(stored.entries, [(0, 1, -4.0), (1, 0, 4.0), (1, 2, 5.0), (2, 1, -5.0)]);
    let text = format!("{HEAD} skew-symmetric\n2 2 1\n2 2 1\n");
    refused(&text, "the header says `skew-symmetric`", (3, "2 2 1"), "zeros on the diagonal");
}

#[test]
fn mistakes_in_the_size() {
    let size = |size: &str, message: &str, marked: &str| {
        refused(&format!("{HEAD} symmetric\n%\n{size}\n1 1 1\n"), message, (3, marked), "rows, columns and entries");
    };
    size("3 3", "needs 3 numbers", "3 3");
    size("3 x 3", "whole numbers", "x");
    size("3 -3 3", "whole numbers", "-3");
    size("0 0 0", "needs rows and columns", "0");
    size("99999999 99999999 1", "not supported", "99999999");
    size("3 2 1", "not square", "3 2 1");
    refused(&format!("{HEAD} general\n% only\n"), "before the line that says its size", (2, "% only"), "rows");
}

#[test]
fn mistakes_in_the_entries() {
    let entry = |entry: &str, message: &str, marked: &str, help: &str| {
        refused(&format!("{HEAD} symmetric\n3 3 2\n{entry}\n1 1 4\n"), message, (3, marked), help);
    };
    entry("0 1 4", "row 0: indices count from 1; this file seems to count from 0", "0", "add 1");
    entry("1 0 4", "column 0: indices count from 1", "0", "add 1");
    entry("4 1 4", "in row 4, but its size is 3 × 3", "4", "size line");
    entry("3 7 4", "in column 7", "7", "size line");
    entry("1 2 4", "the entry (1, 2) above the diagonal", "1 2 4", "lower half only");
    entry("2 1 nan", "not finite: NaN", "nan", "division by zero");
    entry("2 1 -inf", "not finite: -inf", "-inf", "division by zero");
    entry("2 1 1,5", "three numbers", "2 1 1,5", "one entry a line");
    entry("2 1 1;5", "not a number: `1;5`", "1;5", "point");
    entry("2.0 1 4", "whole number from 1, not `2.0`", "2.0", "in this order");
    entry("2 -1 4", "whole number from 1, not `-1`", "-1", "in this order");
    entry("2 1", "three numbers", "2 1", "one entry a line");
}

#[test]
fn too_few_and_too_many_entries() {
    let head = format!("{HEAD} general\n2 2 3\n1 1 4\n2 2 4\n");
    refused(&head, "the file has 2 of the 3 entries", (4, "2 2 4"), "again");
    refused(&format!("{head}2 1"), "the file has 2 of the 3 entries", (5, "2 1"), "again");
    refused(&format!("{head}1 2 1\n2 1 1\n1 1 1\n"), "3 entries, but the file has 5", (6, "2 1 1"), "third number");
    let dense = "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n";
    refused(dense, "the file has 3 of the 4 entries", (5, "3"), "again");
    refused(&format!("{dense}4 5"), "more than the 4 values", (6, "5"), "column by column");
}
