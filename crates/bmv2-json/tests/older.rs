//! What older compilers wrote: errors numbered from 1, transitions without a type, numbers without `0x`. It means what
//! newer JSON does. Primitives and keys of P4_14 programs.

use engine::{Packet, Replica, Switch, SwitchConfig};
use serde_json::{Value, json};

/// A program that reads two octets and sends packets by what its parser found: to port 1 without an error, to port 2
/// with the program's own, to port 3 with another. Errors are numbered from `first`.
fn config(first: u32, with_types: bool) -> Value {
    let number = |error: u32| json!({ "type": "hexstr", "value": format!("{:#x}", first + error) });
    let field = |header: &str, field: &str| json!({ "type": "field", "value": [header, field] });
    let expression = |op: &str, left: Value, right: Value| json!({ "type": "expression", "value": { "op": op, "left": left, "right": right } });
    let transition = |ty: &str, value: &str, next: Value| {
        let mut transition = json!({ "value": value, "mask": null, "next_state": next });
        if with_types {
            transition["type"] = ty.into();
        }
        transition
    };
    let send = |id: u32| {
        json!({ "name": format!("send{id}"), "id": id, "runtime_data": [], "primitives": [{
            "op": "assign",
            "parameters": [field("standard_metadata", "egress_spec"), { "type": "hexstr", "value": format!("{id:#x}") }],
        }] })
    };
    let condition = |name: &str, error: u32, yes: &str, no: &str| {
        let parser_error = field("standard_metadata", "parser_error");
        json!({ "name": name, "id": 0, "expression": expression("==", parser_error, number(error)),
            "true_next": yes, "false_next": no })
    };
    let call = |id: u32| json!({ "name": format!("call{id}"), "id": id, "action_id": id, "next_node": null });
    let is_not = |value: &str| {
        expression(
            "!=",
            field("h", "kind"),
            json!({ "type": "hexstr", "value": value }),
        )
    };
    json!({
        "header_types": [
            { "name": "scalars_0", "id": 0, "fields": [] },
            { "name": "h_t", "id": 1, "fields": [["kind", 8, false], ["mark", 8, false]] },
            { "name": "standard_metadata", "id": 2, "fields": [
                ["ingress_port", 9, false], ["egress_spec", 9, false], ["egress_port", 9, false],
                ["parser_error", 32, false], ["_padding", 5, false],
            ] },
        ],
        "headers": [
            { "name": "scalars", "id": 0, "header_type": "scalars_0", "metadata": true },
            { "name": "standard_metadata", "id": 1, "header_type": "standard_metadata", "metadata": true },
            { "name": "h", "id": 2, "header_type": "h_t", "metadata": false },
            { "name": "tail", "id": 3, "header_type": "h_t", "metadata": false },
        ],
        "errors": [
            ["NoError", first], ["PacketTooShort", first + 1], ["NoMatch", first + 2],
            ["StackOutOfBounds", first + 3], ["HeaderTooShort", first + 4], ["Own", first + 5],
        ],
        "parsers": [{ "name": "parser", "id": 0, "init_state": "start", "parse_states": [
            { "name": "start", "id": 0,
                "parser_ops": [
                    { "op": "extract", "parameters": [{ "type": "regular", "value": "h" }] },
                    { "op": "verify", "parameters": [is_not("0xff"), number(5)] },
                ],
                "transition_key": [field("h", "kind")],
                "transitions": [
                    transition("hexstr", "0x01", "tail".into()),
                    transition("default", "default", Value::Null),
                ] },
            { "name": "tail", "id": 1,
                "parser_ops": [{ "op": "extract", "parameters": [{ "type": "regular", "value": "tail" }] }],
                "transition_key": [],
                "transitions": [transition("default", "default", Value::Null)] },
        ] }],
        "deparsers": [{ "name": "deparser", "id": 0, "order": ["h", "tail"], "primitives": [] }],
        "actions": [send(1), send(2), send(3)],
        "pipelines": [
            { "name": "ingress", "id": 0, "init_table": "good", "tables": [], "action_profiles": [],
                "conditionals": [condition("good", 0, "call1", "own"), condition("own", 5, "call2", "call3")],
                "action_calls": [call(1), call(2), call(3)] },
            { "name": "egress", "id": 1, "init_table": null, "tables": [], "conditionals": [] },
        ],
    })
}

