//! Watching a run: the state of lines and flows now, and an observer of packets.
//!
//! Nothing here changes a run: with and without an observer it gives the same results.

use engine::Packet;
use std::fmt::Debug;

/// Listens to packets. Nothing is prepared for it while there is none.
pub trait Observer: Debug + Send {
    /// A packet was put on a line.
    fn sent(&mut self, sent: Sent<'_>);

    /// A packet is about to enter a switch's program.
    fn enters(&mut self, switch: usize, packet: &Packet);

    /// The program is done with the packet that entered: it waits in a queue, or was dropped.
    fn entered(&mut self, switch: usize);

    /// A packet left a switch; what the switch's tracer heard of its egress came just before.
    fn left(&mut self, switch: usize, packet: &Packet);
}

/// A transmission.
#[derive(Clone, Copy, Debug)]
pub struct Sent<'a> {
    /// The line's index in [`Simulation::lines`](crate::Simulation::lines).
    pub line: usize,
    /// When its first octet leaves, in seconds.
    pub start_s: f64,
    /// When its last octet arrives, in seconds.
    pub arrive_s: f64,
    /// It is lost on the way.
    pub lost: bool,
    /// The packet.
    pub packet: &'a Packet,
}

/// One direction of a link, and the queue in front of it, as they are now.
#[derive(Clone, Debug, PartialEq)]
pub struct LineNow<'a> {
    /// `"from->to"`.
    pub name: &'a str,
    /// Bits per second.
    pub rate_bps: u64,
    /// Seconds of propagation.
    pub delay_s: f64,
    /// Packets that wait; the one in service does not.
    pub waiting: u32,
}
