//! Packets that a switch transmits, and the counters of its ports.

use p4_vm::{DropCounts, Packet};
use units::Instant;

/// A packet that leaves through a port.
#[derive(Clone, Debug, PartialEq)]
pub struct Transmit {
    /// The egress port.
    pub port: u16,
    /// The packet as it is sent.
    pub packet: Packet,
    /// When it joined its queue.
    pub enqueued: Instant,
    /// When its serialisation starts. At this time it left the queue and egress ran.
    pub start: Instant,
    /// When its serialisation ends: `start` plus its `link_octets` at the port's rate.
    pub end: Instant,
    /// The queue (`priority`) in which it waited.
    pub priority: u8,
    /// Packets waiting in that queue when it joined.
    pub enq_qdepth: u32,
    /// Packets waiting in that queue when it left, not counting itself.
    pub deq_qdepth: u32,
}

/// The current state of a port's queues, and its counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortStats {
    /// Packets received.
    pub rx_packets: u64,
    /// Their `link_octets`.
    pub rx_octets: u64,
    /// Packets that egress sent.
    pub tx_packets: u64,
    /// Their `link_octets`.
    pub tx_octets: u64,
    /// Packets among these that the interface of the port failed to send. There are none in virtual time.
    pub send_failed: u64,
    /// Their `link_octets`.
    pub send_failed_octets: u64,
    /// Packets that currently wait in all queues of the port.
    pub waiting: u32,
    /// Packets dropped on their way to this port, or that arrived at this port and were dropped before an egress port
    /// was chosen.
    pub drops: DropCounts,
}
