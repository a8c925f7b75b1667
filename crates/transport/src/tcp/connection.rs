//! One TCP connection, both directions.

use congestion::{Factory, Snapshot};
use units::Instant;

use super::config::Config;
use super::segment::Segment;
use super::trace::Trace;

/// A connection: `handle_*` in, `poll_*` out.
#[derive(Debug)]
pub struct Connection {}

/// Counters of a connection since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Data segments sent, retransmissions included.
    pub sent: u64,
    /// Retransmissions among them.
    pub resent: u64,
    /// Data segments acknowledged.
    pub acked: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Losses found without the timer.
    pub losses: u64,
    /// Data segments that arrived, copies included.
    pub received: u64,
    /// Payload octets that arrived in order.
    pub delivered_octets: u64,
    /// Acknowledgements sent.
    pub acks_sent: u64,
}

impl Connection {
    /// An established connection that controls its window as `algorithm` says.
    pub fn new(_config: &Config, _algorithm: &dyn Factory) -> Self {
        todo!()
    }

    /// A segment arrived.
    pub fn handle_segment(&mut self, _now: Instant, _segment: &Segment) {
        todo!()
    }

    /// The next segment to send, if the window, the supply and loss recovery allow one now.
    pub fn poll_transmit(&mut self, _now: Instant) -> Option<Segment> {
        todo!()
    }

    /// When [`Connection::handle_timeout`] wants to be called next.
    pub fn poll_timeout(&self) -> Option<Instant> {
        todo!()
    }

    /// Time has come to what [`Connection::poll_timeout`] said; earlier calls do nothing.
    pub fn handle_timeout(&mut self, _now: Instant) {
        todo!()
    }

    /// The next record of what changed; `None` when read up, or if [`Config::trace`] is off.
    pub fn poll_trace(&mut self) -> Option<Trace> {
        todo!()
    }

    /// The application stops: nothing new is sent, what was sent is still repaired.
    pub fn stop(&mut self) {
        todo!()
    }

    /// Everything supplied was sent and acknowledged.
    pub fn is_finished(&self) -> bool {
        todo!()
    }

    /// Counters.
    pub fn stats(&self) -> Stats {
        todo!()
    }

    /// The congestion control's state.
    pub fn snapshot(&self) -> Snapshot {
        todo!()
    }
}
