//! Packets that the packet generator makes: when, and what is in front of them.

use super::program;
use engine::{AppId, GeneratorApp, Packet, PortConfig, Switch, SwitchConfig, Transmit, Trigger};
use std::iter::from_fn;
use units::{Duration, Instant, Rate};

const PACKET: [u8; 4] = [0xaa, 0xbb, 0xcc, 0xdd];

fn switch(name: &str) -> Switch {
    Switch::new(&program(name), SwitchConfig::default()).expect("it compiles")
}

fn at(ns: u64) -> Instant {
    Instant::ZERO + Duration::from_nanos(ns)
}

/// One packet for each trigger.
fn one(trigger: Trigger) -> GeneratorApp {
    GeneratorApp {
        trigger,
        packet: PACKET.into(),
        batches: 1,
        packets: 1,
        packet_gap: Duration::ZERO,
        batch_gap: Duration::ZERO,
    }
}

/// What the switch sends until a time, polled as its clients do.
fn sent_until(switch: &mut Switch, end: Instant) -> Vec<Transmit> {
    let mut sent = Vec::new();
    while let Some(next) = switch.poll_timeout().filter(|&next| next <= end) {
        sent.extend(from_fn(|| switch.poll_transmit(next)));
    }
    sent
}

/// What the program saw in front of a packet: pipe, application, cause, number, and the port.
fn seen(sent: &Transmit) -> [u32; 5] {
    let octets = &sent.packet.octets;
    assert!(octets.ends_with(&PACKET), "{octets:x?}");
    let number = |from: usize, to: usize| {
        let octets = octets[from..to].iter();
        octets.fold(0, |value, octet| value << 8 | u32::from(*octet))
    };
    [
        number(0, 1),
        number(1, 2),
        number(2, 6),
        number(6, 8),
        number(8, 10),
    ]
}

#[test]
fn a_timer_begins_one_burst_of_batches() {
    for (name, port) in [("tna_generator.p4", 68), ("t2na_generator.p4", 6)] {
        let mut switch = switch(name);
        let app = GeneratorApp {
            batches: 2,
            packets: 3,
            packet_gap: Duration::from_nanos(10),
            batch_gap: Duration::from_nanos(100),
            ..one(Trigger::Once {
                after: Duration::from_micros(1),
            })
        };
        let id = AppId { pipe: 1, number: 1 };
        switch
            .set_generator_app(at(500), id, Some(app))
            .expect("an application");
        let sent = sent_until(&mut switch, at(1_000_000));
        let times: Vec<u64> = sent.iter().map(|sent| sent.start.as_nanos()).collect();
        assert_eq!(times, [1500, 1510, 1520, 1600, 1610, 1620], "{name}");
        let ids = sent.iter().map(seen);
        let expected = [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]];
        let expected = expected.map(|[batch, packet]| [1, 1, batch, packet, 128 + port]);
        assert_eq!(ids.collect::<Vec<_>>(), expected, "{name}");
        assert_eq!(switch.poll_timeout(), None);
    }
}

/// A batch whose packets take longer than the gap between batches delays the next.
#[test]
fn a_batch_begins_after_the_last_packet_of_the_one_before() {
    let mut switch = switch("tna_generator.p4");
    let app = GeneratorApp {
        batches: 2,
        packets: 2,
        packet_gap: Duration::from_nanos(10),
        batch_gap: Duration::from_nanos(5),
        ..one(Trigger::Once {
            after: Duration::ZERO,
        })
    };
    let id = AppId { pipe: 0, number: 1 };
    switch
        .set_generator_app(at(0), id, Some(app))
        .expect("an application");
    let sent = sent_until(&mut switch, at(1000));
    let times: Vec<u64> = sent.iter().map(|sent| sent.start.as_nanos()).collect();
    assert_eq!(times, [0, 10, 20, 30]);
}

/// A switch with an application that makes a packet every 100 ns.
fn periodic() -> (Switch, AppId) {
    let mut switch = switch("tna_generator.p4");
    let id = AppId { pipe: 0, number: 1 };
    let app = one(Trigger::Periodic {
        period: Duration::from_nanos(100),
    });
    switch
        .set_generator_app(at(0), id, Some(app))
        .expect("an application");
    (switch, id)
}

#[test]
fn a_periodic_timer_goes_on_until_its_application_is_removed() {
    let (mut switch, id) = periodic();
    let sent = sent_until(&mut switch, at(350));
    let times: Vec<u64> = sent.iter().map(|sent| sent.start.as_nanos()).collect();
    assert_eq!(times, [100, 200, 300]);
    // What was due by then is sent; nothing follows.
    switch.set_generator_app(at(420), id, None).expect("none");
    let sent = sent_until(&mut switch, at(2000));
    let times: Vec<u64> = sent.iter().map(|sent| sent.start.as_nanos()).collect();
    assert_eq!(times, [400]);
}

