//! A fat-tree on one thread and on several: events per second, memory, and whether the results are the same.
//!
//! `cargo bench -p netsim --bench fabric -- K MILLISECONDS THREADS…`: k³/4 hosts at 10 Gb/s, 1 µs of delay in every link,
//! waymark.p4 with all marks in every hop, and transfers with sizes of web search (Alizadeh et al. 2010,
//! fig. 4) that begin at random and load the hosts' links by 30 %.

#[path = "../tests/common/lab.rs"]
#[allow(dead_code, reason = "its networks are others' affair")]
mod lab;

use netsim::scenario::{Flow, SwitchNode, TableEntry};
use netsim::{Programs, Scenario, Simulation};
use serde_json::{Value, json};
use std::fmt::Write;
use std::time::Instant;

const RATE_BPS: u64 = 10_000_000_000;
const LOAD: f64 = 0.3;
/// Shares of transfers with at most this many kilobytes.
const WEB_SEARCH: [(f64, f64); 12] = [
    (6.0, 0.15),
    (13.0, 0.2),
    (19.0, 0.3),
    (33.0, 0.4),
    (53.0, 0.53),
    (133.0, 0.6),
    (667.0, 0.7),
    (1333.0, 0.8),
    (3333.0, 0.9),
    (6667.0, 0.97),
    (20000.0, 1.0),
    (20000.0, 1.0),
];
const PACKET_OCTETS: u32 = 1500;

/// Numbers that are random enough for a load (Steele and others 2014, SplitMix64).
struct Draws(u64);

impl Draws {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.unit() * bound as f64) as usize
    }

    /// Octets of a transfer.
    fn size(&mut self) -> f64 {
        let share = self.unit();
        let (mut low, mut below) = (1.0, 0.0);
        for (size, up_to) in WEB_SEARCH {
            if share < up_to {
                return 1000.0 * (low + (size - low) * (share - below) / (up_to - below));
            }
            (low, below) = (size, up_to);
        }
        1000.0 * low
    }
}

struct FatTree {
    k: usize,
}

impl FatTree {
    fn half(&self) -> usize {
        self.k / 2
    }

    fn hosts(&self) -> impl Iterator<Item = [usize; 3]> {
        let (k, half) = (self.k, self.half());
        (0..k).flat_map(move |p| (0..half).flat_map(move |e| (0..half).map(move |h| [p, e, h])))
    }

    fn scenario(&self, end_s: f64) -> Scenario {
        let host = |[p, e, h]: [usize; 3]| {
            json!({"ipv4": format!("10.{p}.{e}.{}", h + 2), "mac": format!("02:00:00:{p:02x}:{e:02x}:{h:02x}"),
                   "gateway_mac": "02:00:00:00:ff:01"})
        };
        let (k, half) = (self.k, self.half());
        let hosts: serde_json::Map<String, Value> =
            self.hosts().map(|at| (name(at), host(at))).collect();
        let mut links = Vec::new();
        let mut link = |a: Value, b: Value| {
            links
                .push(json!({"a": a, "b": b, "rate_bps": RATE_BPS, "delay_s": 1e-6, "queue": 200}));
        };
        for [p, e, h] in self.hosts() {
            link(
                json!({"node": name([p, e, h])}),
                json!({"node": format!("E{p}.{e}"), "port": h + 1}),
            );
        }
        for p in 0..k {
            for i in 0..half {
                for j in 0..half {
                    link(
                        json!({"node": format!("E{p}.{i}"), "port": half + j + 1}),
                        json!({"node": format!("A{p}.{j}"), "port": i + 1}),
                    );
                    link(
                        json!({"node": format!("A{p}.{i}"), "port": half + j + 1}),
                        json!({"node": format!("C{i}.{j}"), "port": p + 1}),
                    );
                }
            }
        }
        let data = json!({"name": "fat-tree", "seed": 1, "end_s": end_s, "sample_s": end_s,
                          "hosts": hosts, "links": [], "switches": {}});
        let mut scenario: Scenario = serde_json::from_value(data).unwrap();
        scenario.links = serde_json::from_value(Value::Array(links)).unwrap();
        for p in 0..k {
            for i in 0..half {
                scenario
                    .switches
                    .insert(format!("E{p}.{i}"), self.edge(p, i));
                scenario
                    .switches
                    .insert(format!("A{p}.{i}"), self.aggregation(p, i));
            }
        }
        for i in 0..half {
            for j in 0..half {
                let routes = (0..k).map(|p| (format!("10.{p}.0.0/16"), p + 1));
                scenario
                    .switches
                    .insert(format!("C{i}.{j}"), self.switch(routes, Vec::new()));
            }
        }
        scenario.flows = self.flows(end_s);
        scenario
    }

