//! Match fields (specification, "Match Format").

use crate::bytestring::Shape;
use crate::fault::{Fault, Outcome, list};
use crate::model::{FieldModel, Kind};
use crate::proto::v1::FieldMatch;
use crate::proto::v1::field_match::{Exact, FieldMatchType, Lpm, Optional, Range, Ternary};
use engine::Match;
use num_bigint::BigUint;

/// Decodes a match for each field, in the engine's order. Omitted fields match anything.
pub fn decode(fields: &[FieldModel], given: &[FieldMatch]) -> Outcome<Vec<Match>> {
    let mut matches = vec![None; fields.len()];
    for one in given {
        let Some(at) = fields.iter().position(|field| field.id == one.field_id) else {
            let valid = fields.iter().map(|f| format!("{} ({})", f.name, f.id));
            return Err(Fault::invalid(format!(
                "there is no match field with the ID {}; valid: {}",
                one.field_id,
                list(valid)
            )));
        };
        let field = &fields[at];
        let place = || format!("match field `{}`", field.name);
        let decoded = decode_one(field, one.field_match_type.as_ref());
        let decoded = decoded.map_err(|fault| fault.at(place()))?;
        if matches[at].replace(decoded).is_some() {
            return Err(Fault::invalid("it is given twice").at(place()));
        }
    }
    let pairs = matches.into_iter().zip(fields);
    pairs
        .map(|(found, field)| match (found, field.kind) {
            (Some(found), _) => Ok(found),
            (None, Kind::Exact) => Err(Fault::invalid(format!(
                "match field `{}` ({}) is missing; an exact match cannot be left out",
                field.name, field.id
            ))),
            (None, _) => Ok(Match::Any),
        })
        .collect()
}

fn decode_one(field: &FieldModel, given: Option<&FieldMatchType>) -> Outcome<Match> {
    let width = field.shape.width;
    let number = |octets: &[u8]| field.shape.decode(octets).map_err(Fault::into_invalid);
    match (field.kind, given) {
        (Kind::Exact, Some(FieldMatchType::Exact(exact))) => {
            Ok(Match::Exact(number(&exact.value)?))
        }
        (Kind::Optional, Some(FieldMatchType::Optional(optional))) => {
            Ok(Match::Exact(number(&optional.value)?))
        }
        (Kind::Lpm, Some(FieldMatchType::Lpm(lpm))) => {
            let prefix = u32::try_from(lpm.prefix_len).unwrap_or(u32::MAX);
            if !(1..=width).contains(&prefix) {
                return Err(Fault::invalid(format!(
                    "expected a prefix length from 1 to {width}, found {} (to match anything, leave \
                     the field out)",
                    lpm.prefix_len
                )));
            }
            let value = number(&lpm.value)?;
            if value
                .trailing_zeros()
                .is_some_and(|zeros| zeros < u64::from(width - prefix))
            {
                return Err(Fault::invalid(format!(
                    "expected a value whose bits behind the first {prefix} are 0, found {value:#x}"
                )));
            }
            Ok(Match::Lpm { value, prefix })
        }
        (Kind::Ternary, Some(FieldMatchType::Ternary(ternary))) => {
            let value = number(&ternary.value)?;
            let mask = match field.whole.decode(&ternary.mask) {
                Ok(mask) if mask == ones(field.whole) => ones(field.shape),
                _ => number(&ternary.mask)?,
            };
            if mask == BigUint::ZERO {
                return Err(anything("a mask other than 0"));
            }
            if &value & &mask != value {
                return Err(Fault::invalid(format!(
                    "expected a value that is 0 where the mask {mask:#x} is, found {value:#x}"
                )));
            }
            Ok(Match::Ternary { value, mask })
        }
        (Kind::Range, Some(FieldMatchType::Range(range))) => {
            let (low, high) = (number(&range.low)?, number(&range.high)?);
            if low == BigUint::ZERO
                && high.bits() == u64::from(width)
                && high.count_ones() == u64::from(width)
            {
                return Err(anything("less than the whole range"));
            }
            if low > high {
                return Err(Fault::invalid(format!(
                    "expected low ≤ high, found {low:#x}..{high:#x}"
                )));
            }
            Ok(Match::Range { low, high })
        }
        (kind, _) => Err(Fault::invalid(format!("expected {}", expected(kind)))),
    }
}

fn anything(expected: &str) -> Fault {
    Fault::invalid(format!(
        "expected {expected} (to match anything, leave the field out)"
    ))
}

fn expected(kind: Kind) -> &'static str {
    match kind {
        Kind::Exact => "`exact`",
        Kind::Lpm => "`lpm`",
        Kind::Ternary => "`ternary`",
        Kind::Range => "`range`",
        Kind::Optional => "`optional`",
    }
}

/// A mask that selects all bits.
fn ones(shape: Shape) -> BigUint {
    (BigUint::from(1_u8) << shape.width) - 1_u8
}

/// Encodes the fields for a client. Fields that match anything are omitted.
pub fn encode(fields: &[FieldModel], matches: &[Match]) -> Vec<FieldMatch> {
    let pairs = fields.iter().zip(matches);
    pairs
        .filter_map(|(field, found)| {
            Some(FieldMatch {
                field_id: field.id,
                field_match_type: Some(encode_one(field, found)?),
            })
        })
        .collect()
}

fn encode_one(field: &FieldModel, found: &Match) -> Option<FieldMatchType> {
    let shape = field.shape;
    let octets = |number: &BigUint| shape.encode(number);
    let whole = || field.whole.encode(&ones(field.whole));
    Some(match (field.kind, found) {
        (_, Match::Any) => return None,
        (Kind::Exact, Match::Exact(value)) => FieldMatchType::Exact(Exact {
            value: octets(value),
        }),
        (Kind::Optional, Match::Exact(value)) => FieldMatchType::Optional(Optional {
            value: octets(value),
        }),
        (Kind::Lpm, Match::Exact(value)) => FieldMatchType::Lpm(Lpm {
            value: octets(value),
            prefix_len: shape.width as i32,
        }),
        (Kind::Range, Match::Exact(value)) => FieldMatchType::Range(Range {
            low: octets(value),
            high: octets(value),
        }),
        (_, Match::Exact(value)) => FieldMatchType::Ternary(Ternary {
            value: octets(value),
            mask: whole(),
        }),
        (_, Match::Lpm { value, prefix }) => FieldMatchType::Lpm(Lpm {
            value: octets(value),
            prefix_len: *prefix as i32,
        }),
        (_, Match::Ternary { value, mask }) => FieldMatchType::Ternary(Ternary {
            value: octets(value),
            mask: match *mask == ones(shape) {
                true => whole(),
                false => octets(mask),
            },
        }),
        (_, Match::Range { low, high }) => FieldMatchType::Range(Range {
            low: octets(low),
            high: octets(high),
        }),
    })
}
