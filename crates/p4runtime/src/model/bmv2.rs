//! Completes programs in p4c's BMv2 JSON with information that only the P4Info has: which ternary keys are `optional`
//! in the source, and which headers are controller headers.

use num_bigint::BigUint;
use p4_info::proto::controller_packet_metadata::Metadata;
use p4_info::proto::match_field::{Match, MatchType};
use p4_info::proto::{MatchField, P4Info};
use p4_ir::{
    Annotation, AnnotationValue, ExprKind, KeyMatch, MatchKind, Program, Table, TypeDef, TypeKind,
};

/// Completes a program that was read from JSON. Parts that do not match are left unchanged, and reported when the
/// P4Info is bound to the program.
pub fn complete(program: &mut Program, p4info: &P4Info) {
    for listed in &p4info.tables {
        let name = listed.preamble.as_ref().map(|preamble| &preamble.name);
        let mut tables = program.tables.iter_mut();
        if let Some(table) = tables.find(|table| Some(&table.name) == name) {
            optional_keys(table, &listed.match_fields);
        }
    }
    for listed in &p4info.controller_packet_metadata {
        if let Some(preamble) = &listed.preamble {
            controller_header(program, &preamble.name, &listed.metadata);
        }
    }
}

/// p4c writes an optional key as a ternary one whose masks are either all ones or zero.
fn optional_keys(table: &mut Table, listed: &[MatchField]) {
    let optional = Some(Match::MatchType(MatchType::Optional as i32));
    for (at, key) in table.keys.iter_mut().enumerate() {
        let mut fields = listed.iter();
        let is_it = |field: &MatchField| field.name == key.name && field.r#match == optional;
        if key.kind != MatchKind::Ternary || !fields.any(is_it) {
            continue;
        }
        let ones = (BigUint::from(1_u8) << key.value.ty.width()) - 1_u8;
        let sets = table.entries.iter().map(|entry| &entry.matches[at]);
        let Some(sets) = sets.map(|set| value_or_any(set, &ones)).collect() else {
            continue;
        };
        let sets: Vec<_> = sets;
        key.kind = MatchKind::Optional;
        for (entry, set) in table.entries.iter_mut().zip(sets) {
            entry.matches[at] = set;
        }
    }
}

fn value_or_any(set: &KeyMatch, ones: &BigUint) -> Option<KeyMatch> {
    match set {
        KeyMatch::Mask(value, mask) => match &mask.kind {
            ExprKind::Const(mask) if mask == ones => Some(KeyMatch::Value(value.clone())),
            ExprKind::Const(mask) if *mask == BigUint::ZERO => Some(KeyMatch::Any),
            _ => None,
        },
        KeyMatch::Value(_) | KeyMatch::Any => Some(set.clone()),
        _ => None,
    }
}

/// Annotates the header that has the listed fields: all of them in this order, and the fewest other fields (padding may
/// not be listed).
fn controller_header(program: &mut Program, name: &str, listed: &[Metadata]) {
    let found = program.types.iter().enumerate().filter_map(|(at, ty)| {
        let others = others(program, ty, listed)?;
        Some((others, at))
    });
    let Some((_, at)) = found.min() else { return };
    program.types[at].annotations.push(Annotation {
        name: "controller_header".into(),
        values: vec![AnnotationValue::String(name.into())],
        ..Annotation::default()
    });
}

/// How many fields a header has besides the listed ones. `None` if it lacks one of them.
fn others(program: &Program, ty: &TypeDef, listed: &[Metadata]) -> Option<usize> {
    let TypeKind::Header(fields) = &ty.kind else {
        return None;
    };
    let mut rest = fields.iter();
    let all_there = listed.iter().all(|metadata| {
        rest.any(|field| {
            let width = field.ty.scalar(program).map_or(0, p4_ir::Scalar::width);
            let fits = metadata.type_name.is_some() || metadata.bitwidth as u32 == width;
            field.name == metadata.name && fits
        })
    });
    all_there.then(|| fields.len() - listed.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Kind, Model};
    use p4_frontend::{NoLoader, SourceMap};

    const SOURCE: &str = include_str!("../../../../tests/p4/entities.p4");

    fn program(source: &str) -> Program {
        let mut sources = SourceMap::new();
        let entry = sources.add("test.p4", source);
        let (program, _) = p4_frontend::compile(&mut sources, entry, &mut NoLoader, &[]);
        program.unwrap()
    }

    /// The program as its JSON describes it, with an entry in the source.
    fn from_json(set: &str) -> (Program, P4Info) {
        let entries = format!(
            "default_action = NoAction(); const entries = {{ (_, _, {set}) : NoAction(); }}"
        );
        let source = SOURCE.replacen("default_action = NoAction();", &entries, 1);
        let p4info = p4_info::p4info(&program(&source.replace(set, "_"))).unwrap();
        let mut program = program(&source.replace(": optional", ": ternary"));
        for ty in &mut program.types {
            ty.annotations.clear();
        }
        (program, p4info)
    }

    #[test]
    fn p4info_completes_the_program() {
        let (mut program, p4info) = from_json("7 &&& 0xff");
        assert!(Model::new(p4info.clone(), &program).is_err());
        complete(&mut program, &p4info);
        let model = Model::new(p4info, &program).unwrap();
        let mut tables = model.tables.values();
        let table = tables.find(|table| table.name.ends_with("classify"));
        let table = table.unwrap();
        assert_eq!(table.fields[2].kind, Kind::Optional);
        let entry = &program.tables[table.table.0 as usize].entries[0];
        assert!(matches!(entry.matches[2], KeyMatch::Value(_)));
        let (header, _) = (model.packet_in.unwrap(), model.packet_out.unwrap());
        assert_eq!(header.unpack(b"\x01\x80").unwrap().0[0].value, b"\x03");
    }

    #[test]
    fn a_key_with_other_masks_was_not_optional() {
        let (mut program, p4info) = from_json("6 &&& 0xfe");
        complete(&mut program, &p4info);
        let message = Model::new(p4info, &program).unwrap_err().message;
        assert!(message.contains("matches `class` by TERNARY"), "{message}");
    }
}
