//! Arrays of types other than headers, which P4Runtime has no message for: a tuple in a digest, single fields in a header.

mod support;

use p4_info::proto::P4Info;
use p4_info::proto::p4_data_type_spec::TypeSpec;

fn p4info() -> P4Info {
    let text = r#"#include <core.p4>
#include <v1model.p4>
struct pair_t { bit<8> low; bit<8> high; }
@controller_header("packet_in") header packet_in_h { bit<4>[2] a; pair_t[2] b; bit<8> c; }
header h_t { bit<8> x; }
struct headers_t { packet_in_h up; h_t h; }
struct metadata_t {}
parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start { packet.extract(hdr.h); transition accept; }
}
control V(inout headers_t hdr, inout metadata_t meta) { apply {} }
control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply { digest<bit<8>[3]>(1, { 1, 2, hdr.h.x }); }
}
control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) { apply {} }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), V(), D()) main;"#;
    let program = support::compile_text("arrays.p4", text, &[]).expect("no errors");
    p4_info::p4info(&program).expect("a P4Info")
}

#[test]
fn a_digest_has_a_tuple_of_the_elements() {
    let info = p4info();
    let spec = info.digests[0].type_spec.as_ref().expect("a type");
    let Some(TypeSpec::Tuple(tuple)) = &spec.type_spec else {
        panic!("{spec:?}");
    };
    assert_eq!(tuple.members.len(), 3);
    for member in &tuple.members {
        assert!(matches!(member.type_spec, Some(TypeSpec::Bitstring(_))));
    }
}

#[test]
fn a_header_for_the_controller_has_each_element_as_a_field() {
    let info = p4info();
    let fields = &info.controller_packet_metadata[0].metadata;
    let fields: Vec<_> = fields
        .iter()
        .map(|f| (f.id, f.name.as_str(), f.bitwidth))
        .collect();
    let wanted = [
        (1, "a[0]", 4),
        (2, "a[1]", 4),
        (3, "b[0].low", 8),
        (4, "b[0].high", 8),
        (5, "b[1].low", 8),
        (6, "b[1].high", 8),
        (7, "c", 8),
    ];
    assert_eq!(fields, wanted);
}
