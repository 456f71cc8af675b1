//! Why a setup is invalid. How a run ended is another matter: see [`crate::Status`].

use saltus_expr::{ExprError, Span};

/// A mistake in a model or in the settings of a run, found before the first step.
///
/// It is meant to be read by the person who made it: what is wrong, where, and what to do.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct SetupError {
    /// What is wrong, in one sentence.
    pub message: String,
    /// Where: a byte range in the model's source text ([`crate::model::Builder::source`] or the file).
    pub span: Option<Span>,
    /// A few words to stand under the marked place.
    pub label: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl SetupError {
    /// A mistake with no place in a text.
    pub fn new(message: impl Into<String>) -> Self {
        SetupError { message: message.into(), span: None, label: String::new(), help: None }
    }

    /// Marks a place in the source text, with a few words to stand there.
    pub fn at(mut self, span: Span, label: impl Into<String>) -> Self {
        self.span = Some(span);
        self.label = label.into();
        self
    }

    /// Adds what to do about it.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl From<ExprError> for SetupError {
    fn from(error: ExprError) -> Self {
        SetupError { message: error.message, span: Some(error.span), label: error.label, help: error.help }
    }
}
