//! Sparse matrices as SciPy's `save_npz` writes them: a zip archive of arrays, compressed or not.

use super::{Entry, Format, LIMIT, SparseMatrix, npy, whole};
use crate::{FileError, read as reading};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;
use zip::ZipArchive;
use zip::result::ZipError;

const AGAIN: &str = "write it again with `scipy.sparse.save_npz(\"K.npz\", K)`";

/// An archive that is being read.
struct Archive<'a> {
    path: &'a Path,
    what: &'a str,
    zip: ZipArchive<BufReader<File>>,
}

/// Reads a matrix in the layouts csr, csc and coo.
pub fn read(path: &Path, what: &str) -> Result<SparseMatrix, FileError> {
    let file = File::open(path)
        .map_err(|e| whole(path, format!("cannot open the file of {what}: {}", reading::reason(&e)), "is it there?"))?;
    let zip = ZipArchive::new(BufReader::new(file)).map_err(|e| {
        let message = format!("the archive of {what} cannot be read: {}; is it truncated?", reason(&e));
        whole(path, message, "copy or write the file again")
    })?;
    let mut archive = Archive { path, what, zip };
    if !archive.has("format") || !archive.has("shape") {
        let found = match archive.zip.is_empty() {
            true => "nothing".to_string(),
            false => format!("the arrays {}", archive.names()),
        };
        let message = format!("{what} is not a sparse matrix of SciPy: the archive holds {found}");
        let help = "write one matrix with `scipy.sparse.save_npz(\"K.npz\", K)`, or a dense one with `numpy.save`";
        return Err(whole(path, message, help));
    }
    let format = archive.decode("format", npy::word)?;
    let shape = archive.decode("shape", npy::wholes)?.values;
    let &[rows, columns] = &shape.iter().map(|&k| usize::try_from(k).unwrap_or(0)).collect::<Vec<_>>()[..] else {
        let message = format!("{what} needs two axes, this one has {}", shape.len());
        return Err(whole(path, message, "give the array two axes with `.reshape`"));
    };
    npy::size(path, what, rows, columns)?;
    let entries = match format.as_str() {
        "coo" => {
            let (row, column) = (archive.indices("row", rows)?, archive.indices("col", columns)?);
            archive.entries(row, column)?
        }
        "csr" => {
            let (outer, inner) = archive.compressed(rows, columns)?;
            archive.entries(outer, inner)?
        }
        "csc" => {
            let (outer, inner) = archive.compressed(columns, rows)?;
            archive.entries(inner, outer)?
        }
        _ => {
            let message = format!("{what} is stored in the layout `{format}`; csr, csc and coo can be read");
            return Err(whole(path, message, "use .tocsr(): `scipy.sparse.save_npz(\"K.npz\", K.tocsr())`"));
        }
    };
    Ok(SparseMatrix::assemble(Format::Npz, (rows, columns), entries, false))
}

