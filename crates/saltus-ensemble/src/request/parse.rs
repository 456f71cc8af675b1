//! Texts of axes and distributions. Their numbers are expressions, which the model evaluates.

use saltus::SetupError;

/// How these names begin.
pub const NUMBER: &str = "sweep.number.";

/// Expressions with the names under which the model gives their values.
#[derive(Debug, Default)]
pub struct Numbers(pub Vec<(String, String)>);

impl Numbers {
    fn add(&mut self, text: &str) -> String {
        let key = format!("{NUMBER}{}", self.0.len());
        self.0.push((key.clone(), text.trim().to_string()));
        key
    }
}

/// `w=0.5:1.5:500`, `w=log:0.1:10:50` or `e=0.5,0.7,0.9`.
#[derive(Debug)]
pub struct RangeText {
    pub name: String,
    pub is_log: bool,
    pub is_list: bool,
    pub keys: Vec<String>,
}

/// `w=uniform(0.5,1.5)` or `w=normal(1,0.1)`.
#[derive(Debug)]
pub struct VaryText {
    pub name: String,
    pub is_normal: bool,
    pub keys: Vec<String>,
}

/// A text in parts, divided where a character stands outside of all brackets.
fn parts(text: &str, divider: char) -> Vec<&str> {
    let (mut depth, mut from, mut parts) = (0i32, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            c if c == divider && depth == 0 => {
                parts.push(&text[from..at]);
                from = at + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[from..]);
    parts
}

/// A name and what is behind the equals sign.
fn named<'t>(option: &str, text: &'t str, example: &str) -> Result<(String, &'t str), SetupError> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() && !value.trim().is_empty() => {
            Ok((name.trim().to_string(), value.trim()))
        }
        _ => Err(SetupError::new(format!("`{option} {text}` is not of the form NAME=VALUES"))
            .help(format!("such as  {option} {example}"))),
    }
}

impl RangeText {
    pub fn parse(text: &str, numbers: &mut Numbers) -> Result<Self, SetupError> {
        let (name, values) = named("--over", text, "w=0.5:1.5:500")?;
        let (is_log, values) = match values.strip_prefix("log:") {
            Some(rest) => (true, rest),
            None => (false, values),
        };
        let range = parts(values, ':');
        let (is_list, texts) = match (range.len(), is_log) {
            (3, _) => (false, range),
            (1, false) => (true, parts(values, ',')),
            _ => {
                return Err(SetupError::new(format!("`--over {text}` is neither a range nor a list")).help(
                    "a range is from:to:count, w=0.5:1.5:500, or logarithmic, w=log:0.1:10:50; a list is e=0.5,0.7,0.9",
                ));
            }
        };
        if texts.iter().any(|t| t.trim().is_empty()) {
            return Err(SetupError::new(format!("`--over {text}` has an empty value")));
        }
        let keys = texts.into_iter().map(|text| numbers.add(text)).collect();
        Ok(RangeText { name, is_log, is_list, keys })
    }
}

impl VaryText {
    pub fn parse(text: &str, numbers: &mut Numbers) -> Result<Self, SetupError> {
        let example = "\"w=uniform(0.5,1.5)\"";
        let (name, value) = named("--vary", text, example)?;
        let bad = || {
            SetupError::new(format!("`{value}` is not a distribution"))
                .help("there are uniform(low, high) and normal(mean, deviation)")
        };
        let (kind, rest) = value.split_once('(').ok_or_else(bad)?;
        let inside = rest.trim_end().strip_suffix(')').ok_or_else(bad)?;
        let is_normal = match kind.trim() {
            "uniform" => false,
            "normal" => true,
            _ => return Err(bad()),
        };
        match parts(inside, ',').as_slice() {
            [a, b] if !a.trim().is_empty() && !b.trim().is_empty() => {
                Ok(VaryText { name, is_normal, keys: vec![numbers.add(a), numbers.add(b)] })
            }
            _ => Err(bad()),
        }
    }
}
