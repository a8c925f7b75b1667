//! Packet-hops a second on one core. Programs are compiled to machine code unless `WAYMARK_JIT` is 0.

#[path = "../tests/common/lab.rs"]
mod lab;

use lab::{Network, programs};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use netsim::{Programs, Scenario, Simulation};
use serde_json::json;

/// Runs a scenario to its end; its packet-hops.
fn hops(scenario: &Scenario, programs: &Programs) -> u64 {
    let mut simulation = Simulation::new(scenario, programs).expect("the scenario is valid");
    simulation.run(u64::MAX).expect("nothing is written");
    simulation.packet_hops()
}

/// What the simulator itself costs: a TCP flow and a source between two hosts, no program in between.
fn two_hosts(c: &mut Criterion) {
    let data = json!({
        "name": "two hosts", "seed": 1, "end_s": 100,
        "hosts": {
            "S": {"ipv4": "10.0.0.1", "mac": "02:00:00:00:00:01", "gateway_mac": "02:00:00:00:00:02"},
            "D": {"ipv4": "10.0.0.2", "mac": "02:00:00:00:00:02", "gateway_mac": "02:00:00:00:00:01"},
        },
        "links": [{"a": {"node": "S"}, "b": {"node": "D"}, "rate_bps": 10_000_000, "delay_s": 0.02}],
        "flows": [{"from": "S", "to": "D", "connection": {"control": {"name": "rovegas"}}}],
        "sources": [{"from": "S", "to": "D", "kind": "exponential", "rate_bps": 8e6,
                     "mean_on_s": 0.01, "mean_off_s": 0.01}],
    });
    let scenario = Scenario::from_json(&data.to_string()).expect("the scenario is valid");
    let programs = Programs::new();
    let mut group = c.benchmark_group("packet_hops");
    group.throughput(Throughput::Elements(hops(&scenario, &programs)));
    group.sample_size(10);
    group.bench_function("two_hosts", |b| b.iter(|| hops(&scenario, &programs)));
    group.finish();
}

/// A whole run of Chan's figure 3.6: RoVegas against bursts at 0.9 of the reverse path, AQT in every hop.
fn fig3_6(c: &mut Criterion) {
    let network = Network {
        program: "aqt",
        queue: 50,
        middle_bps: [1_600_000, 1_600_000],
        marks: Some([1, 0, 0]),
    };
    let mut data = network.scenario(200.0);
    data["flows"] =
        json!([{"from": "S1", "to": "D1", "connection": {"control": {"name": "rovegas"}}}]);
    data["sources"] = json!([{"from": "S2", "to": "D2", "kind": "exponential", "rate_bps": 3.2e6,
                              "mean_on_s": 0.01, "mean_rate_bps": 1.44e6, "start_s": 50}]);
    let scenario = Scenario::from_json(&data.to_string()).expect("the scenario is valid");
    if std::env::var("WAYMARK_JIT").as_deref() != Ok("0") {
        p4_jit::install();
    }
    let programs = programs(&["aqt"]);
    let mut group = c.benchmark_group("packet_hops");
    group.throughput(Throughput::Elements(hops(&scenario, &programs)));
    group.sample_size(10);
    group.bench_function("fig3_6", |b| b.iter(|| hops(&scenario, &programs)));
    group.finish();
}

criterion_group!(benches, two_hosts, fig3_6);
criterion_main!(benches);
