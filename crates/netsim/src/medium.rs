//! A shared wireless medium: several stations on one half-duplex channel, and a simple MAC.
//!
//! A station sends one packet at a time, each after a random gap of whole slots. All stations hear each other equally
//! well, and a station that sends hears nothing. Overlapping transmissions are therefore all lost: at its receiver,
//! each collides with the other or finds the receiver sending. The MAC neither acknowledges nor retransmits.
//!
//! Without carrier sense, a station sends at the end of its gap whatever it hears, like stations of `Mac/Simple` in
//! ns-2.35. With carrier sense it waits for silence, and then for another gap. Stations that start at the same time do
//! not hear each other.

use crate::line::Node;
use crate::random::Random;
use crate::scenario;
use std::collections::VecDeque;

/// Stations that share a channel.
#[derive(Debug)]
pub(crate) struct Medium {
    slot_s: f64,
    slots: u32,
    carrier_sense: bool,
    random: Random,
    stations: Vec<Station>,
}

/// A node on a medium. One transmitter serves all of its lines on the medium.
#[derive(Debug)]
struct Station {
    node: Node,
    /// Packets to send, at most one per line. The first is in its gap or being sent.
    waiting: VecDeque<Offered>,
    on_air: Option<Transmission>,
}

/// When a transmission begins and ends, in seconds, and whether it overlaps with another.
#[derive(Clone, Copy, Debug)]
struct Transmission {
    begin_s: f64,
    end_s: f64,
    collided: bool,
}

/// A packet that a line offers to its station.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Offered {
    /// The line.
    pub line: u32,
    /// The packet's slot in [`InFlight`](crate::in_flight::InFlight).
    pub packet: u32,
    /// Its transmission time, in seconds.
    pub busy_s: f64,
}

/// A station and its medium, by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StationId {
    pub medium: u32,
    pub station: u32,
}

/// What a station does at the end of a gap.
#[derive(Debug, PartialEq)]
pub(crate) enum Begun {
    /// It sends until this time.
    Sends(f64),
    /// It hears another station, and checks again at this time.
    Defers(f64),
}

/// A transmission that has ended.
#[derive(Debug, PartialEq)]
pub(crate) struct Ended {
    pub offered: Offered,
    pub collided: bool,
    /// When the gap before the station's next packet ends, if there is one.
    pub next_s: Option<f64>,
}

impl Medium {
    pub fn new(described: &scenario::Medium, random: Random) -> Self {
        Medium {
            slot_s: described.slot_s,
            slots: described.slots,
            carrier_sense: described.carrier_sense,
            random,
            stations: Vec::new(),
        }
    }

    /// The station of a node. Creates it if there is none.
    pub fn station(&mut self, node: Node) -> u32 {
        let found = self.stations.iter().position(|known| known.node == node);
        let station = found.unwrap_or_else(|| {
            self.stations.push(Station {
                node,
                waiting: VecDeque::new(),
                on_air: None,
            });
            self.stations.len() - 1
        });
        station as u32
    }

    /// Changes the slots of the packets at the stations.
    pub fn renumber(&mut self, mut slot: impl FnMut(u32) -> u32) {
        let stations = self.stations.iter_mut();
        for offered in stations.flat_map(|station| &mut station.waiting) {
            offered.packet = slot(offered.packet);
        }
    }

    /// Adds a packet to a station. If it is the only one, returns the end of its gap, in seconds.
    pub fn offer(&mut self, station: u32, offered: Offered, now_s: f64) -> Option<f64> {
        let waiting = &mut self.stations[station as usize].waiting;
        waiting.push_back(offered);
        (waiting.len() == 1).then(|| self.gap_from(now_s))
    }

    /// Handles the end of a station's gap.
    pub fn begin(&mut self, station: u32, now_s: f64) -> Begun {
        if self.carrier_sense
            && let Some(silent_s) = self.heard_until(now_s)
        {
            return Begun::Defers(self.gap_from(silent_s));
        }
        let mut collided = false;
        for other in &mut self.stations {
            if let Some(theirs) = other.on_air.as_mut().filter(|t| t.end_s > now_s) {
                theirs.collided = true;
                collided = true;
            }
        }
        let station = &mut self.stations[station as usize];
        let end_s = now_s + station.waiting[0].busy_s;
        station.on_air = Some(Transmission {
            begin_s: now_s,
            end_s,
            collided,
        });
        Begun::Sends(end_s)
    }

    /// Handles the end of a station's transmission.
    pub fn end(&mut self, station: u32, now_s: f64) -> Ended {
        let sender = &mut self.stations[station as usize];
        let transmission = sender.on_air.take().expect("what ends has begun");
        let offered = sender.waiting.pop_front().expect("what ends was offered");
        let has_more = !sender.waiting.is_empty();
        Ended {
            offered,
            collided: transmission.collided,
            next_s: has_more.then(|| self.gap_from(now_s)),
        }
    }