/// A client that polls late gets the same packets at the same times, in their order with those of a line.
#[test]
fn generated_packets_take_turns_with_others_in_order_of_time() {
    let times = |poll_early: bool| {
        let mut switch = switch("tna_generator.p4");
        let slow = PortConfig {
            rate: Rate::from_bps(112_000_000),
            ..PortConfig::default()
        };
        switch.set_port(2, slow);
        let id = AppId { pipe: 0, number: 1 };
        let app = one(Trigger::Periodic {
            period: Duration::from_nanos(600),
        });
        switch
            .set_generator_app(at(0), id, Some(app))
            .expect("an application");
        let mut sent = Vec::new();
        if poll_early {
            sent.extend(sent_until(&mut switch, at(1900)));
        }
        switch.handle_packet(at(2000), 1, Packet::new(vec![0xff; 20]));
        sent.extend(sent_until(&mut switch, at(4000)));
        let sent = sent.iter().map(|sent| (sent.port, sent.start.as_nanos()));
        sent.collect::<Vec<_>>()
    };
    // 14 octets take 1 µs.
    let expected = [(2, 600), (2, 1600), (3, 2000), (2, 2600), (2, 3600)];
    assert_eq!(times(true), expected);
    assert_eq!(times(false), expected);
}

#[test]
fn a_port_that_goes_down_triggers_the_generator_of_its_pipe() {
    for name in ["tna_generator.p4", "t2na_generator.p4"] {
        let mut switch = switch(name);
        let id = AppId { pipe: 1, number: 2 };
        let app = one(Trigger::PortDown);
        switch
            .set_generator_app(at(0), id, Some(app))
            .expect("an application");
        switch.port_down(at(10), 5);
        switch.port_down(at(20), 133);
        let sent = sent_until(&mut switch, at(1000));
        let [sent] = &sent[..] else {
            panic!("{name}: {sent:?}");
        };
        assert_eq!(sent.start, at(20));
        assert_eq!(seen(sent)[..4], [1, 2, 133, 0], "{name}");
    }
}

#[test]
fn a_recirculated_packet_with_the_pattern_triggers_the_generator() {
    let from_first_octets = |name: &str, mask: u128, value: u128| {
        let mut switch = switch(name);
        let id = AppId { pipe: 0, number: 3 };
        let app = one(Trigger::Recirculated { value, mask });
        switch
            .set_generator_app(at(0), id, Some(app))
            .expect("an application");
        let mut octets: Vec<u8> = (0..20).map(|n| 0xe0 + n).collect();
        // The program's parser does not treat it as a generated packet.
        octets[0] = 0xff;
        switch.handle_packet(at(100), 1, Packet::new(octets));
        sent_until(&mut switch, at(1000))
    };
    let ports = |sent: &[Transmit]| sent.iter().map(|sent| sent.port).collect::<Vec<_>>();

    let sent = from_first_octets("tna_generator.p4", 0xff00_ffff << 96, 0xff00_e2e3 << 96);
    assert_eq!(ports(&sent), [3, 2]);
    // The three last octets of the pattern's four.
    assert_eq!(seen(&sent[1]), [0, 3, 0x00e1_e2e3, 0, 68]);
    let others = from_first_octets("tna_generator.p4", 0xff00_ffff << 96, 0xff00_e2e4 << 96);
    assert_eq!(ports(&others), [3]);

    let pattern = 0xe2e3 << 96;
    let sent = from_first_octets("t2na_generator.p4", 0xffff << 96, pattern);
    assert_eq!(ports(&sent), [3, 2]);
    assert_eq!(seen(&sent[1]), [0, 3, 0, 0, 6]);
    // The pattern's sixteen octets follow the generator's header.
    let context: Vec<u8> = [0xff]
        .into_iter()
        .chain((1..16).map(|n| 0xe0 + n))
        .collect();
    assert_eq!(sent[1].packet.octets[10..26], context);
}

const CONTEXT: [u8; 16] = [0xc0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0xcf];

/// A packet that asks for a part of the packet of application 4.
fn asking(line: u16, octets: u16) -> Packet {
    let mut packet = vec![0xd5];
    packet.extend(line.to_be_bytes());
    packet.extend(octets.to_be_bytes());
    packet.extend(CONTEXT);
    Packet::new(packet)
}

/// What is sent after a packet that asks in pipe 0, with this mask of the context's last octet.
fn after_asking(wanted: u8, pipe: u8, line: u16, octets: u16) -> Vec<Transmit> {
    let mut switch = switch("t2na_generator.p4");
    let app = GeneratorApp {
        packet: (0..40).collect(),
        batches: 2,
        packets: 2,
        packet_gap: Duration::from_nanos(10),
        batch_gap: Duration::from_nanos(100),
        ..one(Trigger::Deparser {
            value: wanted.into(),
            mask: 0xff,
        })
    };
    let id = AppId { pipe, number: 4 };
    switch
        .set_generator_app(at(0), id, Some(app))
        .expect("an application");
    switch.handle_packet(at(50), 1, asking(line, octets));
    sent_until(&mut switch, at(10_000))
}