    /// Subnets beyond a switch's uplinks, one uplink for each.
    fn up(
        &self,
        own: usize,
        beyond: impl Fn(usize, usize) -> bool,
    ) -> impl Iterator<Item = (String, usize)> {
        let half = self.half();
        let subnets = (0..self.k).flat_map(move |p| (0..half).map(move |e| (p, e)));
        subnets
            .filter(move |&(p, e)| beyond(p, e))
            .map(move |(p, e)| {
                (
                    format!("10.{p}.{e}.0/24"),
                    half + 1 + (7 * p + 3 * e + own) % half,
                )
            })
    }

    fn edge(&self, pod: usize, edge: usize) -> SwitchNode {
        let up = self.up(edge, move |p, e| (p, e) != (pod, edge));
        let mut entries = Vec::new();
        for h in 0..self.half() {
            let address = format!("10.{pod}.{edge}.{}", h + 2);
            entries.push(
                json!({"table": "ipv4_route", "match": {"dst_addr": format!("{address}/32")},
                                "action": "direct", "params": {"port": h + 1}}),
            );
            entries.push(neighbour(
                h + 1,
                &address,
                &format!("02:00:00:{pod:02x}:{edge:02x}:{h:02x}"),
            ));
        }
        self.switch(up, entries)
    }

    fn aggregation(&self, pod: usize, number: usize) -> SwitchNode {
        let down = (0..self.half()).map(move |e| (format!("10.{pod}.{e}.0/24"), e + 1));
        self.switch(
            down.chain(self.up(number, move |p, _| p != pod)),
            Vec::new(),
        )
    }

    fn switch(
        &self,
        routes: impl Iterator<Item = (String, usize)>,
        mut entries: Vec<Value>,
    ) -> SwitchNode {
        for (to, port) in routes {
            entries.push(
                json!({"table": "ipv4_route", "match": {"dst_addr": to}, "action": "via",
                                "params": {"port": port, "next_hop": format!("192.168.0.{port}")}}),
            );
        }
        for port in 1..=self.k {
            entries.push(neighbour(
                port,
                &format!("192.168.0.{port}"),
                "02:00:00:00:ff:02",
            ));
            entries.push(
                json!({"table": "port_queue", "match": {"port": port}, "action": "drop_tail",
                                "params": {"max_waiting": 199}}),
            );
            entries.push(
                json!({"table": "port_feedback", "match": {"port": port}, "action": "set_feedback",
                                "params": {"aqt": 1, "drai": 1, "ci": 1, "window_log2": 14}}),
            );
        }
        let entries: Vec<TableEntry> = entries
            .into_iter()
            .map(|entry| serde_json::from_value(entry).unwrap())
            .collect();
        let mut node: SwitchNode = serde_json::from_value(json!({"program": "waymark"})).unwrap();
        node.entries = entries;
        node
    }

    fn flows(&self, end_s: f64) -> Vec<Flow> {
        let mut draws = Draws(1);
        let sizes: f64 = (0..100_000).map(|_| draws.size()).sum();
        let mean_octets = sizes / 1e5;
        let hosts: Vec<String> = self.hosts().map(name).collect();
        let per_s = LOAD * RATE_BPS as f64 / 8.0 / mean_octets * hosts.len() as f64;
        let mut flows = Vec::new();
        let mut start_s = 0.0;
        loop {
            start_s -= libm::log(1.0 - draws.unit()) / per_s;
            if start_s >= end_s {
                return flows;
            }
            let from = draws.below(hosts.len());
            let to = (from + 1 + draws.below(hosts.len() - 1)) % hosts.len();
            let segments = (draws.size() / f64::from(PACKET_OCTETS)).ceil() as u64;
            let flow = json!({"from": hosts[from], "to": hosts[to], "segments": segments, "start_s": start_s,
                              "connection": {"control": {"name": "waymark"}, "aqt": true,
                                             "profile": {"modern": {"packet_octets": PACKET_OCTETS}}}});
            flows.push(serde_json::from_value(flow).unwrap());
        }
    }
}

