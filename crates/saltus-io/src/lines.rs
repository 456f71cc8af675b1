//! Lines and fields of a text file of numbers, with their places, and mistakes that point at them.

use crate::{FileError, read};
use saltus::{SetupError, Span};
use std::path::Path;

/// A text file that is being read.
pub struct Source {
    /// Its name as the person wrote it.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// One line of it, without the white space around it.
#[derive(Clone, Copy, Default)]
pub struct Line<'a> {
    /// Its number, from 1.
    pub number: u32,
    /// Where its text starts.
    pub start: usize,
    /// What it says.
    pub text: &'a str,
}

impl Source {
    /// Reads a file of at most `limit` bytes.
    pub fn open(path: &Path, what: &str, limit: u64) -> Result<Self, FileError> {
        Ok(Source { name: path.display().to_string(), text: read::text(path, what, limit)? })
    }

    /// A mistake at a place.
    pub fn fail(&self, span: Span, message: impl Into<String>, label: &str, help: &str) -> FileError {
        let error = Box::new(SetupError::new(message).at(span, label).help(help));
        FileError { name: self.name.clone(), text: self.text.clone(), error }
    }

    /// All lines, the empty ones too.
    pub fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        let mut start = 0;
        self.text.split_inclusive('\n').zip(1..).map(move |(line, number)| {
            let body = line.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
            let line = Line { number, start: start + line.len() - body.len(), text: body.trim_end() };
            start = line.start + body.len();
            line
        })
    }

    /// The lines with something on them.
    pub fn written(&self) -> impl Iterator<Item = Line<'_>> {
        self.lines().filter(|line| !line.text.is_empty())
    }
}

impl<'a> Line<'a> {
    /// Where it stands.
    pub fn span(&self) -> Span {
        self.start..self.start + self.text.len()
    }

    /// What stands between blanks and commas, with its place.
    pub fn fields(&self) -> impl Iterator<Item = (Span, &'a str)> + use<'a> {
        let Line { start, text, .. } = *self;
        text.split(|c: char| c.is_whitespace() || c == ',').filter(|field| !field.is_empty()).map(move |field| {
            // A separator may be longer than a byte: the place is where the field lies in the text.
            let at = start + (field.as_ptr().addr() - text.as_ptr().addr());
            (at..at + field.len(), field)
        })
    }
}

/// A number; Fortran writes a `D` before the exponent.
pub fn number(field: &str) -> Option<f64> {
    field.parse().ok().or_else(|| field.replace(['D', 'd'], "e").parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_fields_have_places() {
        let source = Source { name: String::new(), text: "\u{feff} 1, 2 2\r\n\n\u{a0}x\t22,2.".into() };
        let lines: Vec<_> = source.written().collect();
        assert_eq!(lines.iter().map(|l| l.number).collect::<Vec<_>>(), [1, 3]);
        for line in lines {
            assert_eq!(&source.text[line.span()], line.text);
            assert_eq!(line.fields().count(), 3);
            line.fields().for_each(|(span, field)| assert_eq!(&source.text[span], field));
        }
    }

    #[test]
    fn numbers_as_fortran_writes_them() {
        assert_eq!(number("-.5D+03"), Some(-500.0));
        assert_eq!(number("1."), Some(1.0));
        assert_eq!(number("***"), None);
        assert_eq!(number("d"), None);
    }
}
