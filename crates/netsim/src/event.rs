//! The event queue: what happens next, in order of time; ties in the order they were scheduled.
//!
//! Here time is in floating-point seconds, computed as in ns-2; of the rest of netsim only the
//! papers' connections read them (`Connection::read_clock`). Where all links
//! are alike, packets and timers of many flows meet at one nanosecond again and again; in ns-2 the last
//! bit of its clock decides which is first, as good as at random. A clock of whole nanoseconds would decide
//! it by one rule for good: Dahal's 50 flows of Vegas then lose 25 % of their packets, not 21 %.

use crate::heap::{Heap, Scheduled};
use crate::in_flight::InFlight;
use crate::medium::StationId;
use engine::Packet;
use std::collections::VecDeque;
use units::Instant;

/// Something that happens at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A packet's last octet reaches the far end of a line.
    Arrive {
        /// The line.
        line: u32,
        /// The packet's slot among those in flight, or [`FIRST`].
        packet: u32,
    },
    /// A line's transmitter has sent a packet's last octet.
    LineFree(u32),
    /// The gap before a station's packet on a medium ends.
    MediumBegin(StationId),
    /// A station has sent a packet's last octet on a medium.
    MediumEnd(StationId),
    /// A flow begins.
    FlowStart(u32),
    /// A flow stops sending.
    FlowStop(u32),
    /// A connection's timer may have run out.
    Timer {
        /// The flow.
        flow: u32,
        /// Whether it is the receiver's.
        receiver: bool,
    },
    /// An SCTP association is set up.
    AssociationStart(u32),
    /// An SCTP association writes no more.
    AssociationStop(u32),
    /// A timer of an SCTP association may have run out.
    AssociationTimer {
        /// The association.
        association: u32,
        /// Whether it is the receiver's.
        server: bool,
    },
    /// An SCTP association's primary path changes.
    PrimaryChange {
        /// The association.
        association: u32,
        /// The path.
        path: u32,
    },
    /// A timer of a base station's Snoop agent may have run out.
    Snoop(u32),
    /// A source sends a packet.
    Source(u32),
    /// A link changes.
    LinkChange {
        /// The link.
        link: u32,
        /// Which of its changes.
        change: u32,
    },
}

/// A turn in the queue: the bits of the time in seconds, then how many were taken before.
///
/// Of numbers that are not negative the greater one has the greater bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Turn(u128);

/// In a turn's number: it counts within the round, and the number among all is still to be known.
const OWN: u64 = 1 << 63;

impl Turn {
    /// Its time, as bits that compare as the times do.
    pub fn time(self) -> u64 {
        (self.0 >> 64) as u64
    }

    /// With the number among all, where it still has that of its part's round.
    pub fn numbered(self, numbers: &[u64]) -> Turn {
        let number = self.0 as u64;
        if number & OWN == 0 {
            return self;
        }
        Turn(self.0 >> 64 << 64 | u128::from(numbers[(number & !OWN) as usize]))
    }

    /// Its time in seconds.
    pub fn seconds(self) -> f64 {
        f64::from_bits((self.0 >> 64) as u64)
    }

    /// Its time, to the nearest nanosecond.
    pub fn instant(self) -> Instant {
        Instant::from_secs_f64(self.seconds())
    }
}

/// In place of a slot: the packet is the first of the line's [`Arrivals`].
const FIRST: u32 = u32::MAX;

/// Packets that will arrive on a line, in the order of their turns. Of these only the first has an event in the heap.
///
/// They lie in memory one behind the other, as they will be read: thousands of them are more than a processor's caches
/// hold.
type Arrivals = VecDeque<(Turn, Packet)>;

/// Events to come.
///
/// On a long line there are many packets. They arrive in the order in which they were sent, unless its delay
/// shrinks, so that the heap need not sort them: it is as large as the network and not as what is under way.
///
/// Those of a part of a network are taken in rounds. In a round, turns count from 0 with the bit [`OWN`], behind
/// all that were taken before; after it they get the numbers that they would have in the undivided network.
#[derive(Debug, Default)]
pub(crate) struct EventQueue {
    heap: Heap<Event>,
    /// By line; in rounds all packets are in the heap.
    arrivals: Vec<Arrivals>,
    /// Packets among them.
    in_order: usize,
    /// All other packets.
    pub in_flight: InFlight,
    /// Turns that were taken; in a round, those of the round.
    taken: u64,
    round: Option<Round>,
}

/// What happened in a round.
#[derive(Debug, Default)]
struct Round {
    /// Times from here on, as bits, belong to later rounds; so do those from `until` on.
    end: u64,
    until: Instant,
    /// Each event that took turns, in order; others may be among them.
    log: Vec<Took>,
    /// Events of later rounds whose turns have no number yet.
    later: Vec<(Turn, Event)>,
}

impl Round {
    fn is_later(&self, turn: Turn) -> bool {
        turn.time() >= self.end || turn.instant() >= self.until
    }
}

/// An event, and how many turns had been taken in the round before it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Took {
    pub turn: Turn,
    pub before: u64,
}

