//! Reading a TOML tree with places: which keys are allowed, and what a value must be.

use super::hints;
use saltus::model::{Name, Text, Values};
use saltus::{SetupError, Span};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub type Key<'a> = Spanned<std::borrow::Cow<'a, str>>;
pub type Value<'a> = Spanned<DeValue<'a>>;

/// Entries in the order of the file.
pub fn entries<'a, 't>(table: &'t DeTable<'a>) -> Vec<(&'t Key<'a>, &'t Value<'a>)> {
    let mut all: Vec<_> = table.iter().collect();
    all.sort_by_key(|(key, _)| key.span().start);
    all
}

/// Rejects keys that are not in the list, suggesting the nearest one that is.
pub fn only(table: &DeTable, place: &str, allowed: &[&str]) -> Result<(), SetupError> {
    for (key, _) in entries(table) {
        let name: &str = key.get_ref();
        if !allowed.contains(&name) {
            let message = format!("unknown key `{name}` in {place}");
            let error = SetupError::unknown(message, name, allowed.iter().copied(), "known here");
            let error = match hints::key(name, allowed) {
                Some(hint) => error.help(hint),
                None => error,
            };
            return Err(error.at(key.span(), "not known"));
        }
    }
    Ok(())
}

/// The table behind a value.
pub fn table<'a, 't>(value: &'t Value<'a>, what: &str, example: &str) -> Result<&'t DeTable<'a>, SetupError> {
    value.get_ref().as_table().ok_or_else(|| {
        SetupError::new(format!("{what} must be a table, not {}", kind(value)))
            .at(value.span(), "a table is needed here")
            .help(format!("such as  {example}"))
    })
}

/// The entries of a list; anything else counts as one.
pub fn list<'a, 't>(value: &'t Value<'a>) -> Vec<&'t Value<'a>> {
    value.get_ref().as_array().map_or_else(|| vec![value], |list| list.iter().collect())
}

/// The sections `[[…]]` of one kind; a single table counts as one.
pub fn sections<'a, 't>(value: &'t Value<'a>, rule: &str, example: &str) -> Result<Vec<&'t Value<'a>>, SetupError> {
    match value.get_ref() {
        DeValue::Array(_) | DeValue::Table(_) => Ok(list(value)),
        _ => {
            let error = SetupError::new(rule).at(value.span(), "not a section");
            Err(if example.is_empty() { error } else { error.help(format!("such as  {example}")) })
        }
    }
}

/// One of the words that name the members of a list.
pub fn one_of<T: Copy>(value: &Value, what: &str, all: &[T], name: fn(T) -> &'static str) -> Result<T, SetupError> {
    let word = string(value, &format!("a {what}"))?;
    all.iter().copied().find(|&one| name(one) == word).ok_or_else(|| {
        let known = all.iter().map(|&one| name(one));
        SetupError::unknown(format!("unknown {what} `{word}`"), &word, known, "there are").at(value.span(), "not known")
    })
}

/// A name that is the value of a key.
pub fn named(value: &Value, what: &str) -> Result<Name, SetupError> {
    Ok(Name { text: string(value, what)?, span: value.span() })
}

/// A plain string.
pub fn string(value: &Value, what: &str) -> Result<String, SetupError> {
    value.get_ref().as_str().map(str::to_string).ok_or_else(|| {
        SetupError::new(format!("{what} must be a text in quotes, not {}", kind(value)))
            .at(value.span(), "a text is needed here")
    })
}

/// A number or an expression in quotes.
pub fn text(source: &str, value: &Value, what: &str) -> Result<Text, SetupError> {
    match value.get_ref() {
        DeValue::String(s) => match hints::with_unit(s) {
            Some((number, unit)) => {
                Err(SetupError::new(format!("{what} has a unit, `{unit}`, which expressions do not have"))
                    .at(value.span(), "a number with a unit")
                    .help(format!(
                        "write  {number}  in the units of the model; [units] and `unit =` only label results"
                    )))
            }
            None => Ok(Text { text: s.to_string(), span: inside(source, s, value.span()) }),
        },
        DeValue::Integer(n) => match i128::from_str_radix(n.as_str(), n.radix()) {
            Ok(n) => Ok(Text { text: n.to_string(), span: value.span() }),
            Err(_) => Err(SetupError::new(format!("{what} is too large a number")).at(value.span(), "too large")),
        },
        DeValue::Float(x) => match x.as_str().parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Text { text: format!("{number:?}"), span: value.span() }),
            _ => Err(SetupError::new(format!("{what} must be a finite number")).at(value.span(), "not finite")),
        },
        _ => Err(SetupError::new(format!("{what} must be a number or an expression in quotes, not {}", kind(value)))
            .at(value.span(), "a number or an expression is needed here")),
    }
}

/// One expression or a list of them.
pub fn values(source: &str, value: &Value, what: &str) -> Result<Values, SetupError> {
    match value.get_ref().as_array() {
        Some(list) => {
            let texts = list.iter().map(|v| text(source, v, what)).collect::<Result<_, _>>()?;
            Ok(Values::Each(texts, value.span()))
        }
        None => Ok(Values::One(text(source, value, what)?)),
    }
}

pub fn name(key: &Key) -> Name {
    Name { text: key.get_ref().to_string(), span: key.span() }
}

/// The text of a quoted key or value without its quotes, where the file has it letter by letter; with escapes in it,
/// the whole value is the best place there is.
pub fn inside(source: &str, text: &str, span: Span) -> Span {
    let raw = source.get(span.clone()).unwrap_or("");
    match raw.find(text) {
        Some(at) if !text.is_empty() => span.start + at..span.start + at + text.len(),
        _ => span,
    }
}

pub fn kind(value: &Value) -> &'static str {
    match value.get_ref() {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// A plain number, whole or not.
pub fn float(value: &Value) -> Option<f64> {
    let digits = |text: &str| text.replace('_', "").parse::<f64>().ok();
    match value.get_ref() {
        DeValue::Float(x) => digits(x.as_str()),
        DeValue::Integer(i) if i.radix() == 10 => digits(i.as_str()),
        _ => None,
    }
}
