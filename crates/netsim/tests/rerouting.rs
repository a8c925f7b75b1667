//! A route that becomes longer permanently, which Vegas treats as a queue, and its variant does not.

mod common;

use common::{run, two_hosts};
use serde_json::json;

/// Packets delivered in the 5 s up to 10 s, and in the last 5 of 60, on 1.6 Mb/s whose one-way delay
/// goes from 20 to 100 ms at 10 s.
fn delivered(control: &str) -> [u64; 2] {
    let longer = json!({"changes": [{"at_s": 10.0, "delay_s": 0.1}]});
    let flow =
        json!({"flows": [{"from": "S", "to": "D", "connection": {"control": {"name": control}}}]});
    let results = run(&two_hosts(60.0, 5.0, longer, flow));
    let delivered = &results.flows[0].1.delivered_packets;
    [delivered[1], delivered[11]]
}

#[test]
fn rerouting_vegas_fills_the_longer_route_where_vegas_starves() {
    // 200 packets per second.
    let [before, after] = delivered("vegas");
    assert!(before >= 990 && after < 300, "{before} {after}");
    let [before, after] = delivered("reroutingvegas");
    assert!(before >= 990 && after >= 980, "{before} {after}");
}
