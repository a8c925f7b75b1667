//! A TCP host on an interface, and one transfer of this host.

use crate::errors::{ScenarioError, SwitchError};
use crate::place::{self, HostPlace, wait};
use crate::results;
use congestion::Factory;
use dataplane_io::host::{
    Host as LiveHost, HostConfig, Loss, Transfer, TransferError, Watch, Zeros,
};
use netsim::trace::{Keep, Tracer};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::net::{IpAddr, SocketAddrV4};
use std::sync::Arc;
use tcp_settings::{Controls, DataError, Profile, Settings};
use transport::tcp::{Trace, modern};
use units::{Duration, Instant};

/// A host and its one connection. It must stay in the thread that created it.
#[pyclass(unsendable)]
pub struct Host {
    transfer: Transfer,
    seen: Seen,
    /// The octets left to send. `None` until something is sent.
    zeros: Option<Zeros>,
    read: u64,
}

/// Observations of a transfer.
#[derive(Default)]
struct Seen {
    tracer: Option<Tracer>,
    /// The newest of each value that acknowledgements carry.
    newest: Option<Trace>,
    rtt: Option<Duration>,
    marks: Marks,
}

#[derive(Default)]
struct Marks {
    forward_s: Option<f64>,
    backward_s: Option<f64>,
    mrai: Option<u8>,
    /// Acknowledgements that indicated congestion.
    ci: u64,
}

#[pymethods]
impl Host {
    #[new]
    #[pyo3(signature = (place, flow, *, loss, seed, trace_every_s, begins_in_s))]
    fn new(
        place: HostPlace,
        flow: &str,
        loss: f64,
        seed: u64,
        trace_every_s: Option<f64>,
        begins_in_s: f64,
    ) -> PyResult<Self> {
        let (tcp, algorithm) = settings(flow).map_err(|e| ScenarioError::new_err(e.to_string()))?;
        let config = HostConfig {
            place: place.settings()?,
            tcp: modern::Config { trace: true, ..tcp },
            loss: (loss > 0.0).then_some(Loss {
                probability: loss,
                seed,
            }),
            begins_in: wait(begins_in_s),
        };
        let host = LiveHost::open(&place.interface, config, algorithm)
            .map_err(|e| SwitchError::new_err(e.to_string()))?;
        let tracer = trace_every_s.map(|every_s| {
            Tracer::new(Keep {
                from: Instant::ZERO,
                to: Instant::MAX,
                apart: Duration::from_secs_f64(every_s),
            })
        });
        Ok(Host {
            transfer: Transfer::new(host),
            seen: Seen {
                tracer,
                ..Seen::default()
            },
            zeros: None,
            read: 0,
        })
    }

    /// Starts to open a connection.
    fn connect(&mut self, address: IpAddr, port: u16) -> PyResult<()> {
        let remote = SocketAddrV4::new(place::v4(address)?, port);
        let begun = self.transfer.connect(remote);
        begun.map_err(|e| SwitchError::new_err(e.to_string()))
    }

    /// Waits until the connection is open, for at most `seconds`. Returns whether it is.
    fn wait_open(&mut self, py: Python<'_>, seconds: f64) -> PyResult<bool> {
        let until = self.after(seconds);
        self.watched(py, |transfer, watch| transfer.wait_open(until, watch))
    }

    /// Waits for an incoming connection to `port`.
    fn accept(&mut self, py: Python<'_>, port: u16) -> PyResult<()> {
        self.watched(py, |transfer, watch| {
            transfer.accept(port, Instant::MAX, watch)
        })?;
        Ok(())
    }

    /// Sends zeros for `seconds`, or until `octets` octets were written in total. Returns whether they were.
    #[pyo3(signature = (seconds, octets))]
    fn send(&mut self, py: Python<'_>, seconds: f64, octets: Option<u64>) -> PyResult<bool> {
        let until = self.after(seconds);
        let mut zeros = self.zeros.unwrap_or(Zeros(octets.unwrap_or(u64::MAX)));
        let sent = self.watched(py, |transfer, watch| {
            transfer.send(&mut zeros, until, watch)
        });
        self.zeros = Some(zeros);
        sent
    }

    /// Reads received data for `seconds`. Returns whether the other end has closed the stream.
    fn receive(&mut self, py: Python<'_>, seconds: f64) -> PyResult<bool> {
        let until = self.after(seconds);
        let mut read = 0;
        let received = self.watched(py, |transfer, watch| {
            transfer.receive(&mut |octets| read += octets.len() as u64, until, watch)
        });
        self.read += read;
        received
    }

