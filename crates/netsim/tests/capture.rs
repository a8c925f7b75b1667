//! Captures as Wireshark reads them; skipped, and said so, where tshark is not installed.

mod common;

use common::{Shared, two_hosts};
use netsim::{Programs, Simulation};
use serde_json::json;
use std::process::Command;

/// The fields of every packet as tshark prints them, or `None` without tshark.
fn tshark(capture: &[u8], fields: &[&str]) -> Option<Vec<Vec<String>>> {
    let path = std::env::temp_dir().join(format!("waymark-{}.pcapng", std::process::id()));
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

#[test]
fn wireshark_finds_nothing_malformed_and_every_checksum_good() {
    let traffic = json!({
        "flows": [{"from": "S", "to": "D", "control": {"name": "rovegas"}}],
        "sources": [{"from": "S", "to": "D", "kind": "cbr", "rate_bps": 4e5}],
    });
    let scenario = two_hosts(5.0, 1.0, json!({"queue": 10, "loss": 0.02}), traffic);
    let out = Shared::default();
    let mut simulation = Simulation::new(&scenario, &Programs::new()).unwrap();
    simulation.capture(Box::new(out.clone())).unwrap();
    simulation.run(u64::MAX).unwrap();
    let results = simulation.finish().unwrap();
    let fields = [
        "frame.time_epoch",
        "frame.interface_name",
        "frame.len",
        "ip.checksum.status",
        "tcp.checksum.status",
        "udp.checksum.status",
        "ip.hdr_len",
        "_ws.malformed",
    ];
    let Some(packets) = tshark(&out.octets(), &fields) else {
        return;
    };
    assert_eq!(packets.len() as u64, results.totals.packet_hops);
    const GOOD: &str = "1";
    for packet in &packets {
        let [_, _, _, ip, tcp, udp, header, malformed] = &packet[..] else {
            panic!("{packet:?}");
        };
        assert_eq!((ip.as_str(), malformed.as_str()), (GOOD, ""), "{packet:?}");
        // TCP carries AQT, 8 octets that Wireshark shows as an unknown option; datagrams carry nothing.
        match tcp.is_empty() {
            true => assert_eq!((udp.as_str(), header.as_str()), (GOOD, "20"), "{packet:?}"),
            false => assert_eq!((tcp.as_str(), header.as_str()), (GOOD, "28"), "{packet:?}"),
        }
    }
    // The first packet of the flow at time 0: 1000 octets of IPv4 behind 14 of Ethernet.
    assert_eq!(packets[0][..3], ["0.000000000", "S->D", "1014"]);
    assert!(packets.iter().any(|p| p[1] == "D->S"));
}
