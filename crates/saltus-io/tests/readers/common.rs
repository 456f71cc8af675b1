//! Files to read, and what is said about them.

use saltus_io::FileError;
use saltus_io::matrix::{SparseMatrix, read};
use std::io::{Cursor, Write};
use std::path::PathBuf;
use zip::write::SimpleFileOptions;

/// A file in a directory of its own, which lives as long as the first value.
pub fn file(name: &str, bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join(name);
    std::fs::write(&path, bytes).expect("a temporary file");
    (directory, path)
}

/// Checks that the message and the help say so and, in a text, that the marked place is the expected one.
pub fn says<T>(outcome: Result<T, FileError>, message: &str, marked: Option<(usize, &str)>, help: &str) {
    let Err(failure) = outcome else { panic!("`{message}` should be refused") };
    let error = &failure.error;
    assert!(error.message.contains(message), "wanted `{message}`: {error:?}");
    assert!(error.help.as_ref().is_some_and(|h| h.contains(help)), "wanted help `{help}`: {error:?}");
    let place = failure.line_column().map(|(line, _)| line);
    let text = error.span.clone().and_then(|span| failure.text.get(span));
    assert_eq!(place.zip(text), marked, "{error:?}");
}

/// Reads a matrix from a file of this name and content.
pub fn read_bytes(name: &str, bytes: &[u8], what: &str) -> Result<SparseMatrix, FileError> {
    let (_kept, path) = file(name, bytes);
    read(&path, what)
}

/// An array as NumPy writes it.
pub fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    with_header(&format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"), data)
}

/// An array with any header.
pub fn with_header(header: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{header:<117}\n");
    [&b"\x93NUMPY"[..], &[1, 0], &(header.len() as u16).to_le_bytes(), header.as_bytes(), data].concat()
}

/// A row of numbers.
pub fn floats(values: &[f64]) -> Vec<u8> {
    npy("<f8", &format!("({},)", values.len()), &values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>())
}

/// A row of whole numbers.
pub fn wholes(values: &[i64]) -> Vec<u8> {
    npy("<i8", &format!("({},)", values.len()), &values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>())
}

/// A name and the bytes of an array.
pub type Member = (&'static str, Vec<u8>);

/// The arrays as `savez` writes them.
pub fn archive(members: &[Member], method: zip::CompressionMethod) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        let options = SimpleFileOptions::default().compression_method(method);
        zip.start_file(format!("{name}.npy"), options).expect("a member");
        zip.write_all(bytes).expect("its bytes");
    }
    zip.finish().expect("an archive").into_inner()
}
