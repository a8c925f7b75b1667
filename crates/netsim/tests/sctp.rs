//! SCTP associations between hosts with two interfaces, over two rows of two routers that run `plain.p4`: the
//! network of Dahal 2007, figure 6.1.
//!
//! ```text
//!   S1 ═╦═ R11 ─── R21 ═╦═ D1       every host has an interface on either row
//!   S2 ═╩═ R12 ─── R22 ═╩═ D2
//! ```

mod common;
#[path = "common/lab.rs"]
#[allow(dead_code, reason = "without its networks")]
mod lab;

use common::Shared;
use netsim::record::AssociationRecord;
use netsim::{Results, Scenario, Simulation};
use serde_json::{Value, json};
use std::process::Command;

/// The network with `pairs` pairs of hosts, and loss between the routers, on the way there.
fn network(pairs: usize, loss: f64, end_s: f64) -> Value {
    let host = |row: usize, column: usize, pair: usize| {
        json!({"ipv4": format!("10.{row}.{column}.{}", pair + 1),
               "mac": format!("02:00:{row:02x}:{column:02x}:00:{pair:02x}"),
               "gateway_mac": "02:ff:00:00:00:00"})
    };
    let (mut hosts, mut switches) = (json!({}), json!({}));
    let mut links = Vec::new();
    for (column, side) in ["S", "D"].into_iter().enumerate() {
        for pair in 0..pairs {
            let name = format!("{side}{}", pair + 1);
            hosts[&name] = host(0, column, pair);
            hosts[&name]["interfaces"] = json!([host(1, column, pair)]);
            for row in 0..2 {
                let router = format!("R{}{}", column + 1, row + 1);
                links.push(json!({"a": {"node": name, "port": row},
                    "b": {"node": router, "port": pair + 1},
                    "rate_bps": 1_000_000, "delay_s": 0.01, "queue": 50}));
            }
        }
    }
    let across = pairs + 1;
    for row in 0..2 {
        for column in 0..2 {
            let router = format!("R{}{}", column + 1, row + 1);
            let mut entries = Vec::new();
            for side in 0..2 {
                for pair in 0..pairs {
                    let address = format!("10.{row}.{side}.{}", pair + 1);
                    let port = if side == column { pair + 1 } else { across };
                    entries.push(json!({"table": "ipv4_route", "action": "direct",
                        "match": {"dst_addr": format!("{address}/32")}, "params": {"port": port}}));
                    let mac = format!("02:00:{row:02x}:{side:02x}:00:{pair:02x}");
                    entries.push(json!({"table": "neighbour", "action": "rewrite",
                        "match": {"port": port, "next_hop": address},
                        "params": {"src_addr": "02:ff:00:00:00:00", "dst_addr": mac}}));
                }
            }
            for port in 1..=across {
                entries.push(json!({"table": "port_queue", "match": {"port": port},
                    "action": "drop_tail", "params": {"max_waiting": 49}}));
            }
            switches[router] = json!({"program": "plain", "entries": entries});
        }
        let (left, right) = (format!("R1{}", row + 1), format!("R2{}", row + 1));
        links.push(
            json!({"a": {"node": left, "port": across}, "b": {"node": right, "port": across},
            "rate_bps": 1_000_000, "delay_s": 0.01, "ab": {"loss": loss}}),
        );
    }
    json!({"name": "fig6.1", "seed": 1, "end_s": end_s, "sample_s": end_s,
           "hosts": hosts, "switches": switches, "links": links})
}

/// An association of each pair, with these settings.
fn associations(pairs: usize, settings: Value) -> Value {
    let one = |pair: usize| {
        let mut association =
            json!({"from": format!("S{}", pair + 1), "to": format!("D{}", pair + 1)});
        common::merge(&mut association, settings.clone());
        association
    };
    json!({"associations": (0..pairs).map(one).collect::<Vec<_>>()})
}

