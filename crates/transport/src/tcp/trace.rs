//! A record for every change of state, for traces and figures.

use congestion::{QueueingTime, Snapshot, Verdicts};
use units::{Duration, Instant};

/// The state after a change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trace {
    /// The time of the change.
    pub now: Instant,
    /// The cause of the change.
    pub change: Change,
    /// Segments acknowledged so far.
    pub acked: u64,
    /// The next segment to send.
    pub next: u64,
    /// Segments sent and not acknowledged.
    pub in_flight: u64,
    /// The fine-grained RTT measured by this change, if any.
    pub rtt: Option<Duration>,
    /// The forward queueing time reported by this change, if any.
    pub aqt_echo: Option<QueueingTime>,
    /// The backward queueing time reported by this change, if any.
    pub aqt_backward: Option<QueueingTime>,
    /// The MRAI-Echo reported by this change, if any.
    pub mrai: Option<u8>,
    /// Whether this change reported a congestion indication.
    pub ci_echo: bool,
    /// How losses were classified so far.
    pub verdicts: Verdicts,
    /// The controller: cwnd, ssthresh, base RTT, diff, phase.
    pub controller: Snapshot,
}

/// The cause of a change of a connection's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// New data was acknowledged.
    Ack,
    /// A duplicate acknowledgement arrived.
    DuplicateAck,
    /// A segment was sent for the first time.
    Sent,
    /// A segment was sent again.
    Resent,
    /// The retransmission timer expired.
    Timeout,
    /// A segment was detected as lost by time (RACK).
    Loss,
}

impl Change {
    /// The name used in tables and figures.
    pub const fn name(self) -> &'static str {
        match self {
            Change::Ack => "ack",
            Change::DuplicateAck => "duplicate_ack",
            Change::Sent => "sent",
            Change::Resent => "resent",
            Change::Timeout => "timeout",
            Change::Loss => "loss",
        }
    }
}
