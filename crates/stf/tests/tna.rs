//! Paths and metadata of the Tofino Native Architectures.

#[path = "tna/queue.rs"]
mod queue;
mod support;
#[path = "tna/testgen.rs"]
mod testgen;

use engine::{DropCause, Packet, Switch, SwitchConfig};
use std::path::{Path, PathBuf};
use units::Instant;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/tna")
}

fn program(name: &str) -> p4_ir::Program {
    support::compile(&folder().join(name)).expect("the program compiles")
}

fn check(name: &str, script: &str) {
    let text = std::fs::read_to_string(folder().join(script)).expect("the script is there");
    let script = stf::Script::parse(&text).expect("the script parses");
    let report = stf::run(&program(name), &script, stf::Ports::All);
    assert_eq!(report.failures, [], "{name}: {report}");
}

#[test]
fn packets_take_the_paths_of_tofino_1() {
    check("tna.p4", "paths.stf");
    check("tna.p4", "tna.stf");
}

#[test]
fn packets_take_the_paths_of_tofino_2() {
    check("t2na.p4", "paths.stf");
    check("t2na.p4", "t2na.stf");
}

/// What becomes of a packet of some kind for a port.
fn dropped(packet: &[u8]) -> DropCause {
    let config = SwitchConfig::default();
    let mut switch = Switch::new(&program("tna.p4"), config).expect("it compiles");
    switch.handle_packet(Instant::ZERO, 1, Packet::new(packet.to_vec()));
    assert_eq!(switch.poll_transmit(Instant::ZERO), None);
    let drops = switch.drops();
    let mut causes = DropCause::ALL
        .into_iter()
        .filter(|cause| drops.of(*cause) > 0);
    causes.next().expect("a cause")
}

#[test]
fn drops_are_counted_by_cause() {
    assert_eq!(dropped(&[0, 2, 0, 0, 0, 0, 0, 0]), DropCause::Ingress);
    assert_eq!(dropped(&[1, 2]), DropCause::Ingress);
    assert_eq!(
        dropped(&[3, 9, 0, 0, 0, 0, 0, 0]),
        DropCause::NoMulticastGroup
    );
    assert_eq!(dropped(&[6, 2, 0, 0, 0, 0, 0, 0]), DropCause::Egress);
}
