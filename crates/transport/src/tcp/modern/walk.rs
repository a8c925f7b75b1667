//! A reference implementation of the scoreboard and of RACK that visits every segment of the window, as the RFCs
//! specify. Random histories must give the same results as with [`Scoreboard`] and [`Rack`].

use proptest::prelude::*;
use units::{Duration, Instant};

use super::rack::{Path, Rack};
use super::rate::Stamp;
use super::scoreboard::{Fate, Scoreboard, Sent};

/// An event for a sender. Segment numbers are taken modulo the outstanding segments.
#[derive(Clone, Debug)]
enum Event {
    /// Time passes.
    Wait(u64),
    /// New segments are sent, all at once.
    Send(u64),
    /// This many lost segments are sent again.
    Resend(u64),
    /// The newest segment is sent again, in any state: a probe.
    Probe,
    /// Everything before a segment, and a part of that segment, is acknowledged.
    Ack(u64, bool),
    /// Some segments from one on arrive early.
    Sack(u64, u64),
    /// A duplicate without SACK.
    Duplicate,
    /// An acknowledgement without SACK of the oldest segment, which had been considered as arrived.
    Partial,
    /// RACK checks for losses.
    Detect(bool),
    /// The retransmission timer expires. Selective acknowledgements may become void.
    Timeout(bool),
}

/// Segments have ten positions.
const LENGTH: u64 = 10;

/// The state of a segment in which both implementations must agree.
type Known = (u64, u64, Instant, u32, Fate);

fn known(sent: &Sent) -> Known {
    (sent.start, sent.end, sent.at, sent.transmissions, sent.fate)
}

/// Segments that were sent and are not acknowledged.
#[derive(Debug, Default)]
struct Walked {
    segments: Vec<Sent>,
    first: u64,
}

impl Walked {
    fn count(&self, fate: Fate) -> usize {
        self.segments.iter().filter(|s| s.fate == fate).count()
    }

    fn first_lost(&self) -> Option<u64> {
        let index = self.segments.iter().position(|s| s.fate == Fate::Lost)?;
        Some(self.first + index as u64)
    }

    fn resend(&mut self, number: u64, at: Instant) {
        let sent = &mut self.segments[(number - self.first) as usize];
        sent.at = at;
        sent.transmissions += 1;
        sent.fate = Fate::InFlight;
    }

    fn pop_acked(&mut self, acked: u64) -> Option<Sent> {
        let sent = self.segments.first_mut()?;
        if sent.end > acked {
            sent.start = sent.start.max(acked);
            return None;
        }
        self.first += 1;
        Some(self.segments.remove(0))
    }

    fn sack(&mut self, left: u64, right: u64) -> Vec<(u64, Known)> {
        let mut news = Vec::new();
        for (number, sent) in (self.first..).zip(&mut self.segments) {
            if left <= sent.start && sent.end <= right && sent.fate != Fate::Sacked {
                news.push((number, known(sent)));
                sent.fate = Fate::Sacked;
            }
        }
        news
    }

    fn sack_any(&mut self) -> bool {
        let behind = self.segments.iter_mut().skip(1);
        let oldest = behind.into_iter().find(|s| s.fate == Fate::InFlight);
        oldest.map(|sent| sent.fate = Fate::Sacked).is_some()
    }

    fn unsack_first(&mut self) {
        let first = self.segments.first_mut();
        if let Some(first) = first.filter(|s| s.fate == Fate::Sacked) {
            first.fate = Fate::InFlight;
        }
    }

    fn lose_every(&mut self, fate: Fate) {
        let concerned = self.segments.iter_mut().filter(|s| s.fate == fate);
        concerned.for_each(|s| s.fate = Fate::Lost);
    }

    /// RFC 8985, §6.2, step 5.
    fn detect(&mut self, rack: &Rack, path: &Path) -> (u64, Option<Instant>) {
        let irregular = |s: &Sent| s.fate != Fate::InFlight || s.transmissions > 1;
        let Some((newest, end, rtt)) = rack.newest.filter(|_| self.segments.iter().any(irregular))
        else {
            return (0, None);
        };
        let allowed = rtt + rack.reordering_window(path, self.count(Fate::Sacked));
        let (mut lost, mut again) = (0, None);
        for sent in &mut self.segments {
            if sent.fate != Fate::InFlight || (sent.at, sent.end) >= (newest, end) {
                continue;
            }
            if sent.at + allowed <= path.now {
                sent.fate = Fate::Lost;
                lost += 1;
            } else {
                again = again.max(Some(sent.at + allowed));
            }
        }
        (lost, again)
    }
}

/// A sender in both implementations: the reference, and that of connections.
#[derive(Debug, Default)]
struct Both {
    now: Instant,
    walked: Walked,
    board: Scoreboard,
    rack: Rack,
}

