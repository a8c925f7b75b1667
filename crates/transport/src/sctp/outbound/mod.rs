//! The sending half: divides messages into chunks, puts chunks into packets, and tracks their acknowledgement.

mod sack;
mod transmit;

use super::Tsn;
use super::config::{Burst, Config, Quirks};
use super::message::Delivery;
use super::packet::{DATA_HEADER_OCTETS, Data, DataFlags};
use super::path::Path;
use bytes::Bytes;
use std::collections::VecDeque;
use units::{Duration, Instant};

pub(super) use transmit::alternate;

/// The sending half of an association.
#[derive(Debug)]
pub(super) struct Outbound {
    /// The TSN of the next chunk sent for the first time.
    next: Tsn,
    /// The last TSN acknowledged in sequence.
    cumulative: Tsn,
    /// Chunks not yet sent.
    queue: VecDeque<Chunk>,
    /// Octets of user data in `queue`.
    queued_octets: u64,
    /// Sent chunks, from the one after `cumulative` on.
    sent: VecDeque<Sent>,
    /// How many of them are marked for retransmission.
    marked: usize,
    /// Next stream sequence number of each stream.
    ssns: Vec<u16>,
    /// Room in the peer's buffer, in octets.
    peer_window: u32,
    /// The size of the peer's buffer, once it is known.
    largest_window: u32,
    /// The highest TSN outstanding when a window was last reduced. Until it is acknowledged, no window is reduced
    /// again.
    recover: Tsn,
    /// The highest TSN that was unmarked when a window was reduced.
    highest_unmarked: Tsn,
    /// The highest TSN newly acknowledged by the last SACK.
    highest_acked: Tsn,
    quirks: Quirks,
    /// Whether new data must wait for the next SACK.
    holds_new: bool,
    allowance: Allowance,
    bursts: Bursts,
    fragment_octets: usize,
    missing_reports: u8,
    pub counts: Counts,
}

/// Counters since the start of the association.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub sent: u64,
    pub resent: u64,
    pub fast: u64,
    pub acked_octets: u64,
    pub acked_chunks: u64,
    pub latency_ns: u128,
    pub latency_ns_squared: u128,
}

/// A chunk of a message.
#[derive(Clone, Debug)]
struct Chunk {
    flags: DataFlags,
    stream: u16,
    /// Assigned when the message's first chunk is sent: streams preserve the order of writing.
    ssn: u16,
    protocol: u32,
    payload: Bytes,
}

/// A sent chunk.
#[derive(Debug)]
struct Sent {
    tsn: Tsn,
    chunk: Chunk,
    /// The path on which it was last sent.
    path: usize,
    mark: Option<Mark>,
    gap_acked: bool,
    /// Whether a gap block of the current SACK contains it.
    reported: bool,
    missing: u8,
    /// Whether it was fast retransmitted, which happens at most once.
    fast: bool,
    /// When it was last sent.
    at: Instant,
    /// Whether its acknowledgement measures the RTT, unless it is retransmitted.
    measures: bool,
    resent: bool,
}

/// Why a chunk must be retransmitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Missing,
    Timeout,
}

/// The permission to retransmit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Allowance {
    /// As the window allows.
    Window,
    /// One packet, regardless of the window (§7.2.4, §6.3.3 E3).
    OnePacket,
    /// Nothing until the next SACK or timeout.
    Nothing,
}

/// The state of burst limits.
#[derive(Debug)]
struct Bursts {
    rule: Burst,
    /// Whether a fast retransmitted chunk was acknowledged, and no burst has been limited since.
    recovered: bool,
    left: Option<u32>,
    /// Number of packets sent in this burst.
    gone: u32,
    /// The path of its first retransmission.
    path: Option<usize>,
}

/// The effect of a SACK.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Acknowledged {
    /// Whether something was newly acknowledged.
    pub news: bool,
    /// The RTT that it measured, and the path.
    pub rtt: Option<(usize, Duration)>,
}

impl Outbound {
    pub fn new(config: &Config, initial: Tsn) -> Self {
        let burst = match config.burst {
            Burst::Always(packets) => Some(packets),
            _ => None,
        };
        Outbound {
            next: initial,
            cumulative: initial.previous(),
            queue: VecDeque::new(),
            queued_octets: 0,
            sent: VecDeque::new(),
            marked: 0,
            ssns: vec![0; usize::from(config.outbound_streams)],
            peer_window: 0,
            largest_window: u32::MAX,
            recover: initial.previous(),
            highest_unmarked: initial.previous(),
            highest_acked: initial.previous(),
            quirks: config.quirks,
            holds_new: false,
            allowance: Allowance::Window,
            bursts: Bursts {
                rule: config.burst,
                recovered: false,
                left: burst,
                gone: 0,
                path: None,
            },
            fragment_octets: config.fragment_octets(),
            missing_reports: config.missing_reports,
            counts: Counts::default(),
        }
    }

