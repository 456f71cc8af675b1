//! A mistake in a file, with the file's text so that the place can be shown.

use saltus::SetupError;

/// What is wrong with a file, and where.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{error}")]
pub struct FileError {
    /// The file's name as the person wrote it.
    pub name: String,
    /// Its text; empty if it could not be read.
    pub text: String,
    /// The mistake; its span refers to `text`.
    pub error: Box<SetupError>,
}

impl FileError {
    /// A mistake about the file as a whole.
    pub fn whole(name: &str, error: SetupError) -> Self {
        FileError { name: name.to_string(), text: String::new(), error: Box::new(error) }
    }

    /// Line and column (from 1) of the marked place.
    pub fn line_column(&self) -> Option<(usize, usize)> {
        let start = self.error.span.as_ref()?.start;
        let before = self.text.get(..start)?;
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
        Some((line, column))
    }
}
