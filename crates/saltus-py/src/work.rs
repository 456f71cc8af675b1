//! Commands that answer with JSON: they work in a thread of their own, while this one listens to Ctrl-C and shows progress.

use crate::mistakes::{self, OrRaise};
use crate::model::Core;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::types::PyAnyMethods;
use pyo3::{Bound, PyAny, PyErr, PyResult, Python, pyfunction};
use saltus_cli::embed::{self, Gauge};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How often signals and progress are looked at.
const INTERVAL: Duration = Duration::from_millis(40);

/// Expressions are nested, and so is the code that reads them.
const STACK: usize = 16 << 20;

/// What a command answers, and whether Ctrl-C ended it: it then answers with what it has.
#[pyfunction]
#[pyo3(signature = (words, model=None, progress=None))]
pub fn answer(
    py: Python<'_>,
    words: Vec<String>,
    model: Option<&Core>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(String, bool)> {
    let (gauge, given) = (Arc::new(Gauge::default()), model.map(Core::file));
    let (sender, receiver) = channel::<()>();
    let receiver = Mutex::new(receiver);
    let worker = {
        let gauge = gauge.clone();
        std::thread::Builder::new().name("saltus".into()).stack_size(STACK).spawn(move || {
            // (Nothing is sent: the end of the channel is the end of the work, however it ends.)
            let _sender = sender;
            embed::answer(&words, given, &gauge)
        })?
    };
    let mut failure: Option<PyErr> = None;
    loop {
        let wait = || receiver.lock().map_or(Err(RecvTimeoutError::Disconnected), |r| r.recv_timeout(INTERVAL));
        if py.detach(wait) == Err(RecvTimeoutError::Disconnected) {
            break;
        }
        let told = py.check_signals().and_then(|()| match &progress {
            Some(progress) if failure.is_none() => progress.call1(gauge.read()).map(drop),
            _ => Ok(()),
        });
        if let Err(error) = told {
            embed::stop();
            // Not everything that takes long can be asked to stop: after a second Ctrl-C it is left to end by itself.
            if failure.is_some() {
                return Err(error);
            }
            failure = Some(error);
        }
    }
    let found = match py.detach(|| worker.join()) {
        Ok(found) => found,
        Err(panic) => return Err(mistakes::defect(py, panic.as_ref())),
    };
    match (failure, found) {
        (None, found) => Ok((found.or_raise(py)?, false)),
        (Some(error), Ok(text)) if error.is_instance_of::<PyKeyboardInterrupt>(py) && !text.is_empty() => {
            Ok((text, true))
        }
        (Some(error), _) => Err(error),
    }
}
