//! Random histories of operations on a connection: it stays consistent with any network.

use std::sync::Arc;

use proptest::prelude::*;
use transport::tcp::modern::{Config, Connection, EcnMode, State, StreamError};
use transport::tcp::{Aqt, Ecn, Flags, Segment, Stats};
use units::{Duration, Instant};

use crate::stream::{algorithms, configs};

/// What can happen to the two ends. Indices are taken modulo what there is.
#[derive(Clone, Debug)]
enum Operation {
    /// Time passes, up to the earliest timer but not beyond it.
    Wait(u64),
    /// The earliest timer runs out.
    Timeout,
    /// The application writes this many octets.
    Write(usize, usize),
    /// It reads up to this many.
    Read(usize, usize),
    /// A segment arrives at an end, having queued.
    Deliver(usize, usize, u32),
    /// A segment to an end is lost.
    Lose(usize, usize),
    /// A segment to an end is doubled.
    Copy(usize, usize),
    /// A segment that the other end never sent: its flags, and how far off its numbers are.
    Forge(usize, u8, u32, u32),
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    use Operation::*;
    let end = || 0_usize..2;
    // Mostly in order: index 0 is the oldest.
    let index = || prop_oneof![8 => Just(0_usize), 1 => 0_usize..6];
    let operation = prop_oneof![
        4 => (1_u64..300_000).prop_map(Wait),
        1 => Just(Timeout),
        3 => (end(), 1_usize..10_000).prop_map(|(e, n)| Write(e, n)),
        4 => (end(), 1_usize..10_000).prop_map(|(e, n)| Read(e, n)),
        24 => (end(), index(), 0_u32..90_000).prop_map(|(e, i, q)| Deliver(e, i, q)),
        2 => (end(), 0_usize..6).prop_map(|(e, i)| Lose(e, i)),
        1 => (end(), 0_usize..6).prop_map(|(e, i)| Copy(e, i)),
        1 => any::<(u8, u32, u32)>().prop_map(|(f, s, a)| Forge(usize::from(f & 1), f, s, a)),
    ];
    prop::collection::vec(operation, 1..300)
}

/// The octet at a place of either stream.
fn octet(place: u64) -> u8 {
    (place.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 41) as u8
}

/// Two ends, and what is on the way to each.
struct World {
    now: Instant,
    ends: [Connection; 2],
    on_the_way: [Vec<(Segment, Vec<u8>)>; 2],
    written: [u64; 2],
    read: [u64; 2],
}

impl World {
    /// Two ends that have shaken hands.
    fn new(configs: [&Config; 2], algorithm: &dyn congestion::Factory) -> Self {
        let [one, two] = configs.map(|config| Arc::new(config.clone()));
        let mut world = World {
            now: Instant::from_micros(1_000_000),
            ends: [
                Connection::connect(one, algorithm, u32::MAX - 9000),
                Connection::listen(two, algorithm, u32::MAX - 500),
            ],
            on_the_way: Default::default(),
            written: [0; 2],
            read: [0; 2],
        };
        world.pump();
        for to in [1, 0, 1] {
            world.apply(&Operation::Deliver(to, 0, 0));
        }
        assert!(
            world
                .ends
                .iter()
                .all(|end| end.state() == State::Established)
        );
        world
    }

    fn pump(&mut self) {
        for from in 0..2 {
            let mut burst = 0;
            while let Some(segment) = self.ends[from].poll_transmit(self.now) {
                let mut payload = vec![0; segment.payload as usize];
                self.ends[from].copy_payload(&segment, &mut payload);
                self.on_the_way[1 - from].push((segment, payload));
                burst += 1;
                assert!(burst < 10_000, "end {from} never stops");
            }
        }
    }

    fn earliest(&self) -> Option<Instant> {
        self.ends.iter().filter_map(Connection::poll_timeout).min()
    }

