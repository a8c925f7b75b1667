//! `waymark._core`: the Python interface of the crates. It is described in `waymark/_core.pyi`.
//!
//! There are no algorithms here: arguments are converted, and results are put into dictionaries and arrays.

mod allocator;
mod control;
mod datagrams;
mod errors;
mod generator;
mod host;
mod place;
mod program;
mod registry;
mod replay;
mod results;
mod script;
mod shadowing;
mod simulate;
mod switch;
mod wires;

use pyo3::prelude::*;

/// Makes the engine compile programs to machine code, if possible, unless `WAYMARK_JIT` is 0.
fn compile_programs() -> PyResult<()> {
    match std::env::var("WAYMARK_JIT").as_deref() {
        Ok("0") => {}
        Ok("1") | Err(std::env::VarError::NotPresent) => {
            p4_jit::install();
        }
        Ok(value) => {
            return Err(pyo3::exceptions::PyValueError::new_err(format!(
                "WAYMARK_JIT is `{value}`; valid: 1 (compile P4 programs to machine code), 0 (interpret them)"
            )));
        }
        Err(error) => {
            return Err(pyo3::exceptions::PyValueError::new_err(format!(
                "WAYMARK_JIT: {error}"
            )));
        }
    }
    Ok(())
}

/// Whether the system forbids to compile P4 programs to machine code.
#[pyfunction]
fn machine_code_is_forbidden() -> bool {
    p4_jit::is_forbidden()
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    compile_programs()?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add(
        "WaymarkCoreError",
        py.get_type::<errors::WaymarkCoreError>(),
    )?;
    module.add("CompileError", py.get_type::<errors::CompileError>())?;
    module.add("ScriptError", py.get_type::<errors::ScriptError>())?;
    module.add("ScenarioError", py.get_type::<errors::ScenarioError>())?;
    module.add("ControlError", py.get_type::<errors::ControlError>())?;
    module.add("SwitchError", py.get_type::<errors::SwitchError>())?;
    module.add_class::<program::Program>()?;
    module.add_class::<host::Host>()?;
    module.add_class::<datagrams::TrafficSource>()?;
    module.add_class::<datagrams::TrafficSink>()?;
    module.add_class::<control::PyAckEvent>()?;
    module.add_class::<control::PyRateSample>()?;
    module.add_class::<control::PyLossEvent>()?;
    module.add_class::<control::PyTimeoutEvent>()?;
    module.add_class::<control::PyLimits>()?;
    module.add_function(wrap_pyfunction!(program::compile, module)?)?;
    module.add_function(wrap_pyfunction!(script::run_stf, module)?)?;
    module.add_function(wrap_pyfunction!(script::trace_stf, module)?)?;
    module.add_function(wrap_pyfunction!(script::grade_scripts, module)?)?;
    module.add_function(wrap_pyfunction!(registry::controls, module)?)?;
    module.add_function(wrap_pyfunction!(registry::check_settings, module)?)?;
    module.add_function(wrap_pyfunction!(replay::replay, module)?)?;
    module.add_function(wrap_pyfunction!(shadowing::shadowing_loss, module)?)?;
    module.add_function(wrap_pyfunction!(simulate::simulate, module)?)?;
    module.add_function(wrap_pyfunction!(switch::run_switch, module)?)?;
    module.add_function(wrap_pyfunction!(machine_code_is_forbidden, module)?)?;
    module.add_function(wrap_pyfunction!(wires::run_wires, module)?)
}
