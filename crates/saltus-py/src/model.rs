//! Models: from files, names or texts, with the data that comes with them.

use crate::mistakes::{self, OrRaise, detached};
use crate::run::{self, Motion};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::{Bound, PyAny, PyResult, Python, pyclass, pyfunction, pymethods};
use saltus::SetupError;
use saltus::scheme::SCHEMES;
use saltus_cli::embed::{self, Finished, Mistake, Prepared, Wanted};
use saltus_io::{Changes, ModelFile, shipped as models};
use std::path::{Component, Path};
use std::sync::{Arc, Mutex};

/// Texts in pairs: a name and its value.
pub type Pairs = Vec<(String, String)>;

/// Parameters, names of parts, units.
type Facts = (Vec<(String, f64)>, Vec<(String, Vec<String>)>, Pairs);

/// A model: its text, parsed, and its data files.
#[pyclass(frozen, module = "saltus._saltus")]
pub struct Core {
    file: ModelFile,
    /// Data that was given with the text; it lies here as long as the model lives, for runs that are saved.
    _data: Option<Laid>,
    /// The last model that was prepared: a run that is made again finds it compiled.
    last: Mutex<Option<(Wanted, Arc<Prepared>)>>,
}

/// A directory that goes with the process that made it: a copy of the process, after a fork, has only borrowed it.
struct Laid {
    dir: Option<tempfile::TempDir>,
    process: u32,
}

impl Drop for Laid {
    fn drop(&mut self) {
        if std::process::id() != self.process
            && let Some(dir) = self.dir.take()
        {
            let _ = dir.keep();
        }
    }
}

impl Core {
    fn new(file: ModelFile, data: Option<tempfile::TempDir>) -> Self {
        let laid = data.map(|dir| Laid { dir: Some(dir), process: std::process::id() });
        Core { file, _data: laid, last: Mutex::new(None) }
    }

    /// The model file.
    pub fn file(&self) -> ModelFile {
        self.file.clone()
    }

    fn prepared(&self, wanted: &Wanted, from: Option<&Finished>) -> Result<Arc<Prepared>, Mistake> {
        let kept = || {
            self.last.lock().ok().and_then(|last| last.as_ref().filter(|(w, _)| w == wanted).map(|(_, p)| p.clone()))
        };
        if from.is_none()
            && let Some(prepared) = kept()
        {
            return Ok(prepared);
        }
        let prepared = Arc::new(Prepared::new(self.file.clone(), wanted, from)?);
        if let (None, Ok(mut last)) = (from, self.last.lock()) {
            *last = Some((wanted.clone(), prepared.clone()));
        }
        Ok(prepared)
    }
}

#[pymethods]
impl Core {
    /// The model that a word names: a file, or a shipped model.
    #[staticmethod]
    fn named(py: Python<'_>, word: String) -> PyResult<Self> {
        let file = detached(py, || embed::model(&word))?.or_raise(py)?;
        Ok(Core::new(file, None))
    }

    /// A model text, with the contents of the files that it names; `base` is where the others are.
    #[staticmethod]
    fn parsed(py: Python<'_>, name: String, text: String, data: Vec<(String, Vec<u8>)>, base: &str) -> PyResult<Self> {
        let dir = match data.is_empty() {
            true => None,
            false => Some(tempfile::Builder::new().prefix("saltus-").tempdir()?),
        };
        for (name, bytes) in &data {
            let path = Path::new(name);
            let is_inside = path.components().all(|c| matches!(c, Component::Normal(_)));
            let (Some(dir), true) = (&dir, is_inside && !name.is_empty()) else {
                return Err(PyValueError::new_err(format!("`{name}` is not a name for data: give a plain file name")));
            };
            let fail = |e: std::io::Error| PyOSError::new_err(format!("cannot lay out `{name}`: {e}"));
            let path = dir.path().join(path);
            path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(fail)?;
            std::fs::write(path, bytes).map_err(fail)?;
        }
        let base = dir.as_ref().map_or(Path::new(base), |dir| dir.path());
        let file = detached(py, || ModelFile::parse(&name, &text, base))?.or_raise(py)?;
        Ok(Core::new(file, dir))
    }

    /// What it is called.
    #[getter]
    fn name(&self) -> &str {
        &self.file.name
    }

    /// Its text.
    #[getter]
    fn text(&self) -> &str {
        &self.file.text
    }

    /// Its title.
    #[getter]
    fn title(&self) -> &str {
        self.file.title()
    }

    /// Whether it is a structure.
    #[getter]
    fn is_structure(&self) -> bool {
        self.file.is_structure()
    }

    /// The data files that it names, with their contents: all that is needed to make it again elsewhere.
    fn data(&self) -> PyResult<Vec<(String, Vec<u8>)>> {
        let mut data = Vec::new();
        for (name, path) in &self.file.files {
            let shipped = models::DATA.iter().find(|(n, _)| n == name).map(|(_, text)| text.as_bytes().to_vec());
            let bytes = match std::fs::read(path) {
                Ok(bytes) => bytes,
                Err(e) => {
                    shipped.ok_or_else(|| PyOSError::new_err(format!("cannot read `{}`: {e}", path.display())))?
                }
            };
            data.push((name.clone(), bytes));
        }
        Ok(data)
    }

    /// Names and values of its parameters, with changes; the names of its parts; its units.
    fn facts(&self, py: Python<'_>, set: Pairs) -> PyResult<Facts> {
        let wanted = Changes { set, ..Changes::default() };
        let opened = detached(py, || self.file.changed(&wanted))?.or_raise(py)?;
        let model = opened.system.model();
        Ok((model.parameters.clone(), run::names(model), run::units(model)))
    }

    /// Runs it; the motion, and whether Ctrl-C ended it.
    #[pyo3(signature = (set, start, settings, scheme=None, every=None, until_rest=false, residual=false, penetration=None,
        observe=Vec::new(), assemble=false, after=None, progress=None))]
    #[allow(clippy::too_many_arguments)]
    fn run(
        &self,
        py: Python<'_>,
        set: Pairs,
        start: Pairs,
        settings: Pairs,
        scheme: Option<String>,
        every: Option<u64>,
        until_rest: bool,
        residual: bool,
        penetration: Option<f64>,
        observe: Vec<String>,
        assemble: bool,
        after: Option<&Motion>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Motion> {
        if every == Some(0) {
            return Err(mistakes::exception(py, &SetupError::new("`every` must be a positive whole number").into()));
        }
        let changes = Changes { set, start, observe, assemble, ..Changes::default() };
        let wanted = Wanted { changes, scheme, settings, every, until_rest, residual, penetration };
        let from = after.map(Motion::finished);
        let prepared = detached(py, || self.prepared(&wanted, from))?.or_raise(py)?;
        Motion::of(py, &prepared, progress)
    }
}

/// Names, titles and texts of the shipped models.
#[pyfunction]
pub fn shipped() -> Vec<(&'static str, &'static str)> {
    models::MODELS.to_vec()
}

/// The nearest of some names, if one is near.
#[pyfunction]
pub fn nearest(name: &str, names: Vec<String>) -> Option<String> {
    saltus::nearest(name, names.iter().map(String::as_str)).map(str::to_string)
}

/// The names of the schemes.
#[pyfunction]
pub fn schemes() -> Vec<&'static str> {
    SCHEMES.iter().map(|s| s.name).collect()
}
