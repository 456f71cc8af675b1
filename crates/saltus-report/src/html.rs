//! Text into HTML: everything a person wrote is escaped here, and nowhere else is a text put into a page.

use std::fmt::Write;

/// A text as HTML shows it, letter by letter.
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
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// A number with about `digits` significant digits, in plain notation where that is readable.
pub fn number(x: f64, digits: usize) -> String {
    if x == 0.0 {
        return "0".into();
    }
    if !x.is_finite() {
        return x.to_string();
    }
    let trim = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text.to_string(),
    };
    let magnitude = x.abs().log10().floor() as i32;
    if !(-4..7).contains(&magnitude) {
        let text = format!("{x:.*e}", digits.saturating_sub(1));
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{exponent}", trim(mantissa));
    }
    trim(&format!("{x:.*}", (digits as i32 - 1 - magnitude).max(0) as usize))
}

/// A whole number with its thousands set apart by thin spaces.
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

/// A name with its unit, where it has one.
pub fn with_unit(name: &str, unit: &str) -> String {
    if unit.is_empty() { name.to_string() } else { format!("{name} ({unit})") }
}

/// A cell of a table: what is shown and, for numbers, what it is sorted by.
#[derive(Clone, Debug)]
pub struct Cell {
    text: String,
    key: Option<f64>,
}

impl Cell {
    /// A number with some digits; sorted by all of them.
    pub fn number(x: f64, digits: usize) -> Self {
        Cell { text: number(x, digits), key: Some(x) }
    }

    /// A whole number.
    pub fn count(n: usize) -> Self {
        Cell { text: grouped(n), key: Some(n as f64) }
    }

    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Cell { text: text.into(), key: None }
    }
}

/// A table; one that can be sorted is by clicking on its headers.
pub fn table(id: &str, heads: &[String], rows: impl Iterator<Item = Vec<Cell>>, sortable: bool) -> String {
    let mut out = String::new();
    let class = if sortable { "sortable" } else { "plain" };
    let _ = write!(out, "<div class=\"scroll\"><table id=\"{id}\" class=\"{class}\"><thead><tr>");
    for head in heads {
        let _ = match sortable {
            true => write!(out, "<th><button type=\"button\">{}</button></th>", escape(head)),
            false => write!(out, "<th>{}</th>", escape(head)),
        };
    }
    out.push_str("</tr></thead><tbody>\n");
    for row in rows {
        out.push_str("<tr>");
        for cell in row {
            let _ = match cell.key {
                Some(key) => write!(out, "<td data-v=\"{key:?}\">{}</td>", cell.text),
                None => write!(out, "<td>{}</td>", escape(&cell.text)),
            };
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_gets_out_of_its_place() {
        assert_eq!(escape("<script>alert('x')</script>"), "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;");
        let shown = table("t", &["<b>".into()], std::iter::once(vec![Cell::text("<i>"), Cell::number(0.5, 3)]), true);
        assert!(!shown.contains("<b>") && !shown.contains("<i>") && shown.contains("data-v=\"0.5\""));
    }
}
