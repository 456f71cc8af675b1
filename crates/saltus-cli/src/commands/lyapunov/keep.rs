//! The table on the disk: nothing of others is replaced by it, and no complete one by a part.

use super::show::{ENDING, NOT_RUN, Shown};
use crate::progress;
use crate::text::complain;
use saltus::SetupError;
use saltus_io::output;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// What is in the place of a table.
enum There {
    Nothing,
    /// A table of exponents, and whether all its points were run.
    Table(bool),
    Other,
}

fn there(path: &Path) -> There {
    let Ok(file) = File::open(path) else { return There::Nothing };
    let mut lines = BufReader::new(file).lines().map_while(Result::ok);
    match lines.next() {
        None => match std::fs::metadata(path).is_ok_and(|about| about.len() == 0) {
            true => There::Nothing,
            false => There::Other,
        },
        Some(head) if head.ends_with(ENDING) => There::Table(lines.all(|line| !line.ends_with(NOT_RUN))),
        Some(_) => There::Other,
    }
}

/// A table with what there is so far is written this often, and not more of the time than a small part.
const INTERVAL: Duration = Duration::from_secs(10);
const PART: u32 = 20;

/// Keeps what there is while the rest is computed, for when the program is killed: where no complete table would be replaced.
pub struct Keeper<'a> {
    path: Option<&'a Path>,
    due: Instant,
}

impl<'a> Keeper<'a> {
    pub fn new(path: Option<&'a Path>) -> Self {
        let path = path.filter(|path| !matches!(there(path), There::Table(true)));
        Keeper { path, due: Instant::now() + INTERVAL }
    }

    /// Writes a table, if it is time.
    pub fn keep(&mut self, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) {
        let Some(path) = self.path.filter(|_| Instant::now() >= self.due) else { return };
        let begun = Instant::now();
        // (What cannot be written now is said at the end, if it still cannot.)
        let _ = output::write_file(path, write);
        self.due = Instant::now() + INTERVAL.max(PART * begun.elapsed());
    }
}

/// Makes sure that a table can be written, and that it replaces nothing but a table.
pub fn check(path: &Path) -> Result<(), SetupError> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
    if ["svg", "png", "pdf", "html", "npz", "mat", "parquet", "json"].contains(&ending.as_str()) {
        return Err(SetupError::new(format!("exponents are written as a table of text, and not as .{ending}"))
            .help("name a .csv file; for a picture:  saltus bifurcation … --exponents"));
    }
    output::prepare_file(path).map_err(|e| SetupError::new(e.to_string()))?;
    match there(path) {
        There::Other => Err(SetupError::new(format!("`{}` holds something else than exponents", path.display()))
            .help("choose another name for the table, or remove this file")),
        There::Nothing | There::Table(_) => Ok(()),
    }
}

/// Writes what there is; false where what is there stays.
pub fn write(path: &Path, shown: &Shown) -> Result<bool, SetupError> {
    if shown.is_partial() && matches!(there(path), There::Table(true)) {
        let stays = "holds a complete table, which stays; what was computed before the interruption is not written";
        complain(&format!("`{}` {stays}", path.display()));
        return Ok(false);
    }
    check(path)?;
    progress::saving(|| output::write_file(path, |file| shown.write(file)))
        .map(|()| true)
        .map_err(|e| SetupError::new(e.to_string()))
}
