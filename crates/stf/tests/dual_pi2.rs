//! `l4s.p4` decides as the pseudocode of RFC 9332 (appendix A) does: a model of that runs over the packets that leave,
//! with the same random draws.

mod support;

use engine::{Event, Match, Packet, PortConfig, Scheduling, Switch, SwitchConfig};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::collections::BTreeMap;
use std::path::Path;
use units::{Instant, Rate};

const HOST: u32 = 0x0a00_0214;
const SEED: u64 = 5;
const ONE: i128 = 1 << 32;

/// What `control_queueing` gets.
#[derive(Clone, Copy)]
struct Settings {
    target: i128,
    interval_log2: u32,
    alpha: i128,
    beta: i128,
    coupling: i128,
    step: i128,
}

const RFC: Settings = Settings {
    target: 15_000,
    interval_log2: 14,
    alpha: 687,
    beta: 13_744,
    coupling: 2,
    step: 1_000,
};

/// An IPv4 frame of this length and ECN field.
fn frame(ecn: u8, octets: u32, tag: u64) -> Packet {
    let mut frame = vec![2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 10, 8, 0];
    let mut header = vec![0x45, ecn, (octets >> 8) as u8, octets as u8, 0, 0, 0x40, 0];
    header.extend([64, 253, 0, 0, 10, 0, 1, 10]);
    header.extend(HOST.to_be_bytes());
    support::set_checksum(&mut header);
    frame.extend(header);
    Packet {
        octets: frame.into(),
        elided: octets - 20,
        link_octets: octets,
        tag,
    }
}

fn switch(bps: u64, settings: Settings) -> Switch {
    let main = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4src/v1model/l4s.p4");
    let program = support::compile(&main).unwrap_or_else(|why| panic!("{why}"));
    let line = PortConfig {
        rate: Rate::from_bps(bps),
        scheduling: Scheduling::weighted(&[1, 9]),
        ..PortConfig::default()
    };
    let config = SwitchConfig {
        seed: SEED,
        ports: BTreeMap::from([(2, line)]),
        report_drops: true,
        ..SwitchConfig::default()
    };
    let mut switch = Switch::new(&program, config).expect("a program for the engine");
    let mut add = |table: &str, matches: &[(&str, Match)], action: &str, args: &[(&str, i128)]| {
        let args: Vec<_> = args
            .iter()
            .map(|&(name, value)| (name, (value as u64).into()))
            .collect();
        switch
            .add(table, matches, 0, action, &args)
            .unwrap_or_else(|why| panic!("{why}"));
    };
    let port = ("port", Match::exact(2u8));
    let route = [("dst_addr", Match::lpm(HOST, 32))];
    add("ipv4_route", &route, "direct", &[("port", 2)]);
    let neighbour = [port.clone(), ("next_hop", Match::exact(HOST))];
    let addresses = [("src_addr", 2), ("dst_addr", 3)];
    add("neighbour", &neighbour, "rewrite", &addresses);
    let Settings {
        target,
        interval_log2,
        alpha,
        beta,
        coupling,
        step,
    } = settings;
    let settings = [
        ("target", target),
        ("interval_log2", interval_log2.into()),
        ("alpha", alpha),
        ("beta", beta),
        ("coupling", coupling),
        ("step", step),
    ];
    add("dual_pi2", &[port], "control_queueing", &settings);
    switch
}

/// A packet that left its queue: its fate.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Sent(u8),
    Dropped,
}

/// The pseudocode of RFC 9332, with p in 2^-32 and times in µs.
struct Model {
    settings: Settings,
    draws: ChaCha8Rng,
    p: i128,
    last_queueing: i128,
    /// The boundary of intervals that was passed last.
    tick: i128,
    /// How long each queue's last packet waited, and when it left.
    last: [Option<(i128, i128)>; 2],
    /// Packets that wait in each queue.
    waiting: [i128; 2],
}

impl Model {
    /// `dualpi2_update`.
    fn update(&mut self, queueing: i128) {
        let Settings {
            target,
            alpha,
            beta,
            ..
        } = self.settings;
        let change = alpha * (queueing - target) + beta * (queueing - self.last_queueing);
        self.p = (self.p + change).clamp(0, ONE - 1);
        self.last_queueing = queueing;
    }

