//! The commands for a caller in the same process: the answer of a command is its JSON object, a mistake is a value with the text
//! that the program shows, a model may be in no file, and a run leaves itself.

mod prepared;

pub use crate::progress::Gauge;
pub use prepared::{Finished, Prepared, Wanted};

use crate::command::{Cli, said};
use crate::setup::Refusal;
use crate::{diagnose, locate, progress, report, text};
use saltus::SetupError;
use saltus_io::{FileError, ModelFile};
use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What keeps a command from starting or from finishing.
#[derive(Clone, Debug)]
pub struct Mistake {
    /// What is wrong, why, and what to do.
    pub error: Box<SetupError>,
    /// The file in which it is, as far as it is in one.
    pub file: Option<String>,
    /// Line and column there, from 1.
    pub place: Option<(usize, usize)>,
    /// The text that the program shows, without colours.
    pub shown: String,
}

impl From<FileError> for Mistake {
    fn from(failure: FileError) -> Self {
        let place = failure.line_column().filter(|_| !failure.text.is_empty());
        let shown = diagnose::shown(&failure);
        Mistake { error: failure.error, file: Some(failure.name), place, shown }
    }
}

impl From<SetupError> for Mistake {
    fn from(error: SetupError) -> Self {
        let mistake = FileError::whole("", error.without_place());
        Mistake { file: None, ..Mistake::from(mistake) }
    }
}

impl From<Refusal> for Mistake {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::File(error) => error.into(),
            Refusal::Setup(error) | Refusal::Unwritten(error) => error.into(),
            Refusal::Interrupted => SetupError::new("interrupted: there is nothing to show yet").into(),
        }
    }
}

/// The model that a word names: a file, or a shipped model.
pub fn model(word: &str) -> Result<ModelFile, Mistake> {
    Ok(locate::model(word)?)
}

/// Commands at work.
static AT_WORK: AtomicUsize = AtomicUsize::new(0);

/// What a command prints: with `--json`, one object. `words` begin with the command; where they name `given`, it is that model.
pub fn answer(words: &[String], given: Option<ModelFile>, gauge: &Arc<Gauge>) -> Result<String, Mistake> {
    let words: Vec<OsString> =
        std::iter::once("saltus").chain(words.iter().map(String::as_str)).map(Into::into).collect();
    let cli = Cli::of(&words).map_err(|e| SetupError::new(said(&e)))?;
    if AT_WORK.fetch_add(1, Ordering::SeqCst) == 0 {
        progress::stop(false);
        saltus_ensemble::end_compilers_when(progress::is_stopped);
    }
    let _leaving = Leaving;
    report::remember(&words);
    let ((outcome, _), printed) = text::keeping(|| locate::giving(given, || progress::gauged(gauge, || cli.perform())));
    outcome?;
    Ok(printed)
}

/// Counts a command out, however it ends.
struct Leaving;

impl Drop for Leaving {
    fn drop(&mut self) {
        AT_WORK.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Asks all commands at work to stop: they answer with what they have.
pub fn stop() {
    progress::stop(true);
}
