//! The queue in front of a line that no switch serves.
//!
//! Three modules have a drop-tail queue, and share no code, because they have only one comparison in common. This one is
//! served by events. `switch`'s traffic manager chooses among the queues of a port and bounds the memory of all.
//! `dataplane_io::wires` knows when a frame comes until when it will be served, and holds it until it has propagated.

use crate::watch::{Kind, Watch};
use engine::Packet;
use std::collections::VecDeque;
use units::Instant;

/// ns-2's drop-tail queue of limit L: one packet in service, L − 1 waiting.
#[derive(Debug)]
pub(crate) struct DropTail {
    waiting: VecDeque<(Instant, u32, Packet)>,
    limit: usize,
    /// Where a replay looks on.
    pub watch: Option<Watch>,
}

/// What becomes of a packet that joins a queue.
#[derive(Debug, PartialEq)]
pub(crate) enum Joined {
    /// The line is free: its serialisation starts.
    Starts(Packet),
    /// It waits.
    Waits,
    /// The queue is full, or the packet was chosen to be lost.
    Refused(Packet),
}

/// A packet that leaves a queue.
#[derive(Debug, PartialEq)]
pub(crate) struct Left {
    pub packet: Packet,
    /// When it joined.
    pub since: Instant,
    /// How many waited then, itself included.
    pub waiting: u32,
}

impl DropTail {
    /// A queue of limit `limit`, the packet in service included.
    pub fn new(limit: u32) -> Self {
        DropTail {
            waiting: VecDeque::new(),
            limit: limit as usize,
            watch: None,
        }
    }

    /// Packets that wait now.
    pub fn waiting(&self) -> u32 {
        self.waiting.len() as u32
    }

    /// A packet joins, while the line is sending another if it is busy.
    pub fn join(&mut self, now: Instant, packet: Packet, is_busy: bool) -> Joined {
        if self
            .watch
            .as_mut()
            .is_some_and(|watch| watch.loses(&packet))
        {
            self.note(now, &packet, Kind::Lost);
            return Joined::Refused(packet);
        }
        if !is_busy {
            self.note(now, &packet, Kind::Enqueue);
            self.note(now, &packet, Kind::Dequeue);
            return Joined::Starts(packet);
        }
        if self.waiting.len() + 1 >= self.limit {
            self.note(now, &packet, Kind::Refused);
            return Joined::Refused(packet);
        }
        self.note(now, &packet, Kind::Enqueue);
        let waiting = self.waiting.len() as u32 + 1;
        self.waiting.push_back((now, waiting, packet));
        Joined::Waits
    }

    /// The line is free: the next packet leaves, if any waits.
    pub fn leave(&mut self, now: Instant) -> Option<Left> {
        let (since, waiting, packet) = self.waiting.pop_front()?;
        self.note(now, &packet, Kind::Dequeue);
        Some(Left {
            packet,
            since,
            waiting,
        })
    }

    fn note(&mut self, now: Instant, packet: &Packet, kind: Kind) {
        if let Some(watch) = &mut self.watch {
            watch.note(now, packet, kind);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_in_service_and_one_less_than_the_limit_wait() {
        let mut queue = DropTail::new(3);
        let at = Instant::from_nanos;
        let packet = |tag| Packet {
            tag,
            ..Packet::default()
        };
        let mut join = |ns, tag, is_busy| queue.join(at(ns), packet(tag), is_busy);
        assert_eq!(join(0, 0, false), Joined::Starts(packet(0)));
        assert_eq!(join(1, 1, true), Joined::Waits);
        assert_eq!(join(2, 2, true), Joined::Waits);
        assert_eq!(join(3, 3, true), Joined::Refused(packet(3)));
        let left = queue.leave(at(4)).unwrap();
        assert_eq!((left.packet.tag, left.since, left.waiting), (1, at(1), 1));
        assert_eq!(queue.leave(at(5)).unwrap().waiting, 2);
        assert_eq!(queue.leave(at(6)), None);
        let joined = queue.join(at(7), packet(4), false);
        assert_eq!(joined, Joined::Starts(packet(4)));
    }
}
