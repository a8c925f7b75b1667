//! A TCP host on an interface, and one transfer of it.

use crate::errors::{ScenarioError, SwitchError};
use crate::place::{self, HostPlace, wait};
use crate::results;
use dataplane_io::host::{Host as LiveHost, HostConfig, Loss};
use netsim::trace::{Keep, Tracer};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::net::{IpAddr, SocketAddrV4};
use transport::tcp::Trace;
use transport::tcp::modern::Id;
use units::{Duration, Instant};

/// How long Ctrl-C may wait.
const SIGNALS: Duration = Duration::from_millis(50);

/// A host and its one connection. It stays in the thread that made it.
#[pyclass(unsendable)]
pub struct Host {
    host: LiveHost,
    connection: Option<Id>,
    tracer: Option<Tracer>,
    /// The newest of each value that acknowledgements bring.
    newest: Option<Trace>,
    rtt: Option<Duration>,
    marks: Marks,
    written: u64,
    read: u64,
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
        let (tcp, algorithm) =
            netsim::flow::settings(flow).map_err(|e| ScenarioError::new_err(e.to_string()))?;
        let config = HostConfig {
            place: place.settings()?,
            tcp: transport::tcp::modern::Config { trace: true, ..tcp },
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
            host,
            connection: None,
            tracer,
            newest: None,
            rtt: None,
            marks: Marks::default(),
            written: 0,
            read: 0,
        })
    }

    /// Begins to open a connection.
    fn connect(&mut self, address: IpAddr, port: u16) -> PyResult<()> {
        let now = self.host.now();
        let remote = SocketAddrV4::new(place::v4(address)?, port);
        let id = self.host.endpoint().connect(now, remote);
        let id = id.map_err(|e| SwitchError::new_err(e.to_string()))?;
        self.connection = Some(id);
        Ok(())
    }

    /// Waits until the connection is open, for `seconds` at most; whether it is.
    fn wait_open(&mut self, py: Python<'_>, seconds: f64) -> PyResult<bool> {
        let until = self.host.now() + wait(seconds);
        while !self.established() {
            self.check()?;
            if self.host.now() >= until {
                return Ok(false);
            }
            self.turn(py, until)?;
        }
        Ok(true)
    }

    /// Waits until a connection to `port` comes.
    fn accept(&mut self, py: Python<'_>, port: u16) -> PyResult<()> {
        let listening = self.host.endpoint().listen(port, 1);
        listening.map_err(|e| SwitchError::new_err(e.to_string()))?;
        loop {
            self.turn(py, Instant::MAX)?;
            self.connection = self.host.endpoint().accept(port);
            if self.connection.is_some() {
                return Ok(());
            }
        }
    }

    /// Sends zeros for `seconds`, or until `octets` were written in all; whether they were.
    #[pyo3(signature = (seconds, octets))]
    fn send(&mut self, py: Python<'_>, seconds: f64, octets: Option<u64>) -> PyResult<bool> {
        let until = self.host.now() + Duration::from_secs_f64(seconds);
        while self.host.now() < until {
            let left = octets.map_or(u64::MAX, |octets| octets - self.written);
            if left == 0 {
                return Ok(true);
            }
            self.check()?;
            if let Some(id) = self.connection
                && let Some(connection) = self.host.endpoint().connection_mut(id)
            {
                let count = connection.writable().min(left);
                connection
                    .write_zeros(count)
                    .map_err(|e| SwitchError::new_err(e.to_string()))?;
                self.written += count;
            }
            self.turn(py, until)?;
        }
        Ok(false)
    }

    /// Reads what comes for `seconds`; whether the other end has closed.
    fn receive(&mut self, py: Python<'_>, seconds: f64) -> PyResult<bool> {
        let until = self.host.now() + Duration::from_secs_f64(seconds);
        let mut chunk = vec![0; 64 << 10];
        while self.host.now() < until {
            let Some(id) = self.connection else {
                return Ok(true);
            };
            let endpoint = self.host.endpoint();
            loop {
                match endpoint.connection_mut(id).map(|c| c.read(&mut chunk)) {
                    Some(Ok(count)) if count > 0 => self.read += count as u64,
                    Some(Err(transport::tcp::modern::StreamError::Blocked)) => break,
                    _ => return Ok(true),
                }
            }
            self.turn(py, until)?;
        }
        Ok(false)
    }

    /// Closes this end of the connection. `abandon`: drop what was written and never sent.
    #[pyo3(signature = (*, abandon))]
    fn close(&mut self, abandon: bool) {
        let id = self.connection;
        if let Some(connection) = id.and_then(|id| self.host.endpoint().connection_mut(id)) {
            if abandon {
                connection.stop();
            }
            connection.close();
        }
    }

    /// After [`Host::close`]: waits until all that was written is acknowledged, for `seconds` at most;
    /// whether it is.
    fn wait_acknowledged(&mut self, py: Python<'_>, seconds: f64) -> PyResult<bool> {
        let until = self.host.now() + wait(seconds);
        while !self.finished() {
            self.check()?;
            if self.host.now() >= until {
                return Ok(false);
            }
            self.turn(py, until)?;
        }
        Ok(true)
    }

    /// What was carried so far, and the newest of what acknowledgements told.
    fn state<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let connection = self.connection;
        let endpoint = self.host.endpoint();
        let stats = connection
            .and_then(|id| endpoint.connection(id))
            .map(|c| (c.stats(), u64::from(c.payload())));
        let seconds = |d: Option<Duration>| d.map(Duration::as_secs_f64);
        let controller = self.newest.map(|newest| newest.controller);
        let state = PyDict::new(py);
        state.set_item("time_s", self.host.now().as_secs_f64())?;
        state.set_item("read_octets", self.read)?;
        state.set_item(
            "acked_octets",
            stats.map_or(0, |(s, payload)| s.acked * payload),
        )?;
        state.set_item("resent", stats.map_or(0, |(s, _)| s.resent))?;
        state.set_item("cwnd", controller.map(|c| c.cwnd))?;
        state.set_item("rtt_s", seconds(self.rtt))?;
        state.set_item("base_rtt_s", seconds(controller.and_then(|c| c.base_rtt)))?;
        state.set_item("aqt_forward_s", self.marks.forward_s)?;
        state.set_item("aqt_backward_s", self.marks.backward_s)?;
        state.set_item("mrai", self.marks.mrai)?;
        state.set_item("ci", self.marks.ci)?;
        Ok(state)
    }

    /// What was traced, once; `None` where nothing is.
    fn trace<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let tracer = self.tracer.take();
        tracer.map(|t| results::trace(py, t.finish())).transpose()
    }
}

