//! What csig.p4 and tcp_int.p4 collect on a way of three hops: a model computes each hop's value again from the times at
//! which packets joined and left its queue, and what the receiver gets must be the worst of them.

mod support;

use engine::{Match, Packet, PortConfig, Switch, SwitchConfig};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::collections::BTreeMap;
use std::path::Path;
use support::add;
use units::{Instant, Rate};

const HOST: u32 = 0x0a00_0214;
const PORT: u16 = 2;
const TTL: u8 = 64;
/// Windows of 2^12 µs.
const WINDOW_LOG2: u32 = 12;
/// From a hop to the next.
const DELAY_NS: u64 = 123_457;
/// Of the hops' lines.
const RATES_BPS: [u64; 3] = [40_000_000, 25_000_000, 30_000_000];

/// A packet on its way.
#[derive(Clone)]
struct Sent {
    /// Where it came from: the start of the path, or next to a hop, behind which it leaves the path.
    along: bool,
    /// When it comes to the next hop.
    at: Instant,
    packet: Packet,
}

/// The fate of a packet at a hop.
#[derive(Clone, Copy, Debug)]
struct Passed {
    tag: u64,
    octets: u64,
    joined_us: u64,
    left_us: u64,
}

impl Passed {
    fn waited_us(&self) -> u64 {
        self.left_us - self.joined_us
    }

    fn window(&self) -> u64 {
        self.left_us >> WINDOW_LOG2
    }
}

/// A packet that its tag tells apart, of this length, with these octets in front of IPv4 and behind it.
fn packet(in_front: &[u8], behind: &[u8], octets: u32, tag: u64) -> Packet {
    let ether_type: &[u8] = if in_front.is_empty() {
        &[8, 0]
    } else {
        in_front
    };
    let mut frame = vec![2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 10];
    frame.extend(ether_type);
    let mut header = vec![0x45, 0, (octets >> 8) as u8, octets as u8, 0, 0, 0x40, 0];
    header.extend([TTL, 6, 0, 0, 10, 0, 1, 10]);
    header.extend(HOST.to_be_bytes());
    support::set_checksum(&mut header);
    frame.extend(header);
    frame.extend(behind);
    Packet {
        octets: frame.into(),
        elided: octets - 20 - behind.len() as u32,
        link_octets: octets + if in_front.is_empty() { 0 } else { 4 },
        tag,
    }
}

/// A hop of this program, with one line.
fn hop(program: &str, rate_bps: u64, seed: u64) -> Switch {
    let main = format!("../../p4src/v1model/{program}.p4");
    let main = Path::new(env!("CARGO_MANIFEST_DIR")).join(main);
    let program = support::compile(&main).unwrap_or_else(|why| panic!("{why}"));
    let line = PortConfig {
        rate: Rate::from_bps(rate_bps),
        ..PortConfig::default()
    };
    let config = SwitchConfig {
        seed,
        ports: BTreeMap::from([(PORT, line)]),
        ..SwitchConfig::default()
    };
    let mut switch = Switch::new(&program, config).expect("a program for the engine");
    let route = [("dst_addr", Match::lpm(HOST, 32))];
    add(
        &mut switch,
        "ipv4_route",
        &route,
        "direct",
        &[("port", PORT.into())],
    );
    let neighbour = [port(), ("next_hop", Match::exact(HOST))];
    let addresses = [("src_addr", 2), ("dst_addr", 3)];
    add(&mut switch, "neighbour", &neighbour, "rewrite", &addresses);
    switch
}

fn port() -> (&'static str, Match) {
    ("port", Match::exact(PORT))
}

