//! Networks with the project's P4 programs in their switches.

#[path = "common/lab.rs"]
mod lab;

mod common;

use common::{Shared, merge};
use lab::{Network, programs};
use netsim::{Results, Scenario, Simulation};
use serde_json::{Value, json};

const PLAIN: Network = Network {
    program: "plain",
    queue: 10,
    middle_bps: [1_600_000, 1_600_000],
    marks: None,
};
const AQT: Network = Network {
    program: "aqt",
    queue: 50,
    marks: Some([1, 0, 0]),
    ..PLAIN
};
const WAYMARK: Network = Network {
    program: "waymark",
    marks: Some([1, 1, 1]),
    ..PLAIN
};

fn simulation(network: &Network, end_s: f64, traffic: Value) -> Simulation {
    let mut data = network.scenario(end_s);
    merge(&mut data, traffic);
    let scenario = Scenario::from_json(&data.to_string()).unwrap();
    Simulation::new(&scenario, &programs(&[network.program])).unwrap()
}

fn run(network: &Network, end_s: f64, traffic: Value) -> Results {
    let mut simulation = simulation(network, end_s, traffic);
    assert!(simulation.run(u64::MAX).unwrap());
    let results = simulation.finish().unwrap();
    assert_eq!(results.totals.stray_packets, 0);
    results
}

fn named<'a, T>(list: &'a [(String, T)], name: &str) -> &'a T {
    &list.iter().find(|(n, _)| n == name).unwrap().1
}

/// Cell `index` of a counter of a switch.
fn counted(results: &Results, switch: &str, counter: &str, index: u64) -> u64 {
    let counters = &named(&results.switches, switch).counters;
    let is_it = |name: &str| name == counter || name.ends_with(&format!(".{counter}"));
    let record = &counters.iter().find(|(n, _)| is_it(n)).unwrap().1;
    let cell = record.index.iter().position(|&i| i == index);
    cell.map_or(0, |cell| record.packets[cell])
}

/// Packets that a switch's program refused because a port's queue was full.
fn queue_full(results: &Results, switch: &str, port: u64) -> u64 {
    const QUEUE_FULL: u64 = 5;
    counted(results, switch, "drops", 8 * port + QUEUE_FULL)
}

#[test]
fn a_packet_takes_its_serialisations_and_delays_to_the_nanosecond() {
    // 0.8 + 1, 5 + 20, 0.8 + 1 ms.
    let source = json!({"sources": [{"from": "S1", "to": "D1", "kind": "cbr", "rate_bps": 8e5}]});
    let delivered = |end_s| {
        run(&PLAIN, end_s, source.clone()).sources[0]
            .1
            .delivered_packets[0]
    };
    assert_eq!(delivered(0.0286), 0);
    assert_eq!(delivered(0.028_600_001), 1);
}

#[test]
fn the_program_admits_as_many_as_wait_in_a_queue_of_ns_2() {
    // As between two hosts, 1.8 ms later: a packet every 0.8 ms, 5 ms of service. Those of 0.8 to 7.2 ms
    // wait, one leaves at 5 ms, so that of 8 ms is let in as well; 8.8 and 9.6 ms are refused.
    let source = json!({"sources": [{"from": "S1", "to": "D1", "kind": "cbr", "rate_bps": 10e6}]});
    let results = run(&PLAIN, 0.0118, source);
    let line = named(&results.lines, "R1->R2");
    assert_eq!(line.max_waiting, [9]);
    assert_eq!(line.sent_packets, [2]);
    assert_eq!(
        named(&results.switches, "R1").dropped_packets,
        [("ingress", vec![2])]
    );
    assert_eq!(results.sources[0].1.lost_packets, [2]);
    assert_eq!(queue_full(&results, "R1", 3), 2);
    // Waits from 0.8j ms: j = 1 to 5 ms, j = 2…10 to 10 ms.
    let waited = 4.2 + (2..=10).map(|j| 10.0 - 0.8 * f64::from(j)).sum::<f64>();
    assert_eq!(line.waiting_ns, [(waited * 1e6).round() as u64]);
}

#[test]
fn what_the_traffic_manager_drops_is_told_apart_from_what_the_program_refuses() {
    let source = json!({"sources": [{"from": "S1", "to": "D1", "kind": "cbr", "rate_bps": 10e6}]});
    let mut data = PLAIN.scenario(1.0);
    merge(&mut data, source);
    data["switches"]["R1"]["capacity"] = json!(4);
    let scenario = Scenario::from_json(&data.to_string()).unwrap();
    let mut simulation = Simulation::new(&scenario, &programs(&["plain"])).unwrap();
    simulation.run(u64::MAX).unwrap();
    let results = simulation.finish().unwrap();
    let line = named(&results.lines, "R1->R2");
    assert_eq!(line.max_waiting, [4]);
    // To the program, what the traffic manager dropped still waits: until the next packet leaves, it refuses.
    let (dropped, refused) = (line.dropped_packets[0], queue_full(&results, "R1", 3));
    assert!(dropped > 100 && refused > 100, "{dropped} {refused}");
    assert_eq!(results.sources[0].1.lost_packets, [dropped + refused]);
}

