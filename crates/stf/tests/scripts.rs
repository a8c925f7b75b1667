//! What scripts can name, and which packets they are compared with.

use p4_frontend::{NoLoader, SourceMap};
use stf::{Failure, Ports, Report, Script};

/// Sends `frame` octets by a table whose names are written in several ways.
const PROGRAM: &str = r##"
#include <core.p4>
#include <v1model.p4>
header frame_t { bit<8> to; }
struct headers_t { frame_t frame; }
struct meta_t { }
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    state start { packet.extract(hdr.frame); transition accept; }
}
control V(inout headers_t hdr, inout meta_t meta) { apply { } }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    @name("#hits ↯") direct_counter(CounterType.packets) hits;
    @name(" send to") action send(@name("out port") bit<9> port) {
        sm.egress_spec = port;
        hits.count();
    }
    @name("routes ◕#1") table routes {
        key = { hdr.frame.to: exact @name(" where"); }
        actions = { send; }
        counters = hits;
    }
    apply { routes.apply(); }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), V(), D()) main;
"##;

fn run(script: &str, ports: Ports) -> Report {
    let mut sources = SourceMap::new();
    let entry = sources.add("names.p4", PROGRAM);
    let (program, diagnostics) = p4_frontend::compile(&mut sources, entry, &mut NoLoader, &[]);
    let program = program.unwrap_or_else(|| panic!("{}", diagnostics[0].message));
    let script = Script::parse(script).unwrap_or_else(|errors| panic!("{}", errors[0]));
    stf::run(&program, &script, ports)
}

const ENTRY: &str =
    r##"add "I.routes ◕#1" " where":7 "I. send to"("out port":2) = A # an entry of port 2"##;

#[test]
fn quoted_names_and_names_of_entries_are_found() {
    let script = format!(
        "{ENTRY}\npacket 1 07\nexpect 2 07 $\ncheck_counter \"I.#hits ↯\"($A) packets == 1"
    );
    let report = run(&script, Ports::All);
    assert_eq!((report.failures, report.passed), (vec![], 2));
}

#[test]
fn packets_at_ports_that_the_script_does_not_name_fail_it_if_all_are_compared() {
    let script = format!("{ENTRY}\npacket 1 07");
    assert!(run(&script, Ports::Named).is_ok());
    let unexpected = Failure::Unexpected {
        after: 2,
        port: 2,
        found: vec![7],
    };
    assert_eq!(run(&script, Ports::All).failures, [unexpected]);
}
