//! Estimates how many octets of memory an encoded message takes when it is decoded.
//!
//! A decoded message contains its fields in place, except for repeated ones, which are allocated. So an element of a
//! repeated field takes the size of its type, even if it is empty.

use prost::Message;
use prost::encoding::{WireType, decode_key, decode_varint};
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorSet};
use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

/// The descriptors of `p4.v1`, of `p4.config.v1` and of what they import.
static DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));
static SCHEMA: LazyLock<Schema> = LazyLock::new(|| Schema::read(DESCRIPTORS));

/// The size of a pointer, a length and a capacity: of a string, a vector or a box.
const ALLOCATED: usize = 24;
/// The size of a number, or of a discriminant.
const WORD: usize = 8;
/// Messages are not decoded beyond this depth.
const DEEPEST: usize = 100;

/// The octets that a message of a type takes when it is decoded. What cannot be decoded ends the estimate.
pub fn of(type_name: &str, octets: &[u8]) -> usize {
    let Some(&root) = SCHEMA.places.get(type_name) else {
        return octets.len();
    };
    SCHEMA.types[root].size + octets.len() + SCHEMA.allocated(root, octets, DEEPEST)
}

/// A message type.
#[derive(Debug, Default)]
struct MessageType {
    size: usize,
    /// The fields whose values are messages: their types, and whether they are repeated.
    messages: HashMap<u32, (usize, bool)>,
}

#[derive(Debug)]
struct Schema {
    types: Vec<MessageType>,
    places: HashMap<String, usize>,
}

impl Schema {
    fn read(descriptors: &[u8]) -> Schema {
        let set = FileDescriptorSet::decode(descriptors).expect("the build wrote it");
        let mut all = Vec::new();
        for file in &set.file {
            for message in &file.message_type {
                add(&mut all, file.package(), message);
            }
        }
        let places: HashMap<String, usize> = all
            .iter()
            .enumerate()
            .map(|(at, (name, _))| (name.clone(), at))
            .collect();
        let types = all.iter().map(|(name, message)| MessageType {
            size: size(name, &all, &places, &mut Vec::new()),
            messages: message
                .field
                .iter()
                .filter_map(|field| Some((field, place(field, &places)?)))
                .map(|(field, at)| {
                    (
                        field.number() as u32,
                        (at, field.label() == Label::Repeated),
                    )
                })
                .collect(),
        });
        Schema {
            types: types.collect(),
            places,
        }
    }

    /// The octets that the elements of repeated fields take, in a message and in those that it contains.
    fn allocated(&self, at: usize, mut octets: &[u8], depth: usize) -> usize {
        let mut sum = 0;
        while let Ok((number, wire)) = decode_key(&mut octets) {
            let length = match wire {
                WireType::Varint => decode_varint(&mut octets).map(|_| 0),
                WireType::LengthDelimited => decode_varint(&mut octets),
                WireType::SixtyFourBit => Ok(8),
                WireType::ThirtyTwoBit => Ok(4),
                WireType::StartGroup | WireType::EndGroup => return sum,
            };
            let length = length.ok().and_then(|length| usize::try_from(length).ok());
            let Some((value, rest)) = length.and_then(|length| octets.split_at_checked(length))
            else {
                return sum;
            };
            octets = rest;
            let message = self.types[at].messages.get(&number);
            if let Some(&(of, is_repeated)) = message.filter(|_| depth > 0) {
                sum += self.allocated(of, value, depth - 1);
                if is_repeated {
                    sum += self.types[of].size;
                }
            } else if wire == WireType::LengthDelimited {
                // An element of a list of strings.
                sum += ALLOCATED;
            }
        }
        sum
    }
}

/// Adds a message type and those declared in it.
fn add<'d>(
    all: &mut Vec<(String, &'d DescriptorProto)>,
    scope: &str,
    message: &'d DescriptorProto,
) {
    let name = format!("{scope}.{}", message.name());
    for nested in &message.nested_type {
        add(all, &name, nested);
    }
    all.push((name, message));
}

