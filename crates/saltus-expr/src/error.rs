//! Errors in expressions: what is wrong, where, and what to do about it.

use std::fmt;

/// A byte range in the source text.
pub type Span = std::ops::Range<usize>;

/// An error in an expression, with its place in the text.
///
/// ```
/// let error = saltus_expr::parse("2x + 1").unwrap_err();
/// assert_eq!(error.span, 0..2);
/// assert!(error.help.unwrap().contains("`2*x`"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExprError {
    /// What is wrong: one sentence without a full stop.
    pub message: String,
    /// Where: bytes of the text, shifted by the offset given to the parser.
    pub span: Span,
    /// A short label for the marked text.
    pub label: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl ExprError {
    /// An error without help.
    pub fn new(message: impl Into<String>, span: Span, label: impl Into<String>) -> Self {
        Self { message: message.into(), span, label: label.into(), help: None }
    }

    /// Adds a help text.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for ExprError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ExprError {}
