//! Values of P4 types (`P4Data`).

use crate::bytestring::Shape;
use crate::fault::{Fault, Outcome, list};
use crate::proto::v1::p4_data::Data;
use crate::proto::v1::{P4Data, P4Header, P4StructLike};
use num_bigint::BigUint;
use p4::p4_bitstring_like_type_spec::TypeSpec as Bits;
use p4::p4_data_type_spec::TypeSpec;
use p4_info::proto as p4;

/// A type of P4Info with resolved names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DataType {
    /// `bit<W>` and `int<W>`.
    Bits(Shape),
    /// `bool`.
    Bool,
    /// `struct`.
    Struct(Vec<DataType>),
    /// `tuple`.
    Tuple(Vec<DataType>),
    /// `header`.
    Header(Vec<Shape>),
    /// `enum` without underlying type: its members.
    Enum(Vec<String>),
    /// `error`: its members.
    Error(Vec<String>),
    /// `enum` with underlying type.
    SerialisableEnum(Shape),
}

/// The widest number that a string in a struct may hold, in bits, because P4Info does not contain the width of the
/// program there.
const MAX_DECIMAL: u32 = 2_048;

/// The deepest nesting of types. It protects against a P4Info that refers to itself.
const MAX_DEPTH: u32 = 32;

impl DataType {
    /// Converts a type that a P4Info declares.
    pub fn new(spec: Option<&p4::P4DataTypeSpec>, info: Option<&p4::P4TypeInfo>) -> Outcome<Self> {
        let none = p4::P4TypeInfo::default();
        resolve(spec, info.unwrap_or(&none), MAX_DEPTH)
    }

    /// Encodes a value. Its parts are taken in order.
    pub fn encode(&self, parts: &mut impl Iterator<Item = BigUint>) -> P4Data {
        let mut next = || parts.next().unwrap_or_default();
        let data = match self {
            DataType::Bits(shape) => Data::Bitstring(shape.encode(&next())),
            DataType::SerialisableEnum(shape) => Data::EnumValue(shape.encode(&next())),
            DataType::Bool => Data::Bool(next() != BigUint::ZERO),
            DataType::Enum(names) => Data::Enum(member(names, &next())),
            DataType::Error(names) => Data::Error(member(names, &next())),
            DataType::Header(fields) => Data::Header(P4Header {
                is_valid: true,
                bitstrings: fields.iter().map(|field| field.encode(&next())).collect(),
            }),
            DataType::Struct(members) => Data::Struct(encode_all(members, parts)),
            DataType::Tuple(members) => Data::Tuple(encode_all(members, parts)),
        };
        P4Data { data: Some(data) }
    }

    /// Decodes a value into its parts, in order.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if the data has another form, `OUT_OF_RANGE` if it needs more bits.
    pub fn decode(&self, data: Option<&P4Data>) -> Outcome<Vec<BigUint>> {
        let mut parts = Vec::new();
        self.decode_into(data, &mut parts)?;
        Ok(parts)
    }

    fn decode_into(&self, data: Option<&P4Data>, parts: &mut Vec<BigUint>) -> Outcome<()> {
        let data = data.and_then(|data| data.data.as_ref());
        let part = match (self, data) {
            (DataType::Bits(shape), Some(Data::Bitstring(octets)))
            | (DataType::SerialisableEnum(shape), Some(Data::EnumValue(octets))) => {
                shape.decode(octets)?
            }
            (DataType::Bool, Some(Data::Bool(value))) => BigUint::from(u8::from(*value)),
            (DataType::Enum(names), Some(Data::Enum(name)))
            | (DataType::Error(names), Some(Data::Error(name))) => {
                let at = names.iter().position(|member| member == name);
                at.map(BigUint::from)
                    .ok_or_else(|| Fault::invalid(format!("`{name}` is none of {}", list(names))))?
            }
            (DataType::Struct(types), Some(Data::Struct(given)))
            | (DataType::Tuple(types), Some(Data::Tuple(given))) => {
                if given.members.len() != types.len() {
                    return Err(Fault::invalid(format!(
                        "expected a {} of {} members, found {}",
                        self.form(),
                        types.len(),
                        given.members.len()
                    )));
                }
                let mut members = types.iter().zip(&given.members);
                return members.try_for_each(|(ty, member)| ty.decode_into(Some(member), parts));
            }
            _ => {
                return Err(Fault::invalid(format!(
                    "expected data of the form `{}`",
                    self.form()
                )));
            }
        };
        parts.push(part);
        Ok(())
    }

