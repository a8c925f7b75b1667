//! Drafts of tables, which are built while packets see the old table, and then replace it at once.

use super::chunks::Chunks;
use super::gradual::Gradual;
use super::index::{Index, Slab};
#[cfg(feature = "native")]
use super::recent::Recent;
use super::{Direct, TableState, Touched, hash_of};
use crate::pending::{Writable, Writes};
use std::collections::BTreeMap;
use std::mem::{swap, take};

/// The numbers of entries that were added or removed since a draft was begun. An entry has the same number in the table
/// and the draft, because they share its cells.
#[derive(Debug, Default)]
pub struct Changed {
    /// Free numbers of the table that the draft has taken.
    taken: Vec<u32>,
    /// Numbers of removed entries, which packets still hit.
    removed: Vec<u32>,
    /// The `sequence` of the first new entry.
    first: u64,
}

/// Appends one list of numbers to another, in the order that moves fewer.
fn append(numbers: &mut Vec<u32>, more: &mut Vec<u32>) {
    if numbers.len() < more.len() {
        swap(numbers, more);
    }
    numbers.append(more);
}

impl TableState {
    /// Creates a draft of this table without entries, which [`copy`](Self::copy) adds. Until the draft is published or
    /// discarded, this table must not change except for its cells.
    pub fn draft(&mut self) -> TableState {
        TableState {
            index: Index::new(&self.layout, self.by_priority()),
            slab: Slab::new(self.layout.words),
            key: self.key.clone(),
            masked: self.masked.clone(),
            layout: self.layout.clone(),
            rows: Chunks::default(),
            touched: Chunks::default(),
            outcomes: Chunks::default(),
            default: self.default.clone(),
            default_action: self.default_action.clone(),
            default_touched: Touched::default(),
            pending: BTreeMap::new(),
            profile: self.profile,
            plain: self.plain,
            objects: self.objects.clone(),
            free: take(&mut self.free),
            changed: Some(Changed {
                first: self.next_sequence,
                ..Changed::default()
            }),
            by_key: Gradual::default(),
            by_age: BTreeMap::new(),
            references: BTreeMap::new(),
            next_sequence: self.next_sequence,
            size: self.size,
            name: self.name.clone(),
            #[cfg(feature = "native")]
            recent: Recent::default(),
        }
    }

    /// Whether all entries of a table have been copied to this draft of it.
    pub fn has_copied(&self, table: &TableState) -> bool {
        self.rows.len() >= table.rows.len()
    }

    /// Copies the next entries of a table, at most `most`, to this draft of it.
    pub fn copy(&mut self, table: &TableState, most: usize) {
        let from = self.rows.len();
        let end = table.rows.len().min(from.saturating_add(most));
        for at in from..end {
            let (id, row) = (at as u32, table.rows[at].clone());
            self.outcomes.push(table.outcomes[at].clone());
            self.slab.set(id, table.slab.entries[at].clone());
            if let Some(row) = &row {
                self.index.insert(&self.slab, id);
                self.refer(&row.entry.action);
                self.by_age.insert(row.sequence, id);
            }
            let key = row
                .as_ref()
                .map(|row| hash_of(&row.entry.matches, row.entry.priority));
            self.rows.push(row);
            if let Some(key) = key {
                self.name_by_key(key, id);
            }
        }
    }

    /// Whether an entry of this draft is not in the table that packets see.
    pub fn is_new(&self, id: u32) -> bool {
        let first = self.changed.as_ref().map(|changed| changed.first);
        first.is_some_and(|first| self.row(id).sequence >= first)
    }

    /// Replaces this table with a draft, but keeps its cells. Afterwards, the draft holds data that can be dropped.
    pub fn publish(&mut self, draft: &mut TableState) {
        swap(self, draft);
        swap(&mut self.touched, &mut draft.touched);
        swap(&mut self.default_touched, &mut draft.default_touched);
        // Compiled code holds its address.
        #[cfg(feature = "native")]
        swap(&mut self.recent, &mut draft.recent);
        self.forget_recent();
        if let Some(mut changed) = self.changed.take() {
            append(&mut self.free, &mut changed.removed);
        }
    }

    /// Publishes these writes, which replace all deferred writes.
    pub fn publish_cells(&mut self, writes: Writes<Direct, Option<u32>>) {
        // The first packet that hits an entry carries out the writes to it.
        self.forget_recent();
        self.pending = writes;
    }

    /// Carries out at most `most` deferred writes to cells and subtracts their number from `most`. Returns whether none
    /// is left.
    pub fn settle_some(&mut self, most: &mut usize) -> bool {
        while *most > 0
            && let Some((of, write)) = self.pending.pop_first()
        {
            *most -= 1;
            self.stored_cells_mut(of).write(write);
        }
        self.pending.is_empty()
    }

    /// Discards a draft of this table.
    pub fn discard(&mut self, draft: &mut TableState) {
        if let Some(mut changed) = draft.changed.take() {
            swap(&mut self.free, &mut draft.free);
            append(&mut self.free, &mut changed.taken);
        }
    }

    /// Allocates a number for a new entry, which has no row yet.
    pub(super) fn take_number(&mut self) -> u32 {
        if let Some(id) = self.free.pop() {
            if let Some(changed) = &mut self.changed {
                changed.taken.push(id);
            }
            return id;
        }
        self.rows.push(None);
        self.outcomes.push(self.default.clone());
        self.rows.len() as u32 - 1
    }

    /// Frees the number of an entry that was removed.
    pub(super) fn give_number(&mut self, id: u32) {
        match &mut self.changed {
            Some(changed) => changed.removed.push(id),
            None => self.free.push(id),
        }
    }
}
