//! Running STF packet scripts.

use crate::errors::ScriptError;
use crate::program::Program;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use stf::{Failure, Ports, Report, Script};

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

/// The report, the trace as text, the trace as JSON.
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
    let json = serde_json::to_string(&trace)
        .map_err(|error| pyo3::exceptions::PyRuntimeError::new_err(error.to_string()))?;
    Ok((as_dict(py, &report)?, trace.to_string(), json))
}

fn ports(strict: bool) -> Ports {
    if strict { Ports::All } else { Ports::Named }
}

fn parse(script: &str) -> PyResult<Script> {
    Script::parse(script).map_err(|errors| {
        let told: Vec<String> = errors.iter().map(ToString::to_string).collect();
        ScriptError::new_err(told.join("\n"))
    })
}

fn as_dict<'py>(py: Python<'py>, report: &Report) -> PyResult<Bound<'py, PyDict>> {
    let unmet = |f: &&Failure| {
        matches!(
            f,
            Failure::Differs { .. } | Failure::Missing { .. } | Failure::Counter { .. }
        )
    };
    let expected = report.passed + report.failures.iter().filter(unmet).count();
    let failures: Vec<String> = report.failures.iter().map(ToString::to_string).collect();
    let details: Vec<_> = report
        .failures
        .iter()
        .map(|failure| detail(py, failure))
        .collect::<PyResult<_>>()?;
    let dict = PyDict::new(py);
    dict.set_item("passed", report.is_ok())?;
    dict.set_item("packets", report.packets_in)?;
    dict.set_item("expected", expected)?;
    dict.set_item("failures", failures)?;
    dict.set_item("details", details)?;
    Ok(dict)
}

fn detail<'py>(py: Python<'py>, failure: &Failure) -> PyResult<Bound<'py, PyDict>> {
    let fields: Vec<(String, String, String)> = failure
        .differences()
        .into_iter()
        .map(|one| (one.field, one.expected, one.found))
        .collect();
    let dict = PyDict::new(py);
    dict.set_item("line", failure.line())?;
    dict.set_item("text", failure.to_string())?;
    dict.set_item("fields", fields)?;
    Ok(dict)
}
