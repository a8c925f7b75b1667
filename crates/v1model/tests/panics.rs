//! A panic in the engine drops the packet that met it; the switch forwards the next one.

mod support;

use p4_ir::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use support::*;
use units::Instant;
use v1model::*;

type Step = fn(&TraceEvent<'_>) -> bool;

/// A tracer that panics, which is how a test has the engine panic at a given step.
#[derive(Debug)]
struct Saboteur {
    step: Step,
    /// Steps to let pass, and then to fail at.
    pass: u32,
    seen: Arc<AtomicU32>,
}

impl Tracer for Saboteur {
    fn event(&mut self, _: Instant, _: u64, event: TraceEvent<'_>) {
        if (self.step)(&event) {
            let seen = self.seen.fetch_add(1, Ordering::Relaxed);
            assert!(seen != self.pass, "sabotage");
        }
    }
}

fn sabotage(switch: &mut Switch, pass: u32, step: Step) {
    let seen = Arc::default();
    switch.set_tracer(Some(Box::new(Saboteur { step, pass, seen })));
}

fn is_state(event: &TraceEvent<'_>) -> bool {
    matches!(event, TraceEvent::State { .. })
}

fn is_table(event: &TraceEvent<'_>) -> bool {
    matches!(event, TraceEvent::Table { .. })
}

fn is_dequeue(event: &TraceEvent<'_>) -> bool {
    matches!(event, TraceEvent::Dequeue { .. })
}

/// The panic that the switch reports, after its drop.
fn reported(switch: &mut Switch) -> Panic {
    let Some(Event::Drop(drop)) = switch.poll_event() else {
        panic!("the drop is reported");
    };
    assert_eq!(drop.cause, DropCause::Panic);
    let Some(Event::Panic(panic)) = switch.poll_event() else {
        panic!("the panic is reported");
    };
    assert_eq!(switch.poll_event(), None);
    *panic
}

/// Forwards to port 3 at 8 Mb/s; a table is applied in egress.
fn build() -> Build {
    let mut build = Build::default();
    let nothing = build.action("nothing", |_| Vec::new());
    let table = build.table(&[(bits(A, 16), MatchKind::Exact)], vec![nothing]);
    build.ingress(vec![to_port(3)]).egress(vec![apply(table)])
}

#[test]
fn a_panic_anywhere_drops_one_packet() {
    let steps: [(Step, &str, u16); 3] = [
        (is_state, "ingress", 7),
        (is_dequeue, "egress", 3),
        (is_table, "egress", 3),
    ];
    for (step, block, port) in steps {
        let mut switch = build().switch();
        switch.set_port(3, line(8_000_000, 10));
        sabotage(&mut switch, 1, step);
        let mut sent = Vec::new();
        for a in 0..3 {
            let now = Instant::from_micros(1000 * u64::from(a));
            let tagged = Packet {
                tag: u64::from(a),
                ..packet(a, 5, 6, b"payload")
            };
            switch.handle_packet(now, 7, tagged);
            sent.extend(std::iter::from_fn(|| switch.poll_transmit(now)));
        }
        assert_eq!(all(&sent), [(3, 0, 5, 6), (3, 2, 5, 6)], "{block}");
        let panic = reported(&mut switch);
        let expected = Panic {
            at: Instant::from_micros(1000),
            message: "sabotage".into(),
            block,
            ingress_port: 7,
            passes: 0,
            octets: packet(1, 5, 6, b"payload").octets.into(),
            elided: 0,
            tag: 1,
        };
        assert_eq!(panic, expected);
        assert_eq!(switch.drops().of(DropCause::Panic), 1);
        assert_eq!(switch.port_stats(port).drops.of(DropCause::Panic), 1);
        assert_eq!(switch.buffered_octets(), 0);
        assert_eq!(switch.port_stats(3).waiting, 0);
    }
}

/// What waits behind the packet is sent, at the rate of the line.
#[test]
fn a_panic_does_not_stop_the_queue() {
    let mut switch = build().switch();
    switch.set_port(3, line(8_000_000, 10));
    sabotage(&mut switch, 2, is_dequeue);
    for a in 0..6 {
        let packet = Packet {
            link_octets: 1000,
            ..packet(a, 0, 0, b"")
        };
        switch.handle_packet(Instant::ZERO, 7, packet);
    }
    let mut sent = Vec::new();
    while let Some(next) = switch.poll_timeout() {
        sent.extend(switch.poll_transmit(next));
    }
    let starts: Vec<_> = sent.iter().map(|sent| sent.start.as_micros()).collect();
    assert_eq!(starts, [0, 1000, 2000, 3000, 4000]);
    let left: Vec<_> = all(&sent).iter().map(|sent| sent.1).collect();
    assert_eq!(left, [0, 1, 3, 4, 5]);
}

/// A packet that panics while its copies wait gives back its place among them.
#[test]
fn copies_of_a_packet_that_panics_are_counted() {
    let build = Build::default().ingress(vec![set(meta("mcast_grp"), num(1, 16))]);
    let mut switch = build.switch();
    let replicas = [1, 2, 3].map(|port| Replica { port, rid: 0 });
    switch.set_multicast_group(1, replicas.to_vec()).unwrap();
    for pass in 0..3 {
        sabotage(&mut switch, pass, is_dequeue);
        assert_eq!(send(&mut switch, 0, packet(0, 0, 0, b"")).len(), 2);
        reported(&mut switch);
    }
    switch.set_tracer(None);
    assert_eq!(send(&mut switch, 0, packet(0, 0, 0, b"")).len(), 3);
}