/// The port that a packet leaves through.
fn port(config: &Value, packet: &[u8]) -> Option<u16> {
    let program = bmv2_json::read(&config.to_string()).unwrap_or_else(|error| panic!("{error}"));
    let mut switch = Switch::new(&program, SwitchConfig::default()).expect("a v1model program");
    switch.handle_packet(Default::default(), 0, Packet::new(packet.to_vec()));
    switch
        .poll_transmit(Default::default())
        .map(|sent| sent.port)
}

#[test]
fn errors_mean_the_same_whatever_their_numbers() {
    for first in [0, 1, 7] {
        let config = config(first, true);
        assert_eq!(
            port(&config, &[2, 0]),
            Some(1),
            "no error, numbered from {first}"
        );
        assert_eq!(
            port(&config, &[0xff, 0]),
            Some(2),
            "the program's, numbered from {first}"
        );
        assert_eq!(
            port(&config, &[1, 0, 9]),
            Some(3),
            "too short, numbered from {first}"
        );
    }
}

#[test]
fn numbers_without_a_prefix_are_hexadecimal_too() {
    let mut config = config(0xb, true);
    let verify = "/parsers/0/parse_states/0/parser_ops/1/parameters/1/value";
    let error = config.pointer_mut(verify).expect("a place in it");
    assert_eq!(*error, "0x10");
    *error = "10".into();
    assert_eq!(port(&config, &[0xff, 0]), Some(2));
}

#[test]
fn a_transition_without_a_type_has_a_number_or_is_the_default() {
    for with_types in [true, false] {
        let config = config(0, with_types);
        assert_eq!(port(&config, &[2, 0]), Some(1), "the default");
        assert_eq!(port(&config, &[1, 0, 9]), Some(3), "the number");
    }
}

#[test]
fn numbers_of_errors_that_cannot_be_meant_are_refused() {
    let message = |edit: &dyn Fn(&mut Value)| {
        let mut config = config(1, true);
        edit(&mut config);
        bmv2_json::read(&config.to_string())
            .map(|_| ())
            .expect_err("a wrong number")
            .to_string()
    };
    let twice = message(&|config| config["errors"][1][1] = 1.into());
    assert_eq!(twice, "errors[1][1]: two errors have the number 1");
    let verify = "/parsers/0/parse_states/0/parser_ops/1/parameters/1";
    let unknown = message(&|config| {
        *config.pointer_mut(verify).expect("a place in it") =
            json!({ "type": "hexstr", "value": "0x9" });
    });
    assert!(
        unknown.ends_with("parameters[1]: no error has the number 9"),
        "{unknown}"
    );
    let computed = message(&|config| {
        *config.pointer_mut(verify).expect("a place in it") =
            json!({ "type": "field", "value": ["h", "kind"] });
    });
    assert!(computed.contains("an error that is computed"), "{computed}");
}

#[test]
fn primitives_of_p4_14_calculate_modulo_the_destination() {
    let field = |field: &str| json!({ "type": "field", "value": ["standard_metadata", field] });
    let kind = || json!({ "type": "field", "value": ["h", "kind"] });
    let number = |number: &str| json!({ "type": "hexstr", "value": number });
    let egress_spec = || field("egress_spec");
    let expected = [
        ("add_to_field", vec![egress_spec(), number("0x1ff")], 4),
        ("subtract_from_field", vec![egress_spec(), kind()], 3),
        ("add", vec![egress_spec(), kind(), number("0x7")], 9),
        ("subtract", vec![egress_spec(), number("0x7"), kind()], 5),
        (
            "bit_and",
            vec![egress_spec(), egress_spec(), number("0x4")],
            4,
        ),
        ("bit_or", vec![egress_spec(), egress_spec(), kind()], 7),
        ("bit_xor", vec![egress_spec(), number("0x3"), kind()], 1),
        ("shift_left", vec![egress_spec(), kind(), number("0x3")], 16),
        (
            "shift_right",
            vec![egress_spec(), number("0x1200"), number("0x8")],
            18,
        ),
    ];
    for (op, parameters, to) in expected {
        let mut config = config(0, true);
        config["actions"][0]["primitives"] = json!([
            { "op": "modify_field", "parameters": [egress_spec(), number("0x5")] },
            { "op": op, "parameters": parameters },
        ]);
        assert_eq!(port(&config, &[2, 0]), Some(to), "{op}");
    }
}

