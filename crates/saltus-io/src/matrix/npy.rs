//! NumPy arrays: the members of an npz archive, and a dense matrix as an `.npy` file.

use super::{Entry, Format, LARGEST, SparseMatrix, bytes, whole};
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
    Ok(SparseMatrix::assemble(Format::Npy, (rows, columns), entries.collect(), false))
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

#[cfg(test)]
pub mod testing {
    use super::*;
    use crate::lines::testing::{file, says};

    /// An array as NumPy writes it.
    pub fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        with_header(&format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"), data)
    }

    fn with_header(header: &str, data: &[u8]) -> Vec<u8> {
        let header = format!("{header:<117}\n");
        [MAGIC, &[1, 0], &(header.len() as u16).to_le_bytes(), header.as_bytes(), data].concat()
    }

    /// A row of numbers.
    pub fn floats(values: &[f64]) -> Vec<u8> {
        npy("<f8", &format!("({},)", values.len()), &values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>())
    }

    /// A row of whole numbers.
    pub fn wholes(values: &[i64]) -> Vec<u8> {
        npy("<i8", &format!("({},)", values.len()), &values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>())
    }

    fn matrix(bytes: &[u8]) -> Result<SparseMatrix, FileError> {
        let (_kept, path) = file("k.npy", bytes);
        crate::matrix::read(&path, "the mass matrix")
    }

    #[test]
    fn both_orders_and_all_types() {
        let bytes = |values: [f32; 4]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>();
        let single = matrix(&npy("<f4", "(2, 2)", &bytes([1.0, 2.0, 0.0, 4.0]))).expect("single precision");
        assert_eq!(single.entries, [(0, 0, 1.0), (0, 1, 2.0), (1, 1, 4.0)]);
        let big = matrix(&npy(">i4", "(1, 2)", &[0, 0, 0, 7, 255, 255, 255, 255])).expect("big-endian");
        assert_eq!((big.rows, big.columns, &big.entries[..]), (1, 2, &[(0, 0, 7.0), (0, 1, -1.0)][..]));
        let values: Vec<u8> = [0i64, 3, 1, 4, 2, 5].iter().flat_map(|v| v.to_le_bytes()).collect();
        let header = "{'descr': '<i8', 'fortran_order': True, 'shape': (2, 3), }";
        let fortran = matrix(&with_header(header, &values)).expect("by columns");
        assert_eq!((fortran.get(0, 2), fortran.get(1, 0), fortran.get(1, 2)), (2.0, 3.0, 5.0));
    }

    #[test]
    fn mistakes() {
        let refused = |bytes: &[u8], message: &str| says(matrix(bytes), message, None, "");
        refused(&floats(&[1.0, 2.0]), "needs an array with two axes, this one has 1");
        refused(&npy("<f8", "(0, 0)", &[]), "has the size 0 × 0");
        refused(&npy("<f8", "(2, 1)", &[0; 15]), "it is truncated: 15 of 16 bytes are there");
        refused(&npy("<f8", "(1, 1)", &f64::NAN.to_le_bytes()), "not finite: (1, 1) is NaN");
        refused(&npy("|O", "(1, 1)", &[0; 8]), "not an array of plain numbers");
        refused(&npy("<c8", "(1, 1)", &[0; 8]), "type '<c8' is not supported; use `.astype(float)`");
        refused(&npy("<f8", "(-1, 1)", &[0; 8]), "the size `-1`");
        refused(&npy("<f8", "(99999999999, 99999999999)", &[0; 8]), "too large");
        refused(&npy("|S99999999999", "(1, 1)", &[0; 8]), "truncated");
        refused(&npy("<f8", "(((((((((1, 1)", &[0; 8]), "not an array of plain numbers");
        refused(&with_header(&" ".repeat(9999), &[]), "too long");
        refused(&with_header("{'shape': (1, 1)}", &[]), "dict is missing key");
    }

    #[test]
    fn truncated_anywhere() {
        let good = npy("<f8", "(1, 1)", &1.0f64.to_le_bytes());
        for length in 0..good.len() {
            assert!(open(&good[..length]).is_err(), "{length}");
        }
        assert!(open(&good).is_ok());
    }
}
