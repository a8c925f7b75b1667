//! Actions of one name in ingress and egress, as p4c writes an action of P4_14 that both use.

mod support;

#[test]
fn actions_of_one_name_are_one_that_the_tables_of_both_list() {
    let text = r#"#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> x; }
struct headers_t { h_t h; }
struct metadata_t {}
parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start { packet.extract(hdr.h); transition accept; }
}
control V(inout headers_t hdr, inout metadata_t meta) { apply {} }
control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    // Called alone, so that its parameter is not part of an entry here; it is in the egress.
    @name(".set") action set(bit<8> x) { hdr.h.x = x; }
    @name(".nop") action nop() { }
    table t { key = { hdr.h.x: exact; } actions = { nop; } }
    apply { set(1); t.apply(); }
}
control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    @name(".nop") action nop() { }
    @name(".set") action set(bit<8> x) { hdr.h.x = x + 1; }
    table t { key = { hdr.h.x: exact; } actions = { nop; set; } }
    apply { t.apply(); }
}
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), V(), D()) main;"#;
    let program = support::compile_text("shared.p4", text, &[]).expect("no errors");
    let info = p4_info::p4info(&program).expect("a P4Info");
    let id = |name: &str| {
        let named =
            |a: &&p4_info::proto::Action| a.preamble.as_ref().is_some_and(|p| p.name == name);
        let found: Vec<_> = info.actions.iter().filter(named).collect();
        assert_eq!(found.len(), 1, "{name}: {found:?}");
        (
            found[0].preamble.as_ref().expect("a preamble").id,
            found[0].params.len(),
        )
    };
    let ((nop, _), (set, set_params)) = (id("nop"), id("set"));
    assert_eq!(set_params, 1);
    let listed =
        |i: usize| -> Vec<u32> { info.tables[i].action_refs.iter().map(|a| a.id).collect() };
    assert!(listed(0).contains(&nop) && listed(1).contains(&nop) && listed(1).contains(&set));
}