/// Takes packets through a hop, in the order in which they come; they leave for the next one.
fn pass(switch: &mut Switch, mut coming: Vec<Sent>) -> (Vec<Sent>, Vec<Passed>) {
    coming.sort_by_key(|sent| (sent.at, sent.packet.tag));
    let along: BTreeMap<u64, bool> = coming.iter().map(|s| (s.packet.tag, s.along)).collect();
    let (mut left, mut passed) = (Vec::new(), Vec::new());
    let mut take = |switch: &mut Switch, until: Instant| {
        while let Some(next) = switch.poll_timeout().filter(|&next| next <= until) {
            while let Some(sent) = switch.poll_transmit(next) {
                let tag = sent.packet.tag;
                passed.push(Passed {
                    tag,
                    octets: sent.packet.link_octets.into(),
                    joined_us: sent.enqueued.as_micros(),
                    left_us: sent.start.as_micros(),
                });
                left.push(Sent {
                    along: along[&tag],
                    at: sent.end + units::Duration::from_nanos(DELAY_NS),
                    packet: sent.packet,
                });
            }
        }
    };
    let count = coming.len();
    for sent in coming {
        take(switch, sent.at);
        switch.handle_packet(sent.at, 1, sent.packet);
    }
    take(switch, Instant::MAX);
    assert_eq!(left.len(), count, "no packet is lost");
    left.retain(|sent| sent.along);
    (left, passed)
}

/// Bursts at random over `ms`, of `share` of the line's rate on average, with pauses in which a line is idle.
fn bursts(random: &mut ChaCha8Rng, bps: u64, share: f64, ms: u64) -> Vec<(Instant, u32)> {
    let mut all = Vec::new();
    let mut at_ns = 0;
    while at_ns < ms * 1_000_000 {
        let octets = 100 + random.next_u32() % 1300;
        all.push((Instant::from_nanos(at_ns), octets));
        let mean_ns = (f64::from(octets) * 8e9 / bps as f64 / share) as u64;
        at_ns += match random.next_u32() % 1000 {
            0..2 => 4_000_000,
            2..600 => 0,
            _ => random.next_u64() % (mean_ns * 5),
        };
    }
    all
}

/// A packet of the way as it was sent and as it was received, and how it passed each hop, with the octets that had left
/// there in the window before.
struct Received {
    sent: Vec<u8>,
    octets: Vec<u8>,
    tag: u64,
    passed: Vec<(Passed, u64)>,
}

/// Sends packets on the path and next to each hop; `make` writes what hops read, and `set_up` configures a hop.
fn way(
    program: &str,
    make: impl Fn(&mut ChaCha8Rng, u32, u64) -> Packet,
    set_up: impl Fn(&mut Switch, usize),
) -> Vec<Received> {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let mut tag = 0;
    let mut draw = |random: &mut ChaCha8Rng, along, bps, share| -> Vec<Sent> {
        let bursts = bursts(random, bps, share, 400);
        let made = bursts.into_iter().map(|(at, octets)| {
            tag += 1;
            let packet = make(random, octets, tag);
            Sent { along, at, packet }
        });
        made.collect()
    };
    let mut way = draw(&mut random, true, RATES_BPS[1], 0.4);
    let octets = |sent: &Sent| (sent.packet.tag, sent.packet.octets.to_vec());
    let sent: BTreeMap<_, _> = way.iter().map(octets).collect();
    let mut histories = BTreeMap::<u64, Vec<_>>::new();
    for (at, bps) in RATES_BPS.into_iter().enumerate() {
        let mut switch = hop(program, bps, at as u64);
        set_up(&mut switch, at);
        way.extend(draw(&mut random, false, bps, 0.35));
        let (left, passed) = pass(&mut switch, way);
        way = left;
        let octets = octets_by_window(&passed);
        for one in passed {
            let last = one
                .window()
                .checked_sub(1)
                .and_then(|last| octets.get(&last));
            let history = histories.entry(one.tag).or_default();
            history.push((one, last.copied().unwrap_or(0)));
        }
    }
    let received = way.into_iter().map(|Sent { packet, .. }| Received {
        sent: sent[&packet.tag].clone(),
        octets: packet.octets.into(),
        tag: packet.tag,
        passed: histories[&packet.tag].clone(),
    });
    received.collect()
}

/// Octets that left in each window.
fn octets_by_window(passed: &[Passed]) -> BTreeMap<u64, u64> {
    let mut octets = BTreeMap::new();
    for one in passed {
        *octets.entry(one.window()).or_default() += one.octets;
    }
    octets
}

mod csig {
    use super::*;

    const UNIT: u64 = 8;