    /// Until when other stations will be heard, in seconds. `None` if there is silence.
    fn heard_until(&self, now_s: f64) -> Option<f64> {
        let on_air = self.stations.iter().filter_map(|station| station.on_air);
        let heard = on_air.filter(|t| t.begin_s < now_s && now_s < t.end_s);
        heard.map(|t| t.end_s).reduce(f64::max)
    }

    fn gap_from(&mut self, now_s: f64) -> f64 {
        now_s + f64::from(self.random.below(self.slots)) * self.slot_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Purpose;

    const BASE: u32 = 0;
    const HOST: u32 = 1;

    /// A base station and two hosts.
    fn medium(slots: u32, carrier_sense: bool) -> Medium {
        let described = scenario::Medium {
            slot_s: 1.0,
            slots,
            carrier_sense,
        };
        let mut medium = Medium::new(&described, Random::new(1, Purpose::Medium, 0));
        let nodes = [Node::Switch(0), Node::Host(0), Node::Host(1)];
        assert_eq!(nodes.map(|node| medium.station(node)), [BASE, HOST, 2]);
        medium
    }

    fn packet(packet: u32) -> Offered {
        Offered {
            line: 0,
            packet,
            busy_s: 4.0,
        }
    }

    #[test]
    fn a_node_is_one_station_whatever_its_lines() {
        let mut medium = medium(1, false);
        assert_eq!(medium.station(Node::Host(0)), HOST);
        assert_eq!(medium.stations.len(), 3);
    }

    #[test]
    fn a_station_sends_one_packet_after_the_other() {
        let mut medium = medium(1, false);
        assert_eq!(medium.offer(BASE, packet(1), 0.0), Some(0.0));
        assert_eq!(medium.offer(BASE, packet(2), 0.0), None);
        assert_eq!(medium.begin(BASE, 0.0), Begun::Sends(4.0));
        let first = medium.end(BASE, 4.0);
        assert_eq!((first.offered, first.next_s), (packet(1), Some(4.0)));
        assert_eq!(medium.begin(BASE, 4.0), Begun::Sends(8.0));
        let second = medium.end(BASE, 8.0);
        assert_eq!((second.offered, second.next_s), (packet(2), None));
        assert!(!first.collided && !second.collided);
    }

    #[test]
    fn transmissions_that_overlap_collide() {
        let mut medium = medium(1, false);
        for station in [BASE, HOST, 2] {
            medium.offer(station, packet(station), 0.0);
        }
        medium.begin(BASE, 0.0);
        medium.begin(HOST, 3.0);
        assert!(medium.end(BASE, 4.0).collided);
        // It overlaps with the second transmission, not with the first.
        medium.begin(2, 6.0);
        assert!(medium.end(HOST, 7.0).collided);
        assert!(medium.end(2, 10.0).collided);
    }

    #[test]
    fn what_begins_as_another_ends_does_not_collide() {
        let mut medium = medium(1, false);
        medium.offer(BASE, packet(1), 0.0);
        medium.offer(HOST, packet(2), 0.0);
        medium.begin(BASE, 0.0);
        // Before the end of the other transmission has been handled.
        medium.begin(HOST, 4.0);
        assert!(!medium.end(BASE, 4.0).collided);
        assert!(!medium.end(HOST, 8.0).collided);
    }

    #[test]
    fn with_carrier_sense_a_station_waits_for_silence() {
        let mut medium = medium(1, true);
        medium.offer(BASE, packet(1), 0.0);
        medium.offer(HOST, packet(2), 0.0);
        medium.begin(BASE, 0.0);
        assert_eq!(medium.begin(HOST, 1.0), Begun::Defers(4.0));
        assert!(!medium.end(BASE, 4.0).collided);
        assert_eq!(medium.begin(HOST, 4.0), Begun::Sends(8.0));
        assert!(!medium.end(HOST, 8.0).collided);
    }

    #[test]
    fn stations_that_begin_at_one_instant_do_not_hear_each_other() {
        let mut medium = medium(1, true);
        medium.offer(BASE, packet(1), 0.0);
        medium.offer(HOST, packet(2), 0.0);
        medium.begin(BASE, 0.0);
        assert_eq!(medium.begin(HOST, 0.0), Begun::Sends(4.0));
        assert!(medium.end(BASE, 4.0).collided);
        assert!(medium.end(HOST, 4.0).collided);
    }

    #[test]
    fn gaps_are_whole_slots_and_all_come() {
        let mut medium = medium(3, false);
        let gaps: Vec<f64> = (0..60).map(|_| medium.gap_from(0.0)).collect();
        for slots in [0.0, 1.0, 2.0] {
            assert!(gaps.contains(&slots));
        }
        assert!(gaps.iter().all(|gap| [0.0, 1.0, 2.0].contains(gap)));
    }
}
