//! The octet counters of accurate ECN, at both ends (RFC 9768, §3.2.1, §3.2.3 and A.1).

use crate::tcp::segment::Ecn;
use crate::tcp::{First, OctetCounts};

/// The initial counts of both ends: octets of ECT(0), CE and ECT(1). Zeros for the first and the last indicate that an
/// option was cleared on the path.
const FIRST_COUNTS: [u64; 3] = [1, 0, 1];

/// The receiver's counters: r.e0b, r.ceb, r.e1b.
#[derive(Clone, Copy, Debug)]
pub(super) struct Received {
    /// Whether the option is sent.
    enabled: bool,
    counts: [u64; 3],
    /// The content of the newest option. `None` if none was sent.
    told: Option<[u64; 3]>,
    /// Whether the newest option seems to be lost.
    again: bool,
}

impl Received {
    pub(super) fn new(enabled: bool) -> Self {
        Received {
            enabled,
            counts: FIRST_COUNTS,
            told: None,
            again: false,
        }
    }

    /// Handles duplicate data: its acknowledgement is lost, and perhaps the newest option.
    pub(super) fn on_copy(&mut self) {
        self.again = self.counts != FIRST_COUNTS;
    }

    /// Handles an acceptable segment with `payload` octets of payload.
    pub(super) fn on_segment(&mut self, field: Ecn, payload: u32) {
        let counter = match field {
            Ecn::NotCapable => return,
            Ecn::Ect0 => 0,
            Ecn::Experienced => 1,
            Ecn::Ect1 => 2,
        };
        self.counts[counter] += u64::from(payload);
    }

    /// Stops sending options, because they do not seem to arrive (§3.2.3.2.2).
    pub(super) fn give_up(&mut self) {
        self.enabled = false;
    }

    /// Whether an acknowledgement has something to report: a counter has changed since the newest option, or that
    /// option is lost.
    pub(super) fn is_due(&self) -> bool {
        self.enabled && (self.again || self.told != Some(self.counts))
    }

    /// The option for a segment with room for `room` octets. The first option, and others that are `whole`, contain all
    /// counters, so that the other end detects those cleared on the path. The rest contain those that have ever
    /// changed, or, if there is not enough room, those that have changed since the newest option (§3.2.3.3).
    pub(super) fn option(&mut self, whole: bool, room: u32) -> Option<OctetCounts> {
        if !self.enabled {
            return None;
        }
        let told = self.told.unwrap_or(FIRST_COUNTS);
        let ever = match whole || self.told.is_none() {
            true => [true; 3],
            false => self.moved_since(FIRST_COUNTS),
        };
        let wanted = [ever, self.moved_since(told)];
        let option = wanted
            .into_iter()
            .map(|wanted| self.with(wanted))
            .find(|option| option.octets() <= room)?;
        self.told = Some(self.counts);
        self.again = false;
        Some(option)
    }

    fn moved_since(&self, before: [u64; 3]) -> [bool; 3] {
        std::array::from_fn(|i| self.counts[i] != before[i])
    }

    /// The shortest option with the wanted counters, in the order ECT(0), CE, ECT(1).
    fn with(&self, wanted: [bool; 3]) -> OctetCounts {
        let fields = |order: [usize; 3]| {
            let last = order.iter().rposition(|&counter| wanted[counter]);
            (order, last.map_or(0, |last| last + 1))
        };
        let (zero_first, one_first) = (fields([0, 1, 2]), fields([2, 1, 0]));
        let (first, (order, len)) = match one_first.1 < zero_first.1 {
            true => (First::Ect1, one_first),
            false => (First::Ect0, zero_first),
        };
        let counts =
            order.map(|counter| (self.counts[counter] % u64::from(OctetCounts::MODULUS)) as u32);
        OctetCounts::new(first, counts.into_iter().take(len))
    }
}

/// The sender's counter of octets that arrived marked, s.ceb, and the counts since then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reported {
    arrival: Arrival,
    ce: u32,
    /// Marked packets, by the field ACE, since an option last contained the counter.
    marked: u64,
    /// Segments that arrived since then.
    delivered: u64,
}

