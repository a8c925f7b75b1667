//! The result of any scenario is a run or an error that names a place, never a panic.

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
            "name": "f", "from": "S", "to": "D", "start_s": 0.1, "stop_s": 1.5,
            "segments": 500, "trace": true,
            "connection": {"aqt": true, "ci": true,
                "control": {"name": "rovegas", "alpha": 1, "beta": 3, "gamma": 1, "full_deployment": false},
                "profile": {"ns2": {"window": 100, "initial_window": 2, "min_rto_s": 0.2, "initial_rto_s": 3.0,
                        "tick_s": 0.01, "phase_s": 0.001, "rfc2988": true, "limited_transmit": true,
                        "max_cwnd": 50, "bugfix": true, "packet_octets": 1000, "ack_octets": 40,
                        "stale_send_counts": false, "phantom_rtt": true}}},
        }],
        "sources": [{"name": "s", "from": "S", "to": "D", "kind": "pareto", "rate_bps": 1e5,
                     "mean_on_s": 0.1, "mean_off_s": 0.1, "shape": 1.5, "packet_octets": 500,
                     "start_s": 0.2, "stop_s": 1.9}],
        "record": {"pcap": ["one"], "check_aqt": true, "aqt_switches": ["R"]},
    })
}

/// A scenario with what the other has not: hosts of today, SCTP, copies, a shared medium.
fn today() -> Value {
    let mut data = everything();
    data["hosts"]["S"]["clock"] = json!({"offset_s": 3.0, "skew_ppm": 100.0});
    data["switches"]["R"]["multicast_groups"] =
        json!([{"id": 1, "replicas": [{"port": 1, "instance": 1}, {"port": 2}]}]);
    data["switches"]["R"]["clone_sessions"] =
        json!([{"id": 1, "replicas": [{"port": 2, "instance": 3}], "octets": 100}]);
    data["switches"]["R"]["snoop"] = json!([2]);
    data["media"] = json!({"air": {"slot_s": 5e-5, "slots": 40, "carrier_sense": true}});
    data["links"][1]["medium"] = json!("air");
    data["flows"] = json!([
        {"from": "S", "to": "D", "tracing": {"from_s": 0.5, "to_s": 1.0, "every_s": 0.1},
         "connection": {"avbw": true, "timestamps": true, "control": {"name": "bbr"}, "profile": {"modern": {"window": 200, "initial_window": 10, "min_rto_s": 0.2,
                     "initial_rto_s": 1.0, "delayed_ack_s": 0.04, "ecn": "classic", "pacing": true,
                     "packet_octets": 1500, "max_cwnd": 100}}}},
        {"from": "D", "to": "S", "connection": {"control": {"name": "rbcc", "threshold_rtt_s": 0.1}}},
    ]);
    data["sources"] = json!([{"from": "S", "to": "D", "kind": "exponential", "rate_bps": 1e5,
                              "mean_on_s": 0.1, "mean_rate_bps": 5e4}]);
    data["associations"] = json!([{
        "name": "a", "from": "S", "to": "D", "control": "rbca", "spc": true, "thresholds_s": [0.1],
        "delayed_sack": true, "timestamps": true, "start_s": 0.1, "stop_s": 1.5, "chunks": 50,
        "primary": [{"at_s": 1.0, "path": 0}], "trace": true,
        "profile": {"mtu": 1500, "chunk_octets": 1456, "window": 100_000, "ssthresh": 65_536,
                    "initial_packets": 2, "initial_octets": 4380, "least_packets": 4,
                    "rto_initial_s": 3.0, "rto_min_s": 1.0, "rto_max_s": 60.0,
                    "association_max_retrans": 10, "path_max_retrans": 5,
                    "max_init_retransmits": 8, "heartbeat_s": 30.0, "sack_delay_s": 0.2,
                    "missing_reports": 4, "max_burst": 4, "ns2_quirks": true},
    }]);
    data["record"] = json!({});
    data
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
    simulation.run(5_000).map_err(|e| format!("the run: {e}"))?;
    simulation.finish().unwrap();
    Ok(())
}

#[test]
fn every_field_with_every_strange_value_gives_a_run_or_a_told_place() {
    let programs = relay::relay();
    for good in [everything(), today()] {
        answer(&good, &programs).unwrap();
        strange_values(&good, &programs);
    }
}

fn strange_values(good: &Value, programs: &Programs) {
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
    pointers(good, "", &mut paths);
    assert!(paths.len() > 80);
    let (mut runs, mut errors) = (0, 0);
    for path in &paths {
        for value in &strange {
            let mut data = good.clone();
            *data.pointer_mut(path).unwrap() = value.clone();
            match answer(&data, programs) {
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
