//! Two associations and n paths between them, in virtual time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::Ipv4Addr;
use transport::sctp::{Association, Config, Event, Message, Route};
use units::{Duration, Instant};

/// What a path does to packets. Probabilities are in 1/1000.
#[derive(Clone, Copy, Debug, Default)]
pub struct Link {
    pub delay_ms: u64,
    /// Added to the delay, uniform: packets overtake each other.
    pub jitter_ms: u64,
    pub loss: u64,
    pub copies: u64,
    pub corrupts: u64,
}

/// splitmix64.
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        (x ^ x >> 31) % bound.max(1)
    }
}

/// The address of end `end` (0: client, 1: server) on path `path`.
pub fn address(path: usize, end: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, path as u8, 0, 1 + end as u8)
}

/// The addresses of an end on `paths` paths.
pub fn addresses(paths: usize, end: usize) -> Vec<Ipv4Addr> {
    (0..paths).map(|path| address(path, end)).collect()
}

pub struct Network {
    pub now: Instant,
    pub ends: [Association; 2],
    pub links: Vec<Link>,
    pub events: [Vec<Event>; 2],
    pub read: [Vec<Message>; 2],
    /// What was put on the wire: when, by which end, on which path, its octets.
    pub log: Vec<(Instant, usize, usize, Vec<u8>)>,
    /// Packets lost by their number in the order sent, whatever the links do.
    pub drops: Vec<usize>,
    /// Whether the ends read what comes.
    pub reads: bool,
    dice: Dice,
    /// Steps since time last moved.
    idle_steps: u32,
    order: u64,
    flying: BinaryHeap<Reverse<(Instant, u64, usize, usize, Vec<u8>)>>,
}

impl Network {
    /// A client that has begun to connect, and a server that listens.
    pub fn new(configs: [Config; 2], links: Vec<Link>, seed: u64) -> Self {
        let [client, server] = configs;
        let (remote, port) = (server.addresses[0], server.port);
        let now = Instant::from_secs_f64(1.0);
        Network {
            now,
            ends: [
                Association::connect(client, now, remote, port).unwrap(),
                Association::listen(server).unwrap(),
            ],
            links,
            events: [vec![], vec![]],
            read: [vec![], vec![]],
            log: vec![],
            drops: vec![],
            reads: true,
            dice: Dice(seed),
            idle_steps: 0,
            order: 0,
            flying: BinaryHeap::new(),
        }
    }

    /// Takes out of the ends all that they have.
    pub fn service(&mut self) {
        for end in 0..2 {
            let mut octets = Vec::new();
            while let Some(route) = self.ends[end].poll_transmit(self.now, &mut octets) {
                self.send(end, route, octets.clone());
            }
            while let Some(event) = self.ends[end].poll_event() {
                self.events[end].push(event);
            }
            while self.reads
                && let Some(message) = self.ends[end].read()
            {
                self.read[end].push(message);
            }
            // Reading may have opened the window.
            while let Some(route) = self.ends[end].poll_transmit(self.now, &mut octets) {
                self.send(end, route, octets.clone());
            }
        }
    }

    fn send(&mut self, end: usize, route: Route, octets: Vec<u8>) {
        let path = usize::from(route.remote.octets()[1]);
        assert_eq!(route.remote, address(path, 1 - end));
        assert!(octets.len() <= 1480, "{}", octets.len());
        let number = self.log.len();
        assert!(number < 200_000, "no end: {:?} {:?}", self.now, self.ends);
        self.log.push((self.now, end, path, octets.clone()));
        let link = self.links[path];
        let mut copies = 1 + u64::from(self.dice.below(1000) < link.copies);
        if self.drops.contains(&number) || self.dice.below(1000) < link.loss {
            copies = 0;
        }
        for _ in 0..copies {
            let mut octets = octets.clone();
            if self.dice.below(1000) < link.corrupts {
                let bit = self.dice.below(octets.len() as u64 * 8) as usize;
                octets[bit / 8] ^= 1 << (bit % 8);
            }
            let delay = 1000 * link.delay_ms + self.dice.below(1000 * link.jitter_ms + 1);
            let at = self.now + Duration::from_micros(delay);
            self.order += 1;
            let packet = (at, self.order, 1 - end, path, octets);
            self.flying.push(Reverse(packet));
        }
    }

    /// Goes on to the next arrival or timeout, if that is before `until`.
    pub fn step(&mut self, until: Instant) -> bool {
        self.service();
        let arrival = self.flying.peek().map(|Reverse(packet)| packet.0);
        let timers = self.ends.iter().map(Association::poll_timeout);
        let Some(at) = timers.chain([arrival]).flatten().min() else {
            return false;
        };
        if at > until {
            self.now = until;
            return false;
        }
        self.idle_steps = match at > self.now {
            true => 0,
            false => self.idle_steps + 1,
        };
        let busy = format_args!("{:?} {:?}", self.now, self.ends);
        assert!(self.idle_steps < 10_000, "time stands still: {busy}");
        self.now = self.now.max(at);
        if arrival == Some(at)
            && let Some(Reverse((_, _, end, path, octets))) = self.flying.pop()
        {
            let route = Route {
                local: address(path, end),
                remote: address(path, 1 - end),
            };
            let _ = self.ends[end].handle_packet(self.now, route, &octets);
        } else {
            for end in &mut self.ends {
                end.handle_timeout(self.now);
            }
        }
        true
    }

    pub fn run_until(&mut self, seconds: f64) {
        while self.step(Instant::from_secs_f64(seconds)) {}
        self.service();
    }

    pub fn run_while(&mut self, seconds: f64, goes_on: impl Fn(&Network) -> bool) {
        let end = Instant::from_secs_f64(seconds);
        while goes_on(self) && self.step(end) {}
        self.service();
    }
}
