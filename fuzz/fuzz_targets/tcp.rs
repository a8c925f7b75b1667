//! Two hosts with the modern profile of TCP, between which the input decides what arrives: packets as they were sent,
//! in any order, lost, doubled, trimmed or changed with their checksums made right again, and octets that nobody sent.
//!
//! The first octet chooses the settings. Each step begins with an octet that selects what happens, and its operands follow.
//! Whatever happens, neither host goes on sending for ever, what is in flight has a timer, and while nothing was changed
//! or made up, what is read is what was written.
#![no_main]

use congestion::RenoConfig;
use libfuzzer_sys::fuzz_target;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::Arc;
use transport::tcp::modern::{Config, EcnMode, Endpoint, Id, Stamps};
use units::{Duration, Instant};

const ADDRESSES: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2)];
const PORT: u16 = 80;
/// Packets that two hosts may send before anything arrives.
const MOST: usize = 10_000;

struct World {
    now: Instant,
    hosts: [Endpoint; 2],
    ids: [Option<Id>; 2],
    /// To each host.
    on_the_way: [Vec<Vec<u8>>; 2],
    written: [u64; 2],
    read: [u64; 2],
    /// A packet was changed or made up.
    forged: bool,
}

fuzz_target!(|input: &[u8]| {
    let mut octets = input.iter().copied();
    let Some(settings) = octets.next() else {
        return;
    };
    let mut world = World::new(settings);
    while let Some(step) = octets.next() {
        let mut next = || octets.next().unwrap_or(0);
        let to = usize::from(step & 1);
        match step >> 1 & 15 {
            0..=4 => world.deliver(to, next(), |_| false),
            5 => {
                let octets = usize::from(next());
                world.deliver(to, 0, |packet| trim(packet, octets));
            }
            6 => {
                let changes = next() % 5;
                let changes: Vec<[u8; 2]> = (0..changes).map(|_| [next(), next()]).collect();
                world.deliver(to, 0, |packet| change(packet, &changes));
            }
            7 => {
                let length = usize::from(next());
                let mut packet: Vec<u8> = (0..length).map(|_| next()).collect();
                repair(&mut packet);
                world.forged = true;
                let _ = world.hosts[to].handle_packet(world.now, &packet);
            }
            8 => drop(world.on_the_way[to].pop()),
            9 => {
                let copy = world.on_the_way[to].first().cloned();
                world.on_the_way[to].extend(copy);
            }
            10 => world.pass(Duration::from_micros(u64::from(next()) * 1000)),
            11 => world.time_out(),
            12 => world.write(to, usize::from(next()) * 16),
            13 => world.read(to, usize::from(next()) * 16),
            14 => world.act(to, next()),
            _ => world.on_the_way[to].clear(),
        }
        world.pump();
    }
});

impl World {
    fn new(settings: u8) -> Self {
        let bit = |n: u8| settings >> n & 1 != 0;
        let config = Config {
            sack: bit(0),
            timestamps: if bit(1) { Stamps::Millis } else { Stamps::Off },
            window_scaling: bit(2),
            ecn: match (bit(3), bit(7)) {
                (true, _) => EcnMode::Classic,
                (false, true) => EcnMode::L4s,
                (false, false) => EcnMode::Accurate,
            },
            trimming: bit(3),
            aqt: bit(4),
            tcp_int: bit(4),
            // Telemetry of eight hops does not fit into the short packets.
            int: bit(3) && !bit(6),
            receive_buffer: if bit(5) { 3000 } else { 200_000 },
            mtu: if bit(6) { 200 } else { 1500 },
            pacing: bit(7),
            ..Config::default()
        };
        let host =
            |address, config| Endpoint::new(address, config, Arc::new(RenoConfig {}), [7; 16]);
        let mut world = World {
            now: Instant::from_micros(1_000_000),
            hosts: [
                host(ADDRESSES[0], config.clone()),
                host(ADDRESSES[1], config),
            ],
            ids: [None; 2],
            on_the_way: Default::default(),
            written: [0; 2],
            read: [0; 2],
            forged: false,
        };
        world.hosts[1].listen(PORT, 4).expect("the port is free");
        let remote = SocketAddrV4::new(ADDRESSES[1], PORT);
        world.ids[0] = world.hosts[0].connect(world.now, remote).ok();
        world.pump();
        world
    }

    fn pump(&mut self) {
        let mut buffer = [0; 1500];
        for (from, host) in self.hosts.iter_mut().enumerate() {
            let mut sent = 0;
            while let Some(octets) = host.poll_transmit(self.now, &mut buffer) {
                sent += 1;
                assert!(sent < MOST, "host {from} never stops");
                if self.on_the_way[1 - from].len() < MOST {
                    self.on_the_way[1 - from].push(buffer[..octets].to_vec());
                }
            }
        }
        self.ids[1] = self.ids[1].or_else(|| self.hosts[1].accept(PORT));
        for (host, id) in self.hosts.iter().zip(self.ids) {
            if let Some(connection) = id.and_then(|id| host.connection(id)) {
                let idle = connection.in_flight() == 0 || connection.ended().is_some();
                assert!(idle || connection.poll_timeout().is_some(), "no timer");
            }
        }
    }