    /// Closes this end of the connection. `abandon` drops data that was written and never sent.
    #[pyo3(signature = (*, abandon))]
    fn close(&mut self, abandon: bool) {
        self.transfer.close(abandon);
    }

    /// After [`Host::close`], waits until all written data is acknowledged, for at most `seconds`. Returns whether it
    /// is.
    fn wait_acknowledged(&mut self, py: Python<'_>, seconds: f64) -> PyResult<bool> {
        let until = self.after(seconds);
        self.watched(py, |transfer, watch| {
            transfer.wait_acknowledged(until, watch)
        })
    }

    /// The counters so far, and the newest values from acknowledgements.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let connection = self.transfer.connection();
        let stats = connection.map(|c| (c.stats(), u64::from(c.payload())));
        let seconds = |d: Option<Duration>| d.map(Duration::as_secs_f64);
        let controller = self.seen.newest.map(|newest| newest.controller);
        let state = PyDict::new(py);
        state.set_item("time_s", self.transfer.now().as_secs_f64())?;
        state.set_item("read_octets", self.read)?;
        state.set_item(
            "acked_octets",
            stats.map_or(0, |(s, payload)| s.acked * payload),
        )?;
        state.set_item("resent", stats.map_or(0, |(s, _)| s.resent))?;
        state.set_item("cwnd", controller.map(|c| c.cwnd))?;
        state.set_item("rtt_s", seconds(self.seen.rtt))?;
        state.set_item("base_rtt_s", seconds(controller.and_then(|c| c.base_rtt)))?;
        state.set_item("aqt_forward_s", self.seen.marks.forward_s)?;
        state.set_item("aqt_backward_s", self.seen.marks.backward_s)?;
        state.set_item("mrai", self.seen.marks.mrai)?;
        state.set_item("ci", self.seen.marks.ci)?;
        Ok(state)
    }

    /// Removes and returns the trace. `None` if there is none.
    fn trace<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let tracer = self.seen.tracer.take();
        tracer.map(|t| results::trace(py, t.finish())).transpose()
    }
}

impl Host {
    /// The time `seconds` from now.
    fn after(&self, seconds: f64) -> Instant {
        self.transfer.now() + wait(seconds)
    }

    /// Runs a part of the transfer. Ctrl-C interrupts it.
    fn watched(
        &mut self,
        py: Python<'_>,
        act: impl FnOnce(&mut Transfer, &mut dyn Watch) -> Result<bool, TransferError>,
    ) -> PyResult<bool> {
        let mut watch = Watcher {
            py,
            seen: &mut self.seen,
            raised: None,
        };
        let done = act(&mut self.transfer, &mut watch);
        done.map_err(|error| match watch.raised {
            Some(raised) => raised,
            None => SwitchError::new_err(error.to_string()),
        })
    }
}

/// Checks for signals, and records observations of a transfer.
struct Watcher<'a, 'py> {
    py: Python<'py>,
    seen: &'a mut Seen,
    /// The exception that a signal handler has raised.
    raised: Option<PyErr>,
}

impl Watch for Watcher<'_, '_> {
    fn proceed(&mut self) -> bool {
        self.raised = self.py.check_signals().err();
        self.raised.is_none()
    }

    fn change(&mut self, change: &Trace) {
        let seen = &mut *self.seen;
        if let Some(tracer) = &mut seen.tracer {
            tracer.record(change);
        }
        let exact = |q: Option<congestion::QueueingTime>| Some(q?.exact()?.as_secs_f64());
        seen.rtt = change.rtt.or(seen.rtt);
        seen.marks.forward_s = exact(change.aqt_echo).or(seen.marks.forward_s);
        seen.marks.backward_s = exact(change.aqt_backward).or(seen.marks.backward_s);
        seen.marks.mrai = change.mrai.or(seen.marks.mrai);
        seen.marks.ci += u64::from(change.ci_echo);
        seen.newest = Some(*change);
    }
}

/// The configuration of a connection in the modern profile, and its congestion control.
fn settings(json: &str) -> Result<(modern::Config, Arc<dyn Factory>), DataError> {
    let settings = Settings::from_json("flow", json)?;
    let Profile::Modern(profile) = &settings.profile else {
        let message = "hosts on interfaces have the modern profile";
        return Err(DataError::new("flow.profile.ns2", message));
    };
    let algorithm = settings.factory(&Controls::new(), "flow")?;
    Ok((settings.modern(profile), algorithm))
}
