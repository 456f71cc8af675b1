use crate::common::{file, says};
use saltus_io::FileError;
use saltus_io::matrix::{Format, SparseMatrix, read, symmetric};
use std::path::Path;

fn check(name: &str, text: &str) -> Result<(), FileError> {
    let (_kept, path) = file(name, text.as_bytes());
    symmetric(&read(&path, "the mass matrix").expect("a matrix"), &path, "the mass matrix")
}

fn general(entries: &str) -> String {
    let count = entries.lines().count();
    format!("%%MatrixMarket matrix coordinate real general\n% by hand\n3 3 {count}\n{entries}")
}

/// A matrix of size 2 × 2 without its file.
fn stored(format: Format, entries: Vec<(usize, usize, f64)>, lines: Option<Vec<u32>>) -> SparseMatrix {
    SparseMatrix { rows: 2, columns: 2, entries, lines, labels: None, format }
}

#[test]
fn symmetric_to_rounding() {
    check("k.mtx", &general("1 1 4\n2 1 1.000000001\n1 2 1\n3 3 4\n")).expect("equal to rounding");
    check("k.mtx", &general("1 1 4\n2 2 4\n3 1 0\n")).expect("a diagonal");
    check("k.mtx", "1,1,4.0\n2,1,-1.0\n").expect("Abaqus stores a half");
    check("k.mtx", "%%MatrixMarket matrix array real symmetric\n2 2\n4\n-1\n4\n").expect("declared");
}

#[test]
fn a_missing_half() {
    let lower = check("k.mtx", &general("1 1 4\n2 1 -1\n3 2 -1\n1 3 0\n"));
    let message = "only the lower half is stored, but the header says `general`";
    says(lower, message, Some((1, "general")), "write `symmetric` in the header, or store both halves");
    let upper = check("k.mtx", &general("1 1 4\n1 2 -1\n"));
    says(upper, "only the upper half", Some((1, "general")), "swap rows and columns");
    let dense = check("k.mtx", "%%MatrixMarket matrix array real general\n2 2\n4\n-1\n0\n4\n");
    says(dense, "only the lower half", Some((1, "general")), "store both halves");
    let matrix = stored(Format::Npz, vec![(0, 1, 1.0)], None);
    says(symmetric(&matrix, Path::new("k.npz"), "it"), "only the upper half is stored", None, "triu(K, 1)");
}

#[test]
fn the_worst_pair_is_named() {
    let text = general("1 1 4\n2 1 -1\n1 2 -1.5\n3 1 -2\n1 3 -5\n");
    let message = "the entry (1, 3) is -5, but (3, 1) is -2";
    says(check("k.mtx", &text), message, Some((8, "1 3 -5")), "1e-9");
    let message = "the entry (n1.d1, n2.d1) is 1, but (n2.d1, n1.d1) is 3";
    says(check("k.mtx", "1,1,2,1, 1.0\n2,1,1,1, 3.0\n"), message, Some((1, "1,1,2,1, 1.0")), "both places");
}

#[test]
fn not_square() {
    let text = "%%MatrixMarket matrix coordinate real general\n%\n2 3 1\n1 1 4\n";
    says(check("k.mtx", text), "must be square, but it is 2 × 3", Some((3, "2 3 1")), "right file");
}

#[test]
fn a_file_that_is_gone_leaves_the_message() {
    let matrix = stored(Format::Abaqus, vec![(0, 1, 1.0), (1, 0, 2.0)], Some(vec![1, 2]));
    says(symmetric(&matrix, Path::new("/nowhere/k.mtx"), "it"), "(1, 2) is 1, but (2, 1) is 2", None, "both");
}
