//! The header in front of packets to and from the controller (`@controller_header`).

use crate::bytestring::Shape;
use crate::fault::{Fault, Outcome, list};
use crate::proto::v1::PacketMetadata;
use num_bigint::BigUint;
use p4_info::proto::controller_packet_metadata::Metadata;
use p4_ir::{AnnotationValue, Program, TypeKind};

/// The layout of such a header, from the program's: P4Info may leave padding out.
#[derive(Debug)]
pub struct PacketHeader {
    name: String,
    /// In the order of the wire.
    fields: Vec<Field>,
}

#[derive(Debug)]
struct Field {
    name: String,
    width: u32,
    /// Unless it is padding that P4Info leaves out.
    id: Option<u32>,
}

impl PacketHeader {
    /// The header that the program calls `packet_in` or `packet_out`.
    pub fn new(program: &Program, name: &str, listed: &[Metadata]) -> Outcome<Self> {
        let is_it = |a: &p4_ir::Annotation| {
            a.name == "controller_header"
                && matches!(a.values.first(), Some(AnnotationValue::String(of)) if of == name)
        };
        let mut types = program.types.iter();
        let header = types.find(|ty| ty.annotations.iter().any(is_it));
        let Some(TypeKind::Header(members)) = header.map(|ty| &ty.kind) else {
            let fault = format!("it has no header that is @controller_header(\"{name}\")");
            return Err(Fault::invalid(fault));
        };
        let mut fields = Vec::new();
        for member in members {
            let scalar = member.ty.scalar(program);
            let width = scalar.map_or(0, p4_ir::Scalar::width);
            let metadata = listed.iter().find(|metadata| metadata.name == member.name);
            let differs = |m: &&Metadata| m.type_name.is_none() && m.bitwidth as u32 != width;
            if let Some(metadata) = metadata.filter(differs) {
                return Err(Fault::invalid(format!(
                    "field `{}` of header `{name}` has {width} bits, not {}",
                    member.name, metadata.bitwidth
                )));
            }
            fields.push(Field {
                name: member.name.clone(),
                width,
                id: metadata.map(|metadata| metadata.id),
            });
        }
        let header = PacketHeader {
            name: name.to_string(),
            fields,
        };
        let known = |metadata: &Metadata| header.fields.iter().any(|f| f.name == metadata.name);
        if let Some(unknown) = listed.iter().find(|metadata| !known(metadata)) {
            let fault = format!("header `{name}` has no field `{}`", unknown.name);
            return Err(Fault::invalid(fault));
        }
        if !header.bits().is_multiple_of(8) {
            let fault = format!(
                "header `{name}` has {} bits, not whole octets",
                header.bits()
            );
            return Err(Fault::invalid(fault));
        }
        Ok(header)
    }

    /// The header's octets, from what a client says of its fields. Padding is zero.
    pub fn pack(&self, metadata: &[PacketMetadata]) -> Outcome<Vec<u8>> {
        let known = || self.fields.iter().filter_map(|f| Some((f.id?, &f.name)));
        let valid = || list(known().map(|(id, name)| format!("{name} ({id})")));
        for (i, given) in metadata.iter().enumerate() {
            let id = given.metadata_id;
            if !known().any(|(known, _)| known == id) {
                return Err(Fault::invalid(format!(
                    "{} has no metadata {id}; it has {}",
                    self.name,
                    valid()
                )));
            }
            if metadata[..i].iter().any(|before| before.metadata_id == id) {
                return Err(Fault::invalid(format!("metadata {id} is given twice")));
            }
        }
        let mut bits = BigUint::ZERO;
        for field in &self.fields {
            bits <<= field.width;
            let Some(id) = field.id else { continue };
            let Some(given) = metadata.iter().find(|given| given.metadata_id == id) else {
                return Err(Fault::invalid(format!(
                    "metadata {id} (`{}`) is missing; {} needs {}",
                    field.name,
                    self.name,
                    valid()
                )));
            };
            let value = Shape::bits(field.width).decode(&given.value);
            bits |= value.map_err(|fault| fault.at(format!("metadata `{}`", field.name)))?;
        }
        let octets = self.octets();
        let mut header = vec![0; octets];
        let digits = bits.to_bytes_be();
        if octets > 0 {
            header[octets - digits.len()..].copy_from_slice(&digits);
        }
        Ok(header)
    }

    /// The header's fields, and the packet after it; `None` if the packet is shorter.
    pub fn unpack<'p>(&self, packet: &'p [u8]) -> Option<(Vec<PacketMetadata>, &'p [u8])> {
        let (header, payload) = packet.split_at_checked(self.octets())?;
        let bits = BigUint::from_bytes_be(header);
        let mut below = self.bits();
        let mut metadata = Vec::new();
        for field in &self.fields {
            below -= field.width;
            let Some(metadata_id) = field.id else {
                continue;
            };
            let mask = (BigUint::from(1_u8) << field.width) - 1_u8;
            let value = (&bits >> below) & mask;
            metadata.push(PacketMetadata {
                metadata_id,
                value: Shape::bits(field.width).encode(&value),
            });
        }
        Some((metadata, payload))
    }

    fn bits(&self) -> u32 {
        self.fields.iter().map(|field| field.width).sum()
    }

    fn octets(&self) -> usize {
        self.bits() as usize / 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> PacketHeader {
        let field = |name: &str, width, id| Field {
            name: name.into(),
            width,
            id,
        };
        PacketHeader {
            name: "packet_out".into(),
            fields: vec![
                field("port", 9, Some(1)),
                field("pad", 3, None),
                field("class", 4, Some(2)),
            ],
        }
    }

    fn metadata(id: u32, value: &[u8]) -> PacketMetadata {
        PacketMetadata {
            metadata_id: id,
            value: value.to_vec(),
        }
    }

    // p4runtime: packet-in, packet-out
    #[test]
    fn unpacking_undoes_packing() {
        let given = [metadata(1, b"\x01\x02"), metadata(2, b"\x0a")];
        let octets = header().pack(&given).unwrap();
        assert_eq!(octets, [0x81, 0x0a]);
        let packet = [&octets[..], b"payload"].concat();
        let (found, payload) = header().unpack(&packet).unwrap();
        assert_eq!((found.as_slice(), payload), (&given[..], &b"payload"[..]));
        assert!(header().unpack(b"\x01").is_none());
    }

    #[test]
    fn metadata_must_be_what_p4info_lists() {
        let message = |given: &[PacketMetadata]| header().pack(given).unwrap_err().message;
        assert!(message(&[metadata(1, b"\x01")]).contains("`class`"));
        assert!(message(&[metadata(7, b"\x01")]).contains("port (1), class (2)"));
        assert!(message(&[metadata(1, b"\x02\0"), metadata(2, b"\0")]).contains("9 bits"));
        assert!(message(&[metadata(1, b"\0"), metadata(1, b"\0")]).contains("twice"));
    }
}
