//! The command `saltus`, which the wheel brings.

use pyo3::{Python, pyfunction};
use std::ffi::OsString;
use std::process::ExitCode;

/// Does what a command line says; the exit code of the program.
#[pyfunction]
pub fn command(py: Python<'_>, words: Vec<OsString>) -> u8 {
    let code = py.detach(|| saltus_cli::command(words));
    (0..=u8::MAX).find(|&n| ExitCode::from(n) == code).unwrap_or(1)
}
