//! In the long run a packet costs no allocation, if its owner gives buffers back.

#[path = "support/hop.rs"]
mod hop;
mod support;

use engine::{DEFLECTION_PORT, Match, Packet, PortConfig, Switch, SwitchConfig};
use hop::{hop, routed};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;
use std::collections::BTreeMap;
use std::path::Path;
use support::{add, set_checksum};
use units::{Instant, Rate};

#[global_allocator]
static GLOBAL: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Sends half as many packets again as the line of port 2 carries, so that the queue is full and packets are refused.
/// In the long run that allocates nothing.
fn check(switch: &mut Switch, frame: &[u8]) {
    let mut now = Instant::ZERO;
    let (mut came, mut left) = (0u64, 0u64);
    let mut send = |count: u64| {
        for _ in 0..count {
            let mut octets = switch.buffer();
            octets.extend_from_slice(frame);
            now += Rate::from_bps(2_400_000)
                .expect("not zero")
                .serialisation(1000);
            switch.handle_packet(
                now,
                1,
                Packet {
                    link_octets: 1000,
                    elided: 1000 - frame.len() as u32,
                    octets,
                    tag: came,
                },
            );
            came += 1;
            while let Some(sent) = switch.poll_transmit(now) {
                left += u64::from(sent.port == 2);
                switch.recycle(sent.packet);
            }
        }
        (came, left)
    };
    send(500);
    let region = Region::new(GLOBAL);
    let (came, left) = send(3_000);
    let change = region.change();
    assert!(left > 2_000 && left < came * 3 / 4, "{left} of {came} left");
    assert_eq!(
        (change.allocations, change.reallocations),
        (0, 0),
        "{change:?}"
    );
}

/// A line of 1.6 Mbit/s that at most `capacity` packets wait for.
fn line(capacity: u32) -> PortConfig {
    PortConfig {
        rate: Rate::from_bps(1_600_000),
        capacity,
        queues: 8,
        ..PortConfig::default()
    }
}

/// A switch whose port 2 has a line and a queue.
fn queued(mut switch: Switch) -> Switch {
    switch.set_port(2, line(100));
    let port = [("port", Match::exact(2u8))];
    let limit = [("max_waiting", 20)];
    add(&mut switch, "port_queue", &port, "drop_tail", &limit);
    switch
}

fn packets_of_the_hop() {
    let mut switch = queued(hop());
    // The first packet of p4src/tests/waymark-both_marks.stf: AQT, then AVBW-S.
    let frame: Vec<u8> = [
        [
            2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 1, 10, 8, 0, 0x48, 0, 0, 0x24, 0x1c, 0x46, 0x40, 0, 0x40,
            0xfd,
        ]
        .as_slice(),
        &[
            0xb6, 0x50, 10, 0, 1, 10, 10, 0, 2, 20, 0x5e, 8, 0, 0, 7, 10, 11, 12, 0xde, 4, 0xff, 5,
            1, 2, 3, 4,
        ],
    ]
    .concat();
    check(&mut switch, &frame);
}

/// A tag of 4 octets is inserted. Half of the packet is held.
fn packets_whose_headers_grow() {
    let mut switch = queued(routed("csig.p4"));
    let port = [("port", Match::exact(1u8))];
    add(
        &mut switch,
        "csig_insertion",
        &port,
        "insert",
        &[("signal", 2)],
    );
    let ethernet = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 1, 10, 8, 0];
    let mut ip = [
        0x45, 0, 3, 0xe8, 0, 0, 0x40, 0, 64, 253, 0, 0, 10, 0, 1, 10, 10, 0, 2, 20,
    ];
    set_checksum(&mut ip);
    check(&mut switch, &[&ethernet[..], &ip, &[7; 466]].concat());
}

/// On Tofino 2 a ghost control runs, and refused packets are deflected.
fn packets_of_tofino() {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/tna");
    for name in ["tna_queue.p4", "t2na_queue.p4"] {
        let program = support::compile(&programs.join(name)).expect("the program compiles");
        let config = SwitchConfig {
            options: BTreeMap::from([(DEFLECTION_PORT, 9)]),
            ..SwitchConfig::default()
        };
        let mut switch = Switch::new(&program, config).expect("it compiles");
        switch.set_port(2, line(20));
        check(&mut switch, &[0; 100]);
    }
}

// One test: the allocator counts what all threads do.
#[test]
fn packets_need_no_allocation() {
    packets();
    // The programs that are translated from here on are compiled.
    assert!(p4_jit::install(), "this machine compiles");
    packets();
}

fn packets() {
    packets_of_the_hop();
    packets_whose_headers_grow();
    packets_of_tofino();
}
