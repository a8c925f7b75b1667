//! In the long run a packet through the hop costs no allocation, if its owner gives buffers back.

#[path = "support/hop.rs"]
mod hop;
mod support;

use engine::{Match, Packet, PortConfig};
use hop::{add, hop};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;
use units::{Instant, Rate};

#[global_allocator]
static GLOBAL: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

#[test]
fn packets_need_no_allocation() {
    let mut switch = hop();
    let rate = Rate::from_bps(1_600_000);
    switch.set_port(
        2,
        PortConfig {
            rate,
            capacity: 100,
            queues: 8,
        },
    );
    let port = [("port", Match::exact(2u8))];
    let limit = [("max_waiting", 20)];
    add(&mut switch, "port_queue", &port, "drop_tail", &limit);

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
    // Half as much again as the line carries, so that the queue is full and packets are refused.
    let mut now = Instant::ZERO;
    let (mut came, mut left) = (0u64, 0u64);
    let mut send = |count: u64| {
        for _ in 0..count {
            let mut octets = switch.buffer();
            octets.extend_from_slice(&frame);
            now += Rate::from_bps(2_400_000)
                .expect("not zero")
                .serialisation(1000);
            switch.handle_packet(
                now,
                1,
                Packet {
                    link_octets: 1000,
                    elided: 964,
                    octets,
                    tag: came,
                },
            );
            came += 1;
            while let Some(sent) = switch.poll_transmit(now) {
                left += 1;
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
