//! What is wrong with a configuration is said with its place; nothing panics.

use engine::{Packet, Switch, SwitchConfig};
use proptest::prelude::*;
use serde_json::Value;

const CONFIG: &str = include_str!("config/relay.json");

fn config() -> Value {
    serde_json::from_str(CONFIG).expect("it is JSON")
}

/// The message for a configuration in which one value is another.
fn with(pointer: &str, value: Value) -> String {
    let mut json = config();
    *json.pointer_mut(pointer).expect("a place in it") = value;
    match bmv2_json::read(&json.to_string()) {
        Ok(_) => "no error".into(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn errors_name_the_place_and_what_is_valid() {
    let at = |pointer: &str, value: Value, expected: &str| {
        let told = with(pointer, value);
        assert!(told.starts_with(expected), "{pointer}: {told}");
    };
    let json = config();
    let tables = json["pipelines"][0]["tables"].as_array().expect("tables");
    let keyed = tables
        .iter()
        .position(|t| !t["key"].as_array().expect("keys").is_empty());
    let keyed = keyed.expect("a table has a key");
    at(
        &format!("/pipelines/0/tables/{keyed}/key/0/match_type"),
        "fuzzy".into(),
        &format!(
            "pipelines[0].tables[{keyed}].key[0].match_type: \"fuzzy\" is not a match kind; valid: exact"
        ),
    );
    at(
        "/parsers/0/parse_states/0/parser_ops/0/op",
        "extrct".into(),
        "parsers[0].parse_states[0].parser_ops[0].op: \"extrct\" is not an operation of a parser; valid:",
    );
    at(
        "/parsers/0/init_state",
        "begin".into(),
        "parsers[0].init_state: no state of this name",
    );
    at(
        "/header_types/0/fields/0/1",
        (-1).into(),
        "header_types[0].fields[0][1]: expected a number from 0 to 16384, found -1",
    );
    at(
        "/headers",
        "x".into(),
        "headers: expected an array, found \"x\"",
    );
    at(
        "/pipelines/1/name",
        "eggress".into(),
        "`pipelines` has no `egress`",
    );
    at(
        "/calculations/0/algo",
        "md5".into(),
        "calculations[0].algo: there is no hash algorithm `md5`",
    );
    at(
        "/errors/1/1",
        0.into(),
        "errors[1][1]: two errors have the number 0",
    );
    at(
        "/deparsers/0/order/0",
        "nobody".into(),
        "deparsers[0].order[0]: there is no header `nobody`",
    );
}

#[test]
fn what_is_no_json_is_said() {
    let told = bmv2_json::read("{")
        .map(|_| ())
        .expect_err("half an object")
        .to_string();
    assert!(told.starts_with("this is not JSON: EOF"), "{told}");
    assert!(bmv2_json::read(&"[".repeat(100_000)).is_err());
    assert!(bmv2_json::read("[]").is_err());
    assert!(bmv2_json::read("{}").is_err());
}

/// Places of a value, depth first.
fn pointers(value: &Value, at: String, all: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                pointers(item, format!("{at}/{i}"), all);
            }
        }
        Value::Object(members) => {
            for (key, item) in members {
                pointers(item, format!("{at}/{key}"), all);
            }
        }
        _ => {}
    }
    all.push(at);
}

fn replacement() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        Just(Value::Array(Vec::new())),
        Just(serde_json::json!({})),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0u32..300).prop_map(Value::from),
        "[a-z$]{0,6}".prop_map(Value::from),
        "-?0x[0-9a-f]{1,40}".prop_map(Value::from),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Parts replaced, exchanged and removed: an error or a program, and that runs.
    #[test]
    fn damaged_configurations_never_panic(
        edits in proptest::collection::vec(
            (any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0u8..3, replacement()),
            1..4,
        ),
        packet in proptest::collection::vec(0u8..8, 0..24),
    ) {
        let mut json = config();
        for (at, from, how, value) in edits {
            let mut all = Vec::new();
            pointers(&json, String::new(), &mut all);
            let other = json.pointer(from.get::<String>(&all)).cloned().unwrap_or_default();
            let small = other.to_string().len() < 4000;
            let Some(place) = json.pointer_mut(at.get::<String>(&all)) else { continue };
            *place = match how {
                0 if small => other,
                1 => match place {
                    Value::Array(items) if !items.is_empty() => {
                        items.remove(0);
                        place.clone()
                    }
                    _ => value,
                },
                _ => value,
            };
        }
        if let Ok(program) = bmv2_json::read(&json.to_string())
            && let Ok(mut switch) = Switch::new(&program, SwitchConfig::default())
        {
            switch.handle_packet(Default::default(), 1, Packet::new(packet));
            while switch.poll_transmit(Default::default()).is_some() {}
        }
    }
}
