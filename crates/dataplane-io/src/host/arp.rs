//! Address resolution (RFC 826) for one IPv4 address.

use std::collections::HashMap;
use std::net::Ipv4Addr;

use units::{Duration, Instant};

/// An Ethernet address.
pub type Mac = [u8; 6];

const BROADCAST: Mac = [0xff; 6];
const ETHERTYPE_ARP: [u8; 2] = [0x08, 0x06];
const ETHERTYPE_IPV4: [u8; 2] = [0x08, 0x00];
/// Ethernet, IPv4, and the lengths of their addresses.
const KIND: [u8; 6] = [0, 1, 0x08, 0, 6, 4];
const REQUEST: u16 = 1;
const REPLY: u16 = 2;
/// Ethernet header and ARP message.
const FRAME_OCTETS: usize = 14 + 28;
/// Time between two requests for the same address (RFC 1122, 2.3.2.1).
const AGAIN: Duration = Duration::from_millis(1000);
/// How long a silent neighbour stays valid. After that it is polled at its last address ("on the order of a minute",
/// RFC 1122, 2.3.2.1, unicast poll).
const LIFETIME: Duration = Duration::from_millis(60_000);
/// Polls without an answer after which a neighbour is removed.
const POLLS: u32 = 2;
/// How long frames wait for a neighbour that does not answer.
const PATIENCE: Duration = Duration::from_millis(10_000);
/// The most frames that wait for one address. The oldest are dropped first.
const MAX_WAITING: usize = 64;
/// The most neighbours that are stored.
const MAX_NEIGHBOURS: usize = 1024;

/// The MAC addresses of the neighbours on a link.
#[derive(Debug)]
pub struct Arp {
    mac: Mac,
    address: Ipv4Addr,
    neighbours: HashMap<Ipv4Addr, Neighbour>,
}

#[derive(Debug)]
enum Neighbour {
    /// Configured: never expires.
    Fixed(Mac),
    /// Learnt from its ARP messages.
    Known {
        mac: Mac,
        /// Time of its last message or poll.
        at: Instant,
        /// Polls since its last message.
        polls: u32,
    },
    Asked {
        /// The times of the first and of the last request.
        first: Instant,
        last: Instant,
        /// Frames that wait for the address.
        waiting: Vec<Vec<u8>>,
    },
}

impl Neighbour {
    /// Whether it can be removed without loss.
    fn is_over(&self, now: Instant) -> bool {
        match self {
            Neighbour::Fixed(_) => false,
            Neighbour::Known { at, polls, .. } => {
                now.since(*at) >= if *polls == 0 { LIFETIME } else { AGAIN }
            }
            Neighbour::Asked { first, .. } => now.since(*first) >= PATIENCE,
        }
    }
}

impl Arp {
    /// Creates the ARP state of the host with this address.
    pub fn new(mac: Mac, address: Ipv4Addr) -> Self {
        Arp {
            mac,
            address,
            neighbours: HashMap::new(),
        }
    }

    /// Adds a neighbour that never expires.
    pub fn know(&mut self, address: Ipv4Addr, mac: Mac) {
        self.neighbours.insert(address, Neighbour::Fixed(mac));
    }

