//! Any octets go as packets to two SCTP associations in any state: nobody panics, and what is sent is well-formed.
//!
//! The input is a list of steps. The first octet of a step selects what happens; a packet's length and octets follow.
//! Bits 0 and 1 of the first octet: 0, the end in bit 2 receives the packet as it is; 1, it receives the packet with
//! the correct checksum and tag; 2, both ends exchange all their packets; 3, time passes, as long as bits 3 to 7 give.
#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use std::net::Ipv4Addr;
use transport::sctp::packet::{Packet, Writer};
use transport::sctp::{Association, Config, Delivery, Route};
use units::{Duration, Instant};

fn addresses(end: u8) -> Vec<Ipv4Addr> {
    (0..2)
        .map(|path| Ipv4Addr::new(10, path, 0, 1 + end))
        .collect()
}

fn config(end: u8) -> Config {
    Config {
        timestamps: true,
        spc: true,
        thresholds: vec![Duration::from_millis(1)],
        ..Config::dahal(addresses(end), 7, [end; 32])
    }
}

struct Pair {
    now: Instant,
    ends: [Association; 2],
    /// The tag that each end wants to see, as far as its peer has shown it.
    tags: [u32; 2],
}

impl Pair {
    /// What one end has to send goes to the other, path by path; every eighth packet is lost.
    fn exchange(&mut self) {
        let mut octets = Vec::new();
        for turn in 0..64 {
            let end = turn % 2;
            let Some(route) = self.ends[end].poll_transmit(self.now, &mut octets) else {
                continue;
            };
            let packet = Packet::parse(&octets).expect("what is sent has a good checksum");
            for chunk in packet.chunks() {
                chunk.expect("what is sent is well-formed");
            }
            if packet.tag != 0 {
                self.tags[1 - end] = packet.tag;
            }
            if turn % 16 < 14 {
                let back = Route {
                    local: route.remote,
                    remote: route.local,
                };
                let _ = self.ends[1 - end].handle_packet(self.now, back, &octets);
            }
        }
        for end in &mut self.ends {
            while let Some(message) = end.read() {
                end.recycle(message.payload);
            }
            while end.poll_event().is_some() {}
        }
    }

    fn forge(&mut self, end: usize, path: usize, octets: &[u8], right: bool) {
        let route = Route {
            local: addresses(end as u8)[path],
            remote: addresses(1 - end as u8)[path],
        };
        if !right {
            let _ = self.ends[end].handle_packet(self.now, route, octets);
            return;
        }
        let mut out = Vec::new();
        let mut packet = Writer::new(&mut out, 7, 7, self.tags[end]);
        packet.raw(octets);
        packet.finish();
        let _ = self.ends[end].handle_packet(self.now, route, &out);
    }
}

fuzz_target!(|input: &[u8]| {
    let now = Instant::from_secs_f64(1.0);
    let remote = addresses(1)[0];
    let client = Association::connect(config(0), now, remote, 7).expect("settings that can be");
    let server = Association::listen(config(1)).expect("settings that can be");
    let mut pair = Pair {
        now,
        ends: [client, server],
        tags: [0; 2],
    };
    let message = Bytes::from_static(&[1; 4000]);
    let mut rest = input;
    while let Some((&how, after)) = rest.split_first() {
        rest = after;
        let (end, path) = (usize::from(how >> 2 & 1), usize::from(how >> 3 & 1));
        match how & 3 {
            2 => {
                let _ = pair.ends[end].write(Delivery::default(), &message);
                if how == 0xFE {
                    pair.ends[end].shutdown(pair.now);
                }
                pair.exchange();
            }
            3 => {
                pair.now += Duration::from_millis(1 << (how >> 4));
                for end in &mut pair.ends {
                    end.handle_timeout(pair.now);
                }
            }
            kind => {
                let Some((&length, after)) = rest.split_first() else {
                    return;
                };
                let (octets, after) = after.split_at(usize::from(length).min(after.len()));
                rest = after;
                pair.forge(end, path, octets, kind == 1);
            }
        }
    }
    pair.exchange();
});