impl EventQueue {
    /// Takes a turn behind all that have been taken for the same time, in seconds.
    pub fn take_turn(&mut self, seconds: f64) -> Turn {
        let order = (seconds.to_bits() as u128) << 64 | self.taken as u128;
        self.taken += 1;
        match self.round {
            None => Turn(order),
            Some(_) => Turn(order | u128::from(OWN)),
        }
    }

    /// Puts `event` at a turn that was taken for it.
    pub fn put(&mut self, turn: Turn, event: Event) {
        if let Some(round) = &mut self.round
            && turn.0 as u64 & OWN != 0
            && round.is_later(turn)
        {
            round.later.push((turn, event));
            return;
        }
        let Turn(order) = turn;
        self.heap.put(Scheduled { order, event });
    }

    /// Puts the arrival of a packet on a line at a turn that was taken for it.
    pub fn put_arrival(&mut self, turn: Turn, line: u32, packet: Packet) {
        let at = line as usize;
        if at >= self.arrivals.len() {
            self.arrivals.resize_with(at + 1, Arrivals::default);
        }
        let arrivals = &mut self.arrivals[at];
        let last = arrivals.back().map(|(turn, _)| *turn);
        let packet = if self.round.is_some() || last.is_some_and(|last| turn < last) {
            // Among many it overtakes: the heap sorts it.
            self.in_flight.put(packet)
        } else {
            self.in_order += 1;
            arrivals.push_back((turn, packet));
            if last.is_some() {
                return;
            }
            FIRST
        };
        self.put(turn, Event::Arrive { line, packet });
    }

    /// The packet of an [`Event::Arrive`] that has come.
    #[inline]
    pub fn take_packet(&mut self, line: u32, packet: u32) -> Packet {
        if packet == FIRST
            && let Some((_, first)) = self.arrivals[line as usize].pop_front()
        {
            self.in_order -= 1;
            return first;
        }
        self.in_flight.take(packet)
    }

    /// Packets that are on lines.
    pub fn packets(&self) -> usize {
        self.in_order + self.in_flight.most()
    }

    /// Begins a round of the events before `until` and before the time with the bits `end`.
    pub fn begin_round(&mut self, end: u64, until: Instant) {
        let round = self.round.get_or_insert_default();
        (round.end, round.until) = (end, until);
    }

    /// The next event of the round.
    pub fn pop_in_round(&mut self) -> Option<(Turn, Event)> {
        let round = self.round.as_mut()?;
        let turn = Turn(self.heap.first()?.order);
        if round.is_later(turn) {
            return None;
        }
        let Scheduled { event, .. } = self.heap.take_first()?;
        let before = self.taken;
        // One that took no turns needs no place in the log.
        round.log.pop_if(|last| last.before == before);
        round.log.push(Took { turn, before });
        Some((turn, event))
    }

    /// What took turns in the round, and how many were taken; `into` becomes the log.
    pub fn end_round(&mut self, into: &mut Vec<Took>) -> u64 {
        into.clear();
        if let Some(round) = &mut self.round {
            std::mem::swap(&mut round.log, into);
        }
        std::mem::take(&mut self.taken)
    }

    /// The earliest time of an event to come, as bits.
    pub fn next_time(&mut self) -> u64 {
        let first = self.heap.first().map(|first| Turn(first.order));
        let later = self.round.iter().flat_map(|round| &round.later);
        let times = later.map(|(turn, _)| *turn).chain(first).map(Turn::time);
        times.min().unwrap_or(u64::MAX)
    }

    /// Gives the turns of the round their numbers among all.
    pub fn number(&mut self, numbers: &[u64]) {
        let Some(round) = &mut self.round else {
            return;
        };
        for (turn, event) in round.later.drain(..) {
            let Turn(order) = turn.numbered(numbers);
            self.heap.put(Scheduled { order, event });
        }
    }

    /// Takes out all events to come, in no order and with all packets in slots, and how many turns were taken; no
    /// round is under way.
    pub fn take_all(&mut self) -> (Vec<(Turn, Event)>, u64) {
        let is_first = |event| matches!(event, Event::Arrive { packet: FIRST, .. });
        let mut all: Vec<_> = std::mem::take(&mut self.heap)
            .into_iter()
            .filter(|scheduled| !is_first(scheduled.event))
            .map(|Scheduled { order, event }| (Turn(order), event))
            .collect();
        self.in_order = 0;
        let lines = std::mem::take(&mut self.arrivals).into_iter();
        for (line, arrivals) in (0..).zip(lines) {
            for (turn, packet) in arrivals {
                let packet = self.in_flight.put(packet);
                all.push((turn, Event::Arrive { line, packet }));
            }
        }
        (all, self.taken)
    }

    /// A queue without rounds, `taken` turns into the run.
    pub fn resumed(taken: u64) -> Self {
        EventQueue {
            taken,
            ..EventQueue::default()
        }
    }

