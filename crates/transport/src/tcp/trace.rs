//! One record for every change, for traces and figures.

use congestion::{QueueingTime, Snapshot, Verdicts};
use units::{Duration, Instant};

/// The state after a change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trace {
    /// When it changed.
    pub now: Instant,
    /// What changed it.
    pub change: Change,
    /// Segments acknowledged so far.
    pub acked: u64,
    /// The next segment to send.
    pub next: u64,
    /// Segments sent and not acknowledged.
    pub in_flight: u64,
    /// The fine-grained RTT that this change brought, if any.
    pub rtt: Option<Duration>,
    /// The forward queueing time that this change brought, if any.
    pub aqt_echo: Option<QueueingTime>,
    /// The backward queueing time that this change brought, if any.
    pub aqt_backward: Option<QueueingTime>,
    /// The MRAI-Echo that this change brought, if any.
    pub mrai: Option<u8>,
    /// This change brought a congestion indication.
    pub ci_echo: bool,
    /// How losses were judged so far.
    pub verdicts: Verdicts,
    /// The controller: cwnd, ssthresh, base RTT, diff, phase.
    pub controller: Snapshot,
}

/// What changed a connection's state.
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
    /// The retransmission timer ran out.
    Timeout,
    /// A segment was found lost by the time that passed (RACK).
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