fn simulation(mut data: Value, traffic: Value) -> Simulation {
    common::merge(&mut data, traffic);
    let scenario = Scenario::from_json(&data.to_string()).unwrap();
    Simulation::new(&scenario, &lab::programs(&["plain"])).unwrap()
}

fn run(data: Value, traffic: Value) -> Results {
    let mut simulation = simulation(data, traffic);
    assert!(simulation.run(u64::MAX).unwrap());
    simulation.finish().unwrap()
}

/// The variants of the thesis, at F = 2 and RTT_min = 0.062 s.
fn variant(name: &str) -> Value {
    let threshold = json!([2.0 * 0.062]);
    match name {
        "std" => json!({}),
        // What ns-2.35 takes of RFC 4960.
        "ns2" => {
            json!({"profile": {"initial_octets": 4380, "least_packets": 4, "ns2_quirks": true}})
        }
        "rbca" => json!({"control": "rbca", "thresholds_s": threshold}),
        "spc" => json!({"spc": true, "thresholds_s": threshold}),
        _ => json!({"control": "rbca", "spc": true, "thresholds_s": threshold}),
    }
}

fn sum(results: &Results, of: impl Fn(&AssociationRecord) -> u64) -> f64 {
    let associations = results.associations.iter();
    associations.map(|(_, record)| of(record) as f64).sum()
}

/// Loss in per cent of the packets sent; throughput in per cent of both paths' 2 Mb/s; mean RTT.
fn measures(results: &Results) -> (f64, f64, f64) {
    let seconds = results.end.as_secs_f64();
    let sent = sum(results, |r| r.flow.sent_packets.iter().sum());
    let lost = sum(results, |r| r.flow.lost_packets.iter().sum());
    let goodput = sum(results, |r| r.flow.goodput_octets.iter().sum());
    let rtt = sum(results, |r| r.rtt_ns as u64) / sum(results, |r| r.rtt_samples) / 1e9;
    let throughput = goodput / 1440.0 * 1500.0 * 8.0 / seconds / 2e6;
    (100.0 * lost / sent, 100.0 * throughput, rtt)
}

#[test]
#[ignore = "prints the thesis' table"]
fn table_6_1() {
    for name in ["std", "ns2", "rbca", "spc", "both"] {
        for pairs in [5, 25] {
            let mut settings = variant(name);
            settings["primary"] = json!([{"at_s": 20.0, "path": 1}]);
            let results = run(network(pairs, 0.0, 200.0), associations(pairs, settings));
            println!("{name} {pairs}: {:?}", measures(&results));
        }
        for loss in [0.01, 0.05, 0.1, 0.15] {
            let mut settings = variant(name);
            settings["primary"] = json!([{"at_s": 20.0, "path": 1}]);
            let results = run(network(1, loss, 200.0), associations(1, settings));
            println!("{name} loss {loss}: {:?}", measures(&results));
        }
    }
}

#[test]
fn rbca_and_spc_fill_both_paths_without_loss() {
    let results = run(network(5, 0.0, 30.0), associations(5, variant("both")));
    let (loss, throughput, rtt) = measures(&results);
    assert_eq!(loss, 0.0);
    assert!(throughput > 70.0, "{throughput}");
    assert!((0.09..0.16).contains(&rtt), "{rtt}");
    assert!(sum(&results, |r| r.switches) >= 1.0);
    assert_eq!(results.totals.stray_packets, 0);
}

#[test]
fn std_fills_the_queue_of_one_path_and_rbca_does_not() {
    let std = run(network(5, 0.0, 30.0), associations(5, variant("std")));
    let rbca = run(network(5, 0.0, 30.0), associations(5, variant("rbca")));
    let (std, rbca) = (measures(&std), measures(&rbca));
    assert!(std.0 > 1.0 && rbca.0 == 0.0, "{std:?} {rbca:?}");
    assert!(std.2 > 0.4 && rbca.2 < 0.16, "{std:?} {rbca:?}");
}

