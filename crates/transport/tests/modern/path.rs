//! Two hosts and the path between them, in virtual time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::Arc;

use congestion::Factory;
use transport::tcp::modern::{Config, Endpoint, Id};
use units::{Duration, Instant};

/// What a path does to packets; probabilities of a packet's being hit.
#[derive(Clone, Copy, Debug)]
pub struct Faults {
    pub loss: f64,
    pub reordering: f64,
    pub duplication: f64,
    pub corruption: f64,
    /// A congestion mark on a packet that is capable of it.
    pub marking: f64,
    pub delay: Duration,
    /// Octets per second, if the path has a bottleneck, and how many packets wait before it.
    pub bottleneck: Option<(u64, usize)>,
}

impl Faults {
    pub const NONE: Faults = Faults {
        loss: 0.0,
        reordering: 0.0,
        duplication: 0.0,
        corruption: 0.0,
        marking: 0.0,
        delay: Duration::from_millis(10),
        bottleneck: None,
    };
}

/// SplitMix64 (Steele, Lea, Flood 2014).
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    pub fn chance(&mut self, probability: f64) -> bool {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64 <= probability && probability > 0.0
    }
}

/// When a packet arrives, ties in the order of sending; who sent it, and its octets.
type Arrival = (Instant, u64, usize, Vec<u8>);

/// Two hosts, `0` and `1`.
pub struct Net {
    pub now: Instant,
    pub hosts: [Endpoint; 2],
    pub faults: Faults,
    pub random: Random,
    /// Packets that the path carried, by sender.
    pub sent: [u64; 2],
    /// Packets lost on purpose: the next packets of a host, this many.
    pub drop_next: [u32; 2],
    /// Packets that wait at the bottleneck from which on those that are capable of it get a
    /// congestion mark.
    pub mark_from: usize,
    on_the_way: BinaryHeap<Reverse<Arrival>>,
    free_at: [Instant; 2],
    waiting: [BinaryHeap<Reverse<Instant>>; 2],
    order: u64,
}

pub const ADDRESSES: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2)];
pub const PORT: u16 = 80;

impl Net {
    pub fn new(
        configs: [Config; 2],
        algorithm: Arc<dyn Factory>,
        faults: Faults,
        seed: u64,
    ) -> Self {
        let [one, two] = configs;
        for config in [&one, &two] {
            config.validate().unwrap();
        }
        let mut random = Random(seed);
        let mut host = |address, config| {
            let secret = [random.next().to_be_bytes(), random.next().to_be_bytes()].concat();
            let secret = secret.try_into().unwrap();
            Endpoint::new(address, config, algorithm.clone(), secret)
        };
        let hosts = [host(ADDRESSES[0], one), host(ADDRESSES[1], two)];
        let mut net = Net {
            now: Instant::from_micros(1_000_000),
            hosts,
            faults,
            random,
            sent: [0; 2],
            drop_next: [0; 2],
            mark_from: usize::MAX,
            on_the_way: BinaryHeap::new(),
            free_at: [Instant::ZERO; 2],
            waiting: Default::default(),
            order: 0,
        };
        net.hosts[1].listen(PORT, 64).unwrap();
        net
    }

    /// Host 0 opens a connection to host 1.
    pub fn connect(&mut self) -> Id {
        let remote = SocketAddrV4::new(ADDRESSES[1], PORT);
        let id = self.hosts[0].connect(self.now, remote).unwrap();
        self.transmit();
        id
    }

    /// Opens a connection and waits for it at both ends.
    pub fn established(&mut self) -> [Id; 2] {
        let client = self.connect();
        for _ in 0..1000 {
            if let Some(server) = self.hosts[1].accept(PORT) {
                return [client, server];
            }
            assert!(self.step(), "nothing is on its way");
        }
        panic!("no connection: {:?}", self.hosts[0].connection(client));
    }

    /// Puts everything that the hosts have to send on the path.
    pub fn transmit(&mut self) {
        let mut buffer = [0; 2000];
        for from in 0..2 {
            let mut burst = 0;
            while let Some(octets) = self.hosts[from].poll_transmit(self.now, &mut buffer) {
                burst += 1;
                assert!(burst < 100_000, "host {from} never stops");
                self.carry(from, buffer[..octets].to_vec());
            }
        }
    }

