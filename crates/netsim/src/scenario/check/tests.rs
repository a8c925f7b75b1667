use crate::scenario::Scenario;
use serde_json::{Value, json};

fn good() -> Value {
    json!({
        "name": "two hosts", "seed": 1, "end_s": 10,
        "hosts": {
            "S1": {"ipv4": "10.0.0.1", "mac": "02:00:00:00:00:01", "gateway_mac": "02:00:00:00:00:02"},
            "D1": {"ipv4": "10.0.0.2", "mac": "02:00:00:00:00:02", "gateway_mac": "02:00:00:00:00:01"},
        },
        "switches": {"R1": {"program": "aqt"}},
        "links": [
            {"a": {"node": "S1"}, "b": {"node": "R1", "port": 1}, "rate_bps": 1000000, "delay_s": 0.01},
            {"a": {"node": "R1", "port": 2}, "b": {"node": "D1"}, "rate_bps": 1000000, "delay_s": 0.01},
        ],
        "flows": [{"from": "S1", "to": "D1", "connection": {"control": {"name": "vegas"}}}],
        "sources": [{"from": "S1", "to": "D1", "kind": "exponential", "rate_bps": 1e6,
                     "mean_on_s": 0.5, "mean_off_s": 0.5}],
    })
}

/// The error message for a modification of the valid scenario. The pointer is a JSON pointer (RFC
/// 6901).
fn told(pointer: &str, value: Value) -> String {
    let mut data = good();
    let (parent, field) = pointer.rsplit_once('/').unwrap();
    let parent = data.pointer_mut(parent).unwrap();
    match parent {
        Value::Array(list) => list[field.parse::<usize>().unwrap()] = value,
        _ => parent[field] = value,
    }
    match Scenario::from_json(&data.to_string()) {
        Ok(_) => "accepted".to_string(),
        Err(e) => e.to_string(),
    }
}

#[test]
fn a_good_scenario_is_accepted_and_written_back() {
    let scenario = Scenario::from_json(&good().to_string()).unwrap();
    let text = serde_json::to_string(&scenario).unwrap();
    assert!(Scenario::from_json(&text).is_ok(), "{text}");
}

#[test]
fn mistakes_are_told_with_their_place_and_what_is_valid() {
    let cases = [
        (
            "/media",
            json!({"air": {"slot_s": 1e-5, "slots": 0, "carrier_sense": true}}),
            "media.air.slots: must be at least 1",
        ),
        (
            "/links/1/medium",
            json!("air"),
            "links[1].medium: no medium \"air\"; there are none",
        ),
        (
            "/flows/0/connection/control/name",
            json!("custom"),
            "flows[0].connection.control: `factory` is missing",
        ),
        (
            "/flows/0/connection/control/beta",
            json!(-1),
            "flows[0].connection.control: beta -1 is not within 0 to 1000000000",
        ),
        (
            "/flows/0/connection/control/beta",
            json!(true),
            "flows[0].connection.control: beta true is not a number",
        ),
        (
            "/flows/0/connection/control/full_deployment",
            json!(true),
            "flows[0].connection.control: vegas has no setting \"full_deployment\"; valid: alpha, beta, gamma",
        ),
        (
            "/flows/0/connection/marks",
            json!([{"option": 0x5E, "fields": [{"bits": 8, "aggregation": "sum"}]}]),
            "flows[0].connection.marks: option type 0x5e is used by padding, AQT or AVBW-S",
        ),
        (
            "/flows/0",
            json!({"from": "S1", "to": "D1", "connection": {"control": {"name": "waymark"}, "profile": {"modern": {}},
                   "marks": [{"option": 0x9E, "fields": [{"bits": 64, "aggregation": "min"},
                                                         {"bits": 64, "aggregation": "last"}]}]}}),
            "flows[0].connection.marks: with AQT and AVBW-S, 48 octets of IPv4 options; room for 40",
        ),
        (
            "/flows/0",
            json!({"from": "S1", "to": "D1", "connection": {"control": {"name": "rovegas"},
                   "profile": {"ns2": {"packet_octets": 48}}}}),
            "flows[0].connection.profile.ns2.packet_octets: 48 octets leave no room for data: 48 are headers",
        ),
        (
            "/flows/0/tracing",
            json!({"from_s": 2, "to_s": 1}),
            "flows[0].tracing.to_s: 1 s is not after from_s, 2 s",
        ),
        (
            "/flows/0/tracing",
            json!({"every_s": -1}),
            "flows[0].tracing.every_s: -1 is not within 0 to 1000000000",
        ),
        (
            "/flows/0/from",
            json!("S9"),
            "flows[0].from: no host \"S9\"; hosts are D1, S1",
        ),
        (
            "/links/1/a/node",
            json!("R2"),
            "links[1].a.node: no node \"R2\"; nodes are D1, S1, R1",
        ),
        (
            "/links/1/a/port",
            json!(1),
            "links[1].a: port 1 of R1 is on S1-R1",
        ),
        (
            "/links/1/a/port",
            json!(510),
            "links[1].a.port: 510 is not a port; ports are 0 to 509",
        ),
        (
            "/links/0/loss",
            json!(1.5),
            "links[0].loss: 1.5 is not a probability; expected 0 to 1",
        ),
        (
            "/links/0/ab",
            json!({"rate_bps": 0}),
            "links[0].ab.rate_bps: must be at least 1 b/s",
        ),
        (
            "/flows/0/connection/control/name",
            json!("bbr"),
            "flows[0].connection.control.name: BBR needs pacing and delivery-rate samples, which the ns-2 profile does not have; valid: a modern profile",
        ),
        (
            "/sources/0/shape",
            json!(1.5),
            "sources[0].shape: a source of kind exponential has none",
        ),
        (
            "/sources/0/mean_rate_bps",
            json!(1.5),
            "sources[0].mean_off_s: expected one of mean_off_s and mean_rate_bps",
        ),
        (
            "/hosts/S1/ipv4",
            json!("10.0.0.2"),
            "hosts.S1.ipv4: 10.0.0.2 is the address of D1",
        ),
        (
            "/record",
            json!({"pcap": ["X"]}),
            "record.pcap[0]: no link \"X\"; links are S1-R1, R1-D1",
        ),
        ("/end_s", json!(-1), "end_s: -1 is not above 0"),
        (
            "/sample_s",
            json!(9e-10),
            "sample_s: 0.0000000009 s is less than 1 ns",
        ),
    ];
    for (pointer, value, message) in cases {
        assert_eq!(told(pointer, value), message, "{pointer}");
    }
}

#[test]
fn mistakes_of_form_are_told_with_their_place() {
    let cases = [
        (
            "/flows/0/connection/control/name",
            json!("vega"),
            "flows[0].connection.control: no congestion control \"vega\"; valid: tahoe, reno, newreno, ",
        ),
        (
            "/flows/0/contrl",
            json!({}),
            "flows[0].contrl: unknown field `contrl`; valid: name, from, to, connection, ",
        ),
        (
            "/links/0/rate_bps",
            json!("x"),
            "links[0].rate_bps: found \"x\"; expected a whole number",
        ),
        (
            "/hosts/S1/mac",
            json!("2:1"),
            "hosts.S1.mac: \"2:1\" is not an Ethernet",
        ),
        (
            "/switches/R1/entries",
            json!([{"table": "t", "action": "a", "match": {"k": true}}]),
            "switches.R1.entries[0].match.k: ",
        ),
    ];
    for (pointer, value, start) in cases {
        let message = told(pointer, value);
        assert!(message.starts_with(start), "{pointer}: {message}");
    }
}
