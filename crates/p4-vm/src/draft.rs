//! Batches that packets see as a whole. Their tables and action profiles are built beside those that packets see, a
//! part between two packets, and then change places with them at once.

use crate::CounterData;
use crate::cells::Marker;
use crate::object::Profile;
use crate::table::TableState;
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
    /// What it writes to cells that packets change as well.
    pub writes: Vec<CellWrite>,
    /// Whether these configure a direct meter.
    pub meters: bool,
    /// Whether a control plane works on the draft, or else on what packets see.
    pub edited: bool,
}

/// A write to a cell, checked.
#[derive(Debug)]
pub enum CellWrite {
    /// A cell of a counter.
    Count(u32, u32, CounterData),
    /// A cell of a meter.
    Marker(u32, u32, Option<Box<Marker>>),
    /// The colours that a cell of a meter has counted.
    Colours(u32, u32),
    /// A word of a register.
    Word(u32, u32, u64),
    /// The direct counter of an entry of a table, or of the default.
    DirectCount(u32, Option<u32>, CounterData),
    /// The direct meter, likewise.
    DirectMarker(u32, Option<u32>, Option<Box<Marker>>),
    /// Its colours.
    DirectColours(u32, Option<u32>),
    /// All cells of a default.
    Default(u32),
    /// The members of a value set.
    ValueSet(u32, Box<Members>),
}

impl Draft {
    /// Whether a write is to the cells of an entry that packets do not see yet.
    pub fn is_unseen(&self, write: &CellWrite) -> bool {
        let (table, of) = match write {
            CellWrite::DirectCount(table, of, _)
            | CellWrite::DirectMarker(table, of, _)
            | CellWrite::DirectColours(table, of) => (table, *of),
            _ => return false,
        };
        let table = self.tables.get(table);
        table.zip(of).is_some_and(|(table, id)| table.is_new(id))
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
