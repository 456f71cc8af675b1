//! Numbers that NumPy reads where they are: objects with the buffer protocol, read-only.

use pyo3::exceptions::PyBufferError;
use pyo3::{Bound, PyErr, PyResult, pyclass, pymethods};
use saltus_cli::embed::Finished;
use std::ffi::{c_int, c_void};
use std::sync::Arc;

/// Where numbers are.
enum Place {
    /// Instants of a run.
    Instants(Arc<Finished>),
    /// Positions at the instants, one row each.
    Positions(Arc<Finished>),
    /// Left limits of the velocity there.
    Velocities(Arc<Finished>),
    /// Numbers of their own.
    Own(Vec<f64>),
}

/// Numbers in memory, for `numpy.frombuffer`.
#[pyclass(frozen, module = "saltus._saltus")]
pub struct Column(Place);

impl Column {
    pub fn instants(of: &Arc<Finished>) -> Self {
        Column(Place::Instants(of.clone()))
    }

    pub fn positions(of: &Arc<Finished>) -> Self {
        Column(Place::Positions(of.clone()))
    }

    pub fn velocities(of: &Arc<Finished>) -> Self {
        Column(Place::Velocities(of.clone()))
    }

    pub fn own(values: Vec<f64>) -> Self {
        Column(Place::Own(values))
    }

    fn values(&self) -> &[f64] {
        match &self.0 {
            Place::Instants(of) => &of.run().trajectory.t,
            Place::Positions(of) => of.run().trajectory.positions(),
            Place::Velocities(of) => of.run().trajectory.left_velocities(),
            Place::Own(values) => values,
        }
    }
}

#[pymethods]
impl Column {
    fn __len__(&self) -> usize {
        self.values().len()
    }

    /// The buffer is one of bytes, as `numpy.frombuffer` takes it.
    ///
    /// # Safety
    /// `view` is a structure that the interpreter gives, to be filled.
    #[allow(unsafe_code)]
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut pyo3::ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        if view.is_null() {
            return Err(PyBufferError::new_err("there is no view to fill"));
        }
        let values = slf.get().values();
        let (start, bytes) = (values.as_ptr().cast::<c_void>().cast_mut(), std::mem::size_of_val(values));
        let length = bytes.try_into().map_err(|_| PyBufferError::new_err("too long"))?;
        // The numbers stay where they are as long as the object lives: it is frozen, and what it refers to is never changed. The
        // view holds a reference to the object, and is read-only.
        let filled = unsafe { pyo3::ffi::PyBuffer_FillInfo(view, slf.as_ptr(), start, length, 1, flags) };
        if filled == -1 { Err(PyErr::fetch(slf.py())) } else { Ok(()) }
    }
}
