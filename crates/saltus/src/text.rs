//! Numbers and counts as people read them; one wording for summaries, verdicts and pages.

/// A number with about `digits` significant digits, in plain notation where that is readable.
///
/// ```
/// use saltus::text::number;
/// assert_eq!(number(0.451_523_640_9, 6), "0.451524");
/// assert_eq!(number(1.5e-9, 3), "1.5e-9");
/// assert_eq!(number(12345678.9, 3), "1.23e7");
/// ```
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
        return format!("{}e{exponent}", trimmed(mantissa));
    }
    let decimals = (digits as i32 - 1 - magnitude).max(0) as usize;
    trimmed(&format!("{x:.decimals$}")).to_string()
}

/// A number with all its digits, in plain notation where that is readable.
///
/// ```
/// use saltus::text::exact;
/// assert_eq!((exact(0.1 + 0.2), exact(1500.0)), ("0.30000000000000004".into(), "1500".into()));
/// assert_eq!((exact(-1e-300), exact(5.99e292)), ("-1e-300".into(), "5.99e292".into()));
/// ```
pub fn exact(x: f64) -> String {
    match x == 0.0 || !x.is_finite() || (1e-5..1e16).contains(&x.abs()) {
        true => x.to_string(),
        false => format!("{x:e}"),
    }
}

/// A decimal number without trailing zeros after the point.
pub fn trimmed(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// `1 impact`, `2 impacts`; thousands are set apart.
///
/// ```
/// use saltus::text::count;
/// assert_eq!((count(1, "impact"), count(12345, "impact")), ("1 impact".into(), "12 345 impacts".into()));
/// ```
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

/// An amount of memory.
///
/// ```
/// assert_eq!(saltus::text::gib(5.0e9), "4.7 GiB");
/// ```
pub fn gib(bytes: f64) -> String {
    format!("{:.1} GiB", bytes / (1u64 << 30) as f64)
}
