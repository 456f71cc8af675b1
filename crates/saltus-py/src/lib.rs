//! The compiled part of the Python package `saltus`. What people use is in `python/saltus`; this part holds models and runs, releases
//! the interpreter while it computes, and hands the arrays over where they are, without a copy.

mod column;
mod console;
mod mistakes;
mod model;
mod run;
mod tables;
mod work;

use pyo3::pymodule;

/// The compiled part of the package.
#[pymodule]
mod _saltus {
    #[pymodule_export]
    use super::column::Column;
    #[pymodule_export]
    use super::console::command;
    #[pymodule_export]
    use super::model::{Core, nearest, schemes, shipped};
    #[pymodule_export]
    use super::run::Motion;
    #[pymodule_export]
    use super::work::answer;

    use pyo3::types::{PyModule, PyModuleMethods};
    use pyo3::{Bound, PyResult};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
