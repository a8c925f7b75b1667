//! What happens to packets around the blocks: drops, copies, restarts, lengths.

mod support;

use p4_ir::*;
use std::collections::BTreeMap;
use support::*;
use units::Instant;
use v1model::*;

fn session(port: u16, rid: u16) -> Option<CloneSession> {
    Some(CloneSession {
        replicas: vec![Replica { port, rid }],
        truncate: None,
    })
}

/// Switches go to other threads, one run on each.
#[test]
fn switches_can_be_sent() {
    fn sendable<T: Send>() {}
    sendable::<Switch>();
    sendable::<std::sync::Arc<Pipeline>>();
}

#[test]
fn unicast_keeps_the_payload() {
    let build = Build::default().ingress(vec![to_port(3), set(bits(A, 16), num(0xbeef, 16))]);
    let mut switch = build.switch();
    let sent = send(&mut switch, 5, packet(1, 2, 3, b"payload"));
    assert_eq!(all(&sent), [(3, 0xbeef, 2, 3)]);
    assert_eq!(&sent[0].packet.octets[5..], b"payload");
    assert_eq!(sent[0].packet.link_octets, 12);
    assert_eq!(switch.port_stats(3).tx_packets, 1);
    assert_eq!(switch.port_stats(7).rx_octets, 12);
}

#[test]
fn a_short_packet_reaches_ingress_with_its_error() {
    let error = meta("parser_error");
    let build = Build::default().ingress(vec![
        stmt(StmtKind::SetValidity {
            header: H.at(),
            valid: true,
        }),
        set(
            bits(A, 16),
            Expr {
                kind: ExprKind::Cast(Box::new(load(&error))),
                ty: Scalar::Bit(16),
            },
        ),
    ]);
    let sent = send(&mut build.switch(), 0, Packet::new(vec![9, 9, 9]));
    // PacketTooShort is 1; nothing was extracted, so the three octets are payload.
    assert_eq!(sent[0].packet.octets, [0, 1, 0, 0, 0, 9, 9, 9]);
    assert_eq!(sent[0].packet.link_octets, 8);
}

#[test]
fn a_buffer_of_the_switch_has_room_for_longer_headers() {
    let build = Build::default().ingress(vec![stmt(StmtKind::SetValidity {
        header: H.at(),
        valid: true,
    })]);
    let mut switch = build.switch();
    // The second time it is the first packet's.
    for _ in 0..2 {
        let mut octets = switch.buffer();
        octets.extend_from_slice(&[9, 9, 9]);
        let payload = octets.as_ptr();
        let mut sent = send(&mut switch, 0, Packet::new(octets));
        let packet = sent.remove(0).packet;
        assert_eq!(packet.octets[5..], [9, 9, 9]);
        assert_eq!(packet.octets[5..].as_ptr(), payload, "it has not moved");
        switch.recycle(packet);
    }
}

#[test]
fn elided_payload_is_parsed_as_zeros_and_stays_elided() {
    let build = Build::default().ingress(vec![set(bits(C, 8), num(1, 8))]);
    let packet = Packet {
        octets: vec![1, 2].into(),
        elided: 10,
        link_octets: 1000,
        tag: 5,
    };
    let sent = send(&mut build.switch(), 0, packet);
    let expected = Packet {
        octets: vec![1, 2, 0, 0, 1].into(),
        elided: 7,
        link_octets: 1000,
        tag: 5,
    };
    assert_eq!(sent[0].packet, expected);
}

#[test]
fn every_drop_has_its_cause() {
    let drop = call("mark_to_drop", None, vec![]);
    let build = Build::default()
        .ingress(vec![
            when(
                binary(BinaryOp::Eq, load(&bits(A, 16)), num(1, 16)),
                vec![drop.clone()],
            ),
            when(
                binary(BinaryOp::Eq, load(&bits(A, 16)), num(2, 16)),
                vec![set(meta("mcast_grp"), num(9, 16))],
            ),
            when(
                binary(BinaryOp::Eq, load(&bits(A, 16)), num(3, 16)),
                vec![to_port(8)],
            ),
            when(
                binary(BinaryOp::Eq, load(&bits(A, 16)), num(4, 16)),
                vec![set(meta("priority"), num(5, 3))],
            ),
            when(
                binary(BinaryOp::Eq, load(&bits(A, 16)), num(6, 16)),
                vec![call(
                    "assert",
                    None,
                    vec![Arg::In(Expr::constant(0u8, Scalar::Bool))],
                )],
            ),
        ])
        .egress(vec![when(
            binary(BinaryOp::Eq, load(&bits(A, 16)), num(5, 16)),
            vec![drop],
        )]);
    let config = SwitchConfig {
        other_ports: None,
        report_drops: true,
        ..SwitchConfig::default()
    };
    let mut switch = build.switch_with(config);
    switch.set_port(
        0,
        PortConfig {
            queues: 2,
            ..PortConfig::default()
        },
    );
    for a in 1..=6 {
        assert_eq!(send(&mut switch, 0, packet(a, 0, 0, &[])), []);
    }
    use DropCause::*;
    let causes = [
        Ingress,
        NoMulticastGroup,
        UnknownPort,
        UnknownQueue,
        Egress,
        Assert,
    ];
    let ports = [7, 7, 8, 0, 0, 7];
    for (cause, port) in causes.into_iter().zip(ports) {
        let expected = Drop {
            at: Instant::ZERO,
            cause,
            port,
            tag: 0,
        };
        assert_eq!(switch.poll_event(), Some(Event::Drop(expected)));
        assert_eq!(switch.drops().of(cause), 1);
        assert_eq!(switch.port_stats(port).drops.of(cause), 1);
    }
    assert_eq!(switch.drops().total(), 6);
}

