//! Two hosts on one link: every number here is computed by hand.

mod common;

use common::{Shared, merge, run, two_hosts};
use netsim::{Programs, Simulation};
use serde_json::{Value, json};

fn cbr(rate_bps: f64) -> Value {
    json!({"sources": [{"from": "S", "to": "D", "kind": "cbr", "rate_bps": rate_bps}]})
}

#[test]
fn a_packet_arrives_after_its_serialisation_and_the_delay_to_the_nanosecond() {
    // 1000 octets at 1.6 Mb/s are 5 ms, then 20 ms of propagation; the end itself is not within the run.
    let delivered = |end_s| {
        let results = run(&two_hosts(end_s, 1.0, json!({}), cbr(1.6e6)));
        results.sources[0].1.delivered_packets[0]
    };
    assert_eq!(delivered(0.025), 0);
    assert_eq!(delivered(0.025_000_001), 1);
    assert_eq!(delivered(0.030), 1);
    assert_eq!(delivered(0.030_000_001), 2);
}

#[test]
fn drop_tail_lets_one_less_than_the_limit_wait() {
    // A packet every 0.5 ms, 5 ms of service each, limit 10. The first is in service; those of 0.5 to 4.5 ms
    // wait; at 5 ms one leaves before one comes, so that is let in; the nine of 5.5 to 9.5 ms are refused.
    let results = run(&two_hosts(0.01, 0.01, json!({"queue": 10}), cbr(16e6)));
    let line = &results.lines[0].1;
    assert_eq!(results.lines[0].0, "S->D");
    assert_eq!(results.sources[0].1.sent_packets, [20]);
    assert_eq!(results.sources[0].1.lost_packets, [9]);
    assert_eq!(line.dropped_packets, [9]);
    assert_eq!(line.max_waiting, [9]);
    // 0.5 → 5 ms, eight packets j from j/2 ms to the end, and 5 → 10 ms: 4.5 + 58 + 5 ms.
    assert_eq!(line.waiting_ns, [67_500_000]);
    assert_eq!(line.sent_packets, [2]);
    assert_eq!(line.sent_octets, [2000]);
}

#[test]
fn a_change_concerns_the_packets_that_leave_after_it() {
    // Packets leave at 0, 5, 10 ms at the old rate and delay and arrive at 25, 30, 35 ms. From 12 ms on one takes
    // 2.5 + 5 ms: those of 15, 20, 25 ms arrive at 22.5, 27.5, 32.5 ms.
    let changes = json!({"changes": [
        {"at_s": 0.012, "direction": "ab", "rate_bps": 3_200_000, "delay_s": 0.005}]});
    let results = run(&two_hosts(0.036, 0.0025, changes, cbr(1.6e6)));
    let delivered = &results.sources[0].1.delivered_packets;
    assert_eq!(delivered[8..], [0, 1, 1, 1, 1, 1, 1]);
}

#[test]
fn a_change_of_the_other_direction_changes_nothing() {
    let changes =
        json!({"changes": [{"at_s": 0.0, "direction": "ba", "loss": 1.0, "delay_s": 9.0}]});
    let results = run(&two_hosts(0.1, 1.0, changes, cbr(1.6e6)));
    assert_eq!(results.sources[0].1.delivered_packets, [15]);
}

#[test]
fn losses_are_as_frequent_as_asked_and_all_counted() {
    let results = run(&two_hosts(500.0, 500.0, json!({"loss": 0.05}), cbr(1.6e6)));
    let source = &results.sources[0].1;
    // Binomial: 100 000 · 0.05 ± 4·69.
    let lost = source.lost_packets[0];
    assert!((4724..=5276).contains(&lost), "{lost}");
    assert_eq!(results.lines[0].1.lost_packets, source.lost_packets);
    // Four or five packets are on the line at the end.
    let missing = source.sent_packets[0] - source.delivered_packets[0] - lost;
    assert!(missing <= 5, "{missing}");
}

fn tcp() -> Value {
    json!({"flows": [{"from": "S", "to": "D", "connection": {"control": {"name": "vegas"}}, "trace": true}]})
}

