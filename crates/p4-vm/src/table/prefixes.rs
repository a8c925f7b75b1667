//! Longest prefix match on one key, with exact matches on the others.

use super::index::{Hashed, Indexed, Slab, find, insert, remove};
use super::key::KeyField;

/// Longest prefix match: a hash table for each length, and a filter by the first bits of the key that determines which
/// lengths need a look-up.
#[derive(Debug)]
pub struct Prefixes {
    field: KeyField,
    /// Sorted by length, longest first.
    groups: Vec<PrefixGroup>,
    /// The number of entries.
    count: usize,
    /// A bit for each of the first groups that has entries.
    filled: u64,
    /// For each value of the first bits, the groups that have, or once had, an entry with that value.
    filter: Vec<u64>,
    filter_bits: u32,
    /// A second filter, if there are many entries.
    many: Option<ManyPrefixes>,
}

/// A filter by a hash of more of the leading bits: those in which most entries differ, however they are distributed.
#[derive(Debug)]
struct ManyPrefixes {
    /// The bits that are hashed, for each word of the field.
    mask: Vec<u64>,
    /// The number of hashed bits.
    length: u32,
    /// For each hash, the groups that have, or once had, an entry with that hash.
    filter: Vec<u64>,
    /// Groups with shorter prefixes, to which the filter does not apply.
    shorter: u64,
}

#[derive(Debug)]
struct PrefixGroup {
    length: u32,
    mask: Vec<u64>,
    table: Hashed,
}

impl Prefixes {
    /// Groups beyond this number are looked up without a filter.
    const FILTERED: usize = 64;

    /// The number of entries from which the second filter is used.
    const MANY: usize = 1 << 12;

    pub fn new(field: KeyField) -> Self {
        let filter_bits = field.width.min(12);
        Prefixes {
            field,
            groups: Vec::new(),
            count: 0,
            filled: 0,
            filter: vec![0; 1 << filter_bits],
            filter_bits,
            many: None,
        }
    }

    /// The key's first bits.
    #[inline]
    fn bucket(&self, key: &[u64]) -> usize {
        let used = self.field.width - 64 * (self.field.limbs as u32 - 1);
        let top = key[self.field.word + self.field.limbs - 1] >> self.field.shift;
        if used >= self.filter_bits {
            let mask = (1 << self.filter_bits) - 1;
            return (top >> (used - self.filter_bits) & mask) as usize;
        }
        let below = key[self.field.word + self.field.limbs - 2];
        let mask = (1u64 << used) - 1;
        let more = self.filter_bits - used;
        ((top & mask) << more | below >> (64 - more)) as usize
    }

    fn mark(&mut self, slab: &Slab, group: usize, id: u32) {
        if group >= Self::FILTERED {
            return;
        }
        self.filled |= 1 << group;
        let entry = &slab.entries[id as usize];
        let first = self.bucket(&entry.value);
        let count = 1 << self.filter_bits.saturating_sub(entry.prefix);
        for bits in &mut self.filter[first..first + count] {
            *bits |= 1 << group;
        }
        if let Some(many) = &mut self.many {
            many.mark(&self.field, group, entry);
        }
    }

    /// Creates the filter for many entries.
    fn filter_many(&mut self, slab: &Slab) {
        let mut many = ManyPrefixes::new(&self.field, &self.groups);
        for (number, group) in self.groups.iter().take(Self::FILTERED).enumerate() {
            for id in group.table.iter() {
                many.mark(&self.field, number, &slab.entries[*id as usize]);
            }
        }
        self.many = Some(many);
    }

    pub fn insert(&mut self, slab: &Slab, id: u32) {
        let entry = &slab.entries[id as usize];
        let at = match self
            .groups
            .binary_search_by(|g| entry.prefix.cmp(&g.length))
        {
            Ok(at) => at,
            Err(at) => {
                let group = PrefixGroup {
                    length: entry.prefix,
                    mask: entry.mask.clone(),
                    table: Hashed::default(),
                };
                self.groups.insert(at, group);
                self.make_room(at);
                at
            }
        };
        insert(&mut self.groups[at].table, slab, id);
        self.mark(slab, at, id);
        self.count += 1;
        if self.count == Self::MANY && self.many.is_none() {
            self.filter_many(slab);
        }
    }