    fn deliver(&mut self, to: usize, index: u8, change: impl FnOnce(&mut Vec<u8>) -> bool) {
        let waiting = self.on_the_way[to].len();
        if waiting == 0 {
            return;
        }
        let mut packet = self.on_the_way[to].remove(usize::from(index) % waiting);
        self.forged |= change(&mut packet);
        let read = self.hosts[to].handle_packet(self.now, &packet);
        assert!(self.forged || read.is_ok());
    }

    fn pass(&mut self, time: Duration) {
        self.now += time;
        let now = self.now;
        self.hosts
            .iter_mut()
            .for_each(|host| host.handle_timeout(now));
    }

    fn time_out(&mut self) {
        let earliest = self.hosts.iter().filter_map(Endpoint::poll_timeout).min();
        if let Some(at) = earliest {
            self.pass(at.since(self.now));
        }
    }

    fn write(&mut self, host: usize, count: usize) {
        let Some(connection) = self.ids[host].and_then(|id| self.hosts[host].connection_mut(id))
        else {
            return;
        };
        let from = self.written[host];
        let octets: Vec<u8> = (from..from + count as u64)
            .map(|place| place as u8)
            .collect();
        self.written[host] += connection.write(&octets).unwrap_or(0) as u64;
    }

    fn read(&mut self, host: usize, count: usize) {
        let Some(connection) = self.ids[host].and_then(|id| self.hosts[host].connection_mut(id))
        else {
            return;
        };
        let mut buffer = vec![0; count];
        let count = connection.read(&mut buffer).unwrap_or(0);
        for &octet in &buffer[..count] {
            assert!(self.forged || octet == self.read[host] as u8);
            self.read[host] += 1;
        }
    }

    fn act(&mut self, host: usize, how: u8) {
        let Some(id) = self.ids[host] else {
            return;
        };
        match how & 3 {
            0 => self.hosts[host].release(id),
            1 => {
                if let Some(connection) = self.hosts[host].connection_mut(id) {
                    connection.abort();
                }
            }
            _ => {
                if let Some(connection) = self.hosts[host].connection_mut(id) {
                    connection.close();
                }
            }
        }
    }
}

/// Whether there was anything to change.
fn change(packet: &mut Vec<u8>, changes: &[[u8; 2]]) -> bool {
    for [at, value] in changes {
        let at = usize::from(*at) % packet.len();
        packet[at] ^= value;
    }
    repair(packet);
    !changes.is_empty()
}

/// A switch cuts a packet that may be cut to its headers and this many octets.
fn trim(packet: &mut Vec<u8>, octets: usize) -> bool {
    const TRIMMABLE: u8 = 3;
    const TRIMMED: u8 = 7;
    if packet[1] >> 2 != TRIMMABLE {
        return false;
    }
    packet[1] = TRIMMED << 2 | packet[1] & 3;
    let header = usize::from(packet[0] & 15) * 4;
    packet.truncate(header + 20 + octets);
    packet[10..12].copy_from_slice(&[0, 0]);
    let checksum = !fold(sum(&packet[..header]));
    packet[10..12].copy_from_slice(&checksum.to_be_bytes());
    false
}

/// Makes lengths and checksums right, as far as there is a header; from and to are the two hosts.
fn repair(packet: &mut Vec<u8>) {
    packet.resize(packet.len().max(40), 0);
    let words = usize::from(packet[0] & 15).clamp(5, 15);
    packet[0] = 0x40 | words as u8;
    let header = words * 4;
    packet.resize(packet.len().max(header + 20), 0);
    let length = packet.len() as u16;
    packet[2..4].copy_from_slice(&length.to_be_bytes());
    packet[6..8].copy_from_slice(&[0, 0]);
    packet[9] = 6;
    let addresses = [ADDRESSES[0].octets(), ADDRESSES[1].octets()];
    if packet[16..20] != addresses[0] {
        packet[12..16].copy_from_slice(&addresses[0]);
        packet[16..20].copy_from_slice(&addresses[1]);
    }
    packet[10..12].copy_from_slice(&[0, 0]);
    let checksum = !fold(sum(&packet[..header]));
    packet[10..12].copy_from_slice(&checksum.to_be_bytes());
    packet[header + 16..header + 18].copy_from_slice(&[0, 0]);
    let pseudo = sum(&packet[12..20]) + 6 + u32::from(length) - header as u32;
    let checksum = !fold(pseudo + sum(&packet[header..]));
    packet[header + 16..header + 18].copy_from_slice(&checksum.to_be_bytes());
}

/// Of big-endian 16-bit words (RFC 1071).
fn sum(octets: &[u8]) -> u32 {
    let word = |pair: &[u8]| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0));
    octets.chunks(2).map(word).sum()
}

fn fold(mut sum: u32) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}
