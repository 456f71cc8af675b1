//! Why a setup is invalid. How a run ended is another matter: see [`crate::Status`].

use saltus_expr::{ExprError, Span};

/// A mistake in a model or in the settings of a run, found before the first step.
///
/// The text is meant for the person who made the mistake: what is wrong, where, and what to do. [`SetupError::kind`] is
/// meant for code.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct SetupError {
    /// What is wrong, in one sentence.
    pub message: String,
    /// Where: a byte range in the model's source text ([`crate::model::Builder::source`] or the file).
    pub span: Option<Span>,
    /// A few words to put under the marked place.
    pub label: String,
    /// What to do about it.
    pub help: Option<String>,
    /// Boxed, so that results stay small.
    kind: Box<Kind>,
}

/// What sort of mistake a [`SetupError`] is, for code that reacts to it.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Kind {
    /// A text that is not an expression, or uses a name that does not exist.
    Expression,
    /// A name that does not exist where one is needed: a parameter, a scheme, a setting, a coordinate.
    UnknownName {
        /// The name as given.
        name: String,
    },
    /// A number outside its range.
    OutOfRange {
        /// What the number is.
        name: String,
        /// The number.
        value: f64,
    },
    /// A start that violates a constraint, in position or velocity.
    Inadmissible {
        /// The constraint.
        constraint: String,
        /// Its gap at the start.
        gap: f64,
    },
    /// A list or vector of the wrong length.
    Length {
        /// What it is.
        name: String,
        /// How many entries it must have.
        expected: usize,
        /// How many it has.
        found: usize,
    },
    /// Something the mathematics of a scheme or the kind of system does not allow.
    Unsupported,
    /// More memory or time than is sensible.
    TooLarge,
    /// Anything else.
    #[default]
    Other,
}

impl SetupError {
    /// A mistake with no place in a text.
    pub fn new(message: impl Into<String>) -> Self {
        SetupError { message: message.into(), span: None, label: String::new(), help: None, kind: Box::default() }
    }

    /// Says what sort of mistake it is.
    #[must_use]
    pub fn with_kind(mut self, kind: Kind) -> Self {
        *self.kind = kind;
        self
    }

    /// Marks a place in the source text, with a few words to put there.
    #[must_use]
    pub fn at(mut self, span: Span, label: impl Into<String>) -> Self {
        self.span = Some(span);
        self.label = label.into();
        self
    }

    /// The same without a place in a text.
    #[must_use]
    pub fn without_place(mut self) -> Self {
        self.span = None;
        self
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// What sort of mistake it is.
    ///
    /// ```
    /// use saltus::{Kind, model::Builder};
    /// let model = Builder::new("ball").coordinate("y", 1.0, 0.0).kinetic("y'^2/2").restitution(1.5).constraint("floor", "y");
    /// let Kind::OutOfRange { name, value, .. } = model.build().unwrap_err().kind() else { panic!() };
    /// assert_eq!((name.as_str(), value), ("restitution", 1.5));
    /// ```
    pub fn kind(&self) -> Kind {
        (*self.kind).clone()
    }

    /// A name that does not exist, with the nearest one that does, or all of them.
    pub fn unknown<'a>(message: String, name: &str, known: impl Iterator<Item = &'a str> + Clone, what: &str) -> Self {
        let help = match saltus_expr::nearest(name, known.clone()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => {
                let (shown, more) = (known.clone().take(12).collect::<Vec<_>>(), known.count() > 12);
                format!("{what}: {}{}", shown.join(", "), if more { ", …" } else { "" })
            }
        };
        SetupError::new(message).with_kind(Kind::UnknownName { name: name.to_string() }).help(help)
    }

    /// A vector of the wrong length.
    pub fn length(name: &str, expected: usize, found: usize) -> Self {
        let kind = Kind::Length { name: name.to_string(), expected, found };
        SetupError::new(format!("{name} must have {expected} entries, not {found}")).with_kind(kind)
    }
}

impl From<ExprError> for SetupError {
    fn from(error: ExprError) -> Self {
        let ExprError { message, span, label, help } = error;
        SetupError { message, span: Some(span), label, help, kind: Box::new(Kind::Expression) }
    }
}
