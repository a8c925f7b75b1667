//! The hop for Tofino writes the same marks as the hop for v1model into the same packets: arrivals at random, a queue that
//! is often full.

mod support;

use engine::{Match, Packet, PortConfig, Switch, SwitchConfig};
use std::collections::BTreeMap;
use std::path::Path;
use units::{Instant, Rate};

const HOST: u32 = 0x0a00_0214;
/// Octets of a frame: 13 cells of Tofino 1, 6 of Tofino 2.
const OCTETS: u32 = 1014;
const WAITING: u32 = 6;

/// A frame with AQT and AVBW-S, from a CI-capable sender.
fn frame(number: u16) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 10, 8, 0];
    let mut header = vec![0x48, 2, 0x03, 0xe8];
    header.extend(number.to_be_bytes());
    header.extend([0x40, 0, 64, 253, 0, 0, 10, 0, 1, 10]);
    header.extend(HOST.to_be_bytes());
    header.extend([0x5e, 8, 0, 0, 7, 0, 0, 9, 0xde, 4, 0xff, 1]);
    support::set_checksum(&mut header);
    frame.extend(header);
    frame
}

/// The sum of RFC 1071 over a header: all ones where its checksum is right.
fn sum(header: &[u8]) -> u32 {
    let words = header.chunks(2);
    let sum: u32 = words
        .map(|word| u32::from(word[0]) << 8 | u32::from(word[1]))
        .sum();
    (sum & 0xffff) + (sum >> 16)
}

/// `waymark.p4` with a line of 1.6 Mb/s at port 2, where `cells` is how much a packet adds to a depth.
fn switch(main: &str, cells: u32) -> Switch {
    let main = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../p4src")
        .join(main);
    let program = support::compile(&main).unwrap_or_else(|why| panic!("{why}"));
    let of_program = cells == 1;
    let line = PortConfig {
        rate: Rate::from_bps(1_600_000),
        capacity: if of_program { u32::MAX } else { WAITING },
        ..PortConfig::default()
    };
    let config = SwitchConfig {
        ports: BTreeMap::from([(2, line)]),
        ..SwitchConfig::default()
    };
    let mut switch = Switch::new(&program, config).expect("a program for the engine");
    let port = ("port", Match::exact(2u8));
    let route = [("dst_addr", Match::lpm(HOST, 32))];
    add(&mut switch, "ipv4_route", &route, "direct", &[("port", 2)]);
    let neighbour = [port.clone(), ("next_hop", Match::exact(HOST))];
    let addresses = [("src_addr", 2), ("dst_addr", 3)];
    add(&mut switch, "neighbour", &neighbour, "rewrite", &addresses);
    let on = [("aqt", 1), ("drai", 1), ("ci", 1), ("window_log2", 40)];
    let marks = [port.clone()];
    add(&mut switch, "port_feedback", &marks, "set_feedback", &on);
    if of_program {
        let limit = [("max_waiting", WAITING.into())];
        add(&mut switch, "port_queue", &marks, "drop_tail", &limit);
    }
    for packets in 0..=WAITING {
        let depth = Match::range(packets * cells, packets * cells);
        let ranges = [port.clone(), ("queue_depth", depth)];
        add(
            &mut switch,
            "drai",
            &ranges,
            "set_index",
            &[("index", (packets + 1).into())],
        );
    }
    switch
}

/// Adds an entry; where a key is a range, they do not overlap.
fn add(
    switch: &mut Switch,
    table: &str,
    matches: &[(&str, Match)],
    action: &str,
    args: &[(&str, u64)],
) {
    let priority = u32::from(table == "drai");
    let args: Vec<_> = args
        .iter()
        .map(|&(name, value)| (name, value.into()))
        .collect();
    switch
        .add(table, matches, priority, action, &args)
        .unwrap_or_else(|why| panic!("{why}"));
}

/// What a packet carries when it leaves.
#[derive(Debug, PartialEq)]
struct Sent {
    start: Instant,
    number: u16,
    ecn: u8,
    aqt_us: u32,
    drai: u8,
}

/// Sends packets at pseudo-random times, 1.2 times as many as the line takes.
fn sent(switch: &mut Switch) -> Vec<Sent> {
    let mut state = 7_u64;
    let mut now = Instant::ZERO;
    let mut all = Vec::new();
    for number in 0..3000 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        now += units::Duration::from_nanos((state >> 20) % 8_450_000);
        let octets = frame(number);
        let packet = Packet {
            link_octets: OCTETS,
            elided: OCTETS - octets.len() as u32,
            octets: octets.into(),
            tag: number.into(),
        };
        switch.handle_packet(now, 1, packet);
        while let Some(one) = switch.poll_transmit(now) {
            assert_eq!(one.port, 2);
            let ip = &one.packet.octets[14..46];
            assert_eq!(sum(ip), 0xffff, "checksum of packet {number}");
            all.push(Sent {
                start: one.start,
                number: u16::from_be_bytes([ip[4], ip[5]]),
                ecn: ip[1] & 3,
                aqt_us: u32::from_be_bytes([0, ip[22], ip[23], ip[24]]),
                drai: ip[30],
            });
        }
    }
    all
}

#[test]
fn the_same_packets_carry_the_same_marks_as_on_v1model() {
    let truth = sent(&mut switch("v1model/waymark.p4", 1));
    let marked = truth.iter().filter(|one| one.ecn == 3).count();
    assert!(
        marked > 500 && truth.len() - marked > 500,
        "{marked} of {}",
        truth.len()
    );
    for (main, cells) in [("tna/waymark.p4", 13), ("t2na/waymark.p4", 6)] {
        let found = sent(&mut switch(main, cells));
        assert_eq!(found.len(), truth.len(), "{main}");
        for (found, truth) in found.iter().zip(&truth) {
            let error_us = found.aqt_us.abs_diff(truth.aqt_us);
            assert!(
                error_us <= 1 + truth.aqt_us * 3 / 10_000 + 1,
                "{main}: {found:?}, {truth:?}"
            );
            let aqt_us = truth.aqt_us;
            let found = Sent { aqt_us, ..*found };
            assert_eq!(found, *truth, "{main}");
        }
    }
}
