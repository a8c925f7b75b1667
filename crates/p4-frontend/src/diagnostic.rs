//! What is said to the user about a program.
//!
//! ```
//! use p4_frontend::diagnostic::Diagnostic;
//! use p4_frontend::span::{FileId, Span};
//! let at = Span::new(FileId(0), 4, 7);
//! let diagnostic = Diagnostic::error("unknown-name", "there is no `foo` here")
//!     .label(at, "not declared")
//!     .help("did you mean `fob`?");
//! assert_eq!(diagnostic.primary(), Some(at));
//! ```

use crate::span::Span;

/// The most errors of one kind (of preprocessing, of syntax) that are reported.
pub const MAX_ERRORS: usize = 100;

/// How grave a [`Diagnostic`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Something odd in a program that still has a meaning.
    Warning,
    /// The program has no meaning; nothing is produced.
    Error,
}

/// One message: what is wrong, where, what was expected and what is valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// Stable name of the kind of message, in kebab case: `missing-semicolon`.
    pub code: &'static str,
    /// One line that stands on its own.
    pub message: String,
    /// Places, each with what is to be said of it. The first is where the fault is.
    pub labels: Vec<(Span, String)>,
    /// Further facts.
    pub notes: Vec<String>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error without places yet.
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Diagnostic::new(Severity::Error, code, message.into())
    }

    /// A warning without places yet.
    pub fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Diagnostic::new(Severity::Warning, code, message.into())
    }

    fn new(severity: Severity, code: &'static str, message: String) -> Self {
        Diagnostic {
            severity,
            code,
            message,
            labels: Vec::new(),
            notes: Vec::new(),
            help: None,
        }
    }

    /// Adds a place; the first one added is where the fault is.
    #[must_use]
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push((span, text.into()));
        self
    }

    /// Adds a fact.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Says what to do about it.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// Whether this keeps the program from being compiled.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// Where the fault is, if it has a place.
    pub fn primary(&self) -> Option<Span> {
        self.labels.first().map(|(span, _)| *span)
    }
}
