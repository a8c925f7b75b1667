//! Observing a run: the current state of lines and flows, and an observer of packets.
//!
//! Observation never changes the results of a run.

use engine::Packet;
use std::fmt::Debug;

/// Receives notifications about packets. Without an observer, no notification is constructed.
pub trait Observer: Debug + Send {
    /// A packet was transmitted on a line.
    fn sent(&mut self, sent: Sent<'_>);

    /// A packet is about to enter a switch's program.
    fn enters(&mut self, switch: usize, packet: &Packet);

    /// The program has finished with the packet that entered: it was enqueued or dropped.
    fn entered(&mut self, switch: usize);

    /// A packet left a switch. The notifications of the switch's tracer for its egress came just
    /// before.
    fn left(&mut self, switch: usize, packet: &Packet);
}

/// A transmission.
#[derive(Clone, Copy, Debug)]
pub struct Sent<'a> {
    /// The line's index in [`Simulation::lines`](crate::Simulation::lines).
    pub line: usize,
    /// When transmission of its first octet starts, in seconds.
    pub start_s: f64,
    /// When its last octet arrives, in seconds.
    pub arrive_s: f64,
    /// Whether it is lost in flight.
    pub lost: bool,
    /// The packet.
    pub packet: &'a Packet,
}

/// The current state of one direction of a link, and of the queue in front of it.
#[derive(Clone, Debug, PartialEq)]
pub struct LineNow<'a> {
    /// `"from->to"`.
    pub name: &'a str,
    /// Bits per second.
    pub rate_bps: u64,
    /// Propagation delay in seconds.
    pub delay_s: f64,
    /// Number of waiting packets, without the one in service.
    pub waiting: u32,
}
