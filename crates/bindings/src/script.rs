//! Running STF packet scripts.

use crate::program::Program;
use pyo3::prelude::*;
use pyo3::types::PyDict;

#[pyfunction]
pub fn run_stf<'py>(
    py: Python<'py>,
    program: &Program,
    script: &str,
) -> PyResult<Bound<'py, PyDict>> {
    todo!()
}