    /// Sends a frame that holds an IPv4 packet to `next_hop`. If its MAC address is unknown, sends a request, and the
    /// frame waits. Frames are passed to `send`.
    pub fn send(
        &mut self,
        now: Instant,
        next_hop: Ipv4Addr,
        frame: &mut [u8],
        mut send: impl FnMut(&[u8]),
    ) {
        frame[6..12].copy_from_slice(&self.mac);
        frame[12..14].copy_from_slice(&ETHERTYPE_IPV4);
        let mut poll = None;
        match self.neighbours.get_mut(&next_hop) {
            Some(Neighbour::Fixed(to)) => {
                frame[..6].copy_from_slice(to);
                return send(frame);
            }
            Some(Neighbour::Known { mac, at, polls }) => {
                let since = now.since(*at);
                let due = since >= if *polls == 0 { LIFETIME } else { AGAIN };
                if !due || *polls < POLLS {
                    if due {
                        (*at, *polls) = (now, *polls + 1);
                        poll = Some(*mac);
                    }
                    frame[..6].copy_from_slice(mac);
                    send(frame);
                    if let Some(mac) = poll {
                        send(&self.message(REQUEST, mac, [0; 6], next_hop));
                    }
                    return;
                }
            }
            Some(Neighbour::Asked {
                first,
                last,
                waiting,
            }) => {
                if now.since(*first) >= PATIENCE {
                    *first = now;
                    waiting.clear();
                }
                if waiting.len() == MAX_WAITING {
                    waiting.remove(0);
                }
                waiting.push(frame.to_vec());
                if now.since(*last) >= AGAIN {
                    *last = now;
                    send(&self.question(next_hop));
                }
                return;
            }
            None => {}
        }
        self.make_room(now);
        if self.neighbours.len() < MAX_NEIGHBOURS || self.neighbours.contains_key(&next_hop) {
            let asked = Neighbour::Asked {
                first: now,
                last: now,
                waiting: vec![frame.to_vec()],
            };
            self.neighbours.insert(next_hop, asked);
            send(&self.question(next_hop));
        }
    }

    /// Removes neighbours that have long been silent, if the table is full.
    fn make_room(&mut self, now: Instant) {
        if self.neighbours.len() >= MAX_NEIGHBOURS {
            self.neighbours
                .retain(|_, neighbour| !neighbour.is_over(now));
        }
    }

    /// Handles a frame. Returns whether it was an ARP message. Replies, and frames that waited, are passed to `send`.
    pub fn handle_frame(
        &mut self,
        now: Instant,
        octets: &[u8],
        mut send: impl FnMut(&[u8]),
    ) -> bool {
        if octets.get(12..14) != Some(&ETHERTYPE_ARP) {
            return false;
        }
        let Some(message) = octets.get(14..FRAME_OCTETS).filter(|m| m[..6] == KIND) else {
            return true;
        };
        let operation = u16::from_be_bytes([message[6], message[7]]);
        let sender_mac: Mac = array(message, 8);
        let sender = Ipv4Addr::from(array::<4>(message, 14));
        let target = Ipv4Addr::from(array::<4>(message, 24));
        // No host has a broadcast or multicast address as its own (RFC 1812, 3.3.2).
        let group = sender_mac[0] & 1 == 1;
        if target != self.address || sender == self.address || group {
            return true;
        }
        if operation == REQUEST {
            send(&self.message(REPLY, sender_mac, sender_mac, sender));
        }
        // A probe of RFC 5227 has no sender address.
        let fixed = matches!(self.neighbours.get(&sender), Some(Neighbour::Fixed(_)));
        if fixed || sender.is_unspecified() {
            return true;
        }
        self.make_room(now);
        if self.neighbours.len() < MAX_NEIGHBOURS || self.neighbours.contains_key(&sender) {
            let known = Neighbour::Known {
                mac: sender_mac,
                at: now,
                polls: 0,
            };
            let before = self.neighbours.insert(sender, known);
            if let Some(Neighbour::Asked { waiting, .. }) = before {
                for mut frame in waiting {
                    frame[..6].copy_from_slice(&sender_mac);
                    send(&frame);
                }
            }
        }
        true
    }

    fn question(&self, target: Ipv4Addr) -> [u8; FRAME_OCTETS] {
        self.message(REQUEST, BROADCAST, [0; 6], target)
    }

    fn message(
        &self,
        operation: u16,
        to: Mac,
        target_mac: Mac,
        target: Ipv4Addr,
    ) -> [u8; FRAME_OCTETS] {
        let mut octets = [0; FRAME_OCTETS];
        octets[..6].copy_from_slice(&to);
        octets[6..12].copy_from_slice(&self.mac);
        octets[12..14].copy_from_slice(&ETHERTYPE_ARP);
        octets[14..20].copy_from_slice(&KIND);
        octets[20..22].copy_from_slice(&operation.to_be_bytes());
        octets[22..28].copy_from_slice(&self.mac);
        octets[28..32].copy_from_slice(&self.address.octets());
        octets[32..38].copy_from_slice(&target_mac);
        octets[38..42].copy_from_slice(&target.octets());
        octets
    }
}

