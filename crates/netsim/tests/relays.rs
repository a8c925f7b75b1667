//! A chain of switches that only relay: S, two switches, D.

mod common;
#[path = "common/relay.rs"]
mod relay;

use netsim::{Results, Scenario, Simulation};
use serde_json::{Value, json};

/// Links of 10 Mb/s and 1 ms, in the middle 1.6 Mb/s and 20 ms.
fn run(end_s: f64, capacity: u32, traffic: Value) -> Results {
    run_with(end_s, capacity, traffic, json!([]))
}

/// The same with changes of the link in the middle.
fn run_with(end_s: f64, capacity: u32, traffic: Value, changes: Value) -> Results {
    let switch = json!({"program": "relay", "capacity": capacity});
    let mut data = json!({
        "name": "chain", "seed": 1, "end_s": end_s, "sample_s": 10.0,
        "hosts": {
            "S": {"ipv4": "10.0.0.1", "mac": "02:00:00:00:00:01", "gateway_mac": "02:00:00:00:00:02"},
            "D": {"ipv4": "10.0.0.2", "mac": "02:00:00:00:00:02", "gateway_mac": "02:00:00:00:00:01"},
        },
        "switches": {"R1": switch, "R2": switch},
        "links": [
            {"a": {"node": "S"}, "b": {"node": "R1", "port": 1}, "rate_bps": 10_000_000, "delay_s": 0.001},
            {"a": {"node": "R1", "port": 2}, "b": {"node": "R2", "port": 1},
             "rate_bps": 1_600_000, "delay_s": 0.02, "changes": changes},
            {"a": {"node": "R2", "port": 2}, "b": {"node": "D"}, "rate_bps": 10_000_000, "delay_s": 0.001},
        ],
    });
    common::merge(&mut data, traffic);
    let scenario = Scenario::from_json(&data.to_string()).unwrap();
    let mut simulation = Simulation::new(&scenario, &relay::relay()).unwrap();
    assert!(simulation.run(u64::MAX).unwrap());
    simulation.finish().unwrap()
}

fn cbr(rate_bps: f64) -> Value {
    json!({"sources": [{"from": "S", "to": "D", "kind": "cbr", "rate_bps": rate_bps}]})
}

#[test]
fn a_packet_takes_its_serialisations_and_delays_to_the_nanosecond() {
    // 0.8 + 1, 5 + 20, 0.8 + 1 ms.
    let delivered = |end_s| run(end_s, 10, cbr(8e5)).sources[0].1.delivered_packets[0];
    assert_eq!(delivered(0.0286), 0);
    assert_eq!(delivered(0.028_600_001), 1);
}

#[test]
fn a_traffic_manager_lets_its_capacity_wait_and_counts_what_it_refuses() {
    // From 1.8 ms on a packet every 0.8 ms, 5 ms of service each. Those of 0.8 to 7.2 ms later wait, at 5 ms one
    // leaves, so that of 8 ms is let in as well; those of 8.8 and 9.6 ms are refused.
    let results = run(0.0118, 9, cbr(10e6));
    let (name, line) = &results.lines[2];
    assert_eq!(name, "R1->R2");
    assert_eq!(line.max_waiting, [9]);
    assert_eq!(line.sent_packets, [2]);
    assert_eq!(line.dropped_packets, [2]);
    assert_eq!(results.sources[0].1.lost_packets, [2]);
    // One waits from 0.8 to 5 ms, those of 0.8j ms for j = 2…10 to the end.
    let waited_ms = 4.2 + (2..=10).map(|j| 10.0 - 0.8 * f64::from(j)).sum::<f64>();
    assert_eq!(line.waiting_ns, [(waited_ms * 1e6).round() as u64]);
    let switch = &results.switches[0].1;
    assert_eq!(switch.dropped_packets, [("tm_full", vec![2])]);
    assert!(switch.drops.contains(&("tm_full", 2)), "{:?}", switch.drops);
    // 0.8k + 1.8 < 11.8 ms.
    assert_eq!(switch.handled_packets, 13);
}

#[test]
fn a_port_has_a_capacity_of_its_own_which_it_keeps_when_its_rate_changes() {
    let switch = json!({"program": "relay", "capacity": 9, "port_capacity": {"2": 4}});
    let limits = json!({"switches": {"R1": switch, "R2": switch}});
    let mut traffic = cbr(10e6);
    common::merge(&mut traffic, limits);
    for changes in [
        json!([]),
        json!([{"at_s": 0.001, "direction": "ab", "rate_bps": 1_600_000}]),
    ] {
        let results = run_with(0.5, 9, traffic.clone(), changes);
        assert_eq!(results.lines[2].0, "R1->R2");
        assert_eq!(results.lines[2].1.max_waiting, [4]);
    }
}

#[test]
fn a_vegas_flow_fills_the_narrow_link() {
    let flow = json!({"flows": [{"from": "S", "to": "D", "connection": {"control": {"name": "vegas"}}, "trace": true}]});
    let results = run(60.0, 50, flow);
    let flow = &results.flows[0].1;
    assert_eq!(flow.delivered_packets[1..], [2000; 5]);
    assert_eq!(results.totals.stray_packets, 0);
    // Data 0.8 + 5 + 0.8 ms, acknowledgement 0.032 + 0.2 + 0.032 ms, propagation 44 ms.
    let base = *flow.trace.as_ref().unwrap().base_rtt_s.last().unwrap();
    assert!((base - 0.050_864).abs() < 1e-9, "{base}");
}
