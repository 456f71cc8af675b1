//! Text of pages and figures: escaping and the formatting of numbers.

pub use saltus::text::number;

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

/// Escapes text for figures: plotly reads tags and a few entities in its labels, those of quotes not among them.
pub fn label(text: &str) -> String {
    escape(text).replace("&quot;", "\"").replace("&#39;", "'")
}

/// A number with at most `places` decimal places, without trailing zeros.
pub fn decimals(x: f64, places: usize) -> String {
    match saltus::text::trimmed(&format!("{x:.places$}")) {
        "-0" => "0".into(),
        text => text.into(),
    }
}

/// An integer with its thousands separated by thin spaces, at which no line is broken.
pub fn grouped(n: usize) -> String {
    saltus::text::grouped(n as u64).replace(' ', "\u{202f}")
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
        assert_eq!(label("the \"big\" <b>ball's</b> & co"), "the \"big\" &lt;b&gt;ball's&lt;/b&gt; &amp; co");
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
