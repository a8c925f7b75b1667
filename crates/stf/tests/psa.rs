//! Paths, metadata and externs of the Portable Switch Architecture.

mod support;

use engine::{DropCause, Packet, PortConfig, Switch, SwitchConfig};
use std::path::{Path, PathBuf};
use units::Instant;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs")
}

fn program() -> p4_ir::Program {
    support::compile(&folder().join("psa.p4")).expect("the program compiles")
}

#[test]
fn packets_take_the_paths_of_the_specification() {
    let script = std::fs::read_to_string(folder().join("psa.stf")).expect("the script is there");
    let script = stf::Script::parse(&script).expect("the script parses");
    let report = stf::run(&program(), &script, stf::Ports::All);
    assert_eq!(report.failures, [], "{report}");
    // Every switch has the recirculation port.
    let config = SwitchConfig {
        ports: (1..=16).map(|port| (port, PortConfig::default())).collect(),
        other_ports: None,
        ..SwitchConfig::default()
    };
    let switch = Switch::new(&program(), config).expect("it compiles");
    let report = stf::run_on(switch, &script, stf::Ports::All).report;
    assert_eq!(report.failures, [], "{report}");
}

/// The fate of a packet of some kind for a port.
fn dropped(kind: u8, port: u8) -> DropCause {
    let mut switch = Switch::new(&program(), SwitchConfig::default()).expect("it compiles");
    switch.handle_packet(
        Instant::ZERO,
        1,
        Packet::new(vec![kind, port, 0, 0, 0, 0, 0, 0]),
    );
    assert_eq!(switch.poll_transmit(Instant::ZERO), None);
    let drops = switch.drops();
    let mut causes = DropCause::ALL
        .into_iter()
        .filter(|cause| drops.of(*cause) > 0);
    causes.next().expect("a cause")
}

#[test]
fn drops_are_counted_by_cause() {
    assert_eq!(dropped(0, 2), DropCause::Ingress);
    assert_eq!(dropped(2, 9), DropCause::NoMulticastGroup);
    assert_eq!(dropped(8, 2), DropCause::Egress);
    assert_eq!(dropped(9, 2), DropCause::UnknownPort);
}
