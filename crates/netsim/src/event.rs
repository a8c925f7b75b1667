//! The event queue. Events are ordered by time, and events of the same time by the order in which they were scheduled.
//!
//! Time is in floating-point seconds and computed as in ns-2. Elsewhere in netsim, only connections of the papers'
//! profile use this clock (`Connection::read_clock`). If all links are alike, packets and timers of many flows often
//! coincide in the same nanosecond. In ns-2 the last bit of the clock decides their order, which is practically random.
//! A clock of whole nanoseconds would always decide by the same rule: Dahal's 50 flows of Vegas would then lose 25 % of
//! their packets instead of 21 %.

use crate::heap::{Heap, Scheduled};
use crate::in_flight::InFlight;
use crate::medium::StationId;
use engine::Packet;
use std::collections::VecDeque;
use units::Instant;

/// A scheduled event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A packet's last octet reaches the far end of a line.
    Arrive {
        /// The line.
        line: u32,
        /// The packet's slot in [`InFlight`], or [`FIRST`].
        packet: u32,
    },
    /// The transmitter of a line has sent the last octet of a packet.
    LineFree(u32),
    /// The gap before a station's packet on a medium ends.
    MediumBegin(StationId),
    /// A station has sent a packet's last octet on a medium.
    MediumEnd(StationId),
    /// A flow begins.
    FlowStart(u32),
    /// A flow stops sending.
    FlowStop(u32),
    /// A connection's timer may have expired.
    Timer {
        /// The flow.
        flow: u32,
        /// Whether the connection is the receiver's.
        receiver: bool,
    },
    /// An SCTP association is set up.
    AssociationStart(u32),
    /// An SCTP association stops writing.
    AssociationStop(u32),
    /// A timer of an SCTP association may have expired.
    AssociationTimer {
        /// The association.
        association: u32,
        /// Whether the end is the receiver's.
        server: bool,
    },
    /// An SCTP association's primary path changes.
    PrimaryChange {
        /// The association.
        association: u32,
        /// The path.
        path: u32,
    },
    /// A timer of a base station's Snoop agent may have expired.
    Snoop(u32),
    /// A source sends a packet.
    Source(u32),
    /// A link changes.
    LinkChange {
        /// The link.
        link: u32,
        /// The index of the change.
        change: u32,
    },
}

/// A position in the queue: the bits of the time in seconds, then the number of turns taken before.
///
/// The bits of non-negative numbers are ordered like the numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Turn(u128);

/// Flag in the number of a turn: the number counts within the round, and its global number is not yet known.
const OWN: u64 = 1 << 63;

impl Turn {
    /// Its time, as bits that are ordered like the times.
    pub fn time(self) -> u64 {
        (self.0 >> 64) as u64
    }

    /// The turn with its global number, if it still has the number within its part's round.
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

/// Used instead of a slot: the packet is the first of the line's [`Arrivals`].
const FIRST: u32 = u32::MAX;

/// Packets that will arrive on a line, ordered by turn. Only the first has an event in the heap.
///
/// They are stored contiguously in the order in which they will be read, because thousands of packets do not fit into
/// the processor's caches.
type Arrivals = VecDeque<(Turn, Packet)>;

/// The pending events.
///
/// There may be many packets on a long line. They arrive in the order in which they were sent, unless the delay of the
/// line decreases, so the heap need not sort them. The size of the heap therefore depends on the size of the network
/// rather than on the number of packets in flight.
///
/// A part of a network runs in rounds. In a round, turns are numbered from 0 with the flag [`OWN`], and come after all
/// turns taken before. After the round they receive the numbers that they would have in the undivided network.
#[derive(Debug, Default)]
pub(crate) struct EventQueue {
    heap: Heap<Event>,
    /// Indexed by line. In rounds, all packets are in the heap.
    arrivals: Vec<Arrivals>,
    /// Number of packets in `arrivals`.
    in_order: usize,
    /// All other packets.
    pub in_flight: InFlight,
    /// Number of turns taken; in a round, of the turns taken in it.
    taken: u64,
    round: Option<Round>,
}

/// The state of a round.
#[derive(Debug, Default)]
struct Round {
    /// Events from this time on, as bits, belong to later rounds; so do those from `until` on.
    end: u64,
    until: Instant,
    /// Each event that took turns, in order. May contain other events.
    log: Vec<Took>,
    /// Events of later rounds whose turns have no global number yet.
    later: Vec<(Turn, Event)>,
}

impl Round {
    fn is_later(&self, turn: Turn) -> bool {
        turn.time() >= self.end || turn.instant() >= self.until
    }
}

/// An event, and the number of turns taken in the round before it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Took {
    pub turn: Turn,
    pub before: u64,
}