#[test]
fn samples_end_where_the_counters_do_and_change_nothing() {
    let traffic = |record: Value| json!({"sources": [{"from": "S1", "to": "D1", "kind": "cbr", "rate_bps": 10e6}], "record": record});
    let sampled = run(&PLAIN, 1.0, traffic(json!({"sample_objects_s": 0.25})));
    let plain = run(&PLAIN, 1.0, traffic(json!({})));
    assert_eq!(sampled.lines, plain.lines);
    let received = |results: &Results| {
        let counters = &named(&results.switches, "R1").counters;
        let found = counters.iter().find(|(name, _)| name.ends_with("received"));
        found.unwrap().1.clone()
    };
    let (counter, samples) = (received(&plain), received(&sampled).samples.unwrap());
    assert_eq!(counter.samples, None);
    assert_eq!(samples.sample, [0, 1, 2, 3]);
    assert_eq!(samples.index, [1, 1, 1, 1]);
    // Packet k arrives at 1.8 + 0.8k ms, from k = 0.
    assert_eq!(samples.low, [311, 623, 936, 1248]);
    assert_eq!(counter.packets[0], 1248);
}

#[test]
fn too_many_samples_are_refused() {
    let mut data = PLAIN.scenario(1.0);
    data["record"] = json!({"sample_objects_s": 1e-5});
    let error = Scenario::from_json(&data.to_string()).unwrap_err();
    let message = error.to_string();
    assert!(
        message.starts_with("record.sample_objects_s: 0.00001 s gives"),
        "{message}"
    );
    assert!(message.ends_with("expected at least 0.0001 s"), "{message}");
}

#[test]
fn a_rate_that_changes_concerns_the_switch_that_sends() {
    let mut data = PLAIN.scenario(40.0);
    merge(
        &mut data,
        json!({"flows": [{"from": "S1", "to": "D1", "connection": {"control": {"name": "vegas"}}}], "sample_s": 10.0}),
    );
    data["links"][4]["changes"] = json!([{"at_s": 20.0, "direction": "ab", "rate_bps": 800_000}]);
    let scenario = Scenario::from_json(&data.to_string()).unwrap();
    let mut simulation = Simulation::new(&scenario, &programs(&["plain"])).unwrap();
    simulation.run(u64::MAX).unwrap();
    let delivered = &simulation.finish().unwrap().flows[0].1.delivered_packets;
    assert_eq!((delivered[1], delivered[3]), (2000, 1000));
}

/// A RoVegas flow, and bursts against its acknowledgements at 0.9 of the line back (Chan 2004, figure 3.6).
fn against_bursts() -> Value {
    json!({
        "flows": [{"from": "S1", "to": "D1", "connection": {"control": {"name": "rovegas"}}}],
        "sources": [{"from": "S2", "to": "D2", "kind": "exponential", "rate_bps": 3.2e6,
                     "mean_on_s": 0.01, "mean_rate_bps": 1.44e6, "start_s": 5.0}],
    })
}

#[test]
fn the_aqt_of_every_packet_is_the_sum_of_its_waits() {
    let mut traffic = against_bursts();
    traffic["record"] = json!({"check_aqt": true});
    let results = run(&AQT, 60.0, traffic.clone());
    let check = results.check_aqt.unwrap();
    assert_eq!(check.mismatches, 0, "{:#?}", check.first);
    // Data and acknowledgements.
    assert!(check.compared > 6_000, "{}", check.compared);
    // The comparison would find a switch that is not counted.
    traffic["record"] = json!({"check_aqt": true, "aqt_switches": ["R1"]});
    let check = run(&AQT, 60.0, traffic).check_aqt.unwrap();
    assert!(check.mismatches > 1_000, "{}", check.mismatches);
    assert!(check.first[0].contains("AQT says"), "{:?}", check.first);
}

