//! Showing a mistake: what, where in the file, why, what to do.

use miette::{Diagnostic, LabeledSpan, NamedSource, Report, SourceCode};
use saltus::SetupError;
use saltus_io::FileError;
use std::fmt;
use std::process::ExitCode;

struct Shown {
    error: SetupError,
    source: Option<NamedSource<String>>,
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.error.message)
    }
}

impl fmt::Debug for Shown {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Shown {}

impl Diagnostic for Shown {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.error.help.as_ref().map(|h| Box::new(h) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.source.as_ref().map(|s| s as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.source.as_ref()?;
        let span = self.error.span.clone()?;
        // A marker needs a width: an empty place is shown as one character.
        let length = span.len().max(1);
        Some(Box::new(std::iter::once(LabeledSpan::new(Some(self.error.label.clone()), span.start, length))))
    }
}

/// Shows a mistake in a file and gives the exit code for it.
pub fn file(failure: &FileError, json: bool) -> ExitCode {
    if json {
        let place = failure.line_column();
        print_json(&failure.error, Some(&failure.name), place);
        return ExitCode::FAILURE;
    }
    let in_file = !failure.text.is_empty() && failure.error.span.is_some();
    let source = in_file.then(|| NamedSource::new(&failure.name, window(failure)));
    let mut error = failure.error.clone();
    if in_file {
        // Only a window of a long file is handed on; the span moves with it.
        let start = window_start(failure);
        error.span = error.span.map(|s| s.start - start..s.end - start);
    }
    let report = Report::new(Shown { error, source });
    eprintln!("{report:?}");
    ExitCode::FAILURE
}

/// Shows a mistake that has no place in a file.
pub fn plain(error: &SetupError, json: bool) -> ExitCode {
    if json {
        print_json(error, None, None);
        return ExitCode::FAILURE;
    }
    let report = Report::new(Shown { error: SetupError { span: None, ..error.clone() }, source: None });
    eprintln!("{report:?}");
    ExitCode::FAILURE
}

fn print_json(error: &SetupError, file: Option<&str>, place: Option<(usize, usize)>) {
    let object = serde_json::json!({ "error": {
        "message": error.message,
        "file": file,
        "line": place.map(|p| p.0),
        "column": place.map(|p| p.1),
        "label": error.label,
        "help": error.help,
    }});
    crate::text::out!("{object}\n");
}

/// miette counts lines itself, so the text must start at the file's start; long records are cut after the place.
fn window(failure: &FileError) -> String {
    let end = failure.error.span.as_ref().map_or(0, |s| s.end).min(failure.text.len());
    let cut = failure.text[end..].char_indices().filter(|(_, c)| *c == '\n').nth(2);
    let stop = cut.map_or(failure.text.len(), |(at, _)| end + at);
    failure.text[..stop].to_string()
}

fn window_start(_: &FileError) -> usize {
    0
}
