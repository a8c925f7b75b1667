//! Fields of metadata by which a program asks for what the switch does not have.

use p4_ir::{Location, Program, SourceLoc, StmtKind};
use p4_vm::walk;

/// Fields of the metadata for a deparser, and what each asks for.
pub const FIELDS: [(&str, &str); 4] = [
    ("adv_flow_ctl", "advanced flow control"),
    ("coalesce_flush", "coalesced mirroring"),
    ("coalesce_length", "coalesced mirroring"),
    ("pktgen", "triggers of the packet generator in the deparser"),
];

/// Where a program writes a place, if it does.
pub fn write(program: &Program, place: &Location) -> Option<SourceLoc> {
    let mut found = None;
    for function in &program.functions {
        walk(&function.body, &mut |stmt| {
            let to = match &stmt.kind {
                StmtKind::Assign { to, .. } | StmtKind::AssignSlice { to, .. } => to,
                _ => return,
            };
            if to.at.overlaps(place) {
                found.get_or_insert(stmt.loc);
            }
        });
    }
    found
}
