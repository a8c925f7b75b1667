//! Captures as Wireshark reads them; skipped, and said so, where tshark is not installed.

mod common;
#[path = "common/lab.rs"]
mod lab;

use common::{Shared, merge, two_hosts};
use lab::{Network, programs};
use netsim::{Programs, Results, Scenario, Simulation};
use serde_json::json;
use std::process::Command;

/// The fields of every packet as tshark prints them, or `None` without tshark.
fn tshark(capture: &[u8], fields: &[&str]) -> Option<Vec<Vec<String>>> {
    let path = std::env::temp_dir().join(format!(
        "waymark-{}-{}.pcapng",
        std::process::id(),
        capture.len()
    ));
    std::fs::write(&path, capture).unwrap();
    let mut command = Command::new("tshark");
    command.arg("-r").arg(&path).args(["-T", "fields"]);
    for check in ["ip", "tcp", "udp"] {
        command
            .arg("-o")
            .arg(format!("{check}.check_checksum:TRUE"));
    }
    for field in fields {
        command.args(["-e", field]);
    }
    let output = command.output();
    std::fs::remove_file(&path).unwrap();
    let Ok(output) = output else {
        eprintln!("skipped: no tshark on PATH");
        return None;
    };
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let row = |line: &str| line.split('\t').map(str::to_string).collect();
    Some(text.lines().map(row).collect())
}

const FIELDS: [&str; 8] = [
    "frame.time_epoch",
    "frame.interface_name",
    "frame.len",
    "ip.checksum.status",
    "tcp.checksum.status",
    "udp.checksum.status",
    "ip.hdr_len",
    "_ws.malformed",
];

/// Runs a scenario to its end, every link captured.
fn captured(scenario: &Scenario, programs: &Programs) -> (Results, Vec<u8>) {
    let out = Shared::default();
    let mut simulation = Simulation::new(scenario, programs).unwrap();
    simulation.capture(Box::new(out.clone())).unwrap();
    simulation.run(u64::MAX).unwrap();
    (simulation.finish().unwrap(), out.octets())
}

/// Nothing malformed, checksums good, the AQT option where it belongs.
fn check(packet: &[String]) {
    const GOOD: &str = "1";
    let [_, _, _, ip, tcp, udp, header, malformed] = packet else {
        panic!("{packet:?}");
    };
    assert_eq!((ip.as_str(), malformed.as_str()), (GOOD, ""), "{packet:?}");
    // TCP carries AQT, 8 octets that Wireshark shows as an unknown option; datagrams carry nothing.
    match tcp.is_empty() {
        true => assert_eq!((udp.as_str(), header.as_str()), (GOOD, "20"), "{packet:?}"),
        false => assert_eq!((tcp.as_str(), header.as_str()), (GOOD, "28"), "{packet:?}"),
    }
}

#[test]
fn packets_that_p4_programs_rewrote_are_as_good() {
    let network = Network {
        program: "waymark",
        queue: 10,
        middle_bps: [1_600_000, 1_600_000],
        marks: Some([1, 1, 1]),
    };
    let mut data = network.scenario(5.0);
    let traffic = json!({
        "flows": [{"from": "S1", "to": "D1", "connection": {"control": {"name": "rovegas"}, "ci": true}}],
        "sources": [{"from": "S1", "to": "D1", "kind": "exponential", "rate_bps": 3.2e6,
                     "mean_on_s": 0.05, "mean_off_s": 0.1}],
        "record": {"pcap": ["R1-R2", "D1-R2"]},
    });
    merge(&mut data, traffic);
    let scenario = Scenario::from_json(&data.to_string()).unwrap();
    let (results, octets) = captured(&scenario, &programs(&["waymark"]));
    let Some(packets) = tshark(&octets, &FIELDS) else {
        return;
    };
    packets.iter().for_each(|packet| check(packet));
    // Two of the five links.
    let on = |interface: &str| packets.iter().filter(|p| p[1] == interface).count() as u64;
    for (name, line) in &results.lines {
        let captured = ["R1->R2", "R2->R1", "R2->D1", "D1->R2"].contains(&name.as_str());
        let sent: u64 = line.sent_packets.iter().sum();
        assert_eq!(on(name), if captured { sent } else { 0 }, "{name}");
    }
}

#[test]
fn wireshark_finds_nothing_malformed_and_every_checksum_good() {
    let traffic = json!({
        "flows": [{"from": "S", "to": "D", "connection": {"control": {"name": "rovegas"}}}],
        "sources": [{"from": "S", "to": "D", "kind": "cbr", "rate_bps": 4e5}],
    });
    let scenario = two_hosts(5.0, 1.0, json!({"queue": 10, "loss": 0.02}), traffic);
    let (results, octets) = captured(&scenario, &Programs::new());
    let Some(packets) = tshark(&octets, &FIELDS) else {
        return;
    };
    assert_eq!(packets.len() as u64, results.totals.packet_hops);
    packets.iter().for_each(|packet| check(packet));
    // The first packet of the flow at time 0: 1000 octets of IPv4 behind 14 of Ethernet.
    assert_eq!(packets[0][..3], ["0.000000000", "S->D", "1014"]);
    assert!(packets.iter().any(|p| p[1] == "D->S"));
}
