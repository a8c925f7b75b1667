//! Running wires between interfaces.

use crate::errors::SwitchError;
use dataplane_io::{LineConfig, WireConfig, Wires};
use pyo3::prelude::*;
use std::time::Duration;
use units::Rate;

/// Interval in which Ctrl-C is checked.
const SIGNALS: Duration = Duration::from_millis(50);

/// Rate in bit/s, queue in packets, delay in seconds, probability of loss.
type Line = (Option<u64>, Option<u32>, f64, f64);

#[pyfunction]
#[pyo3(signature = (wires, *, seed, ready))]
pub fn run_wires(
    py: Python<'_>,
    wires: Vec<([String; 2], [Line; 2])>,
    seed: u64,
    ready: Py<PyAny>,
) -> PyResult<()> {
    let wires: Vec<WireConfig> = wires
        .into_iter()
        .map(|(ends, lines)| WireConfig {
            ends,
            lines: lines.map(line),
        })
        .collect();
    py.detach(|| {
        let wires = Wires::start(&wires, seed).map_err(|e| SwitchError::new_err(e.to_string()))?;
        Python::attach(|py| ready.call0(py))?;
        while wires.is_running() {
            std::thread::sleep(SIGNALS);
            Python::attach(|py| py.check_signals())?;
        }
        Err(SwitchError::new_err(
            "the thread that serves the wires has ended because of a defect",
        ))
    })
}

fn line((rate, queue, delay_s, loss): Line) -> LineConfig {
    LineConfig {
        rate: rate.and_then(Rate::from_bps),
        queue,
        delay: units::Duration::from_secs_f64(delay_s),
        loss: loss.clamp(0.0, 1.0),
    }
}
