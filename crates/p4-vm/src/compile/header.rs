//! Layouts of headers: where their fields are in a packet and in storage.

use super::Compiler;
use crate::Architecture;
use crate::code::*;
use p4_ir::{Scalar, Type, TypeId, TypeKind};

impl<A: Architecture> Compiler<'_, A> {
    /// The number of a header type's layout.
    pub(super) fn header(&mut self, ty: TypeId) -> u32 {
        if let Some(&header) = self.headers.get(&ty) {
            return header;
        }
        let definition = &self.program[ty];
        let mut header = HeaderCode {
            name: definition.name.clone(),
            bits: 0,
            fields: Vec::new(),
            varbit: None,
            lanes: Vec::new(),
            parts: Vec::new(),
        };
        match &definition.kind {
            TypeKind::Header(_) => self.header_fields(&Type::Named(ty), 0, &mut header),
            _ => self.error(format!(
                "`{}` is not a header; only headers are extracted and emitted",
                definition.name
            )),
        }
        if self.code.headers.len() > usize::from(u16::MAX) {
            self.error("a program may have 65536 header types");
        }
        header.lanes = lanes(&header).unwrap_or_default();
        header.parts = parts(&header).unwrap_or_default();
        self.code.headers.push(header);
        let number = self.code.headers.len() as u32 - 1;
        self.headers.insert(ty, number);
        number
    }

    fn header_fields(&mut self, ty: &Type, word: u32, header: &mut HeaderCode) {
        for (offset, field) in self.members(ty) {
            self.field(&field.ty, word + offset, header);
        }
    }

    /// Adds a field of a header. The members of a struct or array are added one by one.
    fn field(&mut self, ty: &Type, word: u32, header: &mut HeaderCode) {
        let Some(scalar) = ty.scalar(self.program) else {
            let Type::Array(element, len) = ty else {
                return self.header_fields(ty, word, header);
            };
            let stride = self.storage.words(element);
            for i in 0..*len {
                self.field(element, word + i * stride, header);
            }
            return;
        };
        let width = scalar.width();
        self.check_width(scalar);
        if width == 0 {
            return;
        }
        let field = FieldCode {
            at: header.bits,
            width,
            word,
        };
        if !matches!(scalar, Scalar::Varbit(_)) {
            header.bits += width;
        } else if header.varbit.replace(header.fields.len()).is_some() {
            self.error(format!(
                "header `{}` has more than one varbit field",
                header.name
            ));
        }
        header.fields.push(field);
    }
}

/// The fields in the order of the packet. Each word of a wide field becomes a field.
fn words(header: &HeaderCode) -> impl Iterator<Item = FieldCode> {
    header.fields.iter().flat_map(|field| {
        let limbs = (0..field.width.div_ceil(64)).rev();
        limbs.map(|limb| {
            let below = 64 * limb;
            let width = (field.width - below).min(64);
            FieldCode {
                at: field.at + field.width - below - width,
                width,
                word: field.word + limb,
            }
        })
    })
}

/// How to read the fields from groups of eight octets, if every word of them fits into a group.
fn lanes(header: &HeaderCode) -> Option<Vec<Lane>> {
    let octets = header.bits as usize / 8;
    if header.varbit.is_some() || !header.bits.is_multiple_of(8) || octets > LANE_OCTETS {
        return None;
    }
    // The last group holds every field that begins in it.
    let last = (header.bits / 8).saturating_sub(8);
    let lane = |field: FieldCode| {
        let octet = (field.at / 8).min(last);
        let skip = field.at - 8 * octet;
        (skip + field.width <= 64).then(|| Lane {
            octet: octet as u8,
            skip: skip as u8,
            sh: (64 - field.width) as u8,
            word: field.word,
        })
    };
    words(header).map(lane).collect()
}

/// How to write the fields in groups of eight octets.
fn parts(header: &HeaderCode) -> Option<Vec<Part>> {
    let octets = header.bits as usize / 8;
    if header.varbit.is_some() || !header.bits.is_multiple_of(8) || octets > LANE_OCTETS {
        return None;
    }
    let mut parts: Vec<Part> = Vec::new();
    for field in words(header) {
        let end = field.at % 64 + field.width;
        let part = |up: u32, down: u32, last| Part {
            word: field.word,
            up: up as u8,
            down: down as u8,
            last,
        };
        if end <= 64 {
            parts.push(part(64 - end, 0, end == 64));
        } else {
            parts.push(part(0, end - 64, true));
            parts.push(part(128 - end, 0, false));
        }
    }
    parts.last_mut()?.last = true;
    Some(parts)
}
