//! Flows that are handed over as they end, and more flows than there are port numbers.

mod common;

use netsim::record::FlowRecord;
use netsim::{Programs, Results, Scenario, Simulation};
use serde_json::{Value, json};

/// Short transfers in both profiles, one every 50 ms, over a link that loses packets.
fn transfers() -> Value {
    let flow = |number: usize| {
        let connection = match number % 3 {
            0 => json!({"control": {"name": "cubic"}, "profile": {"modern": {}}}),
            1 => json!({"control": {"name": "sack"}}),
            _ => json!({"control": {"name": "redvegas"}}),
        };
        let (from, to) = if number.is_multiple_of(2) {
            ("S", "D")
        } else {
            ("D", "S")
        };
        json!({"from": from, "to": to, "start_s": 0.05 * number as f64,
               "segments": 1 + number % 7, "connection": connection})
    };
    json!({
        "flows": (0..120).map(flow).collect::<Vec<_>>(),
        "sources": [{"from": "S", "to": "D", "kind": "cbr", "rate_bps": 2e5}],
    })
}

/// The flows with their numbers in the order in which they ended, how many had been handed over before the end, and the
/// rest of the results. Between two looks at the flows there are so many events.
fn as_they_end(
    scenario: &Scenario,
    threads: usize,
    events: u64,
) -> (Vec<(usize, FlowRecord)>, usize, Results) {
    let mut simulation = Simulation::new(scenario, &Programs::new()).unwrap();
    assert_eq!(simulation.divide_always(threads, threads).parts, threads);
    let mut flows = Vec::new();
    while !simulation.run(events).unwrap() {
        flows.append(&mut simulation.take_ended());
    }
    flows.append(&mut simulation.take_ended());
    let before = flows.len();
    let mut results = simulation.finish().unwrap();
    flows.append(&mut results.ended);
    (flows, before, results)
}

/// A record counted over the whole run.
fn whole(record: &FlowRecord) -> FlowRecord {
    let sum = |column: &[u64]| vec![column.iter().sum()];
    FlowRecord {
        sent_packets: sum(&record.sent_packets),
        resent_packets: sum(&record.resent_packets),
        lost_packets: sum(&record.lost_packets),
        delivered_packets: sum(&record.delivered_packets),
        delivered_octets: sum(&record.delivered_octets),
        trimmed_packets: sum(&record.trimmed_packets),
        goodput_octets: sum(&record.goodput_octets),
        judged: None,
        ..record.clone()
    }
}

#[test]
fn flows_have_the_records_that_they_have_at_the_end_of_a_run() {
    let scenario = common::two_hosts(20.0, 1.0, json!({"loss": 0.1}), transfers());
    let kept = common::run(&scenario);
    assert!(kept.flows.iter().any(|(_, flow)| flow.timeouts > 0));
    let mut asked = scenario;
    asked.record.flows_as_they_end = true;
    let (in_order, ..) = as_they_end(&asked, 1, 100);
    for (threads, events) in [(1, 100), (2, 100), (2, 1), (2, u64::MAX)] {
        let (mut flows, before, results) = as_they_end(&asked, threads, events);
        assert_eq!(flows, in_order, "{threads} threads, {events} events");
        flows.sort_by_key(|(number, _)| *number);
        assert_eq!(flows.len(), kept.flows.len());
        for ((number, flow), (name, expected)) in flows.iter().zip(&kept.flows) {
            assert_eq!(format!("flow{number}"), *name);
            assert_eq!(whole(flow), whole(expected), "{name} on {threads} threads");
        }
        // Those that judge losses keep their connections: two thirds go when they end.
        assert!((70..=80).contains(&before), "{before} of {}", flows.len());
        assert!(results.flows.is_empty());
        assert_eq!(results.lines, kept.lines);
        assert_eq!(results.sources, kept.sources);
    }
}

#[test]
fn a_flow_without_a_connection_has_that_of_the_flow_before() {
    let flow = json!({"from": "S", "to": "D", "segments": 3});
    let mut first = flow.clone();
    first["connection"] = json!({"control": {"name": "vegas"}, "profile": {"ns2": {"window": 7}}});
    let given = common::two_hosts(1.0, 1.0, json!({}), json!({"flows": [first, flow]}));
    let [first, second] = [0, 1].map(|flow| format!("{:?}", given.flows[flow].connection));
    assert_eq!(first, second);
    let data = json!({"name": "none", "seed": 1, "end_s": 1, "hosts": {}, "links": [],
                      "flows": [{"from": "S", "to": "D"}]});
    let error = Scenario::from_json(&data.to_string()).unwrap_err();
    assert_eq!(error.to_string(), "flows[0]: `connection` is missing");
}

#[test]
fn port_numbers_serve_again_between_other_hosts() {
    let host = |n: u8, other: u8| {
        let mac = |n: u8| format!("02:00:00:00:00:0{n}");
        json!({"ipv4": format!("10.0.0.{n}"), "mac": mac(n), "gateway_mac": mac(other)})
    };
    let link = |a: &str, b: &str| json!({"a": {"node": a}, "b": {"node": b}, "rate_bps": 10_000_000, "delay_s": 0.001});
    let mut flows = vec![json!({"from": "A", "to": "B", "segments": 5,
        "connection": {"control": {"name": "cubic"}, "profile": {"modern": {}}}})];
    // These begin when the run is over.
    flows.extend((1..60_000).map(|_| json!({"from": "A", "to": "B", "start_s": 9})));
    flows.push(json!({"from": "C", "to": "D", "segments": 5}));
    let data = json!({
        "name": "ports", "seed": 1, "end_s": 2, "sample_s": 2,
        "hosts": {"A": host(1, 2), "B": host(2, 1), "C": host(3, 4), "D": host(4, 3)},
        "links": [link("A", "B"), link("C", "D")],
        "flows": flows, "record": {"flows_as_they_end": true},
    });
    let scenario = Scenario::from_json(&data.to_string()).unwrap();
    let results = common::run(&scenario);
    let finished = results
        .ended
        .iter()
        .filter(|(_, flow)| flow.finished.is_some());
    let finished: Vec<usize> = finished.map(|(number, _)| *number).collect();
    assert_eq!(finished, [0, 60_000]);
    let mut scenario = scenario;
    scenario.flows[60_000].from = "A".to_string();
    scenario.flows[60_000].to = "B".to_string();
    let error = Simulation::new(&scenario, &Programs::new()).unwrap_err();
    let expected = "flows: there are more than 60000 flows and sources between two hosts";
    assert_eq!(error.to_string(), expected);
}
