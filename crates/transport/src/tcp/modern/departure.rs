//! The segments that a connection sends: data, acknowledgements, and their options.

use units::Instant;

use super::config::Stamps;
use super::connection::{Connection, State};
use super::sender::Departure;
use crate::tcp::config::{HEADER_OCTETS, SACK_BLOCK_OCTETS, TIMESTAMP_OCTETS};
use crate::tcp::csig::{Signal, Tag};
use crate::tcp::feedback;
use crate::tcp::int::Int;
use crate::tcp::segment::{
    Aqt, Avbw, Ecn, Flags, SackBlocks, Segment, SynOptions, Timestamps, Trimming,
};
use crate::tcp::tcp_int::TcpInt;
use crate::tcp::trace::Change;

/// Octets of a SACK option without its blocks, including padding.
const SACK_OCTETS: u32 = 4;
/// The option that reports a trimmed segment.
const TRIM_NOTICE_OCTETS: u32 = 8;
/// The maximum octets of TCP options.
const MAX_OPTION_OCTETS: u32 = 40;
/// Octets left by the options of a SYN and timestamps.
const SYN_ROOM: u32 = MAX_OPTION_OCTETS - 12 - TIMESTAMP_OCTETS;
/// SACK blocks for which accurate ECN's option must leave room (RFC 9768, §3.2.3.3).
const KEPT_BLOCKS: u32 = 2;

