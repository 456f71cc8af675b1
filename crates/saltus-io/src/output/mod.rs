//! What a run leaves behind: `trajectory.npz`, `trajectory.csv`, `impacts.csv`, `contacts.csv`, `energy.csv`,
//! `run.json` and, by events, `timeline.csv`.
//!
//! Each file is written under another name first and renamed when it is complete: an interrupted run leaves no half
//! file under a final name.

mod npz;
mod summary;
mod tables;

pub use summary::{
    AuditSummary, ContactSummary, ContactsSummary, Final, ImpactSummary, ImpactsSummary, LedgerSummary, PhaseSummary,
    PropertySummary, Record, Summary, TimelineSummary,
};

use crate::read::reason;
use saltus::{Ledger, Model, Run, Side, Trajectory};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A file that could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write `{path}`: {reason}")]
pub struct WriteError {
    path: String,
    reason: String,
}

impl WriteError {
    fn new(path: &Path, error: &std::io::Error) -> Self {
        WriteError { path: path.display().to_string(), reason: reason(error) }
    }
}

/// Makes sure that files can be written into a directory, before a long run is started.
pub fn prepare(dir: &Path) -> Result<(), WriteError> {
    std::fs::create_dir_all(dir).map_err(|e| WriteError::new(dir, &e))?;
    tempfile::Builder::new().tempfile_in(dir).map_err(|e| WriteError::new(dir, &e))?;
    Ok(())
}

/// Writes all files of a run into a directory; those of an earlier run are replaced when all new ones are complete.
pub fn write(dir: &Path, model: &Model, run: &Run, ledger: &Ledger, record: &Record) -> Result<(), WriteError> {
    std::fs::create_dir_all(dir).map_err(|e| WriteError::new(dir, &e))?;
    let path = |name: &str| dir.join(name);
    let mut complete = vec![
        aside(path("trajectory.npz"), |w| npz::write(w, model, &run.trajectory))?,
        aside(path("trajectory.csv"), |w| tables::trajectory(w, model, &run.trajectory))?,
        aside(path("impacts.csv"), |w| tables::impacts(w, model, &run.trajectory, ledger))?,
        aside(path("contacts.csv"), |w| tables::contacts(w, model, &run.trajectory))?,
        aside(path("energy.csv"), |w| tables::energy(w, ledger))?,
        aside(path("run.json"), |w| {
            serde_json::to_writer_pretty(&mut *w, record)?;
            w.write_all(b"\n")
        })?,
    ];
    // A timeline of an earlier run must not stand beside a run that has none.
    let timeline = path("timeline.csv");
    if run.timeline.phases.is_empty() {
        let _ = std::fs::remove_file(&timeline);
    } else {
        complete.push(aside(timeline, |w| tables::timeline(w, model, &run.timeline))?);
    }
    for (file, path) in complete {
        file.persist(&path).map_err(|e| WriteError::new(&path, &e.error))?;
    }
    Ok(())
}

/// Makes sure that one file can be written, before a long run is started.
pub fn prepare_file(path: &Path) -> Result<(), WriteError> {
    let refuse = |reason: &str| WriteError { path: path.display().to_string(), reason: reason.to_string() };
    if path.is_dir() {
        return Err(refuse("it is a directory"));
    }
    let dir = folder(path);
    if !dir.is_dir() {
        return Err(refuse(&format!("there is no directory `{}`", dir.display())));
    }
    // Renaming would replace a file that its owner does not want changed.
    if std::fs::metadata(path).is_ok_and(|m| m.permissions().readonly()) {
        return Err(refuse("it is read-only"));
    }
    tempfile::Builder::new().tempfile_in(dir).map_err(|e| WriteError::new(path, &e))?;
    Ok(())
}

/// Writes one file, which has its name only when it is complete.
pub fn write_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<(), WriteError> {
    let (file, path) = aside(path.to_path_buf(), |w| write(w))?;
    file.persist(&path).map_err(|e| WriteError::new(&path, &e.error))?;
    Ok(())
}

/// The directory of a file.
fn folder(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The reaction densities at stored instant k, right limits; at the end of the run, and where they are not known, the left
/// ones, or not a number.
fn reactions(trajectory: &Trajectory, k: usize, m: usize) -> Vec<f64> {
    let t = trajectory.t[k];
    let right = trajectory.reactions(t, Side::Right, m);
    right.or_else(|| trajectory.reactions(t, Side::Left, m)).unwrap_or_else(|| vec![f64::NAN; m])
}

/// Writes a file beside its final place, under a name that goes away by itself if the program ends before the rename.
fn aside(
    path: PathBuf,
    write: impl FnOnce(&mut BufWriter<&mut std::fs::File>) -> std::io::Result<()>,
) -> Result<(NamedTempFile, PathBuf), WriteError> {
    let attempt = || -> std::io::Result<NamedTempFile> {
        if path.is_dir() {
            return Err(std::io::ErrorKind::IsADirectory.into());
        }
        let dir = folder(&path);
        let mut builder = tempfile::Builder::new();
        builder.prefix(".saltus-").suffix(".tmp");
        // Temporary files are private to their owner; results are ordinary files, as the umask has them.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let mut file = builder.tempfile_in(dir)?;
        let mut buffered = BufWriter::with_capacity(1 << 16, file.as_file_mut());
        write(&mut buffered)?;
        buffered.flush()?;
        drop(buffered);
        Ok(file)
    };
    match attempt() {
        Ok(file) => Ok((file, path)),
        Err(e) => Err(WriteError::new(&path, &e)),
    }
}