impl EventQueue {
    /// Takes a turn behind all turns taken for the same time, in seconds.
    pub fn take_turn(&mut self, seconds: f64) -> Turn {
        let order = (seconds.to_bits() as u128) << 64 | self.taken as u128;
        self.taken += 1;
        match self.round {
            None => Turn(order),
            Some(_) => Turn(order | u128::from(OWN)),
        }
    }

    /// Schedules `event` at a turn that was taken for it.
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

    /// Schedules the arrival of a packet on a line at a turn that was taken for it.
    pub fn put_arrival(&mut self, turn: Turn, line: u32, packet: Packet) {
        let at = line as usize;
        if at >= self.arrivals.len() {
            self.arrivals.resize_with(at + 1, Arrivals::default);
        }
        let arrivals = &mut self.arrivals[at];
        let last = arrivals.back().map(|(turn, _)| *turn);
        let packet = if self.round.is_some() || last.is_some_and(|last| turn < last) {
            // It overtakes other packets, so the heap must sort it.
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

    /// Removes and returns the packet of an [`Event::Arrive`] that was popped.
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

    /// The number of packets on lines.
    pub fn packets(&self) -> usize {
        self.in_order + self.in_flight.most()
    }

    /// Begins a round, which consists of the events before `until` and before the time with the bits `end`.
    pub fn begin_round(&mut self, end: u64, until: Instant) {
        let round = self.round.get_or_insert_default();
        (round.end, round.until) = (end, until);
    }

    /// Removes and returns the next event of the round.
    pub fn pop_in_round(&mut self) -> Option<(Turn, Event)> {
        let round = self.round.as_mut()?;
        let turn = Turn(self.heap.first()?.order);
        if round.is_later(turn) {
            return None;
        }
        let Scheduled { event, .. } = self.heap.take_first()?;
        let before = self.taken;
        // An event that took no turns need not be in the log.
        round.log.pop_if(|last| last.before == before);
        round.log.push(Took { turn, before });
        Some((turn, event))
    }

    /// Ends the round. Moves the log to `into` and returns the number of turns taken.
    pub fn end_round(&mut self, into: &mut Vec<Took>) -> u64 {
        into.clear();
        if let Some(round) = &mut self.round {
            std::mem::swap(&mut round.log, into);
        }
        std::mem::take(&mut self.taken)
    }

    /// The time of the next pending event, as bits.
    pub fn next_time(&mut self) -> u64 {
        let first = self.heap.first().map(|first| Turn(first.order));
        let later = self.round.iter().flat_map(|round| &round.later);
        let times = later.map(|(turn, _)| *turn).chain(first).map(Turn::time);
        times.min().unwrap_or(u64::MAX)
    }

    /// Assigns global numbers to the turns of the round.
    pub fn number(&mut self, numbers: &[u64]) {
        let Some(round) = &mut self.round else {
            return;
        };
        for (turn, event) in round.later.drain(..) {
            let Turn(order) = turn.numbered(numbers);
            self.heap.put(Scheduled { order, event });
        }
    }

    /// Removes all pending events, in arbitrary order and with all packets in slots. Also returns the number of turns
    /// taken. Must not be called during a round.
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

    /// Creates a queue without rounds for a run in which `taken` turns have been taken.
    pub fn resumed(taken: u64) -> Self {
        EventQueue {
            taken,
            ..EventQueue::default()
        }
    }

    /// Schedules `event` behind all events of the same time, in seconds.
    pub fn schedule(&mut self, seconds: f64, event: Event) {
        let turn = self.take_turn(seconds);
        self.put(turn, event);
    }

    /// Removes and returns the next event and its time, if it is before `end`.
    #[inline]
    pub fn pop_before(&mut self, end: Instant) -> Option<(Turn, Instant, Event)> {
        let &Scheduled { order, event } = self.heap.first()?;
        let turn = Turn(order);
        let at = turn.instant();
        if at >= end {
            return None;
        }
        self.heap.take_first();
        // The first packet stays in place until `take_packet`.
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
            // Most are behind the preceding packet on their line, some at the same time, some before it.
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
        // Packets that overtake others have a slot.
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
