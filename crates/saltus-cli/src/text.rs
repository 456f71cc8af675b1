//! Printing for people.

use anstyle::{AnsiColor, Color, Style};
pub use saltus::text::{count, duration, grouped, number};
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
    ($($arg:tt)*) => {{
        use std::io::Write;
        $crate::text::printed(write!(anstream::stdout(), $($arg)*));
    }};
}
pub(crate) use out;

/// Remembers a print that failed.
pub fn printed(result: std::io::Result<()>) {
    if let Err(e) = result
        && e.kind() != std::io::ErrorKind::BrokenPipe
        && !LOST.swap(true, Ordering::SeqCst)
    {
        eprintln!("cannot write to standard output: {e}");
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
    let invisible =
        |c: char| c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c) || ('\u{2066}'..='\u{2069}').contains(&c);
    text.chars().map(|c| if invisible(c) { '\u{fffd}' } else { c }).collect()
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
