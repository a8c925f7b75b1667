//! The modern profile of TCP in virtual time, with the ns-2 profile and through P4 programs.

mod common;
#[path = "common/lab.rs"]
mod lab;

use common::{Shared, merge, run, two_hosts};
use lab::{Network, programs};
use netsim::{Programs, Results, Scenario, Simulation};
use serde_json::{Value, json};
use std::process::Command;

const CONTROLS: [&str; 18] = [
    "tahoe",
    "reno",
    "newreno",
    "sack",
    "fack",
    "vegas",
    "rovegas",
    "enhancedvegas",
    "quickvegas",
    "redvegas",
    "waymark",
    "vegasa",
    "muzha",
    "rbcc",
    "rbccwl",
    "cubic",
    "bbr",
    "dctcp",
];

fn flow(control: &str) -> Value {
    json!({"from": "S", "to": "D", "connection": {"control": {"name": control},
           "profile": {"modern": {"packet_octets": 1000}}}})
}

fn goodput(results: &Results, flow: usize) -> u64 {
    results.flows[flow].1.goodput_octets.iter().sum()
}

fn resent(results: &Results, flow: usize) -> u64 {
    results.flows[flow].1.resent_packets.iter().sum()
}

#[test]
fn every_control_fills_a_clean_path() {
    for control in CONTROLS {
        let scenario = two_hosts(
            30.0,
            30.0,
            json!({"queue": 50}),
            json!({"flows": [flow(control)]}),
        );
        let results = run(&scenario);
        // Of 6 MB, headers and slow start taken off.
        let octets = goodput(&results, 0);
        assert!(octets > 4_500_000, "{control}: {octets}");
        assert_eq!(results.totals.stray_packets, 0, "{control}");
        // Tahoe's window of one segment leaves nothing behind a retransmission that is lost itself.
        let timeouts = results.flows[0].1.timeouts;
        assert!(timeouts == 0 || control == "tahoe", "{control}: {timeouts}");
    }
}

#[test]
fn every_control_gets_through_loss() {
    for control in CONTROLS {
        let link = json!({"queue": 20, "loss": 0.02});
        let results = run(&two_hosts(
            30.0,
            30.0,
            link,
            json!({"flows": [flow(control)]}),
        ));
        let octets = goodput(&results, 0);
        assert!(octets > 600_000, "{control}: {octets}");
        assert!(resent(&results, 0) > 5, "{control}");
    }
}

#[test]
fn a_transfer_of_so_many_packets_ends() {
    let mut flow = flow("reno");
    merge(&mut flow, json!({"segments": 500}));
    let link = json!({"queue": 20, "loss": 0.05});
    let results = run(&two_hosts(60.0, 60.0, link, json!({"flows": [flow]})));
    // 1000 octets less headers and timestamps.
    assert_eq!(goodput(&results, 0), 500 * 948);
    let sent: u64 = results.flows[0].1.sent_packets.iter().sum();
    assert_eq!(sent - resent(&results, 0), 500);
}

#[test]
fn both_profiles_share_a_path() {
    let old = json!({"from": "S", "to": "D", "connection": {"control": {"name": "newreno"}}});
    let traffic = json!({"flows": [flow("newreno"), old]});
    let results = run(&two_hosts(60.0, 60.0, json!({"queue": 30}), traffic));
    let (modern, ns2) = (goodput(&results, 0), goodput(&results, 1));
    assert!(modern + ns2 > 10_000_000, "{modern} {ns2}");
    assert!(modern.min(ns2) * 5 > modern.max(ns2), "{modern} {ns2}");
}

