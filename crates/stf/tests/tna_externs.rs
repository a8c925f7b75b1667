//! Externs of the Tofino Native Architectures: what packets do to them and they to packets.

mod support;

use engine::{
    ActionSpec, CounterData, DirectOf, Entry, EntryAction, Match, Packet, Switch, SwitchConfig,
};
use p4_ir::{ExternId, TableId};
use std::path::{Path, PathBuf};
use units::Instant;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/tna")
}

fn program(name: &str) -> p4_ir::Program {
    let program = support::compile(&folder().join(format!("{name}.p4")));
    program.unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn check(name: &str) {
    let text = std::fs::read_to_string(folder().join(format!("{name}.stf"))).expect("the script");
    let script = stf::Script::parse(&text).expect("the script parses");
    let report = stf::run(&program(name), &script, stf::Ports::All);
    assert_eq!(report.failures, [], "{name}: {report}");
}

#[test]
fn actions_run_on_a_cell_of_a_register() {
    check("registers");
}

#[test]
fn registers_of_tofino_2_are_queues_and_stacks() {
    check("queues");
}

#[test]
fn hashes_are_those_of_the_hash_matrix() {
    check("values");
}

#[test]
fn parsers_verify_checksums_and_deparsers_update_them() {
    check("checksums");
}

#[test]
fn a_meter_gives_the_colours_of_its_constructor() {
    check("counters");
}

/// Counts of packets and octets, first of a counter's cells, then of a table's entries.
#[test]
fn counters_count_where_an_action_calls_them() {
    let program = program("counters");
    let mut switch = Switch::new(&program, SwitchConfig::default()).expect("it compiles");
    let table = TableId(0);
    let entry = |index: u8, action| Entry {
        matches: vec![Match::exact(index)],
        priority: 0,
        action: EntryAction::Run(ActionSpec {
            action,
            args: Vec::new(),
        }),
    };
    for (index, listed) in (1..).zip(&program.tables[0].actions) {
        switch
            .insert(table, entry(index, listed.action))
            .expect("an entry");
    }
    let mut send = |kind: u8, index: u8| {
        let mut octets = vec![0; 20];
        octets[..2].copy_from_slice(&[kind, index]);
        switch.handle_packet(Instant::ZERO, 1, Packet::new(octets));
    };
    for (kind, index) in [
        (1, 2),
        (2, 2),
        (1, 4),
        (3, 1),
        (3, 1),
        (3, 2),
        (3, 3),
        (3, 4),
    ] {
        send(kind, index);
    }
    let objects = program.externs.iter();
    let counts = objects
        .clone()
        .position(|object| object.type_name == "Counter");
    let counts = ExternId(counts.expect("a counter") as u32);
    let of = |packets, octets| CounterData { packets, octets };
    assert_eq!(switch.counter_read(counts, 2), Ok(of(2, 20 + 6)));
    let hits = |index: u8| {
        let matches = [Match::exact(index)];
        switch.direct_counter_read(table, DirectOf::Entry(&matches, 0))
    };
    // The third action does not count, nor does the default.
    assert_eq!(hits(1), Ok(of(2, 40)));
    assert_eq!(hits(2), Ok(of(1, 16)));
    assert_eq!(hits(3), Ok(of(0, 0)));
    let missed = switch.direct_counter_read(table, DirectOf::Default);
    assert_eq!(missed, Ok(of(0, 0)));
}
