//! Entries that age, in the order in which they have to be looked at.

use crate::device::EntryKey;
use p4_ir::TableId;
use std::collections::BTreeMap;
use units::Instant;

/// When to look at an entry; entries of the same time have different numbers.
pub type Wake = (Instant, u64);

/// When to look at each entry that has an idle timeout. An entry that was hit meanwhile is put off, so
/// that a packet costs nothing here, and only entries that are due are looked at.
#[derive(Debug, Default)]
pub struct Aging {
    due: BTreeMap<Wake, (TableId, EntryKey)>,
    next: u64,
}

impl Aging {
    /// No entry ages.
    pub fn is_empty(&self) -> bool {
        self.due.is_empty()
    }

    /// Has an entry looked at then.
    pub fn schedule(&mut self, at: Instant, table: TableId, key: EntryKey) -> Wake {
        let wake = (at, self.next);
        self.next += 1;
        self.due.insert(wake, (table, key));
        wake
    }

    /// Does not look at an entry any more.
    pub fn cancel(&mut self, wake: Wake) {
        self.due.remove(&wake);
    }

    /// The next entry that has to be looked at by `now`.
    pub fn take_due(&mut self, now: Instant) -> Option<(TableId, EntryKey)> {
        let first = self.due.first_entry()?;
        (first.key().0 <= now).then(|| first.remove())
    }
}
