//! Annotations: names and IDs they give, documentation, and how those without a field of their own are listed.

use crate::Error;
use crate::proto::structured_annotation::Body;
use crate::proto::{
    Documentation, Expression, ExpressionList, KeyValuePair, KeyValuePairList,
    StructuredAnnotation, expression,
};
use p4_ir::{Annotation, AnnotationValue, SourceLoc};
use std::collections::BTreeSet;

/// Annotations that P4Info has fields for.
const OWN_FIELDS: [&str; 4] = ["name", "id", "brief", "description"];
/// Annotations whose arguments are expressions, separated by commas.
const EXPRESSION_LISTS: [&str; 3] = ["synchronous", "field_list", "command_line"];

/// The first annotation of that name.
pub(crate) fn find<'a>(annotations: &'a [Annotation], name: &str) -> Option<&'a Annotation> {
    annotations.iter().find(|a| a.name == name)
}

pub(crate) fn has(annotations: &[Annotation], name: &str) -> bool {
    find(annotations, name).is_some()
}

/// The string that an annotation holds.
pub(crate) fn string(annotations: &[Annotation], name: &str) -> Option<String> {
    find(annotations, name)?.string()
}

/// The number that an annotation holds.
pub(crate) fn number<N: for<'a> TryFrom<&'a num_bigint::BigInt>>(
    annotations: &[Annotation],
    name: &str,
) -> Option<N> {
    match find(annotations, name)?.values.first()? {
        AnnotationValue::Int(value) => N::try_from(value).ok(),
        _ => None,
    }
}

/// What `@id` says.
pub(crate) fn id(annotations: &[Annotation]) -> Option<u32> {
    number(annotations, "id")
}

/// What `@brief` and `@description` say.
pub(crate) fn documentation(annotations: &[Annotation]) -> Option<Documentation> {
    let brief = string(annotations, "brief");
    let description = string(annotations, "description");
    (brief.is_some() || description.is_some()).then(|| Documentation {
        brief: brief.unwrap_or_default(),
        description: description.unwrap_or_default(),
    })
}

/// The annotations as P4Info lists them, plain and structured, without those of its fields and those named `without`.
pub(crate) fn listed(
    annotations: &[Annotation],
    without: &[&str],
) -> (Vec<String>, Vec<StructuredAnnotation>) {
    let mut plain = Vec::new();
    let mut structured = Vec::new();
    for annotation in annotations {
        let name = annotation.name.as_str();
        if annotation.structured {
            structured.push(structure(annotation));
        } else if !OWN_FIELDS.contains(&name) && !without.contains(&name) {
            plain.push(written(annotation));
        }
    }
    (plain, structured)
}

/// `@name(tokens)`, tokens apart.
fn written(annotation: &Annotation) -> String {
    if annotation.tokens.is_empty() {
        return format!("@{}", annotation.name);
    }
    let mut body = annotation.tokens.join(" ");
    if EXPRESSION_LISTS.contains(&annotation.name.as_str()) {
        body = body.replace(" ,", ",");
    }
    format!("@{}({body})", annotation.name)
}

fn structure(annotation: &Annotation) -> StructuredAnnotation {
    let mut expressions = Vec::new();
    let mut kv_pairs = Vec::new();
    for value in &annotation.values {
        match value {
            AnnotationValue::Pair(key, value) => kv_pairs.push(KeyValuePair {
                key: key.clone(),
                value: Some(expression(value)),
            }),
            value => expressions.push(expression(value)),
        }
    }
    let body = match (expressions.is_empty(), kv_pairs.is_empty()) {
        (true, true) => None,
        (_, true) => Some(Body::ExpressionList(ExpressionList { expressions })),
        (_, false) => Some(Body::KvPairList(KeyValuePairList { kv_pairs })),
    };
    StructuredAnnotation {
        name: annotation.name.clone(),
        body,
        source_location: None,
    }
}

fn expression(value: &AnnotationValue) -> Expression {
    let value = match value {
        AnnotationValue::String(text) | AnnotationValue::Token(text) => {
            expression::Value::StringValue(text.clone())
        }
        AnnotationValue::Int(value) => match i64::try_from(value) {
            Ok(value) => expression::Value::Int64Value(value),
            Err(_) => expression::Value::StringValue(value.to_string()),
        },
        AnnotationValue::Bool(value) => expression::Value::BoolValue(*value),
        AnnotationValue::Pair(_, value) => return expression(value),
    };
    Expression { value: Some(value) }
}

/// IDs of match fields, parameters or members: what `@id` says, else the first number from 1 that is free, where one
/// with `@id` counts as a number gone by.
pub(crate) fn member_ids<'a>(
    members: impl Iterator<Item = &'a [Annotation]>,
    of: &str,
    loc: SourceLoc,
    errors: &mut Vec<Error>,
) -> Vec<u32> {
    let given: Vec<Option<u32>> = members.map(id).collect();
    let mut taken = BTreeSet::new();
    for id in given.iter().flatten() {
        let fault = match (*id, taken.insert(*id)) {
            (0, _) => "0 is not a valid `@id`",
            (_, false) => "the same `@id` is given twice",
            _ => continue,
        };
        let message = format!("{fault} in `{of}`");
        errors.push(Error { message, loc });
    }
    let mut next = 1;
    let mut ids = Vec::new();
    for id in given {
        ids.push(match id {
            Some(id) => {
                next += 1;
                id
            }
            None => {
                while !taken.insert(next) {
                    next += 1;
                }
                next
            }
        });
    }
    ids
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_id(id: Option<u32>) -> Vec<Annotation> {
        let annotation = |id: u32| Annotation {
            name: "id".into(),
            values: vec![AnnotationValue::Int(id.into())],
            ..Annotation::default()
        };
        id.into_iter().map(annotation).collect()
    }

    fn ids(given: &[Option<u32>]) -> (Vec<u32>, Vec<String>) {
        let members: Vec<_> = given.iter().map(|id| with_id(*id)).collect();
        let mut errors = Vec::new();
        let members = members.iter().map(Vec::as_slice);
        let ids = member_ids(members, "t", SourceLoc::default(), &mut errors);
        (ids, errors.into_iter().map(|e| e.message).collect())
    }

    #[test]
    fn members_without_id_are_numbered_around_those_that_have_one() {
        assert_eq!(ids(&[None, None, None]).0, [1, 2, 3]);
        assert_eq!(ids(&[Some(2), None, None]).0, [2, 3, 4]);
        assert_eq!(ids(&[None, Some(1), None]).0, [2, 1, 3]);
    }

    #[test]
    fn ids_of_members_are_unique_and_not_zero() {
        assert_eq!(
            ids(&[Some(3), Some(3), Some(0)]).1,
            [
                "the same `@id` is given twice in `t`",
                "0 is not a valid `@id` in `t`"
            ]
        );
    }

    #[test]
    fn tokens_are_written_apart() {
        let annotation = Annotation {
            name: "mark".into(),
            tokens: ["\"a\"", ",", "0x10"].map(String::from).to_vec(),
            ..Annotation::default()
        };
        assert_eq!(listed(&[annotation], &[]).0, ["@mark(\"a\" , 0x10)"]);
    }
}
