//! Rates, queues, priorities and queueing metadata, by hand.

mod support;

use p4_ir::*;
use support::*;
use units::{Instant, Rate};
use v1model::*;

fn us(us: u64) -> Instant {
    Instant::from_micros(us)
}

/// Sends `a` = 1, 2, … of 1000 link octets each at these times (µs) to port 0, at the priority in `c`.
/// Returns what leaves: (a, enqueued, start, end in µs, enq_qdepth, deq_qdepth).
fn run(switch: &mut Switch, packets: &[(u64, u8)]) -> Vec<(u16, u64, u64, u64, u32, u32)> {
    let mut sent = Vec::new();
    let mut take = |switch: &mut Switch, until: Instant| {
        while let Some(next) = switch.poll_timeout().filter(|&next| next <= until) {
            while let Some(t) = switch.poll_transmit(next) {
                let (a, _, _) = fields(std::slice::from_ref(&t));
                let at = |i: Instant| i.as_micros();
                let row = (
                    a,
                    at(t.enqueued),
                    at(t.start),
                    at(t.end),
                    t.enq_qdepth,
                    t.deq_qdepth,
                );
                sent.push(row);
                switch.recycle(t.packet);
            }
        }
    };
    for (a, &(at, priority)) in (1..).zip(packets) {
        take(switch, us(at));
        let packet = Packet {
            link_octets: 1000,
            ..packet(a, 0, priority, &[])
        };
        switch.handle_packet(us(at), 7, packet);
    }
    take(switch, Instant::MAX);
    sent
}

fn by_priority() -> Build {
    let c = Expr {
        kind: ExprKind::Slice {
            of: Box::new(load(&bits(C, 8))),
            hi: 2,
            lo: 0,
        },
        ty: Scalar::Bit(3),
    };
    Build::default().ingress(vec![set(meta("priority"), c)])
}

/// At 8 Mb/s 1000 octets take 1 ms.
#[test]
fn packets_wait_for_the_line_in_order() {
    let mut switch = Build::default().switch();
    switch.set_port(0, line(8_000_000, 10));
    let sent = run(&mut switch, &[(0, 0), (100, 0), (200, 0), (5000, 0)]);
    assert_eq!(
        sent,
        [
            (1, 0, 0, 1000, 0, 0),
            (2, 100, 1000, 2000, 0, 1),
            (3, 200, 2000, 3000, 1, 0),
            (4, 5000, 5000, 6000, 0, 0),
        ]
    );
    assert_eq!(switch.port_stats(0).tx_octets, 4000);
}

/// Capacity 2: one is sent, two wait, the rest is refused; a place is free again at 1 ms.
#[test]
fn a_full_queue_refuses() {
    let mut switch = Build::default().switch();
    switch.set_port(0, line(8_000_000, 2));
    let sent = run(
        &mut switch,
        &[(0, 0), (0, 0), (0, 0), (0, 0), (999, 0), (1000, 0)],
    );
    let order: Vec<_> = sent.iter().map(|row| row.0).collect();
    assert_eq!(order, [1, 2, 3, 6]);
    assert_eq!(switch.drops().of(DropCause::TmFull), 2);
    assert_eq!(switch.port_stats(0).drops.of(DropCause::TmFull), 2);
}

#[test]
fn without_capacity_a_free_line_still_sends() {
    let mut switch = Build::default().switch();
    switch.set_port(0, line(8_000_000, 0));
    let sent = run(&mut switch, &[(0, 0), (500, 0), (1000, 0)]);
    let order: Vec<_> = sent.iter().map(|row| row.0).collect();
    assert_eq!(order, [1, 3]);
}

/// With weights 1 and 3 for the queues 0 and 3, of 40 packets that leave before either queue is empty 10 are of
/// queue 0; a queue without a weight goes last.
#[test]
fn queues_share_a_line_by_their_weights() {
    let mut switch = by_priority().switch();
    switch.set_port(
        0,
        PortConfig {
            scheduling: Scheduling::weighted(&[1, 0, 0, 3]),
            ..line(8_000_000, 100)
        },
    );
    let arrivals: Vec<(u64, u8)> = (0..123)
        .map(|number| (number, [0, 3, 5][number as usize % 3]))
        .collect();
    let sent = run(&mut switch, &arrivals);
    let queue = |row: &(u16, u64, u64, u64, u32, u32)| arrivals[usize::from(row.0) - 1].1;
    let of_0 = sent[1..41].iter().filter(|row| queue(row) == 0).count();
    assert!((9..=11).contains(&of_0), "{of_0}");
    assert!(sent[1..82].iter().all(|row| queue(row) != 5));
    assert_eq!(sent.len(), 123);
}

/// 1 is being sent when the others come; then 7 before 3 before 0, each in its order. Depths are those
/// of each packet's own queue.
#[test]
fn larger_priorities_go_first() {
    let mut switch = by_priority().switch();
    switch.set_port(0, line(8_000_000, 10));
    let sent = run(&mut switch, &[(0, 0), (10, 0), (20, 3), (30, 7), (40, 3)]);
    assert_eq!(
        sent,
        [
            (1, 0, 0, 1000, 0, 0),
            (4, 30, 1000, 2000, 0, 0),
            (3, 20, 2000, 3000, 0, 1),
            (5, 40, 3000, 4000, 1, 0),
            (2, 10, 4000, 5000, 0, 0),
        ]
    );
}

/// Capacity holds for each queue by itself.
#[test]
fn queues_fill_each_by_itself() {
    let mut switch = by_priority().switch();
    switch.set_port(0, line(8_000_000, 1));
    let sent = run(&mut switch, &[(0, 0), (1, 0), (2, 0), (3, 7), (4, 7)]);
    let order: Vec<_> = sent.iter().map(|row| row.0).collect();
    assert_eq!(order, [1, 4, 2]);
}