    /// `dualpi2_dequeue`, for a packet of this ECN field that waited from `enqueued` to `now`.
    fn leave(&mut self, now: i128, enqueued: i128, ecn: u8) -> Fate {
        let queue = usize::from(ecn & 1);
        let waited = now - enqueued;
        let interval = 1 << self.settings.interval_log2;
        self.waiting[queue] -= 1;
        self.last[queue] = Some((waited, now));
        let recent = |last: &Option<(i128, i128)>| match *last {
            Some((waited, left)) if now - left < interval => waited,
            _ => 0,
        };
        let queueing = self.last.iter().map(recent).max().unwrap();
        let boundary = now / interval;
        if boundary > self.tick {
            if waited < interval {
                for _ in self.tick + 1..boundary {
                    self.last_queueing = 0;
                    self.update(0);
                    if self.p == 0 {
                        break;
                    }
                }
            }
            self.update(queueing);
            self.tick = boundary;
        }

        let first = i128::from(self.draws.next_u64() >> 32);
        let second = i128::from(self.draws.next_u64() >> 32);
        let squared = first < self.p && second < self.p;
        let coupled = self.p * self.settings.coupling;
        let overload = coupled >= ONE;
        if self.waiting[0] + self.waiting[1] < 2 {
            return Fate::Sent(ecn);
        }
        match (queue, overload) {
            (0, _) if squared && (overload || ecn == 0) => Fate::Dropped,
            (0, _) if squared => Fate::Sent(3),
            (1, true) if squared => Fate::Dropped,
            (1, true) => Fate::Sent(3),
            (1, false) if first < coupled || waited > self.settings.step => Fate::Sent(3),
            _ => Fate::Sent(ecn),
        }
    }
}

/// Bursts at random for `seconds`, `load` times the line's rate on average. Returns how many were dropped and marked.
fn run(bps: u64, load: f64, settings: Settings, seconds: u64) -> (usize, usize) {
    let mut switch = switch(bps, settings);
    let mut random = ChaCha8Rng::seed_from_u64(9);
    let mut arrivals = Vec::new();
    let mut at = 0;
    while at < seconds * 1_000_000 {
        // Mostly bursts, now and then a pause in which the queues run empty.
        let octets = 100 + (random.next_u64() % 1400) as u32;
        let ecn = (random.next_u64() % 4) as u8;
        arrivals.push((at, octets, ecn));
        let mean = (f64::from(octets) * 8e6 / bps as f64 / load) as u64 + 1;
        at += match random.next_u64() % 1000 {
            0 => 200_000,
            1..600 => 0,
            _ => random.next_u64() % (mean * 5),
        };
    }

    let mut left: Vec<(Instant, u64, Fate)> = Vec::new();
    let mut take = |switch: &mut Switch, until: Instant| {
        while let Some(next) = switch.poll_timeout().filter(|&next| next <= until) {
            while let Some(sent) = switch.poll_transmit(next) {
                let fate = Fate::Sent(sent.packet.octets[15] & 3);
                left.push((sent.start, sent.packet.tag, fate));
                switch.recycle(sent.packet);
            }
        }
        while let Some(event) = switch.poll_event() {
            if let Event::Drop(drop) = event {
                left.push((drop.at, drop.tag, Fate::Dropped));
            }
        }
    };
    for (tag, &(at, octets, ecn)) in (0..).zip(&arrivals) {
        take(&mut switch, Instant::from_micros(at));
        switch.handle_packet(Instant::from_micros(at), 1, frame(ecn, octets, tag));
    }
    take(&mut switch, Instant::MAX);
    assert_eq!(left.len(), arrivals.len());
    // A dropped packet leaves the line free for the next one, which starts at the same time.
    left.sort_by_key(|&(start, _, fate)| (start, fate != Fate::Dropped));

    let mut model = Model {
        settings,
        draws: ChaCha8Rng::seed_from_u64(SEED),
        p: 0,
        last_queueing: 0,
        tick: 0,
        last: [None; 2],
        waiting: [0; 2],
    };
    let mut arrived = (0..).zip(&arrivals).peekable();
    let (mut dropped, mut marked) = (0, 0);
    for &(start, tag, fate) in &left {
        // What comes as another packet leaves comes after it.
        let before = |at: u64, number: u64| Instant::from_micros(at) < start || number <= tag;
        while let Some((_, &(_, _, ecn))) =
            arrived.next_if(|&(number, &(at, ..))| before(at, number))
        {
            model.waiting[usize::from(ecn & 1)] += 1;
        }
        let (enqueued, _, ecn) = arrivals[tag as usize];
        let expected = model.leave(start.as_micros().into(), enqueued.into(), ecn);
        assert_eq!(fate, expected, "packet {tag} at {start:?}, p {}", model.p);
        dropped += usize::from(fate == Fate::Dropped);
        marked += usize::from(fate == Fate::Sent(3) && ecn != 3);
    }
    (dropped, marked)
}

#[test]
fn the_same_packets_are_marked_and_dropped() {
    for (bps, load) in [
        (10_000_000, 0.9),
        (10_000_000, 1.3),
        (100_000_000, 1.05),
        (2_000_000, 3.0),
    ] {
        let (dropped, marked) = run(bps, load, RFC, 12);
        assert!(
            dropped > 10 && marked > 200,
            "{bps} at {load}: {dropped}, {marked}"
        );
    }
}

#[test]
fn other_settings_too() {
    let settings = Settings {
        target: 5_000,
        interval_log2: 12,
        alpha: 2_000,
        beta: 40_000,
        coupling: 1,
        step: 400,
    };
    let (dropped, marked) = run(20_000_000, 1.2, settings, 4);
    assert!(dropped > 20 && marked > 200, "{dropped}, {marked}");
}

#[test]
fn a_load_below_the_rate_loses_nothing() {
    let (dropped, _) = run(50_000_000, 0.2, RFC, 4);
    assert_eq!(dropped, 0);
}
