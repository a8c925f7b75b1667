//! A program of our own, through p4c and through our front end: the same packets, the same answers.

use engine::{CloneSession, Match, Packet, Replica, Switch, SwitchConfig};
use p4_frontend::{NoLoader, SourceMap};
use p4_ir::Program;
use proptest::prelude::*;
use stf::Script;
use units::Instant;

const SOURCE: &str = include_str!("config/relay.p4");
const CONFIG: &str = include_str!("config/relay.json");
const SCRIPT: &str = include_str!("config/relay.stf");

/// As p4c compiled it, and as our front end does.
fn both() -> [Program; 2] {
    let read = bmv2_json::read(CONFIG).unwrap_or_else(|error| panic!("{error}"));
    let mut sources = SourceMap::new();
    let entry = sources.add("relay.p4", SOURCE);
    let (compiled, diagnostics) = p4_frontend::compile(&mut sources, entry, &mut NoLoader, &[]);
    let compiled = compiled.unwrap_or_else(|| panic!("{}", diagnostics[0].message));
    [read, compiled]
}

#[test]
fn a_configuration_does_what_its_script_says() {
    let script = Script::parse(SCRIPT).unwrap_or_else(|errors| panic!("{}", errors[0]));
    for program in both() {
        let report = stf::run(&program, &script, stf::Ports::All);
        assert!(report.is_ok(), "{}: {report}", program.files[0]);
    }
}

#[test]
fn what_a_control_plane_sees_is_the_same() {
    let [read, compiled] = both();
    // p4c makes tables of statements between tables; these have no key.
    let tables = |program: &Program| -> Vec<_> {
        let named = program.tables.iter().filter(|t| !t.keys.is_empty());
        let mut all: Vec<_> = named
            .map(|t| {
                let keys = t.keys.iter().map(|k| (k.name.clone(), k.value.ty.width()));
                let actions = t.actions.iter().map(|a| program[a.action].name.clone());
                let entries = (t.entries.len(), t.const_entries, t.implementation.is_some());
                let keys: Vec<_> = keys.collect();
                let actions: Vec<_> = actions.collect();
                (t.name.clone(), keys.len(), actions, entries)
            })
            .collect();
        all.sort();
        all
    };
    assert_eq!(tables(&read), tables(&compiled));
    let objects = |program: &Program| -> Vec<_> {
        let mut all: Vec<_> = program.externs.iter().map(|o| o.name.clone()).collect();
        all.sort();
        all
    };
    assert_eq!(objects(&read), objects(&compiled));
    assert_eq!(read.value_sets[0].name, compiled.value_sets[0].name);
    assert_eq!(read.value_sets[0].size, compiled.value_sets[0].size);
}

#[test]
fn statements_say_where_they_stand_in_the_source() {
    let [read, _] = both();
    let table = read.tables.iter().find(|t| t.name == "Relaying.by_kind");
    let table = table.expect("it is there");
    let line = SOURCE.lines().position(|l| l.contains("table by_kind"));
    assert_eq!(read.files[table.loc.file as usize], "relay.p4");
    assert_eq!(table.loc.line as usize, line.expect("it is there") + 1);
}

/// A switch with an entry for each kind of frame.
fn switch(program: &Program) -> Switch {
    let mut switch = Switch::new(program, SwitchConfig::default()).expect("a v1model program");
    for (kind, labelled) in [(1u8, 1u8), (2, 0), (3, 0), (5, 0), (7, 1)] {
        let mut keys = vec![("hdr.frame.kind", Match::exact(kind))];
        let table = switch
            .program()
            .tables
            .iter()
            .find(|t| t.name.ends_with("by_kind"));
        let name = table.expect("it is there").keys[1].name.clone();
        keys.push((&name, Match::exact(labelled)));
        let args: &[(&str, _)] = &[("port", 2u8.into()), ("most", 5u8.into())];
        let (action, args) = match kind {
            2 => ("count", args),
            _ => ("send", &args[..1]),
        };
        let added = switch.add(
            "Relaying.by_kind",
            &keys,
            0,
            &format!("Relaying.{action}"),
            args,
        );
        added.unwrap_or_else(|error| panic!("{error}"));
    }
    let copy = CloneSession {
        replicas: vec![Replica { port: 6, rid: 0 }],
        truncate: None,
    };
    switch.set_clone_session(7, Some(copy)).expect("a session");
    switch
}

fn answers(switch: &mut Switch, packets: &[Vec<u8>]) -> Vec<(u16, Vec<u8>)> {
    let mut out = Vec::new();
    for (i, octets) in packets.iter().enumerate() {
        let now = Instant::from_micros(i as u64 * 1000);
        switch.handle_packet(now, 1, Packet::new(octets.clone()));
        while let Some(sent) = switch.poll_transmit(now) {
            out.push((sent.port, sent.packet.octets.into()));
        }
    }
    out
}

fn packet() -> impl Strategy<Value = Vec<u8>> {
    let kind = prop_oneof![0u8..8, any::<u8>()];
    let count = prop_oneof![0u8..10, any::<u8>()];
    let rest = proptest::collection::vec(any::<u8>(), 0..12);
    (kind, count, rest).prop_map(|(kind, count, rest)| [vec![kind, count], rest].concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_packets_are_answered_alike(packets in proptest::collection::vec(packet(), 1..12)) {
        let [read, compiled] = both();
        let expected = answers(&mut switch(&compiled), &packets);
        prop_assert_eq!(answers(&mut switch(&read), &packets), expected);
    }
}
