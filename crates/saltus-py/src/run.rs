//! A run: made without the interpreter, read without a copy.

use crate::column::Column;
use crate::mistakes::{self, OrRaise, detached};
use crate::tables::{self, Cells};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::{Bound, PyAny, PyErr, PyResult, Python, pyclass, pymethods};
use saltus::{Model, Progress, SetupError, Side};
use saltus_cli::embed::{Finished, Prepared};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often signals and progress are looked at.
const INTERVAL: Duration = Duration::from_millis(40);

/// A motion with its ledger.
#[pyclass(frozen, module = "saltus._saltus")]
pub struct Motion(Arc<Finished>);

impl Motion {
    /// The run.
    pub fn finished(&self) -> &Finished {
        &self.0
    }

    /// Runs what is prepared. Ctrl-C ends the run, which keeps what it has.
    pub fn of(py: Python<'_>, prepared: &Arc<Prepared>, progress: Option<Bound<'_, PyAny>>) -> PyResult<Self> {
        let progress = progress.map(Bound::unbind);
        let (from, to) = (prepared.start().t, prepared.options().end);
        let found = detached(py, move || {
            let (mut failure, mut looked): (Option<PyErr>, Instant) = (None, Instant::now());
            let run = prepared.run(&mut |p: Progress| {
                if looked.elapsed() < INTERVAL {
                    return true;
                }
                looked = Instant::now();
                let told = Python::attach(|py| {
                    py.check_signals()?;
                    let share = (p.t - from) / (to - from);
                    progress.as_ref().map_or(Ok(()), |told| told.call1(py, (share, p.t, p.impacts)).map(drop))
                });
                failure = told.err();
                failure.is_none()
            });
            (run, failure)
        })?;
        let (run, failure) = found;
        match failure {
            Some(error) if !error.is_instance_of::<PyKeyboardInterrupt>(py) => Err(error),
            _ => Ok(Motion(Arc::new(run.or_raise(py)?))),
        }
    }

    fn width(&self) -> usize {
        self.0.run().trajectory.dimension()
    }
}

/// The names of the parts of a model: coordinates, states, constraints, joints, slips, events.
pub fn names(model: &Model) -> Vec<(String, Vec<String>)> {
    let all = [
        ("coordinates", model.coordinates.clone()),
        ("states", model.states.iter().map(|s| s.name.clone()).collect()),
        ("constraints", model.constraints.iter().map(|c| c.name.clone()).collect()),
        ("joints", model.joints.iter().map(|j| j.name.clone()).collect()),
        ("frictions", model.slip_names()),
        ("events", model.events.iter().map(|e| e.name.clone()).collect()),
    ];
    all.into_iter().map(|(key, names)| (key.to_string(), names)).collect()
}

/// The units that a model gives, as (name, unit); `t` is the time.
pub fn units(model: &Model) -> Vec<(String, String)> {
    let units = &model.units;
    let states = model.states.iter().map(|s| s.name.as_str()).zip(units.states.iter().map(String::as_str));
    let coordinates = model.coordinates.iter().map(String::as_str).zip(units.coordinates.iter().map(String::as_str));
    let parameters = units.parameters.iter().map(|(name, unit)| (name.as_str(), unit.as_str()));
    let all = std::iter::once(("t", units.time.as_str())).chain(coordinates).chain(states).chain(parameters);
    all.filter(|(_, unit)| !unit.is_empty()).map(|(name, unit)| (name.to_string(), unit.to_string())).collect()
}

fn side(word: &str) -> PyResult<Side> {
    match word {
        "left" => Ok(Side::Left),
        "right" => Ok(Side::Right),
        _ => Err(PyValueError::new_err(format!("`side` is \"left\" or \"right\", not {word:?}"))),
    }
}

#[pymethods]
impl Motion {
    /// A run that was saved in a directory, made again.
    #[staticmethod]
    #[pyo3(signature = (dir, progress=None))]
    fn saved(py: Python<'_>, dir: PathBuf, progress: Option<Bound<'_, PyAny>>) -> PyResult<Self> {
        let prepared = detached(py, || Prepared::saved(&dir))?.or_raise(py)?;
        Motion::of(py, &Arc::new(prepared), progress)
    }

    /// (Stored instants, coordinates, all unknowns: coordinates and first-order states.)
    #[getter]
    fn shape(&self) -> (usize, usize, usize) {
        let motion = &self.0.run().trajectory;
        (motion.len(), motion.degrees(), motion.dimension())
    }

