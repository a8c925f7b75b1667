//! Metadata fields with which a program requests features that the switch does not have.

use p4_ir::{BlockBody, Location, Program, SourceLoc, StmtKind};
use p4_vm::walk;

/// Fields of the deparser metadata, and the feature that each requests.
pub const FIELDS: [(&str, &str); 3] = [
    ("adv_flow_ctl", "advanced flow control"),
    ("coalesce_flush", "coalesced mirroring"),
    ("coalesce_length", "coalesced mirroring"),
];

/// Where a program writes to a place, if it does.
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

/// Where a control calls an extern, if it does.
pub fn call(program: &Program, body: &BlockBody, name: &str) -> Option<SourceLoc> {
    let BlockBody::Control(function) = *body else {
        return None;
    };
    let mut found = None;
    walk(&program[function].body, &mut |stmt| match &stmt.kind {
        StmtKind::Extern(call) if call.name == name => {
            found.get_or_insert(stmt.loc);
        }
        _ => {}
    });
    found
}
