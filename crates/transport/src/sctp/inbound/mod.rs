//! The receiving half: which TSNs have arrived, when to acknowledge them, and the messages for the application.

mod reassembly;
mod streams;

use super::config::Config;
use super::message::Message;
use super::packet::{DATA_HEADER_OCTETS, Data, DataFlags};
use super::{Route, Tsn};
use reassembly::{Fragment, Misfit, Reassembly};
use streams::Streams;
use units::{Duration, Instant};

/// Gap blocks are 16-bit offsets from the cumulative TSN.
const MAX_GAP: i32 = 0xFFFF;
/// The maximum number of duplicates reported in a SACK.
const MAX_DUPLICATES: usize = 32;
/// The number of packets per SACK (RFC 9260, §6.2).
const PACKETS_PER_SACK: u32 = 2;

/// The receiving half of an association.
#[derive(Debug)]
pub(super) struct Inbound {
    /// The last TSN received in sequence.
    pub cumulative: Tsn,
    /// The cumulative TSN's number among all received.
    count: u64,
    /// Blocks received beyond it, first and last TSN, in ascending order and not adjacent.
    blocks: Vec<(Tsn, Tsn)>,
    pub duplicates: Vec<Tsn>,
    window: u32,
    advertised: u32,
    /// Octets of a chunk in the buffer in addition to its payload.
    overhead: u64,
    /// Number of chunks in `blocks`.
    beyond: u64,
    reassembly: Reassembly,
    streams: Streams,
    acknowledgement: Acknowledgement,
    /// DATA chunks that arrived, including duplicates.
    pub received: u64,
    /// Duplicates among them.
    pub copies: u64,
}

/// When to send a SACK.
#[derive(Debug)]
struct Acknowledgement {
    delay: Option<Duration>,
    /// Whether a SACK that is sent only because of duplicates does not reset the packet count.
    copies_leave_the_count: bool,
    /// Whether the SACK that is due now is such a SACK.
    for_copies: bool,
    /// Whether no DATA has been received before.
    first: bool,
    /// Packets with DATA since the last SACK.
    packets: u32,
    due: Option<Instant>,
    now: bool,
    /// The route of the SACK: the reverse of the data's.
    route: Option<Route>,
}

/// An error in a DATA chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// There is no such stream.
    NoStream,
    /// It is inconsistent with adjacent fragments.
    Misfit,
}

impl Inbound {
    pub fn new(config: &Config, initial: Tsn, streams: u16) -> Self {
        Inbound {
            cumulative: initial.previous(),
            count: 0,
            blocks: Vec::new(),
            duplicates: Vec::new(),
            window: config.window,
            advertised: config.window,
            overhead: match config.quirks.headers_fill_the_buffer {
                true => DATA_HEADER_OCTETS as u64,
                false => 0,
            },
            beyond: 0,
            reassembly: Reassembly::default(),
            streams: Streams::new(streams),
            acknowledgement: Acknowledgement {
                delay: config.sack_delay,
                copies_leave_the_count: config.quirks.copies_leave_the_count,
                for_copies: false,
                first: true,
                packets: 0,
                due: None,
                now: false,
                route: None,
            },
            received: 0,
            copies: 0,
        }
    }

    /// Handles a DATA chunk.
    pub fn handle(&mut self, data: &Data<'_>) -> Result<(), Fault> {
        self.received += 1;
        let ahead = data.tsn.since(self.cumulative);
        if ahead <= 0 || self.contains(data.tsn) {
            self.copies += 1;
            self.acknowledgement.now = true;
            if self.duplicates.len() < MAX_DUPLICATES {
                self.duplicates.push(data.tsn);
            }
            return Ok(());
        }
        let buffered = self.buffered();
        let window = u64::from(self.window);
        let fits = buffered + data.payload.len() as u64 + self.overhead <= window;
        // A chunk that fills a gap may be what everything in the buffer waits for. A sender that overestimated the
        // window, because of a reordered SACK, must not block the buffer.
        let fills = self.blocks.last().is_some_and(|last| data.tsn < last.1);
        let may = fits || ahead == 1 && buffered <= window || fills && buffered <= 2 * window;
        if ahead > MAX_GAP || !may {
            // No room: treated as if it had not arrived, but a SACK reports the window.
            self.acknowledgement.now = true;
            return Ok(());
        }
        self.note(data.tsn);
        if !self.streams.has(data.stream) {
            return Err(Fault::NoStream);
        }
        let number = self.count.wrapping_add_signed(i64::from(ahead));
        let fragment = Fragment {
            stream: data.stream,
            ssn: data.ssn,
            unordered: data.flags.has(DataFlags::UNORDERED),
            begin: data.flags.has(DataFlags::BEGIN),
            end: data.flags.has(DataFlags::END),
            protocol: data.protocol,
        };
        self.count += u64::from(self.advance());
        if fragment.begin && fragment.end {
            let payload = self.streams.copy(data.payload);
            self.streams.deliver(&fragment, payload);
            return Ok(());
        }
        let octets = self.streams.copy(data.payload);
        match self.reassembly.add(number, fragment, octets) {
            Ok(Some((fragment, payload))) => self.streams.deliver(&fragment, payload),
            Ok(None) => {}
            Err(Misfit) => return Err(Fault::Misfit),
        }
        Ok(())
    }

