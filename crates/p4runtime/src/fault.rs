//! Errors of requests: a canonical code, and a message that states what is valid.

use engine::ControlError;
use tonic::{Code, Status};

/// Why a request, or an update of a batch, was rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The canonical code.
    pub code: Code,
    /// What was expected, what was found, and what is valid.
    pub message: String,
}

/// The result type of most of this crate.
pub type Outcome<T> = Result<T, Fault>;

impl Fault {
    /// Creates a fault with this code.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Fault {
            code,
            message: message.into(),
        }
    }

    /// An `INVALID_ARGUMENT` fault.
    pub fn invalid(message: impl Into<String>) -> Self {
        Fault::new(Code::InvalidArgument, message)
    }

    /// A `NOT_FOUND` fault.
    pub fn not_found(message: impl Into<String>) -> Self {
        Fault::new(Code::NotFound, message)
    }

    /// An `OUT_OF_RANGE` fault.
    pub fn out_of_range(message: impl Into<String>) -> Self {
        Fault::new(Code::OutOfRange, message)
    }

    /// An `UNIMPLEMENTED` fault.
    pub fn unimplemented(message: impl Into<String>) -> Self {
        Fault::new(Code::Unimplemented, message)
    }

    /// The same fault as `INVALID_ARGUMENT`, which is the code for an invalid bytestring in some messages.
    pub fn into_invalid(self) -> Self {
        Fault::invalid(self.message)
    }

    /// The same fault, with its message prefixed with the place.
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

/// The most octets of a status message as it is transmitted, in a header. By default, clients accept 8 KiB of headers.
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

/// The length of a message in a header, where gRPC percent-encodes it: an octet takes three octets unless it is a
/// letter, a digit or a character that needs no escape. tonic escapes more characters than the specification requires,
/// including the space.
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

/// Formats names or numbers as a list, which is cut if it is too long to read.
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
