//! The module's exceptions.

#![allow(missing_docs, reason = "the macro writes undocumented items")]

use pyo3::create_exception;
use pyo3::exceptions::PyException;

create_exception!(
    waymark._core,
    WaymarkCoreError,
    PyException,
    "The base class of all errors of the core."
);
create_exception!(
    waymark._core,
    CompileError,
    WaymarkCoreError,
    "A P4 program with errors."
);
create_exception!(
    waymark._core,
    ScriptError,
    WaymarkCoreError,
    "An STF script that cannot be read."
);
create_exception!(
    waymark._core,
    ScenarioError,
    WaymarkCoreError,
    "An inconsistent scenario."
);
create_exception!(
    waymark._core,
    ControlError,
    WaymarkCoreError,
    "A congestion control in Python that failed."
);
create_exception!(
    waymark._core,
    SwitchError,
    WaymarkCoreError,
    "A switch that cannot run."
);
