//! The receiving side: received data, the advertised window, and when to acknowledge.
//!
//! Positions count the other end's sequence space from its SYN, which has position 0.

use units::{Duration, Instant};

use super::config::Config;
use super::stream::ReceiveStream;
use crate::tcp::assembler::Assembler;
use crate::tcp::csig::Reflection;
use crate::tcp::int::Int;
use crate::tcp::mark::Marks;
use crate::tcp::options::Options;
use crate::tcp::segment::{Aqt, Avbw, Flags, SackBlocks, Segment, Timestamps};
use crate::tcp::tcp_int::Echo;

/// The receiving state of a connection.
#[derive(Debug)]
pub(super) struct Receiver {
    pub(super) stream: ReceiveStream,
    assembler: Assembler,
    /// The sequence number of the other end's SYN.
    start: u32,
    /// The position of its FIN, once received.
    fin: Option<u64>,
    /// The end of the last advertised window.
    told: u64,
    /// The shift of the advertised window.
    pub(super) scale: u8,
    /// The last acknowledgement sent (Last.ACK.sent).
    acked: u64,
    /// The other end's timestamp to echo, and when it arrived (TS.Recent).
    recent: Option<(u32, Instant)>,
    /// The longest payload so far, which counts as a full segment.
    full: u64,
    delayed_ack: Option<Duration>,
    /// Number of segments that are acknowledged at once while the other end's window opens.
    quick: u32,
    /// Whether an acknowledgement is due.
    pub(super) due: bool,
    /// When a delayed acknowledgement is due.
    pub(super) timer: Option<Instant>,
    /// A duplicate that must be reported first (RFC 2883).
    copy: Option<(u64, u64)>,
    aqt: Option<Aqt>,
    avbw: Option<Avbw>,
    /// CSIG tags received since the last acknowledgement that reflected some.
    reflection: Reflection,
    /// The echo of the newest TCP-INT option into which a hop wrote, until it is sent.
    hop_echo: Option<Echo>,
    /// The newest telemetry stack, until it is returned.
    int: Option<Int>,
    /// Declared marks.
    marks: Marks,
    /// The options of the data since the last acknowledgement, or of earlier data if there is none.
    options: Options,
    /// Whether an acknowledgement has carried them.
    options_sent: bool,
    /// Data segments, including duplicates.
    pub(super) received: u64,
}

/// The most early ranges that are kept. More would only help an attacker.
const MAX_RANGES: usize = 512;
/// The same as in the kernel: an initial window.
const QUICK_ACKS: u32 = 16;
/// After this time of silence any timestamp is accepted (RFC 7323, §5.5).
const STALE: Duration = Duration::from_millis(24 * 24 * 3600 * 1000);

impl Receiver {
    pub(super) fn new(config: &Config) -> Self {
        Receiver {
            stream: ReceiveStream::new(config.receive_buffer, config.elided),
            assembler: Assembler::new(0, SackBlocks::MAX),
            start: 0,
            fin: None,
            told: 0,
            scale: 0,
            acked: 0,
            recent: None,
            full: 1,
            delayed_ack: config.delayed_ack,
            quick: QUICK_ACKS,
            due: false,
            timer: None,
            copy: None,
            aqt: None,
            avbw: None,
            reflection: Reflection::default(),
            hop_echo: None,
            int: None,
            marks: config.marks.clone(),
            options: Options::default(),
            options_sent: true,
            received: 0,
        }
    }

    /// Handles the other end's SYN.
    pub(super) fn synchronize(&mut self, sequence: u32) {
        self.start = sequence;
        self.assembler.insert(0, 1);
        self.acked = 1;
        self.told = 1;
    }

    /// The position of `sequence` that is nearest to the expected one. It may be before the start.
    pub(super) fn position(&self, sequence: u32) -> i64 {
        let expected = self.assembler.expected();
        let ahead = sequence.wrapping_sub(self.sequence(expected)) as i32;
        expected as i64 + i64::from(ahead)
    }

    fn sequence(&self, position: u64) -> u32 {
        self.start.wrapping_add(position as u32)
    }

    /// The next position expected.
    pub(super) fn expected(&self) -> u64 {
        self.assembler.expected()
    }

    /// The acknowledgement number.
    pub(super) fn ack_number(&self) -> u32 {
        self.sequence(self.expected())
    }

    /// The end of the range of accepted positions.
    pub(super) fn limit(&self) -> u64 {
        self.stream.limit().max(self.told)
    }

    /// The end of the octets that may be read.
    pub(super) fn readable_end(&self) -> u64 {
        match self.is_finished() {
            true => self.expected() - 1,
            false => self.expected(),
        }
    }