#[test]
fn a_deparser_asks_for_packets_with_its_context() {
    let sent = after_asking(0xcf, 0, 0, 40);
    let [own, generated @ ..] = &sent[..] else {
        panic!("nothing is sent");
    };
    // The packet that asks goes on as it would.
    assert_eq!((own.port, &own.packet.octets), (3, &asking(0, 40).octets));
    let times: Vec<u64> = generated.iter().map(|sent| sent.start.as_nanos()).collect();
    assert_eq!(times, [51, 61, 151, 161]);
    let whole: Vec<u8> = (0..40).collect();
    for (sent, [batch, packet]) in generated.iter().zip([[0, 0], [0, 1], [1, 0], [1, 1]]) {
        let octets = &sent.packet.octets;
        assert_eq!(octets[..10], [0, 4, 0, 0, 0, batch, 0, packet, 0, 6]);
        assert_eq!(octets[10..26], CONTEXT);
        assert_eq!(octets[26..], whole);
    }
}

#[test]
fn a_deparser_says_which_part_of_the_packet_is_sent() {
    let parts = |line, octets| {
        let sent = after_asking(0xcf, 0, line, octets);
        let parts = sent[1..]
            .iter()
            .map(|sent| sent.packet.octets[26..].to_vec());
        parts.collect::<Vec<_>>()
    };
    let from_16: Vec<u8> = (16..26).collect();
    assert_eq!(parts(1, 10), vec![from_16; 4]);
    // The buffer is empty behind the packet, and has 1024 lines.
    let mut to_the_end: Vec<u8> = (32..40).collect();
    to_the_end.extend([0, 0]);
    assert_eq!(parts(2, 10), vec![to_the_end; 4]);
    assert_eq!(parts(1024 + 3, 3), vec![vec![0; 3]; 4]);
    assert_eq!(parts(0, 0), Vec::<Vec<u8>>::new());
}

#[test]
fn a_context_without_the_pattern_and_another_pipe_ask_for_nothing() {
    for (wanted, pipe) in [(0xce, 0), (0xcf, 1)] {
        let sent = after_asking(wanted, pipe, 0, 40);
        assert_eq!(sent.len(), 1);
        assert_eq!(sent[0].port, 3);
    }
}

#[test]
fn an_egress_deparser_that_asks_for_packets_is_refused() {
    let path = super::folder().join("generator.p4");
    let text = std::fs::read_to_string(path).expect("it is there");
    let (ingress, egress) = text.split_at(text.find("parser EgressParser").expect("egress"));
    let egress = egress.replacen(
        "{\n    apply { packet.emit(hdr); }",
        "{\n    Pktgen() generator;\n    apply { generator.emit(md.asked); packet.emit(hdr); }",
        1,
    );
    let text = format!("#include <t2na.p4>\n{ingress}{egress}");
    let program = super::support::compile_text("egress.p4", &text, &[]).expect("it compiles");
    let errors = Switch::new(&program, SwitchConfig::default()).expect_err("it is refused");
    let wanted = "`Pktgen.emit` is in an egress deparser; only an ingress deparser can ask the packet generator for packets";
    assert_eq!(errors[0].message, wanted);
    let line = text
        .lines()
        .position(|line| line.contains("generator.emit(md.asked); packet"));
    assert_eq!(Some(errors[0].loc.line as usize), line.map(|line| line + 1));
}

/// Packets of the generator that ask for packets again go on for ever, but leave time for others.
#[test]
fn generated_packets_that_ask_again_do_not_stop_the_clock() {
    let text = "for_tm.ucast_egress_port = 2;";
    let path = super::folder().join("generator.p4");
    let program = std::fs::read_to_string(path).expect("it is there");
    let asks = "for_deparser.pktgen = 1; for_deparser.pktgen_length = 4;";
    let program = program.replacen(text, &format!("{text} {asks}"), 1);
    let program = format!("#include <t2na.p4>\n{program}");
    let program = super::support::compile_text("asks.p4", &program, &[]).expect("it compiles");
    let mut switch = Switch::new(&program, SwitchConfig::default()).expect("it compiles");
    let app = one(Trigger::Deparser { value: 0, mask: 0 });
    let id = AppId { pipe: 0, number: 4 };
    switch
        .set_generator_app(at(0), id, Some(app))
        .expect("an application");
    switch.handle_packet(at(0), 1, asking(0, 4));
    let sent = sent_until(&mut switch, at(100));
    assert_eq!(sent.len(), 1 + 100);
}

