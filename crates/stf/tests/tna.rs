//! Paths and metadata of the Tofino Native Architectures.

#[path = "tna/queue.rs"]
mod queue;
mod support;
#[path = "tna/testgen.rs"]
mod testgen;

use engine::{CPU_PORT, DropCause, Packet, Switch, SwitchConfig};
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

#[test]
fn a_copy_goes_to_the_cpu_where_its_port_is_configured() {
    let sent = |kind: u8, options: &[(&'static str, u64)]| {
        let config = SwitchConfig {
            options: options.iter().copied().collect(),
            ..SwitchConfig::default()
        };
        let mut switch = Switch::new(&program("tna.p4"), config).expect("it compiles");
        let packet = Packet::new(vec![kind, 2, 0, 0, 0, 0, 0, 0]);
        switch.handle_packet(Instant::ZERO, 1, packet);
        let sent = std::iter::from_fn(|| switch.poll_transmit(Instant::ZERO));
        // The egress port, and the class of service in the flags.
        let sent = sent.map(|sent| (sent.port, sent.packet.octets[3] >> 3));
        sent.collect::<Vec<_>>()
    };
    assert_eq!(sent(16, &[(CPU_PORT, 64)]), [(2, 0), (64, 2)]);
    assert_eq!(sent(16, &[]), [(2, 0)]);
    // `drop_ctl` has a bit of its own for the copy.
    assert_eq!(sent(17, &[(CPU_PORT, 64)]), [(64, 2)]);
}

#[test]
fn what_the_switch_does_not_have_is_refused() {
    let text = std::fs::read_to_string(folder().join("paths.p4")).expect("it is there");
    let at = "hdr.bridge.setValid();";
    let asks = |field: &str| text.replacen(at, &format!("{at} for_deparser.{field} = 1;"), 1);
    let folder = std::env::temp_dir().join(format!("waymark-tna-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    for (field, wanted) in [
        ("adv_flow_ctl", "advanced flow control"),
        ("pktgen", "a packet generator"),
    ] {
        let path = folder.join(format!("{field}.p4"));
        std::fs::write(&path, format!("#include <t2na.p4>\n{}", asks(field))).expect("a file");
        let program = support::compile(&path).expect("the front end takes it");
        let errors = Switch::new(&program, SwitchConfig::default()).expect_err("it is refused");
        let expected = format!("`{field}` is set, but the switch does not have {wanted}");
        assert_eq!(errors[0].message, expected);
        assert!(errors[0].loc.line > 0);
    }
    std::fs::remove_dir_all(folder).expect("it was made here");
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
