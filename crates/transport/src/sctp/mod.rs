//! SCTP (RFC 9260), sans-IO: associations with several paths.
//!
//! | module | content |
//! | --- | --- |
//! | [`packet`] | encoding and decoding of the common header with CRC32c, chunks, parameters |
//! | `association` | states, timers, outgoing packets; `handshake`, `data`, `paths`, `shutdown` |
//! | `outbound` | sent chunks: windows, received SACKs, retransmission on another path |
//! | `inbound` | received TSNs: SACKs to send, reassembly, the order of streams |
//! | `path` | RTO, counters and timers of a path; its window is in [`congestion::sctp`] |
//! | `cookie`, `secret` | the State Cookie and its MAC |
//! | `config` | settings: RFC 9260's, the thesis' |
//!
//! Beyond the core of the RFC: the Timestamp chunk, with which every SACK measures the RTT of its path, RBCA and SPC
//! (Dahal 2007, ch. 6).

mod association;
mod config;
mod cookie;
mod inbound;
mod message;
mod outbound;
pub mod packet;
mod path;
mod secret;
mod tsn;

pub use association::{Association, Event, PathStatus, Reason, State, WriteError};
pub use config::{Burst, Config, ConfigError, Control, InitialWindow, Quirks};
pub use message::{Delivery, Message};
pub use path::{PathState, Route};
pub use tsn::Tsn;

/// Counters of an association since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Packets sent.
    pub packets_sent: u64,
    /// Packets with DATA among them.
    pub data_packets: u64,
    /// Packets received with a valid checksum.
    pub packets_received: u64,
    /// Packets or chunks that were discarded: bad checksum, wrong tag or port, forged cookie.
    pub discarded: u64,
    /// DATA chunks sent, including retransmissions.
    pub chunks_sent: u64,
    /// Retransmissions among them.
    pub chunks_resent: u64,
    /// SACKs that triggered a fast retransmission.
    pub fast_retransmits: u64,
    /// T3-rtx timeouts.
    pub timeouts: u64,
    /// SACKs sent.
    pub sacks_sent: u64,
    /// Octets of DATA chunks acknowledged.
    pub acked_octets: u64,
    /// DATA chunks acknowledged.
    pub acked_chunks: u64,
    /// Sum of the times from the last transmission of a chunk to its acknowledgement, in nanoseconds.
    pub latency_ns: u128,
    /// Sum of the squares of these times.
    pub latency_ns_squared: u128,
    /// DATA chunks that arrived, including duplicates.
    pub chunks_received: u64,
    /// Duplicates among them.
    pub copies_received: u64,
    /// Octets of messages that became readable.
    pub delivered_octets: u64,
    /// Path switches by SPC.
    pub switches: u64,
}
