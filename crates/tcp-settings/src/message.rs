//! Serde's messages in terms of the data: they name Rust's types, which users do not see.

/// The message `said` of a value that is not as expected; other messages are left as they are.
pub(crate) fn plain(said: &str) -> String {
    let after = |start: &str| said.strip_prefix(start);
    if let Some(field) = after("missing field ") {
        return format!("{field} is missing");
    }
    if let Some(field) = after("duplicate field ") {
        return format!("{field} occurs twice");
    }
    if let Some(rest) = after("unknown field ") {
        return match rest.split_once(", expected ") {
            Some((field, valid)) => format!("unknown field {field}; valid: {}", names(valid)),
            None => format!("unknown field {rest}"),
        };
    }
    let Some((start, expected)) = said.rsplit_once(", expected ") else {
        return said.to_owned();
    };
    if let Some(name) = start.strip_prefix("unknown variant ") {
        let name = name.trim_matches('`');
        return format!("found {name:?}; valid: {}", names(expected));
    }
    let found = match start.split_once(": ") {
        Some(("invalid type" | "invalid value", unexpected)) => found(unexpected),
        _ => match start.strip_prefix("invalid length ") {
            Some(length) => format!("a list of {length}"),
            None => return said.to_owned(),
        },
    };
    format!("found {found}; expected {}", wanted(expected))
}

/// Serde's list of names, which has quotes and "or".
fn names(valid: &str) -> String {
    let valid = valid.strip_prefix("one of ").unwrap_or(valid);
    valid.replace('`', "").replace(" or ", ", ")
}

/// The value that was found.
fn found(unexpected: &str) -> String {
    let kinds = ["boolean ", "integer ", "floating point "];
    if let Some(value) = kinds.iter().find_map(|kind| unexpected.strip_prefix(kind)) {
        return value.trim_matches('`').to_owned();
    }
    match unexpected {
        "sequence" => "a list".to_owned(),
        "map" => "an object".to_owned(),
        "unit variant" => "a name without settings".to_owned(),
        _ => unexpected
            .strip_prefix("string ")
            .unwrap_or(unexpected)
            .to_owned(),
    }
}

/// What a Rust type represents in the data.
fn wanted(expected: &str) -> String {
    let most = match expected {
        "u8" => u64::from(u8::MAX),
        "u16" => u64::from(u16::MAX),
        "u32" => u64::from(u32::MAX),
        "u64" | "usize" => u64::MAX,
        _ => 0,
    };
    let wanted = match expected {
        _ if most > 0 => return format!("a whole number, 0 to {most}"),
        "f64" => "a number",
        "a string" | "string" => "a text",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "a map" => "an object",
        "newtype variant" => "a name with settings, {\"name\": {…}}",
        _ if expected.starts_with("struct ") => "an object",
        _ => match expected.strip_prefix("an array of length ") {
            Some(length) => return format!("a list of {length}"),
            None => expected,
        },
    };
    wanted.to_owned()
}

#[cfg(test)]
mod tests {
    use crate::read;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code, reason = "read only")]
    struct Data {
        number: f64,
        #[serde(default)]
        port: u16,
        #[serde(default)]
        octets: u64,
        #[serde(default)]
        name: String,
        #[serde(default)]
        is: Option<bool>,
        #[serde(default)]
        ends: Option<[String; 2]>,
        #[serde(default)]
        list: Vec<Inner>,
        #[serde(default)]
        kind: Option<Kind>,
        #[serde(default)]
        profile: Option<Profile>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code, reason = "read only")]
    struct Inner {
        from: String,
        to: String,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Kind {
        Cbr,
        Pareto,
        Exponential,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    #[allow(dead_code, reason = "read only")]
    enum Profile {
        Ns2(Inner),
        Modern(Inner),
    }

    #[test]
    fn messages_name_values_and_not_types() {
        let cases = [
            (r#""number": "x""#, "number: found \"x\"; expected a number"),
            (r#""number": null"#, "number: found null; expected a number"),
            (r#""number": true"#, "number: found true; expected a number"),
            (
                r#""number": NaN"#,
                "number: found NaN; expected a finite number",
            ),
            (
                r#""number": Infinity"#,
                "number: found Infinity; expected a finite number",
            ),
            (
                r#""name": "µ", "number": -Infinity"#,
                "number: found -Infinity; expected a finite number",
            ),
            (
                r#""number": 1, "port": 65536"#,
                "port: found 65536; expected a whole number, 0 to 65535",
            ),
            (
                r#""number": 1, "port": -1"#,
                "port: found -1; expected a whole number, 0 to 65535",
            ),
            (
                r#""number": 1, "octets": 1.5"#,
                "octets: found 1.5; expected a whole number, 0 to 18446744073709551615",
            ),
            (
                r#""number": 1, "name": 7"#,
                "name: found 7; expected a text",
            ),
            (
                r#""number": 1, "is": "yes""#,
                "is: found \"yes\"; expected true or false",
            ),
            (
                r#""number": 1, "ends": ["a"]"#,
                "ends: found a list of 1; expected a list of 2",
            ),
            (
                r#""number": 1, "ends": {}"#,
                "ends: found an object; expected a list of 2",
            ),
            (
                r#""number": 1, "list": {}"#,
                "list: found an object; expected a list",
            ),
            (
                r#""number": 1, "list": [1]"#,
                "list[0]: found 1; expected an object",
            ),
            (
                r#""number": 1, "list": [["a"]]"#,
                "list[0]: found a list of 1; expected an object",
            ),
            (
                r#""number": 1, "list": [{"from": "a"}]"#,
                "list[0]: `to` is missing",
            ),
            (
                r#""number": 1, "list": [{"from": "a", "from": "b"}]"#,
                "list[0]: `from` occurs twice",
            ),
            (
                r#""number": 1, "list": [{"form": "a"}]"#,
                "list[0].form: unknown field `form`; valid: from, to",
            ),
            (r#""name": "x""#, ".: `number` is missing"),
            (
                r#""number": 1, "kind": "cbe""#,
                "kind: found \"cbe\"; valid: cbr, pareto, exponential",
            ),
            (
                r#""number": 1, "kind": 5"#,
                "kind: expected a name, or an object with one",
            ),
            (
                r#""number": 1, "profile": {"ns3": {}}"#,
                "profile: found \"ns3\"; valid: ns2, modern",
            ),
            (
                r#""number": 1, "profile": "ns2""#,
                "profile.ns2: found a name without settings; expected a name with settings, {\"name\": {…}}",
            ),
        ];
        for (fields, expected) in cases {
            let said = read::<Data>(&format!("{{{fields}}}")).unwrap_err();
            assert_eq!(said.to_string(), expected, "{fields}");
        }
    }

    #[test]
    fn a_text_that_is_no_json_is_refused_with_its_line() {
        let said = read::<Data>("{\n  \"kind\": oops\n}").unwrap_err();
        assert_eq!(said.message, "expected value at line 2 column 11");
    }
}
