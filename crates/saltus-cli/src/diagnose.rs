//! Showing a mistake: what, where in the file, why, what to do.

use crate::text::{printable, turns};
use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteDiagnostic, NamedSource, Report};
use saltus::{SetupError, Span};
use saltus_io::FileError;
use std::process::ExitCode;

/// Shows a mistake in a file and gives the exit code for it.
pub fn file(failure: &FileError, json: bool) -> ExitCode {
    if json {
        let place = failure.line_column();
        print_json(&failure.error, Some(&failure.name), place);
        return ExitCode::FAILURE;
    }
    crate::text::mutter(&format!("{:?}", of_file(failure)));
    ExitCode::FAILURE
}

/// The report on a mistake in a file.
fn of_file(failure: &FileError) -> Report {
    let mut error = SetupError::clone(&failure.error);
    let place = error.span.clone().filter(|_| !failure.text.is_empty());
    let source = place.map(|span| {
        let (text, span) = excerpt(&failure.text, &span);
        error.span = Some(span);
        NamedSource::new(printable(&failure.name), text)
    });
    report(error, source)
}

/// The text that is shown for a mistake in a file, without colours.
pub fn shown(failure: &FileError) -> String {
    let mut text = String::new();
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor()).with_width(100);
    match handler.render_report(&mut text, of_file(failure).as_ref()) {
        Ok(()) => text.trim_end().to_string(),
        Err(_) => failure.error.message.clone(),
    }
}

/// A report, with messages of a bearable length.
fn report(mut error: SetupError, source: Option<NamedSource<String>>) -> Report {
    let short = |text: &str| match text.char_indices().nth(600) {
        Some((at, _)) => format!("{}…", printable(&text[..at])),
        None => printable(text),
    };
    error.message = short(&error.message);
    error.label = short(&error.label);
    error.help = error.help.as_deref().map(|h| h.lines().map(short).collect::<Vec<_>>().join("\n"));
    let mut shown = MietteDiagnostic::new(error.message);
    shown.help = error.help;
    match (source, error.span) {
        (Some(source), Some(span)) => {
            // A marker needs a width: an empty place is shown as one character.
            let label = LabeledSpan::new(Some(error.label), span.start, span.len().max(1));
            Report::new(shown.with_label(label)).with_source_code(source)
        }
        _ => Report::new(shown),
    }
}

/// Shows a mistake that has no place in a file.
pub fn plain(error: &SetupError, json: bool) -> ExitCode {
    if json {
        print_json(error, None, None);
        return ExitCode::FAILURE;
    }
    crate::text::mutter(&format!("{:?}", report(error.clone().without_place(), None)));
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
    crate::text::print_json(&object);
}

/// The lines around a place, with as many empty lines before them as keep the line numbers right. Control characters are
/// shown as marks of the same length, and a long line is cut around the place.
fn excerpt(text: &str, span: &Span) -> (String, Span) {
    let boundary = |mut at: usize| {
        at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let (mut start, mut end) = (boundary(span.start), boundary(span.end.max(span.start)));
    // A place at the very end has nothing under it to mark.
    if start == text.len() {
        start = text.trim_end().char_indices().next_back().map_or(0, |(at, _)| at);
        end = text.len();
    }
    let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let line_end = text[end..].find('\n').map_or(text.len(), |at| end + at);
    let (from, to) = match line_end - line_start > WIDE {
        true => (
            boundary(start.saturating_sub(WIDE / 4).max(line_start)),
            boundary((end.min(start + WIDE) + WIDE / 4).min(line_end)),
        ),
        false => {
            let two_before = text[..line_start].rmatch_indices('\n').nth(2).map_or(0, |(at, _)| at + 1);
            let one_after = text[line_end..].match_indices('\n').nth(1).map_or(text.len(), |(at, _)| line_end + at);
            (two_before, one_after)
        }
    };
    let mut shown = "\n".repeat(text[..from].matches('\n').count());
    let offset = shown.len();
    for c in text[from..to].chars() {
        match (c, c.len_utf8()) {
            ('\n' | '\t', _) => shown.push(c),
            (c, 1) if c.is_control() => shown.push('?'),
            (c, 2) if c.is_control() || turns(c) => shown.push('\u{b7}'),
            (c, 3) if turns(c) => shown.push('\u{fffd}'),
            (c, _) => shown.push(c),
        }
    }
    let end = end.min(to).max(start);
    (shown, start - from + offset..end - from + offset)
}

/// Lines longer than this are cut around the place.
const WIDE: usize = 400;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpts_keep_the_place_and_the_line_number() {
        let text = "a\nb\nc\nd\ne = \"zz\"\nf\ng\nh";
        let at = text.find("zz").expect("there");
        let (shown, span) = excerpt(text, &(at..at + 2));
        assert_eq!(&shown[span.clone()], "zz");
        assert_eq!(shown[..span.start].matches('\n').count(), 4);
        let long = format!("x\n{}é\u{1b}zz{}", "é".repeat(100_000), "y".repeat(100_000));
        let at = long.find("zz").expect("there");
        let (shown, span) = excerpt(&long, &(at..at + 2));
        assert_eq!((&shown[span.clone()], shown[..span.start].matches('\n').count()), ("zz", 1));
        assert!(shown.len() < 1000 && !shown.contains('\u{1b}'));
        // Places inside a character or beyond the end are moved, not a reason to fall over.
        for span in [0..1, 3..4, 5..900, 900..901] {
            let (shown, span) = excerpt("éé\né", &span);
            assert!(shown.get(span).is_some());
        }
    }
}