    /// Whether everything up to and including the FIN has arrived.
    pub(super) fn is_finished(&self) -> bool {
        self.fin.is_some_and(|fin| self.expected() > fin)
    }

    /// Payload octets that arrived in order.
    pub(super) fn delivered(&self) -> u64 {
        self.readable_end().saturating_sub(1)
    }

    /// Whether a timestamp shows that a segment is old (RFC 7323, §5.3, R1).
    pub(super) fn is_stale(&self, now: Instant, stamps: Timestamps) -> bool {
        self.recent.is_some_and(|(recent, since)| {
            (stamps.value.wrapping_sub(recent) as i32) < 0 && now.since(since) < STALE
        })
    }

    /// Stores the timestamp to echo, if the segment starts at or before the end of the last acknowledgement (RFC 7323,
    /// §4.3).
    pub(super) fn note_stamp(&mut self, now: Instant, position: i64, stamps: Timestamps) {
        if position <= self.acked as i64 && !self.is_stale(now, stamps) {
            self.recent = Some((stamps.value, now));
        }
    }

    /// The timestamp to echo.
    pub(super) fn echo(&self) -> u32 {
        self.recent.map_or(0, |(value, _)| value)
    }

    /// Handles a payload of `octets` octets at `position`, of which `present` is stored and the rest zeros, and a FIN
    /// behind it.
    pub(super) fn accept(
        &mut self,
        now: Instant,
        position: i64,
        segment: &Segment,
        present: &[u8],
        fin: bool,
    ) {
        let octets = u64::from(segment.payload);
        let expected = self.expected();
        let left = position.max(expected as i64) as u64;
        let whole = (position + octets as i64).max(0) as u64;
        let right = whole.min(self.limit()).min(self.fin.unwrap_or(u64::MAX));
        if octets > 0 {
            self.received += 1;
            self.note_marks(segment);
        }
        let early = left > expected;
        if whole <= expected && octets > 0 {
            let again = self.fin == Some(whole) && segment.flags.contains(Flags::FIN);
            let copy = (position.max(1) as u64, whole + u64::from(again));
            self.copy = (copy.0 < copy.1).then_some(copy);
            self.due = true;
        } else if right > left {
            if early && self.assembler.ranges() >= MAX_RANGES {
                self.due = true;
                return;
            }
            if let Some((from, to)) = self.assembler.early_at(left)
                && right <= to
                && from <= left
            {
                self.copy = Some((left, right));
            }
            let skip = (left as i64 - position) as usize;
            let kept = present.get(skip..).unwrap_or(&[]);
            let kept = &kept[..kept.len().min((right - left) as usize)];
            self.stream.store(left, kept);
            self.assembler.insert(left, right);
            self.full = self.full.max(octets);
        } else if octets > 0 {
            self.due = true;
        }
        if fin && whole <= self.limit() && self.fin.is_none() {
            // It has its own position, which SACK also reports.
            self.fin = Some(whole);
            self.assembler.insert(whole, whole + 1);
        }
        self.stream.skip_elided(self.readable_end());
        self.schedule(now, early);
    }

    /// Determines when received data must be acknowledged (RFC 5681, §4.2).
    fn schedule(&mut self, now: Instant, early: bool) {
        let waiting = self.expected() - self.acked;
        let gap = early || self.assembler.ranges() > 0;
        self.quick = self.quick.saturating_sub(1);
        let at_once = gap
            || self.is_finished()
            || self.quick > 0
            || waiting >= 2 * self.full
            || self.delayed_ack.is_none();
        if at_once {
            self.due = true;
        } else if waiting > 0
            && self.timer.is_none()
            && let Some(delay) = self.delayed_ack
        {
            self.timer = Some(now + delay);
        }
    }

    /// Records the marks of data for the next acknowledgement: the newest queueing time and telemetry, the minimum
    /// index since the last one, and declared marks according to their aggregation.
    fn note_marks(&mut self, data: &Segment) {
        self.aqt = data.aqt;
        self.int = data.int.filter(|int| !int.is_echo).or(self.int);
        self.avbw = match (self.avbw, data.avbw) {
            (Some(one), Some(other)) => Some(if one.drai < other.drai { one } else { other }),
            (one, other) => other.or(one),
        };
        let received = data.tcp_int.and_then(|option| option.received());
        self.hop_echo = received.or(self.hop_echo);
        if let Some(tag) = data.csig {
            self.reflection.add(tag);
        }
        self.options = match self.options_sent {
            true => data.options,
            false => self.marks.combine(&self.options, &data.options),
        };
        self.options_sent = false;
    }

