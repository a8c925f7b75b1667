//! Chan 2004, figures 3.4 and 3.5: one flow whose acknowledgements cross the bottleneck.
//!
//! 1.6 Mb/s and 20 ms there, 1/k of the acknowledgements that this takes on the reverse path; queues of
//! 10.

#[path = "common/lab.rs"]
mod lab;

use netsim::{Programs, Scenario, Simulation};
use serde_json::json;

/// Data packets per second in 100–200 s.
fn packets_per_second(programs: &Programs, control: &str, back_bps: u64) -> f64 {
    let network = lab::Network {
        program: "aqt",
        queue: 10,
        middle_bps: [1_600_000, back_bps],
        marks: Some([1, 0, 0]),
    };
    let mut data = network.scenario(200.0);
    data["sample_s"] = json!(100);
    data["flows"] =
        json!([{"from": "S1", "to": "D1", "connection": {"control": {"name": control}}}]);
    let scenario = Scenario::from_json(&data.to_string()).unwrap();
    let mut simulation = Simulation::new(&scenario, programs).unwrap();
    assert!(simulation.run(u64::MAX).unwrap());
    let results = simulation.finish().unwrap();
    let line = results.lines.iter().find(|(name, _)| name == "R1->R2");
    let (_, bottleneck) = line.unwrap();
    bottleneck.sent_packets[1] as f64 / 100.0
}

#[test]
fn vegas_gets_one_kth_of_the_forward_bandwidth() {
    let programs = lab::programs(&["aqt"]);
    for k in [2, 4, 8, 16, 32] {
        let rate = packets_per_second(&programs, "vegas", 64_000 / k);
        let expected = 200.0 / k as f64;
        assert!(
            (rate / expected - 1.0).abs() < 0.01,
            "k = {k}: {rate} packets/s, (3.17) says {expected}"
        );
    }
}

#[test]
fn rovegas_gets_two_to_three_times_as_much() {
    let programs = lab::programs(&["aqt"]);
    // (3.21): 1 < F ≤ 3. Figure 3.5: the whole 200 packets/s at k = 2, "about 2" at 4, "about 3"
    // from 8 on.
    for (k, ratio) in [
        (2, 1.98..2.001),
        (4, 1.9..2.6),
        (8, 2.9..3.001),
        (16, 2.9..3.001),
        (32, 2.9..3.001),
    ] {
        let rate = packets_per_second(&programs, "rovegas", 76_800 / k);
        let over_vegas = rate * k as f64 / 200.0;
        assert!(
            ratio.contains(&over_vegas),
            "k = {k}: {over_vegas} times Vegas, not in {ratio:?}"
        );
    }
}