impl Connection {
    /// Returns the next segment to send, if one may be sent now. [`Connection::copy_payload`] copies its payload.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Segment> {
        if let Some(answer) = self.answers.pop_front() {
            return Some(answer);
        }
        match self.state {
            State::Closed | State::Listen => return None,
            // Reports that need options are sent in a separate acknowledgement, because full segments have no room.
            _ if self.receiver.due && self.has_reports() => {
                return Some(self.acknowledgement(now, None));
            }
            _ => {}
        }
        if self.state != State::TimeWait
            && let Some(departure) = self.sender.poll(now)
        {
            return Some(match departure {
                Departure::Segment {
                    start,
                    end,
                    again,
                    transmissions,
                } => self.data(now, start, end, again, transmissions),
                Departure::WindowProbe => self.window_probe(now),
            });
        }
        self.receiver.due.then(|| self.acknowledgement(now, None))
    }

    /// Whether there is something to report: segments that arrived early, marks that hops wrote, or octets that arrived
    /// marked.
    fn has_reports(&self) -> bool {
        let receiver = &self.receiver;
        let hop_echo = receiver.has_hop_echo() && !self.config.tcp_int;
        receiver.has_reports() || receiver.has_tags() || hop_echo || self.ecn.has_octets()
    }

    /// Copies the octets of a segment that [`Connection::poll_transmit`] returned. Must be called before anything else
    /// happens to the connection. `into` must be as long as the segment's payload.
    pub fn copy_payload(&self, segment: &Segment, into: &mut [u8]) {
        if into.is_empty() {
            return;
        }
        let ahead = segment.seq.wrapping_sub(self.sequence(self.sender.acked)) as i32;
        let position = self.sender.acked as i64 + i64::from(ahead);
        self.sender.stream.read(position.max(1) as u64, into);
    }

    /// The sequence number of a position in the sent stream.
    pub(super) fn sequence(&self, position: u64) -> u32 {
        self.start.wrapping_add(position as u32)
    }

    fn data(
        &mut self,
        now: Instant,
        start: u64,
        end: u64,
        again: bool,
        transmissions: u32,
    ) -> Segment {
        let syn = start == 0;
        let stream_end = self.sender.stream.end();
        let payload = end.min(stream_end).saturating_sub(start.max(1));
        let mut segment = match syn {
            true => self.syn(now, transmissions),
            false => self.header(now, false),
        };
        segment.seq = self.sequence(start);
        segment.payload = payload as u32;
        if end > stream_end.max(1) {
            segment.flags |= Flags::FIN;
        }
        if payload > 0 {
            if end >= stream_end {
                segment.flags |= Flags::PSH;
            }
            self.stats.sent += 1;
            self.stats.resent += u64::from(again);
            segment.ecn = self.ecn.data_field(again);
            segment.csig = self.csig_tag();
            segment.int = self.config.int.then(Int::open);
            if self.config.tcp_int {
                segment.tcp_int = Some(TcpInt::open(self.receiver.take_hop_echo()));
            }
            if self.config.trimming {
                segment.trimming = Trimming::Trimmable;
            }
            if !again {
                segment.flags |= self.ecn.take_reduced();
                let room = self.sender.payload.saturating_sub(payload);
                let first = start == 1 && !self.passive;
                segment.octet_counts = self.ecn.octets(room as u32, first);
            }
        }
        if segment.flags.contains(Flags::ACK) {
            self.receiver.on_ack_sent();
        }
        if !syn {
            let change = if again { Change::Resent } else { Change::Sent };
            self.record(now, change, None);
        }
        self.finish(segment)
    }

    /// The tag of the next data packet. Packets request delay and available bandwidth alternately.
    fn csig_tag(&mut self) -> Option<Tag> {
        self.config.csig?;
        let signal = match self.stats.sent.is_multiple_of(2) {
            true => Signal::AvailableShare,
            false => Signal::Delay,
        };
        Some(Tag::asking(signal))
    }

    /// A SYN, or the response to one.
    fn syn(&mut self, now: Instant, transmissions: u32) -> Segment {
        let answer = self.state != State::SynSent;
        let config = &self.config;
        // The response contains what was requested.
        let stamps = match answer {
            true => self.stamps,
            false => config.timestamps != Stamps::Off,
        };
        let scale = config.window_scaling && (!answer || self.sender.window_scaling);
        let options = SynOptions {
            mss: Some(config.advertised_mss()),
            window_scale: scale.then(|| config.window_scale()),
            sack_permitted: config.sack && (!answer || self.sender.sack),
        };
        let (flags, ack) = match answer {
            true => {
                let flags = self.ecn.syn_ack_flags(transmissions);
                (Flags::SYN | Flags::ACK | flags, self.receiver.ack_number())
            }
            false => (Flags::SYN | self.ecn.syn_flags(transmissions), 0),
        };
        Segment {
            flags,
            ack,
            window: self.receiver.tell_window(true),
            syn: options,
            timestamps: stamps.then(|| self.timestamps(now)),
            octet_counts: match answer {
                true => self.ecn.octets(SYN_ROOM, false),
                false => None,
            },
            ..Segment::default()
        }
    }

    /// A segment without data that acknowledges received data, and may report that the segment `trimmed` arrived
    /// trimmed.
    pub(super) fn acknowledgement(&mut self, now: Instant, trimmed: Option<u32>) -> Segment {
        let stamps = if self.stamps { TIMESTAMP_OCTETS } else { 0 };
        let notice = trimmed.map_or(0, |_| TRIM_NOTICE_OCTETS);
        let reflection = self.receiver.take_tags();
        let free = MAX_OPTION_OCTETS - stamps - notice - reflection.octets();
        let kept = match self.sender.sack {
            true => sack_octets(KEPT_BLOCKS.min(self.receiver.sack_blocks_due() as u32)),
            false => 0,
        };
        let octet_counts = self.ecn.octets(free.saturating_sub(kept), false);
        let sack = match self.sender.sack {
            true => {
                let counts = octet_counts.map_or(0, |counts| counts.octets());
                let room = free.saturating_sub(counts + SACK_OCTETS) / SACK_BLOCK_OCTETS;
                self.receiver.sack_blocks(room as usize)
            }
            false => SackBlocks::default(),
        };
        let used = MAX_OPTION_OCTETS - free
            + octet_counts.map_or(0, |counts| counts.octets())
            + sack_octets(sack.as_slice().len() as u32);
        let hop_echo = match used + TcpInt::OCTETS <= MAX_OPTION_OCTETS {
            true => self.receiver.take_hop_echo(),
            false => None,
        };
        let mut segment = self.header(now, sack.is_empty());
        segment.seq = self.sequence(self.sender.next);
        segment.sack = sack;
        segment.reflection = reflection;
        segment.trim_notice = trimmed;
        segment.octet_counts = octet_counts;
        segment.tcp_int = hop_echo.map(|echo| TcpInt::open(Some(echo)));
        // Received options are echoed even if this end does not send them itself.
        let (aqt, avbw) = self.echoes();
        segment.aqt = aqt.or(segment.aqt);
        segment.avbw = avbw.or(segment.avbw);
        segment.int = self.receiver.take_int().map(Int::echo);
        self.receiver.on_ack_sent();
        self.stats.acks_sent += 1;
        self.finish(segment)
    }

    /// An empty segment just before the position that the other end expects, which must respond (as in the window
    /// probes of the Linux kernel).
    fn window_probe(&mut self, now: Instant) -> Segment {
        let mut segment = self.header(now, false);
        segment.seq = self.sequence(self.sender.acked).wrapping_sub(1);
        self.finish(segment)
    }

    /// A reset that the other end accepts as genuine.
    pub(super) fn reset_segment(&mut self) -> Segment {
        let segment = Segment {
            seq: self.sequence(self.sender.next),
            ack: self.receiver.ack_number(),
            flags: Flags::RST | Flags::ACK,
            ..Segment::default()
        };
        self.finish(segment)
    }

    /// The header of every segment of a synchronized connection. `bare` means that it has neither data nor SACK blocks.
    fn header(&mut self, now: Instant, bare: bool) -> Segment {
        let (aqt, avbw) = self.echoes();
        let own_aqt = self.config.aqt.then(Aqt::default);
        let own_avbw = self.config.avbw.then_some(Avbw::UNWRITTEN);
        Segment {
            ack: self.receiver.ack_number(),
            flags: Flags::ACK | self.ecn.echo_flags(bare),
            window: self.receiver.tell_window(false),
            timestamps: self.stamps.then(|| self.timestamps(now)),
            aqt: own_aqt.map(|own| aqt.unwrap_or(own)),
            avbw: own_avbw.map(|own| avbw.unwrap_or(own)),
            options: self.config.marks.echo(self.receiver.options()),
            ecn: Ecn::NotCapable,
            ..Segment::default()
        }
    }

    /// The marks that an acknowledgement of received data returns.
    fn echoes(&self) -> (Option<Aqt>, Option<Avbw>) {
        let (aqt, avbw) = self.receiver.marks();
        (feedback::echo_aqt(aqt), feedback::echo_avbw(avbw))
    }

    fn timestamps(&self, now: Instant) -> Timestamps {
        Timestamps {
            value: self.clock(now),
            echo: self.receiver.echo(),
        }
    }

    /// The time of the timestamp clock.
    pub(super) fn clock(&self, now: Instant) -> u32 {
        match self.config.timestamps {
            Stamps::Millis => self.config.clock.reads_ms(now),
            _ => self.config.clock.reads(now),
        }
    }

    /// Sets what links charge: the IPv4 total length, and a CSIG tag in front of it.
    fn finish(&self, mut segment: Segment) -> Segment {
        let syn = &segment.syn;
        let words = u32::from(syn.mss.is_some())
            + u32::from(syn.window_scale.is_some())
            + u32::from(syn.sack_permitted);
        let sack = sack_octets(segment.sack.as_slice().len() as u32);
        let counts = segment.octet_counts.map_or(0, |counts| counts.octets());
        let stamps = segment.timestamps.map_or(0, |_| TIMESTAMP_OCTETS);
        let notice = segment.trim_notice.map_or(0, |_| TRIM_NOTICE_OCTETS);
        let ip = segment.feedback_octets();
        let tcp = 4 * words
            + sack
            + stamps
            + notice
            + counts
            + segment.tcp_int.map_or(0, |_| TcpInt::OCTETS)
            + segment.reflection.octets()
            + segment.int_octets();
        segment.link_octets = HEADER_OCTETS + ip + tcp + segment.payload;
        segment
    }
}

/// Octets of a SACK option including padding.
const fn sack_octets(blocks: u32) -> u32 {
    match blocks {
        0 => 0,
        _ => SACK_OCTETS + SACK_BLOCK_OCTETS * blocks,
    }
}
