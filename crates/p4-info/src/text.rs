//! [Protobuf text format](https://protobuf.dev/reference/protobuf/textformat-spec/), laid out as protobuf's C++ library does.

use crate::proto::{FILE_DESCRIPTOR_SET, P4Info};
use prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage, FieldDescriptor, Kind, MapKey, Value};
use std::sync::LazyLock;

static POOL: LazyLock<DescriptorPool> = LazyLock::new(|| {
    DescriptorPool::decode(FILE_DESCRIPTOR_SET).expect("compiled with this crate")
});

/// A P4Info as text, under the comment lines that name its type.
pub fn to_text(info: &P4Info) -> String {
    let descriptor = POOL
        .get_message_by_name("p4.config.v1.P4Info")
        .expect("compiled with this crate");
    let mut message = DynamicMessage::new(descriptor);
    message.transcode_from(info).expect("the same message");
    let mut out = header("p4/config/v1/p4info.proto", "p4.config.v1.P4Info");
    write_message(&mut out, 0, &message);
    out
}

/// The P4Info that a text spells.
///
/// # Errors
/// Where the text is not the text format, or names a field that P4Info has not: what is wrong, and where.
pub fn from_text(text: &str) -> Result<P4Info, String> {
    let descriptor = POOL
        .get_message_by_name("p4.config.v1.P4Info")
        .expect("compiled with this crate");
    let message = DynamicMessage::parse_text_format(descriptor, text).map_err(|e| e.to_string())?;
    P4Info::decode(message.encode_to_vec().as_slice()).map_err(|e| e.to_string())
}

fn header(file: &str, message: &str) -> String {
    format!("# proto-file: {file}\n# proto-message: {message}\n\n")
}

/// The fields that are set, in the order of their numbers, each on separate lines.
fn write_message(out: &mut String, depth: usize, message: &DynamicMessage) {
    for (field, value) in message.fields() {
        match value {
            Value::List(values) => {
                for value in values {
                    write_field(out, depth, &field, value);
                }
            }
            Value::Map(entries) => {
                let mut entries: Vec<_> = entries.iter().collect();
                entries.sort_by_key(|(key, _)| *key);
                let Kind::Message(entry) = field.kind() else {
                    continue;
                };
                for (key, value) in entries {
                    open(out, depth, field.name());
                    let key = key_value(key);
                    write_field(out, depth + 1, &entry.map_entry_key_field(), &key);
                    write_field(out, depth + 1, &entry.map_entry_value_field(), value);
                    line(out, depth, "}");
                }
            }
            value => write_field(out, depth, &field, value),
        }
    }
}

fn write_field(out: &mut String, depth: usize, field: &FieldDescriptor, value: &Value) {
    let name = field.name();
    let text = match value {
        Value::Message(message) => {
            open(out, depth, name);
            write_message(out, depth + 1, message);
            return line(out, depth, "}");
        }
        Value::EnumNumber(number) => match field.kind() {
            Kind::Enum(of) => match of.get_value(*number) {
                Some(value) => value.name().to_string(),
                None => number.to_string(),
            },
            _ => number.to_string(),
        },
        Value::Bool(value) => value.to_string(),
        Value::I32(value) => value.to_string(),
        Value::I64(value) => value.to_string(),
        Value::U32(value) => value.to_string(),
        Value::U64(value) => value.to_string(),
        Value::F32(value) => value.to_string(),
        Value::F64(value) => value.to_string(),
        Value::String(value) => quoted(value.as_bytes()),
        Value::Bytes(value) => quoted(value),
        // Taken apart above.
        Value::List(_) | Value::Map(_) => return,
    };
    line(out, depth, &format!("{name}: {text}"));
}

fn key_value(key: &MapKey) -> Value {
    match key {
        MapKey::Bool(key) => Value::Bool(*key),
        MapKey::I32(key) => Value::I32(*key),
        MapKey::I64(key) => Value::I64(*key),
        MapKey::U32(key) => Value::U32(*key),
        MapKey::U64(key) => Value::U64(*key),
        MapKey::String(key) => Value::String(key.clone()),
    }
}

fn open(out: &mut String, depth: usize, name: &str) {
    line(out, depth, &format!("{name} {{"));
}

fn line(out: &mut String, depth: usize, text: &str) {
    out.push_str(&"  ".repeat(depth));
    out.push_str(text);
    out.push('\n');
}

/// In double quotes; octets that do not print, or that are not ASCII, as three octal digits.
fn quoted(octets: &[u8]) -> String {
    let mut text = String::from("\"");
    for octet in octets {
        match octet {
            b'\n' => text.push_str("\\n"),
            b'\r' => text.push_str("\\r"),
            b'\t' => text.push_str("\\t"),
            b'"' => text.push_str("\\\""),
            b'\'' => text.push_str("\\'"),
            b'\\' => text.push_str("\\\\"),
            0x20..=0x7e => text.push(char::from(*octet)),
            _ => text.push_str(&format!("\\{octet:03o}")),
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::{PkgInfo, Preamble, Table};

    fn info() -> P4Info {
        let table = Table {
            preamble: Some(Preamble {
                id: 0x0200_0001,
                name: "c.\"t\"".into(),
                ..Default::default()
            }),
            direct_resource_ids: vec![1, 2],
            size: 1024,
            ..Default::default()
        };
        P4Info {
            pkg_info: Some(PkgInfo::default()),
            tables: vec![table],
            ..Default::default()
        }
    }

    #[test]
    fn lists_are_written_one_by_one_and_empty_messages_as_braces() {
        let expected = "\
# proto-file: p4/config/v1/p4info.proto
# proto-message: p4.config.v1.P4Info

pkg_info {
}
tables {
  preamble {
    id: 33554433
    name: \"c.\\\"t\\\"\"
  }
  direct_resource_ids: 1
  direct_resource_ids: 2
  size: 1024
}
";
        assert_eq!(to_text(&info()), expected);
    }

    #[test]
    fn text_reads_back() {
        assert_eq!(from_text(&to_text(&info())), Ok(info()));
    }

    #[test]
    fn text_that_is_no_p4info_is_refused() {
        let error = from_text("tables { colour: 1 }").unwrap_err();
        assert!(error.contains("colour"), "{error}");
    }
}
