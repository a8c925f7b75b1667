//! Whatever stands in a scenario, the answer is a run or an error that names a place; never a panic.

mod common;
#[path = "common/relay.rs"]
mod relay;

use netsim::{Programs, Scenario, Simulation};
use serde_json::{Value, json};

/// A scenario that uses every field.
fn everything() -> Value {
    json!({
        "name": "everything", "seed": 1, "end_s": 2.0, "sample_s": 0.5,
        "hosts": {
            "S": {"ipv4": "10.0.0.1", "mac": "02:00:00:00:00:01", "gateway_mac": "02:00:00:00:00:02"},
            "D": {"ipv4": "10.0.0.2", "mac": "02:00:00:00:00:02", "gateway_mac": "02:00:00:00:00:01"},
        },
        "switches": {"R": {"program": "relay", "entries": [], "default_actions": [], "capacity": 50}},
        "links": [
            {"name": "one", "a": {"node": "S", "port": 0}, "b": {"node": "R", "port": 1},
             "rate_bps": 1_000_000, "delay_s": 0.01, "queue": 10, "loss": 0.01,
             "ab": {"rate_bps": 900_000, "delay_s": 0.02, "queue": 9, "loss": 0.02}, "ba": {},
             "changes": [{"at_s": 1.0, "direction": "ab", "rate_bps": 500_000, "delay_s": 0.03,
                          "loss": 0.1}]},
            {"a": {"node": "R", "port": 2}, "b": {"node": "D"}, "rate_bps": 1_000_000, "delay_s": 0.01},
        ],
        "flows": [{
            "name": "f", "from": "S", "to": "D", "aqt": true, "ci": true, "start_s": 0.1, "stop_s": 1.5,
            "segments": 500, "trace": true,
            "control": {"name": "rovegas", "alpha": 1, "beta": 3, "gamma": 1, "full_deployment": false},
            "profile": {"window": 100, "initial_window": 2, "min_rto_s": 0.2, "initial_rto_s": 3.0,
                        "tick_s": 0.01, "phase_s": 0.001, "rfc2988": true, "limited_transmit": true,
                        "max_cwnd": 50, "bugfix": true, "packet_octets": 1000, "ack_octets": 40,
                        "stale_send_counts": false, "phantom_rtt": true},
        }],
        "sources": [{"name": "s", "from": "S", "to": "D", "kind": "pareto", "rate_bps": 1e5,
                     "mean_on_s": 0.1, "mean_off_s": 0.1, "shape": 1.5, "packet_octets": 500,
                     "start_s": 0.2, "stop_s": 1.9}],
        "record": {"pcap": ["one"], "check_aqt": true, "aqt_switches": ["R"]},
    })
}

/// Paths of everything in `value`, as JSON pointers.
fn pointers(value: &Value, at: &str, into: &mut Vec<String>) {
    let children: Vec<(String, &Value)> = match value {
        Value::Array(list) => list
            .iter()
            .enumerate()
            .map(|(i, v)| (i.to_string(), v))
            .collect(),
        Value::Object(map) => map.iter().map(|(k, v)| (k.clone(), v)).collect(),
        _ => Vec::new(),
    };
    for (name, child) in children {
        let at = format!("{at}/{name}");
        pointers(child, &at, into);
        into.push(at);
    }
}

fn answer(data: &Value, programs: &Programs) -> Result<(), String> {
    let told = |e: netsim::ScenarioError| e.to_string();
    let scenario = Scenario::from_json(&data.to_string()).map_err(told)?;
    let mut simulation = Simulation::new(&scenario, programs).map_err(told)?;
    simulation.run(5_000).unwrap();
    simulation.finish().unwrap();
    Ok(())
}

#[test]
fn every_field_with_every_strange_value_gives_a_run_or_a_told_place() {
    let programs = relay::relay();
    let good = everything();
    answer(&good, &programs).unwrap();
    let strange = [
        json!(null),
        json!(0),
        json!(1),
        json!(-1),
        json!(1e-12),
        json!(65_535),
        json!(4_294_967_295_u64),
        json!(u64::MAX),
        json!(1e300),
        json!(""),
        json!("S"),
        json!("relay"),
        json!([]),
        json!([1, 2]),
        json!({}),
        json!(true),
    ];
    let mut paths = Vec::new();
    pointers(&good, "", &mut paths);
    assert!(paths.len() > 80);
    let (mut runs, mut errors) = (0, 0);
    for path in &paths {
        for value in &strange {
            let mut data = good.clone();
            *data.pointer_mut(path).unwrap() = value.clone();
            match answer(&data, &programs) {
                Ok(()) => runs += 1,
                Err(message) => {
                    assert!(message.contains(": "), "{path} = {value}: {message}");
                    errors += 1;
                }
            }
        }
    }
    assert!(runs > 100 && errors > 500, "{runs} {errors}");
}
