//! NumPy arrays: the members of an npz archive, and a dense matrix as an `.npy` file.

use super::{Entry, Format, Half, LARGEST, SparseMatrix, bytes, whole};
use crate::FileError;
use npyz::{Deserialize, NpyFile, Order};
use std::path::Path;

/// How an array starts.
pub const MAGIC: &[u8] = b"\x93NUMPY";

/// The header of plain numbers has some hundred bytes.
const HEADER: usize = 4096;

/// The numbers of an array, in the order they are stored, and its shape.
#[derive(Debug)]
pub struct Array<T> {
    /// One length an axis.
    pub shape: Vec<u64>,
    /// Whether the first axis runs fastest.
    pub fortran: bool,
    /// What it holds.
    pub values: Vec<T>,
}

/// Reads an array with one axis, or with two of which one has the length one.
pub fn vector(path: &Path, what: &str) -> Result<Vec<f64>, FileError> {
    let array = reals(&bytes(path)?).map_err(|why| {
        whole(path, format!("{what} cannot be read: {why}"), "write it again with `numpy.save(\"r.npy\", r)`")
    })?;
    match array.shape.iter().filter(|&&size| size != 1).count() <= 1 {
        true => Ok(array.values),
        false => {
            let sizes: Vec<String> = array.shape.iter().map(u64::to_string).collect();
            let message = format!("{what} is a vector, and this array is {}", sizes.join(" × "));
            Err(whole(path, message, "write one number per degree of freedom"))
        }
    }
}

/// Reads a dense matrix; its zeros are not stored.
pub fn read(path: &Path, what: &str) -> Result<SparseMatrix, FileError> {
    let array = reals(&bytes(path)?).map_err(|why| {
        whole(path, format!("{what} cannot be read: {why}"), "write it again with `numpy.save(\"K.npy\", K)`")
    })?;
    let shape = array.shape.iter().map(|&size| size as usize);
    let &[rows, columns] = &shape.collect::<Vec<_>>()[..] else {
        let message = format!("{what} needs an array with two axes, this one has {}", array.shape.len());
        return Err(whole(path, message, "reshape it, or write the sparse matrix with `scipy.sparse.save_npz`"));
    };
    size(path, what, rows, columns)?;
    let place = |k| if array.fortran { (k % rows, k / rows) } else { (k / columns, k % columns) };
    let stored = array.values.iter().enumerate().filter(|&(_, &value)| value != 0.0);
    let entries = stored.map(|(k, &value)| {
        let (row, column) = place(k);
        Entry { row, column, value, line: 0 }
    });
    Ok(SparseMatrix::assemble(Format::Npy, (rows, columns), entries.collect(), Half::None))
}

/// Checks that a matrix of this size is one, and not too large.
pub fn size(path: &Path, what: &str, rows: usize, columns: usize) -> Result<(), FileError> {
    match rows.min(columns) == 0 || rows.max(columns) > LARGEST {
        true => {
            let message =
                format!("{what} has the size {rows} × {columns}; 1 to {LARGEST} rows and columns are supported");
            Err(whole(path, message, "is it the right file?"))
        }
        false => Ok(()),
    }
}

/// An array of real numbers.
pub fn reals(bytes: &[u8]) -> Result<Array<f64>, String> {
    let file = open(bytes)?;
    let file = match numbers::<f64>(file) {
        Ok(array) => return array,
        Err(file) => file,
    };
    let file = match numbers::<f32>(file) {
        Ok(array) => return Ok(array?.map(f64::from)),
        Err(file) => file,
    };
    // The entries of a matrix of whole numbers are small.
    integers(file, ".astype(float)").map(|array| array.map(|value| value as f64))
}

/// An array of whole numbers.
pub fn wholes(bytes: &[u8]) -> Result<Array<i64>, String> {
    integers(open(bytes)?, ".astype(int)")
}

/// A word, as bytes or as Unicode.
pub fn word(bytes: &[u8]) -> Result<String, String> {
    match numbers::<String>(open(bytes)?) {
        Ok(array) => array?.values.pop().ok_or_else(|| "it is empty".into()),
        Err(file) => Err(format!("its type is {}, not a word", file.dtype().descr())),
    }
}

fn integers(file: NpyFile<&[u8]>, help: &str) -> Result<Array<i64>, String> {
    let file = match numbers::<i64>(file) {
        Ok(array) => return array,
        Err(file) => file,
    };
    match numbers::<i32>(file) {
        Ok(array) => Ok(array?.map(i64::from)),
        Err(file) => Err(format!("its type {} is not supported; use `{help}`", file.dtype().descr())),
    }
}

/// The array if it is of this type, or the file back.
fn numbers<T: Deserialize>(file: NpyFile<&[u8]>) -> Result<Result<Array<T>, String>, NpyFile<&[u8]>> {
    let (shape, fortran) = (file.shape().to_vec(), file.order() == Order::Fortran);
    let values = file.try_data::<T>()?.collect::<Result<Vec<T>, _>>();
    Ok(values.map(|values| Array { shape, fortran, values }).map_err(|e| e.to_string()))
}

impl<T> Array<T> {
    fn map<U>(self, of: impl Fn(T) -> U) -> Array<U> {
        Array { shape: self.shape, fortran: self.fortran, values: self.values.into_iter().map(of).collect() }
    }
}

/// Opens an array of which header and length are sound. The parser trusts the header: a nested one would exhaust the
/// stack, a product of sizes overflow, and a size beyond the file fill the memory.
fn open(bytes: &[u8]) -> Result<NpyFile<&[u8]>, String> {
    let truncated = || "the header is truncated".to_string();
    let (_, rest) = bytes.split_at_checked(MAGIC.len()).filter(|s| s.0 == MAGIC).ok_or("it is not a NumPy array")?;
    let &[version, _, low, high, ..] = rest else { return Err(truncated()) };
    let short = usize::from(u16::from_le_bytes([low, high]));
    let (length, text) = match (version, rest) {
        (1, _) => (short, &rest[4..]),
        (_, &[_, _, _, _, 0, 0, ..]) => (short, &rest[6..]),
        _ => return Err("its header is too long".into()),
    };
    let header = String::from_utf8_lossy(text.get(..length).ok_or_else(truncated)?);
    if length > HEADER {
        return Err("its header is too long".into());
    }
    let plain = |c, count| header.matches(c).count() == count;
    if !(plain('{', 1) && plain('(', 1) && plain('[', 0)) {
        return Err("it is not an array of plain numbers".into());
    }
    let shape = header.split(['(', ')']).nth(1).unwrap_or_default().split(',').map(str::trim).filter(|s| !s.is_empty());
    let mut count: usize = 1;
    for size in shape {
        let size: usize = size.parse().map_err(|_| format!("its shape has the size `{size}`"))?;
        count = count.checked_mul(size.max(1)).ok_or("its shape is too large")?;
    }
    let file = NpyFile::new(bytes).map_err(|e| e.to_string())?;
    let stored = text.len() - length;
    let wanted = file.dtype().num_bytes().and_then(|size| size.checked_mul(file.len() as usize));
    match wanted.filter(|_| !file.uses_pickled_array()) {
        None => Err("it is not an array of plain numbers".into()),
        Some(wanted) if wanted != stored => Err(format!("it is truncated: {stored} of {wanted} bytes are there")),
        Some(_) => Ok(file),
    }
}