    /// The marks of data for an acknowledgement to echo.
    pub(super) fn marks(&self) -> (Option<Aqt>, Option<Avbw>) {
        (self.aqt, self.avbw)
    }

    /// Whether there are received CSIG tags that are not reflected yet.
    pub(super) fn has_tags(&self) -> bool {
        !self.reflection.is_empty()
    }

    /// Returns the CSIG tags to reflect, once.
    pub(super) fn take_tags(&mut self) -> Reflection {
        std::mem::take(&mut self.reflection)
    }

    /// Whether there is a TCP-INT option to echo.
    pub(super) fn has_hop_echo(&self) -> bool {
        self.hop_echo.is_some()
    }

    /// Returns the echo of a TCP-INT option, once.
    pub(super) fn take_hop_echo(&mut self) -> Option<Echo> {
        self.hop_echo.take()
    }

    /// The options of the data that an acknowledgement echoes.
    pub(super) fn options(&self) -> &Options {
        &self.options
    }

    /// Whether received data is not acknowledged yet.
    pub(super) fn owes(&self) -> bool {
        self.due || self.expected() > self.acked
    }

    /// The window to advertise in a segment sent now, in the field's units. Its end never decreases, and increases only
    /// in large steps (RFC 9293, §3.8.6.2.2).
    pub(super) fn tell_window(&mut self, syn: bool) -> u16 {
        let expected = self.expected();
        let limit = self.stream.limit();
        let step = (self.stream.capacity() / 2).min(self.full);
        let end = match limit.saturating_sub(self.told) >= step {
            true => limit,
            false => self.told,
        };
        let shift = if syn { 0 } else { self.scale };
        let mut field = end.saturating_sub(expected) >> shift;
        if expected + (field << shift) < self.told {
            // The octets that rounding removes had been advertised before.
            field += 1;
        }
        let field = field.min(u64::from(u16::MAX));
        self.told = expected + (field << shift);
        field as u16
    }

    /// The SACK blocks to send (RFC 2018, §4), a duplicate first (RFC 2883), at most `most`.
    pub(super) fn sack_blocks(&mut self, most: usize) -> SackBlocks {
        let mut sack = SackBlocks::default();
        let copy = self.copy.take();
        for &(left, right) in copy.iter().chain(self.assembler.recent()).take(most) {
            sack.push(self.sequence(left), self.sequence(right));
        }
        sack
    }

    /// Number of SACK blocks to send.
    pub(super) fn sack_blocks_due(&self) -> usize {
        usize::from(self.copy.is_some()) + self.assembler.ranges()
    }

    /// Whether there is something to report by SACK, or telemetry to return.
    pub(super) fn has_reports(&self) -> bool {
        self.sack_blocks_due() > 0 || self.int.is_some()
    }

    /// Returns the telemetry to send back.
    pub(super) fn take_int(&mut self) -> Option<Int> {
        self.int.take()
    }

    /// Records that an acknowledgement was sent.
    pub(super) fn on_ack_sent(&mut self) {
        self.acked = self.expected();
        self.due = false;
        self.timer = None;
        self.avbw = None;
        self.options_sent = true;
    }

    /// Handles the delayed acknowledgement's timer.
    pub(super) fn handle_timer(&mut self, now: Instant) {
        if self.timer.take_if(|at| *at <= now).is_some() {
            self.due = true;
        }
    }