/// Whether options of the other end arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arrival {
    /// They may.
    Expected,
    /// The handshake had none: stripped, or not sent (§3.2.3.2.3).
    Absent,
    /// The option of the handshake was cleared: options are ignored (§3.2.3.2.4).
    Cleared,
}

/// The report of an option about octets that arrived marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Marked {
    /// Octets since the preceding option.
    pub(super) octets: u64,
    /// Marked packets that were counted since then.
    pub(super) counted: u64,
    /// Segments that arrived since then.
    pub(super) delivered: u64,
}

impl Reported {
    pub(super) fn new() -> Self {
        Reported {
            arrival: Arrival::Expected,
            ce: FIRST_COUNTS[1] as u32,
            marked: 0,
            delivered: 0,
        }
    }

    /// Handles the segment that ends the handshake.
    pub(super) fn on_handshake(&mut self, option: Option<&OctetCounts>) {
        self.arrival = match option {
            None => Arrival::Absent,
            Some(option) if option.capable().any(|count| count == 0) => Arrival::Cleared,
            Some(_) => Arrival::Expected,
        };
    }

    /// Handles an acknowledgement that reports `delivered` segments as newly arrived. `None` if nothing is known about
    /// octets. A counter that an option omits has not changed.
    pub(super) fn read(&mut self, option: Option<&OctetCounts>, delivered: u64) -> Option<Marked> {
        self.delivered += delivered;
        let option = option?;
        let arrival = self.arrival;
        if arrival == Arrival::Absent {
            self.arrival = Arrival::Expected;
        }
        let mut marked = Marked {
            octets: 0,
            counted: self.marked,
            delivered: self.delivered,
        };
        if let Some(count) = option.ce() {
            let octets = count.wrapping_sub(self.ce) % OctetCounts::MODULUS;
            marked.octets = u64::from(octets);
            (self.ce, self.marked, self.delivered) = (count, 0, 0);
        }
        // What arrived before the first option is unknown.
        (arrival == Arrival::Expected).then_some(marked)
    }