#[test]
fn a_vegas_flow_fills_the_link() {
    let results = run(&two_hosts(60.0, 10.0, json!({}), tcp()));
    let flow = &results.flows[0].1;
    // 200 packets of 1000 octets per second; the first ten seconds hold the slow start.
    assert_eq!(flow.delivered_packets[1..], [2000; 5]);
    assert_eq!(flow.delivered_octets[5], 2_000_000);
    // 960 octets of payload in each.
    assert_eq!(flow.goodput_octets[5], 1_920_000);
    assert_eq!(flow.lost_packets, [0; 6]);
    // It keeps 1 to 3 packets in the queue, one of them in service.
    let mean = results.lines[0].1.waiting_ns[5] as f64 / 1e10;
    assert!((0.0..=3.0).contains(&mean), "{mean}");
    let trace = flow.trace.as_ref().unwrap();
    // 5 ms of data, 0.2 ms of acknowledgement, 40 ms of propagation.
    let base = trace.base_rtt_s.last().unwrap();
    assert!((base - 0.0452).abs() < 1e-9, "{base}");
}

#[test]
fn a_transfer_of_so_many_segments_ends() {
    let mut data = tcp();
    data["flows"][0]["segments"] = json!(25);
    let results = run(&two_hosts(60.0, 60.0, json!({}), data));
    assert_eq!(results.flows[0].1.delivered_packets, [25]);
    assert_eq!(results.flows[0].1.goodput_octets, [25 * 960]);
}

#[test]
fn a_stopped_flow_sends_nothing_new() {
    let mut data = tcp();
    data["flows"][0]["stop_s"] = json!(10.0);
    let results = run(&two_hosts(20.0, 1.0, json!({}), data));
    let sent = &results.flows[0].1.sent_packets;
    assert!(sent[9] > 0, "{sent:?}");
    assert_eq!(sent[10..], [0; 10]);
}

#[test]
fn the_same_scenario_gives_the_same_results_and_capture() {
    let mut data = cbr(8e5);
    data["sources"][0]["kind"] = json!("pareto");
    merge(
        &mut data["sources"][0],
        json!({"mean_on_s": 0.1, "mean_off_s": 0.1, "shape": 1.5}),
    );
    merge(&mut data, tcp());
    let scenario = two_hosts(20.0, 1.0, json!({"loss": 0.01, "queue": 10}), data);
    let capture = || {
        let out = Shared::default();
        let mut simulation = Simulation::new(&scenario, &Programs::new()).unwrap();
        simulation.capture(Box::new(out.clone())).unwrap();
        // Stepwise or at once is the same.
        while !simulation.run(1000).unwrap() {}
        let results = simulation.finish().unwrap();
        let octets = out.octets();
        (format!("{results:?}"), octets)
    };
    let (first, octets) = capture();
    let (second, again) = capture();
    assert_eq!(first, second);
    assert!(octets == again && octets.len() > 1_000_000);
    assert_eq!(first, format!("{:?}", run(&scenario)));
}

#[test]
fn links_charge_declared_options_by_the_length_of_the_header() {
    let mark = |option: u8, bits: u8| {
        json!({"option": option,
        "fields": [{"bits": bits, "aggregation": "max"}]})
    };
    // Options of 6 and 10 octets are padded to 8 and 16, and share their padding.
    let cases = [
        (json!([]), false, 0),
        (json!([mark(0x9E, 16)]), false, 8),
        (json!([mark(0x9E, 16), mark(0x1E, 32)]), false, 16),
        (json!([mark(0x9E, 16)]), true, 16),
    ];
    // The modern profile carries timestamps; its answer to the SYN has 24 octets of TCP options.
    let modern = json!({"modern": {"packet_octets": 1000, "delayed_ack_s": 0.0}});
    for (profile, stamps, answers) in [(json!({"ns2": {}}), 0, 0), (modern, 12, 1)] {
        for (marks, aqt, options) in &cases {
            let flow = json!({"flows": [{"from": "S", "to": "D", "connection": {"control": {"name": "vegas"},
                "profile": profile, "marks": marks, "aqt": aqt}, "segments": 100}]});
            let results = run(&two_hosts(10.0, 10.0, json!({}), flow));
            let flow = &results.flows[0].1;
            assert_eq!((flow.packet.link, flow.packet.feedback), (1000, *options));
            assert_eq!(flow.packet.payload, 960 - options - stamps, "{profile}");
            let back = &results.lines[1].1;
            let acks = back.sent_packets[0] - answers;
            let charged = acks * u64::from(40 + options + stamps) + answers * 64;
            assert_eq!(back.sent_octets[0], charged, "{profile}, {marks}");
            assert!(acks >= 100);
        }
    }
}
