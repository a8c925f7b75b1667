//! Aging entries, in the order in which they must be checked.

use crate::device::EntryKey;
use p4_ir::TableId;
use std::collections::BTreeMap;
use units::Instant;

/// When to check an entry. Entries with the same time have different numbers.
pub type Wake = (Instant, u64);

/// When to check each entry that has an idle timeout. The check of an entry that has been hit in the meantime is
/// postponed. Packets therefore cost nothing here, and only entries that are due are checked.
#[derive(Debug, Default)]
pub struct Aging {
    due: BTreeMap<Wake, (TableId, EntryKey)>,
    next: u64,
}

impl Aging {
    /// Whether no entry ages.
    pub fn is_empty(&self) -> bool {
        self.due.is_empty()
    }

    /// Schedules the check of an entry.
    pub fn schedule(&mut self, at: Instant, table: TableId, key: EntryKey) -> Wake {
        let wake = (at, self.next);
        self.next += 1;
        self.due.insert(wake, (table, key));
        wake
    }

    /// Cancels the check of an entry.
    pub fn cancel(&mut self, wake: Wake) {
        self.due.remove(&wake);
    }

    /// Removes and returns the next entry that must be checked by `now`.
    pub fn take_due(&mut self, now: Instant) -> Option<(TableId, EntryKey)> {
        let first = self.due.first_entry()?;
        (first.key().0 <= now).then(|| first.remove())
    }
}
