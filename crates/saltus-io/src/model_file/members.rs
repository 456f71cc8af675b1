//! Families that are written out: `for = "i = 1..4"` with `{i}` in a name, which is then `s1`, `s2`, ….

use super::tree::{self, Value};
use super::{Failure, get};
use saltus::model::Text;
use saltus::{SetupError, Span};
use toml::de::{DeTable, DeValue};

/// More members than this are a mistake.
const MOST: i64 = 100_000;

/// One member of a family: `{i}` in its texts is a number. Without a family, texts are what they are.
#[derive(Clone, Debug, Default)]
pub(super) struct Member {
    /// The index, as `{i}`, its number, and the place of the range.
    index: Option<(String, i64, Span)>,
}

impl Member {
    /// The members of a table, written out where a text of it, or its name, has `{i}` in it.
    pub fn all(table: &DeTable, name: &str) -> Result<Vec<Member>, Failure> {
        let Some(range) = get(table, "for") else { return Ok(vec![Member::default()]) };
        let text = tree::string(range, "a range")?;
        let index = text.split('=').next().unwrap_or_default().trim().to_string();
        let mark = format!("{{{index}}}");
        if !name.contains(&mark) && !table.iter().any(|(_, value)| mentions(value, &mark)) {
            return Ok(vec![Member::default()]);
        }
        let ends = text.split_once('=').and_then(|(_, ends)| ends.split_once(".."));
        let number = |text: &str| text.trim().parse::<i64>().ok();
        let Some((from, to)) = ends.and_then(|(from, to)| Some((number(from)?, number(to)?))) else {
            return Err(SetupError::new(format!("with `{mark}` in a name the range must be two whole numbers"))
                .at(range.span(), "not known when names are made")
                .help(format!("such as  for = \"{index} = 1..4\""))
                .into());
        };
        if !(from <= to && to - from < MOST) {
            return Err(SetupError::new(format!("the range from {from} to {to} is empty or too long"))
                .at(range.span(), "no family")
                .into());
        }
        Ok((from..=to).map(|i| Member { index: Some((mark.clone(), i, range.span())) }).collect())
    }

    /// Whether it belongs to a family that is written out.
    pub fn is_one(&self) -> bool {
        self.index.is_some()
    }

    /// A text with the number in it.
    pub fn fill(&self, text: &str) -> String {
        match &self.index {
            Some((mark, i, _)) => text.replace(mark, &i.to_string()),
            None => text.to_string(),
        }
    }

    /// The same for a text with its place.
    pub fn filled(&self, text: Text) -> Text {
        Text { text: self.fill(&text.text), span: text.span }
    }

    /// The name of a member: with its number, at `{i}` or, where the name has none, in brackets.
    pub fn name(&self, name: &str) -> String {
        match &self.index {
            Some((mark, i, _)) if !name.contains(mark) => format!("{name}[{i}]"),
            _ => self.fill(name),
        }
    }
}

fn mentions(value: &Value, mark: &str) -> bool {
    match value.get_ref() {
        DeValue::String(text) => text.contains(mark),
        DeValue::Array(list) => list.iter().any(|value| mentions(value, mark)),
        DeValue::Table(table) => table.iter().any(|(_, value)| mentions(value, mark)),
        _ => false,
    }
}