    /// Called at the end of a packet with DATA: determines when it is acknowledged (§6.2).
    pub fn end_packet(&mut self, now: Instant, route: Route, immediately: bool) {
        let gaps = !self.blocks.is_empty();
        let ack = &mut self.acknowledgement;
        ack.route = Some(route);
        ack.packets += 1;
        let first = std::mem::take(&mut ack.first);
        let Some(delay) = ack.delay else {
            ack.now = true;
            return;
        };
        // §5.1: the first packet is acknowledged at once; §6.7: so are all packets while there are gaps.
        if first || gaps || immediately || ack.packets >= PACKETS_PER_SACK {
            ack.now = true;
        } else {
            ack.due.get_or_insert(now + delay);
            ack.for_copies = ack.now && ack.copies_leave_the_count;
        }
    }

    /// When a delayed SACK is due.
    pub fn timeout(&self) -> Option<Instant> {
        self.acknowledgement.due
    }

    /// Handles the expiry of the delay timer.
    pub fn handle_timeout(&mut self, now: Instant) {
        if self.acknowledgement.due.is_some_and(|due| due <= now) {
            self.acknowledgement.due = None;
            self.acknowledgement.now = true;
        }
    }

    /// The route of a SACK that is due now.
    pub fn sack_route(&self) -> Option<Route> {
        let ack = &self.acknowledgement;
        ack.route.filter(|_| ack.now)
    }

    /// Takes a SACK to send. Stores at most `most` blocks in `gaps`, and returns the window to advertise.
    pub fn take_sack(&mut self, gaps: &mut Vec<(u16, u16)>, most: usize) -> u32 {
        gaps.clear();
        let cumulative = self.cumulative;
        let offset = |tsn: Tsn| tsn.since(cumulative) as u16;
        let blocks = self.blocks.iter().take(most);
        gaps.extend(blocks.map(|&(first, last)| (offset(first), offset(last))));
        let ack = &mut self.acknowledgement;
        if !std::mem::take(&mut ack.for_copies) {
            ack.packets = 0;
            ack.due = None;
        }
        ack.now = false;
        self.advertised = self.room();
        self.advertised
    }

    /// The next message.
    pub fn read(&mut self, mtu: u32) -> Option<Message> {
        let message = self.streams.read()?;
        // §6.2: the sender waits for a window that was closed.
        let opened = self.room().saturating_sub(self.advertised);
        if self.advertised < mtu && opened >= mtu.min(self.window / 2) {
            self.acknowledgement.now = true;
        }
        Some(message)
    }

    /// Recycles the buffer of a message that was read.
    pub fn recycle(&mut self, payload: Vec<u8>) {
        self.streams.recycle(payload);
    }

    /// Octets of messages that became readable.
    pub fn delivered_octets(&self) -> u64 {
        self.streams.delivered_octets
    }

    /// Room in the buffer, in octets.
    fn room(&self) -> u32 {
        u64::from(self.window).saturating_sub(self.buffered()) as u32
    }

    fn buffered(&self) -> u64 {
        self.reassembly.octets + self.streams.octets + self.beyond * self.overhead
    }

    fn contains(&self, tsn: Tsn) -> bool {
        let at = self.blocks.partition_point(|&(_, last)| last < tsn);
        self.blocks.get(at).is_some_and(|&(first, _)| first <= tsn)
    }

    /// Records a TSN that is beyond the cumulative one and not in any block.
    fn note(&mut self, tsn: Tsn) {
        let at = self.blocks.partition_point(|&(_, last)| last < tsn);
        self.beyond += 1;
        let joins_left = at > 0 && self.blocks[at - 1].1.next() == tsn;
        let joins_right = self.blocks.get(at).is_some_and(|b| tsn.next() == b.0);
        match (joins_left, joins_right) {
            (true, true) => {
                self.blocks[at - 1].1 = self.blocks[at].1;
                self.blocks.remove(at);
            }
            (true, false) => self.blocks[at - 1].1 = tsn,
            (false, true) => self.blocks[at].0 = tsn,
            (false, false) => self.blocks.insert(at, (tsn, tsn)),
        }
    }

    /// Advances the cumulative TSN over the first block, if it is adjacent. Returns by how much.
    fn advance(&mut self) -> u32 {
        match self.blocks.first() {
            Some(&(first, last)) if first == self.cumulative.next() => {
                let by = last.since(self.cumulative) as u32;
                self.cumulative = last;
                self.beyond -= u64::from(by);
                self.blocks.remove(0);
                by
            }
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests;
