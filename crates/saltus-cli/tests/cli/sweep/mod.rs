//! Families of motions: `saltus sweep`, `saltus merge`, and figures of them.

mod kills;
mod mistakes;
mod tables;
mod undefined;

use crate::program::Scratch;
use std::path::Path;

/// The tables of a sweep, with their bytes.
fn bytes(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found: Vec<(String, Vec<u8>)> = std::fs::read_dir(dir)
        .expect("a directory")
        .map(|entry| entry.expect("an entry"))
        .filter(|entry| entry.file_type().expect("a type").is_file() && entry.file_name() != "sweep.json")
        .map(|e| (e.file_name().to_string_lossy().into_owned(), std::fs::read(e.path()).expect("read")))
        .collect();
    found.sort();
    found
}

/// Two sweeps have the same tables, byte for byte.
fn assert_same(dir: &Scratch, a: &str, b: &str) {
    let (left, right) = (bytes(&dir.join(a)), bytes(&dir.join(b)));
    let names = |of: &[(String, Vec<u8>)]| of.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    assert!(!left.is_empty() && left.iter().any(|(name, _)| name == "points.csv"), "{:?}", names(&left));
    assert_eq!(names(&left), names(&right));
    for ((name, x), (_, y)) in left.iter().zip(&right) {
        assert!(x == y, "{name} of {a} and {b} differ");
    }
}

/// A table in CSV: its columns by name, as texts. (No field of these tests has a comma.)
fn column(dir: &Scratch, file: &str, name: &str) -> Vec<String> {
    let text = dir.read(file);
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let at = names.iter().position(|n| *n == name).unwrap_or_else(|| panic!("{name} in {names:?}"));
    lines.map(|line| line.split(',').nth(at).expect("a field").to_string()).collect()
}

fn numbers(dir: &Scratch, file: &str, name: &str) -> Vec<f64> {
    column(dir, file, name).iter().map(|x| x.parse().expect("a number")).collect()
}