    /// Shifts the filter bits of the groups from `at` on by one.
    fn make_room(&mut self, at: usize) {
        if at >= Self::FILTERED {
            return;
        }
        let before = (1 << at) - 1;
        let many = self.many.iter_mut().flat_map(ManyPrefixes::all);
        let all = self.filter.iter_mut().chain(many);
        for bits in all.chain([&mut self.filled]) {
            *bits = *bits & before | (*bits & !before) << 1;
        }
    }

    pub fn remove(&mut self, slab: &Slab, id: u32) {
        let prefix = slab.entries[id as usize].prefix;
        let Ok(at) = self.groups.binary_search_by(|g| prefix.cmp(&g.length)) else {
            return;
        };
        remove(&mut self.groups[at].table, slab, id);
        self.count -= 1;
        // An empty group is kept: its length may be used again, and there are few lengths.
        if at < Self::FILTERED && self.groups[at].table.is_empty() {
            self.filled &= !(1 << at);
        }
    }

    #[inline]
    pub fn lookup(&self, slab: &Slab, key: &[u64], masked: &mut [u64]) -> Option<u32> {
        let candidates = match &self.many {
            Some(many) => many.candidates(&self.field, key),
            None => self.filter[self.bucket(key)],
        };
        let mut candidates = candidates & self.filled;
        while candidates != 0 {
            let group = &self.groups[candidates.trailing_zeros() as usize];
            candidates &= candidates - 1;
            if let Some(id) = group.lookup(slab, key, masked) {
                return Some(id);
            }
        }
        let rest = self.groups.get(Self::FILTERED..).unwrap_or_default();
        rest.iter()
            .find_map(|group| group.lookup(slab, key, masked))
    }
}

impl ManyPrefixes {
    /// Number of bits of a hash.
    const BITS: u32 = 16;

    /// Hashes the bits that fifteen of sixteen entries have.
    fn new(field: &KeyField, groups: &[PrefixGroup]) -> Self {
        let count: usize = groups.iter().map(|group| group.table.len()).sum();
        let mut longer = 0;
        let chosen = groups.iter().find(|group| {
            longer += group.table.len();
            16 * longer >= 15 * count
        });
        let (length, mask) = match chosen {
            Some(group) => (group.length, field.limbs_in(&group.mask).to_vec()),
            None => (0, vec![0; field.limbs]),
        };
        // The first word may be shared with other fields.
        let own = match field.limbs {
            1 => u64::MAX >> (64 - field.width.clamp(1, 64)) << field.shift,
            _ => u64::MAX,
        };
        ManyPrefixes {
            mask: mask.into_iter().map(|bits| bits & own).collect(),
            length,
            filter: vec![0; 1 << Self::BITS],
            shorter: 0,
        }
    }

    /// The index of a key in the filter.
    #[inline]
    fn place(&self, field: &KeyField, key: &[u64]) -> usize {
        let words = field.limbs_in(key).iter().zip(&self.mask);
        let mixed = words.fold(0u64, |mixed, (word, mask)| {
            mixed.rotate_left(23) ^ (word & mask)
        });
        (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - Self::BITS)) as usize
    }

    fn mark(&mut self, field: &KeyField, group: usize, entry: &Indexed) {
        if entry.prefix < self.length {
            self.shorter |= 1 << group;
            return;
        }
        let place = self.place(field, &entry.value);
        self.filter[place] |= 1 << group;
    }

    #[inline]
    fn candidates(&self, field: &KeyField, key: &[u64]) -> u64 {
        self.filter[self.place(field, key)] | self.shorter
    }

    /// All sets of groups, mutable.
    fn all(&mut self) -> impl Iterator<Item = &mut u64> {
        self.filter.iter_mut().chain([&mut self.shorter])
    }
}