fn name([p, e, h]: [usize; 3]) -> String {
    format!("H{p}.{e}.{h}")
}

fn neighbour(port: usize, next_hop: &str, mac: &str) -> Value {
    json!({"table": "neighbour", "match": {"port": port, "next_hop": next_hop}, "action": "rewrite",
           "params": {"src_addr": "02:00:00:00:ff:01", "dst_addr": mac}})
}

/// A line of this process's status in /proc, in megabytes; 0 where there is none.
fn memory_mb(line: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let found = status.lines().find_map(|l| l.strip_prefix(line));
    let kb = found.and_then(|l| l.split_whitespace().next()?.parse::<u64>().ok());
    kb.unwrap_or(0) / 1024
}

/// A run; what it leaves, and how long it took.
fn run(scenario: &Scenario, programs: &Programs, threads: usize) -> (u64, f64) {
    let made = Instant::now();
    let before = memory_mb("VmRSS:");
    let mut simulation = Simulation::new(scenario, programs).unwrap();
    match std::env::var_os("DIVIDE_ALWAYS") {
        Some(_) => simulation.divide_always(threads, threads),
        None => simulation.divide(threads),
    };
    let set_up_s = made.elapsed().as_secs_f64();
    let network = memory_mb("VmRSS:") - before;
    let started = Instant::now();
    simulation.run(u64::MAX).unwrap();
    let took_s = started.elapsed().as_secs_f64();
    let after = memory_mb("VmRSS:");
    let peak = memory_mb("VmHWM:");
    let hops = simulation.packet_hops();
    let division = simulation.division();
    let results = simulation.finish().unwrap();
    let events = results.totals.events;
    let lost: u64 = results
        .flows
        .iter()
        .flat_map(|(_, flow)| &flow.lost_packets)
        .sum();
    let finished = results
        .flows
        .iter()
        .filter(|(_, flow)| flow.finished.is_some())
        .count();
    println!(
        "{threads} threads, {} parts: {took_s:.2} s, {events} events, {:.2} M events/s, {hops} packet-hops, {:.2} M packet-hops/s; set up in \
         {set_up_s:.2} s; network {network} MB, after the run {after} MB, peak {peak} MB; {} flows, {finished} finished, {lost} packets lost",
        division.parts,
        events as f64 / took_s / 1e6,
        hops as f64 / took_s / 1e6,
        results.flows.len(),
    );
    let mut text = String::new();
    write!(text, "{results:?}").unwrap();
    let digest = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, octet| {
        (hash ^ u64::from(octet)).wrapping_mul(0x100_0000_01b3)
    });
    (digest, took_s)
}

fn main() {
    let given: Vec<f64> = std::env::args()
        .filter_map(|arg| arg.parse().ok())
        .collect();
    let k = given.first().map_or(4, |k| *k as usize);
    let end_s = given.get(1).map_or(1.0, |ms| *ms) / 1000.0;
    let threads: Vec<usize> = match given.get(2..) {
        Some(threads) if !threads.is_empty() => threads.iter().map(|n| *n as usize).collect(),
        _ => vec![1, 2],
    };
    let scenario = FatTree { k }.scenario(end_s);
    if std::env::var("WAYMARK_JIT").as_deref() != Ok("0") {
        p4_jit::install();
    }
    let programs = lab::programs(&["waymark"]);
    println!(
        "k = {k}: {} hosts, {} switches, {} flows",
        scenario.hosts.len(),
        scenario.switches.len(),
        scenario.flows.len()
    );
    let digests: Vec<u64> = threads
        .iter()
        .map(|n| run(&scenario, &programs, *n).0)
        .collect();
    assert!(
        digests.iter().all(|digest| *digest == digests[0]),
        "{digests:x?}"
    );
    println!("results are the same: {:x}", digests[0]);
}