    /// Where a signal's bands begin: equal ones for a share; else 0, and half-octaves from the unit on.
    fn begins(signal: u8) -> Vec<u64> {
        match signal {
            1 => (0..32).map(|band| band << 11).collect(),
            _ => {
                let unit = if signal == 0 { 16 * UNIT } else { UNIT };
                let half_octaves = (0..31).map(|step| {
                    // √2^step, rounded up: 2^(step/2), or its square root of 2 times.
                    let squared = (unit * unit) << step;
                    squared.isqrt() + u64::from(squared.isqrt().pow(2) < squared)
                });
                [0].into_iter().chain(half_octaves).collect()
            }
        }
    }

    fn band(signal: u8, value: u64) -> u8 {
        let reached = begins(signal).into_iter().filter(|&begin| begin <= value);
        reached.count() as u8 - 1
    }

    fn capacity(bps: u64) -> u64 {
        bps * (1 << WINDOW_LOG2) / 8_000_000
    }

    fn set_up(switch: &mut Switch, at: usize) {
        let capacity = capacity(RATES_BPS[at]);
        let write = [
            ("locator", at as u64 + 1),
            ("interval_log2", WINDOW_LOG2.into()),
            ("capacity", capacity),
            ("per_octet", (1 << 48) / capacity),
            ("strip", 0),
        ];
        add(switch, "csig_port", &[port()], "write", &write);
        for signal in 0..3u8 {
            let begins = begins(signal);
            for (band, &low) in begins.iter().enumerate() {
                let high = begins
                    .get(band + 1)
                    .map_or(u32::MAX.into(), |next| next - 1);
                let key = [
                    ("signal", Match::exact(signal)),
                    ("value", Match::range(low, high)),
                ];
                let band = (band as u64).into();
                switch
                    .add("csig_band", &key, 1, "set_band", &[("band", band)])
                    .unwrap_or_else(|why| panic!("{why}"));
            }
        }
    }

    /// A hop's value of a signal.
    fn value(signal: u8, at: usize, passed: &Passed, last_octets: u64) -> u64 {
        let capacity = capacity(RATES_BPS[at]);
        let available = capacity.saturating_sub(last_octets);
        match signal {
            0 => available,
            1 => (available * ((1 << 48) / capacity)) >> 32,
            _ => passed.waited_us(),
        }
    }

    #[test]
    fn tags_bring_the_worst_hop_s_value() {
        let make = |_: &mut ChaCha8Rng, octets, tag: u64| {
            let signal = (tag % 3) as u8;
            let band = if signal == 2 { 0 } else { 31 };
            packet(
                &[
                    0x88,
                    0xb5,
                    signal << 5 | band >> 1 & 0xf,
                    (band & 1) << 7,
                    8,
                    0,
                ],
                &[],
                octets,
                tag,
            )
        };
        let mut seen = [0u32; 3];
        let mut by_hop = [[0; 4]; 3];
        for packet in way("csig", make, set_up) {
            let signal = (packet.tag % 3) as u8;
            let (mut band_left, mut locator) = if signal == 2 { (0, 0) } else { (31, 0) };
            for (at, (one, last_octets)) in packet.passed.iter().enumerate() {
                let own = band(signal, value(signal, at, one, *last_octets));
                if (signal == 2 && own > band_left) || (signal != 2 && own < band_left) {
                    (band_left, locator) = (own, at as u8 + 1);
                }
            }
            let [high, low] = [packet.octets[14], packet.octets[15]];
            let found = (high >> 5, (high & 0xf) << 1 | low >> 7, low & 0x7f);
            assert_eq!(found, (signal, band_left, locator), "{:?}", packet.passed);
            seen[usize::from(signal)] |= 1 << band_left;
            by_hop[usize::from(signal)][usize::from(locator)] += 1;
        }
        // Each signal has had many values, each hop has been the worst.
        assert!(
            seen.iter().all(|bands| bands.count_ones() >= 8),
            "{seen:x?}"
        );
        assert!(
            by_hop.iter().all(|hops| hops[1..].iter().all(|&n| n > 20)),
            "{by_hop:?}"
        );
    }
}

mod tcp_int {
    use super::*;

    const FULL: u64 = 127;

    fn per_octet(bps: u64) -> u64 {
        (FULL << 40).div_ceil(bps * (1 << WINDOW_LOG2) / 8_000_000)
    }

    fn octets_per_us(bps: u64) -> u64 {
        (bps << 16) / 8_000_000
    }

