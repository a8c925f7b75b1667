//! A network that runs on several threads gives the results of one, to the octet.

mod common;
#[path = "common/lab.rs"]
mod lab;

use netsim::{Division, Limit, Programs, Results, Scenario, Simulation};
use serde_json::{Value, json};

type Divide = fn(&mut Simulation) -> Division;

/// Results of a run, and how it was divided in the end; it is divided so in each `events` events in turn.
fn run(
    scenario: &Scenario,
    programs: &Programs,
    events: u64,
    divisions: &[Divide],
) -> (Results, Division) {
    let mut simulation = Simulation::new(scenario, programs).unwrap();
    for divide in divisions.iter().cycle() {
        divide(&mut simulation);
        let ended = simulation.run(events).unwrap();
        if ended {
            break;
        }
    }
    let division = simulation.division();
    (simulation.finish().unwrap(), division)
}

fn assert_same(scenario: &Scenario, programs: &Programs, most: usize) -> Results {
    let (whole, _) = run(scenario, programs, u64::MAX, &[|one| one.divide(1)]);
    let divisions: [(usize, &[Divide]); 5] = [
        (2, &[|one| one.divide_always(2, 2)]),
        (4, &[|one| one.divide_always(4, 3)]),
        (16, &[|one| one.divide_always(16, 16)]),
        (16, &[|one| one.divide_always(16, 1)]),
        (3, &[|one| one.divide(1), |one| one.divide_always(3, 2)]),
    ];
    for (parts, divisions) in divisions {
        let (divided, division) = run(scenario, programs, 5000, divisions);
        if divisions.len() == 1 {
            assert_eq!(division.parts, parts.min(most));
        }
        // As text: a trace has numbers that are none, which are not equal to themselves.
        let [one, several] = [&whole, &divided].map(|results| format!("{results:#?}"));
        let mut lines = one.lines().zip(several.lines()).enumerate();
        let differs = lines.find(|(_, (one, several))| one != several);
        assert_eq!(differs, None, "in {parts} parts");
        assert_eq!(one.len(), several.len());
    }
    whole
}

fn lab(program: &'static str, marks: Option<[u32; 3]>, traffic: Value) -> Scenario {
    let network = lab::Network {
        program,
        queue: 10,
        middle_bps: [1_600_000, 1_600_000],
        marks,
    };
    let mut data = network.scenario(9.0);
    common::merge(&mut data, traffic);
    Scenario::from_json(&data.to_string()).unwrap()
}

#[test]
fn transfers_sources_losses_and_changes_of_links() {
    let traffic = json!({
        "sample_s": 0.25,
        "flows": [
            {"from": "S1", "to": "D1", "connection": {"control": {"name": "redvegas"}}, "trace": true},
            {"from": "S1", "to": "D1", "connection": {"control": {"name": "rovegas"}}, "start_s": 1.0},
            {"from": "D2", "to": "S2", "connection": {"control": {"name": "sack"}}, "segments": 300},
        ],
        "sources": [{"from": "S2", "to": "D2", "kind": "exponential", "rate_bps": 3.2e6,
                     "mean_on_s": 0.01, "mean_rate_bps": 0.8e6, "stop_s": 6}],
        "record": {"check_aqt": true},
    });
    let scenario = lab("waymark", Some([1, 0, 1]), traffic);
    let programs = lab::programs(&["waymark"]);
    let mut changed = scenario;
    changed.links[2].ab.loss = Some(0.01);
    changed.links[4].changes = serde_json::from_value(json!([
        {"at_s": 4.0, "rate_bps": 800_000},
        {"at_s": 5.0, "direction": "ab", "delay_s": 0.004},
        {"at_s": 7.0, "direction": "ba", "delay_s": 0.03, "loss": 0.02},
    ]))
    .unwrap();
    let results = assert_same(&changed, &programs, 6);
    // What is to be the same has happened.
    let judged = results.flows[0].1.judged.unwrap();
    let judged = [judged.random, judged.congestion];
    assert!(
        judged.iter().any(|truth| truth.link + truth.queue > 0),
        "{judged:?}"
    );
    assert!(results.flows[2].1.finished.is_some());
    assert!(results.check_aqt.unwrap().compared > 100);
}

