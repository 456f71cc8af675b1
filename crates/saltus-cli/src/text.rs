//! Numbers and words for people.

use std::sync::atomic::{AtomicBool, Ordering};

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

/// Takes note of how a print went.
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

/// Text from a model on one line and without control characters, so that it cannot play with the terminal.
pub fn tame(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// A number with about `digits` significant digits, in plain notation where that is readable.
pub fn number(x: f64, digits: usize) -> String {
    if x == 0.0 {
        return "0".into();
    }
    if !x.is_finite() {
        return x.to_string();
    }
    let magnitude = x.abs().log10().floor() as i32;
    if !(-4..7).contains(&magnitude) {
        let text = format!("{x:.*e}", digits.saturating_sub(1));
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{exponent}", trim(mantissa));
    }
    let decimals = (digits as i32 - 1 - magnitude).max(0) as usize;
    trim(&format!("{x:.decimals$}")).to_string()
}

/// Without trailing zeros after the point.
fn trim(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// A duration in the unit a person would use.
pub fn duration(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s < 1e-6 => (s * 1e9, "ns"),
        s if s < 1e-3 => (s * 1e6, "µs"),
        s if s < 1.0 => (s * 1e3, "ms"),
        s => (s, "s"),
    };
    format!("{} {unit}", number(value, 3))
}

/// `1 impact`, `2 impacts`; thousands are set apart.
pub fn count(n: u64, word: &str) -> String {
    format!("{} {word}{}", grouped(n), if n == 1 { "" } else { "s" })
}

/// A whole number with its thousands set apart.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) && digits.len() > 4 {
            text.push(' ');
        }
        text.push(c);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(number(0.451_523_640_9, 6), "0.451524");
        assert_eq!(number(-4.0, 6), "-4");
        assert_eq!(number(1e-9, 3), "1e-9");
        assert_eq!(number(1.5e-9, 3), "1.5e-9");
        assert_eq!(number(1234567.8, 3), "1234568");
        assert_eq!(number(12345678.9, 3), "1.23e7");
        assert_eq!(number(100.0, 3), "100");
        assert_eq!(duration(0.000_123), "123 µs");
        assert_eq!(count(1, "impact"), "1 impact");
        assert_eq!(grouped(1234567), "1 234 567");
        assert_eq!(grouped(3000), "3000");
    }
}