    fn set_up(switch: &mut Switch, at: usize) {
        let bps = RATES_BPS[at];
        let write = [
            ("interval_log2", WINDOW_LOG2.into()),
            ("per_octet", per_octet(bps)),
            ("octets_per_us", octets_per_us(bps)),
            ("link_speed", at as u64 + 1),
        ];
        add(switch, "tcp_int_port", &[port()], "write", &write);
    }

    /// Utilisation in units of 1/127; or the queue in front in units of 2^13 octets, from 0x80 on.
    fn value(at: usize, passed: &Passed, last_octets: u64) -> u8 {
        let bps = RATES_BPS[at];
        let used = (last_octets * per_octet(bps)) >> 40;
        let queue = ((passed.waited_us() * octets_per_us(bps)) >> 16) >> 13;
        match queue > 0 || used >= FULL {
            true => 0x80 + queue.min(FULL) as u8,
            false => used as u8,
        }
    }

    /// A TCP header with the option behind `nops` octets of NOP, and EOL up to whole words.
    fn header(nops: usize, latency: u32, value: u8) -> Vec<u8> {
        let options = (nops + 12).next_multiple_of(4);
        let mut header = vec![0x12, 0x34, 0x56, 0x78, 0, 0, 0, 1, 0, 0, 0, 2];
        header.extend([(20 + options as u8) << 2, 0x10, 1, 0, 0x9a, 0xbc, 0, 0]);
        header.extend(std::iter::repeat_n(1, nops));
        header.extend([0x72, 12, 0x30, value, 0]);
        header.extend(&latency.to_be_bytes()[1..]);
        header.extend([5, 0, 0, 6]);
        header.resize(20 + options, 0);
        header
    }

    fn latency(option: &[u8]) -> u64 {
        u32::from_be_bytes([0, option[5], option[6], option[7]]).into()
    }

    /// The ones' complement sum of the words, the checksum's included.
    fn sum(octets: &[u8]) -> u64 {
        let words = octets
            .chunks(2)
            .map(|word| u64::from(word[0]) << 8 | u64::from(word[1]));
        words.sum::<u64>() % 0xffff
    }

    #[test]
    fn options_bring_all_latencies_and_the_worst_hop_s_value() {
        let make = |random: &mut ChaCha8Rng, octets, tag: u64| {
            let nops = (tag % 4) as usize;
            // Some packets come with much latency, or with a value that few hops exceed.
            let (latency, value) = match random.next_u32() % 8 {
                0 => (0xff_fff0, 0),
                1 => (100, 110),
                _ => (0, 0),
            };
            packet(&[], &header(nops, latency, value), octets, tag)
        };
        let mut by_hop = [0; 4];
        let (mut saturated, mut queues, mut uses) = (0, 0, 0);
        for packet in way("tcp_int", make, set_up) {
            let [before, tcp] = [&packet.sent, &packet.octets].map(|octets| &octets[34..]);
            let at = 20 + (packet.tag % 4) as usize;
            let [sent, option] = [before, tcp].map(|octets| &octets[at..][..12]);
            let mut expected = latency(sent);
            let mut worst = (sent[3], 0, 0);
            for (at, (one, last_octets)) in packet.passed.iter().enumerate() {
                expected = (expected + ((one.waited_us() * 1000) >> 8)).min(0xff_ffff);
                let own = value(at, one, *last_octets);
                if own > worst.0 {
                    worst = (own, at as u8 + 1, TTL - 1 - at as u8);
                }
            }
            let found = (option[3], option[2] & 0xf, option[4]);
            assert_eq!(
                (latency(option), found),
                (expected, worst),
                "{:?}",
                packet.passed
            );
            assert_eq!((option[2] >> 4, &option[8..]), (3, &[5, 0, 0, 6][..]));
            assert_eq!(sum(tcp), sum(before), "the checksum is updated");
            by_hop[usize::from(option[2] & 0xf)] += 1;
            saturated += u32::from(expected == 0xff_ffff);
            queues += u32::from(option[3] > 0x80);
            uses += u32::from((1..0x80).contains(&option[3]));
        }
        assert!(by_hop[1..].iter().all(|&n| n > 20), "{by_hop:?}");
        assert!(
            saturated > 20 && queues > 200 && uses > 200,
            "{saturated}, {queues}, {uses}"
        );
    }
}
