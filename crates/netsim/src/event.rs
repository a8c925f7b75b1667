//! The event queue: what happens next, in order of time; ties in the order they were scheduled.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use units::Instant;

/// Something that happens at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A packet's last octet reaches the far end of a line.
    Arrive {
        /// The line.
        line: u32,
        /// The packet's slot among those in flight.
        packet: u32,
    },
    /// A line's transmitter has sent a packet's last octet.
    LineFree(u32),
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

/// An event in the queue; the greatest comes first.
///
/// Only its order is compared, and no two have the same: a comparison of one number needs no branch, which the
/// processor would mispredict every other time.
#[derive(Debug)]
struct Scheduled {
    /// The time in nanoseconds, then how many were scheduled before.
    order: u128,
    event: Event,
}

impl PartialEq for Scheduled {
    fn eq(&self, other: &Self) -> bool {
        self.order == other.order
    }
}

impl Eq for Scheduled {}

impl PartialOrd for Scheduled {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }

    // What the heap asks; by way of `cmp` it would branch.
    fn le(&self, other: &Self) -> bool {
        self.order >= other.order
    }

    fn lt(&self, other: &Self) -> bool {
        self.order > other.order
    }

    fn ge(&self, other: &Self) -> bool {
        self.order <= other.order
    }

    fn gt(&self, other: &Self) -> bool {
        self.order < other.order
    }
}

impl Ord for Scheduled {
    fn cmp(&self, other: &Self) -> Ordering {
        other.order.cmp(&self.order)
    }
}

/// Events to come.
#[derive(Debug, Default)]
pub(crate) struct EventQueue {
    heap: BinaryHeap<Scheduled>,
    scheduled: u64,
}

impl EventQueue {
    /// Puts `event` behind all that are scheduled for the same time.
    pub fn schedule(&mut self, at: Instant, event: Event) {
        let order = (at.as_nanos() as u128) << 64 | self.scheduled as u128;
        self.scheduled += 1;
        self.heap.push(Scheduled { order, event });
    }

    /// The next event, if it is before `end`.
    pub fn pop_before(&mut self, end: Instant) -> Option<(Instant, Event)> {
        let Scheduled { order, .. } = self.heap.peek()?;
        if (order >> 64) as u64 >= end.as_nanos() {
            return None;
        }
        let Scheduled { order, event } = self.heap.pop()?;
        Some((Instant::from_nanos((order >> 64) as u64), event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_by_time_and_ties_in_the_order_scheduled() {
        let mut queue = EventQueue::default();
        let at = Instant::from_nanos;
        queue.schedule(at(7), Event::Source(3));
        queue.schedule(at(5), Event::Source(9));
        queue.schedule(at(5), Event::LineFree(1));
        queue.schedule(at(8), Event::Source(0));
        let seen: Vec<_> = std::iter::from_fn(|| queue.pop_before(at(8))).collect();
        assert_eq!(
            seen,
            [
                (at(5), Event::Source(9)),
                (at(5), Event::LineFree(1)),
                (at(7), Event::Source(3))
            ]
        );
        assert_eq!(
            queue.pop_before(Instant::MAX),
            Some((at(8), Event::Source(0)))
        );
    }
}