    fn apply(&mut self, operation: &Operation) {
        match *operation {
            Operation::Wait(us) => {
                let until = self.now + Duration::from_micros(us);
                self.now = until.min(self.earliest().unwrap_or(until)).max(self.now);
            }
            Operation::Timeout => {
                if let Some(at) = self.earliest() {
                    self.now = self.now.max(at);
                    let now = self.now;
                    self.ends.iter_mut().for_each(|end| end.handle_timeout(now));
                }
            }
            Operation::Write(end, count) => {
                let from = self.written[end];
                let octets: Vec<u8> = (from..from + count as u64).map(octet).collect();
                if let Ok(count) = self.ends[end].write(&octets) {
                    self.written[end] += count as u64;
                }
            }
            Operation::Read(end, count) => self.read(end, count),
            Operation::Deliver(to, index, us) => {
                if let Some(index) = self.pick(to, index) {
                    let (segment, payload) = self.on_the_way[to].remove(index);
                    let segment = queued(segment, us);
                    self.ends[to].handle_segment(self.now, &segment, &payload);
                }
            }
            Operation::Lose(to, index) => {
                self.pick(to, index)
                    .map(|index| self.on_the_way[to].remove(index));
            }
            Operation::Copy(to, index) => {
                if let Some(index) = self.pick(to, index) {
                    let copy = self.on_the_way[to][index].clone();
                    self.on_the_way[to].push(copy);
                }
            }
            Operation::Forge(to, flags, seq, ack) => {
                let Some((true_one, _)) = self.on_the_way[to].first() else {
                    return;
                };
                // Beyond any window of such a history, so that it equals no true one.
                let off = |number: u32| 0x3000_0000 + number % 0x3000_0000;
                let forged = Segment {
                    seq: true_one.seq.wrapping_add(off(seq)),
                    ack: true_one.ack.wrapping_add(off(ack)),
                    flags: Flags(flags.into()),
                    payload: u32::from(flags % 7),
                    ..*true_one
                };
                self.ends[to].handle_segment(self.now, &forged, &[0; 7][..usize::from(flags % 7)]);
            }
        }
        self.pump();
    }

    fn pick(&self, to: usize, index: usize) -> Option<usize> {
        let waiting = self.on_the_way[to].len();
        (waiting > 0).then(|| index % waiting)
    }

    fn read(&mut self, end: usize, count: usize) {
        let mut buffer = vec![0; count];
        match self.ends[end].read(&mut buffer) {
            Ok(count) => {
                for got in &buffer[..count] {
                    assert_eq!(*got, octet(self.read[end]), "at {}", self.read[end]);
                    self.read[end] += 1;
                }
            }
            Err(StreamError::Blocked) => {}
            Err(error) => panic!("end {end}: {error}"),
        }
    }

    fn check(&self) {
        for (i, end) in self.ends.iter().enumerate() {
            let state = end.snapshot();
            assert!(state.cwnd.is_finite() && state.cwnd >= 0.0, "{state:?}");
            assert!(end.window() >= 1);
            assert_eq!(end.ended(), None, "end {i}");
            assert!(
                end.poll_timeout().is_some() || end.is_finished(),
                "nothing would ever wake end {i}: {end:#?}"
            );
        }
    }

    fn is_done(&self) -> bool {
        let arrived = self.read[0] == self.written[1] && self.read[1] == self.written[0];
        arrived && self.ends.iter().all(Connection::is_finished)
    }

    /// The network heals: everything arrives, in order, and is read. With a receive buffer of a few octets
    /// that takes several segments for each octet.
    fn heal(&mut self) {
        let (mut before, mut without_progress) = (self.read, 0);
        while !self.is_done() {
            without_progress = if self.read == before {
                without_progress + 1
            } else {
                0
            };
            before = self.read;
            assert!(without_progress < 10_000, "stalled: {:#?}", self.ends);
            let operation = match [0, 1].map(|to| self.on_the_way[to].is_empty()) {
                [false, _] => Operation::Deliver(0, 0, 0),
                [_, false] => Operation::Deliver(1, 0, 0),
                _ => Operation::Timeout,
            };
            self.apply(&operation);
            self.check();
            for end in 0..2 {
                self.read(end, 100_000);
            }
            self.pump();
        }
    }

    fn digest(&self) -> [(Stats, String, Option<Instant>); 2] {
        let of = |end: &Connection| {
            let state = format!("{:?}", end.snapshot());
            (end.stats(), state, end.poll_timeout())
        };
        [of(&self.ends[0]), of(&self.ends[1])]
    }
}

fn queued(mut segment: Segment, us: u32) -> Segment {
    if let Some(aqt) = &mut segment.aqt {
        aqt.time_us = (aqt.time_us + us).min(Aqt::MAX_US);
    }
    // A hop's other marks.
    if let Some(avbw) = segment.avbw.as_mut().filter(|_| us.is_multiple_of(3)) {
        avbw.drai = (us % 6) as u8 + 1;
    }
    if segment.ecn == Ecn::Ect0 && us.is_multiple_of(5) {
        segment.ecn = Ecn::Experienced;
    }
    segment
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_time: 60_000, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn any_history_is_survived_and_repeatable(
        history in operations(),
        configs in [configs(), configs()],
        algorithm in algorithms(),
        ecn in prop_oneof![Just(EcnMode::Off), Just(EcnMode::Classic), Just(EcnMode::Accurate), Just(EcnMode::L4s)],
    ) {
        let configs = configs.map(|config| Config { ecn, ..config });
        let new = || World::new([&configs[0], &configs[1]], algorithm.as_ref());
        let mut worlds = [new(), new()];
        for operation in &history {
            for world in &mut worlds {
                world.apply(operation);
                world.check();
            }
        }
        prop_assert_eq!(worlds[0].digest(), worlds[1].digest());
        let [mut world, _] = worlds;
        world.heal();
    }
}
