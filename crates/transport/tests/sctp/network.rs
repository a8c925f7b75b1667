//! Two associations and n paths between them, in virtual time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::net::Ipv4Addr;
use transport::sctp::packet::{Chunk, Packet};
use transport::sctp::{Association, Config, Event, Message, Route, Tsn};
use units::{Duration, Instant, Rate};

/// What a path does to packets. Probabilities are in 1/1000.
#[derive(Clone, Copy, Debug, Default)]
pub struct Link {
    pub delay_ms: u64,
    /// Added to the delay, uniform: packets overtake each other.
    pub jitter_ms: u64,
    pub loss: u64,
    pub copies: u64,
    pub corrupts: u64,
    /// Bits per second; 0: no time is taken. The IPv4 header of 20 octets counts.
    pub rate_bps: u64,
    /// Packets that the queue in front of the link and the link's transmitter hold; 0: any number.
    pub queue: usize,
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

/// A packet on the wire: when, by which end, on which path, its octets.
pub type Logged = (Instant, usize, usize, Vec<u8>);

/// A packet under way: when it arrives, a number that breaks ties, at which end, on which path, its octets.
type Flying = (Instant, u64, usize, usize, Vec<u8>);

/// The DATA chunks that were sent: when, on which path, TSN counted from the first.
pub fn data(log: &[Logged]) -> Vec<(Instant, usize, u32)> {
    let mut first = None;
    let mut sent = Vec::new();
    for (at, _, path, octets) in log {
        for chunk in Packet::parse(octets).unwrap().chunks() {
            if let Ok(Chunk::Data(data)) = chunk {
                let first = *first.get_or_insert(data.tsn);
                sent.push((*at, *path, data.tsn.since(first) as u32));
            }
        }
    }
    sent
}

pub struct Network {
    pub now: Instant,
    pub ends: [Association; 2],
    pub links: Vec<Link>,
    pub events: [Vec<Event>; 2],
    pub read: [Vec<Message>; 2],
    /// What was put on the wire.
    pub log: Vec<Logged>,
    /// Packets lost by their number in the order sent, independent of the links.
    pub drops: Vec<usize>,
    /// Whether the ends read what comes.
    pub reads: bool,
    /// The client sends nothing until a packet comes.
    pub holds: bool,
    /// When each packet that a link of each end holds has left it.
    leaving: HashMap<(usize, usize), VecDeque<Instant>>,
    /// DATA to lose: TSN, counted from the association's first, and which transmission of it.
    pub data_drops: Vec<(u32, usize)>,
    first_tsn: Option<Tsn>,
    times_sent: HashMap<u32, usize>,
    dice: Dice,
    /// Steps since time last moved.
    idle_steps: u32,
    order: u64,
    flying: BinaryHeap<Reverse<Flying>>,
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
            holds: false,
            leaving: HashMap::new(),
            data_drops: vec![],
            first_tsn: None,
            times_sent: HashMap::new(),
            dice: Dice(seed),
            idle_steps: 0,
            order: 0,
            flying: BinaryHeap::new(),
        }
    }

    /// Takes out of the ends all that they have.
    pub fn service(&mut self) {
        for end in usize::from(self.holds)..2 {
            let mut octets = Vec::new();
            while self.reads
                && let Some(message) = self.ends[end].read()
            {
                self.read[end].push(message);
            }
            while let Some(route) = self.ends[end].poll_transmit(self.now, &mut octets) {
                self.send(end, route, octets.clone());
            }
            while let Some(event) = self.ends[end].poll_event() {
                self.events[end].push(event);
            }
        }
    }

    fn send(&mut self, end: usize, route: Route, octets: Vec<u8>) {
        let path = usize::from(route.remote.octets()[1]);
        assert!(octets.len() <= 1480, "{}", octets.len());
        let number = self.log.len();
        assert!(number < 200_000, "no end: {:?} {:?}", self.now, self.ends);
        self.log.push((self.now, end, path, octets.clone()));
        let Some(&link) = self
            .links
            .get(path)
            .filter(|_| route.remote == address(path, 1 - end))
        else {
            return; // an address that a forger told of
        };
        let mut copies = 1 + u64::from(self.dice.below(1000) < link.copies);
        if self.drops.contains(&number) || self.dice.below(1000) < link.loss {
            copies = 0;
        }
        let Some(left) = self.leave(end, path, octets.len()) else {
            return;
        };
        if self.is_to_be_lost() {
            return;
        }
        for _ in 0..copies {
            let mut octets = octets.clone();
            if self.dice.below(1000) < link.corrupts {
                let bit = self.dice.below(octets.len() as u64 * 8) as usize;
                octets[bit / 8] ^= 1 << (bit % 8);
            }
            let delay = 1000 * link.delay_ms + self.dice.below(1000 * link.jitter_ms + 1);
            let at = left + Duration::from_micros(delay);
            self.order += 1;
            let packet = (at, self.order, 1 - end, path, octets);
            self.flying.push(Reverse(packet));
        }
    }

    /// When a packet's last octet leaves; `None` if the queue is full.
    fn leave(&mut self, end: usize, path: usize, octets: usize) -> Option<Instant> {
        let link = self.links[path];
        let Some(rate) = Rate::from_bps(link.rate_bps) else {
            return Some(self.now);
        };
        let held = self.leaving.entry((end, path)).or_default();
        while held.front().is_some_and(|left| *left <= self.now) {
            held.pop_front();
        }
        if link.queue > 0 && held.len() >= link.queue {
            return None;
        }
        let free = held.back().map_or(self.now, |left| *left);
        let left = free + rate.serialisation(octets as u64 + 20);
        held.push_back(left);
        Some(left)
    }

    /// Whether the packet sent last carries DATA that is to be lost.
    fn is_to_be_lost(&mut self) -> bool {
        let Some((_, _, _, octets)) = self.log.last().filter(|_| !self.data_drops.is_empty())
        else {
            return false;
        };
        let mut lost = false;
        for chunk in Packet::parse(octets).unwrap().chunks() {
            if let Ok(Chunk::Data(data)) = chunk {
                let first = *self.first_tsn.get_or_insert(data.tsn);
                let tsn = data.tsn.since(first) as u32;
                let times = self.times_sent.entry(tsn).or_default();
                *times += 1;
                lost |= self.data_drops.contains(&(tsn, *times));
            }
        }
        lost
    }

    /// Advances to the next arrival or timeout, if that is before `until`.
    pub fn step(&mut self, until: Instant) -> bool {
        self.service();
        let arrival = self.flying.peek().map(|Reverse(packet)| packet.0);
        let timers = [0, 1].map(|end: usize| self.ends[end].poll_timeout());
        let Some(at) = timers.into_iter().chain([arrival]).flatten().min() else {
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
        // A timer that is due together with an arrival was set before that packet left.
        if !timers.contains(&Some(at))
            && let Some(Reverse((_, _, end, path, octets))) = self.flying.pop()
        {
            let route = Route {
                local: address(path, end),
                remote: address(path, 1 - end),
            };
            self.holds &= end == 1;
            let _ = self.ends[end].handle_packet(self.now, route, &octets);
        } else {
            self.holds = false;
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
