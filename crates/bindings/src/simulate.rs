//! Running scenarios.

use crate::control::{Failure, PyFactory};
use crate::errors::ScenarioError;
use crate::program::Program;
use crate::results;
use congestion::Factory;
use netsim::record::FlowRecord;
use netsim::{Controls, Programs, RunError, Scenario, Simulation};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Number of events between checks of the clock: some milliseconds.
const EVENTS: u64 = 20_000;
/// The same if a control in Python may have failed.
const EVENTS_OF_PYTHON: u64 = 100;
/// Interval in which Ctrl-C is checked.
const SIGNALS: Duration = Duration::from_millis(100);

#[expect(clippy::too_many_arguments, reason = "Python names them")]
#[pyfunction]
#[pyo3(signature = (scenario, programs, *, controls=BTreeMap::new(), pcap=None, progress=None, progress_ms=100, ended=None, threads=1, parts=None))]
pub fn simulate<'py>(
    py: Python<'py>,
    scenario: &str,
    programs: BTreeMap<String, Py<Program>>,
    controls: BTreeMap<String, Py<PyAny>>,
    pcap: Option<PathBuf>,
    progress: Option<Py<PyAny>>,
    progress_ms: u64,
    ended: Option<Py<PyAny>>,
    threads: usize,
    parts: Option<usize>,
) -> PyResult<Bound<'py, PyDict>> {
    let wrong = |e: netsim::ScenarioError| ScenarioError::new_err(e.to_string());
    let scenario = Scenario::from_json(scenario).map_err(wrong)?;
    let runnable = |(name, program): (String, Py<Program>)| match &program.get().pipeline {
        Ok(pipeline) => Ok((name, pipeline.clone())),
        Err(refusal) => Err(ScenarioError::new_err(format!("{name}: {refusal}"))),
    };
    let programs: Programs = programs
        .into_iter()
        .map(runnable)
        .collect::<PyResult<_>>()?;
    let failure = Failure::default();
    let controls = registry(controls, &failure);
    let simulation = Simulation::with_controls(&scenario, &programs, &controls);
    failure.check()?;
    let mut simulation = simulation.map_err(wrong)?;
    if let Some(path) = pcap {
        simulation.capture(Box::new(BufWriter::new(File::create(path)?)))?;
    }
    let division = match parts {
        Some(parts) => simulation.divide_always(parts, threads),
        None => simulation.divide(threads),
    };
    let events = match controls.is_empty() {
        true => EVENTS * division.parts as u64,
        false => EVENTS_OF_PYTHON,
    };
    let sample_s = scenario.sample_s;
    drop(scenario);
    let mut listener = Listener {
        progress,
        interval: Duration::from_millis(progress_ms),
        ended,
        flows: Vec::new(),
    };
    let simulation = py.detach(|| drive(simulation, events, &failure, &mut listener))?;
    let division = simulation.division();
    let mut records = simulation.finish()?;
    listener.flows.append(&mut records.ended);
    listener.hand_over(py, true)?;
    let results = results::to_dict(py, records, sample_s)?;
    results.set_item("parts", division.parts)?;
    results.set_item("threads", division.parts.min(threads.max(1)))?;
    results.set_item(
        "threads_limit",
        division.limit.map(|limit| limit.to_string()),
    )?;
    Ok(results)
}

/// Converts the controls in Python for netsim.
fn registry(controls: BTreeMap<String, Py<PyAny>>, failure: &Failure) -> Controls {
    let named = controls.into_iter().map(|(flow, make)| {
        let factory: Arc<dyn Factory> = Arc::new(PyFactory {
            flow: flow.clone(),
            make,
            failure: failure.clone(),
        });
        (flow, factory)
    });
    named.collect()
}

/// The callbacks in Python.
struct Listener {
    progress: Option<Py<PyAny>>,
    interval: Duration,
    /// Receives flows as they end.
    ended: Option<Py<PyAny>>,
    /// Flows that have ended and were not passed on yet.
    flows: Vec<(usize, FlowRecord)>,
}

/// Number of flows that are passed on together before the end. It is constant, so that files are the same for any
/// number of threads.
const FLOWS: usize = 4096;

impl Listener {
    /// Passes on flows that have ended, in groups of [`FLOWS`]. With `all`, also the remaining ones.
    fn hand_over(&mut self, py: Python<'_>, all: bool) -> PyResult<()> {
        let Some(ended) = &self.ended else {
            return Ok(());
        };
        let count = match all {
            true => self.flows.len(),
            false => self.flows.len() / FLOWS * FLOWS,
        };
        for flows in self.flows[..count].chunks(FLOWS) {
            ended.call1(py, (results::ended(py, flows)?,))?;
        }
        self.flows.drain(..count);
        Ok(())
    }
}

/// Runs to the end, without holding the interpreter lock except for signals, progress and flows that have ended.
fn drive(
    mut simulation: Simulation,
    events: u64,
    failure: &Failure,
    listener: &mut Listener,
) -> PyResult<Simulation> {
    let interval = listener.interval;
    let mut signals_due = Instant::now() + SIGNALS;
    let mut progress_due = Instant::now() + interval;
    let mut ended = false;
    while !ended {
        ended = simulation.run(events).map_err(|error| match error {
            RunError::Capture(error) => error.into(),
            RunError::Packets => ScenarioError::new_err(error.to_string()),
        })?;
        failure.check()?;
        let now = Instant::now();
        if now >= signals_due {
            Python::attach(|py| py.check_signals())?;
            signals_due = now + SIGNALS;
        }
        listener.flows.append(&mut simulation.take_ended());
        if listener.flows.len() >= FLOWS {
            Python::attach(|py| listener.hand_over(py, false))?;
        }
        let Some(progress) = listener.progress.as_ref().filter(|_| now >= progress_due) else {
            continue;
        };
        let reached = (simulation.now().as_secs_f64(), simulation.packet_hops());
        Python::attach(|py| progress.call1(py, reached))?;
        progress_due = Instant::now() + interval;
    }
    Ok(simulation)
}
