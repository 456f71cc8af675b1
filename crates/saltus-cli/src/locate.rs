//! Which model a word on the command line means: a file, or a shipped model's name.

use saltus::{SetupError, nearest};
use saltus_io::{FileError, ModelFile, shipped};
use std::cell::RefCell;
use std::path::Path;

thread_local! {
    /// A model that is in no file, and what it is called.
    static GIVEN: RefCell<Option<ModelFile>> = const { RefCell::new(None) };
}

/// Takes this model wherever it is named while something is done.
pub fn giving<T>(file: Option<ModelFile>, act: impl FnOnce() -> T) -> T {
    let before = GIVEN.replace(file);
    let done = act();
    GIVEN.set(before);
    done
}

/// A file of that name if there is one, else the shipped model, else an error that suggests one.
pub fn model(word: &str) -> Result<ModelFile, FileError> {
    if let Some(given) = GIVEN.with_borrow(|given| given.as_ref().filter(|file| file.name == word).cloned()) {
        return Ok(given);
    }
    let path = Path::new(word);
    if !path.is_file()
        && let Some(found) = shipped::find(word)
    {
        return found;
    }
    if path.exists() || word.contains(['/', '\\']) || word.ends_with(".toml") {
        return ModelFile::open(path).map_err(|mut failure| {
            let stem = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
            if !path.exists() && shipped::MODELS.iter().any(|(name, _)| *name == stem) {
                failure.error.help = Some(format!("there is a shipped model of that name: `saltus run {stem}`"));
            }
            failure
        });
    }
    Err(FileError::whole(word, unknown(word)))
}

/// The text of a shipped model.
pub fn shipped(name: &str) -> Result<&'static str, SetupError> {
    shipped::MODELS.iter().find(|(n, _)| *n == name).map(|(_, text)| *text).ok_or_else(|| unknown(name))
}

/// There is no such file and no such shipped model.
fn unknown(word: &str) -> SetupError {
    let names = || shipped::MODELS.iter().map(|(name, _)| *name);
    let help = match nearest(word, names()) {
        Some(near) => format!("did you mean the shipped model `{near}`?  `saltus models` lists them all"),
        None => "`saltus models` lists the shipped ones; your own is named by its file, such as my-model.toml".into(),
    };
    SetupError::new(format!("there is no file and no shipped model called `{word}`")).help(help)
}
