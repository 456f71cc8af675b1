//! Sparse matrices as SciPy's `save_npz` writes them: a zip archive of arrays, compressed or not.

use super::{Entry, Format, Half, SparseMatrix, npy, whole};
use crate::{FileError, read as reading};
use saltus::text::number;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;
use zip::ZipArchive;
use zip::result::ZipError;

/// All arrays together, unpacked, in bytes: some ten million entries.
const UNPACKED: u64 = 192 << 20;

/// An archive that grows more than this many times when unpacked, to more than 16 MiB, is no matrix.
const GROWTH: u64 = 200;

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
    archive.check_size()?;
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
    Ok(SparseMatrix::assemble(Format::Npz, (rows, columns), entries, Half::None))
}

impl Archive<'_> {
    fn fail(&self, message: impl AsRef<str>) -> FileError {
        whole(self.path, format!("{} cannot be read: {}", self.what, message.as_ref()), AGAIN)
    }

    /// Refuses what is small in the file and large in memory, by what the archive says and before anything is unpacked
    /// (an array longer than that is found to be damaged).
    fn check_size(&mut self) -> Result<(), FileError> {
        let (mut packed, mut unpacked) = (0_u64, 0_u64);
        for k in 0..self.zip.len() {
            let sizes = self.zip.by_index_raw(k).map(|member| (member.compressed_size(), member.size()));
            let (small, large) = sizes.map_err(|e| self.fail(reason(&e)))?;
            (packed, unpacked) = (packed.saturating_add(small), unpacked.saturating_add(large));
        }
        if unpacked > UNPACKED || (unpacked > 16 << 20 && unpacked / GROWTH > packed) {
            let mib = |bytes: u64| number(bytes as f64 / (1 << 20) as f64, 3);
            let message = format!(
                "{} takes {} MiB in the archive and would take {} MiB unpacked; at most {} MiB are read, and no more than {GROWTH} times the archive",
                self.what,
                mib(packed),
                mib(unpacked),
                UNPACKED >> 20
            );
            return Err(whole(
                self.path,
                message,
                "reduce the model where it was made, or check how the file was written",
            ));
        }
        Ok(())
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
            Ok(member) => member.take(UNPACKED + 1).read_to_end(&mut bytes).map_err(ZipError::Io),
            Err(e) => Err(e),
        };
        match read {
            Ok(_) if bytes.len() as u64 > UNPACKED => {
                Err(self.fail(format!("the array `{name}` is larger than {} MiB", UNPACKED >> 20)))
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
