//! The interface between a transport and its congestion control.

use std::fmt::Debug;
use std::sync::Arc;

use units::{Duration, Instant};

use crate::event::{AckEvent, LossEvent, TimeoutEvent, TrimEvent};

/// A congestion control: receives events and determines the window.
///
/// Loss recovery decides *which* segment to resend and when. The controller decides the effect on the window. All
/// methods except those for growth, loss and timeout have usable defaults.
///
/// Every acknowledgement of data calls exactly one of [`Controller::on_ack`], [`Controller::on_partial_ack`] and
/// [`Controller::on_duplicate_ack`]. The modern profile never inflates a window in recovery: it counts the data in
/// flight, and never calls [`Controller::on_departure`].
pub trait Controller: Debug + Send {
    /// The congestion window, in segments. Fractions accumulate.
    fn cwnd(&self) -> f64;

    /// The slow-start threshold, in segments.
    fn ssthresh(&self) -> f64;

    /// The connection is open. `_rtt` is the duration of the handshake. The modern profile calls this only if the SYN
    /// was sent once.
    fn on_connected(&mut self, _rtt: Duration) {}

    /// A segment is sent, for the first time or again.
    fn on_sent(&mut self, _now: Instant, _segment: u64) {}

    /// New data was acknowledged. Called after [`Controller::on_recovered`] and before anything is sent.
    fn on_ack(&mut self, ack: &AckEvent);

    /// New data was acknowledged, but not enough to end the current recovery.
    fn on_partial_ack(&mut self, _ack: &AckEvent) {}

    /// A duplicate acknowledgement arrived. Its marks count regardless of its effect on loss recovery.
    fn on_duplicate_ack(&mut self, _ack: &AckEvent) {}

    /// A duplicate arrived after the fast retransmit: one more segment has left the network.
    fn on_departure(&mut self, _now: Instant) {}

    /// A segment was detected as lost, other than by the timer.
    fn on_loss(&mut self, loss: &LossEvent);

    /// A switch trimmed a segment, if packets under this control may be trimmed ([`crate::Need::Trimming`]).
    fn on_trimmed(&mut self, _trimmed: &TrimEvent) {}

    /// An acknowledgement shows that data was marked (ECN; RFC 3168, §6.1.2). Called at most once per window of data,
    /// and not during recovery from a loss. By default it is handled like a loss.
    fn on_congestion_mark(&mut self, mark: &LossEvent) {
        self.on_loss(mark);
    }

    /// The first new acknowledgement after a recovery that inflated the window. In the modern profile, after any
    /// recovery.
    fn on_recovered(&mut self, _now: Instant) {}

    /// The retransmission timer expired.
    fn on_timeout(&mut self, timeout: &TimeoutEvent);

    /// The pacing rate, in segments per second. `None` leaves the timing to the window and the transport. A transport
    /// that does not pace ignores it.
    fn pacing_rate(&self) -> Option<f64> {
        None
    }

    /// How losses detected without the timer were classified. Zero if the control does not classify them.
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

/// Counts of classified losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdicts {
    /// Losses that are not related to the path's capacity.
    pub random: u64,
    /// Losses caused by a full queue.
    pub congestion: u64,
    /// The segment whose loss was classified last.
    pub newest: Option<u64>,
}

/// Creates controllers for connections. Implemented by the config of each algorithm.
pub trait Factory: Debug + Send + Sync {
    /// Creates a controller for a new connection.
    fn build(&self, limits: &Limits) -> Box<dyn Controller>;
}

impl<F: Factory + ?Sized> Factory for Arc<F> {
    fn build(&self, limits: &Limits) -> Box<dyn Controller> {
        self.as_ref().build(limits)
    }
}

/// The parameters of the window that the connection determines rather than the algorithm, in segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// The initial congestion window.
    pub initial_window: f64,
    /// The initial slow-start threshold. The papers' simulator uses the receiver's window.
    pub initial_ssthresh: f64,
    /// The maximum congestion window, if there is one.
    pub max_cwnd: Option<f64>,
    /// The size of a full segment on links, in octets.
    pub packet_octets: u32,
    /// The rate of the link through which segments leave in bits per second, if known.
    pub line_bps: Option<f64>,
}

impl Limits {
    /// `cwnd`, limited to the maximum.
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

/// The phase of a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Searching for the capacity of the path: cwnd is below ssthresh.
    SlowStart,
    /// Near the capacity of the path, probing slowly.
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

/// The state of a controller at one moment, for traces and figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Snapshot {
    /// The congestion window, in segments.
    pub cwnd: f64,
    /// The slow-start threshold, in segments.
    pub ssthresh: f64,
    /// The current phase.
    pub phase: Phase,
    /// The controller's estimate of the propagation delay (Vegas and its variants).
    pub base_rtt: Option<Duration>,
    /// Expected minus actual throughput times base RTT, in segments, in the last round (Vegas and its variants).
    pub diff: Option<f64>,
}
