//! Odd packets at any moment: no end panics, and no end sends a malformed packet.

use crate::network::{Link, Network, address, addresses};
use bytes::Bytes;
use proptest::prelude::*;
use transport::sctp::packet::{Packet, Writer};
use transport::sctp::{Config, Delivery, Route};

#[derive(Clone, Debug)]
enum Step {
    /// Events of the honest pair.
    Go(u8),
    /// A packet to an end on a path: chunks of these octets, with the expected tag or not.
    Chunks(usize, usize, bool, Vec<u8>),
    /// A packet that was sent before, with one octet changed and its checksum put right.
    Changed(usize, usize, u8),
}

fn chunk() -> impl Strategy<Value = Vec<u8>> {
    let kind = prop_oneof![0..15u8, Just(158u8), any::<u8>()];
    let body = proptest::collection::vec(prop_oneof![Just(0u8), any::<u8>()], 0..60);
    (kind, any::<u8>(), body, 0..100u8).prop_map(|(kind, flags, body, wrong)| {
        let right = body.len() as u16 + 4;
        let length = if wrong < 10 { u16::from(wrong) } else { right };
        let mut chunk = vec![kind, flags];
        chunk.extend_from_slice(&length.to_be_bytes());
        chunk.extend_from_slice(&body);
        chunk.resize(chunk.len().next_multiple_of(4), 0);
        chunk
    })
}

fn step() -> impl Strategy<Value = Step> {
    let chunks = proptest::collection::vec(chunk(), 1..4).prop_map(|chunks| chunks.concat());
    prop_oneof![
        (1..40u8).prop_map(Step::Go),
        (0..2usize, 0..2usize, any::<bool>(), chunks)
            .prop_map(|(end, path, right, octets)| Step::Chunks(end, path, right, octets)),
        (any::<usize>(), any::<usize>(), 1..=255u8).prop_map(|(p, o, x)| Step::Changed(p, o, x)),
    ]
}

fn network() -> Network {
    let config = |end: usize| Config::dahal(addresses(2, end), 7, [end as u8; 32]);
    let link = Link {
        delay_ms: 20,
        ..Link::default()
    };
    Network::new([config(0), config(1)], vec![link; 2], 1)
}

/// The tag that `end` expects: what its peer wrote last.
fn tag(network: &Network, end: usize) -> u32 {
    let sent = network.log.iter().rev().filter(|sent| sent.1 != end);
    let mut tags = sent.map(|sent| Packet::parse(&sent.3).unwrap().tag);
    tags.find(|&tag| tag != 0).unwrap_or(0)
}

fn deliver(network: &mut Network, end: usize, path: usize, tag: u32, chunks: &[u8]) {
    let mut octets = Vec::new();
    let mut packet = Writer::new(&mut octets, 7, 7, tag);
    packet.raw(chunks);
    packet.finish();
    let route = Route {
        local: address(path, end),
        remote: address(path, 1 - end),
    };
    let now = network.now;
    let _ = network.ends[end].handle_packet(now, route, &octets);
    network.service();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn odd_packets_do_no_harm(steps in proptest::collection::vec(step(), 1..40)) {
        let mut network = network();
        let message = Bytes::from(vec![7; 5000]);
        for step in steps {
            let _ = network.ends[0].write(Delivery::default(), &message);
            match step {
                Step::Go(events) => {
                    let end = network.now + units::Duration::from_millis(100_000);
                    for _ in 0..events {
                        network.step(end);
                    }
                }
                Step::Chunks(end, path, right, octets) => {
                    let tag = if right { tag(&network, end) } else { 0 };
                    deliver(&mut network, end, path, tag, &octets);
                }
                Step::Changed(packet, octet, mask) => {
                    let Some((_, end, path, octets)) =
                        network.log.get(packet % network.log.len().max(1)).cloned()
                    else {
                        continue;
                    };
                    let mut chunks = octets[12..].to_vec();
                    let at = octet % chunks.len();
                    chunks[at] ^= mask;
                    let tag = Packet::parse(&octets).unwrap().tag;
                    deliver(&mut network, 1 - end, path, tag, &chunks);
                }
            }
        }
        for (_, _, _, octets) in &network.log {
            for chunk in Packet::parse(octets).unwrap().chunks() {
                prop_assert!(chunk.is_ok(), "{:?}", octets);
            }
        }
    }
}