impl Both {
    fn apply(&mut self, event: &Event) {
        let now = self.now;
        match *event {
            Event::Wait(us) => self.now += Duration::from_micros(us),
            Event::Send(count) => (0..count).for_each(|_| self.send()),
            Event::Resend(count) => {
                for _ in 0..count {
                    if let Some(number) = self.board.first_lost() {
                        self.resend(number);
                    }
                }
            }
            Event::Probe => {
                if let Some((number, _)) = self.board.last() {
                    self.resend(number);
                }
            }
            Event::Ack(number, part) => {
                let acked = self.pick(number) * LENGTH + if part { LENGTH / 2 } else { 0 };
                loop {
                    let (sent, expected) =
                        (self.board.pop_acked(acked), self.walked.pop_acked(acked));
                    assert_eq!(sent.as_ref().map(known), expected.as_ref().map(known));
                    let Some(sent) = sent else { break };
                    if sent.fate != Fate::Sacked {
                        self.rack.on_delivered(now, &sent, None, false);
                    }
                }
            }
            Event::Sack(number, count) => {
                let left = self.pick(number) * LENGTH;
                let right = left + count * LENGTH + LENGTH / 2;
                let (mut news, rack) = (Vec::new(), &mut self.rack);
                self.board.sack(left, right, |number, sent| {
                    rack.on_delivered(now, sent, None, false);
                    news.push((number, known(sent)));
                });
                let expected = self.walked.sack(left, right);
                assert_eq!(news, expected);
            }
            Event::Duplicate => assert_eq!(self.board.sack_any(), self.walked.sack_any()),
            Event::Partial => {
                self.board.unsack_first();
                self.walked.unsack_first();
            }
            Event::Detect(recovering) => {
                let path = Path {
                    now,
                    srtt: Duration::from_micros(500),
                    lowest_rtt: Duration::from_micros(400),
                    recovering,
                };
                let expected = self.walked.detect(&self.rack, &path);
                assert_eq!(self.rack.detect(&mut self.board, &path), expected);
            }
            Event::Timeout(void) => {
                if void {
                    self.board.renege();
                    self.walked.lose_every(Fate::Sacked);
                }
                self.board.lose_all();
                self.walked.lose_every(Fate::InFlight);
            }
        }
        self.compare();
    }

    fn pick(&self, number: u64) -> u64 {
        self.board.first() + number % (self.walked.segments.len() as u64 + 1)
    }

    fn send(&mut self) {
        let number = self.board.next();
        let (start, end) = (number * LENGTH, (number + 1) * LENGTH);
        self.board.push(start, end, self.now, Stamp::default());
        self.rack.on_sent(number, end, self.now);
        self.walked.segments.extend(self.board.get(number).copied());
    }

    fn resend(&mut self, number: u64) {
        self.board.resend(number, self.now, Stamp::default());
        self.rack.on_sent(number, (number + 1) * LENGTH, self.now);
        self.walked.resend(number, self.now);
    }

    fn compare(&self) {
        let (board, walked) = (&self.board, &self.walked);
        assert_eq!(board.first(), walked.first);
        assert_eq!(board.next(), walked.first + walked.segments.len() as u64);
        assert_eq!(board.first_lost(), walked.first_lost());
        let fates = [Fate::InFlight, Fate::Sacked, Fate::Lost];
        let counts = [board.in_flight(), board.sacked(), board.lost()];
        assert_eq!(counts, fates.map(|fate| walked.count(fate)));
        for (number, sent) in (walked.first..).zip(&walked.segments) {
            assert_eq!(board.get(number).map(known), Some(known(sent)));
        }
    }
}

fn histories() -> impl Strategy<Value = Vec<Event>> {
    use Event::*;
    let common = || {
        prop_oneof![
            4 => (0_u64..200).prop_map(Wait),
            3 => (1_u64..20).prop_map(Send),
            3 => (1_u64..4).prop_map(Resend),
            3 => (0_u64..6, any::<bool>()).prop_map(|(n, part)| Ack(n, part)),
            1 => Just(Probe),
        ]
    };
    let with_sack = prop_oneof![
        14 => common(),
        6 => (0_u64..60, 0_u64..30).prop_map(|(n, count)| Sack(n, count)),
        6 => any::<bool>().prop_map(Detect),
        1 => any::<bool>().prop_map(Timeout),
    ];
    // RACK needs SACK.
    let without = prop_oneof![
        14 => common(),
        6 => Just(Duplicate),
        2 => Just(Partial),
        1 => Just(Timeout(true)),
    ];
    prop_oneof![
        3 => prop::collection::vec(with_sack, 1..200),
        1 => prop::collection::vec(without, 1..200),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn the_scoreboard_and_rack_agree_with_a_walk_of_the_window(history in histories()) {
        let mut both = Both::default();
        history.iter().for_each(|event| both.apply(event));
    }
}
