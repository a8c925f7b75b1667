//! The header of packets to and from the controller (`@controller_header`).

use super::Translations;
use crate::bytestring::Shape;
use crate::fault::{Fault, Outcome, list};
use crate::proto::v1::PacketMetadata;
use num_bigint::BigUint;
use p4_info::flattened;
use p4_info::proto::controller_packet_metadata::Metadata;
use p4_ir::{AnnotationValue, Program, TypeKind};

/// The layout of such a header, from the program, because P4Info may omit padding.
#[derive(Debug)]
pub struct PacketHeader {
    name: String,
    /// In the order on the wire.
    fields: Vec<Field>,
}

#[derive(Debug)]
struct Field {
    /// The name in P4Info. It is dotted within a struct.
    name: String,
    /// Its width in the header, in bits.
    width: u32,
    /// Its encoding for clients.
    shape: Shape,
    /// `None` for padding that P4Info omits.
    id: Option<u32>,
}

impl PacketHeader {
    /// The header that the program names `packet_in` or `packet_out`.
    pub fn new(
        program: &Program,
        name: &str,
        listed: &[Metadata],
        translations: Translations<'_>,
    ) -> Outcome<Self> {
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
        for member in flattened(program, members) {
            let width = member.ty.scalar(program).map_or(0, p4_ir::Scalar::width);
            let mut field = Field {
                shape: Shape::bits(width),
                id: None,
                width,
                name: member.name,
            };
            if let Some(metadata) = listed.iter().find(|listed| listed.name == field.name) {
                let type_name = metadata.type_name.as_ref();
                let shape = translations.shape(type_name, metadata.bitwidth, field.shape);
                let differs =
                    |differs| format!("field `{}` of header `{name}` {differs}", field.name);
                field.shape = shape.map_err(|fault| Fault::invalid(differs(fault)))?;
                field.id = Some(metadata.id);
            }
            fields.push(field);
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
        Ok(header)
    }

    /// Builds a packet from the header fields of a client and the payload. Padding and the unused bits of the last
    /// octet are zero.
    pub fn pack(&self, metadata: &[PacketMetadata], payload: &[u8]) -> Outcome<Vec<u8>> {
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
            let value = field.shape.decode(&given.value);
            bits |= value.map_err(|fault| fault.at(format!("metadata `{}`", field.name)))?;
        }
        let skew = self.bits() % 8;
        let mut packet = vec![0; self.bits().div_ceil(8) as usize];
        let header = (bits << ((8 - skew) % 8)).to_bytes_be();
        if let Some(from) = packet.len().checked_sub(header.len()) {
            packet[from..].copy_from_slice(&header);
        }
        if skew == 0 {
            packet.extend_from_slice(payload);
            return Ok(packet);
        }
        let last = packet.len() - 1;
        packet.resize(packet.len() + payload.len(), 0);
        for (at, octet) in (last..).zip(payload) {
            packet[at] |= octet >> skew;
            packet[at + 1] = octet << (8 - skew);
        }
        Ok(packet)
    }

    /// The fields of the header, and the octets behind it. `None` if the packet is too short.
    pub fn unpack(&self, packet: &[u8]) -> Option<(Vec<PacketMetadata>, Vec<u8>)> {
        let skew = self.bits() % 8;
        let (header, behind) = packet.split_at_checked(self.bits().div_ceil(8) as usize)?;
        let bits = BigUint::from_bytes_be(header) >> ((8 - skew) % 8);
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
                value: field.shape.encode(&value),
            });
        }
        let payload = match skew {
            0 => behind.to_vec(),
            _ => packet[header.len() - 1..]
                .windows(2)
                .map(|pair| pair[0] << skew | pair[1] >> (8 - skew))
                .collect(),
        };
        Some((metadata, payload))
    }

    fn bits(&self) -> u32 {
        self.fields.iter().map(|field| field.width).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> PacketHeader {
        let field = |name: &str, width, id| Field {
            name: name.into(),
            width,
            shape: Shape::bits(width),
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
        let packet = header().pack(&given, b"payload").unwrap();
        assert_eq!(packet, b"\x81\x0apayload");
        let expected = (given.to_vec(), b"payload".to_vec());
        assert_eq!(header().unpack(&packet), Some(expected));
        assert!(header().unpack(b"\x01").is_none());
    }

    // p4runtime: packet-in, packet-out
    #[test]
    fn a_payload_may_begin_within_an_octet() {
        for (bits, octets) in [(1, 3), (7, 3), (9, 4), (18, 5), (0, 2)] {
            let header = PacketHeader {
                name: "packet_in".into(),
                fields: vec![Field {
                    name: "port".into(),
                    width: bits,
                    shape: Shape::bits(bits),
                    id: Some(1),
                }],
            };
            let given = [metadata(1, &[u8::from(bits > 0)])];
            let packet = header.pack(&given, b"\xc3\x5a").unwrap();
            assert_eq!(packet.len(), octets, "{bits} bits");
            let expected = (given.to_vec(), b"\xc3\x5a".to_vec());
            assert_eq!(header.unpack(&packet), Some(expected), "{bits} bits");
        }
    }

    #[test]
    fn metadata_must_be_what_p4info_lists() {
        let message = |given: &[PacketMetadata]| header().pack(given, &[]).unwrap_err().message;
        assert!(message(&[metadata(1, b"\x01")]).contains("`class`"));
        assert!(message(&[metadata(7, b"\x01")]).contains("port (1), class (2)"));
        assert!(message(&[metadata(1, b"\x02\0"), metadata(2, b"\0")]).contains("9 bits"));
        assert!(message(&[metadata(1, b"\0"), metadata(1, b"\0")]).contains("twice"));
    }
}