#[test]
fn the_drop_port_is_an_option() {
    let when_a = |a: u64, statement| {
        when(
            binary(BinaryOp::Eq, load(&bits(A, 16)), num(a, 16)),
            vec![statement],
        )
    };
    let build = Build::default()
        .ingress(vec![
            to_port(511),
            when_a(1, to_port(9)),
            when_a(2, call("mark_to_drop", None, vec![])),
        ])
        .egress(vec![when_a(3, to_port(9))]);
    let mut switch = build.switch_with(SwitchConfig {
        options: BTreeMap::from([(v1model::DROP_PORT, 9)]),
        ..SwitchConfig::default()
    });
    for a in 1..=3 {
        assert_eq!(send(&mut switch, 0, packet(a, 0, 0, &[])), []);
    }
    assert_eq!(switch.drops().of(DropCause::Ingress), 2);
    assert_eq!(switch.drops().of(DropCause::Egress), 1);
    let sent = send(&mut switch, 0, packet(4, 0, 0, &[]));
    assert_eq!(sent[0].port, v1model::DEFAULT_DROP_PORT as u16);
}

#[test]
fn multicast_copies_carry_their_rid_and_type() {
    let rid = Expr {
        kind: ExprKind::Cast(Box::new(load(&meta("instance_type")))),
        ty: Scalar::Bit(8),
    };
    let build = Build::default()
        .ingress(vec![
            set(meta("mcast_grp"), num(4, 16)),
            set(bits(B, 16), num(7, 16)),
        ])
        .egress(vec![
            set(bits(A, 16), load(&meta("egress_rid"))),
            set(bits(C, 8), rid),
        ]);
    let mut switch = build.switch();
    let replicas = [(2, 20), (1, 10), (2, 21)].map(|(port, rid)| Replica { port, rid });
    switch.set_multicast_group(4, replicas.to_vec()).unwrap();
    let mut sent = all(&send(&mut switch, 0, packet(0, 0, 0, b"x")));
    sent.sort();
    assert_eq!(sent, [(1, 10, 7, 5), (2, 20, 7, 5), (2, 21, 7, 5)]);
}

/// Ingress changes `a` and metadata x, y; the clone has the packet as it came, x, and not y.
#[test]
fn ingress_clone_has_the_original_packet_and_its_field_list() {
    let low = |slot| Expr {
        kind: ExprKind::Cast(Box::new(load(&bits(slot, 32)))),
        ty: Scalar::Bit(16),
    };
    let is_clone = binary(BinaryOp::Eq, load(&meta("instance_type")), num(1, 32));
    let build = Build::default()
        .ingress(vec![
            to_port(3),
            set(bits(A, 16), num(0xffff, 16)),
            set(bits(X, 32), num(11, 32)),
            set(bits(Y, 32), num(12, 32)),
            call(
                "clone_preserving_field_list",
                None,
                vec![Arg::In(num(0, 32)), Arg::In(num(9, 32)), Arg::In(num(1, 8))],
            ),
        ])
        .egress(vec![when(
            is_clone,
            vec![
                set(bits(B, 16), binary(BinaryOp::Add, low(X), low(Y))),
                set(bits(C, 8), num(1, 8)),
            ],
        )]);
    let mut switch = build.switch();
    switch.set_clone_session(9, session(5, 0)).unwrap();
    let mut sent = all(&send(&mut switch, 0, packet(1, 2, 3, b"x")));
    sent.sort();
    assert_eq!(sent, [(3, 0xffff, 2, 3), (5, 1, 11, 1)]);
}

#[test]
fn egress_clone_keeps_the_headers_and_is_cloned_once() {
    let is = |n| binary(BinaryOp::Eq, load(&meta("instance_type")), num(n, 32));
    let build = Build::default().ingress(vec![to_port(3)]).egress(vec![
        when(is(2), vec![set(bits(C, 8), num(2, 8))]),
        when(
            is(0),
            vec![
                set(bits(B, 16), num(0x0b0b, 16)),
                call(
                    "clone",
                    None,
                    vec![Arg::In(num(1, 32)), Arg::In(num(9, 32))],
                ),
            ],
        ),
    ]);
    let mut switch = build.switch();
    let to = CloneSession {
        replicas: vec![Replica { port: 5, rid: 0 }],
        truncate: Some(6),
    };
    switch.set_clone_session(9, Some(to)).unwrap();
    let sent = send(&mut switch, 0, packet(1, 2, 3, b"xyz"));
    assert_eq!(all(&sent), [(3, 1, 0x0b0b, 3), (5, 1, 0x0b0b, 2)]);
    assert_eq!(&sent[0].packet.octets[5..], b"xyz");
    assert_eq!(&sent[1].packet.octets[5..], b"x");
    assert_eq!(sent[1].packet.link_octets, 6);
}

