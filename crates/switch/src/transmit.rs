//! What a switch gives out, and what its ports have done.

use p4_vm::{DropCounts, Packet};
use units::Instant;

/// A packet on its way out of a port.
#[derive(Clone, Debug, PartialEq)]
pub struct Transmit {
    /// The egress port.
    pub port: u16,
    /// The packet as it leaves.
    pub packet: Packet,
    /// When it joined the queue.
    pub enqueued: Instant,
    /// When its serialisation starts, which is when it left the queue and egress ran.
    pub start: Instant,
    /// When its serialisation ends: `start` plus its `link_octets` at the port's rate.
    pub end: Instant,
    /// The queue (`priority`) that it waited in.
    pub priority: u8,
    /// Packets waiting in that queue when it joined.
    pub enq_qdepth: u32,
    /// Packets waiting in that queue when it left, itself not counted.
    pub deq_qdepth: u32,
}

/// A port's queues at this moment, and what it has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortStats {
    /// Packets that came in.
    pub rx_packets: u64,
    /// Their `link_octets`.
    pub rx_octets: u64,
    /// Packets that egress sent.
    pub tx_packets: u64,
    /// Their `link_octets`.
    pub tx_octets: u64,
    /// Of these, packets that the port's interface did not take. In virtual time there are none.
    pub send_failed: u64,
    /// Their `link_octets`.
    pub send_failed_octets: u64,
    /// Packets waiting now, in all its queues.
    pub waiting: u32,
    /// Packets dropped on their way to it (or that came in through it, if no egress port was chosen).
    pub drops: DropCounts,
}