    /// The number of parts of a value.
    pub fn values(&self) -> usize {
        match self {
            DataType::Struct(members) | DataType::Tuple(members) => {
                members.iter().map(DataType::values).sum()
            }
            DataType::Header(fields) => fields.len(),
            _ => 1,
        }
    }

    /// The field of `P4Data` that holds such a value.
    fn form(&self) -> &'static str {
        match self {
            DataType::Bits(_) => "bitstring",
            DataType::Bool => "bool",
            DataType::Struct(_) => "struct",
            DataType::Tuple(_) => "tuple",
            DataType::Header(_) => "header",
            DataType::Enum(_) => "enum",
            DataType::Error(_) => "error",
            DataType::SerialisableEnum(_) => "enum_value",
        }
    }
}

fn encode_all(members: &[DataType], parts: &mut impl Iterator<Item = BigUint>) -> P4StructLike {
    // Through a trait object, because the nesting of types is not known at compile time.
    let parts: &mut dyn Iterator<Item = BigUint> = parts;
    let mut encoded = Vec::new();
    for member in members {
        encoded.push(member.encode_dyn(parts));
    }
    P4StructLike { members: encoded }
}

impl DataType {
    fn encode_dyn(&self, mut parts: &mut dyn Iterator<Item = BigUint>) -> P4Data {
        self.encode(&mut parts)
    }
}

fn member(names: &[String], index: &BigUint) -> String {
    let index = usize::try_from(index).ok();
    let name = index.and_then(|index| names.get(index));
    name.cloned().unwrap_or_default()
}

fn resolve(
    spec: Option<&p4::P4DataTypeSpec>,
    info: &p4::P4TypeInfo,
    depth: u32,
) -> Outcome<DataType> {
    let spec = spec.and_then(|spec| spec.type_spec.as_ref());
    let Some(spec) = spec else {
        return Err(Fault::invalid("its type_spec is not set"));
    };
    let Some(depth) = depth.checked_sub(1) else {
        return Err(Fault::invalid("its type_spec is nested too deep"));
    };
    let unknown = |name: &str| Fault::invalid(format!("type_info does not declare `{name}`"));
    Ok(match spec {
        TypeSpec::Bitstring(bits) => DataType::Bits(bitstring(bits)?),
        TypeSpec::Bool(_) => DataType::Bool,
        TypeSpec::Tuple(tuple) => {
            let members = tuple.members.iter();
            let members: Outcome<_> = members.map(|m| resolve(Some(m), info, depth)).collect();
            DataType::Tuple(members?)
        }
        TypeSpec::Struct(named) => {
            let found = info.structs.get(&named.name);
            let members = found.ok_or_else(|| unknown(&named.name))?.members.iter();
            let resolved: Outcome<_> = members
                .map(|member| resolve(member.type_spec.as_ref(), info, depth))
                .collect();
            DataType::Struct(resolved?)
        }
        TypeSpec::Header(named) => {
            let found = info.headers.get(&named.name);
            let members = found.ok_or_else(|| unknown(&named.name))?.members.iter();
            let unset = || Fault::invalid("its type_spec is not set");
            let shapes: Outcome<_> = members
                .map(|member| bitstring(member.type_spec.as_ref().ok_or_else(unset)?))
                .collect();
            DataType::Header(shapes?)
        }
        TypeSpec::Enum(named) => {
            let found = info.enums.get(&named.name);
            let members = found.ok_or_else(|| unknown(&named.name))?.members.iter();
            DataType::Enum(members.map(|member| member.name.clone()).collect())
        }
        TypeSpec::Error(_) => {
            let error = info.error.as_ref().ok_or_else(|| unknown("error"))?;
            DataType::Error(error.members.clone())
        }
        TypeSpec::SerializableEnum(named) => {
            let found = info.serializable_enums.get(&named.name);
            let under = found
                .ok_or_else(|| unknown(&named.name))?
                .underlying_type
                .as_ref();
            let width = under.map_or(0, |bit| bit.bitwidth);
            DataType::SerialisableEnum(Shape::bits(width.max(0) as u32))
        }
        TypeSpec::NewType(named) => {
            use p4::p4_new_type_spec::Representation::{OriginalType, TranslatedType};
            use p4::p4_new_type_translation::SdnType;
            let found = info.new_types.get(&named.name);
            match found
                .ok_or_else(|| unknown(&named.name))?
                .representation
                .as_ref()
            {
                Some(OriginalType(of)) => resolve(Some(of), info, depth)?,
                Some(TranslatedType(translation)) => DataType::Bits(match translation.sdn_type {
                    Some(SdnType::SdnBitwidth(width)) => Shape::bits(width.max(0) as u32),
                    Some(SdnType::SdnString(_)) => Shape::decimal(MAX_DECIMAL),
                    None => return Err(Fault::invalid("its translation has no sdn_type")),
                }),
                None => return Err(unknown(&named.name)),
            }
        }
        TypeSpec::HeaderUnion(_) | TypeSpec::HeaderStack(_) | TypeSpec::HeaderUnionStack(_) => {
            return Err(Fault::unimplemented(
                "header unions and stacks are not supported",
            ));
        }
    })
}

