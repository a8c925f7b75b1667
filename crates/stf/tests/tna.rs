//! Paths and metadata of the Tofino Native Architectures.

#[path = "tna/generator.rs"]
mod generator;
#[path = "tna/queue.rs"]
mod queue;
#[path = "tna/refused.rs"]
mod refused;
mod support;
#[path = "tna/testgen.rs"]
mod testgen;

use engine::{CPU_PORT, DropCause, Packet, PortConfig, Switch, SwitchConfig};
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
    // `drop_ctl` has a separate bit for the copy.
    assert_eq!(sent(17, &[(CPU_PORT, 64)]), [(64, 2)]);
}

/// The program of `paths.p4` with something in front of a statement of ingress.
fn edited(architecture: &str, at: &str, insert: &str) -> p4_ir::Program {
    let text = std::fs::read_to_string(folder().join("paths.p4")).expect("it is there");
    let text = text.replacen(at, &format!("{insert} {at}"), 1);
    let text = format!("#include <{architecture}>\n{text}");
    support::compile_text("edited.p4", &text, &[]).expect("it compiles")
}

/// Runs a script on a switch with ports 1 to 3 only.
fn check_with_three_ports(program: &p4_ir::Program, script: &str) {
    let config = SwitchConfig {
        ports: (1..=3).map(|port| (port, PortConfig::default())).collect(),
        other_ports: None,
        ..SwitchConfig::default()
    };
    let switch = Switch::new(program, config).expect("it compiles");
    let script = stf::Script::parse(script).expect("the script parses");
    let report = stf::run_on(switch, &script, stf::Ports::All).report;
    assert_eq!(report.failures, [], "{report}");
}

#[test]
fn copies_are_recirculated() {
    for (architecture, port) in [("tna.p4", 68), ("t2na.p4", 6)] {
        let ends = format!("if (intrinsic.ingress_port == {port}) {{ hdr.op.kind = 1; }}");
        let program = edited(architecture, "hdr.bridge = { hdr.op.kind", &ends);
        let script = format!(
            "mirroring_add 5 {port}
            packet 1 0c 02 00 00 0000 9999 88
            expect 2 0c 02 02 00 0000 0001 88 $
            expect 2 01 02 02 00 0000 00{port:02x} 88 $
            mc_mgrp_create 3
            mc_node_create 21 {port}
            mc_node_associate 3 0
            packet 1 03 03 00 00 0000 0000
            expect 3 01 03 03 00 0000 00{port:02x} $"
        );
        check_with_three_ports(&program, &script);
    }
}

#[test]
fn the_length_of_a_mirrored_packet_includes_the_mirror_header() {
    let reads = "if (intrinsic.egress_port == 3) { hdr.op.value = intrinsic.pkt_length; }";
    let program = edited("tna.p4", "hdr.bridge.setInvalid();", reads);
    // Nine octets, three of the header, and four of the check sequence.
    let script = "mirroring_add 5 3
        packet 1 0e 02 00 00 0000 9999 88
        expect 2 0e 02 02 00 0000 0001 88 $
        expect 3 0e 02 03 00 0000 0010 88 $";
    check_with_three_ports(&program, script);
}

#[test]
fn mirrored_packets_have_the_fields_of_an_invalid_header() {
    let text = std::fs::read_to_string(folder().join("paths.p4")).expect("it is there");
    let fields = "hdr.bridge = { MIRRORED, 0x8765 }; for_deparser.mirror_type = 2;";
    let text = text.replacen("for_deparser.mirror_type = 2;", fields, 1);
    let text = text.replacen("{ MIRRORED, 0x4321 }", "hdr.bridge", 1);
    let text = format!("#include <tna.p4>\n{text}");
    let program = support::compile_text("edited.p4", &text, &[]).expect("it compiles");
    let script = "mirroring_add 5 3
        packet 1 0e 02 00 00 0000 9999 88
        expect 2 0e 02 02 00 0000 0001 88 $
        expect 3 0e 02 03 00 0000 8765 88 $";
    check_with_three_ports(&program, script);
}

#[test]
fn what_the_switch_does_not_have_is_refused() {
    for (field, wanted) in [
        (
            "adv_flow_ctl",
            "the switch does not have advanced flow control",
        ),
        (
            "pktgen",
            "the ingress deparser has no `Pktgen.emit(context)`, whose context the generator's packets have",
        ),
    ] {
        let asks = format!("for_deparser.{field} = 1;");
        let program = edited("t2na.p4", "hdr.bridge.setValid();", &asks);
        let errors = Switch::new(&program, SwitchConfig::default()).expect_err("it is refused");
        let expected = format!("`{field}` is set, but {wanted}");
        assert_eq!(errors[0].message, expected);
        assert!(errors[0].loc.line > 0);
    }
}

#[test]
fn ingress_gets_a_packet_with_errors_if_it_reads_them() {
    let reads = "hdr.bridge.value = from_parser.parser_err;
                 for_tm.ucast_egress_port = 3;
                 for_tm.bypass_egress = 1;";
    let program = edited("tna.p4", "if (hdr.op.kind == 2) {", reads);
    let mut switch = Switch::new(&program, SwitchConfig::default()).expect("it compiles");
    let mut sent = |packet: &[u8]| {
        switch.handle_packet(Instant::ZERO, 1, Packet::new(packet.to_vec()));
        let sent = switch.poll_transmit(Instant::ZERO)?;
        Some((sent.port, sent.packet.octets.into()))
    };
    // It ends within the header, so that all of it is payload behind the bridged header.
    assert_eq!(sent(&[1, 2]), Some((3, vec![0, 0, 2, 1, 2])));
    // No transition takes this one: it is dropped in any case.
    assert_eq!(sent(&[0x81, 2, 0, 0, 0, 0, 0, 0]), None);
}

/// The fate of a packet of some kind for a port.
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