impl PrefixGroup {
    #[inline]
    fn lookup(&self, slab: &Slab, key: &[u64], masked: &mut [u64]) -> Option<u32> {
        for ((masked, key), mask) in masked.iter_mut().zip(key).zip(&self.mask) {
            *masked = key & mask;
        }
        find(&self.table, slab, masked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use p4_ir::MatchKind;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::{Rng, SeedableRng};

    /// A field of this width behind a word of another field.
    fn field(width: u32) -> KeyField {
        KeyField {
            index: 0,
            name: String::new(),
            kind: MatchKind::Lpm,
            width,
            word: 1,
            shift: if width < 64 { 7 } else { 0 },
            limbs: width.div_ceil(64) as usize,
        }
    }

    /// The words of a key with this value in the field, and 5 in the other field.
    fn key(field: &KeyField, value: u128) -> Vec<u64> {
        let mut key = vec![0; 1 + field.limbs];
        key[0] = 5;
        key[1] = (value as u64) << field.shift;
        if field.limbs > 1 {
            key[2] = (value >> 64) as u64;
        }
        key
    }

    fn mask(width: u32, prefix: u32) -> u128 {
        let ones = u128::MAX >> (128 - width);
        ones & !ones.checked_shr(prefix).unwrap_or(0)
    }

    /// Entries are added and removed: few at first, then more than the first filter is for, then few again. Most of
    /// them share their first bits.
    #[test]
    fn the_longest_prefix_is_found_among_many() {
        for width in [32, 48, 128] {
            let field = field(width);
            let mut random = ChaCha8Rng::seed_from_u64(width.into());
            let mut slab = Slab::new(1 + field.limbs);
            let mut prefixes = Prefixes::new(field.clone());
            let mut entries: Vec<(u32, u128)> = Vec::new();
            let mut there = std::collections::BTreeMap::new();
            for round in 0..9_000 {
                let mut below = |most: u64| random.next_u64() % most;
                let value = (below(8) as u128) << (width - 3)
                    | below(1 << 13) as u128
                    | (below(64) as u128) << 20;
                let value = if below(8) > 0 {
                    value & mask(width, width) >> 3
                } else {
                    value
                };
                let prefix = if below(16) == 0 {
                    below(width as u64 + 1) as u32
                } else {
                    width - below(9) as u32
                };
                let entry = (prefix, value & mask(width, prefix));
                if round < 7_000 && !there.contains_key(&entry) {
                    let id = entries.len() as u32;
                    let mut bits = key(&field, mask(width, prefix));
                    bits[0] = u64::MAX;
                    slab.set(
                        id,
                        Indexed {
                            value: key(&field, entry.1),
                            mask: bits,
                            prefix,
                            ..Indexed::default()
                        },
                    );
                    entries.push(entry);
                    there.insert(entry, id);
                    prefixes.insert(&slab, id);
                }
                if round >= 7_000 || below(8) == 0 {
                    for _ in 0..4 {
                        let at = entries[below(entries.len() as u64) as usize];
                        if let Some(id) = there.remove(&at) {
                            prefixes.remove(&slab, id);
                        }
                    }
                }
                if round % 8 > 0 {
                    continue;
                }
                let near = entries[below(entries.len() as u64) as usize].1 ^ below(4) as u128;
                for value in [value, near] {
                    let longest = (0..=width).rev();
                    let expected = longest
                        .map(|prefix| (prefix, value & mask(width, prefix)))
                        .find_map(|entry| there.get(&entry));
                    let key = key(&field, value);
                    let mut masked = vec![0; key.len()];
                    assert_eq!(prefixes.lookup(&slab, &key, &mut masked), expected.copied());
                }
            }
            assert!(prefixes.many.is_some(), "there were many");
        }
    }
}
