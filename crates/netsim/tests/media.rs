//! Hosts on a shared medium: every number here is computed by hand.

mod common;
#[path = "common/relay.rs"]
mod relay;

use common::{merge, run, two_hosts};
use netsim::{Results, Scenario, Simulation};
use serde_json::{Value, json};

/// S and D on one medium at 1.6 Mb/s and 20 ms; `gaps` of slots of 1 ms.
fn on_air(end_s: f64, gaps: u32, carrier_sense: bool, mut traffic: Value) -> Results {
    let medium = json!({"slot_s": 0.001, "slots": gaps, "carrier_sense": carrier_sense});
    merge(&mut traffic, json!({"media": {"air": medium}}));
    run(&two_hosts(end_s, end_s, json!({"medium": "air"}), traffic))
}

/// Each sends 1000 octets, 5 ms, every 20 ms; D from `later_s` on.
fn both_ways(later_s: f64) -> Value {
    let each = json!({"kind": "cbr", "rate_bps": 4e5});
    let source = |from, to, start_s| {
        let mut source = each.clone();
        merge(
            &mut source,
            json!({"from": from, "to": to, "start_s": start_s}),
        );
        source
    };
    json!({"sources": [source("S", "D", 0.0), source("D", "S", later_s)]})
}

fn delivered(results: &Results) -> Vec<u64> {
    let sources = results.sources.iter();
    sources
        .map(|(_, record)| record.delivered_packets[0])
        .collect()
}

#[test]
fn one_sender_without_gaps_has_the_medium_as_a_line_of_its_own() {
    let one = json!({"sources": [{"from": "S", "to": "D", "kind": "cbr", "rate_bps": 1.6e6}]});
    // The first packet arrives at 5 + 20 ms, the next ones 5 ms apart; not at the end itself.
    assert_eq!(delivered(&on_air(0.025, 1, false, one.clone())), [0]);
    assert_eq!(delivered(&on_air(0.036, 1, false, one)), [3]);
}

#[test]
fn a_gap_before_each_packet_takes_its_share_of_the_medium() {
    let one = json!({"sources": [{"from": "S", "to": "D", "kind": "cbr", "rate_bps": 1.6e6}]});
    // 0, 1 or 2 ms before 5 ms: a packet in 6 ms.
    let arrived = delivered(&on_air(60.0, 3, false, one))[0];
    // A gap's deviation is .82 ms: 10 000 ± 4·14.
    assert!((9_944..=10_056).contains(&arrived), "{arrived}");
}

#[test]
fn packets_that_overlap_are_both_lost_and_counted() {
    let results = on_air(1.0, 1, false, both_ways(0.004));
    assert_eq!(delivered(&results), [0, 0]);
    for (_, record) in &results.sources {
        assert_eq!(record.lost_packets, [50]);
    }
    for (_, line) in &results.lines {
        assert_eq!(line.lost_packets, [50]);
    }
}

#[test]
fn packets_one_after_the_other_all_arrive() {
    // The last of S is sent at .98 s and arrives at 1.005 s.
    assert_eq!(
        delivered(&on_air(1.0, 1, false, both_ways(0.006))),
        [49, 49]
    );
}

#[test]
fn with_carrier_sense_the_second_waits_for_the_first() {
    assert_eq!(delivered(&on_air(1.0, 1, true, both_ways(0.004))), [49, 49]);
}

/// S sends over a wire to the base station R, which shares a medium with D.
fn base_station(carrier_sense: bool) -> Scenario {
    let host = |n: u32, gateway: u32| {
        json!({"ipv4": format!("10.0.0.{n}"), "mac": format!("02:00:00:00:00:0{n}"),
               "gateway_mac": format!("02:00:00:00:00:0{gateway}")})
    };
    let data = json!({
        "name": "base station", "seed": 1, "end_s": 20.0, "sample_s": 20.0,
        "hosts": {"S": host(1, 2), "D": host(2, 1)},
        "switches": {"R": {"program": "relay"}},
        "media": {"air": {"slot_s": 5e-5, "slots": 40, "carrier_sense": carrier_sense}},
        "links": [
            {"a": {"node": "S"}, "b": {"node": "R", "port": 1}, "rate_bps": 10_000_000,
             "delay_s": 0.01},
            {"a": {"node": "R", "port": 2}, "b": {"node": "D"}, "rate_bps": 2_000_000,
             "delay_s": 1e-6, "medium": "air"},
        ],
        "flows": [{"from": "S", "to": "D", "connection": {"control": {"name": "newreno"}}}],
    });
    Scenario::from_json(&data.to_string()).unwrap()
}

fn run_with_relay(scenario: &Scenario) -> Results {
    let mut simulation = Simulation::new(scenario, &relay::relay()).unwrap();
    assert!(simulation.run(u64::MAX).unwrap());
    simulation.finish().unwrap()
}

#[test]
fn a_base_stations_queue_waits_for_the_medium() {
    let results = run_with_relay(&base_station(true));
    let line = |name: &str| {
        let found = results.lines.iter().find(|(line, _)| line == name);
        found.unwrap().1.clone()
    };
    // Each packet takes 4 ms and a gap of .975 ms. Its ACK comes between two gaps or collides.
    let arrived = results.flows[0].1.delivered_packets[0];
    assert!((2_010..=4_020).contains(&arrived), "{arrived}");
    assert!(line("R->D").max_waiting[0] > 5);
    // Carrier sense lets only stations collide that begin in one slot.
    let lost = line("R->D").lost_packets[0];
    assert!(lost < arrived / 20, "{lost}");
}

#[test]
fn without_carrier_sense_a_full_queue_collides_with_its_acks() {
    let results = run_with_relay(&base_station(false));
    let lost: u64 = results
        .lines
        .iter()
        .map(|(_, line)| line.lost_packets[0])
        .sum();
    let sent: u64 = results
        .lines
        .iter()
        .map(|(_, line)| line.sent_packets[0])
        .sum();
    assert!(lost > sent / 20, "{lost} of {sent}");
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let scenario = base_station(false);
    assert_eq!(
        run_with_relay(&scenario).lines,
        run_with_relay(&scenario).lines
    );
}
