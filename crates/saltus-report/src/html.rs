//! Tables as HTML. All text is escaped here.

use crate::text::{escape, grouped, number};
use std::fmt::Write;

/// A cell of a table: its text and, for a number, the value it is sorted by.
#[derive(Clone, Debug)]
pub struct Cell {
    text: String,
    key: Option<f64>,
}

impl Cell {
    /// A number shown with some digits, sorted by its full value.
    pub fn number(x: f64, digits: usize) -> Self {
        Cell { text: number(x, digits), key: Some(x) }
    }

    /// An integer.
    pub fn count(n: usize) -> Self {
        Cell { text: grouped(n), key: Some(n as f64) }
    }

    /// Text.
    pub fn text(text: impl Into<String>) -> Self {
        Cell { text: text.into(), key: None }
    }
}

/// A table; a click on a column header of a sortable one sorts it.
pub fn table(id: &str, heads: &[impl AsRef<str>], rows: impl Iterator<Item = Vec<Cell>>, sortable: bool) -> String {
    let mut out = String::new();
    let class = if sortable { "sortable" } else { "plain" };
    let _ = write!(out, "<div class=\"scroll\"><table id=\"{id}\" class=\"{class}\"><thead><tr>");
    for head in heads {
        let _ = match sortable {
            true => write!(out, "<th><button type=\"button\">{}</button></th>", escape(head.as_ref())),
            false => write!(out, "<th>{}</th>", escape(head.as_ref())),
        };
    }
    out.push_str("</tr></thead><tbody>\n");
    for row in rows {
        out.push_str("<tr>");
        for cell in row {
            let text = escape(&cell.text);
            let _ = match cell.key {
                Some(key) => write!(out, "<td data-v=\"{key:?}\">{text}</td>"),
                None => write!(out, "<td>{text}</td>"),
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
    fn text_in_tables_is_escaped() {
        let row = vec![Cell::text("<i>"), Cell::number(0.5, 3)];
        let html = table("t", &["<b>"], std::iter::once(row), true);
        assert!(!html.contains("<b>") && !html.contains("<i>") && html.contains("data-v=\"0.5\""));
    }
}
