//! Snoop (Balakrishnan et al. 1995): an agent in a base station that caches packets sent over a wireless link,
//! retransmits lost ones itself, and suppresses the duplicate acknowledgements for the sender.

use engine::Packet;
use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;
use transport::tcp::{Flags, Segment, Trimming};
use transport::wire::{self, Body};
use units::{Duration, Instant};

/// The most packets cached per connection.
const MAX_CACHED: usize = 100;
/// The most retransmissions of a packet.
const MAX_RESENDS: u32 = 10;
/// The duplicate acknowledgement that triggers a retransmission. The first one passes, because packets may only have
/// been reordered.
const DUPLICATES: u32 = 2;
/// Minimum time before an unacknowledged packet is retransmitted.
const MIN_TIMEOUT: Duration = Duration::from_millis(100);
/// The timeout before the first measurement.
const FIRST_TIMEOUT: Duration = Duration::from_millis(1000);

/// The agent of a base station.
#[derive(Debug)]
pub(crate) struct Snoop {
    /// Ports through which receivers are reached.
    ports: Vec<u16>,
    connections: BTreeMap<Key, Connection>,
    /// The time of the earliest scheduled timer event.
    pub wake: Option<Instant>,
    /// Number of retransmissions.
    pub resent: u64,
    /// Number of suppressed acknowledgements.
    pub suppressed: u64,
}

/// A connection: addresses and ports, from the perspective of the data sender.
type Key = (Ipv4Addr, Ipv4Addr, u16, u16);

/// The state of a connection.
#[derive(Debug, Default)]
struct Connection {
    /// The next octet that the receiver expects: initially the first octet of the connection.
    acked: u32,
    /// Unacknowledged packets, sorted by sequence number.
    cache: VecDeque<Cached>,
    /// Number of consecutive duplicates.
    duplicates: u32,
    /// Number of duplicates still expected from packets behind the lost one.
    expected: u32,
    /// Smoothed round-trip time over the link, and its variation.
    measured: Option<(Duration, Duration)>,
    timer: Option<Instant>,
}

/// A packet as it arrived.
#[derive(Debug)]
struct Cached {
    seq: u32,
    end: u32,
    packet: Packet,
    port: u16,
    sent: Instant,
    resends: u32,
    /// Whether the sender has retransmitted it. Its duplicates are then for the sender.
    by_sender: bool,
}

/// What happens to an arriving packet.
#[derive(Debug, PartialEq)]
pub(crate) enum Verdict {
    /// The packet continues.
    Forward,
    /// The packet is dropped.
    Suppress,
    /// The packet is dropped, and this packet passes through the switch once more, from the port at which it arrived.
    Resend(u16, Packet),
}

impl Snoop {
    pub fn new(ports: &[u16]) -> Self {
        Snoop {
            ports: ports.to_vec(),
            connections: BTreeMap::new(),
            wake: None,
            resent: 0,
            suppressed: 0,
        }
    }

    /// Handles a packet that arrived at `port`.
    pub fn handle_packet(&mut self, now: Instant, port: u16, packet: &Packet) -> Verdict {
        let Ok(decoded) = wire::decode(&packet.octets, packet.elided) else {
            return Verdict::Forward;
        };
        let Body::Tcp(segment) = decoded.body else {
            return Verdict::Forward;
        };
        if segment.trimming == Trimming::Cut {
            return Verdict::Forward;
        }
        let flow = decoded.flow;
        if !self.ports.contains(&port) {
            if segment.payload > 0 {
                let key = (
                    flow.source,
                    flow.destination,
                    flow.source_port,
                    flow.destination_port,
                );
                let begin = || Connection {
                    acked: segment.seq,
                    ..Connection::default()
                };
                let connection = self.connections.entry(key).or_insert_with(begin);
                connection.keep(now, port, &segment, packet);
            }
            return Verdict::Forward;
        }
        let back = (
            flow.destination,
            flow.source,
            flow.destination_port,
            flow.source_port,
        );
        let Some(connection) = self.connections.get_mut(&back) else {
            return Verdict::Forward;
        };
        if segment.payload > 0 || !segment.flags.contains(Flags::ACK) {
            return Verdict::Forward;
        }
        let verdict = connection.acknowledge(now, segment.ack);
        self.resent += u64::from(matches!(verdict, Verdict::Resend(..)));
        self.suppressed += u64::from(verdict != Verdict::Forward);
        verdict
    }

    /// When [`Snoop::handle_timeout`] must be called next.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let connections = self.connections.values();
        connections.filter_map(|connection| connection.timer).min()
    }

    /// Handles an expired timer. Returns a packet to retransmit, with the port at which it arrived. Call until it
    /// returns `None`.
    pub fn handle_timeout(&mut self, now: Instant) -> Option<(u16, Packet)> {
        let connections = self.connections.values_mut();
        let again = connections
            .filter(|connection| connection.timer.is_some_and(|at| at <= now))
            .find_map(|connection| {
                connection.timer = None;
                connection.handle_timeout(now)
            })?;
        self.resent += 1;
        Some(again)
    }
}

