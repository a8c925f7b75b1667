//! What is wrong with a request: a canonical code, and words that say what is valid.

use engine::ControlError;
use tonic::{Code, Status};

/// Why a request, or one update of a batch, was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The canonical code.
    pub code: Code,
    /// What was expected, what was found, what is valid.
    pub message: String,
}

/// What most of this crate returns.
pub type Outcome<T> = Result<T, Fault>;

impl Fault {
    /// A fault with this code.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Fault {
            code,
            message: message.into(),
        }
    }

    /// `INVALID_ARGUMENT`.
    pub fn invalid(message: impl Into<String>) -> Self {
        Fault::new(Code::InvalidArgument, message)
    }

    /// `NOT_FOUND`.
    pub fn not_found(message: impl Into<String>) -> Self {
        Fault::new(Code::NotFound, message)
    }

    /// `OUT_OF_RANGE`.
    pub fn out_of_range(message: impl Into<String>) -> Self {
        Fault::new(Code::OutOfRange, message)
    }

    /// `UNIMPLEMENTED`.
    pub fn unimplemented(message: impl Into<String>) -> Self {
        Fault::new(Code::Unimplemented, message)
    }

    /// The same fault as `INVALID_ARGUMENT`: what a bytestring may not be is that in some messages.
    pub fn into_invalid(self) -> Self {
        Fault::invalid(self.message)
    }

    /// The same fault, its message beginning with where it is.
    pub fn at(self, place: impl std::fmt::Display) -> Self {
        let place = place.to_string();
        match self.message.starts_with(&place) {
            true => self,
            false => Fault {
                message: format!("{place}: {}", self.message),
                ..self
            },
        }
    }
}

impl From<ControlError> for Fault {
    fn from(error: ControlError) -> Self {
        let code = match &error {
            ControlError::UnknownName { .. }
            | ControlError::AmbiguousName { .. }
            | ControlError::Invalid { .. } => Code::InvalidArgument,
            ControlError::UnknownId { .. } | ControlError::NotFound { .. } => Code::NotFound,
            ControlError::Exists { .. } => Code::AlreadyExists,
            ControlError::Constant { .. } => Code::PermissionDenied,
            ControlError::Full { .. } => Code::ResourceExhausted,
            ControlError::InUse { .. } => Code::FailedPrecondition,
        };
        Fault::new(code, error.to_string())
    }
}

impl From<Fault> for Status {
    fn from(fault: Fault) -> Self {
        Status::new(fault.code, cut(fault.message, MAX_MESSAGE))
    }
}

/// The most octets of a status message as it travels, in a header: clients take 8 KiB of those unless
/// they are configured otherwise.
pub(crate) const MAX_MESSAGE: usize = 6_000;

/// The message, cut if it would take more octets in a header.
pub(crate) fn cut(mut message: String, most: usize) -> String {
    let mut length = 0;
    let too_long = message.char_indices().find(|(_, c)| {
        length += octets_in_header(*c);
        length > most
    });
    if let Some((at, _)) = too_long {
        message.truncate(at);
        message += " …";
    }
    message
}

/// The octets of a message in a header, where gRPC percent-encodes: an octet takes three unless it is a letter, a digit
/// or one of the signs that need no escape. tonic escapes more of them than the specification asks, the space among them.
pub(crate) fn length_in_header(message: &str) -> usize {
    message.chars().map(octets_in_header).sum()
}

fn octets_in_header(c: char) -> usize {
    match c {
        ' ' | '"' | '#' | '%' | '<' | '>' | '`' | '?' | '{' | '}' => 3,
        '!'..='~' => 1,
        _ => 3 * c.len_utf8(),
    }
}

/// Names or numbers as people list them, cut where a list gets too long to read.
pub(crate) fn list<T: std::fmt::Display>(items: impl IntoIterator<Item = T>) -> String {
    const MOST: usize = 16;
    let all: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    match all.len() {
        0 => "none".into(),
        n if n > MOST => format!("{}, … ({n} in all)", all[..MOST].join(", ")),
        _ => all.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(message: &str) -> usize {
        let response = Status::new(Code::Unknown, message).into_http::<()>();
        response.headers()["grpc-message"].len()
    }

    #[test]
    fn a_message_takes_as_many_octets_as_are_counted() {
        for c in (1..=0x17f).filter_map(char::from_u32).chain(['…', '😀']) {
            let message = format!("a{c}b");
            assert_eq!(header(&message), length_in_header(&message), "{c:?}");
        }
    }

    // p4runtime: metadata-size
    #[test]
    fn what_is_cut_fits() {
        for word in ["a", " ", "{}", "é", "\n  | "] {
            let message = cut(word.repeat(9_000), MAX_MESSAGE);
            let length = header(&message);
            assert!(
                (MAX_MESSAGE - 40..=MAX_MESSAGE + 12).contains(&length),
                "{word:?}: {length}"
            );
        }
        let whole = "short".to_string();
        assert_eq!(cut(whole.clone(), MAX_MESSAGE), whole);
    }
}
