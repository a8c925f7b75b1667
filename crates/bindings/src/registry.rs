//! The compiled congestion controls, from their descriptors.

use crate::errors::ScenarioError;
use congestion::registry::{Kind, Setting, Value};
use congestion::{CONTROLS, Control, Settings};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeMap;

/// Returns all controls, in order.
#[pyfunction]
pub fn controls(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    CONTROLS
        .iter()
        .map(|control| describe(py, control))
        .collect()
}

fn describe<'py>(py: Python<'py>, control: &Control) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let marks: Vec<&str> = control.marks.iter().map(|mark| mark.label()).collect();
    let needs: Vec<&str> = control.needs.iter().map(|need| need.label()).collect();
    let settings = control.settings.iter();
    let settings: PyResult<Vec<_>> = settings.map(|setting| declare(py, setting)).collect();
    dict.set_item("name", control.name)?;
    dict.set_item("label", control.label)?;
    dict.set_item("summary", control.summary)?;
    dict.set_item("source", control.source)?;
    dict.set_item("recovery", control.recovery.label())?;
    dict.set_item("marks", marks)?;
    dict.set_item("needs", needs)?;
    dict.set_item("modern_only", control.missing_in_ns2().is_some())?;
    dict.set_item("settings", settings?)?;
    Ok(dict)
}

fn declare<'py>(py: Python<'py>, setting: &Setting) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("name", setting.name)?;
    dict.set_item("summary", setting.summary)?;
    match setting.kind {
        Kind::Number { default, min, max } => {
            dict.set_item("default", default)?;
            dict.set_item("valid", (min, max))?;
        }
        Kind::Flag { default } => {
            dict.set_item("default", default)?;
            dict.set_item("valid", None::<(f64, f64)>)?;
        }
    }
    Ok(dict)
}

/// A value of a setting from Python.
#[derive(FromPyObject)]
pub enum Given {
    Flag(bool),
    Number(f64),
}

/// Rejects settings that the control `name` does not have, and invalid values.
#[pyfunction]
pub fn check_settings(name: &str, settings: BTreeMap<String, Given>) -> PyResult<()> {
    let Some(control) = congestion::find(name) else {
        let message = format!("no congestion control {name:?}");
        return Err(ScenarioError::new_err(message));
    };
    let mut checked = Settings::defaults(control);
    for (setting, given) in settings {
        let value = match given {
            Given::Flag(flag) => Value::Flag(flag),
            Given::Number(number) => Value::Number(number),
        };
        checked
            .set(&setting, value)
            .map_err(ScenarioError::new_err)?;
    }
    Ok(())
}
