//! The match fields of a value set, for each type that its members may have.

mod support;

use p4_info::proto::MatchField;

/// The match fields of `value_set<element>`, whose members are compared with `keys`.
fn fields(element: &str, keys: &str) -> Vec<MatchField> {
    let text = format!(
        "#include <core.p4>
        #include <v1model.p4>
        header h_t {{ bit<8> a; bit<16> b; }}
        struct headers_t {{ h_t h; }}
        struct metadata_t {{}}
        struct pair_t {{ bit<8> first; bit<16> second; }}
        parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {{
            value_set<{element}>(4) known;
            state start {{
                packet.extract(hdr.h);
                transition select({keys}) {{ known: accept; default: reject; }}
            }}
        }}
        control V(inout headers_t hdr, inout metadata_t meta) {{ apply {{}} }}
        control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {{ apply {{}} }}
        control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {{ apply {{}} }}
        control D(packet_out packet, in headers_t hdr) {{ apply {{}} }}
        V1Switch(P(), V(), I(), E(), V(), D()) main;"
    );
    let program = support::compile_text("value_set.p4", &text, &[]).expect("no errors");
    let info = p4_info::p4info(&program).expect("a P4Info");
    info.value_sets[0].r#match.clone()
}

fn widths(fields: &[MatchField]) -> Vec<(u32, &str, i32)> {
    fields
        .iter()
        .map(|f| (f.id, f.name.as_str(), f.bitwidth))
        .collect()
}

#[test]
fn each_component_is_a_field() {
    assert_eq!(widths(&fields("bit<8>", "hdr.h.a")), [(1, "", 8)]);
    let of_struct = fields("pair_t", "hdr.h.a, hdr.h.b");
    assert_eq!(widths(&of_struct), [(1, "first", 8), (2, "second", 16)]);
    // The components of a tuple have no names.
    let of_tuple = fields("tuple<bit<8>, bit<16>>", "hdr.h.a, hdr.h.b");
    assert_eq!(widths(&of_tuple), [(1, "", 8), (2, "", 16)]);
}