impl Archive<'_> {
    fn fail(&self, message: impl AsRef<str>) -> FileError {
        whole(self.path, format!("{} cannot be read: {}", self.what, message.as_ref()), AGAIN)
    }

    fn has(&self, name: &str) -> bool {
        self.zip.index_for_name(&format!("{name}.npy")).is_some()
    }

    /// What it holds; a long list is cut.
    fn names(&self) -> String {
        let names = self.zip.file_names().take(20).flatten();
        names.map(|name| format!("`{}`", name.trim_end_matches(".npy"))).collect::<Vec<_>>().join(", ")
    }

    /// One of the arrays, decoded.
    fn decode<T>(&mut self, name: &str, decode: fn(&[u8]) -> Result<T, String>) -> Result<T, FileError> {
        let missing = format!("it has no array `{name}`, only {}", self.names());
        let mut bytes = Vec::new();
        let read = match self.zip.by_name(&format!("{name}.npy")) {
            Ok(member) => member.take(LIMIT + 1).read_to_end(&mut bytes).map_err(ZipError::Io),
            Err(e) => Err(e),
        };
        match read {
            Ok(_) if bytes.len() as u64 > LIMIT => {
                Err(self.fail(format!("the array `{name}` is larger than {} MiB", LIMIT >> 20)))
            }
            Ok(_) => decode(&bytes).map_err(|why| self.fail(format!("the array `{name}`: {why}"))),
            Err(ZipError::FileNotFound) => Err(self.fail(missing)),
            Err(e) => Err(self.fail(format!("the array `{name}` is damaged: {}", reason(&e)))),
        }
    }

    /// The indices along an axis of this size.
    fn indices(&mut self, name: &str, size: usize) -> Result<Vec<usize>, FileError> {
        let array = self.decode(name, npy::wholes)?;
        let index = |(k, &i): (usize, &i64)| match usize::try_from(i) {
            Ok(i) if i < size => Ok(i),
            _ => {
                Err(self.fail(format!("element {k} of the array `{name}` is {i}, not an index from 0 to {}", size - 1)))
            }
        };
        array.values.iter().enumerate().map(index).collect()
    }

    /// The indices of each entry along the compressed axis and along the other.
    fn compressed(&mut self, outer: usize, inner: usize) -> Result<(Vec<usize>, Vec<usize>), FileError> {
        let bounds = self.decode("indptr", npy::wholes)?.values;
        let indices = self.indices("indices", inner)?;
        if bounds.len() != outer + 1 {
            let message =
                format!("the array `indptr` has {} elements, not the {} of its shape", bounds.len(), outer + 1);
            return Err(self.fail(message));
        }
        if let Some(k) = bounds.windows(2).position(|pair| pair[1] < pair[0]) {
            let (before, after) = (bounds[k], bounds[k + 1]);
            let message =
                format!("the array `indptr` must not decrease, but {after} follows {before} at element {}", k + 1);
            return Err(self.fail(message));
        }
        let (first, last) = (bounds[0], bounds[outer]);
        if first != 0 || last != indices.len() as i64 {
            let message =
                format!("the array `indptr` goes from {first} to {last}, not from 0 to the {} entries", indices.len());
            return Err(self.fail(message));
        }
        // They increase from 0 to the number of entries, so none is negative and no count is too large.
        let counts = bounds.windows(2).map(|pair| (pair[1] - pair[0]) as usize).enumerate();
        let outer = counts.flat_map(|(k, count)| std::iter::repeat_n(k, count)).collect();
        Ok((outer, indices))
    }

    fn entries(&mut self, rows: Vec<usize>, columns: Vec<usize>) -> Result<Vec<Entry>, FileError> {
        let data = self.decode("data", npy::reals)?.values;
        if data.len() != rows.len() || rows.len() != columns.len() {
            let message =
                format!("{} values do not fit {} row and {} column indices", data.len(), rows.len(), columns.len());
            return Err(self.fail(message));
        }
        let places = rows.into_iter().zip(columns);
        Ok(places.zip(data).map(|((row, column), value)| Entry { row, column, value, line: 0 }).collect())
    }
}

