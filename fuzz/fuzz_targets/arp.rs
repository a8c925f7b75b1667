//! Frames of any octets come to a host's address resolution, and packets leave for a few neighbours, while time passes.
//!
//! The input is a list of steps. The first octet of a step selects its kind and the time since the last step; its
//! operands follow.
#![no_main]

use dataplane_io::host::{Arp, Mac};
use libfuzzer_sys::fuzz_target;
use std::net::Ipv4Addr;
use units::{Duration, Instant};

const OURS: (Mac, Ipv4Addr) = ([2, 0, 0, 0, 0, 1], Ipv4Addr::new(10, 0, 0, 1));
const BROADCAST: Mac = [0xff; 6];
const ARP: [u8; 2] = [0x08, 0x06];
const IPV4: [u8; 2] = [0x08, 0x00];
/// What a host keeps for a neighbour that has not answered.
const MAX_WAITING: usize = 64;

/// A frame that leaves is from this host, and an ARP message or a packet that was passed.
fn check(frame: &[u8]) {
    assert_eq!(frame[6..12], OURS.0);
    match [frame[12], frame[13]] {
        ARP => {
            assert_eq!(frame.len(), 42);
            assert_eq!(frame[22..28], OURS.0);
            assert_eq!(frame[28..32], OURS.1.octets());
            // Who is asked where it is, is asked by all or by its last address.
            let to_all = frame[..6] == BROADCAST;
            assert!(
                !to_all || frame[20..22] == [0, 1],
                "answers go to who asked"
            );
        }
        IPV4 => assert_eq!(frame[14..], *b"packet"),
        other => panic!("EtherType {other:?}"),
    }
}

fuzz_target!(|input: &[u8]| {
    let mut arp = Arp::new(OURS.0, OURS.1);
    let mut now = Instant::ZERO;
    let mut rest = input;
    while let [first, after @ ..] = rest {
        now += Duration::from_millis(u64::from(first >> 4).pow(5) / 8);
        rest = after;
        match first & 0xf {
            // A packet leaves for one of 256 neighbours.
            0..=7 => {
                let last = rest.first().copied().unwrap_or_default();
                rest = rest.get(1..).unwrap_or_default();
                let mut frame = [&[0; 14][..], b"packet"].concat();
                let mut sent = 0;
                arp.send(now, Ipv4Addr::new(10, 0, 0, last), &mut frame, |frame| {
                    sent += 1;
                    check(frame);
                });
                assert!(sent <= 2, "the packet, and a question");
            }
            // A frame comes: a message from a neighbour, or any octets.
            kind => {
                let (frame, more) = rest.split_at(rest.len().min(if kind < 12 { 28 } else { 60 }));
                rest = more;
                let head = [&OURS.0[..], &[2, 0, 0, 0, 0, 9], &ARP].concat();
                let frame = match kind {
                    8..12 => [&head, frame].concat(),
                    _ => frame.to_vec(),
                };
                let mut sent = 0;
                let was_arp = arp.handle_frame(now, &frame, |frame| {
                    sent += 1;
                    check(frame);
                });
                assert_eq!(was_arp, frame.get(12..14) == Some(&ARP));
                assert!(sent <= 1 + MAX_WAITING, "an answer, and what waited");
            }
        }
    }
});
