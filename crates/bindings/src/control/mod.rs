//! Congestion controls that are written in Python.
//!
//! The object is called for every event. After each call its window is read and checked. The first
//! error is kept in a [`Failure`]. From then on nothing is called, and the driver of the simulation
//! ends it.

mod event;
mod marks;

pub use event::{PyAckEvent, PyLimits, PyLossEvent, PyRateSample, PyTimeoutEvent};

use crate::errors::ControlError;
use congestion::{AckEvent, Controller, Factory, Limits, LossEvent, Phase, Snapshot, TimeoutEvent};
use marks::Marks;
use pyo3::call::PyCallArgs;
use pyo3::exceptions::{PyException, PySystemExit};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::fmt;
use std::sync::{Arc, OnceLock};
use units::{Duration, Instant};

/// The first error in any control of a simulation.
#[derive(Clone, Debug, Default)]
pub struct Failure(Arc<OnceLock<PyErr>>);

impl Failure {
    /// Returns an error if there was one.
    ///
    /// # Errors
    /// The error of the control.
    pub fn check(&self) -> PyResult<()> {
        match self.0.get() {
            None => Ok(()),
            Some(error) => Err(Python::attach(|py| error.clone_ref(py))),
        }
    }

    fn has_come(&self) -> bool {
        self.0.get().is_some()
    }

    /// Stores an exception raised at `place`, converted to a [`ControlError`] if it is an error or
    /// `sys.exit` (Ctrl-C is neither).
    fn set(&self, py: Python<'_>, place: impl FnOnce() -> String, raised: PyErr) {
        let known = raised.is_instance_of::<ControlError>(py);
        let failed =
            raised.is_instance_of::<PyException>(py) || raised.is_instance_of::<PySystemExit>(py);
        let error = match failed && !known {
            false => raised,
            true => {
                let class = raised.get_type(py).name();
                let class = class.map_or_else(|_| "an error".to_owned(), |name| name.to_string());
                let error = ControlError::new_err(format!("{} raised {class}", place()));
                error.set_cause(py, Some(raised));
                error
            }
        };
        // A second error is a consequence of the first.
        let _ = self.0.set(error);
    }
}

/// Creates the control of a flow by calling Python.
#[derive(Debug)]
pub struct PyFactory {
    /// The flow's name, for messages.
    pub flow: String,
    /// Called without arguments, returns a control.
    pub make: Py<PyAny>,
    /// Shared by all controls of the simulation.
    pub failure: Failure,
}

impl Factory for PyFactory {
    fn build(&self, limits: &Limits) -> Box<dyn Controller> {
        let made = Python::attach(|py| match self.start(py, *limits) {
            Ok(control) => Some(control),
            Err(raised) => {
                let place = || format!("{}: making the control", self.flow);
                self.failure.set(py, place, raised);
                None
            }
        });
        match made {
            Some(control) => Box::new(control),
            None => Box::new(congestion::RenoConfig {}.build(limits)),
        }
    }
}

impl PyFactory {
    fn start(&self, py: Python<'_>, limits: Limits) -> PyResult<PyController> {
        let object = self.make.call0(py)?.into_bound(py);
        let class = object.get_type().name()?.to_string();
        object.call_method1(intern!(py, "on_start"), (PyLimits(limits),))?;
        let mut control = PyController {
            flow: self.flow.clone(),
            class,
            window: Window {
                cwnd: limits.initial_window,
                ssthresh: limits.initial_ssthresh,
                pacing_rate: None,
            },
            failure: self.failure.clone(),
            marks: Arc::new(Marks::of(&object)?),
            object: object.clone().unbind(),
        };
        control.window = Window::read(&object, &control.place("on_start", Instant::ZERO))?;
        Ok(control)
    }
}

/// A control in Python, behind the interface of all controls.
#[derive(Debug)]
struct PyController {
    flow: String,
    /// The class's name, for messages.
    class: String,
    object: Py<PyAny>,
    marks: Arc<Marks>,
    window: Window,
    failure: Failure,
}

/// The place of an error.
struct Place<'a> {
    control: &'a PyController,
    method: &'static str,
    now: Instant,
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PyController { flow, class, .. } = self.control;
        let time_s = self.now.as_secs_f64();
        write!(f, "{flow}: {class}.{} at {time_s:.6} s", self.method)
    }
}

