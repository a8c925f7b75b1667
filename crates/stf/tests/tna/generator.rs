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
        // The program's parser does not take it for a generated packet.
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
