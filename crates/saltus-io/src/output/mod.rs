//! What a run leaves behind: the trajectory (`trajectory.npz`, `.csv`, `.mat`, `.parquet`, as asked for), `impacts.csv`,
//! `contacts.csv`, `energy.csv`, `run.json`, `state.npz` and, where there are any, `timeline.csv`, `events.csv`, `shocks.csv`.
//!
//! Each file is written under another name first and renamed when all are complete and on the disk. `run.json` decides: it is
//! taken away before the first of them gets its name and comes back as the last, so that a directory with a `run.json`
//! holds the files of one run, whenever the program is ended.

mod arrays;
mod format;
mod mat;
mod meta;
pub(crate) mod npz;
pub(crate) mod parquet;
mod record;
mod spectra;
mod stage;
mod structure;
mod summary;
pub(crate) mod tables;

pub use format::Format;
pub(crate) use record::memory_from_numbers;
pub use record::{DataFile, OptionsRecord, Record, StartRecord};
pub use spectra::{DENSITY, FORCES, RESPONSE_SPECTRUM, densities, forces, response_spectra};
pub use structure::{
    FrictionSummary, GroupSummary, PointSummary, RecordSummary, ShearSummary, Spread, StopSummary, StructureSummary,
};
pub use summary::{
    AuditSummary, ContactSummary, ContactsSummary, EventSummary, EventsSummary, Final, ImpactSummary, ImpactsSummary,
    LedgerSummary, Listed, PhaseSummary, PropertySummary, SettledSummary, Summary, TimelineSummary,
};
pub use tables::{IMPACT_NUMBERS, impact_numbers, impact_state, impact_state_values};

use crate::read::reason;
use arrays::Columns;
use saltus::analysis::Shocks;
use saltus::{Ledger, Model, Run};
use stage::{Staged, folder, place, remove, scratch, staged, sync, tidy};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

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
    scratch(dir).map_err(|e| WriteError::new(dir, &e))?;
    Ok(())
}

/// Removes what a program that was killed left unfinished in a directory.
pub fn clear_unfinished(dir: &Path) {
    tidy(dir);
}

/// Whether an entry of a directory is a file that is being written, or was when its program was killed.
pub fn is_unfinished(entry: &std::fs::DirEntry) -> bool {
    stage::is_unfinished(&entry.file_name().to_string_lossy())
}

/// Every file that a run may leave in its directory.
fn all_files() -> impl Iterator<Item = &'static str> {
    let tables =
        ["impacts.csv", "contacts.csv", "energy.csv", "timeline.csv", "events.csv", "shocks.csv", "supports.csv"];
    let others = tables.into_iter().chain([RESPONSE_SPECTRUM, DENSITY, FORCES, "state.npz", RECORD]);
    Format::ALL.into_iter().flat_map(Format::files).copied().chain(others)
}

/// What decides whether a directory holds a run.
const RECORD: &str = "run.json";

/// What decides whether a directory holds a family of motions: a sweep, a diagram, basins.
pub const FAMILY: &str = "sweep.json";

/// Refuses a file to be written that is one of those to be read: the model, its data.
pub fn spare<'a>(path: &Path, inputs: impl IntoIterator<Item = &'a Path>) -> Result<(), WriteError> {
    match inputs.into_iter().find(|input| stage::is_same(path, input)) {
        None => Ok(()),
        Some(input) => Err(WriteError {
            path: path.display().to_string(),
            reason: format!("it is `{}`, which this command reads", input.display()),
        }),
    }
}

/// Refuses a directory in which the files of a run would replace one of those to be read.
pub fn spare_in<'a>(dir: &Path, inputs: impl IntoIterator<Item = &'a Path> + Clone) -> Result<(), WriteError> {
    all_files().try_for_each(|name| spare(&dir.join(name), inputs.clone()))
}