#[test]
fn an_aqt_that_saturates_is_the_most_that_it_can_say() {
    // 16 kb/s: a packet every 0.5 s, so that the last of 49 waits 24 s; 2^24 µs are 16.8 s.
    let network = Network {
        middle_bps: [16_000, 1_600_000],
        ..AQT
    };
    let traffic = json!({
        "flows": [{"from": "S1", "to": "D1", "connection": {"control": {"name": "reno"}, "aqt": true,
                   "profile": {"ns2": {"min_rto_s": 40.0, "initial_rto_s": 40.0}}}, "trace": true}],
        "record": {"check_aqt": true}, "sample_s": 100.0});
    let results = run(&network, 600.0, traffic);
    let check = results.check_aqt.unwrap();
    assert_eq!(check.mismatches, 0, "{:#?}", check.first);
    assert!(named(&results.lines, "R1->R2").max_waiting.contains(&49));
    let trace = results.flows[0].1.trace.as_ref().unwrap();
    let longest = trace.aqt_forward_s.iter().copied().fold(0.0, f64::max);
    // What is "at least" so long is not an exact value.
    assert!((16.0..16.777_215).contains(&longest), "{longest}");
    assert!(trace.rtt_s.iter().any(|&rtt| rtt > 20.0));
}

#[test]
fn congestion_indication_marks_exactly_the_waiting() {
    let counter = json!({"counter": "drops", "stride": 8, "slot": 5});
    // Bursts that overflow the queue which two capable flows wait in.
    let mut traffic = json!({
        "flows": [
            {"from": "S1", "to": "D1", "connection": {"control": {"name": "vegas"}, "ci": true}},
            {"from": "D2", "to": "S2", "connection": {"control": {"name": "reno"}, "ci": true}},
        ],
        "sources": [{"from": "S1", "to": "D1", "kind": "exponential", "rate_bps": 3.2e6,
                     "mean_on_s": 0.02, "mean_rate_bps": 0.8e6}],
        "record": {"check_ci": counter},
    });
    let results = run(&WAYMARK, 60.0, traffic.clone());
    let check = results.check_ci.as_ref().unwrap();
    assert_eq!(check.mismatches, 0, "{:#?}", check.first);
    assert!(check.compared > 1_000, "{}", check.compared);
    const CI: u64 = 2;
    let marked = counted(&results, "R1", "marks", 4 * 3 + CI);
    assert!(marked > 100, "{marked}");
    // The comparison would find refusals that are not counted.
    traffic["record"]["check_ci"]["slot"] = json!(6);
    let check = run(&WAYMARK, 60.0, traffic).check_ci.unwrap();
    assert!(check.mismatches > 100, "{}", check.mismatches);
}

#[test]
fn a_slow_way_back_clocks_vegas_by_its_acknowledgements() {
    // Chan 2004, figure 3.4: k = 4, 16 kb/s of acknowledgements, a quarter of 1.6 Mb/s of data.
    let network = Network {
        middle_bps: [1_600_000, 16_000],
        ..AQT
    };
    let traffic = json!({
        "flows": [{"from": "S1", "to": "D1", "connection": {"control": {"name": "vegas"}}}], "sample_s": 50.0});
    let results = run(&network, 150.0, traffic);
    let kbps = results.flows[0].1.delivered_octets[2] as f64 * 8.0 / 50.0 / 1e3;
    assert!((kbps / 400.0 - 1.0).abs() < 0.01, "{kbps}");
}

#[test]
fn the_same_scenario_gives_the_same_results_and_capture() {
    let capture = || {
        let out = Shared::default();
        let mut simulation = simulation(&AQT, 20.0, against_bursts());
        simulation.capture(Box::new(out.clone())).unwrap();
        simulation.run(u64::MAX).unwrap();
        let results = simulation.finish().unwrap();
        (results, out.octets())
    };
    let (first, octets) = capture();
    let (second, again) = capture();
    assert_eq!(first, second);
    assert!(octets == again && octets.len() > 1_000_000);
}

#[test]
fn an_entry_that_does_not_fit_is_told_with_its_place() {
    let told = |entry: usize, field: &str, value: Value| {
        let mut data = PLAIN.scenario(1.0);
        data["switches"]["R1"]["entries"][entry][field] = value;
        let scenario = Scenario::from_json(&data.to_string()).unwrap();
        let built = Simulation::new(&scenario, &programs(&["plain"]));
        built.unwrap_err().to_string()
    };
    let message = told(0, "table", json!("ipv4_rout"));
    assert!(
        message.starts_with("switches.R1.entries[0]: ") && message.contains("ipv4_route"),
        "{message}"
    );
    let message = told(2, "params", json!({"prt": 1}));
    assert!(
        message.starts_with("switches.R1.entries[2]: ") && message.contains("port"),
        "{message}"
    );
    let mut data = PLAIN.scenario(1.0);
    data["switches"]["R1"]["program"] = json!("red");
    let scenario = Scenario::from_json(&data.to_string()).unwrap();
    assert_eq!(
        Simulation::new(&scenario, &programs(&["plain"]))
            .unwrap_err()
            .to_string(),
        "switches.R1.program: no program \"red\"; programs are plain"
    );
}