/// An error of the archive, without the kind that its text starts with.
fn reason(error: &ZipError) -> String {
    match error {
        ZipError::Io(e) => reading::reason(e),
        ZipError::InvalidArchive(why) => why.to_string(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines::testing::{file, says};
    use crate::matrix::npy::testing::{floats, npy, wholes};
    use crate::matrix::read;
    use std::io::{Cursor, Write};
    use zip::write::SimpleFileOptions;

    type Member = (&'static str, Vec<u8>);

    fn archive(members: &[Member], method: zip::CompressionMethod) -> Vec<u8> {
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in members {
            let options = SimpleFileOptions::default().compression_method(method);
            zip.start_file(format!("{name}.npy"), options).expect("a member");
            zip.write_all(bytes).expect("its bytes");
        }
        zip.finish().expect("an archive").into_inner()
    }

    /// [[4, -1, 0], [0, 0, 2]], compressed by rows.
    fn good() -> Vec<Member> {
        vec![
            ("format", npy("|S3", "()", b"csr")),
            ("shape", wholes(&[2, 3])),
            ("indptr", npy("<i4", "(3,)", &[0, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0])),
            ("indices", wholes(&[0, 1, 2])),
            ("data", floats(&[4.0, -1.0, 2.0])),
        ]
    }

    fn matrix(bytes: &[u8]) -> Result<SparseMatrix, FileError> {
        let (_kept, path) = file("k.npz", bytes);
        read(&path, "the stiffness matrix")
    }

    /// The good archive with another array in place of one.
    fn refused(name: &str, bytes: Vec<u8>, message: &str, help: &str) {
        let mut members = good();
        members.iter_mut().filter(|m| m.0 == name).for_each(|m| m.1 = bytes.clone());
        says(matrix(&archive(&members, zip::CompressionMethod::Stored)), message, None, help);
    }

    #[test]
    fn files_that_scipy_has_written() {
        let chain = [(0, 0, 4.0), (0, 1, -1.0), (1, 0, -1.0), (1, 1, 4.0), (1, 2, -1.0), (2, 1, -1.0), (2, 2, 4.0)];
        for bytes in [
            &include_bytes!("../../tests/matrices/scipy-csr.npz")[..],
            include_bytes!("../../tests/matrices/scipy-coo.npz"),
        ] {
            let matrix = matrix(bytes).expect("written by SciPy");
            assert_eq!((matrix.rows, matrix.columns, matrix.lines), (3, 3, None));
            assert_eq!(matrix.entries, chain);
        }
    }

    #[test]
    fn rows_columns_and_both_compressions() {
        let expected = [(0, 0, 4.0), (0, 1, -1.0), (1, 2, 2.0)];
        for method in [zip::CompressionMethod::Stored, zip::CompressionMethod::Deflated] {
            let rows = matrix(&archive(&good(), method)).expect("by rows");
            assert_eq!((rows.rows, rows.columns, &rows.entries[..]), (2, 3, &expected[..]));
            let mut columns = good();
            columns[0].1 = npy("<U3", "()", b"c\0\0\0s\0\0\0c\0\0\0");
            columns[2].1 = wholes(&[0, 1, 2, 3]);
            columns[3].1 = wholes(&[0, 0, 1]);
            assert_eq!(matrix(&archive(&columns, method)).expect("by columns").entries, expected);
        }
    }

    #[test]
    fn other_archives() {
        let other = archive(&[("K", floats(&[1.0])), ("M", floats(&[1.0]))], zip::CompressionMethod::Stored);
        says(matrix(&other), "not a sparse matrix of SciPy: the archive holds the arrays `K`, `M`", None, "save_npz");
        says(matrix(&archive(&[], zip::CompressionMethod::Stored)), "the archive holds nothing", None, "save_npz");
        let part = archive(&good()[..4], zip::CompressionMethod::Stored);
        says(matrix(&part), "no array `data`, only `format`, `shape`", None, "again");
        refused("format", npy("|S3", "()", b"bsr"), "the layout `bsr`", "use .tocsr()");
        refused("shape", wholes(&[7]), "needs two axes, this one has 1", "reshape");
        refused("shape", wholes(&[0, 3]), "has the size 0 × 3", "right file");
    }

    #[test]
    fn arrays_that_do_not_fit() {
        refused(
            "indices",
            wholes(&[0, 3, 2]),
            "element 1 of the array `indices` is 3, not an index from 0 to 2",
            "again",
        );
        refused("indices", wholes(&[0, -1, 2]), "is -1, not an index", "again");
        refused("indices", floats(&[0.0, 1.0, 2.0]), "type '<f8' is not supported", "again");
        refused("indptr", wholes(&[0, 3, 2]), "must not decrease, but 2 follows 3 at element 2", "again");
        refused("indptr", wholes(&[0, 1, 2]), "goes from 0 to 2, not from 0 to the 3 entries", "again");
        refused("indptr", wholes(&[0, 3]), "has 2 elements, not the 3", "again");
        refused("data", floats(&[1.0, 2.0]), "2 values do not fit 3 row and 3 column", "again");
        refused("data", floats(&[1.0, f64::NAN, 2.0]), "not finite: (1, 2) is NaN", "division by zero");
        refused("data", npy("<c16", "(3,)", &[0; 48]), "type '<c16' is not supported; use `.astype(float)`", "again");
    }

    #[test]
    fn damaged_archives() {
        let whole = archive(&good(), zip::CompressionMethod::Deflated);
        for length in (2..whole.len()).step_by(7) {
            let _ = matrix(&whole[..length]).expect_err("truncated");
        }
        says(matrix(&whole[..whole.len() / 2]), "is it truncated?", None, "again");
        for at in (2..whole.len()).step_by(7) {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x55;
            // Some bytes, such as dates, do not matter; none may panic.
            let _ = matrix(&bytes);
        }
        let mut bytes = archive(&good(), zip::CompressionMethod::Stored);
        let at = bytes.windows(8).position(|w| w == 4.0f64.to_le_bytes()).expect("the value 4");
        bytes[at] = 1;
        says(matrix(&bytes), "the array `data` is damaged", None, "again");
    }
}
