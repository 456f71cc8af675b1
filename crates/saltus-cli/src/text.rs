//! Printing for people.

use anstyle::{AnsiColor, Color, Style};
pub use saltus::text::{count, duration, grouped, number};
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};

pub const BOLD: Style = Style::new().bold();
pub const DIM: Style = Style::new().dimmed();
pub const GREEN: Style = colored(AnsiColor::Green);
pub const YELLOW: Style = colored(AnsiColor::Yellow);
pub const RED: Style = colored(AnsiColor::Red);
pub const CYAN: Style = colored(AnsiColor::Cyan);

const fn colored(color: AnsiColor) -> Style {
    Style::new().fg_color(Some(Color::Ansi(color)))
}

/// Standard output could not be written to.
static LOST: AtomicBool = AtomicBool::new(false);

/// Prints to standard output. A reader that goes away (`saltus … | head`) is no mistake; a full disk is, and shows in the
/// exit code (see [`is_output_lost`]).
macro_rules! out {
    ($($arg:tt)*) => {
        $crate::text::emit(&$crate::text::harmless(&format!($($arg)*)))
    };
}
pub(crate) use out;

thread_local! {
    /// What this thread prints, for a caller that wants it instead of standard output.
    static KEPT: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Prints, or keeps for the caller.
pub fn emit(text: &str) {
    use std::io::Write;
    let is_kept = KEPT.with_borrow_mut(|kept| kept.as_mut().map(|kept| kept.push_str(text)).is_some());
    if !is_kept {
        printed(anstream::stdout().write_all(text.as_bytes()));
    }
}

/// Says something on standard error, unless a caller keeps what is printed: the answer has it too.
pub fn complain(text: &str) {
    if KEPT.with_borrow(Option::is_none) {
        mutter(text);
    }
}

/// Writes a line on standard error; where nobody reads it, nothing happens.
pub fn mutter(text: &str) {
    use std::io::Write;
    let _ = writeln!(anstream::stderr(), "{text}");
}

/// Keeps what this thread prints while something is done.
pub fn keeping<T>(act: impl FnOnce() -> T) -> (T, String) {
    let before = KEPT.replace(Some(String::new()));
    let done = act();
    (done, KEPT.replace(before).unwrap_or_default())
}

/// Remembers a print that failed.
pub fn printed(result: std::io::Result<()>) {
    if let Err(e) = result
        && e.kind() != std::io::ErrorKind::BrokenPipe
        && !LOST.swap(true, Ordering::SeqCst)
    {
        mutter(&format!("cannot write to standard output: {e}"));
    }
}

/// Whether something could not be printed.
pub fn is_output_lost() -> bool {
    use std::io::Write;
    printed(std::io::stdout().flush());
    LOST.load(Ordering::SeqCst)
}

/// Text from a model on one line and without control or direction marks, so that it cannot manipulate the terminal.
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || turns(c) { '\u{fffd}' } else { c }).collect()
}

/// Characters that are not seen and change the order or the place of those that are.
pub fn turns(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
}

/// What is printed, whatever names are in it: no marks of direction, and no control characters but line ends and the styles
/// that the program itself sets.
pub fn harmless(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let style = rest.strip_prefix("\u{1b}[").and_then(|r| {
            let end = r.find(|c: char| !(c.is_ascii_digit() || c == ';'))?;
            r[end..].starts_with('m').then_some(2 + end + 1)
        });
        let length = style.unwrap_or(c.len_utf8());
        match c {
            _ if style.is_some() => out.push_str(&rest[..length]),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || turns(c) => out.push('\u{fffd}'),
            c => out.push(c),
        }
        rest = &rest[length..];
    }
    out
}

/// Prints a JSON object on one line; marks of direction, which JSON allows in its texts, are escaped.
pub fn print_json(object: &serde_json::Value) {
    let mut out = String::new();
    for c in object.to_string().chars() {
        match turns(c) || ('\u{7f}'..='\u{9f}').contains(&c) {
            true => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            false => out.push(c),
        }
    }
    out!("{out}\n");
}

/// Breaks a text into lines of about `width` characters; further lines are indented.
pub fn wrapped(text: &str, indent: usize, width: usize) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.len() - 1;
        if lines[last].chars().count() + word.chars().count() > width - indent && !lines[last].is_empty() {
            lines.push(word.to_string());
        } else {
            if !lines[last].is_empty() {
                lines[last].push(' ');
            }
            lines[last].push_str(word);
        }
    }
    lines.join(&format!("\n{}", " ".repeat(indent)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_manipulates_the_terminal() {
        assert_eq!(
            printable("a\u{202e}b\u{1b}]0;x\u{7}\nc\u{200f}"),
            "a\u{fffd}b\u{fffd}]0;x\u{fffd}\u{fffd}c\u{fffd}"
        );
        assert_eq!(
            harmless("\u{1b}[1mtitle\u{1b}[0m\n\u{1b}[2J\u{2067}x\r"),
            "\u{1b}[1mtitle\u{1b}[0m\n\u{fffd}[2J\u{fffd}x\u{fffd}"
        );
        assert_eq!(harmless("λ ≥ 0 → é … 12\u{202f}345"), "λ ≥ 0 → é … 12\u{202f}345");
    }
}