    /// The names of the parts of its model.
    fn names(&self) -> Vec<(String, Vec<String>)> {
        names(self.0.system().model())
    }

    /// The units of its model, as (name, unit).
    fn units(&self) -> Vec<(String, String)> {
        units(self.0.system().model())
    }

    /// The stored instants.
    fn t(&self) -> Column {
        Column::instants(&self.0)
    }

    /// The positions there, one row each.
    fn q(&self) -> Column {
        Column::positions(&self.0)
    }

    /// The left limits of the velocity there.
    fn v_left(&self) -> Column {
        Column::velocities(&self.0)
    }

    /// The right limits.
    fn v_right(&self, py: Python<'_>) -> PyResult<Column> {
        let right = detached(py, || self.0.run().trajectory.velocities(Side::Right).collect())?;
        Ok(Column::own(right))
    }

    /// Whether reactions are known between impacts.
    #[getter]
    fn has_reactions(&self) -> bool {
        self.0.run().trajectory.has_reactions()
    }

    /// Reaction densities at the stored instants (right limits): constraints, joints, slips.
    fn reactions(&self, py: Python<'_>) -> PyResult<Column> {
        let model = self.0.system().model();
        let (motion, width) = (&self.0.run().trajectory, model.constraints.len() + model.bonds());
        let rows = detached(py, || (0..motion.len()).flat_map(|k| motion.reactions_at(k, width)).collect())?;
        Ok(Column::own(rows))
    }

    /// Positions and velocities at given times.
    fn at(&self, py: Python<'_>, times: PyBuffer<f64>, side: &str) -> PyResult<(Column, Column)> {
        let (times, side, d) = (times.to_vec(py)?, self::side(side)?, self.width());
        let motion = &self.0.run().trajectory;
        let read = detached(py, || {
            let (mut q, mut v) = (vec![0.0; times.len() * d], vec![0.0; times.len() * d]);
            let mut cursor = motion.cursor(side);
            for (k, &t) in times.iter().enumerate() {
                let at = k * d..(k + 1) * d;
                cursor.read(t, &mut q[at.clone()], &mut v[at]).map_err(|_| t)?;
            }
            Ok((q, v))
        })?;
        let span = || motion.span().map_or(String::new(), |(a, b)| format!(": it goes from {a:?} to {b:?}"));
        let (q, v) =
            read.map_err(|t: f64| PyValueError::new_err(format!("t = {t:?} is outside the motion{}", span())))?;
        Ok((Column::own(q), Column::own(v)))
    }

    /// A table of the run: names of columns and what is in them.
    fn table(&self, py: Python<'_>, name: &str) -> PyResult<Vec<(String, Cells)>> {
        let found = detached(py, || tables::of(&self.0, name))?;
        found.ok_or_else(|| mistakes::exception(py, &SetupError::new(format!("there is no table `{name}`")).into()))
    }

    /// The summary, as JSON.
    fn summary(&self, py: Python<'_>) -> PyResult<String> {
        detached(py, || self.0.summary())
    }

    /// How it ended, in a word; and what there is to say about it.
    #[getter]
    fn status(&self) -> (&'static str, String) {
        let status = &self.0.run().status;
        (status.name(), status.to_string())
    }

    /// Whether it reached its end and nothing is wrong with it.
    #[getter]
    fn is_finished(&self) -> bool {
        self.0.run().status == saltus::Status::Finished
    }

    /// What a user should know.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.0.run().warnings.clone()
    }

    /// Seconds that it took.
    #[getter]
    fn wall_s(&self) -> f64 {
        self.0.wall_s()
    }

    /// Writes all files of the run.
    fn save(&self, py: Python<'_>, dir: PathBuf, formats: Vec<String>) -> PyResult<()> {
        detached(py, || self.0.save(&dir, &formats))?.or_raise(py)
    }

    /// Writes the page of the run.
    fn report(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        detached(py, || self.0.report(&path))?.or_raise(py)
    }

    /// The page of the run.
    fn page(&self, py: Python<'_>) -> PyResult<String> {
        let page = detached(py, || {
            let mut bytes = Vec::new();
            self.0.page().map(|page| page.write(&mut bytes).map(|()| String::from_utf8_lossy(&bytes).into_owned()))
        })?;
        Ok(page.or_raise(py)??)
    }
}
