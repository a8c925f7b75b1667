//! A panic becomes a script that brings the same state about and sends the same packet.

mod support;

use engine::*;
use std::path::Path;
use stf::{Ports, Script};
use units::Instant;

/// Panics as the switch comes to the table `stage`.
#[derive(Debug)]
struct Saboteur;

impl Tracer for Saboteur {
    fn event(&mut self, _: Instant, _: u64, event: TraceEvent<'_>) {
        assert!(!matches!(event, TraceEvent::Table { .. }), "sabotage");
    }
}

fn program() -> p4_ir::Program {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    support::compile(&folder.join("state.p4")).unwrap_or_else(|why| panic!("{why}"))
}

/// A switch with some of everything that a control plane sets.
fn configured(program: &p4_ir::Program) -> Switch {
    let mut switch = Switch::new(program, SwitchConfig::default()).expect("a v1model program");
    let matches = [
        ("exact", Match::exact(0x12_u8)),
        ("lpm", Match::lpm(0xab00_u16, 8)),
        ("ternary", Match::ternary(0x1_u8, 0xf_u8)),
        ("range", Match::range(3_u8, 9_u8)),
    ];
    let args = [("port", 4_u8.into()), ("value", 0x77_u8.into())];
    switch.add("stage", &matches, 5, "send", &args).unwrap();
    let any = [("exact", Match::exact(0x13_u8))];
    switch.add("stage", &any, 4, "send", &args).unwrap();
    let args = [("port", 6_u8.into()), ("value", 0x66_u8.into())];
    switch.set_default_by_name("stage", "send", &args).unwrap();
    let id = switch.object("cells").unwrap();
    switch.register_write(id, 3, &0xabcd_u16.into()).unwrap();
    let replica = |port, rid| Replica { port, rid };
    let group = vec![replica(1, 7), replica(2, 8)];
    switch.set_multicast_group(9, group.clone()).unwrap();
    let session = |replicas| CloneSession {
        replicas,
        truncate: None,
    };
    let one = session(vec![replica(5, 0)]);
    switch.set_clone_session(3, Some(one)).unwrap();
    switch.set_clone_session(4, Some(session(group))).unwrap();
    switch
}

#[test]
fn the_script_has_the_state_and_the_packet() {
    let program = program();
    let mut switch = configured(&program);
    switch.set_tracer(Some(Box::new(Saboteur)));
    let octets = vec![0x12, 0xab, 0xcd, 0x21, 0x05, 0xee];
    switch.handle_packet(Instant::ZERO, 8, Packet::new(octets));
    let Some(Event::Panic(panic)) = switch.poll_event() else {
        panic!("the panic is reported");
    };
    let text = stf::reproduce(&switch, &panic);
    let expected = r#"# The engine panicked in ingress of state.p4: sabotage
add "Receive.stage" 4 "exact":0x12 "lpm":0xab00/8 "ternary":0x1&&&0xf "range":0x3->0x9 "Receive.send"("port":0x4, "value":0x77)
add "Receive.stage" 3 "exact":0x13 "Receive.send"("port":0x4, "value":0x77)
setdefault "Receive.stage" "Receive.send"("port":0x6, "value":0x66)
register_write "Receive.cells" 3 0xabcd
mc_mgrp_create 9
mc_node_create 7 1
mc_node_associate 9 0
mc_node_create 8 2
mc_node_associate 9 1
mirroring_add 3 5
mc_mgrp_create 65535
mc_node_create 7 1
mc_node_associate 65535 2
mc_node_create 8 2
mc_node_associate 65535 3
mirroring_add_mc 4 65535
packet 8 12abcd2105ee
"#;
    let folder = format!("{}/tests/programs/", env!("CARGO_MANIFEST_DIR"));
    assert_eq!(text.replace(&folder, ""), expected);

    // The same packet takes the same way after the script as in the switch.
    let script = Script::parse(&format!("{text}expect 4 77abcd2105ee abcd$"));
    let script = script.unwrap_or_else(|errors| panic!("{}", errors[0]));
    let report = stf::run(&program, &script, Ports::All);
    assert_eq!(report.failures, [], "{report}");
}
