//! The receiving side: what arrived, which window is advertised, when to acknowledge.
//!
//! Positions count the other end's sequence space from its SYN, which is 0.

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

/// One direction of a connection, as its receiver knows it.
#[derive(Debug)]
pub(super) struct Receiver {
    pub(super) stream: ReceiveStream,
    assembler: Assembler,
    /// The sequence number of the other end's SYN.
    start: u32,
    /// Where its FIN lies, once it came.
    fin: Option<u64>,
    /// The window told last ends before this position.
    told: u64,
    /// The shift of the advertised window.
    pub(super) scale: u8,
    /// The acknowledgement sent last (Last.ACK.sent).
    acked: u64,
    /// The other end's timestamp to echo, and when it came (TS.Recent).
    recent: Option<(u32, Instant)>,
    /// The longest payload so far: what counts as a full segment.
    full: u64,
    delayed_ack: Option<Duration>,
    /// Segments that are acknowledged at once as the other end's window opens.
    quick: u32,
    /// An acknowledgement is due.
    pub(super) due: bool,
    /// When one that waits is due.
    pub(super) timer: Option<Instant>,
    /// A duplicate came, to be reported first (RFC 2883).
    copy: Option<(u64, u64)>,
    aqt: Option<Aqt>,
    avbw: Option<Avbw>,
    /// CSIG tags since the last acknowledgement that reflected some.
    reflection: Reflection,
    /// What the newest TCP-INT option that a hop wrote into tells the other end, until it is sent.
    hop_echo: Option<Echo>,
    /// The newest stack of telemetry, until it is returned.
    int: Option<Int>,
    /// Declared marks.
    marks: Marks,
    /// The options of the data since the last acknowledgement; before more comes, of the data before.
    options: Options,
    /// They are in an acknowledgement.
    options_sent: bool,
    /// Data segments, copies included.
    pub(super) received: u64,
}

/// Early ranges that are kept at most; more would only serve one that means harm.
const MAX_RANGES: usize = 512;
/// As many as the kernel's: a first window.
const QUICK_ACKS: u32 = 16;
/// After so long a silence any timestamp is taken (RFC 7323, §5.5).
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

    /// The other end's SYN came.
    pub(super) fn synchronize(&mut self, sequence: u32) {
        self.start = sequence;
        self.assembler.insert(0, 1);
        self.acked = 1;
        self.told = 1;
    }

    /// The position nearest to what is expected that `sequence` stands for; it may lie before the
    /// start.
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

    /// Behind the last position that is taken.
    pub(super) fn limit(&self) -> u64 {
        self.stream.limit().max(self.told)
    }

    /// Behind the last octet that may be read.
    pub(super) fn readable_end(&self) -> u64 {
        match self.is_finished() {
            true => self.expected() - 1,
            false => self.expected(),
        }
    }

    /// Everything up to the FIN, itself included, has arrived.
    pub(super) fn is_finished(&self) -> bool {
        self.fin.is_some_and(|fin| self.expected() > fin)
    }

    /// Payload octets that arrived in order.
    pub(super) fn delivered(&self) -> u64 {
        self.readable_end().saturating_sub(1)
    }

    /// Whether a timestamp shows that a segment is an old one (RFC 7323, §5.3, R1).
    pub(super) fn is_stale(&self, now: Instant, stamps: Timestamps) -> bool {
        self.recent.is_some_and(|(recent, since)| {
            (stamps.value.wrapping_sub(recent) as i32) < 0 && now.since(since) < STALE
        })
    }

    /// Keeps a timestamp to echo, of a segment that starts where the last acknowledgement ended or
    /// before (RFC 7323, §4.3).
    pub(super) fn note_stamp(&mut self, now: Instant, position: i64, stamps: Timestamps) {
        if position <= self.acked as i64 && !self.is_stale(now, stamps) {
            self.recent = Some((stamps.value, now));
        }
    }

    /// The timestamp to echo.
    pub(super) fn echo(&self) -> u32 {
        self.recent.map_or(0, |(value, _)| value)
    }

    /// Takes in a payload of `octets` at `position`, of which `present` is there and the rest zeros,
    /// and a FIN behind it.
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
            // It has a position of its own, which SACK reports too.
            self.fin = Some(whole);
            self.assembler.insert(whole, whole + 1);
        }
        self.stream.skip_elided(self.readable_end());
        self.schedule(now, early);
    }

    /// When what came has to be acknowledged (RFC 5681, §4.2).
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

    /// The marks of data are echoed in the next acknowledgement: the newest queueing time and telemetry, the
    /// lowest index since the last, and declared marks as their aggregation says.
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

    /// What data says for an acknowledgement to echo.
    pub(super) fn marks(&self) -> (Option<Aqt>, Option<Avbw>) {
        (self.aqt, self.avbw)
    }

    /// Whether CSIG tags came that are not reflected yet.
    pub(super) fn has_tags(&self) -> bool {
        !self.reflection.is_empty()
    }

    /// The CSIG tags for an acknowledgement to reflect, once.
    pub(super) fn take_tags(&mut self) -> Reflection {
        std::mem::take(&mut self.reflection)
    }

    /// Whether there is a TCP-INT option to echo.
    pub(super) fn has_hop_echo(&self) -> bool {
        self.hop_echo.is_some()
    }

    /// What a TCP-INT option echoes, once.
    pub(super) fn take_hop_echo(&mut self) -> Option<Echo> {
        self.hop_echo.take()
    }

    /// The options of the data that an acknowledgement echoes.
    pub(super) fn options(&self) -> &Options {
        &self.options
    }

    /// Something that came is not acknowledged yet.
    pub(super) fn owes(&self) -> bool {
        self.due || self.expected() > self.acked
    }

    /// The window to tell, in the field's units, for a segment that leaves now. Its end never goes
    /// back, and moves in large steps only (RFC 9293, §3.8.6.2.2).
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
            // What rounding takes away had been advertised before.
            field += 1;
        }
        let field = field.min(u64::from(u16::MAX));
        self.told = expected + (field << shift);
        field as u16
    }

    /// The SACK blocks to tell (RFC 2018, §4), a copy first (RFC 2883), as many as `most`.
    pub(super) fn sack_blocks(&mut self, most: usize) -> SackBlocks {
        let mut sack = SackBlocks::default();
        let copy = self.copy.take();
        for &(left, right) in copy.iter().chain(self.assembler.recent()).take(most) {
            sack.push(self.sequence(left), self.sequence(right));
        }
        sack
    }

    /// How many SACK blocks there are to tell.
    pub(super) fn sack_blocks_due(&self) -> usize {
        usize::from(self.copy.is_some()) + self.assembler.ranges()
    }

    /// Whether there is something for SACK to tell, or telemetry to return.
    pub(super) fn has_reports(&self) -> bool {
        self.sack_blocks_due() > 0 || self.int.is_some()
    }

    /// The telemetry to return.
    pub(super) fn take_int(&mut self) -> Option<Int> {
        self.int.take()
    }

    /// An acknowledgement left.
    pub(super) fn on_ack_sent(&mut self) {
        self.acked = self.expected();
        self.due = false;
        self.timer = None;
        self.avbw = None;
        self.options_sent = true;
    }

    /// The delayed acknowledgement's timer.
    pub(super) fn handle_timer(&mut self, now: Instant) {
        if self.timer.take_if(|at| *at <= now).is_some() {
            self.due = true;
        }
    }

    /// Reads octets in order; makes room, which is advertised if it is much.
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
