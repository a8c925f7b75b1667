//! What one packet may cost: copies, memory, rounds of loops. The switch serves the next packet after it.

mod support;

use p4_ir::*;
use support::*;
use units::Instant;
use v1model::*;

fn to_both_ports() -> Vec<Replica> {
    [1, 2].map(|port| Replica { port, rid: 1 }).to_vec()
}

fn again() -> Stmt {
    let list = vec![Arg::In(num(1, 8))];
    call("recirculate_preserving_field_list", None, list)
}

/// `if (a == 1)`: packets with another `a` are forwarded as ever.
fn when_evil(body: Vec<Stmt>) -> Stmt {
    let evil = binary(BinaryOp::Eq, load(&bits(A, 16)), num(1, 16));
    when(evil, body)
}

/// Each packet with `a` = 1 comes back as two.
fn doubles() -> Build {
    Build::default()
        .ingress(vec![
            to_port(3),
            when_evil(vec![set(meta("mcast_grp"), num(1, 16))]),
        ])
        .egress(vec![when_evil(vec![again()])])
}

/// Egress sends a copy of each packet to two ports, copies included.
fn clones_its_clones() -> Build {
    let clone = call(
        "clone_preserving_field_list",
        None,
        vec![Arg::In(num(1, 32)), Arg::In(num(5, 32)), Arg::In(num(1, 8))],
    );
    Build::default()
        .ingress(vec![to_port(3)])
        .egress(vec![when_evil(vec![clone])])
}

/// Sends one packet that has copies without end and one that has none; what the second makes the switch
/// send, and the most octets that waited meanwhile.
fn bomb_then_packet(switch: &mut Switch) -> (Vec<(u16, u16, u16, u8)>, u64) {
    switch.set_multicast_group(1, to_both_ports()).unwrap();
    let session = CloneSession {
        replicas: to_both_ports(),
        truncate: None,
    };
    switch.set_clone_session(5, Some(session)).unwrap();
    switch.handle_packet(Instant::ZERO, 7, packet(1, 0, 0, b"x"));
    let mut most = switch.buffered_octets();
    while let Some(sent) = switch.poll_transmit(Instant::ZERO) {
        most = most.max(switch.buffered_octets());
        switch.recycle(sent.packet);
    }
    assert_eq!(switch.buffered_octets(), 0);
    (all(&send(switch, 1, packet(2, 0, 0, b"x"))), most)
}

#[test]
fn one_packet_has_so_many_copies() {
    for (build, cloned) in [(doubles(), false), (clones_its_clones(), true)] {
        let mut switch = build.switch_with(SwitchConfig {
            max_copies: 100,
            ..SwitchConfig::default()
        });
        let (next, _) = bomb_then_packet(&mut switch);
        assert_eq!(next, [(3, 2, 0, 0)]);
        let refused = switch.drops().of(DropCause::TooManyCopies);
        // Two copies of the arrival, and two of each of the hundred that there may be.
        assert_eq!(refused, 2 * 101 - 100, "cloned: {cloned}");
        assert_eq!(switch.drops().total(), refused);
        let by_port = [1, 2].map(|port| switch.port_stats(port).drops);
        let by_port = by_port.map(|drops| drops.of(DropCause::TooManyCopies));
        assert_eq!(by_port, [refused / 2; 2]);
    }
}

#[test]
fn the_bounds_hold_with_the_default_settings() {
    for build in [doubles(), clones_its_clones()] {
        let mut switch = build.switch();
        let (next, most) = bomb_then_packet(&mut switch);
        assert_eq!(next, [(3, 2, 0, 0)]);
        assert!(most < 4096 * 2048, "{most} octets waited at a time");
        assert!(switch.drops().of(DropCause::TooManyCopies) > 0);
    }
}

/// Copies count with their own arrival: others have as many, also at the same time.
#[test]
fn arrivals_do_not_share_copies() {
    let mut switch = Build::default()
        .ingress(vec![set(meta("mcast_grp"), num(1, 16))])
        .switch_with(SwitchConfig {
            max_copies: 2,
            ..SwitchConfig::default()
        });
    for port in [1, 2] {
        switch.set_port(port, line(8_000_000, 10));
    }
    switch.set_multicast_group(1, to_both_ports()).unwrap();
    for i in 0..5 {
        switch.handle_packet(Instant::ZERO, 7, packet(i, 0, 0, b"x"));
    }
    let sent = std::iter::from_fn(|| switch.poll_transmit(Instant::from_secs_f64(1.0))).count();
    assert_eq!((sent, switch.drops().total()), (10, 0));
}

#[test]
fn a_group_has_no_more_replicas_than_a_packet_may_have_copies() {
    let mut switch = Build::default().switch();
    let replicas = vec![Replica { port: 1, rid: 1 }; 4097];
    let error = switch.set_multicast_group(1, replicas.clone()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "multicast group: expected at most 4096 replicas, found 4097"
    );
    let truncate = None;
    let session = CloneSession { replicas, truncate };
    assert!(switch.set_clone_session(1, Some(session)).is_err());
}

