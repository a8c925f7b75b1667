//! Sources and sinks of cross traffic on interfaces, with the simulator's own sources.

use crate::errors::{ScenarioError, SwitchError};
use crate::place::{HostPlace, v4, wait};
use dataplane_io::IoError;
use dataplane_io::host::{Sink, Source};
use netsim::source::{Departures, departures};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::net::{IpAddr, SocketAddrV4};
use units::Duration;

/// Interval in which Ctrl-C is checked.
const SIGNALS: Duration = Duration::from_millis(50);

/// A source of datagrams. It must stay in the thread that created it.
#[pyclass(unsendable)]
pub struct TrafficSource {
    source: Source,
    departures: Departures,
}

#[pymethods]
impl TrafficSource {
    #[new]
    #[pyo3(signature = (place, source, *, seed, number, address, port, begins_in_s))]
    fn new(
        place: HostPlace,
        source: &str,
        seed: u64,
        number: usize,
        address: IpAddr,
        port: u16,
        begins_in_s: f64,
    ) -> PyResult<Self> {
        let (octets, departures) =
            departures(source, seed, number).map_err(|e| ScenarioError::new_err(e.to_string()))?;
        let octets = u16::try_from(octets).unwrap_or(u16::MAX);
        let to = SocketAddrV4::new(v4(address)?, port);
        let begins_in = wait(begins_in_s);
        let source = Source::open(&place.interface, place.settings()?, to, octets, begins_in);
        Ok(TrafficSource {
            source: source.map_err(refused)?,
            departures,
        })
    }

    /// Sends the datagrams that are due, for `seconds`. Returns whether the last datagram has left.
    fn send(&mut self, py: Python<'_>, seconds: f64) -> PyResult<bool> {
        let mut left = wait(seconds);
        loop {
            py.check_signals()?;
            let most = left.min(SIGNALS);
            if self.source.run(&mut self.departures, most) {
                return Ok(true);
            }
            left = left.saturating_sub(most);
            if left == Duration::ZERO {
                return Ok(false);
            }
        }
    }

    /// The counters so far.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let sent = self.source.sent();
        let mean_s = sent.late.as_secs_f64() / sent.packets.max(1) as f64;
        let state = PyDict::new(py);
        state.set_item("time_s", self.source.now().as_secs_f64())?;
        state.set_item("packets", sent.packets)?;
        state.set_item("octets", sent.octets)?;
        state.set_item("late_mean_s", mean_s)?;
        state.set_item("late_max_s", sent.latest.as_secs_f64())?;
        Ok(state)
    }
}

/// Counts the datagrams to one port. It must stay in the thread that created it.
#[pyclass(unsendable)]
pub struct TrafficSink(Sink);

#[pymethods]
impl TrafficSink {
    #[new]
    #[pyo3(signature = (place, *, port))]
    fn new(place: HostPlace, port: u16) -> PyResult<Self> {
        let sink = Sink::open(&place.interface, place.settings()?, port);
        Ok(TrafficSink(sink.map_err(refused)?))
    }

    /// Counts datagrams for `seconds`.
    fn receive(&mut self, py: Python<'_>, seconds: f64) -> PyResult<()> {
        let mut left = wait(seconds);
        while left > Duration::ZERO {
            py.check_signals()?;
            let most = left.min(SIGNALS);
            self.0.run(most);
            left = left.saturating_sub(most);
        }
        Ok(())
    }

    /// The counters so far.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let received = self.0.received();
        let state = PyDict::new(py);
        state.set_item("time_s", self.0.now().as_secs_f64())?;
        state.set_item("packets", received.packets)?;
        state.set_item("octets", received.octets)?;
        Ok(state)
    }
}

fn refused(error: IoError) -> PyErr {
    SwitchError::new_err(error.to_string())
}