impl PyController {
    fn place(&self, method: &'static str, now: Instant) -> Place<'_> {
        Place {
            control: self,
            method,
            now,
        }
    }

    /// Calls a method, and reads the resulting window.
    fn call<A>(&mut self, method: &'static str, now: Instant, arguments: A)
    where
        A: for<'py> PyCallArgs<'py>,
    {
        if self.failure.has_come() {
            return;
        }
        let called = Python::attach(|py| {
            let place = self.place(method, now);
            let object = self.object.bind(py);
            object
                .call_method1(PyString::intern(py, method), arguments)
                .and_then(|returned| returns_nothing(&returned, &place))
                .and_then(|()| Window::read(object, &place))
                .map_err(|raised| self.failure.set(py, || place.to_string(), raised))
        });
        if let Ok(window) = called {
            self.window = window;
        }
    }

    fn call_with_ack(&mut self, method: &'static str, ack: &AckEvent) {
        let event = PyAckEvent(*ack, self.marks.clone());
        self.call(method, ack.now, (event,));
    }

    /// `base_rtt` and `diff`, which a control may leave at `None`.
    fn shown(&self, object: &Bound<'_, PyAny>) -> PyResult<(Option<f64>, Option<f64>)> {
        let py = object.py();
        let optional = |name| object.getattr(name)?.extract::<Option<f64>>();
        let base_rtt = optional(intern!(py, "base_rtt"))?;
        if let Some(base) = base_rtt.filter(|base| !(base.is_finite() && *base >= 0.0)) {
            let message = format!(
                "{}: {}.base_rtt is {base}; expected seconds, 0 or more, or None",
                self.flow, self.class
            );
            return Err(ControlError::new_err(message));
        }
        Ok((base_rtt, optional(intern!(py, "diff"))?))
    }
}

/// The window and rate of a control, in segments and segments per second.
#[derive(Clone, Copy, Debug)]
struct Window {
    cwnd: f64,
    ssthresh: f64,
    pacing_rate: Option<f64>,
}

/// The maximum window, in segments.
const MAX_WINDOW: f64 = 1e9;

impl Window {
    fn read(object: &Bound<'_, PyAny>, place: &Place<'_>) -> PyResult<Self> {
        let py = object.py();
        let name = intern!(py, "pacing_rate");
        let pacing_rate = match object.getattr(name)?.is_none() {
            true => None,
            false => {
                let above = |rate: f64| rate.is_finite() && rate > 0.0;
                let expected = "segments per second, above 0, or None";
                Some(number(object, name, above, expected, place)?)
            }
        };
        let within = |cwnd| (0.0..=MAX_WINDOW).contains(&cwnd);
        let expected = "a number of segments, 0 to 1e9";
        let cwnd = number(object, intern!(py, "cwnd"), within, expected, place)?;
        let positive = |ssthresh| ssthresh >= 0.0;
        let expected = "a number of segments, 0 or more";
        let ssthresh = number(object, intern!(py, "ssthresh"), positive, expected, place)?;
        Ok(Window {
            cwnd,
            ssthresh,
            pacing_rate,
        })
    }
}

fn returns_nothing(returned: &Bound<'_, PyAny>, place: &Place<'_>) -> PyResult<()> {
    if returned.is_none() {
        return Ok(());
    }
    let message = format!(
        "{place} returned {}; expected None: set the window in self.cwnd",
        returned.repr()?
    );
    Err(ControlError::new_err(message))
}

/// Reads an attribute that must be a valid number.
fn number(
    object: &Bound<'_, PyAny>,
    name: &Bound<'_, PyString>,
    valid: fn(f64) -> bool,
    expected: &str,
    place: &Place<'_>,
) -> PyResult<f64> {
    let value = object.getattr(name)?;
    match value.extract::<f64>() {
        Ok(number) if valid(number) => Ok(number),
        _ => {
            let shown = value.repr()?;
            let message = format!("after {place}: {name} is {shown}; expected {expected}");
            Err(ControlError::new_err(message))
        }
    }
}

impl Controller for PyController {
    fn cwnd(&self) -> f64 {
        self.window.cwnd
    }

    fn ssthresh(&self) -> f64 {
        self.window.ssthresh
    }

    fn on_sent(&mut self, now: Instant, segment: u64) {
        self.call("on_sent", now, (now.as_secs_f64(), segment));
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        self.call_with_ack("on_ack", ack);
    }

    fn on_partial_ack(&mut self, ack: &AckEvent) {
        self.call_with_ack("on_partial_ack", ack);
    }

    fn on_duplicate_ack(&mut self, ack: &AckEvent) {
        self.call_with_ack("on_duplicate_ack", ack);
    }

    fn on_departure(&mut self, now: Instant) {
        self.call("on_departure", now, (now.as_secs_f64(),));
    }

    fn on_loss(&mut self, loss: &LossEvent) {
        self.call("on_loss", loss.now, (PyLossEvent(*loss),));
    }

    fn on_congestion_mark(&mut self, mark: &LossEvent) {
        self.call("on_congestion_mark", mark.now, (PyLossEvent(*mark),));
    }

    fn pacing_rate(&self) -> Option<f64> {
        self.window.pacing_rate
    }

    fn on_recovered(&mut self, now: Instant) {
        self.call("on_recovered", now, (now.as_secs_f64(),));
    }

    fn on_timeout(&mut self, timeout: &TimeoutEvent) {
        self.call("on_timeout", timeout.now, (PyTimeoutEvent(*timeout),));
    }

    fn snapshot(&self) -> Snapshot {
        let shown = Python::attach(|py| {
            self.shown(self.object.bind(py)).unwrap_or_else(|raised| {
                let place = || format!("{}: {}.base_rtt or diff", self.flow, self.class);
                self.failure.set(py, place, raised);
                (None, None)
            })
        });
        Snapshot {
            cwnd: self.cwnd(),
            ssthresh: self.ssthresh(),
            phase: match self.cwnd() < self.ssthresh() {
                true => Phase::SlowStart,
                false => Phase::Avoidance,
            },
            base_rtt: shown.0.map(Duration::from_secs_f64),
            diff: shown.1,
        }
    }
}