/// Only ingress decides where a generated packet goes, so that a caller who asks for the next port has it run.
#[test]
fn the_next_port_is_that_of_a_generated_packet() {
    let (mut switch, _) = periodic();
    assert_eq!(switch.next_port(at(99)), None);
    assert_eq!(switch.next_port(at(100)), Some(2));
    let sent = sent_until(&mut switch, at(250));
    let times: Vec<u64> = sent.iter().map(|sent| sent.start.as_nanos()).collect();
    assert_eq!(times, [100, 200]);
}

/// Packets that take their time in the generator wait for each other; triggers beyond a number of bursts begin none.
#[test]
fn packets_and_bursts_of_the_generator_are_bounded() {
    let config = SwitchConfig {
        generator_packet_time: Duration::from_nanos(10),
        ..SwitchConfig::default()
    };
    let mut switch = Switch::new(&program("tna_generator.p4"), config).expect("it compiles");
    let id = AppId { pipe: 0, number: 2 };
    let app = one(Trigger::PortDown);
    switch
        .set_generator_app(at(0), id, Some(app))
        .expect("an application");
    for _ in 0..2000 {
        switch.port_down(at(0), 5);
    }
    let sent = sent_until(&mut switch, at(1_000_000));
    let times = sent.iter().map(|sent| sent.start.as_nanos());
    let expected = (0..1025).map(|packet| packet * 10);
    assert_eq!(times.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
}

#[test]
fn what_the_generator_does_not_have_is_refused() {
    let mut switch = switch("tna_generator.p4");
    let first = AppId { pipe: 0, number: 0 };
    let timer = || {
        one(Trigger::Periodic {
            period: Duration::from_nanos(5),
        })
    };
    let refused = [
        (AppId { pipe: 4, number: 0 }, timer(), "a pipe from 0 to 3"),
        (
            AppId { pipe: 0, number: 8 },
            timer(),
            "an application from 0 to 7",
        ),
        (
            first,
            GeneratorApp {
                packet: vec![0; 16_385],
                ..timer()
            },
            "a packet of 1 to 16384 octets, found one of 16385",
        ),
        (
            first,
            GeneratorApp {
                batches: 0,
                ..timer()
            },
            "1 to 65536 batches, found 0",
        ),
        (
            first,
            GeneratorApp {
                packets: 65_537,
                ..timer()
            },
            "1 to 65536 packets per batch, found 65537",
        ),
        (
            first,
            GeneratorApp {
                packets: 3,
                packet_gap: Duration::from_nanos(3),
                ..timer()
            },
            "that a burst",
        ),
        (
            first,
            one(Trigger::Recirculated {
                value: 0,
                mask: 1 << 95,
            }),
            "a pattern of 4 octets",
        ),
    ];
    let deparser = one(Trigger::Deparser { value: 0, mask: 0 });
    let refused = refused.into_iter().chain([(
        first,
        deparser,
        "another trigger: a deparser of Tofino 1 cannot ask for packets",
    )]);
    for (id, app, expected) in refused {
        let refused = switch.set_generator_app(at(0), id, Some(app)).unwrap_err();
        assert!(
            refused.to_string().contains(expected),
            "{expected}: {refused}"
        );
    }
    assert_eq!(switch.poll_timeout(), None);

    let other = std::path::Path::new("tests/programs/tofino_time.p4");
    let other = super::support::compile(other).expect("a v1model program");
    let mut other = Switch::new(&other, SwitchConfig::default()).expect("it compiles");
    let refused = other
        .set_generator_app(at(0), first, Some(timer()))
        .unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("a program for tna.p4 or t2na.p4"),
        "{refused}"
    );
}

/// Each generated packet recirculates, and begins the next burst a nanosecond later.
#[test]
fn packets_that_trigger_the_generator_again_take_time() {
    let text = std::fs::read_to_string(super::folder().join("generator.p4")).expect("it is there");
    let again = "for_tm.ucast_egress_port = RECIRCULATION_PORT;";
    let text = text.replace("hdr.recirculated.setInvalid();", again);
    let text = format!("#include <tna.p4>\n{text}");
    let program = super::support::compile_text("again.p4", &text, &[]).expect("it compiles");
    let mut switch = Switch::new(&program, SwitchConfig::default()).expect("it compiles");
    let every = Trigger::Recirculated { value: 0, mask: 0 };
    let id = AppId { pipe: 0, number: 3 };
    switch
        .set_generator_app(at(0), id, Some(one(every)))
        .expect("an application");
    switch.handle_packet(at(100), 1, Packet::new(vec![0xff; 20]));
    let sent = sent_until(&mut switch, at(200));
    assert_eq!(sent.len(), 1 + 100);
}