fn bitstring(spec: &p4::P4BitstringLikeTypeSpec) -> Outcome<Shape> {
    let width = |width: i32| width.max(0) as u32;
    match &spec.type_spec {
        Some(Bits::Bit(bit)) => Ok(Shape::bits(width(bit.bitwidth))),
        Some(Bits::Int(int)) => Ok(Shape::int(width(int.bitwidth))),
        Some(Bits::Varbit(_)) => Err(Fault::unimplemented("varbit is not supported here")),
        None => Err(Fault::invalid("its type_spec is not set")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tonic::Code;

    fn data(data: Data) -> P4Data {
        P4Data { data: Some(data) }
    }

    // p4runtime: data-enum
    #[test]
    fn enums_go_by_name_and_serialisable_ones_by_value() {
        let names = || vec!["red".to_string(), "green".to_string()];
        let value = |n: u32| BigUint::from(n);
        let green = data(Data::Enum("green".into()));
        assert_eq!(
            DataType::Enum(names()).encode(&mut [value(1)].into_iter()),
            green
        );
        assert_eq!(
            DataType::Enum(names()).decode(Some(&green)),
            Ok(vec![value(1)])
        );
        let error = data(Data::Error("red".into()));
        assert_eq!(
            DataType::Error(names()).encode(&mut [value(0)].into_iter()),
            error
        );
        let refused = DataType::Error(names()).decode(Some(&green)).unwrap_err();
        assert_eq!(refused.code, Code::InvalidArgument);
        let unknown = data(Data::Enum("blue".into()));
        let refused = DataType::Enum(names()).decode(Some(&unknown)).unwrap_err();
        assert!(refused.message.contains("red, green"));
        let serialisable = DataType::SerialisableEnum(Shape::bits(12));
        let unnamed = data(Data::EnumValue(vec![0x0a, 0xbc]));
        assert_eq!(serialisable.decode(Some(&unnamed)), Ok(vec![value(0xabc)]));
        assert_eq!(
            serialisable.encode(&mut [value(0xabc)].into_iter()),
            unnamed
        );
    }

    // p4runtime: data-header, data-struct
    #[test]
    fn structs_and_headers_take_their_members_in_order() {
        let header = DataType::Header(vec![Shape::bits(8), Shape::bits(16)]);
        let ty = DataType::Struct(vec![DataType::Bool, header, DataType::Tuple(Vec::new())]);
        let parts = [1_u32, 2, 0x1234].map(BigUint::from);
        let header = P4Header {
            is_valid: true,
            bitstrings: vec![vec![2], vec![0x12, 0x34]],
        };
        let tuple = P4StructLike::default();
        let members = [Data::Bool(true), Data::Header(header), Data::Tuple(tuple)];
        let expected = P4StructLike {
            members: members.map(data).into(),
        };
        let encoded = ty.encode(&mut parts.into_iter());
        assert_eq!(encoded, data(Data::Struct(expected)));
    }
}
