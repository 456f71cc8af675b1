//! Matrices from other programs: Matrix Market, Abaqus, SciPy and NumPy.

mod abaqus;
mod market;
mod nodes;
mod npy;
mod npz;
mod symmetry;
mod text;
mod vector;

pub use nodes::nodes;
pub use symmetry::{square, symmetric};
pub use vector::vector;

use crate::lines::Source;
use crate::{FileError, read};
use saltus::SetupError;
use saltus::text::{gib, grouped};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Some ten million entries; a model of that size is reduced before it is simulated.
const LIMIT: u64 = 512 << 20;

/// More rows than this are a mistake in the size, and would fill the memory before anything else is said.
const LARGEST: usize = 2_000_000;

/// A degree of freedom takes about this many bytes until it runs, an entry as many as the second number.
const BYTES: (f64, f64) = (1200.0, 120.0);

/// More memory than this is refused before it is asked for, in bytes.
const MOST: f64 = 3.0 * (1u64 << 30) as f64;

/// Of this many rows at least one should have an entry.
const SPARSEST: usize = 16;

/// The format that a matrix was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Matrix Market, coordinate or array.
    MatrixMarket,
    /// What Abaqus writes with `*MATRIX OUTPUT`.
    Abaqus,
    /// SciPy's `save_npz`.
    Npz,
    /// NumPy's `save`.
    Npy,
}

/// A matrix by its stored entries; those of a file that stores one half of a symmetric matrix stand in both halves.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseMatrix {
    /// The number of rows.
    pub rows: usize,
    /// The number of columns.
    pub columns: usize,
    /// Row and column (from 0) and value, sorted by row and then by column, no place twice.
    pub entries: Vec<(usize, usize, f64)>,
    /// For each entry the line (from 1) where it stands, if the file is a text.
    pub lines: Option<Vec<u32>>,
    /// The names of the rows, such as `n12.d3` for degree of freedom 3 of node 12, if the file has them.
    pub labels: Option<Vec<String>>,
    /// The format of the file.
    pub format: Format,
}

/// Whether a file stores one half of a matrix, and how the other follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Half {
    None,
    Mirrored,
    Negated,
}

/// An entry as a file stores it, with its line.
struct Entry {
    row: usize,
    column: usize,
    value: f64,
    line: u32,
}

impl SparseMatrix {
    /// Sorts the entries, sums those at the same place, and adds the other half where only one is stored.
    fn assemble(format: Format, (rows, columns): (usize, usize), mut entries: Vec<Entry>, half: Half) -> Self {
        if half != Half::None {
            let sign = if half == Half::Negated { -1.0 } else { 1.0 };
            let others = entries.iter().filter(|e| e.row != e.column);
            let others: Vec<Entry> =
                others.map(|e| Entry { row: e.column, column: e.row, value: sign * e.value, ..*e }).collect();
            entries.extend(others);
        }
        // Stable: equal places are summed in the same order in both halves, so the sums are equal to the last bit.
        entries.sort_by_key(|e| (e.row, e.column));
        entries.dedup_by(|later, kept| {
            let same = (later.row, later.column) == (kept.row, kept.column);
            if same {
                kept.value += later.value;
            }
            same
        });
        let lines = matches!(format, Format::MatrixMarket | Format::Abaqus);
        let lines = lines.then(|| entries.iter().map(|e| e.line).collect());
        let entries = entries.into_iter().map(|e| (e.row, e.column, e.value)).collect();
        SparseMatrix { rows, columns, entries, lines, labels: None, format }
    }

    /// The value at a place (from 0); zero where nothing is stored.
    pub fn get(&self, row: usize, column: usize) -> f64 {
        let found = self.entries.binary_search_by_key(&(row, column), |&(i, j, _)| (i, j));
        found.map_or(0.0, |k| self.entries[k].2)
    }

    /// The name of a row: its label, or its number from 1.
    fn row_name(&self, row: usize) -> String {
        let label = self.labels.as_ref().and_then(|labels| labels.get(row));
        label.cloned().unwrap_or_else(|| (row + 1).to_string())
    }
}