impl Host {
    /// One turn, not beyond `until` and never so long that Ctrl-C has to wait.
    fn turn(&mut self, py: Python<'_>, until: Instant) -> PyResult<()> {
        py.check_signals()?;
        let most = until.since(self.host.now()).min(SIGNALS);
        self.host.turn(most);
        let Some(id) = self.connection else {
            return Ok(());
        };
        while let Some(change) = self
            .host
            .endpoint()
            .connection_mut(id)
            .and_then(|c| c.poll_trace())
        {
            if let Some(tracer) = &mut self.tracer {
                tracer.record(&change);
            }
            let exact = |q: Option<congestion::QueueingTime>| Some(q?.exact()?.as_secs_f64());
            self.rtt = change.rtt.or(self.rtt);
            self.marks.forward_s = exact(change.aqt_echo).or(self.marks.forward_s);
            self.marks.backward_s = exact(change.aqt_backward).or(self.marks.backward_s);
            self.marks.mrai = change.mrai.or(self.marks.mrai);
            self.marks.ci += u64::from(change.ci_echo);
            self.newest = Some(change);
        }
        Ok(())
    }

    fn established(&mut self) -> bool {
        let id = self.connection;
        id.and_then(|id| self.host.endpoint().connection(id))
            .is_some_and(|c| c.is_established())
    }

    fn finished(&mut self) -> bool {
        let id = self.connection;
        id.and_then(|id| self.host.endpoint().connection(id))
            .is_none_or(|c| c.is_finished())
    }

    fn check(&mut self) -> PyResult<()> {
        let id = self.connection;
        let connection = id.and_then(|id| self.host.endpoint().connection(id));
        match connection.map(|c| c.ended()) {
            Some(Some(ended)) => Err(SwitchError::new_err(ended.to_string())),
            Some(None) => Ok(()),
            None => Err(SwitchError::new_err("the connection is over")),
        }
    }
}
