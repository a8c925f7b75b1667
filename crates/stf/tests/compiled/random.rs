//! Packets at random through the project's programs.

use super::state::state;
use super::{files, pipeline, root, switch};
use crate::support::set_checksum;
use engine::{Packet, Switch};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use stf::{Ports, Script, Verb};
use units::Instant;

/// Packets per program; `WAYMARK_RANDOM_PACKETS` is another number.
const PACKETS: usize = 20_000;

/// Octets that lengths, options and types of packets often are.
const TELLING: [u8; 16] = [
    0, 1, 2, 4, 5, 6, 8, 0x45, 0x46, 0x48, 0x4f, 0x5e, 0x81, 0x88, 0xde, 0xff,
];

/// Each main, with the tables that its scripts fill, sends the same packets and keeps the same state. The packets are
/// those of the scripts with a few octets changed, cut off or added, most of them with the checksum that holds then.
#[test]
fn random_packets_have_the_same_outcome() {
    let count = std::env::var("WAYMARK_RANDOM_PACKETS");
    let count = count.map_or(PACKETS, |count| count.parse().expect("a number of packets"));
    let mut mains = Vec::new();
    files(&root().join("p4src/v1model"), "p4", &mut mains);
    let mut scripts = Vec::new();
    files(&root().join("p4src/tests"), "stf", &mut scripts);
    for main in mains {
        let name = main.file_stem().expect("a name").to_string_lossy();
        let own: Vec<_> = scripts
            .iter()
            .filter(|script| {
                let stem = script.file_stem().expect("a name").to_string_lossy();
                stem.split('-').next() == Some(&*name)
            })
            .map(|script| std::fs::read_to_string(script).expect("scripts are text"))
            .map(|text| Script::parse(&text).expect("scripts of the project parse"))
            .collect();
        assert!(!own.is_empty(), "{name} has no script");
        let pipeline = pipeline(&main).unwrap_or_else(|| panic!("{name} does not compile"));
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let mut sent = 0;
        for script in &own {
            let packets = packets(script);
            let pair = [false, true].map(|interpreted| switch(&pipeline, interpreted));
            let mut pair = pair.map(|switch| configured(switch, script));
            let mut now = Instant::ZERO;
            for _ in 0..count.div_ceil(own.len()) {
                let (port, packet) = mutated(&mut random, &packets);
                now = Instant::from_nanos(now.as_nanos() + random.next_u64() % 2_000_000);
                let [compiled, interpreted] = pair
                    .each_mut()
                    .map(|switch| outcome(switch, now, port, packet.clone()));
                assert_eq!(
                    compiled, interpreted,
                    "{name}: {packet:02x?} at port {port}"
                );
                sent += compiled.matches("Transmit").count();
            }
            let [compiled, interpreted] = pair.each_ref().map(state);
            assert_eq!(compiled, interpreted, "{name}");
        }
        eprintln!("{name}: {sent} packets out");
        assert!(sent > count / 20, "{name}: only {sent} packets out");
    }
}

/// The packets of a script, each with its port.
fn packets(script: &Script) -> Vec<(u16, Vec<u8>)> {
    let packets = script
        .commands
        .iter()
        .filter_map(|command| match &command.verb {
            Verb::Packet { port, octets } => Some((*port, octets.clone())),
            _ => None,
        });
    packets.collect()
}

/// A switch with what a script sets.
fn configured(switch: Switch, script: &Script) -> Switch {
    let mut settings = script.clone();
    let is_packet =
        |verb: &Verb| matches!(verb, Verb::Packet { .. } | Verb::Expect { .. } | Verb::Wait);
    settings
        .commands
        .retain(|command| !is_packet(&command.verb));
    stf::run_on(switch, &settings, Ports::Named).switch
}

fn mutated(random: &mut ChaCha8Rng, packets: &[(u16, Vec<u8>)]) -> (u16, Packet) {
    let mut below = |most: usize| (random.next_u64() % most.max(1) as u64) as usize;
    let (port, mut octets) = packets[below(packets.len())].clone();
    for _ in 0..below(4) {
        let at = below(octets.len());
        if let Some(octet) = octets.get_mut(at) {
            *octet = match below(3) {
                0 => TELLING[below(TELLING.len())],
                1 => *octet ^ 1 << below(8),
                _ => below(256) as u8,
            };
        }
    }
    match below(16) {
        0 => octets.truncate(below(octets.len())),
        1 => octets.extend((0..below(40)).map(|at| at as u8)),
        _ => {}
    }
    if below(8) > 0 {
        correct(&mut octets);
    }
    let elided = if below(4) == 0 { below(1500) as u32 } else { 0 };
    let port = if below(16) == 0 {
        below(8) as u16
    } else {
        port
    };
    (
        port,
        Packet {
            elided,
            ..Packet::new(octets)
        },
    )
}

/// Writes the checksum of an IPv4 header if there is one behind Ethernet's, with or without a VLAN tag.
fn correct(octets: &mut [u8]) {
    let at = if octets.get(12..14) == Some(&[0x81, 0]) {
        18
    } else {
        14
    };
    let Some(&first) = octets.get(at) else { return };
    let header = octets.get_mut(at..at + 4 * usize::from(first & 15));
    if let Some(header) = header.filter(|header| header.len() >= 20) {
        header[10..12].fill(0);
        set_checksum(header);
    }
}

/// What comes out of a switch for a packet, and what it reports.
fn outcome(switch: &mut Switch, now: Instant, port: u16, packet: Packet) -> String {
    switch.handle_packet(now, port, packet);
    let mut text = String::new();
    while let Some(sent) = switch.poll_transmit(now) {
        text += &format!("{sent:?}\n");
    }
    while let Some(event) = switch.poll_event() {
        text += &format!("{event:?}\n");
    }
    text
}