/// Six hosts on a ring of three switches, all links alike and all flows begun at once: many events are at one time.
fn ring(traffic: &Value) -> Scenario {
    let mac = |n: usize| format!("02:00:00:00:00:{n:02x}");
    let host = |n: usize| json!({"ipv4": format!("10.0.0.{n}"), "mac": mac(n), "gateway_mac": "02:00:00:00:ff:01"});
    let link = |a: Value, b: Value| json!({"a": a, "b": b, "rate_bps": 10_000_000, "delay_s": 0.001, "queue": 8});
    let mut hosts = serde_json::Map::new();
    let mut links = Vec::new();
    let mut switches = serde_json::Map::new();
    for switch in 0..3 {
        let name = format!("R{switch}");
        let mut entries = Vec::new();
        for n in 1..=6 {
            let at = (n - 1) / 2;
            // Ports 1 and 2 have hosts, 3 leads to the next switch and 4 to the one before.
            let port = match (at + 3 - switch) % 3 {
                0 => 1 + (n - 1) % 2,
                1 => 3,
                _ => 4,
            };
            entries.push(
                json!({"table": "ipv4_route", "match": {"dst_addr": format!("10.0.0.{n}/32")},
                                "action": "direct", "params": {"port": port}}),
            );
            entries.push(json!({"table": "neighbour",
                                "match": {"port": port, "next_hop": format!("10.0.0.{n}")},
                                "action": "rewrite",
                                "params": {"src_addr": "02:00:00:00:ff:01", "dst_addr": mac(n)}}));
        }
        for port in 1..=4 {
            entries.push(
                json!({"table": "port_queue", "match": {"port": port}, "action": "drop_tail",
                                "params": {"max_waiting": 7}}),
            );
        }
        switches.insert(
            name.clone(),
            json!({"program": "plain", "entries": entries}),
        );
        for place in 0..2 {
            let n = 2 * switch + place + 1;
            hosts.insert(format!("H{n}"), host(n));
            links.push(link(
                json!({"node": format!("H{n}")}),
                json!({"node": name, "port": place + 1}),
            ));
        }
        let next = format!("R{}", (switch + 1) % 3);
        links.push(link(
            json!({"node": name, "port": 3}),
            json!({"node": next, "port": 4}),
        ));
    }
    let mut data = json!({"name": "ring", "seed": 3, "end_s": 5, "hosts": hosts, "switches": switches,
                          "links": links});
    common::merge(&mut data, traffic.clone());
    Scenario::from_json(&data.to_string()).unwrap()
}

#[test]
fn events_at_one_time_keep_their_order() {
    let flows: Vec<Value> = (0..18)
        .map(|i| {
            let (from, to) = (i % 6 + 1, (i * 5 + 2 + i / 6) % 6 + 1);
            let to = if to == from { to % 6 + 1 } else { to };
            let control = ["reno", "sack", "vegas"][i % 3];
            json!({"from": format!("H{from}"), "to": format!("H{to}"), "connection": {"control": {"name": control}}})
        })
        .collect();
    let programs = lab::programs(&["plain"]);
    let results = assert_same(&ring(&json!({"flows": flows})), &programs, 9);
    let lost: u64 = results
        .flows
        .iter()
        .flat_map(|(_, flow)| &flow.lost_packets)
        .sum();
    assert!(lost > 100, "{lost}");
}

/// Short transfers of today's hosts, many of which end at one time, and a minute of TIME-WAIT behind them.
#[test]
fn flows_that_end_keep_their_order() {
    let flows: Vec<Value> = (0..180)
        .map(|i| {
            let (from, to) = (i % 6 + 1, (i + 1 + i / 6 % 5) % 6 + 1);
            json!({"from": format!("H{from}"), "to": format!("H{to}"), "segments": 1 + i / 18,
                   "start_s": 0.02 * (i / 18) as f64,
                   "connection": {"control": {"name": "cubic"}, "profile": {"modern": {}}}})
        })
        .collect();
    let traffic =
        json!({"flows": flows, "end_s": 70, "record": {"flows_as_they_end": true}, "sample_s": 10});
    let scenario = ring(&traffic);
    let results = assert_same(&scenario, &lab::programs(&["plain"]), 9);
    let order: Vec<usize> = results.ended.iter().map(|(flow, _)| *flow).collect();
    assert!(
        !order.is_sorted(),
        "they end in another order than they begin"
    );
    let lost = results.ended.iter().map(|(_, flow)| flow.lost_packets[0]);
    assert!(lost.sum::<u64>() > 100);
    assert!(
        results
            .ended
            .iter()
            .all(|(_, flow)| flow.finished.is_some())
    );
}

#[test]
fn hosts_of_an_association_stay_together() {
    let mut scenario = common::two_hosts(5.0, 1.0, json!({}), json!({}));
    scenario.associations = serde_json::from_value(json!([{"from": "S", "to": "D"}])).unwrap();
    let mut simulation = Simulation::new(&scenario, &Programs::new()).unwrap();
    let division = simulation.divide(2);
    assert_eq!((division.parts, division.limit), (1, Some(Limit::Pieces)));
}

#[test]
fn a_capture_needs_one_thread() {
    let traffic = json!({"sources": [{"from": "S", "to": "D", "kind": "cbr", "rate_bps": 1e6}]});
    let scenario = common::two_hosts(1.0, 1.0, json!({}), traffic);
    let capture = |threads: usize| {
        let mut simulation = Simulation::new(&scenario, &Programs::new()).unwrap();
        simulation.divide_always(threads, threads);
        // Half of it on two threads.
        simulation
            .run_to(units::Instant::from_micros(500_000), u64::MAX)
            .unwrap();
        let shared = common::Shared::default();
        simulation.capture(Box::new(shared.clone())).unwrap();
        assert_eq!(simulation.divide(2).limit, Some(Limit::Watched));
        simulation.run(u64::MAX).unwrap();
        (simulation.finish().unwrap(), shared.octets())
    };
    let (results, octets) = capture(1);
    assert!(octets.len() > 1000);
    assert_eq!((results, octets), capture(2));
}
