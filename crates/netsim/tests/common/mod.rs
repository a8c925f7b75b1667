//! What the tests share.
#![allow(dead_code, reason = "each test file uses a part of it")]

use netsim::{Programs, Results, Scenario, Simulation};
use serde_json::{Value, json};
use std::io::Write;
use std::sync::{Arc, Mutex};

/// S sends to D over 1.6 Mb/s and 20 ms; `extra` replaces fields of the link.
pub fn two_hosts(end_s: f64, sample_s: f64, extra: Value, traffic: Value) -> Scenario {
    let mut data = json!({
        "name": "two hosts", "seed": 1, "end_s": end_s, "sample_s": sample_s,
        "hosts": {
            "S": {"ipv4": "10.0.0.1", "mac": "02:00:00:00:00:01", "gateway_mac": "02:00:00:00:00:02"},
            "D": {"ipv4": "10.0.0.2", "mac": "02:00:00:00:00:02", "gateway_mac": "02:00:00:00:00:01"},
        },
        "links": [{"a": {"node": "S"}, "b": {"node": "D"}, "rate_bps": 1600000, "delay_s": 0.02}],
    });
    merge(&mut data["links"][0], extra);
    merge(&mut data, traffic);
    Scenario::from_json(&data.to_string()).unwrap()
}

/// Adds and replaces fields.
pub fn merge(into: &mut Value, from: Value) {
    let from = from.as_object().unwrap().clone();
    into.as_object_mut().unwrap().extend(from);
}

/// Runs a network without switches to its end.
pub fn run(scenario: &Scenario) -> Results {
    let mut simulation = Simulation::new(scenario, &Programs::new()).unwrap();
    assert!(simulation.run(u64::MAX).unwrap());
    simulation.finish().unwrap()
}

/// What was written, by a clone of the handle.
#[derive(Clone, Default)]
pub struct Shared(Arc<Mutex<Vec<u8>>>);

impl Shared {
    /// A copy of what was written so far.
    pub fn octets(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone()
    }
}

impl Write for Shared {
    fn write(&mut self, octets: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(octets);
        Ok(octets.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
