//! The sending half: messages to chunks, chunks to packets, and what becomes of them.

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
    /// User data in it, in octets.
    queued_octets: u64,
    /// Chunks sent, from the one after `cumulative` on.
    sent: VecDeque<Sent>,
    /// How many of them are marked for retransmission.
    marked: usize,
    /// Next stream sequence number of each stream.
    ssns: Vec<u16>,
    /// Room in the peer's buffer, in octets.
    peer_window: u32,
    /// All of that buffer, once it is known.
    largest_window: u32,
    /// The highest TSN outstanding when a window was last cut: until it is acknowledged, none is cut again.
    recover: Tsn,
    /// The highest TSN that was ever seen unmarked when a window was cut.
    highest_unmarked: Tsn,
    /// The highest TSN newly acknowledged by the last SACK.
    highest_acked: Tsn,
    quirks: Quirks,
    /// No new data before the next SACK.
    holds_new: bool,
    allowance: Allowance,
    bursts: Bursts,
    fragment_octets: usize,
    missing_reports: u8,
    pub counts: Counts,
}

/// Counts since the association's start.
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
    /// Given out when the message's first chunk is sent: streams keep the order of writing.
    ssn: u16,
    protocol: u32,
    payload: Bytes,
}

/// A chunk that was sent.
#[derive(Debug)]
struct Sent {
    tsn: Tsn,
    chunk: Chunk,
    /// Where it was sent last.
    path: usize,
    mark: Option<Mark>,
    gap_acked: bool,
    /// The present SACK's gap blocks hold it.
    reported: bool,
    missing: u8,
    /// It was fast retransmitted, which is done once.
    fast: bool,
    /// When it was sent last.
    at: Instant,
    /// Its acknowledgement is to measure the RTT, unless it is sent again.
    measures: bool,
    resent: bool,
}

/// Why a chunk is to be sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Missing,
    Timeout,
}

/// What may be retransmitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Allowance {
    /// As the window allows.
    Window,
    /// One packet, whatever the window is (§7.2.4, §6.3.3 E3).
    OnePacket,
    /// Nothing until the next SACK or timeout.
    Nothing,
}

/// How many packets may still leave.
#[derive(Debug)]
struct Bursts {
    rule: Burst,
    /// A fast retransmitted chunk was acknowledged, and no burst has been broken off since.
    recovered: bool,
    left: Option<u32>,
    /// Packets that have left in it.
    gone: u32,
    /// Where its first retransmission went.
    path: Option<usize>,
}

/// What a SACK brought.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Acknowledged {
    /// Something was acknowledged for the first time.
    pub news: bool,
    /// The RTT that it measured, and of which path.
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

    /// The peer told its window and how many streams it takes.
    pub fn open(&mut self, peer_window: u32, streams: u16) {
        self.peer_window = peer_window;
        self.largest_window = peer_window;
        self.ssns.resize(usize::from(streams), 0);
        let streams = self.ssns.len();
        self.queue
            .retain(|chunk| usize::from(chunk.stream) < streams);
        self.queued_octets = self.queue.iter().map(|c| c.payload.len() as u64).sum();
    }

    /// Numbers chunks from `initial` on. Nothing has been sent yet.
    pub fn begin_at(&mut self, initial: Tsn) {
        self.next = initial;
        self.cumulative = initial.previous();
        self.recover = initial.previous();
        self.highest_unmarked = initial.previous();
        self.highest_acked = initial.previous();
    }

    /// The peer's whole buffer, in octets.
    pub fn largest_window(&self) -> u32 {
        self.largest_window
    }

    pub fn has_stream(&self, stream: u16) -> bool {
        usize::from(stream) < self.ssns.len()
    }

    /// A message to send.
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

    /// Everything written is acknowledged.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.sent.is_empty()
    }

    /// T3-rtx of a path ran out (§6.3.3): all that was sent there is to be sent again.
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

    /// A moment begins at which packets may leave.
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

    /// The chunk that is to measure the path's RTT may be acknowledged late, with what was lost before it.
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
    /// A chunk is acknowledged, so long after it was sent last.
    fn note_latency(&mut self, latency: Duration) {
        let ns = u128::from(latency.as_nanos());
        self.acked_chunks += 1;
        self.latency_ns += ns;
        self.latency_ns_squared += ns * ns;
    }
}

impl Sent {
    /// Octets that windows count: the chunk with its header.
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
