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
    // With keys of other kinds, an lpm key is matched in a TCAM, like a ternary one.
    let prefixes = table.keys.iter().filter(|key| key.kind == MatchKind::Lpm);
    if prefixes.count() > 1 {
        let message = format!(
            "table `{}` has several `lpm` keys; Tofino matches one by longest prefix",
            table.name
        );
        let help = "make all but one `ternary`, and give longer prefixes a higher priority";
        report.add(table.loc, "lpm-key", message, help);
    }
}
