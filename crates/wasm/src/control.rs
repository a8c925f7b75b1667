//! A congestion control that the page provides: three callbacks, as those of a control in Python.

use congestion::{AckEvent, Controller, Factory, Limits, LossEvent, QueueingTime, TimeoutEvent};
use serde_json::{Value, json};
use std::fmt;
use std::sync::{Arc, OnceLock};
use units::Duration;

/// Makes the control of a flow.
#[derive(Debug)]
pub struct PageFactory {
    /// The flow's name in the scenario, for the page to tell controls apart.
    pub flow: String,
    /// Shared by all controls of a run.
    pub failure: Failure,
}

/// What a control did wrong first; from then on none is called.
#[derive(Clone, Debug, Default)]
pub struct Failure(Arc<OnceLock<String>>);

impl Failure {
    /// The error, if there is one.
    pub fn message(&self) -> Option<&str> {
        self.0.get().map(String::as_str)
    }
}

/// A control of the page's.
struct PageControl {
    flow: String,
    cwnd: f64,
    ssthresh: f64,
    pacing_rate: Option<f64>,
    failure: Failure,
}

impl fmt::Debug for PageControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PageControl({:?}, cwnd {})", self.flow, self.cwnd)
    }
}

/// No window is larger, in segments.
const MAX_WINDOW: f64 = 1e9;

impl Factory for PageFactory {
    fn build(&self, limits: &Limits) -> Box<dyn Controller> {
        let mut control = PageControl {
            flow: self.flow.clone(),
            cwnd: limits.initial_window,
            ssthresh: limits.initial_ssthresh,
            pacing_rate: None,
            failure: self.failure.clone(),
        };
        control.call(
            "start",
            json!({"cwnd": control.cwnd, "ssthresh": control.ssthresh}),
        );
        Box::new(control)
    }
}

impl PageControl {
    /// Calls the page, and reads the window that it leaves.
    fn call(&mut self, method: &str, event: Value) {
        if self.failure.message().is_some() {
            return;
        }
        let event = json!({"flow": self.flow, "method": method, "event": event});
        // The page itself knows what was thrown.
        let Some([cwnd, ssthresh, rate]) = call_page(&event.to_string()) else {
            let _ = self
                .failure
                .0
                .set(format!("{}: the control failed", self.flow));
            return;
        };
        let valid = (0.0..=MAX_WINDOW).contains(&cwnd) && ssthresh >= 0.0;
        if !valid {
            let message = format!(
                "{}: after {method}, cwnd is {cwnd} and ssthresh {ssthresh}; expected segments: cwnd 0 to 1e9, \
                 ssthresh 0 or more",
                self.flow
            );
            let _ = self.failure.0.set(message);
            return;
        }
        (self.cwnd, self.ssthresh) = (cwnd, ssthresh);
        self.pacing_rate = Some(rate).filter(|rate| rate.is_finite() && *rate > 0.0);
    }

    fn call_with_loss(&mut self, method: &str, loss: &LossEvent) {
        let event = json!({
            "now": loss.now.as_secs_f64(),
            "lost": loss.lost,
            "window": loss.window,
            "duplicates": loss.duplicates,
        });
        self.call(method, event);
    }
}

#[cfg(target_arch = "wasm32")]
fn call_page(event: &str) -> Option<[f64; 3]> {
    crate::boundary::call_control(event)
}

/// Outside a page there is no control to call.
#[cfg(not(target_arch = "wasm32"))]
fn call_page(_event: &str) -> Option<[f64; 3]> {
    None
}

impl Controller for PageControl {
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    fn pacing_rate(&self) -> Option<f64> {
        self.pacing_rate
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        let seconds = |time: Option<Duration>| time.map(Duration::as_secs_f64);
        let exact = |time: Option<QueueingTime>| seconds(time.and_then(QueueingTime::exact));
        let event = json!({
            "now": ack.now.as_secs_f64(),
            "acked": ack.acked,
            "newly_acked": ack.newly_acked,
            "in_flight": ack.in_flight,
            "next": ack.next,
            "rtt": ack.rtt_s(),
            "aqt_echo": exact(ack.aqt_echo),
            "aqt_backward": exact(ack.aqt_backward),
            "mrai": ack.mrai,
            "ci_echo": ack.ci_echo,
        });
        self.call("on_ack", event);
    }

    fn on_loss(&mut self, loss: &LossEvent) {
        self.call_with_loss("on_loss", loss);
    }

    fn on_timeout(&mut self, timeout: &TimeoutEvent) {
        let event = json!({"now": timeout.now.as_secs_f64(), "window": timeout.window});
        self.call("on_timeout", event);
    }
}