impl Connection {
    /// Caches a data packet.
    fn keep(&mut self, now: Instant, port: u16, segment: &Segment, packet: &Packet) {
        let (seq, end) = (segment.seq, segment.seq.wrapping_add(segment.payload));
        if ahead(self.acked, end) <= 0 {
            return; // acknowledged already
        }
        let at = self
            .cache
            .partition_point(|cached| ahead(cached.seq, seq) > 0);
        if let Some(cached) = self.cache.get_mut(at).filter(|cached| cached.seq == seq) {
            cached.by_sender = true;
            cached.resends = 0;
            cached.sent = now;
            self.timer = Some(now + self.timeout());
            return;
        }
        if self.cache.len() == MAX_CACHED {
            return;
        }
        // Behind a packet that was sent later: it was lost before it arrived here, and the sender knows.
        let by_sender = at < self.cache.len();
        let cached = Cached {
            seq,
            end,
            packet: packet.clone(),
            port,
            sent: now,
            resends: 0,
            by_sender,
        };
        self.cache.insert(at, cached);
        if self.timer.is_none() || by_sender {
            self.timer = Some(now + self.timeout());
        }
    }

    fn acknowledge(&mut self, now: Instant, ack: u32) -> Verdict {
        let newly = ahead(self.acked, ack);
        if newly < 0 {
            return Verdict::Forward;
        }
        if newly > 0 {
            self.acked = ack;
            self.duplicates = 0;
            self.expected = 0;
            while let Some(first) = self.cache.front().filter(|c| ahead(c.end, ack) >= 0) {
                if first.resends == 0 && !first.by_sender && first.end == ack {
                    let sample = now.since(first.sent);
                    self.measure(sample);
                }
                self.cache.pop_front();
            }
            self.timer = (!self.cache.is_empty()).then(|| now + self.timeout());
            return Verdict::Forward;
        }
        let waiting = self.cache.len() as u32;
        let Some(first) = self.cache.front().filter(|first| first.seq == ack) else {
            return Verdict::Forward; // it never came here
        };
        if self.expected > 0 {
            self.expected -= 1;
            return Verdict::Suppress;
        }
        self.duplicates += 1;
        if self.duplicates < DUPLICATES {
            return Verdict::Forward;
        }
        self.duplicates = 0;
        if first.by_sender {
            return Verdict::Forward;
        }
        // Duplicates from packets behind it, and from those that the sender sends in response to the duplicate that
        // passed.
        let is_under_way = first.resends > 0;
        self.expected = waiting.saturating_sub(DUPLICATES + u32::from(is_under_way));
        if is_under_way {
            return Verdict::Forward;
        }
        match self.resend(now) {
            Some((port, packet)) => Verdict::Resend(port, packet),
            None => Verdict::Forward,
        }
    }

    /// Retransmits the earliest packet, if the receiver waits for it. Otherwise a queue before this station dropped the
    /// packet before it. That loss is the sender's to repair, and a retransmission would only cause duplicates.
    fn handle_timeout(&mut self, now: Instant) -> Option<(u16, Packet)> {
        let first = self.cache.front()?;
        match ahead(self.acked, first.seq) > 0 {
            true => None,
            false => self.resend(now),
        }
    }

    /// Retransmits the earliest packet.
    fn resend(&mut self, now: Instant) -> Option<(u16, Packet)> {
        let timeout = self.timeout();
        let first = self.cache.front_mut()?;
        if first.resends == MAX_RESENDS {
            return None;
        }
        first.resends += 1;
        self.timer = Some(now + timeout);
        Some((first.port, first.packet.clone()))
    }

    fn measure(&mut self, sample: Duration) {
        let nanos = Duration::from_nanos;
        self.measured = Some(match self.measured {
            None => (sample, nanos(sample.as_nanos() / 2)),
            Some((srtt, var)) => {
                let off = srtt.as_nanos().abs_diff(sample.as_nanos());
                (
                    nanos((7 * srtt.as_nanos() + sample.as_nanos()) / 8),
                    nanos((3 * var.as_nanos() + off) / 4),
                )
            }
        });
    }

    /// max(srtt + 4 · rttvar, 0.1 s).
    fn timeout(&self) -> Duration {
        let timeout = |(srtt, var): (Duration, Duration)| (srtt + var * 4).max(MIN_TIMEOUT);
        self.measured.map_or(FIRST_TIMEOUT, timeout)
    }
}