/// Reads a matrix in the format that the file's first bytes and the ending of its name say; `what` is its name in
/// messages, such as "the stiffness matrix".
///
/// # Errors
/// What is wrong with the file, and where.
pub fn read(path: &Path, what: &str) -> Result<SparseMatrix, FileError> {
    let start = start(path);
    let ending = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    let matrix = if start.starts_with(b"PK") {
        npz::read(path, what)?
    } else if start.starts_with(npy::MAGIC) {
        npy::read(path, what)?
    } else if let Some(error) = unreadable(&start, &ending, path, what) {
        return Err(error);
    } else {
        let source = Source::open(path, "matrix file", LIMIT)?;
        match source.written().next() {
            Some(first) if first.text.starts_with('%') => market::read(&source, what)?,
            Some(_) if ending == "mtx" => abaqus::read(&source, what)?,
            Some(first) => {
                let message = format!("{what} is in no format that can be told from the file");
                let help = "start a Matrix Market file with `%%MatrixMarket matrix coordinate real symmetric` (or \
                            `general`); give a file that Abaqus has written the ending `.mtx`";
                return Err(source.fail(first.span(), message, "no `%%MatrixMarket` here", help));
            }
            None => return Err(whole(path, format!("the file of {what} is empty"), "write it again")),
        }
    };
    plausible(&matrix, what).map_err(|(message, help)| whole(path, message, help))?;
    // An array has no lines to point at, and entries at one place may overflow in their sum.
    if let Some(&(i, j, value)) = matrix.entries.iter().find(|e| !e.2.is_finite()) {
        let message = format!("{what} has an entry that is not finite: ({}, {}) is {value}", i + 1, j + 1);
        return Err(whole(path, message, "look for a division by zero or an overflow in the program that wrote it"));
    }
    Ok(matrix)
}

/// A size that the entries do not bear out, or that would not fit into memory.
fn plausible(matrix: &SparseMatrix, what: &str) -> Result<(), (String, &'static str)> {
    let (rows, entries) = (matrix.rows.max(matrix.columns), matrix.entries.len());
    if rows > SPARSEST * (entries + 100) {
        let message = format!(
            "{what} has {} rows but only {}: nearly all rows are empty",
            grouped(rows as u64),
            count_of(entries)
        );
        return Err((message, "correct the size; leave out degrees of freedom that have neither mass nor stiffness"));
    }
    let bytes = BYTES.0 * rows as f64 + BYTES.1 * entries as f64;
    if bytes > MOST {
        let message = format!(
            "{what} with {} rows and {} would take about {}",
            grouped(rows as u64),
            count_of(entries),
            gib(bytes)
        );
        return Err((message, "reduce the model where it was made: modes, a superelement, a coarser mesh"));
    }
    Ok(())
}

fn count_of(entries: usize) -> String {
    match entries {
        1 => "1 entry".into(),
        n => format!("{} entries", grouped(n as u64)),
    }
}

/// The first bytes; none if the file cannot be read, which is said when it is read as a whole.
fn start(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    if path.is_file()
        && let Ok(file) = File::open(path)
    {
        let _ = file.take(16).read_to_end(&mut bytes);
    }
    bytes
}

/// Files that are not text, or whose name promises something else than they hold.
fn unreadable(start: &[u8], ending: &str, path: &Path, what: &str) -> Option<FileError> {
    let save = "in Python: `scipy.sparse.save_npz(\"K.npz\", K)`, or `scipy.io.mmwrite(\"K.mtx\", K)`";
    let (found, help) = match ending {
        _ if start.starts_with(&[0x1f, 0x8b]) => ("compressed by gzip", "unpack it with `gunzip` first"),
        _ if start.starts_with(b"MATLAB") || start.starts_with(b"\x89HDF") => ("a MATLAB or HDF5 file", save),
        "npz" if !start.is_empty() => ("not an npz archive: it does not start with `PK`", save),
        "npy" if !start.is_empty() => ("not a NumPy array: it does not start with `\\x93NUMPY`", save),
        _ => return None,
    };
    Some(whole(path, format!("the file of {what} is {found}"), help))
}

/// A mistake that has no place in a text.
fn whole(path: &Path, message: String, help: &str) -> FileError {
    FileError::whole(&path.display().to_string(), SetupError::new(message).help(help))
}

/// All bytes of a binary file.
fn bytes(path: &Path) -> Result<Vec<u8>, FileError> {
    let fail =
        |e: std::io::Error| whole(path, format!("cannot read the file: {}", read::reason(&e)), "is it the right one?");
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(LIMIT + 1).read_to_end(&mut bytes)).map_err(fail)?;
    match bytes.len() as u64 > LIMIT {
        true => {
            Err(whole(path, format!("the file is larger than {} MiB", LIMIT >> 20), "store the matrix as a sparse one"))
        }
        false => Ok(bytes),
    }
}
