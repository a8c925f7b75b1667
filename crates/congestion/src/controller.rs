//! The seam between a transport and its congestion control.

use std::fmt::Debug;
use std::sync::Arc;

use units::{Duration, Instant};

use crate::event::{AckEvent, LossEvent, TimeoutEvent, TrimEvent};

/// A congestion control: told what happened, asked for the window.
///
/// Loss recovery decides *which* segment to resend and when; the controller decides what that means
/// for the window. Everything but growth, loss and timeout may be left at its default.
///
/// Every acknowledgement of data calls exactly one of [`Controller::on_ack`],
/// [`Controller::on_partial_ack`] and [`Controller::on_duplicate_ack`]. The modern profile never
/// inflates a window in recovery: it counts what is in flight, and never calls
/// [`Controller::on_departure`].
pub trait Controller: Debug + Send {
    /// The congestion window, in segments; fractions accumulate.
    fn cwnd(&self) -> f64;

    /// The slow-start threshold, in segments.
    fn ssthresh(&self) -> f64;

    /// The connection is open, and its first exchange took that long. The modern profile calls it if the SYN was
    /// sent once.
    fn on_connected(&mut self, _rtt: Duration) {}

    /// A segment leaves, for the first time or again.
    fn on_sent(&mut self, _now: Instant, _segment: u64) {}

    /// New data was acknowledged. Called after [`Controller::on_recovered`], before anything is
    /// sent.
    fn on_ack(&mut self, ack: &AckEvent);

    /// New data was acknowledged, but less than ends the recovery that is going on.
    fn on_partial_ack(&mut self, _ack: &AckEvent) {}

    /// A duplicate acknowledgement arrived; its marks count, whatever loss recovery makes of it.
    fn on_duplicate_ack(&mut self, _ack: &AckEvent) {}

    /// A duplicate after the fast retransmit: one more segment has left the network.
    fn on_departure(&mut self, _now: Instant) {}

    /// A segment was found lost without the timer.
    fn on_loss(&mut self, loss: &LossEvent);

    /// A switch trimmed a segment, where the control's packets may be trimmed ([`crate::Need::Trimming`]).
    fn on_trimmed(&mut self, _trimmed: &TrimEvent) {}

    /// An acknowledgement shows that a congestion mark was set on data (RFC 3168, §6.1.2); at most
    /// once a window of data, and not while a loss is being recovered from. As a loss, unless the
    /// algorithm knows better.
    fn on_congestion_mark(&mut self, mark: &LossEvent) {
        self.on_loss(mark);
    }

    /// The first new acknowledgement after a recovery that inflated the window; in the modern
    /// profile after any.
    fn on_recovered(&mut self, _now: Instant) {}

    /// The retransmission timer ran out.
    fn on_timeout(&mut self, timeout: &TimeoutEvent);

    /// How fast segments may leave, in segments per second; `None`: as the window and the transport
    /// have it. A transport that does not pace ignores it.
    fn pacing_rate(&self) -> Option<f64> {
        None
    }

    /// How losses found without the timer were judged; zeros where none is.
    fn verdicts(&self) -> Verdicts {
        Verdicts::default()
    }

    /// The state for traces and figures.
    fn snapshot(&self) -> Snapshot {
        let phase = if self.cwnd() < self.ssthresh() {
            Phase::SlowStart
        } else {
            Phase::Avoidance
        };
        Snapshot {
            cwnd: self.cwnd(),
            ssthresh: self.ssthresh(),
            phase,
            base_rtt: None,
            diff: None,
        }
    }
}

/// How many losses were taken for what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdicts {
    /// Losses that say nothing about the path's capacity.
    pub random: u64,
    /// Losses by a full queue.
    pub congestion: u64,
    /// The segment judged last.
    pub newest: Option<u64>,
}

/// What makes a controller for a connection: each algorithm's config.
pub trait Factory: Debug + Send + Sync {
    /// A controller at the start of its connection.
    fn build(&self, limits: &Limits) -> Box<dyn Controller>;
}

impl<F: Factory + ?Sized> Factory for Arc<F> {
    fn build(&self, limits: &Limits) -> Box<dyn Controller> {
        self.as_ref().build(limits)
    }
}

/// What the connection, not the algorithm, says about the window, in segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// The first congestion window.
    pub initial_window: f64,
    /// The first slow-start threshold; the papers' simulator takes the receiver's window.
    pub initial_ssthresh: f64,
    /// A cap of the congestion window, if any.
    pub max_cwnd: Option<f64>,
    /// Octets that a full segment takes on links.
    pub packet_octets: u32,
    /// Bits per second of the link that segments leave by, where that is known.
    pub line_bps: Option<f64>,
}

impl Limits {
    /// `cwnd` under the cap.
    pub(crate) fn cap(&self, cwnd: f64) -> f64 {
        match self.max_cwnd {
            Some(max) if cwnd.floor() > max => max,
            _ => cwnd,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            initial_window: 1.0,
            initial_ssthresh: 1000.0,
            max_cwnd: None,
            packet_octets: 1500,
            line_bps: None,
        }
    }
}

/// What a controller is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Looking for the path's capacity: cwnd below ssthresh.
    SlowStart,
    /// At the path's capacity, probing gently.
    Avoidance,
}

impl Phase {
    /// The name used in tables and figures.
    pub const fn name(self) -> &'static str {
        match self {
            Phase::SlowStart => "slow_start",
            Phase::Avoidance => "avoidance",
        }
    }
}

/// A controller's state at one moment, for traces and figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Snapshot {
    /// The congestion window, in segments.
    pub cwnd: f64,
    /// The slow-start threshold, in segments.
    pub ssthresh: f64,
    /// What the controller is doing.
    pub phase: Phase,
    /// The propagation delay as the controller knows it (Vegas and its variants).
    pub base_rtt: Option<Duration>,
    /// Expected minus actual throughput times base RTT, in segments, as of the last round (Vegas
    /// and its variants).
    pub diff: Option<f64>,
}