#[test]
fn a_valid_key_names_a_header() {
    let mut config = config(0, true);
    let table = json!({
        "name": "t", "id": 0, "match_type": "exact", "type": "simple", "max_size": 16, "with_counters": false,
        "direct_meters": null, "support_timeout": false, "action_ids": [1, 2], "actions": ["send1", "send2"],
        "key": [{ "match_type": "valid", "target": "tail", "mask": null }],
        "next_tables": { "send1": null, "send2": null }, "base_default_next": null,
        "default_entry": { "action_id": 1, "action_const": true, "action_data": [], "action_entry_const": true },
        "entries": [{
            "match_key": [{ "match_type": "valid", "key": true }],
            "action_entry": { "action_id": 2, "action_data": [] },
        }],
    });
    config["pipelines"][0]["tables"] = json!([table]);
    config["pipelines"][0]["init_table"] = "t".into();
    assert_eq!(port(&config, &[2, 0]), Some(1), "no tail");
    assert_eq!(port(&config, &[1, 0, 1, 1]), Some(2), "a tail");
}

#[test]
fn constants_in_field_lists_are_not_kept() {
    let mut config = config(0, true);
    let number = json!({ "type": "hexstr", "value": "0x9" });
    config["field_lists"] = json!([{ "id": 1, "name": "kept", "elements": [number] }]);
    assert_eq!(port(&config, &[2, 0]), Some(1));
}

#[test]
fn intrinsic_metadata_of_p4_14_is_standard_metadata() {
    let mut config = config(0, true);
    let types = config["header_types"].as_array_mut().expect("types");
    types.push(json!({ "name": "intrinsic_metadata_t", "id": 3, "fields": [
        ["mcast_grp", 4, false], ["egress_rid", 4, false], ["_padding", 1, false],
    ] }));
    let headers = config["headers"].as_array_mut().expect("headers");
    headers.push(json!({ "name": "intrinsic_metadata", "id": 4, "header_type": "intrinsic_metadata_t", "metadata": true }));
    let intrinsic = |name: &str| json!({ "type": "field", "value": ["intrinsic_metadata", name] });
    let number = |number: &str| json!({ "type": "hexstr", "value": number });
    config["actions"][0]["primitives"] =
        json!([{ "op": "assign", "parameters": [intrinsic("mcast_grp"), number("0x1")] }]);
    config["actions"][1]["primitives"] = json!([{ "op": "assign",
        "parameters": [{ "type": "field", "value": ["h", "mark"] }, intrinsic("egress_rid")] }]);
    config["pipelines"][1]["init_table"] = "call2".into();
    config["pipelines"][1]["action_calls"] =
        json!([{ "name": "call2", "id": 9, "action_id": 2, "next_node": null }]);
    let program = bmv2_json::read(&config.to_string()).unwrap_or_else(|error| panic!("{error}"));
    let mut switch = Switch::new(&program, SwitchConfig::default()).expect("a v1model program");
    let replica = |port, rid| Replica { port, rid };
    switch
        .set_multicast_group(1, vec![replica(4, 7), replica(5, 8)])
        .expect("a group");
    switch.handle_packet(Default::default(), 0, Packet::new(vec![2, 0]));
    let sent = std::iter::from_fn(|| switch.poll_transmit(Default::default()));
    let sent: Vec<_> = sent
        .map(|sent| (sent.port, sent.packet.octets[1]))
        .collect();
    assert_eq!(sent, [(4, 7), (5, 8)]);
}

#[test]
fn a_message_without_values_has_an_empty_object_for_them() {
    let mut config = config(0, true);
    let primitives = config["actions"][0]["primitives"].as_array_mut();
    primitives.expect("a list").insert(
        0,
        json!({ "op": "log_msg", "parameters": [
            { "type": "string", "value": "sent" },
            { "type": "parameters_vector", "value": {} },
        ] }),
    );
    assert_eq!(port(&config, &[2, 0]), Some(1));
}
