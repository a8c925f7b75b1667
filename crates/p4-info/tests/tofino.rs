//! P4Info of a program for the Tofino Native Architecture.

mod support;

use p4_info::proto::{P4Info, Preamble};

fn p4info() -> P4Info {
    let text = r#"#include <tna.p4>
header h_t { bit<8> x; }
struct headers_t { h_t h; }
struct nothing_t {}
parser IP(packet_in pkt, out headers_t hdr, out nothing_t md, out ingress_intrinsic_metadata_t intrinsic) {
    state start { pkt.extract(intrinsic); pkt.extract(hdr.h); transition accept; }
}
control I(
    inout headers_t hdr, inout nothing_t md, in ingress_intrinsic_metadata_t intrinsic,
    in ingress_intrinsic_metadata_from_parser_t from_parser,
    inout ingress_intrinsic_metadata_for_deparser_t for_deparser,
    inout ingress_intrinsic_metadata_for_tm_t for_tm)
{
    Counter<bit<64>, PortId_t>(512, CounterType_t.PACKETS_AND_BYTES) ports;
    Register<bit<32>, bit<8>>(256) cells;
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) increase = {
        void apply(inout bit<32> value) { value = value + 1; }
    };
    Hash<bit<66>>(HashAlgorithm_t.CRC32) hash;
    ActionProfile(1024) members;
    ActionSelector(members, hash, SelectorMode_t.FAIR, 64, 16) groups;
    action forward(PortId_t port) { for_tm.ucast_egress_port = port; }
    table spread {
        key = { hdr.h.x: selector; intrinsic.ingress_port: exact; }
        actions = { forward; }
        implementation = groups;
    }
    apply { spread.apply(); ports.count(intrinsic.ingress_port); increase.execute(hdr.h.x); }
}
control ID(packet_out pkt, inout headers_t hdr, in nothing_t md) { apply { pkt.emit(hdr); } }
parser EP(packet_in pkt, out headers_t hdr, out nothing_t md) { state start { transition accept; } }
control E(inout headers_t hdr, inout nothing_t md) { apply {} }
Pipeline(IP(), I(), ID(), EP(), E(), ID()) pipe;
Switch(pipe) main;"#;
    let program = support::compile_text("tofino.p4", text, &[]);
    let program = program.unwrap_or_else(|error| panic!("{error}"));
    p4_info::p4info(&program).expect("a P4Info")
}

fn name(preamble: &Option<Preamble>) -> &str {
    &preamble.as_ref().expect("a preamble").name
}

#[test]
fn the_architecture_is_that_of_the_package() {
    let info = p4info();
    assert_eq!(info.pkg_info.expect("a package").arch, "tna");
}

#[test]
fn objects_are_called_as_without_a_pipeline() {
    let info = p4info();
    assert_eq!(name(&info.tables[0].preamble), "I.spread");
    let [counter] = &info.counters[..] else {
        panic!("{:?}", info.counters);
    };
    assert_eq!((name(&counter.preamble), counter.size), ("I.ports", 512));
    let [register] = &info.registers[..] else {
        panic!("{:?}", info.registers);
    };
    assert_eq!((name(&register.preamble), register.size), ("I.cells", 256));
}

#[test]
fn a_selector_and_its_profile_are_one_action_profile() {
    let info = p4info();
    let [profile] = &info.action_profiles[..] else {
        panic!("{:?}", info.action_profiles);
    };
    assert_eq!(name(&profile.preamble), "I.members");
    assert!(profile.with_selector);
    assert_eq!((profile.size, profile.max_group_size), (1024, 64));
    let id = profile.preamble.as_ref().map(|p| p.id);
    assert_eq!(Some(info.tables[0].implementation_id), id);
    let table = info.tables[0].preamble.as_ref().map(|p| p.id);
    assert_eq!(profile.table_ids, table.into_iter().collect::<Vec<_>>());
}
