//! Any octets go as a packet through `p4src/v1model/waymark.p4` with every mark enabled. What is routed out has a valid
//! header checksum.
//!
//! The first octet says how they go in: bits 0 and 1 the port (1, 2, 3 or the CPU's), bit 2 whether the frame is first
//! made an IPv4 packet for a known destination with a valid checksum, so that what follows is more often options than
//! a refusal; bit 3 whether it is sent twice.
#![no_main]

use engine::ports::CPU_PORT;
use engine::{Match, Packet, Pipeline, PortConfig, Switch, SwitchConfig};
use libfuzzer_sys::fuzz_target;
use p4_frontend::{Loader, SourceMap, compile};
use std::path::Path;
use std::sync::{Arc, LazyLock};
use units::{Duration, Instant, Rate};

const PORTS: [u16; 4] = [1, 2, 3, CPU_PORT];
const DESTINATION: u32 = 0x0a00_0214;

static WAYMARK: LazyLock<Arc<Pipeline>> = LazyLock::new(|| {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../p4src/v1model/waymark.p4");
    let text = std::fs::read_to_string(path).expect("waymark.p4 can be read");
    let mut sources = SourceMap::new();
    let file = sources.add(path, text);
    let (program, _) = compile(&mut sources, file, &mut Beside, &[]);
    Pipeline::compile(&program.expect("waymark.p4 compiles")).expect("the engine takes it")
});

/// Finds included files in the folder of the file that includes them.
struct Beside;

impl Loader for Beside {
    fn load(&mut self, from: Option<&str>, name: &str, system: bool) -> Option<(String, String)> {
        let path = Path::new(from.filter(|_| !system)?).parent()?.join(name);
        let text = std::fs::read_to_string(&path).ok()?;
        Some((path.to_string_lossy().into_owned(), text))
    }
}

fuzz_target!(|input: &[u8]| {
    let Some((&how, octets)) = input.split_first() else {
        return;
    };
    let ingress = PORTS[usize::from(how & 3)];
    let mut frame = octets.to_vec();
    if how & 4 != 0 {
        make_routable(&mut frame);
    }
    let mut switch = new_switch();
    for _ in 0..1 + (how >> 3 & 1) {
        switch.handle_packet(Instant::ZERO, ingress, Packet::new(frame.clone()));
    }
    let end = Instant::ZERO + Duration::from_millis(60_000);
    while let Some(sent) = switch.poll_transmit(end) {
        let octets = &sent.packet.octets;
        // What a controller sends, and what it gets, is not routed.
        if ingress != CPU_PORT && sent.port != CPU_PORT {
            assert!(
                has_valid_checksum(octets),
                "port {}: {octets:02x?}",
                sent.port
            );
        }
    }
});

fn new_switch() -> Switch {
    let mut switch = Switch::with_pipeline(WAYMARK.clone(), SwitchConfig::default());
    let slow = PortConfig {
        rate: Rate::from_bps(1_600_000),
        ..PortConfig::default()
    };
    switch.set_port(2, slow);
    let port = || ("port", Match::exact(2_u32));
    let added = [
        switch.add(
            "ipv4_route",
            &[("dst_addr", Match::lpm(DESTINATION, 32))],
            0,
            "direct",
            &[("port", 2_u32.into())],
        ),
        switch.add(
            "neighbour",
            &[port(), ("next_hop", Match::exact(DESTINATION))],
            0,
            "rewrite",
            &[
                ("src_addr", 0x0200_0000_0002_u64.into()),
                ("dst_addr", 0x0200_0000_0214_u64.into()),
            ],
        ),
        switch.add(
            "port_feedback",
            &[port()],
            0,
            "set_feedback",
            &[
                ("aqt", 1_u32.into()),
                ("drai", 1_u32.into()),
                ("ci", 1_u32.into()),
                ("window_log2", 40_u32.into()),
            ],
        ),
        switch.add(
            "drai",
            &[port()],
            1,
            "set_index",
            &[("index", 1_u32.into())],
        ),
        switch.add(
            "punt",
            &[("ether_type", Match::exact(0x0806_u32))],
            0,
            "send_to_cpu",
            &[],
        ),
    ];
    for result in added {
        result.expect("waymark.p4 takes the entry");
    }
    switch
}

/// Version 4, the destination that is routed, the port's own Ethernet address, and a valid checksum.
fn make_routable(frame: &mut Vec<u8>) {
    frame.resize(frame.len().max(34), 0);
    frame[..6].copy_from_slice(&[2, 0, 0, 0, 0, 1]);
    frame[12..14].copy_from_slice(&[8, 0]);
    let words = (frame[14] & 15).clamp(5, 15);
    frame[14] = 0x40 | words;
    let header_octets = usize::from(words) * 4;
    frame.resize(frame.len().max(14 + header_octets), 0);
    let length = frame.len() as u16 - 14;
    frame[16..18].copy_from_slice(&length.to_be_bytes());
    frame[20..22].copy_from_slice(&[0, 0]);
    frame[22] |= 2;
    frame[30..34].copy_from_slice(&DESTINATION.to_be_bytes());
    frame[24..26].copy_from_slice(&[0, 0]);
    let checksum = !ones_sum(&frame[14..14 + header_octets]);
    frame[24..26].copy_from_slice(&checksum.to_be_bytes());
}

/// Of an Ethernet frame, with or without a VLAN tag: that it holds a whole IPv4 header, whose checksum holds (RFC 791,
/// section 3.1).
fn has_valid_checksum(frame: &[u8]) -> bool {
    let is_tagged = frame.get(12..14) == Some(&[0x81, 0x00]);
    let Some(packet) = frame.get(if is_tagged { 18.. } else { 14.. }) else {
        return false;
    };
    let Some(&first) = packet.first() else {
        return false;
    };
    let header_octets = usize::from(first & 15) * 4;
    first >> 4 == 4
        && header_octets >= 20
        && packet
            .get(..header_octets)
            .is_some_and(|header| ones_sum(header) == 0xffff)
}

/// The ones' complement sum of big-endian 16-bit words (RFC 1071).
fn ones_sum(octets: &[u8]) -> u16 {
    let words = octets
        .chunks(2)
        .map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0)));
    let mut sum: u32 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}