#[test]
fn the_primary_path_changes_when_the_scenario_says_so() {
    let mut settings = variant("rbca");
    settings["primary"] = json!([{"at_s": 5.0, "path": 1}]);
    let mut data = network(1, 0.0, 10.0);
    data["sample_s"] = json!(1.0);
    let results = run(data, associations(1, settings));
    let paths = &results.associations[0].1.sent_on_path;
    assert!(paths[0][1..5].iter().all(|&sent| sent > 70));
    assert!(paths[1][..5].iter().all(|&sent| sent == 0));
    assert!(paths[1][6..].iter().all(|&sent| sent > 70));
    assert!(paths[0][6..].iter().all(|&sent| sent == 0));
}

#[test]
fn a_run_repeats_itself() {
    let once = || run(network(2, 0.05, 10.0), associations(2, variant("spc")));
    assert_eq!(once(), once());
}

#[test]
fn mistakes_are_told_with_their_place() {
    let told = |traffic: Value| {
        let mut data = network(1, 0.0, 10.0);
        common::merge(&mut data, traffic);
        Scenario::from_json(&data.to_string())
            .unwrap_err()
            .to_string()
    };
    let association = |settings| told(associations(1, settings));
    assert_eq!(
        association(json!({"spc": true})),
        "associations[0]: RBCA and SPC need a threshold RTT and the Timestamp chunk"
    );
    assert_eq!(
        association(json!({"primary": [{"at_s": 1.0, "path": 2}]})),
        "associations[0].primary[0].path: no path 2; paths are 0 to 1"
    );
    assert_eq!(
        association(json!({"profile": {"chunk_octets": 1500}})),
        "associations[0]: a DATA chunk of 1500 octets; expected 17 to 1468, what a packet holds"
    );
}

/// Every packet of an association's life, read by tshark: no malformed chunk, no bad checksum.
#[test]
fn tshark_reads_every_packet() {
    if Command::new("tshark").arg("--version").output().is_err() {
        eprintln!("no tshark here: not checked");
        return;
    }
    let mut simulation = simulation(
        network(2, 0.05, 40.0),
        associations(
            2,
            json!({"timestamps": true, "primary": [{"at_s": 20.0, "path": 1}]}),
        ),
    );
    let shared = Shared::default();
    simulation.capture(Box::new(shared.clone())).unwrap();
    assert!(simulation.run(u64::MAX).unwrap());
    simulation.finish().unwrap();
    let path = std::env::temp_dir().join(format!("waymark-sctp-{}.pcapng", std::process::id()));
    std::fs::write(&path, shared.octets()).unwrap();
    let fields = |filter: &str| {
        let output = Command::new("tshark")
            .args([
                "-r",
                path.to_str().unwrap(),
                "-o",
                "sctp.checksum:crc-32c",
                "-Y",
                filter,
            ])
            .args([
                "-T",
                "fields",
                "-e",
                "frame.number",
                "-e",
                "sctp.chunk_type",
            ])
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{told}");
        String::from_utf8(output.stdout).unwrap()
    };
    let all = fields("sctp");
    let bad =
        fields("_ws.malformed || sctp.checksum.status == \"Bad\" || ip.checksum.status == \"Bad\"");
    let good = fields("sctp.checksum.status == \"Good\"");
    if std::env::var("SCTP_KEEP").is_err() {
        std::fs::remove_file(&path).unwrap();
    }
    assert!(all.lines().count() > 10_000, "{}", all.lines().count());
    assert_eq!(bad, "");
    assert_eq!(good.lines().count(), all.lines().count());
    // INIT, INIT ACK, SACK, HEARTBEAT and its ACK, COOKIE ECHO, COOKIE ACK, Timestamp and DATA.
    for kind in ["1", "2", "158,3", "4", "5", "10", "11", "158,0"] {
        assert!(
            all.lines().any(|line| line.ends_with(&format!("\t{kind}"))),
            "{kind}"
        );
    }
}
