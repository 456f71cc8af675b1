//! Settings: declared by the schemes that own them, checked in one place.

use crate::{Kind, SetupError};

/// A setting as a scheme declares it.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Its name in model files and in `run.json`.
    pub name: &'static str,
    /// What it means, in a sentence.
    pub meaning: &'static str,
    /// What values it can have.
    pub domain: Domain,
}

/// The values a setting can have, and its default.
#[derive(Clone, Copy, Debug)]
pub enum Domain {
    /// A number in a closed interval.
    Number {
        /// The smallest value allowed.
        from: f64,
        /// The largest value allowed.
        to: f64,
        /// The value where none is given; None: one must be given.
        default: Option<f64>,
    },
    /// One of several words; the default is the first that suits the system.
    Choice(&'static [Choice]),
}

/// One value of a setting that is a choice.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// Its name.
    pub name: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// For which systems it exists.
    pub systems: Systems,
}

/// Kinds of systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Systems {
    /// Models of expressions.
    Models,
    /// Structures.
    Structures,
}

impl Systems {
    /// The kind in words.
    pub fn name(self) -> &'static str {
        match self {
            Systems::Models => "models of expressions",
            Systems::Structures => "structures",
        }
    }
}

/// A value of a setting.
#[derive(Clone, Debug, PartialEq)]
pub enum SettingValue {
    /// A number.
    Number(f64),
    /// A word.
    Word(String),
}

impl From<f64> for SettingValue {
    fn from(number: f64) -> Self {
        SettingValue::Number(number)
    }
}

impl From<&str> for SettingValue {
    fn from(word: &str) -> Self {
        SettingValue::Word(word.to_string())
    }
}

impl std::fmt::Display for SettingValue {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            SettingValue::Number(x) => write!(f, "{x:?}"),
            SettingValue::Word(word) => f.write_str(word),
        }
    }
}

/// The settings given for a run; what is not given has its default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    values: Vec<(String, SettingValue)>,
}

impl Settings {
    /// No setting given.
    pub fn new() -> Self {
        Settings::default()
    }

    /// Gives a setting.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<SettingValue>) -> Self {
        self.set(name, value);
        self
    }

    /// Gives a setting, in the place of an earlier value.
    pub fn set(&mut self, name: &str, value: impl Into<SettingValue>) {
        self.values.retain(|(n, _)| n != name);
        self.values.push((name.to_string(), value.into()));
    }

    /// What was given, in order.
    pub fn given(&self) -> impl Iterator<Item = (&str, &SettingValue)> {
        self.values.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Those whose names pass a test.
    #[must_use]
    pub fn filtered(&self, keep: impl Fn(&str) -> bool) -> Settings {
        Settings { values: self.values.iter().filter(|(name, _)| keep(name)).cloned().collect() }
    }

    /// The value given for a setting.
    pub fn get(&self, name: &str) -> Option<&SettingValue> {
        self.values.iter().find(|(n, _)| n == name).map(|(_, value)| value)
    }

    /// The number of a setting: given, or its default.
    pub fn number(&self, setting: &Setting) -> Option<f64> {
        match (self.get(setting.name), setting.domain) {
            (Some(SettingValue::Number(x)), _) => Some(*x),
            (_, Domain::Number { default, .. }) => default,
            _ => None,
        }
    }

    /// The word of a setting: given, or the default for the kind of system.
    pub fn word(&self, setting: &Setting, systems: Systems) -> &str {
        match (self.get(setting.name), setting.domain) {
            (Some(SettingValue::Word(word)), _) => word,
            (_, Domain::Choice(choices)) => choices.iter().find(|c| c.systems == systems).map_or("", |c| c.name),
            _ => "",
        }
    }

    /// Only the settings among those declared: for running several schemes with one set of settings.
    pub fn among(&self, declared: &[Setting]) -> Settings {
        self.filtered(|name| declared.iter().any(|s| s.name == name))
    }

    /// Only the settings among those declared that are not the default.
    #[must_use]
    pub fn beside_defaults(&self, declared: &[Setting], systems: Systems) -> Settings {
        let none = Settings::new();
        self.filtered(|name| {
            let is_other =
                |s: &Setting| self.number(s) != none.number(s) || self.word(s, systems) != none.word(s, systems);
            declared.iter().any(|s| s.name == name && is_other(s))
        })
    }

    /// Checks that a scheme declares all settings given, with values it allows for the kind of system.
    pub fn check(&self, scheme: &str, declared: &[Setting], systems: Systems) -> Result<(), SetupError> {
        for (name, value) in self.given() {
            let Some(setting) = declared.iter().find(|s| s.name == name) else {
                let known: Vec<&str> = declared.iter().map(|s| s.name).collect();
                let help = match known.as_slice() {
                    [] => format!("{scheme} has no settings besides its step"),
                    known => format!("{scheme} has: {}; `saltus schemes` lists the settings of all", known.join(", ")),
                };
                return Err(SetupError::new(format!("{scheme} has no setting `{name}`"))
                    .with_kind(Kind::UnknownName { name: name.to_string() })
                    .help(help));
            };
            setting.check(value, systems)?;
        }
        Ok(())
    }
}

impl Setting {
    /// A number in a closed interval.
    pub const fn number(name: &'static str, meaning: &'static str, from: f64, to: f64, default: Option<f64>) -> Self {
        Setting { name, meaning, domain: Domain::Number { from, to, default } }
    }

    /// Checks a value.
    pub fn check(&self, value: &SettingValue, systems: Systems) -> Result<(), SetupError> {
        match (self.domain, value) {
            (Domain::Number { from, to, .. }, SettingValue::Number(x)) => {
                if *x >= from && *x <= to {
                    return Ok(());
                }
                let range = match to.is_finite() {
                    true => format!("between {} and {}", plain(from), plain(to)),
                    false => "positive".to_string(),
                };
                Err(SetupError::new(format!("`{}` must be {range}, not {}", self.name, plain(*x)))
                    .with_kind(Kind::OutOfRange { name: self.name.to_string(), value: *x })
                    .help(self.meaning))
            }
            (Domain::Choice(choices), SettingValue::Word(word)) => match choices.iter().find(|c| c.name == word) {
                Some(choice) if choice.systems == systems => Ok(()),
                Some(choice) => {
                    let fit = choices.iter().filter(|c| c.systems == systems).map(|c| c.name);
                    Err(SetupError::new(format!("{} `{word}` is for {}", self.name, choice.systems.name()))
                        .with_kind(Kind::Unsupported)
                        .help(format!("for {} there are: {}", systems.name(), fit.collect::<Vec<_>>().join(", "))))
                }
                None => {
                    let known = choices.iter().map(|c| c.name);
                    let message = format!("there is no {} `{word}`", self.name);
                    Err(SetupError::unknown(message, word, known, "the choices are"))
                }
            },
            (Domain::Number { .. }, _) => Err(SetupError::new(format!("`{}` must be a number", self.name))),
            (Domain::Choice(_), _) => Err(SetupError::new(format!("`{}` must be a word", self.name))),
        }
    }
}

/// A number without an unwieldy tail of zeros.
fn plain(x: f64) -> String {
    if x != 0.0 && (x.abs() < 1e-3 || x.abs() >= 1e6) { format!("{x:e}") } else { format!("{x}") }
}