#[test]
fn resubmit_starts_over_with_the_original_packet() {
    let again = binary(BinaryOp::Eq, load(&meta("instance_type")), num(0, 32));
    let ingress = vec![
        to_port(3),
        set(
            bits(C, 8),
            binary(BinaryOp::Add, load(&bits(C, 8)), num(1, 8)),
        ),
        set(
            bits(B, 16),
            Expr {
                kind: ExprKind::Cast(Box::new(load(&bits(X, 32)))),
                ty: Scalar::Bit(16),
            },
        ),
        when(
            again,
            vec![
                set(bits(X, 32), num(44, 32)),
                call(
                    "resubmit_preserving_field_list",
                    None,
                    vec![Arg::In(num(1, 8))],
                ),
            ],
        ),
    ];
    let sent = send(
        &mut Build::default().ingress(ingress).switch(),
        0,
        packet(1, 2, 3, b""),
    );
    assert_eq!(all(&sent), [(3, 1, 44, 4)]);
}

#[test]
fn recirculate_starts_over_with_the_packet_that_left() {
    let first = binary(BinaryOp::Lt, load(&bits(C, 8)), num(10, 8));
    let build = Build::default()
        .ingress(vec![
            to_port(3),
            set(
                bits(C, 8),
                binary(BinaryOp::Add, load(&bits(C, 8)), num(3, 8)),
            ),
        ])
        .egress(vec![when(
            first,
            vec![call(
                "recirculate_preserving_field_list",
                None,
                vec![Arg::In(num(1, 8))],
            )],
        )]);
    assert_eq!(
        all(&send(&mut build.switch(), 0, packet(1, 2, 0, b""))),
        [(3, 1, 2, 12)]
    );
}

#[test]
fn packets_for_a_port_that_is_not_there_go_through_egress() {
    let is_below_10 = || binary(BinaryOp::Lt, load(&bits(C, 8)), num(10, 8));
    let recirculate = call(
        "recirculate_preserving_field_list",
        None,
        vec![Arg::In(num(1, 8))],
    );
    let build = Build::default()
        .ingress(vec![
            to_port(3),
            set(
                bits(C, 8),
                binary(BinaryOp::Add, load(&bits(C, 8)), num(3, 8)),
            ),
            when(is_below_10(), vec![to_port(8)]),
        ])
        .egress(vec![when(is_below_10(), vec![recirculate])]);
    let mut switch = build.switch_with(SwitchConfig {
        other_ports: None,
        ..SwitchConfig::default()
    });
    switch.set_port(3, PortConfig::default());
    let sent = send(&mut switch, 0, packet(1, 2, 0, b""));
    assert_eq!(all(&sent), [(3, 1, 2, 12)]);
    assert_eq!(switch.drops().total(), 0);
}

#[test]
fn endless_resubmission_ends() {
    let ingress = vec![call(
        "resubmit_preserving_field_list",
        None,
        vec![Arg::In(num(1, 8))],
    )];
    let mut switch = Build::default().ingress(ingress).switch();
    assert_eq!(send(&mut switch, 0, packet(1, 2, 3, b"")), []);
    assert_eq!(switch.drops().of(DropCause::TooManyPasses), 1);
}

#[test]
fn truncate_cuts_held_and_elided_octets() {
    let build = Build::default().ingress(vec![call("truncate", None, vec![Arg::In(num(8, 32))])]);
    let octets = vec![0, 1, 0, 2, 3, 4].into();
    let sent = send(
        &mut build.switch(),
        0,
        Packet {
            octets,
            elided: 100,
            link_octets: 106,
            tag: 0,
        },
    );
    assert_eq!((sent[0].packet.octets.len(), sent[0].packet.elided), (6, 2));
    assert_eq!(sent[0].packet.link_octets, 8);
}

#[test]
fn unknown_externs_and_packages_are_refused() {
    let build = Build::default().ingress(vec![call("encrypt", None, vec![])]);
    let errors = Switch::new(&build.program, SwitchConfig::default()).unwrap_err();
    assert!(
        errors[0]
            .message
            .starts_with("`encrypt` is not supported by this target; it has")
    );

    let mut build = Build::default();
    build.program.package = "PSA_Switch".into();
    let errors = Switch::new(&build.program, SwitchConfig::default()).unwrap_err();
    assert!(
        errors[0].message.contains("this target runs V1Switch("),
        "{}",
        errors[0].message
    );
}
