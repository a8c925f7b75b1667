//! The queue in front of a line from a host or router.
//!
//! Three modules have a drop-tail queue. They share no code, because a single comparison is all that they have in
//! common. This one is driven by events. The traffic manager of `switch` selects among the queues of a port and bounds
//! the memory of all queues. `dataplane_io::wires` computes the departure time of a frame when it arrives, and holds
//! the frame until it has propagated.

use crate::watch::{Kind, Watch};
use engine::Packet;
use std::collections::VecDeque;
use units::Instant;

/// ns-2's drop-tail queue with limit L: one packet in service, L − 1 waiting.
#[derive(Debug)]
pub(crate) struct DropTail {
    waiting: VecDeque<(Instant, u32, Packet)>,
    limit: usize,
    /// The watch of a replay.
    pub watch: Option<Watch>,
}

/// The result of adding a packet to a queue.
#[derive(Debug, PartialEq)]
pub(crate) enum Joined {
    /// The line was free: serialisation starts.
    Starts(Packet),
    /// The packet waits.
    Waits,
    /// The queue was full, or the packet was selected to be lost.
    Refused(Packet),
}

/// A packet that leaves a queue.
#[derive(Debug, PartialEq)]
pub(crate) struct Left {
    pub packet: Packet,
    /// When it joined.
    pub since: Instant,
    /// The number of packets that waited at that time, including itself.
    pub waiting: u32,
}

impl DropTail {
    /// Creates a queue with this limit, which includes the packet in service.
    pub fn new(limit: u32) -> Self {
        DropTail {
            waiting: VecDeque::new(),
            limit: limit as usize,
            watch: None,
        }
    }

    /// Number of waiting packets.
    pub fn waiting(&self) -> u32 {
        self.waiting.len() as u32
    }

    /// Adds a packet. `is_busy` states whether the line is sending another one.
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

    /// Removes and returns the next packet, if any, because the line is free.
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
