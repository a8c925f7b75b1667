//! The networks of Chan 2004, figures 3.3 and 6.3, with the project's P4 programs in their switches.
//!
//! ```text
//!   S1 ──┐1             1┌── D1        S1 to D1 is the flow that is measured,
//!        R1 3────────3 R2              S2 to D2 the traffic against its acknowledgements
//!   D2 ──┘2             2└── S2
//! ```

use engine::Pipeline;
use netsim::Programs;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Reads included files next to those that include them.
struct Files;

impl p4_frontend::Loader for Files {
    fn load(&mut self, from: Option<&str>, name: &str, system: bool) -> Option<(String, String)> {
        let path = Path::new(from.filter(|_| !system)?).parent()?.join(name);
        let text = std::fs::read_to_string(&path).ok()?;
        Some((path.to_string_lossy().into_owned(), text))
    }
}

/// The programs of `p4src/v1model` of these names.
pub fn programs(names: &[&str]) -> Programs {
    let compile = |name: &&str| {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
            .join("../../p4src/v1model")
            .join(format!("{name}.p4"));
        let text = std::fs::read_to_string(&path).expect("the program is in the repository");
        let mut sources = p4_frontend::SourceMap::new();
        let entry = sources.add(&path.to_string_lossy(), text);
        let (program, diagnostics) = p4_frontend::compile(&mut sources, entry, &mut Files, &[]);
        let program = program.unwrap_or_else(|| {
            let told: Vec<String> = diagnostics
                .iter()
                .map(|d| p4_frontend::render(&sources, d, false))
                .collect();
            panic!("{}", told.join("\n"))
        });
        let pipeline = Pipeline::compile(&program).expect("v1model runs the program");
        (name.to_string(), pipeline)
    };
    names.iter().map(compile).collect()
}

/// What differs between the networks.
pub struct Network {
    /// What the switches run.
    pub program: &'static str,
    /// Queue limit L of all links.
    pub queue: u32,
    /// From R1 to R2 and back.
    pub middle_bps: [u64; 2],
    /// Whether the switches write AQT, DRAI and CI; `None` for a program without marks.
    pub marks: Option<[u32; 3]>,
}

impl Network {
    /// The network as data, without traffic. Access links have 10 Mb/s and 1 ms, the middle 20 ms.
    pub fn scenario(&self, end_s: f64) -> Value {
        let access = |host: &str, switch: &str, port: u16| {
            json!({"a": {"node": host}, "b": {"node": switch, "port": port},
                   "rate_bps": 10_000_000, "delay_s": 0.001, "queue": self.queue})
        };
        json!({
            "name": "lab", "seed": 1, "end_s": end_s,
            "hosts": {"S1": host(1), "D2": host(2), "D1": host(3), "S2": host(4)},
            "switches": {
                // At R1: S1 (1) and D2 (2) are neighbours, D1 (3) and S2 (4) beyond R2; at R2 the reverse.
                "R1": {"program": self.program, "entries": self.entries([1, 2, 3, 3])},
                "R2": {"program": self.program, "entries": self.entries([3, 3, 1, 2])},
            },
            "links": [
                access("S1", "R1", 1), access("D2", "R1", 2),
                access("D1", "R2", 1), access("S2", "R2", 2),
                {"a": {"node": "R1", "port": 3}, "b": {"node": "R2", "port": 3},
                 "rate_bps": self.middle_bps[0], "ba": {"rate_bps": self.middle_bps[1]},
                 "delay_s": 0.02, "queue": self.queue},
            ],
        })
    }

    /// Tables of a switch whose ports to the four hosts these are.
    fn entries(&self, ports: [u16; 4]) -> Vec<Value> {
        let mut entries = Vec::new();
        for (host, port) in (1..).zip(ports) {
            let address = format!("10.0.0.{host}");
            entries.push(
                json!({"table": "ipv4_route", "match": {"dst_addr": format!("{address}/32")},
                                "action": "direct", "params": {"port": port}}),
            );
            entries.push(json!({"table": "neighbour", "match": {"port": port, "next_hop": address},
                                "action": "rewrite",
                                "params": {"src_addr": "02:00:00:00:ff:01", "dst_addr": mac(host)}}));
        }
        for port in 1..=3 {
            entries.push(
                json!({"table": "port_queue", "match": {"port": port}, "action": "drop_tail",
                                "params": {"max_waiting": self.queue - 1}}),
            );
            if let Some([aqt, drai, ci]) = self.marks {
                entries.push(json!({"table": "port_feedback", "match": {"port": port},
                                    "action": "set_feedback",
                                    "params": {"aqt": aqt, "drai": drai, "ci": ci, "window_log2": 18}}));
            }
        }
        entries
    }
}

fn host(number: u8) -> Value {
    json!({"ipv4": format!("10.0.0.{number}"), "mac": mac(number), "gateway_mac": "02:00:00:00:ff:01"})
}

fn mac(number: u8) -> String {
    format!("02:00:00:00:00:{number:02x}")
}