/// The queueing metadata that egress reads. Times are floors of microseconds, so that 1.7 µs to 3.2 µs
/// count as ⌊3.2⌋ − ⌊1.7⌋ = 2 µs.
#[test]
fn egress_reads_the_queueing_metadata() {
    let narrow = |name: &str| Expr {
        kind: ExprKind::Cast(Box::new(load(&meta(name)))),
        ty: Scalar::Bit(16),
    };
    let build = Build::default().egress(vec![
        set(bits(A, 16), narrow("deq_timedelta")),
        set(bits(B, 16), narrow("enq_timestamp")),
        set(
            bits(C, 8),
            Expr {
                kind: ExprKind::Cast(Box::new(binary(
                    BinaryOp::BitOr,
                    binary(BinaryOp::Shl, load(&meta("enq_qdepth")), num(4, 19)),
                    load(&meta("deq_qdepth")),
                ))),
                ty: Scalar::Bit(8),
            },
        ),
    ]);
    let mut switch = build.switch();
    // 4000 bits at 2 Gb/s take 2 µs.
    switch.set_port(0, line(2_000_000_000, 10));
    let packet = || Packet {
        link_octets: 500,
        ..packet(0, 0, 0, &[])
    };
    for ns in [1_200, 1_700, 1_900] {
        switch.handle_packet(Instant::from_nanos(ns), 7, packet());
    }
    let end = us(100);
    let sent: Vec<_> = std::iter::from_fn(|| switch.poll_transmit(end)).collect();
    let starts: Vec<_> = sent.iter().map(|t| t.start.as_nanos()).collect();
    assert_eq!(starts, [1_200, 3_200, 5_200]);
    assert_eq!(all(&sent), [(0, 0, 1, 0), (0, 2, 1, 0x01), (0, 4, 1, 0x10)]);
}

/// The queue of a priority has its number. Egress adds 8, so that a field that is not written differs.
#[test]
fn egress_reads_the_number_of_the_queue() {
    let qid = Expr {
        kind: ExprKind::Cast(Box::new(load(&meta("qid")))),
        ty: Scalar::Bit(8),
    };
    let mut switch = by_priority()
        .egress(vec![set(bits(C, 8), binary(BinaryOp::Add, qid, num(8, 8)))])
        .switch();
    for priority in [0, 7, 3] {
        switch.handle_packet(us(0), 7, packet(0, 0, priority, &[]));
    }
    let sent: Vec<_> = std::iter::from_fn(|| switch.poll_transmit(us(0))).collect();
    let read: Vec<_> = sent
        .iter()
        .map(|t| fields(std::slice::from_ref(t)).2)
        .collect();
    assert_eq!(read, [8, 15, 11]);
}

#[test]
fn a_packet_dropped_in_egress_takes_no_time_on_the_line() {
    let is_drop = binary(BinaryOp::Eq, load(&bits(B, 16)), num(1, 16));
    let build = Build::default().egress(vec![when(
        is_drop,
        vec![call("mark_to_drop", None, vec![])],
    )]);
    let mut switch = build.switch();
    switch.set_port(0, line(8_000_000, 10));
    for (a, b) in [(1, 0), (2, 1), (3, 0)] {
        let packet = Packet {
            link_octets: 1000,
            ..packet(a, b, 0, &[])
        };
        switch.handle_packet(us(0), 7, packet);
    }
    let sent: Vec<_> = std::iter::from_fn(|| switch.poll_transmit(us(10_000))).collect();
    let starts: Vec<_> = sent
        .iter()
        .map(|t| (fields(std::slice::from_ref(t)).0, t.start))
        .collect();
    assert_eq!(starts, [(1, us(0)), (3, us(1000))]);
}

/// What a switch does must not depend on how often it is asked.
#[test]
fn late_polling_changes_nothing() {
    let times: Vec<(u64, u8)> = (0..200).map(|i| (i * 37 % 9_000, (i % 3) as u8)).collect();
    let mut sorted = times;
    sorted.sort();
    let outcome = |poll: bool| {
        let mut switch = by_priority().switch();
        switch.set_port(0, line(80_000_000, 3));
        let mut sent = Vec::new();
        for (a, &(at, priority)) in (1..).zip(&sorted) {
            if poll {
                sent.extend(std::iter::from_fn(|| switch.poll_transmit(us(at))));
            }
            let packet = Packet {
                link_octets: 1000,
                ..packet(a, 0, priority, &[])
            };
            switch.handle_packet(us(at), 7, packet);
        }
        sent.extend(std::iter::from_fn(|| switch.poll_transmit(Instant::MAX)));
        (sent, switch.drops())
    };
    let (sent, drops) = outcome(true);
    assert!(
        sent.len() > 50 && drops.total() > 10,
        "{} sent, {drops:?}",
        sent.len()
    );
    assert_eq!((sent, drops), outcome(false));
}

/// The first packet leaves at 1 ms; after that the line is ten times as fast.
#[test]
fn a_new_rate_holds_from_the_next_packet_on() {
    let mut switch = Build::default().switch();
    switch.set_port(0, line(8_000_000, 10));
    let packet = || Packet {
        link_octets: 1000,
        ..packet(0, 0, 0, &[])
    };
    switch.handle_packet(us(0), 7, packet());
    switch.handle_packet(us(0), 7, packet());
    assert_eq!(switch.poll_transmit(us(0)).unwrap().end, us(1000));
    switch.set_port(
        0,
        PortConfig {
            rate: Rate::from_bps(80_000_000),
            ..line(1, 10)
        },
    );
    assert_eq!(switch.poll_transmit(us(5000)).unwrap().end, us(1100));
}
