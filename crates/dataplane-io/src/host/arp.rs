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
/// Ethernet's header and the message.
const FRAME_OCTETS: usize = 14 + 28;
/// Requests for one address are so far apart.
const AGAIN: Duration = Duration::from_millis(500);
/// Frames that wait for one address, at most; the oldest go first.
const MAX_WAITING: usize = 64;
/// Neighbours that are remembered, at most.
const MAX_NEIGHBOURS: usize = 1024;

/// Who is where on a link.
#[derive(Debug)]
pub struct Arp {
    mac: Mac,
    address: Ipv4Addr,
    neighbours: HashMap<Ipv4Addr, Neighbour>,
}

#[derive(Debug)]
enum Neighbour {
    Known(Mac),
    /// When it was asked for, and the frames that wait.
    Asked(Instant, Vec<Vec<u8>>),
}

impl Arp {
    /// The host at `address`, which has `mac`.
    pub fn new(mac: Mac, address: Ipv4Addr) -> Self {
        Arp {
            mac,
            address,
            neighbours: HashMap::new(),
        }
    }

    /// Takes a neighbour for known.
    pub fn know(&mut self, address: Ipv4Addr, mac: Mac) {
        self.neighbours.insert(address, Neighbour::Known(mac));
    }

    /// Addresses a frame that holds an IPv4 packet to `next_hop`, or asks for that one's address; then
    /// the frame waits. Frames go to `send`.
    pub fn send(
        &mut self,
        now: Instant,
        next_hop: Ipv4Addr,
        frame: &mut [u8],
        mut send: impl FnMut(&[u8]),
    ) {
        frame[6..12].copy_from_slice(&self.mac);
        frame[12..14].copy_from_slice(&ETHERTYPE_IPV4);
        let full = self.neighbours.len() >= MAX_NEIGHBOURS;
        match self.neighbours.get_mut(&next_hop) {
            Some(Neighbour::Known(to)) => {
                frame[..6].copy_from_slice(to);
                send(frame);
            }
            Some(Neighbour::Asked(asked, waiting)) => {
                if waiting.len() == MAX_WAITING {
                    waiting.remove(0);
                }
                waiting.push(frame.to_vec());
                if now.since(*asked) >= AGAIN {
                    *asked = now;
                    send(&self.question(next_hop));
                }
            }
            None if full => {}
            None => {
                let asked = Neighbour::Asked(now, vec![frame.to_vec()]);
                self.neighbours.insert(next_hop, asked);
                send(&self.question(next_hop));
            }
        }
    }

    /// Takes in a frame; whether it was an ARP message. Answers, and frames that waited, go to
    /// `send`.
    pub fn handle_frame(&mut self, octets: &[u8], mut send: impl FnMut(&[u8])) -> bool {
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
        if target != self.address || sender == self.address {
            return true;
        }
        if operation == REQUEST {
            send(&self.message(REPLY, sender_mac, sender_mac, sender));
        }
        if self.neighbours.len() < MAX_NEIGHBOURS || self.neighbours.contains_key(&sender) {
            let before = self.neighbours.insert(sender, Neighbour::Known(sender_mac));
            if let Some(Neighbour::Asked(_, waiting)) = before {
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
        assert!(two.handle_frame(&asked[0], |f| answer.push(f.to_vec())));
        let mut sent = Vec::new();
        assert!(one.handle_frame(&answer[0], |f| sent.push(f.to_vec())));
        one.send(Instant::ZERO, TWO.1, &mut packet(b"third"), |f| {
            sent.push(f.to_vec())
        });
        let wanted = [&b"first"[..], b"second", b"third"].map(|text| framed(TWO.0, ONE.0, text));
        assert_eq!(sent, wanted);
        // The question told who asked.
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
            one.handle_frame(&question[..length], |_| panic!("answered"));
        }
    }
}
