//! The events of `congestion` for a control in Python. Times are in seconds.

use super::marks::Marks;
use congestion::{AckEvent, Evidence, Limits, LossEvent, QueueingTime, RateSample, TimeoutEvent};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;
use units::Duration;

/// `AckEvent` of `_core.pyi`.
#[pyclass(frozen, name = "AckEvent", module = "waymark")]
pub struct PyAckEvent(pub AckEvent, pub Arc<Marks>);

/// `RateSample` of `_core.pyi`.
#[pyclass(frozen, name = "RateSample", module = "waymark")]
pub struct PyRateSample(pub RateSample);

/// `LossEvent` of `_core.pyi`.
#[pyclass(frozen, name = "LossEvent", module = "waymark")]
pub struct PyLossEvent(pub LossEvent);

/// `TimeoutEvent` of `_core.pyi`.
#[pyclass(frozen, name = "TimeoutEvent", module = "waymark")]
pub struct PyTimeoutEvent(pub TimeoutEvent);

/// `Limits` of `_core.pyi`.
#[pyclass(frozen, name = "Limits", module = "waymark")]
pub struct PyLimits(pub Limits);

fn seconds(time: Option<Duration>) -> Option<f64> {
    time.map(Duration::as_secs_f64)
}

fn exact(time: Option<QueueingTime>) -> Option<f64> {
    seconds(time.and_then(QueueingTime::exact))
}

fn from_nanos(time: Option<i64>) -> Option<f64> {
    time.map(|ns| ns as f64 / 1e9)
}

#[pymethods]
impl PyAckEvent {
    #[getter]
    fn now(&self) -> f64 {
        self.0.now.as_secs_f64()
    }

    #[getter]
    fn acked(&self) -> u64 {
        self.0.acked
    }

    #[getter]
    fn newly_acked(&self) -> u64 {
        self.0.newly_acked
    }

    #[getter]
    fn duplicates(&self) -> u32 {
        self.0.duplicates
    }

    #[getter]
    fn next(&self) -> u64 {
        self.0.next
    }

    #[getter]
    fn in_flight(&self) -> u64 {
        self.0.in_flight
    }

    #[getter]
    fn rtt(&self) -> Option<f64> {
        self.0.rtt_s()
    }

    #[getter]
    fn echoed_rtt(&self) -> Option<f64> {
        seconds(self.0.echoed_rtt)
    }

    #[getter]
    fn aqt_echo(&self) -> Option<f64> {
        exact(self.0.aqt_echo)
    }

    #[getter]
    fn aqt_backward(&self) -> Option<f64> {
        exact(self.0.aqt_backward)
    }

    #[getter]
    fn mrai(&self) -> Option<u8> {
        self.0.mrai
    }

    #[getter]
    fn ci_echo(&self) -> bool {
        self.0.ci_echo
    }

    #[getter]
    fn marks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.1.named(py, &self.0.marks)
    }

    #[getter]
    fn backward_marks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.1.named(py, &self.0.backward_marks)
    }

    #[getter]
    fn ts_forward(&self) -> Option<f64> {
        from_nanos(self.0.ts_forward)
    }

    #[getter]
    fn ts_backward(&self) -> Option<f64> {
        from_nanos(self.0.ts_backward)
    }

    #[getter]
    fn newly_delivered(&self) -> u64 {
        self.0.newly_delivered
    }

    #[getter]
    fn newly_lost(&self) -> u64 {
        self.0.newly_lost
    }

    #[getter]
    fn newly_marked(&self) -> u64 {
        self.0.newly_marked
    }

    #[getter]
    fn window_unused(&self) -> bool {
        self.0.window_unused
    }

    #[getter]
    fn rate(&self) -> Option<PyRateSample> {
        self.0.rate.map(PyRateSample)
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}

#[pymethods]
impl PyRateSample {
    #[getter]
    fn delivered(&self) -> u64 {
        self.0.delivered
    }

    #[getter]
    fn interval(&self) -> f64 {
        self.0.interval.as_secs_f64()
    }

    #[getter]
    fn per_second(&self) -> f64 {
        self.0.per_second()
    }

    #[getter]
    fn prior_delivered(&self) -> u64 {
        self.0.prior_delivered
    }

    #[getter]
    fn total_delivered(&self) -> u64 {
        self.0.total_delivered
    }

    #[getter]
    fn prior_in_flight(&self) -> u64 {
        self.0.prior_in_flight
    }

    #[getter]
    fn lost(&self) -> u64 {
        self.0.lost
    }

    #[getter]
    fn rtt(&self) -> f64 {
        self.0.rtt.as_secs_f64()
    }

    #[getter]
    fn app_limited(&self) -> bool {
        self.0.app_limited
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}

#[pymethods]
impl PyLossEvent {
    #[getter]
    fn now(&self) -> f64 {
        self.0.now.as_secs_f64()
    }

    #[getter]
    fn evidence(&self) -> &'static str {
        match self.0.evidence {
            Evidence::Duplicates => "duplicates",
            Evidence::FineTimeout => "fine_timeout",
            Evidence::Time => "time",
            Evidence::Mark => "mark",
        }
    }

    #[getter]
    fn lost(&self) -> u64 {
        self.0.lost
    }

    #[getter]
    fn sent_at(&self) -> Option<f64> {
        self.0.sent_at.map(|at| at.as_secs_f64())
    }

    #[getter]
    fn transmissions(&self) -> u32 {
        self.0.transmissions
    }

    #[getter]
    fn duplicates(&self) -> u32 {
        self.0.duplicates
    }

    #[getter]
    fn window(&self) -> u64 {
        self.0.window
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}

#[pymethods]
impl PyTimeoutEvent {
    #[getter]
    fn now(&self) -> f64 {
        self.0.now.as_secs_f64()
    }

    #[getter]
    fn window(&self) -> u64 {
        self.0.window
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}

#[pymethods]
impl PyLimits {
    #[getter]
    fn initial_window(&self) -> f64 {
        self.0.initial_window
    }

    #[getter]
    fn initial_ssthresh(&self) -> f64 {
        self.0.initial_ssthresh
    }

    #[getter]
    fn max_cwnd(&self) -> Option<f64> {
        self.0.max_cwnd
    }

    #[getter]
    fn packet_octets(&self) -> u32 {
        self.0.packet_octets
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}
