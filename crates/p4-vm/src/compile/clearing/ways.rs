//! Which instructions may follow one another.

use super::Subject;
use crate::code::*;
use std::collections::BTreeMap;

impl Subject<'_> {
    /// Where an instruction goes to, and whether the next one may follow it.
    pub fn successors(&self, op: Op) -> (Vec<Target>, bool) {
        match op {
            Op::Jmp { to } => (vec![to], false),
            Op::JmpZ { to, .. }
            | Op::JmpNz { to, .. }
            | Op::JmpEq { to, .. }
            | Op::JmpNe { to, .. }
            | Op::JmpLt { to, .. }
            | Op::JmpLe { to, .. }
            | Op::Step { to }
            | Op::Round { to, .. }
            | Op::InSet { to, .. } => (vec![to], true),
            Op::Jump { table, .. } => match &self.code.jumps[table as usize] {
                JumpTable::Dense {
                    targets, default, ..
                } => (targets.iter().chain([default]).copied().collect(), false),
                JumpTable::Sparse { cases, default } => {
                    let targets = cases.iter().map(|(_, to)| to);
                    (targets.chain([default]).copied().collect(), false)
                }
            },
            Op::Ret | Op::Halt | Op::Refuse | Op::Reject { .. } => (Vec::new(), false),
            _ => (Vec::new(), true),
        }
    }

    /// Code that an instruction has run before the next one.
    fn called(&self, op: Op) -> Vec<Target> {
        match op {
            Op::Call { to } => vec![to],
            Op::Apply { site } => {
                let table = self.code.sites[site as usize].table;
                let actions = self.code.tables[table as usize].actions.iter();
                let run = actions.filter(|action| !action.done);
                run.map(|action| action.entry).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The instructions of a block, each with whether it is of the block itself, and not only of what that calls.
    pub fn reached(&self, block: Target) -> BTreeMap<Target, bool> {
        let mut reached = BTreeMap::new();
        let mut left = vec![(block, true)];
        while let Some((at, own)) = left.pop() {
            let Some(&op) = self.code.ops.get(at as usize) else {
                continue;
            };
            match reached.get(&at) {
                Some(&known) if known || !own => continue,
                _ => reached.insert(at, own),
            };
            let (targets, goes_on) = self.successors(op);
            left.extend(
                targets
                    .into_iter()
                    .chain(goes_on.then_some(at + 1))
                    .map(|to| (to, own)),
            );
            left.extend(self.called(op).into_iter().map(|to| (to, false)));
        }
        reached
    }
}
