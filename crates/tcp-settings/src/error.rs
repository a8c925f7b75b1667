//! What is wrong with data, and where.

use serde::de::DeserializeOwned;
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

/// Reads a value from JSON.
///
/// # Errors
/// Names the place in the data. Where text is no JSON, the message says in which line and column.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, DataError> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize(&mut reader)
        .map_err(|e| DataError::new(e.path().to_string(), message(e.inner())))?;
    reader
        .end()
        .map_err(|e| DataError::new(".", e.to_string()))?;
    Ok(value)
}

/// What is wrong with a value: the place in the text says nothing where the path does.
fn message(error: &serde_json::Error) -> String {
    let said = error.to_string();
    match (error.classify(), said.rsplit_once(" at line ")) {
        (Category::Data, Some((said, _))) => said.to_owned(),
        _ => said,
    }
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}
