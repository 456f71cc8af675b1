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
    ///
    /// A file that is something else altogether (a wrong path in a model of somebody else's) is not shown: only where
    /// the mistake is.
    pub fn fail(&self, span: Span, message: impl Into<String>, label: &str, help: &str) -> FileError {
        let message = message.into();
        if !looks_like_data(&self.text) {
            let line = self.text.get(..span.start).map_or(0, |before| before.matches('\n').count()) + 1;
            let message = unquoted(&message, self.text.get(span).unwrap_or_default());
            return FileError::whole(
                &self.name,
                SetupError::new(format!("`{}`, line {line}: {message}", self.name)).help(help),
            );
        }
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

/// A message without what it quotes from the file.
fn unquoted(message: &str, text: &str) -> String {
    let parts: Vec<&str> = message.split('`').collect();
    let from_file =
        |k: usize, part: &str| k % 2 == 1 && !part.is_empty() && text.to_uppercase().contains(&part.to_uppercase());
    let kept = parts.iter().enumerate().map(|(k, part)| if from_file(k, part) { "…" } else { part });
    kept.collect::<Vec<_>>().join("`")
}

/// Whether a text is a file of numbers, perhaps with mistakes: it has a header of such a file, or about half of its lines,
/// comments left out, are numbers.
pub fn looks_like_data(text: &str) -> bool {
    const HEADERS: [&str; 6] = ["%%matrixmarket", "accel", "velocity", "displacement", "npts", "*matrix"];
    let head: String = text.chars().take(2_000).collect::<String>().to_ascii_lowercase();
    if head.starts_with("**") || HEADERS.iter().any(|header| head.contains(header)) {
        return true;
    }
    let is_written = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with(['#', '%', '*']);
    let is_number = |field: &str| number(field.trim_matches('"')).is_some();
    let of_numbers = |line: &str| {
        let mut fields =
            line.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';')).filter(|f| !f.is_empty()).peekable();
        fields.peek().is_some() && fields.all(is_number)
    };
    let (mut lines, mut numbers) = (0, 0);
    for line in text.trim_start_matches('\u{feff}').lines().filter(is_written).take(200) {
        lines += 1;
        numbers += usize::from(of_numbers(line));
    }
    // A short file of a header and a line with a mistake is one, too, if there is a number in it.
    2 * numbers + 2 >= lines && (numbers > 0 || text.split(|c: char| c.is_whitespace() || c == ',').any(is_number))
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
    fn a_file_that_is_no_data_is_not_shown() {
        let secret = "root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1::/usr/sbin:/bin/false\n";
        assert!(!looks_like_data(secret) && !looks_like_data("key = \"hunter2\"\n"));
        for data in
            ["t,y\n0,1\n1,x\n", "1 2\n3 4 5\n", "# by hand\n0;1\n", "%%MatrixMarket matrix\nx", "0, one\n1, 2\n"]
        {
            assert!(looks_like_data(data), "{data}");
        }
        let source = Source { name: "passwd".into(), text: secret.into() };
        let error = source.fail(0..31, "this is `root:x:0:0:root:/root:/bin/bash`, no number", "here", "");
        assert!(error.text.is_empty() && error.error.span.is_none());
        assert!(!error.error.message.contains("root") && error.error.message.contains("line 1"), "{}", error.error);
    }

    #[test]
    fn numbers_as_fortran_writes_them() {
        assert_eq!(number("-.5D+03"), Some(-500.0));
        assert_eq!(number("1."), Some(1.0));
        assert_eq!(number("***"), None);
        assert_eq!(number("d"), None);
    }
}