#[test]
fn waiting_packets_take_so_many_octets() {
    let mut switch = Build::default()
        .ingress(vec![to_port(3)])
        .switch_with(SwitchConfig {
            max_buffered_octets: 100_000,
            report_drops: true,
            ..SwitchConfig::default()
        });
    switch.set_port(3, line(8_000_000, u32::MAX));
    for i in 0..100 {
        switch.handle_packet(Instant::ZERO, 7, packet(i, 0, 0, &[0; 4000]));
        assert!(switch.buffered_octets() <= 100_000);
    }
    let refused = switch.drops().of(DropCause::BufferFull);
    assert!((75..80).contains(&refused), "{refused} of 100 refused");
    assert!(matches!(
        switch.poll_event(),
        Some(Event::Drop(Drop {
            cause: DropCause::BufferFull,
            port: 3,
            ..
        }))
    ));
    let far = Instant::from_secs_f64(10.0);
    let sent = std::iter::from_fn(|| switch.poll_transmit(far)).count();
    assert_eq!(sent as u64, 100 - refused);
    assert_eq!(switch.buffered_octets(), 0);
    switch.handle_packet(far, 7, packet(0, 0, 0, b"x"));
    assert!(switch.poll_transmit(far).is_some(), "there is room again");
}

#[test]
fn events_that_nobody_takes_are_counted() {
    let mut switch = Build::default().ingress(vec![to_port(511)]).switch();
    for i in 0..70_000 {
        switch.handle_packet(Instant::from_nanos(i), 7, packet(0, 0, 0, b"x"));
    }
    let events = std::iter::from_fn(|| switch.poll_event()).count() as u64;
    assert_eq!((events, switch.lost_events()), (65_536, 70_000 - 65_536));
    assert_eq!(switch.drops().total(), 70_000);
}

/// `for (i = 0; i < rounds; i = i + 1) body`, as the front end lowers it, on line `line`.
fn repeat(counter: &Place, rounds: u64, line: u32, body: Vec<Stmt>) -> Vec<Stmt> {
    let width = counter.ty.width();
    let add = binary(BinaryOp::Add, load(counter), num(1, width));
    let mut stmt = stmt(StmtKind::Loop {
        prepare: Vec::new(),
        condition: binary(BinaryOp::Lt, load(counter), num(rounds, width)),
        body,
        update: vec![set(counter.clone(), add)],
    });
    stmt.loc.line = line;
    vec![set(counter.clone(), num(0, width)), stmt]
}

/// An outer loop around an inner one; egress writes the rounds of the inner one into `a` and `b`.
fn nested(outer: u64, inner: u64) -> Build {
    let mut build = Build::default();
    let [i, j, count] = [(); 3].map(|()| build.variable(32));
    let more = set(
        count.clone(),
        binary(BinaryOp::Add, load(&count), num(1, 32)),
    );
    let body = repeat(&j, inner, 22, vec![more]);
    let half = |hi, lo| Expr {
        kind: ExprKind::Slice {
            of: Box::new(load(&count)),
            hi,
            lo,
        },
        ty: Scalar::Bit(16),
    };
    let tell = [
        set(bits(A, 16), half(31, 16)),
        set(bits(B, 16), half(15, 0)),
    ];
    build
        .ingress([vec![to_port(3)], repeat(&i, outer, 11, body)].concat())
        .ingress(tell.to_vec())
}

/// Rounds that the program counted, and the switch's report of them.
fn rounds_of(switch: &mut Switch) -> (Option<u32>, u64, u64) {
    let sent = send(switch, 0, packet(0, 0, 0, b""));
    let counted = (!sent.is_empty()).then(|| {
        let (high, low, _) = fields(&sent);
        u32::from(high) << 16 | u32::from(low)
    });
    let dropped = switch.drops().of(DropCause::TooManyRounds);
    (counted, switch.cut_loops(), dropped)
}

#[test]
fn each_run_of_a_loop_may_take_so_many_rounds() {
    let rounds = |outer, inner| rounds_of(&mut nested(outer, inner).switch());
    assert_eq!(rounds(300, 300), (Some(90_000), 0, 0));
    assert_eq!(rounds(1, 65_536), (Some(65_536), 0, 0));
    assert_eq!(rounds(1, 65_537), (Some(65_536), 1, 0));
    assert_eq!(rounds(3, 100_000), (Some(3 * 65_536), 3, 0));
    assert_eq!(rounds(100_000, 0), (Some(0), 1, 0));
}

#[test]
fn a_pass_may_take_so_many_rounds_in_all() {
    let mut switch = nested(60_000, 60_000).switch();
    assert_eq!(rounds_of(&mut switch), (None, 1, 1));
    let expected = Drop {
        at: Instant::ZERO,
        cause: DropCause::TooManyRounds,
        port: 7,
        tag: 0,
    };
    assert_eq!(switch.poll_event(), Some(Event::Drop(expected)));
    // The next packet has as many again.
    let mut switch = nested(1_000, 1_000).switch();
    for _ in 0..3 {
        assert_eq!(rounds_of(&mut switch), (Some(1_000_000), 0, 0));
    }
}

#[test]
fn a_loop_that_is_cut_is_reported() {
    let mut switch = nested(2, 100).switch_with(SwitchConfig {
        max_steps: 10,
        report_logs: true,
        ..SwitchConfig::default()
    });
    assert_eq!(rounds_of(&mut switch), (Some(20), 2, 0));
    for _ in 0..2 {
        let Some(Event::LoopCut {
            rounds: 10, loc, ..
        }) = switch.poll_event()
        else {
            panic!("the inner loop was cut each time");
        };
        assert_eq!(loc.line, 22);
    }
    assert_eq!(switch.poll_event(), None);
}
