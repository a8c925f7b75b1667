//! Running descriptions of recorded traces.

use crate::errors::ScenarioError;
use pyo3::prelude::*;

#[pyfunction]
pub fn replay(py: Python<'_>, description: &str) -> PyResult<String> {
    py.detach(|| netsim::replay::replay(description))
        .map_err(|e| ScenarioError::new_err(e.to_string()))
}