#[test]
fn the_marks_of_p4_programs_agree_with_the_queues() {
    let network = Network {
        program: "waymark",
        queue: 10,
        middle_bps: [1_600_000, 1_600_000],
        marks: Some([1, 1, 1]),
    };
    for control in ["rovegas", "muzha", "redvegas"] {
        let mut data = network.scenario(10.0);
        let traffic = json!({
            "flows": [{"from": "S1", "to": "D1", "connection": {"control": {"name": control}, "aqt": true,
                       "profile": {"modern": {"packet_octets": 1000}}}}],
            "sources": [{"from": "S1", "to": "D1", "kind": "exponential", "rate_bps": 3.2e6,
                         "mean_on_s": 0.05, "mean_off_s": 0.1}],
            "record": {"check_aqt": true},
        });
        merge(&mut data, traffic);
        let scenario = Scenario::from_json(&data.to_string()).unwrap();
        let mut simulation = Simulation::new(&scenario, &programs(&["waymark"])).unwrap();
        assert!(simulation.run(u64::MAX).unwrap());
        let results = simulation.finish().unwrap();
        let check = results.check_aqt.as_ref().expect("it was asked for");
        assert!(check.compared > 300, "{control}: {check:?}");
        assert_eq!(check.mismatches, 0, "{control}: {check:?}");
    }
}

#[test]
fn wireshark_finds_nothing_malformed() {
    let mut finite = flow("rovegas");
    merge(&mut finite, json!({"segments": 300}));
    merge(&mut finite["connection"], json!({"avbw": true}));
    let traffic = json!({"flows": [finite, flow("reno")]});
    let scenario = two_hosts(20.0, 1.0, json!({"queue": 10, "loss": 0.03}), traffic);
    let out = Shared::default();
    let mut simulation = Simulation::new(&scenario, &Programs::new()).unwrap();
    simulation.capture(Box::new(out.clone())).unwrap();
    simulation.run(u64::MAX).unwrap();
    let results = simulation.finish().unwrap();
    let path = std::env::temp_dir().join(format!("waymark-modern-{}.pcapng", std::process::id()));
    std::fs::write(&path, out.octets()).unwrap();
    let fields = [
        "_ws.malformed",
        "ip.checksum.status",
        "tcp.checksum.status",
        "tcp.flags",
        "tcp.options.sack.count",
        "tcp.options.timestamp.tsval",
    ];
    let mut command = Command::new("tshark");
    command.arg("-r").arg(&path).args(["-T", "fields"]);
    command.args([
        "-o",
        "ip.check_checksum:TRUE",
        "-o",
        "tcp.check_checksum:TRUE",
    ]);
    fields.iter().for_each(|field| {
        command.args(["-e", field]);
    });
    let output = command.output();
    std::fs::remove_file(&path).unwrap();
    let Ok(output) = output else {
        eprintln!("skipped: no tshark on PATH");
        return;
    };
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let packets: Vec<Vec<&str>> = text
        .lines()
        .map(|line| line.split('\t').collect())
        .collect();
    assert_eq!(packets.len() as u64, results.totals.packet_hops);
    for packet in &packets {
        assert_eq!(packet[..3], ["", "1", "1"], "{packet:?}");
        assert!(!packet[5].is_empty(), "no timestamps: {packet:?}");
    }
    let with = |flags: &str| packets.iter().filter(|packet| packet[3] == flags).count();
    assert!(with("0x0002") >= 2 && with("0x0012") >= 2, "two handshakes");
    assert!(
        packets.iter().any(|packet| packet[3].ends_with('1')),
        "a FIN"
    );
    assert!(
        packets.iter().any(|packet| !packet[4].is_empty()),
        "SACK blocks"
    );
}

#[test]
fn settings_that_the_profile_has_not_are_refused() {
    let said = |profile: Value| {
        let mut flow = flow("reno");
        merge(&mut flow["connection"]["profile"]["modern"], profile);
        let data = json!({"flows": [flow]});
        let scenario = std::panic::catch_unwind(|| two_hosts(1.0, 1.0, json!({}), data));
        match scenario {
            Ok(scenario) => Simulation::new(&scenario, &Programs::new())
                .err()
                .map(|error| error.to_string()),
            Err(_) => Some("refused".to_owned()),
        }
    };
    assert_eq!(said(json!({"initial_window": 10})), None);
    assert!(said(json!({"phantom_rtt": true})).is_some());
    assert!(said(json!({"packet_octets": 100})).is_some());
    assert!(said(json!({"window": 1 << 24})).is_some());
}
