//! Mistakes as exceptions of the package.

use pyo3::exceptions::PyRuntimeError;
use pyo3::types::PyAnyMethods;
use pyo3::{Bound, PyAny, PyErr, PyResult, Python};
use saltus::Kind;
use saltus_cli::embed::Mistake;
use std::any::Any;

/// An instance of a class of `saltus._errors`, raised.
fn raised<'py>(py: Python<'py>, class: &str, text: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("saltus._errors")?.getattr(class)?.call1((text,))
}

/// The exception of a mistake: the text that the program shows, and its parts as attributes.
pub fn exception(py: Python<'_>, mistake: &Mistake) -> PyErr {
    let made = || -> PyResult<PyErr> {
        let class = match mistake.error.kind() {
            Kind::UnknownName { .. } => "UnknownName",
            _ => "ModelError",
        };
        let instance = raised(py, class, &mistake.shown)?;
        instance.setattr("message", &mistake.error.message)?;
        instance.setattr("help", mistake.error.help.as_deref())?;
        instance.setattr("file", mistake.file.as_deref())?;
        instance.setattr("line", mistake.place.map(|p| p.0))?;
        instance.setattr("column", mistake.place.map(|p| p.1))?;
        Ok(PyErr::from_value(instance))
    };
    made().unwrap_or_else(|error| error)
}

/// The exception of a panic.
pub fn defect(py: Python<'_>, panic: &(dyn Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    let said = format!("this is a defect of Saltus, please report it: {}", text.unwrap_or("a panic"));
    raised(py, "Defect", &said).map_or_else(|_| PyRuntimeError::new_err(said), PyErr::from_value)
}

/// Runs something without the interpreter; a panic, which would be a defect of Saltus, becomes an exception.
pub fn detached<T: Send>(py: Python<'_>, act: impl FnOnce() -> T + Send) -> PyResult<T> {
    let caught = py.detach(|| std::panic::catch_unwind(std::panic::AssertUnwindSafe(act)));
    caught.map_err(|panic| defect(py, panic.as_ref()))
}

/// Results whose mistakes become exceptions.
pub trait OrRaise<T> {
    /// The value, or the exception.
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T, E: Into<Mistake>> OrRaise<T> for Result<T, E> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|e| exception(py, &e.into()))
    }
}
