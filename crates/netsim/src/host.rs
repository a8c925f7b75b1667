//! A host's interface: a drop-tail queue in front of its line.

use crate::scenario::{Ipv4, Mac};
use engine::Packet;
use std::collections::VecDeque;
use units::Instant;

/// A host.
#[derive(Debug)]
pub(crate) struct Host {
    pub address: Ipv4,
    pub mac: Mac,
    pub gateway_mac: Mac,
    /// Its line out, if a link reaches it.
    pub line: Option<usize>,
    pub egress: Egress,
    /// IPv4 identification of the next packet.
    identification: u16,
}

/// ns-2's drop-tail queue of limit L: one packet in service, L − 1 waiting.
#[derive(Debug, Default)]
pub(crate) struct Egress {
    waiting: VecDeque<(Instant, u32, Packet)>,
    limit: usize,
    busy: bool,
}

/// What becomes of a packet that joins a queue.
#[derive(Debug, PartialEq)]
pub(crate) enum Joined {
    /// The line is free: its serialisation starts.
    Starts(Packet),
    /// It waits.
    Waits,
    /// The queue is full.
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

impl Host {
    pub fn new(address: Ipv4, mac: Mac, gateway_mac: Mac) -> Self {
        Host {
            address,
            mac,
            gateway_mac,
            line: None,
            egress: Egress::default(),
            identification: 0,
        }
    }

    /// The IPv4 identification of one more packet.
    pub fn next_identification(&mut self) -> u16 {
        self.identification = self.identification.wrapping_add(1);
        self.identification
    }
}

impl Egress {
    /// A queue of limit `limit`, the packet in service included.
    pub fn new(limit: u32) -> Self {
        Egress {
            waiting: VecDeque::new(),
            limit: limit as usize,
            busy: false,
        }
    }

    /// Packets that wait now.
    pub fn waiting(&self) -> u32 {
        self.waiting.len() as u32
    }

    /// A packet joins.
    pub fn join(&mut self, now: Instant, packet: Packet) -> Joined {
        if !self.busy {
            self.busy = true;
            return Joined::Starts(packet);
        }
        if self.waiting.len() + 1 >= self.limit {
            return Joined::Refused(packet);
        }
        let waiting = self.waiting.len() as u32 + 1;
        self.waiting.push_back((now, waiting, packet));
        Joined::Waits
    }

    /// The line is free: the next packet leaves, if any waits.
    pub fn leave(&mut self) -> Option<Left> {
        let Some((since, waiting, packet)) = self.waiting.pop_front() else {
            self.busy = false;
            return None;
        };
        Some(Left {
            packet,
            since,
            waiting,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_in_service_and_one_less_than_the_limit_wait() {
        let mut queue = Egress::new(3);
        let at = Instant::from_nanos;
        let packet = |tag| Packet {
            tag,
            ..Packet::default()
        };
        assert_eq!(queue.join(at(0), packet(0)), Joined::Starts(packet(0)));
        assert_eq!(queue.join(at(1), packet(1)), Joined::Waits);
        assert_eq!(queue.join(at(2), packet(2)), Joined::Waits);
        assert_eq!(queue.join(at(3), packet(3)), Joined::Refused(packet(3)));
        let left = queue.leave().unwrap();
        assert_eq!((left.packet.tag, left.since, left.waiting), (1, at(1), 1));
        assert_eq!(queue.leave().unwrap().waiting, 2);
        assert_eq!(queue.leave(), None);
        assert_eq!(queue.join(at(4), packet(4)), Joined::Starts(packet(4)));
    }
}
