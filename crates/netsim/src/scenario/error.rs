//! What is wrong with a scenario, and where.

use serde::de::DeserializeOwned;
use serde_json::error::Category;
use std::fmt;

/// A mistake in a scenario.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ScenarioError {
    /// Where: `flows[2].from`.
    pub path: String,
    /// What is wrong there, and what is valid.
    pub message: String,
}

impl ScenarioError {
    /// An error at `path`.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        ScenarioError {
            path: path.into(),
            message: message.into(),
        }
    }
}

/// Reads a value from JSON.
///
/// # Errors
/// Names the place in the data. Where text is no JSON, the message says in which line and column.
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> Result<T, ScenarioError> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize(&mut reader)
        .map_err(|e| ScenarioError::new(e.path().to_string(), message(e.inner())))?;
    reader
        .end()
        .map_err(|e| ScenarioError::new(".", e.to_string()))?;
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

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}
