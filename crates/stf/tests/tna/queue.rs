//! What packets learn of their queue, and the fate of those that it refuses.

use super::program;
use engine::{
    DEFLECTION_PORT, DropCause, Packet, PortConfig, Switch, SwitchConfig, TraceEvent, Tracer,
    Transmit,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use units::{Duration, Instant, Rate};

/// The header that the program puts in front.
#[derive(Debug, PartialEq, Eq)]
struct Queue {
    mac: u64,
    ingress: u64,
    egress: u64,
    enqueued: u64,
    waited: u64,
    enqueued_behind: u64,
    left_behind: u64,
    port: u64,
    length: u64,
    deflected: u64,
}

impl Queue {
    fn of(sent: &Transmit) -> Self {
        let mut octets = &sent.packet.octets[..];
        let mut next = |count: usize| {
            let (field, rest) = octets.split_at(count);
            octets = rest;
            field
                .iter()
                .fold(0, |value, octet| value << 8 | u64::from(*octet))
        };
        Queue {
            mac: next(6),
            ingress: next(6),
            egress: next(6),
            enqueued: next(4),
            waited: next(4),
            enqueued_behind: next(4),
            left_behind: next(4),
            port: next(2),
            length: next(2),
            deflected: next(1),
        }
    }
}

const START: u64 = 1_000_000;

/// The time at which the n-th packet arrives.
fn arrival(n: u64) -> Instant {
    Instant::ZERO + Duration::from_nanos(START + n)
}

/// A switch that sends 1,000 octets in 1 ms from port 2, and has room for `capacity` packets there.
fn switch(name: &str, capacity: u32, options: BTreeMap<&'static str, u64>) -> Switch {
    let line = PortConfig {
        rate: Rate::from_bps(8_000_000),
        capacity,
        queues: 1,
        ..PortConfig::default()
    };
    let config = SwitchConfig {
        options,
        ports: BTreeMap::from([(2, line)]),
        other_ports: None,
        ..SwitchConfig::default()
    };
    Switch::new(&program(name), config).expect("it compiles")
}

fn drain(switch: &mut Switch) -> Vec<Queue> {
    let end = Instant::ZERO + Duration::from_millis(1000);
    std::iter::from_fn(|| switch.poll_transmit(end))
        .map(|sent| Queue::of(&sent))
        .collect()
}

/// Three packets of 1,000 octets arrive 1 ns apart.
fn three(name: &str) -> Vec<Queue> {
    let mut switch = switch(name, 10, BTreeMap::new());
    for n in 0..3 {
        switch.handle_packet(arrival(n), 0, Packet::new(vec![0; 1000]));
    }
    drain(&mut switch)
}

#[test]
fn times_and_depths_of_tofino_1_are_18_bits_of_nanoseconds_and_cells_of_80_octets() {
    let met = three("tna_queue.p4");
    let wraps = 1 << 18;
    // Each packet has 12 octets of bridged metadata in the queue, which take the 1,000 to 13 cells, and 39 octets of
    // the program's header on the line.
    let serialisation = (1000 + 39) * 1000;
    for (n, met) in met.iter().enumerate() {
        let n = n as u64;
        let (came, left) = (START + n, START + n * serialisation);
        let expected = Queue {
            mac: came,
            ingress: came,
            egress: left,
            enqueued: came % wraps,
            waited: (left - came) % wraps,
            enqueued_behind: 13 * n.saturating_sub(1),
            left_behind: 13 * [0, 1, 0][n as usize],
            port: 2,
            // With the check sequence, without bridged metadata.
            length: 1004,
            deflected: 0,
        };
        assert_eq!(*met, expected, "packet {n}");
    }
}

#[test]
fn times_and_depths_of_tofino_2_are_32_bits_of_nanoseconds_and_cells_of_176_octets() {
    let met = three("t2na_queue.p4");
    let serialisation = (1000 + 39) * 1000;
    assert_eq!(met[2].waited, 2 * serialisation - 2);
    assert_eq!(met[2].enqueued, START + 2);
    // 1,012 octets take six cells.
    assert_eq!((met[2].enqueued_behind, met[1].left_behind), (6, 6));
}

#[test]
fn a_packet_that_its_queue_refuses_goes_to_egress_by_the_deflection_port() {
    let options = BTreeMap::from([(DEFLECTION_PORT, 9)]);
    let mut switch = switch("tna_queue.p4", 1, options);
    switch.set_port(9, PortConfig::default());
    // Packets that come in through an odd port ask for deflection.
    for (n, port) in [1, 1, 0, 1].into_iter().enumerate() {
        switch.handle_packet(arrival(n as u64), port, Packet::new(vec![0; 1000]));
    }
    let mut met = drain(&mut switch);
    met.sort_by_key(|met| met.ingress);
    let seen = met
        .iter()
        .map(|met| (met.ingress - START, met.port, met.deflected));
    assert_eq!(seen.collect::<Vec<_>>(), [(0, 2, 0), (1, 2, 0), (3, 9, 1)]);
    assert_eq!(switch.port_stats(2).drops.of(DropCause::TmFull), 2);
}

#[test]
fn unless_it_is_set_the_deflection_port_is_the_pipes_recirculation_port() {
    for (name, port) in [("tna_queue.p4", 68), ("t2na_queue.p4", 6)] {
        let mut switch = switch(name, 1, BTreeMap::new());
        let left = Left::default();
        switch.set_tracer(Some(Box::new(left.clone())));
        for n in 0..3 {
            switch.handle_packet(arrival(n), 1, Packet::new(vec![0; 1000]));
        }
        // The program sends what comes back to its full queue again, and asks for no deflection there.
        assert_eq!(drain(&mut switch).len(), 2, "{name}");
        assert_eq!(switch.drops().of(DropCause::TmFull), 2, "{name}");
        assert_eq!(*left.0.lock().expect("no panic"), [2, port, 2], "{name}");
    }
}

/// Ports whose queues packets leave.
#[derive(Clone, Debug, Default)]
struct Left(Arc<Mutex<Vec<u16>>>);

impl Tracer for Left {
    fn event(&mut self, _now: Instant, _tag: u64, event: TraceEvent<'_>) {
        if let TraceEvent::Dequeue { port, .. } = event {
            self.0.lock().expect("no panic").push(port);
        }
    }
}

/// Keys of the tables that are applied.
#[derive(Clone, Debug, Default)]
struct Keys(Arc<Mutex<Vec<Vec<u64>>>>);

impl Tracer for Keys {
    fn event(&mut self, _now: Instant, _tag: u64, event: TraceEvent<'_>) {
        if let TraceEvent::Table { key, .. } = event {
            let key = key.iter().map(|words| words[0]).collect();
            self.0.lock().expect("no panic").push(key);
        }
    }
}

#[test]
fn the_ghost_control_gets_each_change_of_a_queue_for_both_versions() {
    let mut switch = switch("t2na_queue.p4", 10, BTreeMap::new());
    let keys = Keys::default();
    switch.set_tracer(Some(Box::new(keys.clone())));
    for n in 0..3 {
        switch.handle_packet(arrival(n), 0, Packet::new(vec![0; 1000]));
    }
    drain(&mut switch);
    let keys = keys.0.lock().expect("no panic");
    assert!(
        keys.chunks(2)
            .all(|both| (both[0][0], both[1][0]) == (0, 1))
    );
    assert!(keys.chunks(2).all(|both| both[0][1..] == both[1][1..]));
    // The first packet joins and leaves at once. Port 2 of pipe 0 has queues from 32 on.
    let lengths: Vec<_> = keys.iter().step_by(2).map(|key| key[1] / 6).collect();
    assert_eq!(lengths, [1, 0, 1, 2, 1, 0]);
    assert!(keys.iter().all(|key| key[2..] == [32, 0]));
}
