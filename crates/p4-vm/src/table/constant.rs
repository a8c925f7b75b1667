//! Entries written in the source.

use crate::{ActionSpec, CompileError, Entry, EntryAction, Match};
use num_bigint::BigUint;
use p4_ir::{
    AnnotationValue, Expr, ExprKind, KeyMatch, MatchKind, Program, SourceLoc, Table, TableId,
};

/// The entries of a table in the source, and whether one of them omits an exact key, so that the table must be looked
/// up by priority.
pub fn source_entries(
    program: &Program,
    id: TableId,
) -> Result<(Vec<(Entry, bool)>, bool), CompileError> {
    let table = &program[id];
    let mut ternary = false;
    let priorities = priorities(table);
    let mut entries = Vec::new();
    for (source, priority) in table.entries.iter().zip(priorities) {
        let mut matches = Vec::new();
        for (key, set) in table.keys.iter().zip(&source.matches) {
            if key.kind == MatchKind::Selector {
                continue;
            }
            let set = convert(set, key.value.ty.width(), source.loc)?;
            ternary |= key.kind == MatchKind::Exact && !matches!(set, Match::Exact(_));
            matches.push(match (&key.kind, set) {
                (MatchKind::Lpm, Match::Ternary { value, mask }) => {
                    prefix(value, &mask, key.value.ty.width(), source.loc)?
                }
                (_, set) => set,
            });
        }
        let listed = &table.actions[source.call.action as usize];
        let action = EntryAction::Run(ActionSpec {
            action: listed.action,
            args: source.call.args.clone(),
        });
        let constant = table.const_entries || source.is_const;
        entries.push((
            Entry {
                matches,
                priority,
                action,
            },
            constant,
        ));
    }
    Ok((entries, ternary))
}

/// The priorities of the entries, larger winning. An entry without a priority has that of the entry before it minus
/// `priority_delta` (plus, if the smallest wins). The first one is chosen such that the last one is 1 (P4_16,
/// 14.2.1.4).
fn priorities(table: &Table) -> Vec<u32> {
    if let Some(priorities) = annotated(table) {
        return priorities;
    }
    let delta = table
        .properties
        .iter()
        .find(|(name, _)| name == "priority_delta")
        .and_then(|(_, value)| match &value.kind {
            ExprKind::Const(value) => u64::try_from(value).ok(),
            _ => None,
        })
        .unwrap_or(1);
    let count = table.entries.len() as u64;
    let mut last = None;
    let mut priorities = Vec::new();
    for entry in &table.entries {
        let next = match (entry.priority, last) {
            (Some(own), _) => own,
            (None, Some(last)) if table.largest_priority_wins => delta.max(last) - delta,
            (None, Some(last)) => last + delta,
            (None, None) if table.largest_priority_wins => {
                count.saturating_sub(1).saturating_mul(delta) + 1
            }
            (None, None) => 1,
        };
        last = Some(next);
        let next = u32::try_from(next).unwrap_or(u32::MAX);
        priorities.push(match table.largest_priority_wins {
            true => next,
            false => u32::MAX - next,
        });
    }
    priorities
}

/// Priorities from p4c's older annotation `@priority(n)`: the smallest wins, and an entry without it has its position
/// in the list, from 1. `None` if no entry has the annotation.
fn annotated(table: &Table) -> Option<Vec<u32>> {
    let own = |entry: &p4_ir::Entry| {
        let annotation = entry.annotations.iter().find(|a| a.name == "priority")?;
        match annotation.values.first()? {
            AnnotationValue::Int(priority) => u32::try_from(priority).ok(),
            _ => None,
        }
    };
    table.entries.iter().find_map(own)?;
    let numbers = (1..)
        .zip(&table.entries)
        .map(|(place, entry)| own(entry).unwrap_or(place));
    Some(numbers.map(|number| u32::MAX - number).collect())
}

fn number(e: &Expr, loc: SourceLoc) -> Result<BigUint, CompileError> {
    match &e.kind {
        ExprKind::Const(value) => Ok(value.clone()),
        _ => Err(CompileError {
            loc,
            message: "a table entry's key must be known at compile time".into(),
        }),
    }
}

fn convert(set: &KeyMatch, width: u32, loc: SourceLoc) -> Result<Match, CompileError> {
    let ones = (BigUint::from(1u8) << width) - 1u8;
    Ok(match set {
        KeyMatch::Any => Match::Any,
        KeyMatch::Value(value) => Match::Exact(number(value, loc)?),
        KeyMatch::Range(low, high) => Match::range(number(low, loc)?, number(high, loc)?),
        KeyMatch::Mask(value, mask) => {
            let mask = number(mask, loc)?;
            let value = number(value, loc)? & &mask;
            match mask {
                mask if mask == ones => Match::Exact(value),
                mask if mask == BigUint::ZERO => Match::Any,
                mask => Match::Ternary { value, mask },
            }
        }
    })
}

fn prefix(
    value: BigUint,
    mask: &BigUint,
    width: u32,
    loc: SourceLoc,
) -> Result<Match, CompileError> {
    let prefix = mask.count_ones() as u32;
    if mask.trailing_zeros() != Some((width - prefix) as u64) {
        return Err(CompileError {
            loc,
            message: format!("an lpm key's mask must be a prefix of ones; {mask:#x} is not"),
        });
    }
    Ok(Match::Lpm { value, prefix })
}
