//! Value sets in `select`: alone, for one key of several, and inside a tuple.

use engine::{Match, Packet, Switch, SwitchConfig};
use p4_frontend::{NoLoader, SourceMap};
use units::Instant;

/// The packet leaves at the port that the first matching case sets; 9 if none matches.
const PROGRAM: &str = r#"
#include <core.p4>
#include <v1model.p4>
header frame_t { bit<8> a; bit<8> b; bit<8> c; }
struct headers_t { frame_t frame; }
struct meta_t { bit<9> port; }
struct pair_t { @match(ternary) bit<8> first; bit<8> second; }
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    value_set<bit<8>>(4) singles;
    value_set<pair_t>(4) pairs;
    state start {
        meta.port = 9;
        packet.extract(hdr.frame);
        transition select(hdr.frame.a, hdr.frame.b, hdr.frame.c) {
            (singles, 1, _): one;
            (0x10 &&& 0xf0, singles, singles): two;
            default: inner;
        }
    }
    state inner {
        transition select({ hdr.frame.a, hdr.frame.b }, hdr.frame.c) {
            (pairs, singles): three;
            (_, 7): four;
            default: accept;
        }
    }
    state one { meta.port = 1; transition accept; }
    state two { meta.port = 2; transition accept; }
    state three { meta.port = 3; transition accept; }
    state four { meta.port = 4; transition accept; }
}
control V(inout headers_t hdr, inout meta_t meta) { apply { } }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    apply { sm.egress_spec = meta.port; }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), V(), D()) main;
"#;

fn switch() -> Switch {
    let mut sources = SourceMap::new();
    let entry = sources.add("sets.p4", PROGRAM);
    let (program, diagnostics) = p4_frontend::compile(&mut sources, entry, &mut NoLoader, &[]);
    let program = program.unwrap_or_else(|| panic!("{}", diagnostics[0].message));
    Switch::new(&program, SwitchConfig::default()).expect("the program runs")
}

fn port(switch: &mut Switch, octets: [u8; 3]) -> u16 {
    switch.handle_packet(Instant::ZERO, 0, Packet::new(octets.to_vec()));
    let sent = switch.poll_transmit(Instant::ZERO).expect("it is sent");
    sent.port
}

#[test]
fn a_value_set_covers_its_own_keys() {
    let mut switch = switch();
    assert_eq!(port(&mut switch, [5, 1, 0]), 9);
    let set = switch.value_set("singles").expect("it is there");
    let members = [5_u8, 6].map(|value| vec![Match::exact(value)]);
    switch
        .value_set_write(set, members.to_vec())
        .expect("they fit");
    let set = switch.value_set("pairs").expect("it is there");
    let member = vec![Match::ternary(0x20_u8, 0xf0_u8), Match::exact(2_u8)];
    switch.value_set_write(set, vec![member]).expect("it fits");

    let cases = [
        ([5, 1, 0], 1),
        ([6, 1, 9], 1),
        ([5, 2, 0], 9),
        ([7, 1, 0], 9),
        ([0x1f, 5, 6], 2),
        ([0x1f, 5, 7], 4),
        ([0x2f, 5, 6], 9),
        ([0x2f, 2, 6], 3),
        ([0x2f, 3, 6], 9),
        ([0x2f, 2, 7], 4),
        ([0x2f, 2, 8], 9),
    ];
    for (octets, expected) in cases {
        assert_eq!(port(&mut switch, octets), expected, "{octets:?}");
    }
}