/// The type of a field's value, if it is a message.
fn place(field: &FieldDescriptorProto, places: &HashMap<String, usize>) -> Option<usize> {
    let name = field.type_name().strip_prefix('.')?;
    (field.r#type() == Type::Message).then(|| places[name])
}

/// The size of a type. A message in `inside` contains itself, so it is boxed.
fn size(
    name: &str,
    all: &[(String, &DescriptorProto)],
    places: &HashMap<String, usize>,
    inside: &mut Vec<String>,
) -> usize {
    if inside.iter().any(|outer| outer == name) {
        return WORD;
    }
    inside.push(name.to_owned());
    let mut sum = 0;
    // Of the fields of a oneof, the largest counts.
    let mut oneofs: BTreeMap<i32, usize> = BTreeMap::new();
    for field in &all[places[name]].1.field {
        let octets = match (field.label(), field.r#type()) {
            (Label::Repeated, _) | (_, Type::String | Type::Bytes) => ALLOCATED,
            (_, Type::Message) => {
                WORD + size(
                    field.type_name().trim_start_matches('.'),
                    all,
                    places,
                    inside,
                )
            }
            _ => WORD,
        };
        match field.oneof_index {
            Some(oneof) => {
                let largest = oneofs.entry(oneof).or_default();
                *largest = octets.max(*largest);
            }
            None => sum += octets,
        }
    }
    inside.pop();
    sum + oneofs.values().sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::v1::{
        Entity, FieldMatch, ForwardingPipelineConfig, SetForwardingPipelineConfigRequest,
        TableEntry, Update, WriteRequest, entity,
    };
    use p4_info::proto::{P4Info, Table};
    use std::mem::size_of;

    /// No less than the memory that vectors take, and at most twice as much.
    fn is_close(estimate: usize, memory: usize) -> bool {
        (memory..2 * memory).contains(&estimate)
    }

    fn estimate<M: Message + prost::Name>(message: &M) -> usize {
        of(&M::full_name(), &message.encode_to_vec())
    }

    #[test]
    fn an_empty_update_takes_its_size() {
        let write = WriteRequest {
            updates: vec![Update::default(); 1_000],
            ..WriteRequest::default()
        };
        let memory = 1_000 * size_of::<Update>();
        assert!(
            is_close(estimate(&write), memory),
            "{} {memory}",
            estimate(&write)
        );
    }

    #[test]
    fn repeated_fields_count_at_any_depth() {
        let entry = TableEntry {
            r#match: vec![FieldMatch::default(); 1_000],
            ..TableEntry::default()
        };
        let entity = Some(Entity {
            entity: Some(entity::Entity::TableEntry(entry)),
        });
        let write = WriteRequest {
            updates: vec![Update { entity, r#type: 1 }],
            ..WriteRequest::default()
        };
        let memory = 1_000 * size_of::<FieldMatch>();
        assert!(
            is_close(estimate(&write), memory),
            "{} {memory}",
            estimate(&write)
        );
        let info = P4Info {
            tables: vec![Table::default(); 1_000],
            ..P4Info::default()
        };
        let request = SetForwardingPipelineConfigRequest {
            config: Some(ForwardingPipelineConfig {
                p4info: Some(info),
                ..ForwardingPipelineConfig::default()
            }),
            ..SetForwardingPipelineConfigRequest::default()
        };
        let memory = 1_000 * size_of::<Table>();
        assert!(
            is_close(estimate(&request), memory),
            "{} {memory}",
            estimate(&request)
        );
    }

    #[test]
    fn what_cannot_be_decoded_ends_the_estimate() {
        let write = |octets: &[u8]| of("p4.v1.WriteRequest", octets);
        let empty = write(&[]);
        for octets in [
            &[0x22, 200, 1][..],
            &[0x23],
            &[0x08],
            &[0x09, 0, 0],
            &[0xff; 11],
        ] {
            assert_eq!(write(octets), empty + octets.len());
        }
        let one = write(&[0x22, 0]) - empty;
        assert!(one > 2 && write(&[0x22, 0, 0x22, 200, 1]) - empty == one + 3);
    }
}
