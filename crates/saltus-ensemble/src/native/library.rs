//! Calls into compiled code. The only unsafe code of the crate: a foreign function has no checks of its own.

#![allow(unsafe_code)]

use super::compiler::NoNative;
use libloading::{Library, Symbol};
use saltus_expr::Lane;
use std::path::Path;
use std::sync::Arc;

/// `saltus_advance` of `advance.c`.
type Advance = unsafe extern "C" fn(*mut f64, *mut f64, f64, i64, i32) -> i64;

/// The iteration of one model, for a number of trajectories side by side.
#[derive(Clone)]
pub struct Iteration {
    advance: Advance,
    pub width: usize,
    rows: usize,
    log: usize,
    // (What `advance` points into.)
    _library: Arc<Library>,
}

impl Iteration {
    /// Loads a library that was compiled for so many trajectories, with so many rows and so many numbers of records.
    pub fn load(path: &Path, width: usize, rows: usize, log: usize) -> Result<Self, NoNative> {
        let fault =
            |error: libloading::Error| NoNative(format!("cannot load compiled code {}: {error}", path.display()));
        // SAFETY: the library was compiled from our own source, which has no initialisers.
        let library = unsafe { Library::new(path) }.map_err(fault)?;
        // SAFETY: the source defines the function with this signature.
        let symbol: Symbol<Advance> = unsafe { library.get(b"saltus_advance\0") }.map_err(fault)?;
        let advance = *symbol;
        Ok(Iteration { advance, width, rows, log, _library: Arc::new(library) })
    }

    /// Advances all trajectories by up to `most` steps, until one of them signals.
    pub fn advance<const W: usize>(
        &self,
        rows: &mut [Lane<W>],
        log: &mut [f64],
        tolerance: f64,
        most: i64,
        flags: i32,
    ) -> i64 {
        let fits = W == self.width && rows.len() == self.rows && log.len() == self.log;
        assert!(fits, "the state has the size the code was compiled for");
        // SAFETY: the function reads and writes W numbers in each of the rows, which are aligned to 64 bytes, and the records;
        // it checks that there is room for a record before it asks for one more step.
        unsafe { (self.advance)(rows.as_mut_ptr().cast(), log.as_mut_ptr(), tolerance, most, flags) }
    }
}