    /// Handles marked packets that were counted by an acknowledgement without this counter.
    pub(super) fn on_marked(&mut self, packets: u64) {
        self.marked += packets;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(option: Option<OctetCounts>) -> Option<(First, Vec<u32>)> {
        option.map(|option| (option.first(), option.fields().to_vec()))
    }

    /// A receiver that has sent the option of the handshake.
    fn receiver() -> Received {
        let mut received = Received::new(true);
        let handshake = received.option(false, 12);
        assert_eq!(fields(handshake), Some((First::Ect0, vec![1, 0, 1])));
        received
    }

    #[test]
    fn an_option_has_the_counters_that_ever_moved() {
        let mut received = receiver();
        assert!(!received.is_due());
        received.on_segment(Ecn::NotCapable, 1000);
        received.on_segment(Ecn::Ect1, 0);
        assert!(!received.is_due());
        received.on_segment(Ecn::Ect1, 1000);
        assert!(received.is_due());
        assert_eq!(
            fields(received.option(false, 12)),
            Some((First::Ect1, vec![1001]))
        );
        assert!(!received.is_due());
        received.on_segment(Ecn::Experienced, 500);
        received.on_segment(Ecn::Ect1, 1000);
        assert_eq!(
            fields(received.option(false, 12)),
            Some((First::Ect1, vec![2001, 500]))
        );
        received.on_segment(Ecn::Ect1, 1000);
        assert_eq!(
            fields(received.option(false, 12)),
            Some((First::Ect1, vec![3001, 500]))
        );
        received.on_segment(Ecn::Ect0, 10);
        assert_eq!(
            fields(received.option(false, 12)),
            Some((First::Ect0, vec![11, 500, 3001]))
        );
    }

    #[test]
    fn without_room_an_option_has_what_moved_since_the_one_before_or_is_omitted() {
        let mut received = receiver();
        received.on_segment(Ecn::Ect0, 1);
        received.on_segment(Ecn::Experienced, 2);
        received.on_segment(Ecn::Ect1, 3);
        assert_eq!(received.option(false, 8), None);
        assert!(received.is_due());
        assert_eq!(
            fields(received.option(false, 12)),
            Some((First::Ect0, vec![2, 2, 4]))
        );
        received.on_segment(Ecn::Experienced, 2);
        received.on_segment(Ecn::Ect1, 3);
        assert_eq!(received.option(false, 4), None);
        assert_eq!(
            fields(received.option(false, 8)),
            Some((First::Ect1, vec![7, 4]))
        );
        assert_eq!(
            fields(received.option(false, 4)),
            Some((First::Ect0, vec![]))
        );
    }

    #[test]
    fn counters_are_sent_modulo_24_bits() {
        let mut received = receiver();
        for _ in 0..4 {
            received.on_segment(Ecn::Experienced, 1 << 22);
        }
        received.on_segment(Ecn::Experienced, 7);
        assert_eq!(
            fields(received.option(false, 12)),
            Some((First::Ect0, vec![1, 7]))
        );
    }

    #[test]
    fn nothing_is_sent_where_options_are_off_or_seem_not_to_pass() {
        let mut off = Received::new(false);
        off.on_segment(Ecn::Ect0, 9);
        assert_eq!((off.is_due(), off.option(true, 40)), (false, None));
        let mut given_up = receiver();
        given_up.on_segment(Ecn::Ect0, 9);
        given_up.give_up();
        assert_eq!(
            (given_up.is_due(), given_up.option(false, 40)),
            (false, None)
        );
    }

    fn with(ce: u32) -> OctetCounts {
        OctetCounts::new(First::Ect0, [1, ce, 1])
    }

    /// The example of A.1: a counter of 33,554,433 and a field of 1461 mean 1460 more octets.
    #[test]
    fn a_counter_moves_by_the_least_that_its_field_allows() {
        let mut reported = Reported::new();
        reported.on_handshake(Some(&with(0)));
        let mut octets = |ce| reported.read(Some(&with(ce)), 1).unwrap().octets;
        // 2^24 twice, and 1.
        assert_eq!(
            [1 << 23, 0, 1 << 23, 1].map(&mut octets),
            [1 << 23, 1 << 23, 1 << 23, (1 << 23) + 1]
        );
        assert_eq!(octets(1461), 1460);
    }

    #[test]
    fn a_handshake_without_the_option_or_with_zeros_tells_nothing() {
        let read = |handshake: Option<OctetCounts>| {
            let mut reported = Reported::new();
            reported.on_handshake(handshake.as_ref());
            [1000, 1500].map(|ce| {
                reported
                    .read(Some(&with(ce)), 1)
                    .map(|marked| marked.octets)
            })
        };
        assert_eq!(read(Some(with(0))), [Some(1000), Some(500)]);
        // An option that arrives later shows that the path does not remove them.
        assert_eq!(read(None), [None, Some(500)]);
        let cleared = [[0, 0, 1], [1, 0, 0], [0, 0, 0]];
        for fields in cleared {
            assert_eq!(
                read(Some(OctetCounts::new(First::Ect1, fields))),
                [None, None]
            );
        }
        assert_eq!(
            read(Some(OctetCounts::new(First::Ect1, []))),
            [Some(1000), Some(500)]
        );
    }

    #[test]
    fn a_counter_that_an_option_lacks_has_not_moved() {
        let mut reported = Reported::new();
        reported.on_handshake(Some(&with(0)));
        let short = OctetCounts::new(First::Ect1, [77]);
        assert_eq!(reported.read(None, 2), None);
        reported.on_marked(1);
        let expected = |octets, counted, delivered| {
            Some(Marked {
                octets,
                counted,
                delivered,
            })
        };
        assert_eq!(reported.read(Some(&short), 3), expected(0, 1, 5));
        assert_eq!(reported.read(Some(&with(900)), 1), expected(900, 1, 6));
        assert_eq!(reported.read(Some(&with(900)), 1), expected(0, 0, 1));
    }
}
