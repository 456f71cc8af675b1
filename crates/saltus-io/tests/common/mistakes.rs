//! Errors with a place.

use saltus_io::FileError;

/// The text that an error marks; its message must contain a piece.
pub fn place<'a>(error: &'a FileError, message: &str) -> &'a str {
    let shown = format!("{}\n{:?}", error.error.message, error.error);
    assert!(error.error.message.contains(message), "wanted `{message}`: {shown}");
    let span = error.error.span.clone().unwrap_or_else(|| panic!("no place: {shown}"));
    error.text.get(span).unwrap_or_else(|| panic!("a place outside the text: {shown}"))
}
