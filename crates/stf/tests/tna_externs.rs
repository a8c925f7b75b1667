//! Externs of the Tofino Native Architectures: what packets do to them and they to packets.

mod support;

use engine::{
    ActionSpec, CounterData, DirectOf, Entry, EntryAction, FilterConfig, Match, Packet, Switch,
    SwitchConfig,
};
use p4_ir::{ExternId, TableId};
use std::path::{Path, PathBuf};
use units::{Duration, Instant};

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
fn each_call_decides_the_type_of_an_index_that_is_left_open() {
    check("open_index");
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
fn a_symmetric_hash_does_not_depend_on_the_order_of_a_pair() {
    check("symmetric");
}

#[test]
fn a_pair_that_the_hash_s_data_do_not_have_is_refused() {
    let path = folder().join("symmetric.p4");
    let text = std::fs::read_to_string(&path).expect("the program");
    let names = r#""hdr.op.a", "hdr.op.b""#;
    for (pair, wanted) in [
        (
            r#""hdr.op.a", "hdr.op.kind""#,
            "@symmetric: `hdr.op.kind` is not once in the hash's data; they are hdr.op.index, hdr.op.a, hdr.op.c, hdr.op.b",
        ),
        (
            r#""hdr.op.a", "hdr.op.index""#,
            "@symmetric: `hdr.op.a` and `hdr.op.index` must have one type, bit<W> or int<W>",
        ),
        (
            r#""hdr.op.a", "hdr.op.a""#,
            "@symmetric: `hdr.op.a` is in two pairs, or paired with itself",
        ),
        (
            r#""hdr.op.a""#,
            r#"@symmetric needs two names of fields: @symmetric("a", "b")"#,
        ),
    ] {
        let edited = text.replace(names, pair);
        assert_ne!(edited, text);
        let options = [];
        let path = path.to_str().expect("it is text");
        let program = support::compile_text(path, &edited, &options).expect("it compiles");
        let errors = Switch::new(&program, SwitchConfig::default()).expect_err("it is refused");
        assert_eq!(errors[0].message, wanted);
        assert_eq!(errors[0].loc.line, 13);
    }
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
    // With the check sequence: 24 octets, of which some actions subtract 14 or 4.
    assert_eq!(switch.counter_read(counts, 2), Ok(of(2, 24 + 10)));
    let hits = |index: u8| {
        let matches = [Match::exact(index)];
        switch.direct_counter_read(table, DirectOf::Entry(&matches, 0))
    };
    // The third action does not count, nor does the default.
    assert_eq!(hits(1), Ok(of(2, 48)));
    assert_eq!(hits(2), Ok(of(1, 20)));
    assert_eq!(hits(3), Ok(of(0, 0)));
    let missed = switch.direct_counter_read(table, DirectOf::Default);
    assert_eq!(missed, Ok(of(0, 0)));
}

/// A packet's number goes through a low-pass filter with a time constant of 100 µs and of 50 µs downwards: 1 − 1/e of a
/// step is passed after one of these. The direct one of the entry is a sum. Early drops begin at 10 and are certain at 20.
#[test]
fn filters_work_on_a_packet_s_number_as_they_are_configured() {
    let program = program("filters");
    let mut switch = Switch::new(&program, SwitchConfig::default()).expect("it compiles");
    let number = |name: &str| {
        let mut objects = program.externs.iter();
        let number = objects.position(|object| object.type_name == name);
        ExternId(number.expect("the object") as u32)
    };
    let us = Duration::from_micros;
    let average = FilterConfig::Average {
        rise: us(100),
        fall: us(50),
        shift: 0,
    };
    let sum = FilterConfig::Sum {
        fall: us(100),
        shift: 0,
    };
    let drops = FilterConfig::EarlyDrop {
        constant: Duration::ZERO,
        low: 10.0,
        high: 20.0,
        most: 0.0,
    };
    let entry = Entry {
        matches: vec![Match::exact(1_u8)],
        priority: 0,
        action: EntryAction::Run(ActionSpec {
            action: program.tables[0].actions[0].action,
            args: Vec::new(),
        }),
    };
    switch.insert(TableId(0), entry).expect("an entry");
    let send = |switch: &mut Switch, at: u64, kind: u8, value: u32| {
        let now = Instant::from_micros(at);
        let mut octets = vec![0; 14];
        octets[..2].copy_from_slice(&[kind, 1]);
        octets[2..6].copy_from_slice(&value.to_be_bytes());
        switch.handle_packet(now, 1, Packet::new(octets));
        let sent = switch.poll_transmit(now).expect("it is sent").packet.octets;
        u32::from_be_bytes(sent[10..14].try_into().expect("four octets"))
    };
    let unconfigured = [1, 2, 3].map(|kind| send(&mut switch, 0, kind, 1000));
    assert_eq!(unconfigured, [1000, 1000, 7]);

    let (lpf, wred) = (number("Lpf"), number("Wred"));
    switch.filter_write(lpf, 1, Some(average)).expect("a cell");
    switch.filter_write(wred, 1, Some(drops)).expect("a cell");
    let matches = [Match::exact(1_u8)];
    let of_entry = DirectOf::Entry(&matches, 0);
    switch
        .direct_filter_write(TableId(0), of_entry, Some(sum))
        .expect("a filter");
    let passed =
        [(0, 1000), (100, 1000), (150, 0)].map(|(at, value)| send(&mut switch, at, 1, value));
    assert_eq!(passed, [0, 632, 232]);
    let sums =
        [(150, 500), (150, 500), (250, 0)].map(|(at, value)| send(&mut switch, at, 2, value));
    assert_eq!(sums, [500, 1000, 367]);
    // `most` is 0, so that no number between the thresholds is dropped.
    let kept = [(250, 9), (250, 19), (250, 20)].map(|(at, value)| send(&mut switch, at, 3, value));
    assert_eq!(kept, [7, 7, 9]);

    let beyond = switch.filter_write(lpf, 4, None).unwrap_err().to_string();
    assert!(beyond.contains("4"), "{beyond}");
    let wrong = FilterConfig::EarlyDrop {
        constant: Duration::ZERO,
        low: 20.0,
        high: 10.0,
        most: 0.5,
    };
    let refused = switch.filter_write(wred, 1, Some(wrong)).unwrap_err();
    let expected = "0 ≤ low ≤ high";
    assert!(refused.to_string().contains(expected), "{refused}");

    // Each kind of filter has its own configurations.
    let other_kinds = [
        switch.filter_write(lpf, 1, Some(drops)),
        switch.filter_write(wred, 1, Some(average)),
        switch.direct_filter_write(TableId(0), DirectOf::Default, Some(drops)),
    ];
    let told = other_kinds.map(|refused| refused.unwrap_err().to_string());
    assert!(
        told[0].ends_with("expected an Average or a Sum, for a low-pass filter, found EarlyDrop"),
        "{}",
        told[0]
    );
    assert!(
        told[1].ends_with("expected EarlyDrop, for random early drops, found an Average"),
        "{}",
        told[1]
    );
    assert!(told[2].starts_with("direct filter of table"), "{}", told[2]);
}
