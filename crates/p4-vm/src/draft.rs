//! Batches that become visible to packets as a whole. Their tables and action profiles are built separately from those that
//! packets see, incrementally between packets, and then swapped in at once.

use crate::CounterData;
use crate::cells::{MeterCell, MeterWrite};
use crate::object::Profile;
use crate::pending::Writes;
use crate::table::{Direct, DirectWrite, TableState};
use crate::value_set::Members;
use p4_ir::{ExternId, TableId};
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};

/// The scope of a batch: what it may change.
#[derive(Clone, Debug, Default)]
pub struct DraftScope {
    /// Tables whose entries or default it changes.
    pub tables: BTreeSet<TableId>,
    /// Action profiles whose members or groups it changes.
    pub profiles: BTreeSet<ExternId>,
    /// Whether it changes multicast groups or clone sessions.
    pub replication: bool,
}

/// Data that a draft has replaced, or a discarded draft. Dropping it takes time; packets need not wait for that.
pub type Remains = Box<dyn Any + Send>;

/// The changes of a batch so far.
#[derive(Debug)]
pub struct Draft {
    pub tables: BTreeMap<u32, TableState>,
    pub profiles: BTreeMap<u32, Profile>,
    pub writes: DraftWrites,
    /// Whether a control plane edits the draft rather than the state that packets see.
    pub edited: bool,
}

/// Writes of a batch to value sets and to cells that packets also change, by object, table or set.
#[derive(Debug, Default)]
pub struct DraftWrites {
    pub counters: BTreeMap<u32, Writes<CounterData>>,
    pub meters: BTreeMap<u32, Writes<MeterCell>>,
    pub registers: BTreeMap<u32, Writes<u64>>,
    pub direct: BTreeMap<u32, Writes<Direct, Option<u32>>>,
    pub value_sets: BTreeMap<u32, Members>,
}

/// A checked write to a cell or a value set.
#[derive(Debug)]
pub enum CellWrite {
    /// To a cell of a counter.
    Count(u32, u32, CounterData),
    /// To a cell of a meter.
    Meter(u32, u32, MeterWrite),
    /// To a word of a register.
    Word(u32, u32, u64),
    /// To the direct cells of an entry of a table, or of the default.
    Direct(u32, Option<u32>, DirectWrite),
    /// The members of a value set.
    ValueSet(u32, Box<Members>),
}

/// Where published writes are still deferred.
#[derive(Clone, Copy, Debug)]
pub enum Unsettled {
    Object(u32),
    Table(u32),
}

impl Draft {
    /// Whether a write is to the cells of an entry that packets do not see yet.
    pub fn is_unseen(&self, write: &CellWrite) -> bool {
        let &CellWrite::Direct(table, Some(id), _) = write else {
            return false;
        };
        let table = self.tables.get(&table);
        table.is_some_and(|table| table.is_new(id))
    }
}

impl DraftWrites {
    /// Adds a write.
    pub fn add(&mut self, write: CellWrite) {
        match write {
            CellWrite::Count(object, at, data) => {
                self.counters.entry(object).or_default().insert(at, data);
            }
            CellWrite::Meter(object, at, write) => {
                let writes = self.meters.entry(object).or_default();
                writes.entry(at).or_default().then(write);
            }
            CellWrite::Word(object, at, word) => {
                self.registers.entry(object).or_default().insert(at, word);
            }
            CellWrite::Direct(table, of, write) => {
                let writes = self.direct.entry(table).or_default();
                writes.entry(of).or_default().then(write);
            }
            CellWrite::ValueSet(set, members) => {
                self.value_sets.insert(set, *members);
            }
        }
    }

    /// Whether there is a write to the direct cells of an entry or of a default.
    pub fn has_direct(&self, table: u32, of: Option<u32>) -> bool {
        let writes = self.direct.get(&table);
        writes.is_some_and(|writes| writes.contains_key(&of))
    }
}

/// Copies at most `most` items of a map to another map, which holds all items before them. Returns whether the copy is
/// complete.
pub fn copy_some<K: Copy + Ord, V: Clone>(
    from: &BTreeMap<K, V>,
    to: &mut BTreeMap<K, V>,
    most: usize,
) -> bool {
    use std::ops::Bound::{Excluded, Unbounded};
    let last = to
        .last_key_value()
        .map_or(Unbounded, |(&key, _)| Excluded(key));
    let mut rest = from.range((last, Unbounded));
    for (&key, value) in rest.by_ref().take(most) {
        to.insert(key, value.clone());
    }
    rest.next().is_none()
}
