//! Tables of any length, written chunk by chunk: CSV, NumPy's npz, Parquet.
//!
//! Nothing here needs more memory than a chunk for each thread, however long the table is.

mod ahead;
mod csv;
mod npz;
mod parquet;
mod read;

pub use parquet::read_numbers as read_parquet;
pub use read::SavedTable;

use crate::output::{Format, WriteError, write_file};
use std::io;
use std::path::Path;

/// What a column holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Numbers.
    Number,
    /// Whole numbers.
    Integer,
    /// One of some words, by its place in the list.
    Word(Vec<String>),
    /// The same where words are long and few rows have one: rows without a word have −1. In npz files the places are the
    /// column, and the list is an array of its own.
    Remark(Vec<String>),
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
}

/// Values of a column in a chunk: numbers, or whole numbers and places of words.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Of a column of numbers.
    Numbers(Vec<f64>),
    /// Of any other column.
    Integers(Vec<i64>),
}

/// A table that can be read chunk by chunk, any number of times, by several threads.
pub trait Table: Sync {
    /// Its columns.
    fn columns(&self) -> &[Column];

    /// The number of rows of each chunk.
    fn chunks(&self) -> &[u64];

    /// The values of a column in a chunk.
    fn read(&self, chunk: usize, column: usize) -> io::Result<Values>;
}

/// Writes a table in a format, as `NAME.csv`, `NAME.npz` or `NAME.parquet`; the file has its name only when it is complete. Other
/// formats are not written. Chunks are made ready by so many threads; the file is the same whatever their number.
pub fn write(dir: &Path, name: &str, format: Format, table: &dyn Table, threads: usize) -> Result<(), WriteError> {
    let path = dir.join(format!("{name}.{}", format.name()));
    match format {
        Format::Csv => write_file(&path, |out| csv::write(out, table, threads)),
        Format::Npz => crate::output::write_seekable(&path, |out| npz::write(out, table, threads)),
        Format::Parquet => crate::output::write_seekable(&path, |out| parquet::write(out, table, threads)),
        Format::Mat => write_file(&path, |_| Err(io::Error::other("tables are not written in MATLAB's format"))),
    }
}

/// The word at a place; none for −1.
fn word(words: &[String], place: i64) -> &str {
    usize::try_from(place).ok().and_then(|k| words.get(k)).map_or("", String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two chunks of three columns.
    pub struct Small(pub Vec<Column>);

    impl Small {
        pub fn new() -> Self {
            let column = |name: &str, kind| Column { name: name.into(), kind };
            let words = vec!["one".to_string(), "two, three".to_string()];
            Small(vec![
                column("point", Kind::Integer),
                column("x'", Kind::Number),
                column("word", Kind::Word(words.clone())),
                column("reason", Kind::Remark(words)),
            ])
        }
    }

    impl Table for Small {
        fn columns(&self) -> &[Column] {
            &self.0
        }

        fn chunks(&self) -> &[u64] {
            &[2, 1]
        }

        fn read(&self, chunk: usize, column: usize) -> io::Result<Values> {
            Ok(match (column, chunk) {
                (0, 0) => Values::Integers(vec![0, 1]),
                (0, _) => Values::Integers(vec![2]),
                (1, 0) => Values::Numbers(vec![0.1, f64::NAN]),
                (1, _) => Values::Numbers(vec![-1e300]),
                (2, 0) => Values::Integers(vec![1, 0]),
                (2, _) => Values::Integers(vec![1]),
                (_, 0) => Values::Integers(vec![-1, 1]),
                _ => Values::Integers(vec![-1]),
            })
        }
    }

    #[test]
    fn a_table_is_written_and_read_back() {
        let dir = tempfile::tempdir().expect("a directory");
        let table = Small::new();
        write(dir.path(), "points", Format::Csv, &table, 2).expect("written");
        let text = std::fs::read_to_string(dir.path().join("points.csv")).expect("there");
        let expected =
            "point,x',word,reason\n0,0.1,\"two, three\",\n1,NaN,one,\"two, three\"\n2,-1e300,\"two, three\",\n";
        assert_eq!(text, expected);
        write(dir.path(), "points", Format::Npz, &table, 2).expect("written");
        let read = SavedTable::open(&dir.path().join("points.npz")).expect("read");
        assert_eq!(read.names(), ["point", "x'", "word", "reason", "reasons"]);
        assert_eq!(read.numbers("point").expect("a column"), [0.0, 1.0, 2.0]);
        let x = read.numbers("x'").expect("a column");
        assert!(x[0] == 0.1 && x[1].is_nan() && x[2] == -1e300);
        assert_eq!(read.texts("word").expect("a column"), ["two, three", "one", "two, three"]);
        assert_eq!(read.numbers("reason").expect("a column"), [-1.0, 1.0, -1.0]);
    }
}