    /// Puts `event` behind all that have been scheduled for the same time, in seconds.
    pub fn schedule(&mut self, seconds: f64, event: Event) {
        let turn = self.take_turn(seconds);
        self.put(turn, event);
    }

    /// The next event, if it is before `end`, and when it comes.
    #[inline]
    pub fn pop_before(&mut self, end: Instant) -> Option<(Turn, Instant, Event)> {
        let &Scheduled { order, event } = self.heap.first()?;
        let turn = Turn(order);
        let at = turn.instant();
        if at >= end {
            return None;
        }
        self.heap.take_first();
        // The first stays until `take_packet`.
        if let Event::Arrive {
            line,
            packet: FIRST,
        } = event
            && let Some(&(Turn(order), _)) = self.arrivals[line as usize].get(1)
        {
            self.heap.put(Scheduled { order, event });
        }
        Some((turn, at, event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_by_time_and_ties_in_the_order_scheduled() {
        let mut queue = EventQueue::default();
        let at = Instant::from_nanos;
        queue.schedule(7e-9, Event::Source(3));
        let kept = queue.take_turn(5e-9);
        queue.schedule(5e-9, Event::Source(9));
        queue.put(kept, Event::LineFree(1));
        queue.schedule(8e-9, Event::Source(0));
        let mut before = |end| {
            std::iter::from_fn(|| queue.pop_before(end))
                .map(|(_, at, event)| (at, event))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            before(at(8)),
            [
                (at(5), Event::LineFree(1)),
                (at(5), Event::Source(9)),
                (at(7), Event::Source(3))
            ]
        );
        assert_eq!(before(Instant::MAX), [(at(8), Event::Source(0))]);
    }

    fn packet(number: u32) -> Packet {
        Packet {
            tag: number.into(),
            ..Packet::default()
        }
    }

    /// The next event, with the packet's number instead of its slot.
    fn next(queue: &mut EventQueue) -> Option<(Turn, Event)> {
        let (turn, _, mut event) = queue.pop_before(Instant::MAX)?;
        if let Event::Arrive { line, packet } = &mut event {
            *packet = queue.take_packet(*line, *packet).tag as u32;
        }
        Some((turn, event))
    }

    /// All events of a queue, in order.
    fn all(queue: &mut EventQueue) -> Vec<Event> {
        std::iter::from_fn(|| next(queue))
            .map(|(_, event)| event)
            .collect()
    }

    #[test]
    fn packets_on_lines_come_between_all_other_events() {
        let mut queue = EventQueue::default();
        let mut sorted = EventQueue::default();
        let mut seed = 1_u64;
        let mut times = [0.0; 3];
        for number in 0..1000 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(99);
            let line = (seed >> 40) as u32 % 3;
            let (at, other) = (f64::from((seed >> 33) as u8), f64::from((seed >> 50) as u8));
            // Most behind the one before on their line, some at its time, some before it.
            times[line as usize] += at - 16.0_f64.min(at);
            let turn = queue.take_turn(times[line as usize]);
            queue.put_arrival(turn, line, packet(number));
            let slot = sorted.in_flight.put(packet(number));
            let arrive = Event::Arrive { line, packet: slot };
            sorted.schedule(times[line as usize], arrive);
            times[line as usize] -= if number % 50 == 0 { at } else { 0.0 };
            times[line as usize] = times[line as usize].max(0.0);
            queue.schedule(16.0 * other, Event::Source(number));
            sorted.schedule(16.0 * other, Event::Source(number));
            if number % 3 == 0 {
                assert_eq!(next(&mut queue), next(&mut sorted));
            }
        }
        assert!(queue.heap.len() < sorted.heap.len());
        // What overtakes has a slot.
        assert!((1..100).contains(&queue.in_flight.most()));
        assert_eq!(all(&mut queue), all(&mut sorted));
    }

    #[test]
    fn packets_on_lines_are_among_all_events() {
        let mut queue = EventQueue::default();
        for (time, number) in [(3.0, 0), (5.0, 1), (4.0, 2)] {
            let turn = queue.take_turn(time);
            queue.put_arrival(turn, 7, packet(number));
        }
        let (events, taken) = queue.take_all();
        let mut resumed = EventQueue::resumed(taken);
        resumed.in_flight = std::mem::take(&mut queue.in_flight);
        for (turn, event) in events {
            resumed.put(turn, event);
        }
        let packets = [0, 2, 1].map(|packet| Event::Arrive { line: 7, packet });
        assert_eq!(all(&mut resumed), packets);
    }

    #[test]
    fn the_last_bit_of_a_time_in_seconds_decides() {
        let mut queue = EventQueue::default();
        queue.schedule(0.1 + 0.2, Event::Source(2));
        queue.schedule(0.3, Event::Source(1));
        let seen = std::iter::from_fn(|| queue.pop_before(Instant::MAX));
        let seen: Vec<_> = seen.map(|(_, at, event)| (at, event)).collect();
        let at = Instant::from_nanos(300_000_000);
        assert_eq!(seen, [(at, Event::Source(1)), (at, Event::Source(2))]);
    }
}
