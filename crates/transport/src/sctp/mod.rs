//! SCTP (RFC 9260), sans-IO: associations with several paths.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`packet`] | common header with CRC32c, chunks, parameters, to and from octets |
//! | `association` | states, timers, what goes out next; `handshake`, `data`, `paths`, `shutdown` |
//! | `outbound` | chunks sent: windows, SACKs read, retransmission to another path |
//! | `inbound` | TSNs received: SACKs written, reassembly, the order of streams |
//! | `path` | one path's RTO, counts and timers; its window is of [`congestion::sctp`] |
//! | `cookie`, `secret` | the State Cookie and its MAC |
//! | `config` | settings: RFC 9260's, the thesis' |
//!
//! Beyond the RFC's core: the Timestamp chunk, by which every SACK measures the RTT of its path, RBCA and SPC
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
    /// Of these, packets with DATA.
    pub data_packets: u64,
    /// Packets received with a good checksum.
    pub packets_received: u64,
    /// Packets, or chunks, that were passed over: bad checksum, wrong tag or port, forged cookie.
    pub discarded: u64,
    /// DATA chunks sent, retransmissions included.
    pub chunks_sent: u64,
    /// Retransmissions among them.
    pub chunks_resent: u64,
    /// SACKs that set off a fast retransmission.
    pub fast_retransmits: u64,
    /// T3-rtx timeouts.
    pub timeouts: u64,
    /// SACKs sent.
    pub sacks_sent: u64,
    /// Octets of DATA chunks acknowledged.
    pub acked_octets: u64,
    /// DATA chunks acknowledged.
    pub acked_chunks: u64,
    /// Time from their last transmission to that, summed, in nanoseconds.
    pub latency_ns: u128,
    /// Its squares, summed.
    pub latency_ns_squared: u128,
    /// DATA chunks that arrived, copies included.
    pub chunks_received: u64,
    /// Of these, copies.
    pub copies_received: u64,
    /// Octets of messages that the application could read.
    pub delivered_octets: u64,
    /// Switches of path by SPC.
    pub switches: u64,
}
