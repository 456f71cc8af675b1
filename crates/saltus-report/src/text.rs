//! Text of pages and figures: escaping and the formatting of numbers.

/// Escapes text for HTML and XML, in elements and in attributes. Control characters, which XML forbids, become U+FFFD.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// A number with at most `digits` significant digits, without trailing zeros; very small and very large ones in scientific
/// notation.
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
    decimals(x, (digits as i32 - 1 - magnitude).max(0) as usize)
}

/// A number with at most `places` decimal places, without trailing zeros.
pub fn decimals(x: f64, places: usize) -> String {
    match trimmed(&format!("{x:.places$}")) {
        "-0" => "0".into(),
        text => text.into(),
    }
}

/// A decimal number without trailing zeros.
fn trimmed(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// An integer with its thousands separated by thin spaces.
pub fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) && digits.len() > 4 {
            text.push('\u{202f}');
        }
        text.push(c);
    }
    text
}

/// `1 impact`, `2 impacts`.
pub fn count(n: usize, word: &str) -> String {
    format!("{} {word}{}", grouped(n), if n == 1 { "" } else { "s" })
}

/// A name with its unit, if it has one: `y (m)`.
pub fn with_unit(name: &str, unit: &str) -> String {
    if unit.is_empty() { name.to_string() } else { format!("{name} ({unit})") }
}

/// A value with its unit, if it has one: `2.5 m`.
pub fn quantity(value: &str, unit: &str) -> String {
    if unit.is_empty() { value.to_string() } else { format!("{value} {unit}") }
}

/// The unit of a quotient; empty unless both units are known.
pub fn quotient(unit: &str, per: &str) -> String {
    if unit.is_empty() || per.is_empty() { String::new() } else { format!("{unit}/{per}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_and_control_characters_are_escaped() {
        assert_eq!(escape("<script>alert('x')</script>"), "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;");
        assert_eq!(escape("a\u{0}b\n\"&\u{ffff}"), "a\u{fffd}b\n&quot;&amp;\u{fffd}");
    }

    #[test]
    fn numbers_are_short() {
        let numbers = [0.0, 1.0, -0.5, 1234.5678, 1e7, 2.5e-5, 1e-300].map(|x| number(x, 4));
        assert_eq!(numbers, ["0", "1", "-0.5", "1235", "1e7", "2.5e-5", "1e-300"]);
        assert_eq!([12.0, -0.001, 0.126, 100.0].map(|x| decimals(x, 2)), ["12", "0", "0.13", "100"]);
        assert_eq!([999, 1234, 12_345].map(grouped), ["999", "1234", "12\u{202f}345"]);
    }
}
