//! Calls into compiled code: a foreign function has no checks of its own.

#![allow(unsafe_code)]

use super::compiler::NoNative;
use super::iterate::{Fault, Iterate};
use super::rows;
use super::state::State;
use libloading::{Library, Symbol};
use saltus_expr::Lane;
use std::path::Path;
use std::sync::Arc;

/// Steps between two looks at whether to stop.
const MOST: i64 = 4096;

/// `saltus_advance` of `advance.c`.
type Advance = unsafe extern "C" fn(*mut f64, *mut f64, f64, i64, i32) -> i64;

/// The iteration of one model, for a number of trajectories side by side.
#[derive(Clone)]
pub struct Iteration {
    advance: Advance,
    width: usize,
    rows: usize,
    log: usize,
    slots: usize,
    // (What `advance` points into.)
    _library: Arc<Library>,
}

impl Iteration {
    /// Loads a library that was compiled for so many trajectories, with so many rows, and room for so many records of each of so many numbers.
    pub fn load(path: &Path, width: usize, rows: usize, slots: usize, record: usize) -> Result<Self, NoNative> {
        let fault =
            |error: libloading::Error| NoNative(format!("cannot load compiled code {}: {error}", path.display()));
        // SAFETY: the library was compiled from our own source, which has no initialisers.
        let library = unsafe { Library::new(path) }.map_err(fault)?;
        // SAFETY: the source defines the function with this signature.
        let symbol: Symbol<Advance> = unsafe { library.get(b"saltus_advance\0") }.map_err(fault)?;
        let advance = *symbol;
        let log = width * slots * record;
        Ok(Iteration { advance, width, rows, log, slots, _library: Arc::new(library) })
    }
}

impl Iterate for Iteration {
    fn room(&self) -> (State, Vec<f64>) {
        let mut state = State::by_rows(self.rows, self.width);
        (0..self.width).for_each(|l| state.set(rows::RECORDS, l, (l * self.slots) as f64));
        (state, vec![0.0; self.log])
    }

    fn prepare(&mut self, _: usize, _: i32) -> Result<usize, Fault> {
        Ok(self.width)
    }

    fn is_coupled(&self) -> bool {
        false
    }

    fn is_packed(&self) -> bool {
        false
    }

    fn advance(&mut self, state: &mut State, log: &mut Vec<f64>, tolerance: f64, flags: i32) -> Result<(), Fault> {
        let numbers = state.numbers();
        let fits = numbers.len() == self.rows * self.width && log.len() == self.log;
        assert!(fits && numbers.as_ptr().addr().is_multiple_of(64), "the state is one the code was compiled for");
        // SAFETY: the function reads and writes the numbers of the state and of the records, no more than there are; it
        // checks that there is room for a record before it asks for one more step.
        unsafe { (self.advance)(numbers.as_mut_ptr(), log.as_mut_ptr(), tolerance, MOST, flags) };
        Ok(())
    }
}

/// Lanes as numbers, one after the other.
#[inline]
pub fn flat(lanes: &[Lane<8>]) -> &[f64] {
    // SAFETY: a lane is eight numbers and nothing else (64 bytes, aligned to 64 bytes).
    unsafe { std::slice::from_raw_parts(lanes.as_ptr().cast(), 8 * lanes.len()) }
}

/// See [`flat`].
#[inline]
pub fn flat_mut(lanes: &mut [Lane<8>]) -> &mut [f64] {
    // SAFETY: a lane is eight numbers and nothing else (64 bytes, aligned to 64 bytes).
    unsafe { std::slice::from_raw_parts_mut(lanes.as_mut_ptr().cast(), 8 * lanes.len()) }
}
