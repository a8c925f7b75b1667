//! Batches that packets see as a whole. Their tables and action profiles are built beside those that packets see, a
//! part between two packets, and then change places with them at once.

use crate::CounterData;
use crate::cells::{MeterCell, MeterWrite};
use crate::object::Profile;
use crate::pending::Writes;
use crate::table::{Direct, DirectWrite, TableState};
use crate::value_set::Members;
use p4_ir::{ExternId, TableId};
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};

/// What a batch changes.
#[derive(Clone, Debug, Default)]
pub struct DraftScope {
    /// Tables of which it changes entries or the default.
    pub tables: BTreeSet<TableId>,
    /// Action profiles of which it changes members or groups.
    pub profiles: BTreeSet<ExternId>,
    /// Whether it changes multicast groups or clone sessions.
    pub replication: bool,
}

/// What a draft has replaced, or was. To drop it takes time that packets need not wait.
pub type Remains = Box<dyn Any + Send>;

/// What a batch has changed so far.
#[derive(Debug)]
pub struct Draft {
    pub tables: BTreeMap<u32, TableState>,
    pub profiles: BTreeMap<u32, Profile>,
    pub writes: DraftWrites,
    /// Whether a control plane works on the draft, or else on what packets see.
    pub edited: bool,
}

/// What a batch writes to cells that packets change as well, and to value sets; by object, table or set.
#[derive(Debug, Default)]
pub struct DraftWrites {
    pub counters: BTreeMap<u32, Writes<CounterData>>,
    pub meters: BTreeMap<u32, Writes<MeterCell>>,
    pub registers: BTreeMap<u32, Writes<u64>>,
    pub direct: BTreeMap<u32, Writes<Direct, Option<u32>>>,
    pub value_sets: BTreeMap<u32, Members>,
}

/// A write to a cell or a value set, checked.
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

/// Where published writes wait.
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

    /// Whether something is written to the direct cells of an entry or of a default.
    pub fn has_direct(&self, table: u32, of: Option<u32>) -> bool {
        let writes = self.direct.get(&table);
        writes.is_some_and(|writes| writes.contains_key(&of))
    }
}

/// Copies at most `most` items of a map to another, which has those before; whether that was the last.
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
