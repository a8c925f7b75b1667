//! Goodput of every congestion control over random loss and buffers, as one table to be read as a
//! diff: a change of a control or of the transport shows here where it was not meant to.
//!
//! One flow over Chan's network (figure 3.3) at 0.5 Mb/s, the project's program in both switches,
//! AQT and CI on; Muzha, whose index has no table entries here, runs as Reno.

#[path = "common/lab.rs"]
mod lab;

use netsim::{Programs, Scenario, Simulation};
use serde_json::json;
use std::fmt::Write;

const CONTROLS: [&str; 14] = [
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
    "vegasa",
    "muzha",
    "rbcc",
    "rbccwl",
];
/// Of data, on the last hop.
const LOSSES: [f64; 4] = [0.0, 0.01, 0.04, 0.1];
const BUFFERS: [u32; 3] = [5, 20, 200];
const FROM_S: usize = 5;
const END_S: usize = 25;

/// Payload that arrived in order, in kb/s.
fn goodput_kbps(programs: &Programs, control: &str, loss: f64, buffer: u32) -> u64 {
    let network = lab::Network {
        program: "waymark",
        queue: buffer,
        middle_bps: [500_000, 500_000],
        marks: Some([1, 0, 1]),
    };
    let mut data = network.scenario(END_S as f64);
    data["links"][2]["ba"] = json!({ "loss": loss });
    data["flows"] =
        json!([{"from": "S1", "to": "D1", "connection": {"control": {"name": control}}}]);
    let scenario = Scenario::from_json(&data.to_string()).unwrap();
    let mut simulation = Simulation::new(&scenario, programs).unwrap();
    assert!(simulation.run(u64::MAX).unwrap());
    let results = simulation.finish().unwrap();
    let octets: u64 = results.flows[0].1.goodput_octets[FROM_S..].iter().sum();
    octets * 8 / 1000 / (END_S - FROM_S) as u64
}

#[test]
fn goodput_over_loss_and_buffer() {
    let programs = lab::programs(&["waymark"]);
    let row = |control: &str| {
        let mut row = format!("{control:<14}");
        for buffer in BUFFERS {
            for loss in LOSSES {
                let kbps = goodput_kbps(&programs, control, loss, buffer);
                write!(row, "{kbps:>5}").unwrap();
            }
            row.push_str("  ");
        }
        row.trim_end().to_string()
    };
    // One thread each half: they share nothing.
    let (first, second) = CONTROLS.split_at(CONTROLS.len() / 2);
    let rows: Vec<String> = std::thread::scope(|scope| {
        let halves = [first, second]
            .map(|half| scope.spawn(move || half.iter().map(|c| row(c)).collect::<Vec<_>>()));
        halves
            .into_iter()
            .flat_map(|half| half.join().unwrap())
            .collect()
    });
    let mut head = String::from("kb/s");
    for buffer in BUFFERS {
        write!(head, "{:>16}{buffer:>4}", "buffer").unwrap();
    }
    let mut losses = " ".repeat(14);
    for _ in BUFFERS {
        for loss in LOSSES {
            write!(losses, "{:>4}%", loss * 100.0).unwrap();
        }
        losses.push_str("  ");
    }
    let table = format!("{head}\n{}\n{}", losses.trim_end(), rows.join("\n"));
    insta::assert_snapshot!(table);
}