    /// Reads octets in order. The room is advertised if it is large enough.
    pub(super) fn read(&mut self, into: &mut [u8]) -> usize {
        let count = self.stream.read(self.readable_end(), into);
        let old = self.told.saturating_sub(self.expected());
        let more = self.stream.limit().saturating_sub(self.told);
        let capacity = self.stream.capacity();
        let starved = old < self.full && more >= self.full.min(capacity / 2);
        if !self.is_finished() && count > 0 && (starved || more >= capacity / 2) {
            self.due = true;
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::mark::{Aggregation, Field, Mark};

    fn receiver(capacity: usize) -> Receiver {
        let mut receiver = Receiver::new(&Config {
            receive_buffer: capacity,
            ..Config::default()
        });
        receiver.synchronize(u32::MAX - 20);
        receiver
    }

    fn arrives(receiver: &mut Receiver, position: i64, octets: &[u8], fin: bool) {
        let segment = Segment {
            payload: octets.len() as u32,
            ..Segment::default()
        };
        receiver.accept(Instant::ZERO, position, &segment, octets, fin);
    }

    #[test]
    fn what_came_early_is_read_in_order() {
        let mut receiver = receiver(100);
        arrives(&mut receiver, 6, b"fghij", true);
        assert!(receiver.due && receiver.has_reports());
        let start = receiver.sequence(6);
        let behind_fin = start.wrapping_add(6);
        assert_eq!(receiver.sack_blocks(3).as_slice(), [(start, behind_fin)]);
        arrives(&mut receiver, 1, b"abcde", false);
        let mut out = [0; 20];
        assert_eq!(receiver.read(&mut out), 10);
        assert_eq!(&out[..10], b"abcdefghij");
        assert!(receiver.is_finished());
        assert_eq!(receiver.expected(), 12);
        assert_eq!(receiver.delivered(), 10);
    }

    #[test]
    fn a_fin_without_data_is_reported_too() {
        let mut receiver = receiver(100);
        arrives(&mut receiver, 6, b"", true);
        let fin = receiver.sequence(6);
        let behind_fin = fin.wrapping_add(1);
        assert!(receiver.due);
        assert_eq!(receiver.sack_blocks(3).as_slice(), [(fin, behind_fin)]);
        arrives(&mut receiver, 1, b"abcde", false);
        assert!(receiver.is_finished());
        assert_eq!((receiver.expected(), receiver.delivered()), (7, 5));
        let last = Segment {
            payload: 5,
            flags: Flags::FIN,
            ..Segment::default()
        };
        receiver.accept(Instant::ZERO, 1, &last, b"abcde", true);
        let copy = (receiver.sequence(1), behind_fin);
        assert_eq!(receiver.sack_blocks(3).as_slice(), [copy]);
    }

    #[test]
    fn duplicates_are_reported_first() {
        let mut receiver = receiver(100);
        arrives(&mut receiver, 1, b"abcde", false);
        arrives(&mut receiver, 11, b"klmno", false);
        arrives(&mut receiver, 1, b"abcde", false);
        let (copy, early) = (receiver.sequence(1), receiver.sequence(11));
        let end = |start: u32| start.wrapping_add(5);
        assert_eq!(
            receiver.sack_blocks(3).as_slice(),
            [(copy, end(copy)), (early, end(early))]
        );
        assert_eq!(receiver.sack_blocks(3).as_slice(), [(early, end(early))]);
    }

    #[test]
    fn the_window_closes_and_opens_in_large_steps() {
        let mut receiver = receiver(1000);
        assert_eq!(receiver.tell_window(false), 1000);
        for i in 0..10 {
            arrives(&mut receiver, 1 + i * 100, &[7; 100], false);
        }
        receiver.on_ack_sent();
        assert_eq!(receiver.tell_window(false), 0);
        let mut out = [0; 60];
        receiver.read(&mut out);
        assert_eq!((receiver.tell_window(false), receiver.due), (0, false));
        receiver.read(&mut out);
        assert!(receiver.due);
        assert_eq!(receiver.tell_window(false), 120);
    }

    #[test]
    fn what_does_not_fit_is_cut_off() {
        let mut receiver = receiver(8);
        arrives(&mut receiver, 1, b"abcdefghij", true);
        assert_eq!(receiver.delivered(), 8);
        assert!(!receiver.is_finished());
        let mut out = [0; 20];
        receiver.read(&mut out);
        arrives(&mut receiver, 1, b"abcdefghij", true);
        assert_eq!(receiver.read(&mut out), 2);
        assert!(receiver.is_finished());
    }

    #[test]
    fn an_acknowledgement_echoes_the_marks_of_all_data_since_the_one_before() {
        let peak = Mark {
            option: 0x9E,
            fields: vec![Field {
                bits: 8,
                aggregation: Aggregation::Max,
            }],
        };
        let mut receiver = Receiver::new(&Config {
            marks: Marks::new(vec![peak]).unwrap(),
            ..Config::default()
        });
        let mut arrives = |depth: u8| {
            let mut data = Segment::default();
            assert!(data.options.push(&[0x9E, 4, depth, 0]));
            receiver.note_marks(&data);
            receiver.options().as_slice()[2]
        };
        assert_eq!([arrives(5), arrives(9), arrives(3)], [5, 9, 9]);
        receiver.on_ack_sent();
        assert_eq!(receiver.options().as_slice()[2], 9);
        receiver.note_marks(&Segment::default());
        assert!(receiver.options().is_empty());
    }

    #[test]
    fn every_second_full_segment_is_acknowledged() {
        let mut receiver = receiver(1 << 20);
        receiver.quick = 0;
        arrives(&mut receiver, 1, &[0; 1000], false);
        assert!(!receiver.due && receiver.timer.is_some());
        arrives(&mut receiver, 1001, &[0; 1000], false);
        assert!(receiver.due);
    }
}