/// The distance of sequence number `to` from `from`. Negative if it is behind.
fn ahead(from: u32, to: u32) -> i32 {
    to.wrapping_sub(from) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIRED: u16 = 1;
    const WIRELESS: u16 = 2;

    fn packet(data: bool, number: u32) -> Packet {
        let address = |last| Ipv4Addr::new(10, 0, 0, last);
        let flow = wire::Flow {
            source_mac: [2; 6],
            destination_mac: [4; 6],
            source: address(1),
            destination: address(2),
            source_port: 1024,
            destination_port: 1024,
        };
        let segment = Segment {
            seq: if data { number * 960 } else { 0 },
            ack: if data { 0 } else { number * 960 },
            flags: Flags::ACK,
            payload: if data { 960 } else { 0 },
            ..Segment::default()
        };
        let whole = wire::Packet {
            flow: if data { flow } else { flow.reversed() },
            identification: 0,
            ttl: 64,
            body: Body::Tcp(segment),
        };
        let mut octets = vec![0; wire::MAX_HEADER_OCTETS];
        let length = wire::encode(&whole, &mut octets).unwrap();
        octets.truncate(length);
        Packet {
            octets: octets.into(),
            elided: segment.payload,
            ..Packet::default()
        }
    }

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// Packets 0 to 6 were sent; 0 is acknowledged, and 1 is lost.
    fn snoop() -> Snoop {
        let mut snoop = Snoop::new(&[WIRELESS]);
        for number in 0..7 {
            let verdict = snoop.handle_packet(at(0), WIRED, &packet(true, number));
            assert_eq!(verdict, Verdict::Forward);
        }
        let verdict = snoop.handle_packet(at(20), WIRELESS, &packet(false, 1));
        assert_eq!(verdict, Verdict::Forward);
        snoop
    }

    #[test]
    fn the_second_duplicate_brings_the_packet_and_the_others_end_here() {
        let mut snoop = snoop();
        let mut duplicate = || snoop.handle_packet(at(30), WIRELESS, &packet(false, 1));
        assert_eq!(duplicate(), Verdict::Forward);
        assert_eq!(duplicate(), Verdict::Resend(WIRED, packet(true, 1)));
        // Of the six packets sent, 2 to 6 cause duplicates. Two of these have arrived, and the one that passed may
        // trigger another packet.
        for _ in 0..4 {
            assert_eq!(duplicate(), Verdict::Suppress);
        }
        let verdict = snoop.handle_packet(at(50), WIRELESS, &packet(false, 7));
        assert_eq!(verdict, Verdict::Forward);
        assert_eq!((snoop.resent, snoop.suppressed), (1, 5));
        assert_eq!(snoop.poll_timeout(), None);
    }

    #[test]
    fn what_the_sender_sends_again_is_the_senders_affair() {
        let mut snoop = snoop();
        snoop.handle_packet(at(25), WIRED, &packet(true, 1));
        for _ in 0..5 {
            let verdict = snoop.handle_packet(at(30), WIRELESS, &packet(false, 1));
            assert_eq!(verdict, Verdict::Forward);
        }
    }

    /// One sample of 20 ms: 20 + 4 · 10 = 60 ms, hence 0.1 s.
    #[test]
    fn silence_brings_a_packet_ten_times() {
        let mut snoop = snoop();
        for resend in 1..=MAX_RESENDS {
            let due = at(20 + 100 * u64::from(resend));
            assert_eq!(snoop.poll_timeout(), Some(due));
            assert_eq!(snoop.handle_timeout(due), Some((WIRED, packet(true, 1))));
            assert_eq!(snoop.handle_timeout(due), None);
        }
        assert_eq!(snoop.handle_timeout(at(9000)), None);
        assert_eq!(snoop.poll_timeout(), None);
    }

    /// Packet 1 never arrived here, and the receiver waits for it: packet 2 is of no use to the receiver.
    #[test]
    fn what_waits_behind_a_drop_of_a_queue_is_not_sent_again() {
        let mut snoop = Snoop::new(&[WIRELESS]);
        for number in [0, 2, 3] {
            snoop.handle_packet(at(0), WIRED, &packet(true, number));
        }
        snoop.handle_packet(at(20), WIRELESS, &packet(false, 1));
        let due = snoop.poll_timeout().unwrap();
        assert_eq!(snoop.handle_timeout(due), None);
        assert_eq!(snoop.poll_timeout(), None);
        // The sender retransmits it, so the timer runs for it.
        snoop.handle_packet(at(300), WIRED, &packet(true, 1));
        let due = snoop.poll_timeout().unwrap();
        assert_eq!(snoop.handle_timeout(due), Some((WIRED, packet(true, 1))));
    }

    /// A packet that the timer has retransmitted is not retransmitted again for duplicates, because packets in flight
    /// may cause them.
    #[test]
    fn duplicates_after_a_timeout_pass() {
        let mut snoop = snoop();
        let due = snoop.poll_timeout().unwrap();
        assert!(snoop.handle_timeout(due).is_some());
        let mut duplicate = || snoop.handle_packet(due, WIRELESS, &packet(false, 1));
        assert_eq!(
            [duplicate(), duplicate()],
            [Verdict::Forward, Verdict::Forward]
        );
        assert_eq!(duplicate(), Verdict::Suppress);
        assert_eq!(snoop.resent, 1);
    }

    #[test]
    fn a_hundred_packets_are_kept() {
        let mut snoop = Snoop::new(&[WIRELESS]);
        for number in 0..150 {
            snoop.handle_packet(at(0), WIRED, &packet(true, number));
        }
        let connection = snoop.connections.values().next().unwrap();
        assert_eq!(connection.cache.len(), MAX_CACHED);
    }
}
