//! Look-up of an entry by a packed key: arrays, hashes, prefixes, masks.
//!
//! An index holds numbers of entries. Their packed values are in one slab, `words` words for each entry.

use super::chunks::Chunks;
use super::gradual::Gradual;
use super::key::KeyLayout;
use super::prefixes::Prefixes;
use super::tuples::Tuples;
use foldhash::fast::FixedState;
use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;

/// The number that stands for no entry.
pub const NO_ENTRY: u32 = u32::MAX;

/// The widest key, in bits, that is looked up in an array.
const ARRAY_BITS: u32 = 12;

/// Number of entries whose packed values share a vector. It is small, so that packets do not wait while the vector
/// grows.
const VALUES: usize = 1 << 10;

/// The data of an entry that an index needs.
#[derive(Clone, Debug, Default)]
pub struct Indexed {
    /// Its packed value. Bits outside the mask are zero.
    pub value: Vec<u64>,
    /// The bits that count.
    pub mask: Vec<u64>,
    /// Length of its prefix, in tables that have one lpm key.
    pub prefix: u32,
    /// Larger ranks win. No two entries have the same rank.
    pub rank: u64,
    /// Bounds of range fields: index of the field, smallest and largest value.
    pub ranges: Vec<(usize, Vec<u64>, Vec<u64>)>,
}

/// The data of all entries that indices need.
#[derive(Debug, Default)]
pub struct Slab {
    pub entries: Chunks<Arc<Indexed>>,
    /// Packed values of [`VALUES`] entries per chunk, `words` words for each entry.
    values: Vec<Vec<u64>>,
    words: usize,
}

impl Slab {
    pub fn new(words: usize) -> Self {
        Slab {
            words,
            ..Slab::default()
        }
    }

    /// Sets the data of an entry, which exists or is the next one.
    pub fn set(&mut self, id: u32, indexed: impl Into<Arc<Indexed>>) {
        let indexed = indexed.into();
        let at = id as usize;
        let (chunk, place) = (at / VALUES, at % VALUES * self.words);
        if chunk == self.values.len() {
            self.values.push(Vec::new());
        }
        let values = &mut self.values[chunk];
        values.resize(values.len().max(place + self.words), 0);
        values[place..][..self.words].copy_from_slice(&indexed.value);
        match at < self.entries.len() {
            true => self.entries[at] = indexed,
            false => self.entries.push(indexed),
        }
    }

    #[inline]
    pub fn value(&self, id: u32) -> &[u64] {
        let at = id as usize;
        &self.values[at / VALUES][at % VALUES * self.words..][..self.words]
    }
}

#[inline]
pub fn hash(words: &[u64]) -> u64 {
    let mut hasher = FixedState::with_seed(0).build_hasher();
    // Most keys have one word. Outside of a loop, the hasher then becomes a multiplication.
    if let &[word] = words {
        hasher.write_u64(word);
        return hasher.finish();
    }
    for &word in words {
        hasher.write_u64(word);
    }
    hasher.finish()
}

/// Entries, hashed by their packed value.
pub type Hashed = Gradual<u32>;

#[inline]
pub fn find(table: &Hashed, slab: &Slab, key: &[u64]) -> Option<u32> {
    let found = table.find(hash(key), |&id| same(slab.value(id), key));
    found.copied()
}

/// Whether two keys are equal. Most have one word, for which a call of `memcmp` is too slow.
#[inline]
pub fn same(a: &[u64], b: &[u64]) -> bool {
    match (a, b) {
        ([a], [b]) => a == b,
        _ => a == b,
    }
}

/// The index of a table.
#[derive(Debug)]
pub enum Index {
    /// Exact keys of few bits, which index an array.
    Array(Vec<u32>),
    /// Exact keys.
    Exact(Hashed),
    /// One lpm key, the others exact.
    Lpm(Prefixes),
    /// Anything else, by priority.
    Ternary(Tuples),
}

impl Index {
    pub fn new(layout: &KeyLayout, ternary: bool) -> Self {
        use p4_ir::MatchKind::*;
        let lpm: Vec<_> = layout.fields.iter().filter(|f| f.kind == Lpm).collect();
        let exact = layout.fields.iter().all(|f| matches!(f.kind, Exact | Lpm));
        match &lpm[..] {
            _ if ternary || !exact => Index::Ternary(Tuples::default()),
            [] if layout.bits <= ARRAY_BITS && layout.words == 1 => {
                Index::Array(vec![NO_ENTRY; 1 << layout.bits])
            }
            [] => Index::Exact(Hashed::default()),
            [field] => Index::Lpm(Prefixes::new((*field).clone())),
            _ => Index::Ternary(Tuples::default()),
        }
    }

    /// Whether entries are selected by priority.
    pub fn by_priority(&self) -> bool {
        matches!(self, Index::Ternary(_))
    }

    pub fn insert(&mut self, slab: &Slab, id: u32) {
        let entry = &slab.entries[id as usize];
        match self {
            Index::Array(places) => places[entry.value[0] as usize] = id,
            Index::Exact(table) => insert(table, slab, id),
            Index::Lpm(prefixes) => prefixes.insert(slab, id),
            Index::Ternary(tuples) => tuples.insert(slab, id),
        }
    }

    pub fn remove(&mut self, slab: &Slab, id: u32) {
        let entry = &slab.entries[id as usize];
        match self {
            Index::Array(places) => places[entry.value[0] as usize] = NO_ENTRY,
            Index::Exact(table) => remove(table, slab, id),
            Index::Lpm(prefixes) => prefixes.remove(slab, id),
            Index::Ternary(tuples) => tuples.remove(slab, id),
        }
    }

    /// The entry that a packed key hits. `masked` is a scratch buffer of the same length.
    #[inline]
    pub fn lookup(
        &self,
        slab: &Slab,
        layout: &KeyLayout,
        key: &[u64],
        masked: &mut [u64],
    ) -> Option<u32> {
        match self {
            Index::Array(places) => at(places, key[0]),
            Index::Exact(table) => find(table, slab, key),
            Index::Lpm(prefixes) => prefixes.lookup(slab, key, masked),
            Index::Ternary(tuples) => tuples.lookup(slab, layout, key, masked),
        }
    }
}

/// The entry at a key's place in an array.
#[inline]
pub fn at(places: &[u32], key: u64) -> Option<u32> {
    places
        .get(key as usize)
        .copied()
        .filter(|&id| id != NO_ENTRY)
}

pub fn insert(table: &mut Hashed, slab: &Slab, id: u32) {
    table.insert_unique(hash(slab.value(id)), id, |&other| hash(slab.value(other)));
}

pub fn remove(table: &mut Hashed, slab: &Slab, id: u32) {
    table.remove(hash(slab.value(id)), |&other| other == id);
}