    fn carry(&mut self, from: usize, mut octets: Vec<u8>) {
        self.sent[from] += 1;
        if self.drop_next[from] > 0 {
            self.drop_next[from] -= 1;
            return;
        }
        let faults = self.faults;
        if self.random.chance(faults.loss) {
            return;
        }
        let mut arrival = self.now + faults.delay;
        if let Some((rate, queue)) = faults.bottleneck {
            let waiting = &mut self.waiting[from];
            while waiting.peek().is_some_and(|Reverse(at)| *at <= self.now) {
                waiting.pop();
            }
            if waiting.len() >= queue {
                return;
            }
            if waiting.len() >= self.mark_from && octets[1] & 3 == 2 {
                mark(&mut octets);
            }
            let start = self.free_at[from].max(self.now);
            let end = start + Duration::from_nanos(octets.len() as u64 * 1_000_000_000 / rate);
            self.free_at[from] = end;
            waiting.push(Reverse(end));
            arrival = end + faults.delay;
        }
        if self.random.chance(faults.marking) && octets[1] & 3 == 2 {
            mark(&mut octets);
        }
        if self.random.chance(faults.corruption) {
            let bit = self.random.below(octets.len() as u64 * 8);
            octets[(bit / 8) as usize] ^= 1 << (bit % 8);
        }
        if self.random.chance(faults.reordering) {
            let late = self.random.below(3 * faults.delay.as_nanos());
            arrival += Duration::from_nanos(late);
        }
        if self.random.chance(faults.duplication) {
            let late = self.random.below(2 * faults.delay.as_nanos());
            self.put(from, arrival + Duration::from_nanos(late), octets.clone());
        }
        self.put(from, arrival, octets);
    }

    fn put(&mut self, from: usize, arrival: Instant, octets: Vec<u8>) {
        self.order += 1;
        self.on_the_way
            .push(Reverse((arrival, self.order, from, octets)));
    }

    /// How long the bottleneck after a host is busy.
    pub fn queue(&self, from: usize) -> Duration {
        self.free_at[from].since(self.now)
    }

    /// When something happens next.
    pub fn next_event(&self) -> Option<Instant> {
        let arrival = self.on_the_way.peek().map(|Reverse((at, ..))| *at);
        let timers = self.hosts.iter().map(Endpoint::poll_timeout);
        timers.chain([arrival]).flatten().min()
    }

    /// Handles the next event; whether there was one.
    pub fn step(&mut self) -> bool {
        let Some(at) = self.next_event() else {
            return false;
        };
        self.now = self.now.max(at);
        for host in &mut self.hosts {
            host.handle_timeout(self.now);
        }
        while let Some(Reverse((at, ..))) = self.on_the_way.peek()
            && *at <= self.now
        {
            let Some(Reverse((_, _, from, octets))) = self.on_the_way.pop() else {
                break;
            };
            let now = self.now;
            // What is corrupt is dropped.
            let _ = self.hosts[1 - from].handle_packet(now, &octets);
            self.transmit();
        }
        self.transmit();
        true
    }

    /// Lets things happen for a while.
    pub fn run_for(&mut self, time: Duration) {
        let end = self.now + time;
        while self.next_event().is_some_and(|at| at <= end) {
            self.step();
        }
        self.now = end;
    }
}

/// Sets CE, and keeps the IPv4 checksum valid (RFC 1624): the first word grows by one.
fn mark(octets: &mut [u8]) {
    octets[1] |= 3;
    let words = octets[..usize::from(octets[0] & 15) * 4].chunks(2);
    let sum: u32 = words
        .enumerate()
        .filter(|(i, _)| *i != 5)
        .map(|(_, word)| u32::from(u16::from_be_bytes([word[0], word[1]])))
        .sum();
    let folded = (sum & 0xFFFF) + (sum >> 16);
    let folded = (folded & 0xFFFF) + (folded >> 16);
    octets[10..12].copy_from_slice(&(!(folded as u16)).to_be_bytes());
}
