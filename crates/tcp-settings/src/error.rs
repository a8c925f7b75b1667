//! What is wrong with data, and where.

use crate::message::plain;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::error::Category;
use std::fmt;

/// A mistake in data.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct DataError {
    /// Where: `flows[2].from`.
    pub path: String,
    /// What is wrong there, and what is valid.
    pub message: String,
}

impl DataError {
    /// An error at `path`.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        DataError {
            path: path.into(),
            message: message.into(),
        }
    }
}

impl DataError {
    /// The same mistake in data that lies at `path` in other data.
    pub(crate) fn below(self, path: &str) -> Self {
        match self.path.as_str() {
            "." => DataError::new(path, self.message),
            inner => DataError::new(format!("{path}.{inner}"), self.message),
        }
    }
}

/// Reads a value from JSON.
///
/// # Errors
/// Names the place in the data. Where text is not JSON, the message gives line and column.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, DataError> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize(&mut reader)
        .map_err(|e| DataError::new(e.path().to_string(), message(text, e.inner())))?;
    reader
        .end()
        .map_err(|e| DataError::new(".", e.to_string()))?;
    Ok(value)
}

/// What is wrong with a value. Where it has a path, its line and column are left out.
fn message(text: &str, error: &serde_json::Error) -> String {
    let said = error.to_string();
    match error.classify() {
        Category::Data => plain(
            said.rsplit_once(" at line ")
                .map_or(&said, |(said, _)| said),
        ),
        // serde_json's message if a value of another type is where a name is expected.
        _ if serde_json::from_str::<IgnoredAny>(text).is_ok() => {
            "expected a name, or an object with one".to_owned()
        }
        _ => match not_finite(text, error) {
            Some(number) => format!("found {number}; expected a finite number"),
            None => said,
        },
    }
}

/// The number at the place of an error other than in the JSON, as Python and JavaScript write it.
fn not_finite(text: &str, error: &serde_json::Error) -> Option<&'static str> {
    let mut lines = text.as_bytes().split(|&octet| octet == b'\n');
    let line = lines.nth(error.line().saturating_sub(1))?;
    // The column is that of the first character, or of the one behind a sign.
    let from = error.column().saturating_sub(2);
    ["-Infinity", "Infinity", "NaN"].into_iter().find(|number| {
        (from..=error.column())
            .filter_map(|at| line.get(at..))
            .any(|rest| rest.starts_with(number.as_bytes()))
    })
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}
