//! The events of a packet's way that a tracer receives.

mod support;

use p4_ir::{BinaryOp, MatchKind, SourceLoc};
use std::sync::{Arc, Mutex};
use support::*;
use units::Instant;
use v1model::{Match, Packet, Target, TraceEvent, Tracer};

#[derive(Debug, Default, Clone)]
struct Notes(Arc<Mutex<Vec<String>>>);

impl Tracer for Notes {
    fn event(&mut self, now: Instant, tag: u64, event: TraceEvent<'_>) {
        let text = match event {
            TraceEvent::Arrive { port } => format!("arrive {port}"),
            TraceEvent::State { name, loc } => format!("state {name}, line {}", loc.line),
            TraceEvent::Reject { error, .. } => format!("reject {error}"),
            TraceEvent::Table {
                table,
                key,
                entry,
                action,
                loc,
            } => format!(
                "table {} {key:x?} {} action {}, line {}",
                table.0,
                if entry.is_some() { "hit" } else { "miss" },
                action.0,
                loc.line
            ),
            TraceEvent::LoopCut { rounds, loc } => format!("cut {rounds}, line {}", loc.line),
            TraceEvent::Enqueue {
                port,
                priority,
                depth,
            } => {
                format!("enqueue {port} {priority} {depth}")
            }
            TraceEvent::Dequeue {
                port,
                depth,
                enqueued,
                ..
            } => {
                format!("dequeue {port} {depth} {}", enqueued.as_micros())
            }
            TraceEvent::Drop { cause, port } => format!("drop {} {port}", cause.name()),
        };
        let text = format!("{} #{tag} {text}", now.as_micros());
        self.0.lock().unwrap().push(text);
    }
}

#[test]
fn a_packets_way_is_told_in_order() {
    let mut build = Build::default();
    let port = build.action("port", |_| vec![to_port(2)]);
    let drop = build.action("drop", |_| vec![call("mark_to_drop", None, vec![])]);
    let table = build.table(&[(bits(A, 16), MatchKind::Exact)], vec![port, drop]);
    let mut look_up = apply(table);
    look_up.loc = SourceLoc {
        file: 0,
        line: 33,
        column: 9,
    };
    build.program.parsers[0].states[0].loc = SourceLoc {
        file: 0,
        line: 11,
        column: 5,
    };
    let is = binary(BinaryOp::Ne, load(&bits(C, 8)), num(9, 8));
    let mut switch = build.ingress(vec![when(is, vec![look_up])]).switch();
    switch.set_port(2, line(8_000_000, 5));
    switch
        .add(
            "t0",
            &[("hdr.h.a", Match::exact(0xabu8))],
            0,
            "port",
            &[("value", 0u8.into())],
        )
        .unwrap();

    let notes = Notes::default();
    switch.set_tracer(Some(Box::new(notes.clone())));
    let tagged = |tag, packet: Packet| Packet {
        tag,
        link_octets: 1000,
        ..packet
    };
    for (us, tag, a) in [(1, 1, 0xab), (2, 2, 0xab), (3, 3, 0xcd)] {
        switch.handle_packet(
            Instant::from_micros(us),
            7,
            tagged(tag, packet(a, 0, 0, &[])),
        );
    }
    switch.handle_packet(Instant::from_micros(4), 7, tagged(4, Packet::new(vec![1])));
    switch.set_tracer(None);
    switch.handle_packet(Instant::from_micros(5), 7, packet(0xab, 0, 0, &[]));

    let told = notes.0.lock().unwrap();
    let expected = [
        "1 #1 arrive 7",
        "1 #1 state start, line 11",
        "1 #1 table 0 [[ab]] hit action 0, line 33",
        "1 #1 enqueue 2 0 0",
        // It left before the next came in.
        "1 #1 dequeue 2 0 1",
        "2 #2 arrive 7",
        "2 #2 state start, line 11",
        "2 #2 table 0 [[ab]] hit action 0, line 33",
        "2 #2 enqueue 2 0 0",
        "3 #3 arrive 7",
        "3 #3 state start, line 11",
        "3 #3 table 0 [[cd]] miss action 1, line 33",
        "3 #3 drop ingress 7",
        "4 #4 arrive 7",
        "4 #4 state start, line 11",
        "4 #4 reject PacketTooShort",
        "4 #4 table 0 [[0]] miss action 1, line 33",
        "4 #4 drop ingress 7",
    ];
    assert_eq!(*told, expected);
}
