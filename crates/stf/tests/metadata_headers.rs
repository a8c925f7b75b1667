//! Headers in the user metadata, which copies made in egress keep as they keep the packet's headers. On BMv2, headers
//! of both kinds are headers of the packet's state.

use p4_frontend::{NoLoader, SourceMap};
use stf::{Ports, Script};

const PROGRAM: &str = "
#include <core.p4>
#include <v1model.p4>
header frame_t { bit<8> value; }
header note_t { bit<8> value; }
struct inner_t { note_t[2] notes; bit<8> lost; }
struct headers_t { frame_t frame; }
struct meta_t { inner_t inner; inner_t[2] several; bit<8> lost; }
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    state start { packet.extract(hdr.frame); transition accept; }
}
control V(inout headers_t hdr, inout meta_t meta) { apply { } }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    apply { sm.egress_spec = 2; }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    apply {
        if (sm.instance_type == 0) {
            meta.inner.notes[1].setValid();
            meta.inner.notes[1].value = hdr.frame.value;
            meta.several[1].notes[0].setValid();
            meta.several[1].notes[0].value = 1;
            meta.lost = 0x10;
            meta.inner.lost = 0x10;
            clone(CloneType.E2E, 5);
        } else if (meta.inner.notes[1].isValid() && meta.several[1].notes[0].isValid()) {
            hdr.frame.value = meta.inner.notes[1].value + meta.several[1].notes[0].value + meta.lost + meta.inner.lost;
        } else {
            hdr.frame.value = 0xff;
        }
    }
}
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), V(), D()) main;
";

#[test]
fn copies_made_in_egress_keep_them() {
    let mut sources = SourceMap::new();
    let entry = sources.add("notes.p4", PROGRAM);
    let (program, diagnostics) = p4_frontend::compile(&mut sources, entry, &mut NoLoader, &[]);
    let program = program.unwrap_or_else(|| panic!("{}", diagnostics[0].message));
    let script = "mirroring_add 5 3\npacket 1 07\nexpect 2 07 $\nexpect 3 08 $";
    let script = Script::parse(script).unwrap_or_else(|errors| panic!("{}", errors[0]));
    let report = stf::run(&program, &script, Ports::All);
    assert_eq!((report.failures, report.passed), (vec![], 2));
}
