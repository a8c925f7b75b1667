//! Which instructions may follow one another.

use super::Subject;
use crate::code::*;
use std::collections::BTreeMap;

impl Subject<'_> {
    /// Code that an instruction calls before the next instruction runs.
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

    /// The instructions reachable from a block, each with whether it belongs to the block itself rather than only to
    /// code that the block calls.
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
            let (targets, goes_on) = self.code.successors(op);
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
