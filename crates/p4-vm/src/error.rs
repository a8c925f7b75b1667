//! Errors in programs and in requests of a control plane.

use p4_ir::SourceLoc;
use thiserror::Error;

/// A feature of a program that the architecture does not support.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct CompileError {
    /// The source location.
    pub loc: SourceLoc,
    /// What is wrong, and what is supported.
    pub message: String,
}

/// Why a control plane's request was rejected. The state from before the request is unchanged.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ControlError {
    /// A name that does not exist in the program.
    #[error("no {kind} is named `{name}`{}", Suggest(.name, .valid))]
    UnknownName {
        /// The kind of object looked up: `table`, `action`, `key`.
        kind: &'static str,
        /// The name given.
        name: String,
        /// The valid names.
        valid: Vec<String>,
    },
    /// A short name that several objects share.
    #[error("`{name}` is ambiguous: {}; use a longer name", .valid.join(", "))]
    AmbiguousName {
        /// The name given.
        name: String,
        /// The full names that end with it.
        valid: Vec<String>,
    },
    /// A number that identifies nothing.
    #[error("there is no {kind} with the number {id}; valid: {valid}")]
    UnknownId {
        /// The kind of object looked up.
        kind: &'static str,
        /// The number given.
        id: u64,
        /// The valid numbers.
        valid: String,
    },
    /// An invalid value, match, priority or other detail.
    #[error("{at}: expected {expected}, found {found}")]
    Invalid {
        /// Where: table and key, action and parameter, object.
        at: String,
        /// What is valid.
        expected: String,
        /// The given value.
        found: String,
    },
    /// An entry, member or group that already exists.
    #[error("{at}: there is already {what}; modify it instead")]
    Exists {
        /// Where.
        at: String,
        /// What.
        what: String,
    },
    /// An entry, member or group that does not exist.
    #[error("{at}: there is no {what}")]
    NotFound {
        /// Where.
        at: String,
        /// What.
        what: String,
    },
    /// Something that the program declares as constant.
    #[error("{at}: {what} cannot be changed: it is const")]
    Constant {
        /// Where.
        at: String,
        /// What.
        what: String,
    },
    /// More items than the declared size.
    #[error("{at}: full, with its size of {size}")]
    Full {
        /// Where.
        at: String,
        /// The declared size.
        size: u64,
    },
    /// A member or group that is still in use.
    #[error("{at}: {what} is still used by {by}")]
    InUse {
        /// Where.
        at: String,
        /// What.
        what: String,
        /// Its user.
        by: String,
    },
}

/// The end of a message about an unknown name: the most similar valid name, then all valid names.
struct Suggest<'a>(&'a str, &'a [String]);

impl std::fmt::Display for Suggest<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Suggest(name, valid) = self;
        if valid.is_empty() {
            return write!(f, "; there are none");
        }
        let nearest = valid
            .iter()
            .map(|v| (strsim::jaro_winkler(name, v), v))
            .filter(|(likeness, _)| *likeness > 0.8)
            .rev()
            .max_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((_, nearest)) = nearest {
            write!(f, "; did you mean `{nearest}`?")?;
        }
        write!(f, " (valid: {})", valid.join(", "))
    }
}