fn array<const N: usize>(octets: &[u8], at: usize) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&octets[at..at + N]);
    array
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: (Mac, Ipv4Addr) = ([2, 0, 0, 0, 0, 1], Ipv4Addr::new(10, 0, 0, 1));
    const TWO: (Mac, Ipv4Addr) = ([2, 0, 0, 0, 0, 2], Ipv4Addr::new(10, 0, 0, 2));

    fn packet(text: &[u8]) -> Vec<u8> {
        [&[0; 14], text].concat()
    }

    fn framed(to: Mac, from: Mac, text: &[u8]) -> Vec<u8> {
        [&to[..], &from, &ETHERTYPE_IPV4, text].concat()
    }

    #[test]
    fn a_packet_waits_for_the_answer_and_later_ones_do_not() {
        let (mut one, mut two) = (Arp::new(ONE.0, ONE.1), Arp::new(TWO.0, TWO.1));
        let mut asked = Vec::new();
        one.send(Instant::ZERO, TWO.1, &mut packet(b"first"), |f| {
            asked.push(f.to_vec())
        });
        one.send(Instant::ZERO, TWO.1, &mut packet(b"second"), |f| {
            asked.push(f.to_vec())
        });
        assert_eq!(asked.len(), 1);
        let mut answer = Vec::new();
        assert!(two.handle_frame(Instant::ZERO, &asked[0], |f| answer.push(f.to_vec())));
        let mut sent = Vec::new();
        assert!(one.handle_frame(Instant::ZERO, &answer[0], |f| sent.push(f.to_vec())));
        one.send(Instant::ZERO, TWO.1, &mut packet(b"third"), |f| {
            sent.push(f.to_vec())
        });
        let wanted = [&b"first"[..], b"second", b"third"].map(|text| framed(TWO.0, ONE.0, text));
        assert_eq!(sent, wanted);
        // The request contained the sender's address.
        let mut back = Vec::new();
        two.send(Instant::ZERO, ONE.1, &mut packet(b"back"), |f| {
            back.push(f.to_vec())
        });
        assert_eq!(back, [framed(ONE.0, TWO.0, b"back")]);
    }

    #[test]
    fn questions_for_others_and_what_is_cut_are_passed_over() {
        let mut one = Arp::new(ONE.0, ONE.1);
        let question = Arp::new(TWO.0, TWO.1).question(Ipv4Addr::new(10, 0, 0, 9));
        for length in 0..=question.len() {
            one.handle_frame(Instant::ZERO, &question[..length], |_| panic!("answered"));
        }
    }

    /// The replies to a request for `ONE` from this sender, and whether the sender is learnt.
    fn asked_by(mac: Mac, address: Ipv4Addr) -> (Vec<Mac>, bool) {
        let mut one = Arp::new(ONE.0, ONE.1);
        let mut answered = Vec::new();
        let question = Arp::new(mac, address).question(ONE.1);
        one.handle_frame(Instant::ZERO, &question, |f| answered.push(array(f, 0)));
        let mut learnt = true;
        one.send(Instant::ZERO, address, &mut packet(b"data"), |f| {
            learnt = f[12..14] == ETHERTYPE_IPV4;
        });
        (answered, learnt)
    }

    #[test]
    fn only_addresses_that_a_host_can_have_are_believed() {
        assert_eq!(asked_by(TWO.0, TWO.1), (vec![TWO.0], true));
        assert_eq!(asked_by(BROADCAST, TWO.1), (vec![], false));
        assert_eq!(asked_by([1, 0, 0x5e, 0, 0, 1], TWO.1), (vec![], false));
        let probe = asked_by(TWO.0, Ipv4Addr::UNSPECIFIED);
        assert_eq!(probe, (vec![TWO.0], false));
    }

    fn s(seconds: f64) -> Instant {
        Instant::from_secs_f64(seconds)
    }

    /// The frames sent for a packet at this time: kind and destination.
    fn sends(arp: &mut Arp, at: Instant) -> Vec<(&'static str, Mac)> {
        let mut sent = Vec::new();
        arp.send(at, TWO.1, &mut packet(b"data"), |frame| {
            let kind = if frame[12..14] == ETHERTYPE_ARP {
                "ask"
            } else {
                "data"
            };
            sent.push((kind, array(frame, 0)));
        });
        sent
    }

    fn answer(arp: &mut Arp, at: Instant, mac: Mac) -> usize {
        let mut sent = 0;
        let reply = Arp::new(mac, TWO.1).message(REPLY, ONE.0, ONE.0, ONE.1);
        arp.handle_frame(at, &reply, |_| sent += 1);
        sent
    }

    #[test]
    fn a_neighbour_that_moves_is_found_again() {
        let mut one = Arp::new(ONE.0, ONE.1);
        let moved = [2, 0, 0, 0, 0, 3];
        assert_eq!(sends(&mut one, s(0.0)), [("ask", BROADCAST)]);
        assert_eq!(answer(&mut one, s(0.0), TWO.0), 1);
        assert_eq!(sends(&mut one, s(59.0)), [("data", TWO.0)]);
        // Two polls at its last address, one second apart, while packets are sent to it.
        assert_eq!(sends(&mut one, s(60.0)), [("data", TWO.0), ("ask", TWO.0)]);
        assert_eq!(sends(&mut one, s(60.5)), [("data", TWO.0)]);
        assert_eq!(sends(&mut one, s(61.0)), [("data", TWO.0), ("ask", TWO.0)]);
        assert_eq!(sends(&mut one, s(62.0)), [("ask", BROADCAST)]);
        assert_eq!(answer(&mut one, s(62.1), moved), 1);
        assert_eq!(sends(&mut one, s(62.2)), [("data", moved)]);
    }

    #[test]
    fn a_neighbour_that_answers_stays_known() {
        let mut one = Arp::new(ONE.0, ONE.1);
        sends(&mut one, s(0.0));
        answer(&mut one, s(0.0), TWO.0);
        for minute in 1..10 {
            let now = s(60.0 * f64::from(minute));
            assert_eq!(sends(&mut one, now), [("data", TWO.0), ("ask", TWO.0)]);
            assert_eq!(answer(&mut one, now, TWO.0), 0);
        }
    }

    #[test]
    fn a_neighbour_of_the_configuration_never_expires_and_never_moves() {
        let mut one = Arp::new(ONE.0, ONE.1);
        one.know(TWO.1, TWO.0);
        answer(&mut one, s(1.0), [9; 6]);
        assert_eq!(sends(&mut one, s(1e6)), [("data", TWO.0)]);
    }

    #[test]
    fn packets_for_who_never_answers_go() {
        let mut one = Arp::new(ONE.0, ONE.1);
        let asked: usize = (0..100)
            .map(|i| sends(&mut one, s(f64::from(i) / 10.0)).len())
            .sum();
        assert_eq!(asked, 10, "one request a second");
        sends(&mut one, s(11.0));
        assert_eq!(answer(&mut one, s(11.0), TWO.0), 1, "older ones have gone");
    }

    #[test]
    fn a_full_table_forgets_whom_nobody_heard_of() {
        let mut one = Arp::new(ONE.0, ONE.1);
        let ask = |arp: &mut Arp, at, last: u32| {
            let mut sent = 0;
            let to = Ipv4Addr::from(0x0a01_0000 + last);
            arp.send(at, to, &mut packet(b""), |_| sent += 1);
            sent
        };
        let most = MAX_NEIGHBOURS as u32;
        assert!((0..most).all(|last| ask(&mut one, s(0.0), last) == 1));
        assert_eq!(ask(&mut one, s(1.0), most), 0);
        assert_eq!(ask(&mut one, s(10.0), most), 1);
        assert_eq!(one.neighbours.len(), 1);
    }
}
