//! Running STF packet scripts.

use crate::errors::ScriptError;
use crate::program::Program;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use stf::{ParseError, Ports, Report, Script};

#[pyfunction]
#[pyo3(signature = (program, script, *, strict = false))]
pub fn run_stf<'py>(
    py: Python<'py>,
    program: &Program,
    script: &str,
    strict: bool,
) -> PyResult<Bound<'py, PyDict>> {
    program.check_runs()?;
    let script = parse(script)?;
    let report = py.detach(|| stf::run(&program.ir, &script, ports(strict)));
    as_dict(py, &report)
}

/// Returns the report, the trace as text, and the trace as JSON.
#[pyfunction]
#[pyo3(signature = (program, script, *, strict = false))]
pub fn trace_stf<'py>(
    py: Python<'py>,
    program: &Program,
    script: &str,
    strict: bool,
) -> PyResult<(Bound<'py, PyDict>, String, String)> {
    program.check_runs()?;
    let script = parse(script)?;
    let (report, trace) = py.detach(|| stf::run_traced(&program.ir, &script, ports(strict)));
    Ok((
        as_dict(py, &report)?,
        trace.to_string(),
        written(serde_json::to_string(&trace))?,
    ))
}

fn written(json: serde_json::Result<String>) -> PyResult<String> {
    json.map_err(|error| pyo3::exceptions::PyRuntimeError::new_err(error.to_string()))
}

fn ports(strict: bool) -> Ports {
    if strict { Ports::All } else { Ports::Named }
}

fn parse(script: &str) -> PyResult<Script> {
    Script::parse(script).map_err(unreadable)
}

fn unreadable(errors: Vec<ParseError>) -> PyErr {
    let told: Vec<String> = errors.iter().map(ToString::to_string).collect();
    ScriptError::new_err(told.join("\n"))
}

fn as_dict<'py>(py: Python<'py>, report: &Report) -> PyResult<Bound<'py, PyDict>> {
    let failures: Vec<String> = report.failures.iter().map(ToString::to_string).collect();
    let dict = PyDict::new(py);
    dict.set_item("passed", report.is_ok())?;
    dict.set_item("packets", report.packets_in)?;
    dict.set_item("expected", report.expected())?;
    dict.set_item("failures", failures)?;
    Ok(dict)
}

/// Returns the verdict of [`stf::grade`] as JSON.
#[pyfunction]
pub fn grade_scripts(
    py: Python<'_>,
    program: &Program,
    scripts: Vec<(String, String)>,
) -> PyResult<String> {
    program.check_runs()?;
    let scripts: Vec<(&str, &str)> = scripts
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    let verdict = py
        .detach(|| stf::grade(&program.ir, &scripts))
        .map_err(unreadable)?;
    written(serde_json::to_string(&verdict))
}