    /// Sets the window and number of streams that the peer sent.
    pub fn open(&mut self, peer_window: u32, streams: u16) {
        self.peer_window = peer_window;
        self.largest_window = peer_window;
        self.ssns.resize(usize::from(streams), 0);
        let streams = self.ssns.len();
        self.queue
            .retain(|chunk| usize::from(chunk.stream) < streams);
        self.queued_octets = self.queue.iter().map(|c| c.payload.len() as u64).sum();
    }

    /// Numbers chunks from `initial` on. Must be called before anything is sent.
    pub fn begin_at(&mut self, initial: Tsn) {
        self.next = initial;
        self.cumulative = initial.previous();
        self.recover = initial.previous();
        self.highest_unmarked = initial.previous();
        self.highest_acked = initial.previous();
    }

    /// The total size of the peer's buffer, in octets.
    pub fn largest_window(&self) -> u32 {
        self.largest_window
    }

    pub fn has_stream(&self, stream: u16) -> bool {
        usize::from(stream) < self.ssns.len()
    }

    /// Queues a message.
    pub fn write(&mut self, how: Delivery, message: &Bytes) {
        self.queued_octets += message.len() as u64;
        let mut at = 0;
        while at < message.len() {
            let end = message.len().min(at + self.fragment_octets);
            let mut flags = 0;
            if at == 0 {
                flags |= DataFlags::BEGIN;
            }
            if end == message.len() {
                flags |= DataFlags::END;
            }
            if how.unordered {
                flags |= DataFlags::UNORDERED;
            }
            self.queue.push_back(Chunk {
                flags: DataFlags(flags),
                stream: how.stream,
                ssn: 0,
                protocol: how.protocol,
                payload: message.slice(at..end),
            });
            at = end;
        }
    }

    /// Octets of user data not yet sent.
    pub fn queued_octets(&self) -> u64 {
        self.queued_octets
    }

    /// Whether everything written is acknowledged.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.sent.is_empty()
    }

    /// Handles the expiry of T3-rtx of a path (§6.3.3): everything sent on it must be retransmitted.
    pub fn handle_timeout(&mut self, index: usize, path: &mut Path) {
        path.window.on_timeout();
        path.idle_since = None;
        path.t3 = None;
        self.measure_again(index, path);
        for sent in &mut self.sent {
            if sent.path == index && !sent.gap_acked {
                if sent.mark.is_none() {
                    self.marked += 1;
                }
                sent.mark = Some(Mark::Timeout);
                sent.missing = 0;
            }
        }
        path.marked = path.outstanding;
        self.allowance = Allowance::OnePacket;
        self.holds_new = self.quirks.timeouts_hold_new_data;
        self.bursts.gone = 0;
        self.begin_burst();
    }

    /// Starts a burst: packets may be sent now.
    pub fn begin_burst(&mut self) {
        self.bursts.path = None;
        self.bursts.left = match self.bursts.rule {
            Burst::Unlimited => None,
            Burst::Always(packets) => Some(packets),
            Burst::AfterRecovery(packets) => {
                let left = packets.saturating_sub(self.bursts.gone);
                self.bursts.recovered.then_some(left)
            }
        };
    }

    /// The acknowledgement of the chunk that measures the path's RTT may be late because of losses before it.
    fn measure_again(&mut self, index: usize, path: &mut Path) {
        path.measures = false;
        if self.quirks.stamps_outlive_losses {
            return;
        }
        for sent in self.sent.iter_mut().filter(|sent| sent.path == index) {
            sent.measures = false;
        }
    }
}

impl Counts {
    /// Records the latency of a chunk from its last transmission to its acknowledgement.
    fn note_latency(&mut self, latency: Duration) {
        let ns = u128::from(latency.as_nanos());
        self.acked_chunks += 1;
        self.latency_ns += ns;
        self.latency_ns_squared += ns * ns;
    }
}

impl Sent {
    /// Octets that windows count: the chunk including its header.
    fn octets(&self) -> u32 {
        self.chunk.octets()
    }
}

impl Chunk {
    fn octets(&self) -> u32 {
        (DATA_HEADER_OCTETS + self.payload.len()) as u32
    }

    fn data(&self, tsn: Tsn) -> Data<'_> {
        Data {
            flags: self.flags,
            tsn,
            stream: self.stream,
            ssn: self.ssn,
            protocol: self.protocol,
            payload: &self.payload,
        }
    }
}
