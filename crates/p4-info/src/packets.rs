//! What switch and controller exchange besides entries: packet headers, digests; and value sets.

use crate::Builder;
use crate::annotations::{documentation, find, has, listed, member_ids, string};
use crate::proto::controller_packet_metadata::Metadata;
use crate::proto::p4_ids::Prefix;
use crate::proto::{ControllerPacketMetadata, Digest, MatchField, ValueSet, match_field};
use crate::tables::match_type;
use crate::types::flattened;
use p4_ir::{Annotation, AnnotationValue, Field, MatchKind, Type, TypeKind, control_plane_name};

impl Builder<'_> {
    pub(crate) fn digest(&mut self, name: &str, ty: &Type) {
        let preamble = self.preamble(Prefix::Digest, name, &[]);
        let known = |d: &Digest| d.preamble.as_ref() == Some(&preamble);
        if self.info.digests.iter().any(known) {
            return;
        }
        let type_spec = Some(self.types.spec(ty));
        self.info.digests.push(Digest {
            preamble: Some(preamble),
            type_spec,
        });
    }

    /// Headers of packet-in and packet-out.
    pub(crate) fn controller_headers(&mut self) {
        let program = self.program;
        for id in &program.controller_headers {
            let def = &program[*id];
            let TypeKind::Header(fields) = &def.kind else {
                continue;
            };
            if has(&def.annotations, "hidden") {
                continue;
            }
            let symbol = control_plane_name(&def.name, &def.annotations);
            let mut preamble = self.preamble(Prefix::ControllerHeader, &symbol, &def.annotations);
            preamble.name = string(&def.annotations, "controller_header").unwrap_or_default();
            preamble.alias = preamble.name.clone();
            let fields = flattened(program, fields);
            let annotations = fields.iter().map(|f| f.annotations.as_slice());
            let ids = member_ids(annotations, &preamble.name, def.loc, &mut self.errors);
            let mut metadata = Vec::new();
            for (field, id) in fields.iter().zip(ids) {
                if has(&field.annotations, "hidden") {
                    continue;
                }
                let (annotations, structured_annotations) = listed(&field.annotations, &[]);
                metadata.push(Metadata {
                    id,
                    name: field.name.clone(),
                    annotations,
                    bitwidth: self.types.width(field.ty),
                    type_name: self.types.mention(field.ty),
                    structured_annotations,
                    ..Default::default()
                });
            }
            self.info
                .controller_packet_metadata
                .push(ControllerPacketMetadata {
                    preamble: Some(preamble),
                    metadata,
                });
        }
    }

    pub(crate) fn value_set(&mut self, set: &p4_ir::ValueSet) {
        let program = self.program;
        let kind = match &set.element {
            Type::Named(id) => Some(&program[*id].kind),
            _ => None,
        };
        let matched = match kind {
            Some(TypeKind::Struct(fields)) => self.value_set_fields(set, fields),
            // p4c lists the enum's members.
            Some(TypeKind::SerialisableEnum(under, members)) => members
                .iter()
                .zip(1..)
                .map(|((name, _), id)| exact(id, name.clone(), under.width()))
                .collect(),
            _ if matches!(set.element, Type::Tuple(_)) => set
                .fields
                .iter()
                .zip(1..)
                .filter_map(|((_, ty, _), id)| Some((id, ty.scalar(program)?)))
                .map(|(id, scalar)| exact(id, String::new(), scalar.width()))
                .collect(),
            _ => {
                let scalar = set.element.scalar(program);
                let width = scalar.map_or(0, |s| s.width());
                vec![exact(1, String::new(), width)]
            }
        };
        let preamble = self.preamble(Prefix::ValueSet, &set.name, &set.annotations);
        self.info.value_sets.push(ValueSet {
            preamble: Some(preamble),
            r#match: matched,
            size: i32::try_from(set.size).unwrap_or(i32::MAX),
        });
    }

    fn value_set_fields(&mut self, set: &p4_ir::ValueSet, fields: &[Field]) -> Vec<MatchField> {
        let annotations = fields.iter().map(|f| f.annotations.as_slice());
        let ids = member_ids(annotations, &set.name, set.loc, &mut self.errors);
        let mut matched = Vec::new();
        for (field, id) in fields.iter().zip(ids) {
            let Some(scalar) = field.ty.scalar(self.program) else {
                continue;
            };
            let name = control_plane_name(&field.name, &field.annotations);
            let (annotations, structured_annotations) = listed(&field.annotations, &["match"]);
            matched.push(MatchField {
                annotations,
                structured_annotations,
                doc: documentation(&field.annotations),
                r#match: match_type(&field_match_kind(&field.annotations)),
                ..exact(id, name, scalar.width())
            });
        }
        matched
    }
}

/// The `@match` annotation of a value set's field.
fn field_match_kind(annotations: &[Annotation]) -> MatchKind {
    let said = find(annotations, "match").and_then(|a| a.values.first());
    match said {
        Some(AnnotationValue::Token(kind)) => match kind.as_str() {
            "lpm" => MatchKind::Lpm,
            "ternary" => MatchKind::Ternary,
            "range" => MatchKind::Range,
            "optional" => MatchKind::Optional,
            "exact" => MatchKind::Exact,
            other => MatchKind::Other(other.to_string()),
        },
        _ => MatchKind::Exact,
    }
}

fn exact(id: u32, name: String, width: u32) -> MatchField {
    MatchField {
        id,
        name,
        bitwidth: width as i32,
        r#match: Some(match_field::Match::MatchType(
            match_field::MatchType::Exact as i32,
        )),
        ..Default::default()
    }
}
