//! Diagnostics about a program.
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

/// The maximum number of errors of one kind (preprocessing, syntax) that are reported.
pub const MAX_ERRORS: usize = 100;

/// The severity of a [`Diagnostic`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Unusual code in a program that can be compiled.
    Warning,
    /// The program cannot be compiled.
    Error,
}

/// A message: what is wrong, where, what was expected and what is valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// Stable name of the kind of message, in kebab case: `missing-semicolon`.
    pub code: &'static str,
    /// A self-contained line.
    pub message: String,
    /// Locations, each with a text. The first is the location of the error.
    pub labels: Vec<(Span, String)>,
    /// Additional facts.
    pub notes: Vec<String>,
    /// A suggestion.
    pub help: Option<String>,
}

impl Diagnostic {
    /// Creates an error without locations.
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Diagnostic::new(Severity::Error, code, message.into())
    }

    /// Creates a warning without locations.
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

    /// Adds a location. The first one is the location of the error.
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

    /// Adds a suggestion.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// Whether it prevents compilation.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// The location of the error, if it has one.
    pub fn primary(&self) -> Option<Span> {
        self.labels.first().map(|(span, _)| *span)
    }
}
