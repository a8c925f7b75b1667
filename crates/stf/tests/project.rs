//! The project's own programs do what their scripts say: `p4src/tests/MAIN-WHAT.stf` for `v1model/MAIN.p4`.

#[path = "support/hop.rs"]
mod hop;
mod support;

use engine::Packet;
use hop::hop;
use proptest::prelude::*;
use std::path::Path;
use units::Instant;

#[test]
fn every_main_does_what_its_scripts_say() {
    let p4src = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4src");
    let mut scripts: Vec<_> = std::fs::read_dir(p4src.join("tests"))
        .expect("the scripts are there")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|end| end == "stf"))
        .collect();
    scripts.sort();
    assert!(!scripts.is_empty());
    let mut wrong = Vec::new();
    for path in scripts {
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let main = name.split('-').next().unwrap_or_default();
        let text = std::fs::read_to_string(&path).expect("scripts are text");
        let script =
            stf::Script::parse(&text).unwrap_or_else(|errors| panic!("{name}: {}", errors[0]));
        let program = support::compile(&p4src.join(format!("v1model/{main}.p4")));
        let program = program.unwrap_or_else(|why| panic!("{main}: {why}"));
        let report = stf::run(&program, &script, stf::Ports::All);
        if !report.is_ok() {
            wrong.push(format!("{name}:\n{report}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The sum of RFC 1071, not complemented: all ones over a header whose checksum is right.
fn sum(octets: &[u8]) -> u16 {
    let words = octets
        .chunks(2)
        .map(|w| u32::from(w[0]) << 8 | u32::from(*w.get(1).unwrap_or(&0)));
    let sum: u32 = words.sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    ((sum & 0xffff) + (sum >> 16)) as u16
}

/// Octets that are options more often than chance would have it.
fn options() -> impl Strategy<Value = Vec<u8>> {
    let octet = prop_oneof![
        prop::sample::select(vec![0x00, 0x01, 0x5e, 0xde, 8, 4, 2, 0x88]),
        any::<u8>(),
    ];
    (0usize..=10).prop_flat_map(move |words| prop::collection::vec(octet.clone(), words * 4))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// With any options, an IPv4 packet with a valid checksum is forwarded with a right checksum,
    /// and no octet of it changes but MAC addresses, ECN, TTL, checksum and options.
    #[test]
    fn packets_are_forwarded_with_a_right_checksum(
        lists in prop::collection::vec((options(), any::<u8>(), 2u8..), 30),
    ) {
        let mut switch = hop();
        for (options, tos, ttl) in lists {
            let mut header = vec![0x45 + options.len() as u8 / 4, tos, 0, 0, 0x1c, 0x46, 0x40, 0, ttl, 6, 0, 0];
            header.extend([10, 0, 1, 10, 10, 0, 2, 20]);
            header.extend(&options);
            let length = header.len();
            header[2..4].copy_from_slice(&(length as u16 + 3).to_be_bytes());
            let checksum = !sum(&header);
            header[10..12].copy_from_slice(&checksum.to_be_bytes());
            let mut octets = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 1, 10, 8, 0];
            octets.extend(&header);
            octets.extend([7, 8, 9]);
            switch.handle_packet(Instant::ZERO, 1, Packet::new(octets.clone()));
            let sent = switch.poll_transmit(Instant::ZERO).expect("it is forwarded").packet.octets;
            prop_assert_eq!(sent.len(), octets.len());
            prop_assert_eq!(sum(&sent[14..14 + length]), 0xffff);
            prop_assert_eq!(sent[22], ttl - 1);
            let same = |range: std::ops::Range<usize>| sent[range.clone()] == octets[range];
            prop_assert!(same(12..15) && same(16..22) && same(23..24) && same(26..34));
            prop_assert!(same(14 + length..octets.len()));
        }
    }

    #[test]
    fn arbitrary_octets_never_panic(
        packets in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..120), any::<bool>(), 0u32..50), 30),
    ) {
        let mut switch = hop();
        for (mut octets, ipv4, elided) in packets {
            if ipv4 && octets.len() > 15 {
                octets[12..15].copy_from_slice(&[8, 0, 0x4f]);
            }
            switch.handle_packet(Instant::ZERO, 1, Packet { elided, ..Packet::new(octets) });
            while switch.poll_transmit(Instant::ZERO).is_some() {}
        }
    }
}
