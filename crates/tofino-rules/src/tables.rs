//! What a table's keys may be.

use crate::Report;
use p4_ir::{MatchKind, Table};

/// A range is matched in nibbles, five of which a TCAM's row has.
const MAX_RANGE_BITS: u32 = 20;

pub fn check(table: &Table, report: &mut Report) {
    for key in &table.keys {
        let width = key.value.ty.width();
        if key.kind == MatchKind::Range && width > MAX_RANGE_BITS {
            let message = format!(
                "`{}` is a range key of {width} bits; Tofino matches ranges of at most {MAX_RANGE_BITS}",
                key.name
            );
            let help = "scale or slice the value, as in `value[27:8] : range`, or match it by `ternary` or `lpm`";
            report.add(key.loc, "range-key", message, help);
        }
    }
    let kinds = || table.keys.iter().map(|key| &key.kind);
    let prefixes = kinds().filter(|kind| **kind == MatchKind::Lpm).count();
    let other = kinds().any(|kind| matches!(kind, MatchKind::Ternary | MatchKind::Range));
    if prefixes > 1 || (prefixes > 0 && other) {
        let with = if prefixes > 1 {
            "another `lpm` key"
        } else {
            "`ternary` or `range` keys"
        };
        let message = format!(
            "table `{}` has an `lpm` key beside {with}; on Tofino only `exact` keys may stand beside one",
            table.name
        );
        let help = "make it `ternary`, and give longer prefixes a higher priority";
        report.add(table.loc, "lpm-key", message, help);
    }
}
