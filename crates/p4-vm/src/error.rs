//! What can be wrong with a program, and with what a control plane asks for.

use p4_ir::SourceLoc;
use thiserror::Error;

/// Something in a program that this architecture does not have or cannot run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct CompileError {
    /// Where in the source.
    pub loc: SourceLoc,
    /// What is wrong, and what is supported.
    pub message: String,
}

/// Why a control plane's request was refused. What was accepted before it stays as it is.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ControlError {
    /// A name that the program does not have.
    #[error("no {kind} is called `{name}`{}", Suggest(.name, .valid))]
    UnknownName {
        /// What was looked for: `table`, `action`, `key`.
        kind: &'static str,
        /// The name given.
        name: String,
        /// The names that there are.
        valid: Vec<String>,
    },
    /// A short name that several objects share.
    #[error("`{name}` could be any of {}; write more of the name", .valid.join(", "))]
    AmbiguousName {
        /// The name given.
        name: String,
        /// The full names that end so.
        valid: Vec<String>,
    },
    /// A number that names nothing.
    #[error("no {kind} has the number {id}; there are {valid}")]
    UnknownId {
        /// What was looked for.
        kind: &'static str,
        /// The number given.
        id: u64,
        /// What there is.
        valid: String,
    },
    /// A value, match, priority or other detail that does not fit.
    #[error("{at}: expected {expected}, found {found}")]
    Invalid {
        /// Where: table and key, action and parameter, object.
        at: String,
        /// What is valid.
        expected: String,
        /// What was given.
        found: String,
    },
    /// An entry, member or group that is there already.
    #[error("{at}: there is already {what}; modify it instead")]
    Exists {
        /// Where.
        at: String,
        /// What.
        what: String,
    },
    /// An entry, member or group that is not there.
    #[error("{at}: there is no {what}")]
    NotFound {
        /// Where.
        at: String,
        /// What.
        what: String,
    },
    /// Something that the program says is constant.
    #[error("{at}: {what} cannot be changed: the program says const")]
    Constant {
        /// Where.
        at: String,
        /// What.
        what: String,
    },
    /// More than the program asked room for.
    #[error("{at}: full, the program gives it room for {size}")]
    Full {
        /// Where.
        at: String,
        /// The room there is.
        size: u64,
    },
    /// A member or group that is still used.
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

/// The end of a message about an unknown name: the nearest valid one, then all of them.
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
        write!(f, " (there are: {})", valid.join(", "))
    }
}
