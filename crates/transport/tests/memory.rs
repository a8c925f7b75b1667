//! What connections take of memory, and that segments take none.

use std::alloc::System;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::Arc;

use congestion::RenoConfig;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use transport::tcp::modern::{Config, Connection, Endpoint, Id};
use units::{Duration, Instant};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const ADDRESSES: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2)];

struct Hosts {
    now: Instant,
    hosts: [Endpoint; 2],
    packet: Vec<u8>,
}

impl Hosts {
    fn new() -> Self {
        let host = |address| {
            let config = Config {
                send_buffer: 60_000,
                receive_buffer: 60_000,
                ..Config::default()
            };
            Endpoint::new(address, config, Arc::new(RenoConfig {}), [1; 16])
        };
        let mut hosts = ADDRESSES.map(host);
        hosts[1].listen(80, 10_000).unwrap();
        Hosts {
            now: Instant::ZERO,
            hosts,
            packet: vec![0; 1500],
        }
    }

    fn connect(&mut self) -> Id {
        let remote = SocketAddrV4::new(ADDRESSES[1], 80);
        self.hosts[0].connect(self.now, remote).unwrap()
    }

    /// Everything that is sent arrives; a millisecond passes.
    fn step(&mut self) {
        for from in [0, 1, 0, 1] {
            while let Some(octets) = self.hosts[from].poll_transmit(self.now, &mut self.packet) {
                self.hosts[1 - from]
                    .handle_packet(self.now, &self.packet[..octets])
                    .unwrap();
            }
        }
        self.now += Duration::from_millis(1);
        let now = self.now;
        self.hosts
            .iter_mut()
            .for_each(|host| host.handle_timeout(now));
    }
}

// One test, because others would allocate at the same time.
#[test]
fn connections_are_small_and_segments_allocate_nothing() {
    let mut hosts = Hosts::new();
    let client = hosts.connect();
    (0..5).for_each(|_| hosts.step());
    let server = hosts.hosts[1].accept(80).unwrap();
    let octets = vec![7; 50_000];
    let mut buffer = vec![0; 50_000];
    let mut read = 0;
    let mut transfer = |hosts: &mut Hosts, turns: usize| {
        for _ in 0..turns {
            let connection = hosts.hosts[0].connection_mut(client).unwrap();
            let _ = connection.write(&octets);
            hosts.step();
            let connection = hosts.hosts[1].connection_mut(server).unwrap();
            read += connection.read(&mut buffer).unwrap_or(0);
        }
    };
    transfer(&mut hosts, 300);
    let steady = Region::new(ALLOCATOR);
    transfer(&mut hosts, 500);
    let change = steady.change();
    assert_eq!(change.allocations + change.reallocations, 0, "{change:?}");
    assert!(read > 10_000_000, "{read}");

    const COUNT: usize = 1000;
    let before = Region::new(ALLOCATOR);
    (0..COUNT).for_each(|_| {
        hosts.connect();
    });
    (0..5).for_each(|_| hosts.step());
    let change = before.change();
    assert_eq!(hosts.hosts[1].len(), COUNT + 1);
    let held = change.bytes_allocated - change.bytes_deallocated;
    // Two ends for each.
    let each = held / (2 * COUNT);
    eprintln!(
        "an idle connection takes {each} octets, {} of them itself",
        size_of::<Connection>()
    );
    assert!(each < 3000, "{each}");
}
