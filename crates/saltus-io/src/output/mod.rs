//! What a run leaves behind: the trajectory (`trajectory.npz`, `.csv`, `.mat`, `.parquet`, as asked for), `impacts.csv`,
//! `contacts.csv`, `energy.csv`, `run.json`, `state.npz` and, where there are any, `timeline.csv`, `events.csv`, `shocks.csv`.
//!
//! Each file is written under another name first and renamed when it is complete: an interrupted run leaves no half
//! file under a final name.

mod arrays;
mod format;
mod mat;
mod meta;
pub(crate) mod npz;
#[cfg(feature = "parquet")]
mod parquet;
mod record;
mod structure;
mod summary;
mod tables;

pub use format::Format;
pub use record::{DataFile, OptionsRecord, Record, StartRecord};
pub use structure::{PointSummary, Spread, StopSummary, StructureSummary};
pub use summary::{
    AuditSummary, ContactSummary, ContactsSummary, EventSummary, EventsSummary, Final, ImpactSummary, ImpactsSummary,
    LedgerSummary, Listed, PhaseSummary, PropertySummary, SettledSummary, Summary, TimelineSummary,
};

use crate::read::reason;
use saltus::analysis::Shocks;
use saltus::{Ledger, Model, Run};
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

/// Writes all files of a run into a directory, the trajectory in each of `formats`; those of an earlier run are replaced
/// when all new ones are complete, and removed where the new run has none of that name.
pub fn write(
    dir: &Path,
    model: &Model,
    run: &Run,
    shocks: Option<&Shocks>,
    record: &Record,
    formats: &[Format],
) -> Result<(), WriteError> {
    std::fs::create_dir_all(dir).map_err(|e| WriteError::new(dir, &e))?;
    let path = |name: &str| dir.join(name);
    let (trajectory, ledger) = (&run.trajectory, &run.ledger);
    let mut complete = vec![
        staged(path("impacts.csv"), |w| tables::impacts(w, model, trajectory, ledger))?,
        staged(path("contacts.csv"), |w| tables::contacts(w, model, trajectory))?,
        staged(path("energy.csv"), |w| tables::energy(w, ledger))?,
        staged(path("state.npz"), |w| npz::state(w, run.last()))?,
        staged(path("run.json"), |w| {
            serde_json::to_writer_pretty(&mut *w, record)?;
            w.write_all(b"\n")
        })?,
    ];
    let mut stale: Vec<&str> = Vec::new();
    if run.timeline.phases.is_empty() {
        stale.push("timeline.csv");
    } else {
        complete.push(staged(path("timeline.csv"), |w| tables::timeline(w, model, &run.timeline))?);
    }
    if model.events.is_empty() {
        stale.push("events.csv");
    } else {
        complete.push(staged(path("events.csv"), |w| tables::events(w, model, trajectory))?);
    }
    match shocks {
        None => stale.push("shocks.csv"),
        Some(shocks) => complete.push(staged(path("shocks.csv"), |w| structure::shocks(w, model, shocks))?),
    }
    for format in Format::ALL {
        match formats.contains(&format) {
            true => complete.extend(in_format(dir, format, model, run, ledger, record)?),
            false => stale.extend(format.files()),
        }
    }
    for (file, path) in complete {
        file.persist(&path).map_err(|e| WriteError::new(&path, &e.error))?;
    }
    // Files of an earlier run must not stand beside a run that has none of that name.
    for name in stale {
        let _ = std::fs::remove_file(path(name));
    }
    Ok(())
}

/// The files that [`write()`] makes, in the order in which they are listed to the user.
pub fn files(model: &Model, run: &Run, has_shocks: bool, formats: &[Format]) -> Vec<&'static str> {
    let mut files: Vec<&str> =
        Format::ALL.into_iter().filter(|f| formats.contains(f)).flat_map(Format::files).copied().collect();
    files.extend(["impacts.csv", "contacts.csv", "energy.csv"]);
    files.extend((!run.timeline.phases.is_empty()).then_some("timeline.csv"));
    files.extend((!model.events.is_empty()).then_some("events.csv"));
    files.extend(has_shocks.then_some("shocks.csv"));
    files.extend(["state.npz", "run.json"]);
    files
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
    if std::fs::metadata(path).is_ok_and(|m| !m.is_file()) {
        return Err(refuse("it is a device or a pipe, not a file"));
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
    let (file, path) = staged(path.to_path_buf(), |w| write(w))?;
    file.persist(&path).map_err(|e| WriteError::new(&path, &e.error))?;
    Ok(())
}

/// The trajectory in one format.
fn in_format(
    dir: &Path,
    format: Format,
    model: &Model,
    run: &Run,
    ledger: &Ledger,
    record: &Record,
) -> Result<Vec<(NamedTempFile, PathBuf)>, WriteError> {
    let motion = || arrays::motion(model, &run.trajectory);
    let with_impacts = || motion().into_iter().chain(arrays::impacts(model, &run.trajectory)).collect::<Vec<_>>();
    let path = dir.join(format.files()[0]);
    Ok(match format {
        Format::Npz => vec![staged(path, |w| npz::write(w, &with_impacts()))?],
        Format::Csv => vec![staged(path, |w| tables::trajectory(w, model, &run.trajectory))?],
        Format::Mat => {
            let names = [
                ("coordinates", model.coordinates.iter().map(String::as_str).collect()),
                ("constraints", model.constraints.iter().map(|c| c.name.as_str()).collect()),
                ("coordinate_units", (0..model.coordinates.len()).map(|i| model.units.position(i)).collect()),
            ];
            vec![staged(path, |w| mat::write(w, &with_impacts(), &names, &meta::of(record, model)))?]
        }
        #[cfg(feature = "parquet")]
        Format::Parquet => {
            let meta = meta::of(record, model);
            let impacts = dir.join(format.files()[1]);
            vec![
                staged(path, |w| parquet::trajectory(w, model, &motion(), &meta))?,
                staged(impacts, |w| parquet::impacts(w, model, &run.trajectory, ledger, &meta))?,
            ]
        }
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => {
            let _ = ledger;
            let built = std::io::Error::other("this program was built without Parquet");
            return Err(WriteError::new(&path, &built));
        }
    })
}

/// The directory of a file.
fn folder(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Writes a file beside its final place, under a name that is removed if the program ends before the rename.
fn staged(
    mut path: PathBuf,
    write: impl FnOnce(&mut BufWriter<&mut std::fs::File>) -> std::io::Result<()>,
) -> Result<(NamedTempFile, PathBuf), WriteError> {
    // A link is followed; renaming would put a file in its place.
    if path.is_symlink()
        && let Ok(target) = std::fs::canonicalize(&path)
    {
        path = target;
    }
    let attempt = || -> std::io::Result<NamedTempFile> {
        if std::fs::metadata(&path).is_ok_and(|m| !m.is_file() && !m.is_dir()) {
            return Err(std::io::Error::other("it is a device or a pipe, not a file"));
        }
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