/// What a directory holds in which files of a run would replace, or stand beside, those of something else.
pub fn holds_other(dir: &Path) -> Option<&'static str> {
    dir.join(FAMILY).exists().then_some("a sweep")
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
    tidy(dir);
    let path = |name: &str| dir.join(name);
    let (trajectory, ledger) = (&run.trajectory, &run.ledger);
    let mut complete = vec![
        staged(path("impacts.csv"), |w| tables::impacts(w, model, trajectory, ledger))?,
        staged(path("contacts.csv"), |w| tables::contacts(w, model, trajectory))?,
        staged(path("energy.csv"), |w| tables::energy(w, ledger))?,
        staged(path("state.npz"), |w| npz::state(w, run.last(), model.states.len()))?,
    ];
    if !run.timeline.phases.is_empty() {
        complete.push(staged(path("timeline.csv"), |w| tables::timeline(w, model, &run.timeline))?);
    }
    if !model.events.is_empty() {
        complete.push(staged(path("events.csv"), |w| tables::events(w, model, trajectory))?);
    }
    if let Some(shocks) = shocks {
        complete.push(staged(path("shocks.csv"), |w| structure::shocks(w, model, shocks))?);
        complete.push(staged(path("supports.csv"), |w| structure::supports(w, model, shocks))?);
    }
    for &format in formats {
        complete.extend(in_format(dir, format, model, run, ledger, record)?);
    }
    let last = staged(path(RECORD), |w| {
        serde_json::to_writer_pretty(&mut *w, record)?;
        w.write_all(b"\n")
    })?;
    // From here to the last line only names change, in this order.
    remove(&path(RECORD))?;
    complete.into_iter().try_for_each(place)?;
    // Files of an earlier run must not stand beside a run that has none of that name.
    let made = files(model, run, shocks.is_some(), formats);
    for name in all_files().filter(|name| !made.contains(name)) {
        remove(&path(name))?;
    }
    place(last)?;
    sync(dir);
    Ok(())
}

/// The files that [`write()`] makes, in the order in which they are listed to the user.
pub fn files(model: &Model, run: &Run, has_shocks: bool, formats: &[Format]) -> Vec<&'static str> {
    let mut files: Vec<&str> =
        Format::ALL.into_iter().filter(|f| formats.contains(f)).flat_map(Format::files).copied().collect();
    files.extend(["impacts.csv", "contacts.csv", "energy.csv"]);
    files.extend((!run.timeline.phases.is_empty()).then_some("timeline.csv"));
    files.extend((!model.events.is_empty()).then_some("events.csv"));
    files.extend(has_shocks.then_some(["shocks.csv", "supports.csv"]).into_iter().flatten());
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
    scratch(dir).map_err(|e| WriteError::new(path, &e))?;
    Ok(())
}

/// Writes one file, which has its name only when it is complete.
pub fn write_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<(), WriteError> {
    tidy(folder(path));
    place(staged(path.to_path_buf(), |w| write(w))?)?;
    sync(folder(path));
    Ok(())
}

/// The same for a format that goes back and forth in its file.
pub(crate) fn write_seekable(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<&mut File>) -> std::io::Result<()>,
) -> Result<(), WriteError> {
    tidy(folder(path));
    place(staged(path.to_path_buf(), write)?)?;
    sync(folder(path));
    Ok(())
}

/// What the columns of the arrays are.
fn columns(model: &Model) -> Vec<(&'static str, Vec<String>)> {
    let units = (0..model.coordinates.len()).map(|i| model.units.position(i).to_string());
    let mut columns = vec![
        ("coordinates", Columns::Coordinates.names(model)),
        ("constraints", Columns::Constraints.names(model)),
        ("coordinate_units", units.collect()),
    ];
    let others = [
        ("states", Columns::States.names(model)),
        ("state_units", model.units.states.clone()),
        ("joints", Columns::Joints.names(model)),
        ("frictions", Columns::Slips.names(model)),
    ];
    columns.extend(others.into_iter().filter(|(_, names)| !names.is_empty()));
    columns
}

/// The trajectory in one format.
fn in_format(
    dir: &Path,
    format: Format,
    model: &Model,
    run: &Run,
    ledger: &Ledger,
    record: &Record,
) -> Result<Vec<Staged>, WriteError> {
    let motion = || arrays::motion(model, &run.trajectory);
    let with_impacts = || motion().into_iter().chain(arrays::impacts(model, &run.trajectory)).collect::<Vec<_>>();
    let path = dir.join(format.files()[0]);
    Ok(match format {
        Format::Npz => {
            let (names, meta) = (columns(model), meta::of(record, model));
            vec![staged(path, |w| npz::described(w, &with_impacts(), &names, &meta))?]
        }
        Format::Csv => vec![staged(path, |w| tables::trajectory(w, model, &run.trajectory))?],
        Format::Mat => {
            let (names, meta) = (columns(model), meta::of(record, model));
            vec![staged(path, |w| mat::write(w, &with_impacts(), &names, &meta))?]
        }
        Format::Parquet => {
            let meta = meta::of(record, model);
            let impacts = dir.join(format.files()[1]);
            vec![
                staged(path, |w| parquet::trajectory(w, model, &motion(), &meta))?,
                staged(impacts, |w| parquet::impacts(w, model, &run.trajectory, ledger, &meta))?,
            ]
        }
    })
}
