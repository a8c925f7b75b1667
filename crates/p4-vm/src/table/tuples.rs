//! Keys of any kind, selected by priority: tuple space search.

use super::filter::{Agreed, Filter};
use super::gradual::Gradual;
use super::index::{Indexed, Slab, hash, same};
use super::key::KeyLayout;
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

/// If there are more masks than this, they are found by a [`Filter`].
const FEW: usize = 16;

/// Entries with the same mask share a hash table. If there are few masks, a group whose best entry cannot win is
/// skipped; if there are many, a filter excludes groups.
#[derive(Debug, Default)]
pub struct Tuples {
    /// Sorted by best rank, best first, if there are few.
    groups: Vec<Tuple>,
    /// The filter, if there are many groups.
    many: Option<Many>,
}

#[derive(Debug)]
struct Many {
    /// The group of each mask.
    numbers: HashMap<Vec<u64>, usize>,
    filter: Filter,
}

#[derive(Debug)]
struct Tuple {
    mask: Vec<u64>,
    /// The largest of `ranks`.
    best: u64,
    /// The ranks of its entries.
    ranks: BTreeSet<u64>,
    /// Bits in which all its entries agree, and their values. A key that differs in one of them needs no look-up. With
    /// one entry per mask, this test is the whole look-up.
    agreed: Vec<(u64, u64)>,
    /// Entries with the same value under the mask, best first. They differ in their ranges and ranks.
    buckets: Gradual<Vec<Place>>,
}

/// An entry in a bucket, with a range that excludes most entries quickly.
#[derive(Clone, Copy, Debug)]
struct Place {
    id: u32,
    /// The first one-word field for which the entry has a range, and its bounds.
    field: Option<u32>,
    least: u64,
    greatest: u64,
    rank: u64,
}

impl Tuples {
    pub fn insert(&mut self, slab: &Slab, id: u32) {
        let entry = &slab.entries[id as usize];
        let at = self.find(&entry.mask).unwrap_or_else(|| {
            self.groups.push(Tuple::new(entry));
            self.groups.len() - 1
        });
        let changed = self.groups[at].insert(slab, id);
        match &mut self.many {
            Some(many) if at < many.filter.room() => {
                let group = &self.groups[at];
                let added = many.numbers.len() < self.groups.len();
                if added {
                    many.numbers.insert(group.mask.clone(), at);
                }
                if added || changed {
                    many.filter.set(at, Some(&group.agreed));
                }
            }
            None if self.groups.len() <= FEW => {
                // It may now rank before some groups in front of it.
                let best = self.groups[at].best;
                let first = self.groups[..at].partition_point(|group| group.best > best);
                self.groups[first..=at].rotate_right(1);
            }
            _ => self.many = Some(Many::new(&self.groups)),
        }
    }

    pub fn remove(&mut self, slab: &Slab, id: u32) {
        let entry = &slab.entries[id as usize];
        let Some(at) = self.find(&entry.mask) else {
            return;
        };
        self.groups[at].remove(slab, id);
        if self.groups[at].buckets.is_empty() {
            self.groups.swap_remove(at);
            if let Some(many) = &mut self.many {
                many.remove(&entry.mask, at, &self.groups);
            }
        }
        // Not as soon as they are few: a group that comes and goes would cost a filter each time.
        if self.groups.len() <= FEW / 2 {
            self.many = None;
        }
        if self.many.is_none() {
            self.groups.sort_by_key(|group| Reverse(group.best));
        }
    }

    #[inline]
    pub fn lookup(
        &self,
        slab: &Slab,
        layout: &KeyLayout,
        key: &[u64],
        masked: &mut [u64],
    ) -> Option<u32> {
        let mut best = None;
        if let Some(many) = &self.many {
            many.filter.candidates(key, |at| {
                self.groups[at].look_for_better(&mut best, slab, layout, key, masked);
            });
        } else {
            for group in &self.groups {
                if best.is_some_and(|(rank, _)| rank > group.best) {
                    break;
                }
                group.look_for_better(&mut best, slab, layout, key, masked);
            }
        }
        best.map(|(_, id)| id)
    }

    /// The index of the group of a mask.
    fn find(&self, mask: &[u64]) -> Option<usize> {
        match &self.many {
            Some(many) => many.numbers.get(mask).copied(),
            None => self.groups.iter().position(|group| group.mask == mask),
        }
    }
}

impl Many {
    fn new(groups: &[Tuple]) -> Self {
        let masks = groups.iter().map(|group| group.mask.clone());
        Many {
            numbers: masks.zip(0..).collect(),
            filter: Filter::new(groups.iter().map(|group| -> &Agreed { &group.agreed })),
        }
    }

    /// Removes group `at`. The last group takes its index.
    fn remove(&mut self, mask: &[u64], at: usize, groups: &[Tuple]) {
        self.numbers.remove(mask);
        self.filter.set(groups.len(), None);
        if let Some(moved) = groups.get(at) {
            self.numbers.insert(moved.mask.clone(), at);
            self.filter.set(at, Some(&moved.agreed));
        }
    }
}

impl Place {
    fn new(entry: &Indexed, id: u32) -> Self {
        let mut ranges = entry.ranges.iter();
        let bounded = ranges.find_map(|(field, least, greatest)| {
            let (&[least], &[greatest]) = (&least[..], &greatest[..]) else {
                return None;
            };
            Some((*field as u32, least, greatest))
        });
        let (_, least, greatest) = bounded.unwrap_or_default();
        Place {
            id,
            field: bounded.map(|(field, ..)| field),
            least,
            greatest,
            rank: entry.rank,
        }
    }
}

impl Tuple {
    /// Creates a group for entries with the mask of this entry.
    fn new(entry: &Indexed) -> Self {
        let bits = entry.mask.iter().zip(&entry.value);
        Tuple {
            mask: entry.mask.clone(),
            best: 0,
            ranks: BTreeSet::new(),
            agreed: bits.map(|(&mask, &value)| (mask, value)).collect(),
            buckets: Gradual::default(),
        }
    }

    /// Adds an entry. Returns whether the bits in which all entries agree became fewer.
    fn insert(&mut self, slab: &Slab, id: u32) -> bool {
        let entry = &slab.entries[id as usize];
        self.ranks.insert(entry.rank);
        self.best = self.best.max(entry.rank);
        let mut changed = false;
        for ((bits, agreed), value) in self.agreed.iter_mut().zip(&entry.value) {
            let left = *bits & !(*agreed ^ value);
            changed |= left != *bits;
            *bits = left;
        }
        let hashed = hash(&entry.value);
        let same_value = |bucket: &Vec<Place>| slab.value(bucket[0].id) == entry.value;
        let place = Place::new(entry, id);
        let Some(bucket) = self.buckets.find_mut(hashed, same_value) else {
            let hasher = |bucket: &Vec<Place>| hash(slab.value(bucket[0].id));
            self.buckets.insert_unique(hashed, vec![place], hasher);
            return changed;
        };
        let at = bucket.partition_point(|other| other.rank > entry.rank);
        bucket.insert(at, place);
        changed
    }

    fn remove(&mut self, slab: &Slab, id: u32) {
        let entry = &slab.entries[id as usize];
        let same_value = |bucket: &Vec<Place>| slab.value(bucket[0].id) == entry.value;
        let alone = |bucket: &Vec<Place>| bucket.len() == 1 && bucket[0].id == id;
        let hashed = hash(&entry.value);
        match self.buckets.find_mut(hashed, same_value) {
            Some(bucket) if alone(bucket) => {
                self.buckets.remove(hashed, alone);
            }
            Some(bucket) => {
                let at = bucket.partition_point(|other| other.rank > entry.rank);
                if bucket.get(at).is_some_and(|place| place.id == id) {
                    bucket.remove(at);
                }
            }
            None => {}
        }
        self.ranks.remove(&entry.rank);
        self.best = self.ranks.last().copied().unwrap_or(0);
    }

    /// Updates the best entry so far, with its rank, if the key hits a better one in this group.
    #[inline]
    fn look_for_better(
        &self,
        best: &mut Option<(u64, u32)>,
        slab: &Slab,
        layout: &KeyLayout,
        key: &[u64],
        masked: &mut [u64],
    ) {
        if best.is_some_and(|(rank, _)| rank > self.best) || !self.may_hold(key) {
            return;
        }
        for ((masked, key), mask) in masked.iter_mut().zip(key).zip(&self.mask) {
            *masked = key & mask;
        }
        let bucket = self.buckets.find(hash(masked), |bucket| {
            same(slab.value(bucket[0].id), masked)
        });
        // The entries of a bucket usually have ranges of the same field.
        let mut field = None;
        let mut value = 0;
        for place in bucket.into_iter().flatten() {
            if best.is_some_and(|(rank, _)| rank > place.rank) {
                return;
            }
            if let Some(bounded) = place.field {
                if field != Some(bounded) {
                    field = Some(bounded);
                    value = layout.fields[bounded as usize].small(key);
                }
                if value < place.least || value > place.greatest {
                    continue;
                }
            }
            let mut ranges = slab.entries[place.id as usize].ranges.iter();
            if ranges.all(|range| in_range(layout, range, key)) {
                *best = Some((place.rank, place.id));
                return;
            }
        }
    }

    #[inline]
    fn may_hold(&self, key: &[u64]) -> bool {
        let mut words = self.agreed.iter().zip(key);
        words.all(|((bits, agreed), key)| (key ^ agreed) & bits == 0)
    }
}

#[inline]
fn in_range(layout: &KeyLayout, range: &(usize, Vec<u64>, Vec<u64>), key: &[u64]) -> bool {
    let (field, low, high) = range;
    let field = &layout.fields[*field];
    if field.limbs == 1 {
        return (low[0]..=high[0]).contains(&field.small(key));
    }
    let value = field.limbs_in(key).iter().rev();
    value.clone().ge(low.iter().rev()) && value.le(high.iter().rev())
}

#[cfg(test)]
mod tests {
    use super::super::key::KeyField;
    use super::*;
    use p4_ir::MatchKind;
    use proptest::prelude::*;

    /// The shift of the first of two 4-bit fields in the second word of the key. Entries may have a range for each.
    const SHIFT: u32 = 8;

    /// A key of two words that contains these two fields.
    fn layout() -> KeyLayout {
        let field = |index: usize| KeyField {
            index,
            name: String::new(),
            kind: MatchKind::Range,
            width: 4,
            word: 1,
            shift: SHIFT + 4 * index as u32,
            limbs: 1,
        };
        let mut layout = KeyLayout::default();
        layout.fields.extend([field(0), field(1)]);
        layout.words = 2;
        layout
    }

    /// The best entry, found by a linear scan.
    fn scan(slab: &Slab, there: &[u32], key: &[u64]) -> Option<u32> {
        let hit = |id: &&u32| {
            let Indexed {
                value,
                mask,
                ranges,
                ..
            } = &*slab.entries[**id as usize];
            let mut words = key.iter().zip(mask).zip(value);
            let mut ranges = ranges.iter();
            words.all(|((key, mask), value)| key & mask == *value)
                && ranges.all(|(field, least, greatest)| {
                    let value = key[1] >> (SHIFT + 4 * *field as u32) & 0xf;
                    (least[0]..=greatest[0]).contains(&value)
                })
        };
        let rank = |id: &&u32| slab.entries[**id as usize].rank;
        there.iter().filter(hit).max_by_key(rank).copied()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Entries are added and removed, so that masks are few, then many, then few again. Bits are drawn such that
        /// most keys hit several entries.
        #[test]
        fn finds_what_a_scan_finds(
            drawn in prop::collection::vec(any::<([u64; 2], [u64; 2], [u64; 2], [u64; 2])>(), 1..60),
            bounds in prop::collection::vec(prop::array::uniform2(prop::option::of((0..16u64, 0..16u64))), 60),
            keys in prop::collection::vec(any::<([u64; 2], [u64; 2])>(), 8),
            leaving in prop::collection::vec(any::<prop::sample::Index>(), 0..80),
        ) {
            let sparse = |a: [u64; 2], b: [u64; 2]| [a[0] & b[0], a[1] & b[1]];
            let keys: Vec<_> = keys.into_iter().map(|(a, b)| sparse(a, b)).collect();
            let layout = layout();
            let mut slab = Slab::new(2);
            let mut tuples = Tuples::default();
            let mut there = Vec::new();
            let mut masked = [0; 2];
            for (id, (a, b, c, value)) in (0..).zip(drawn) {
                let mask = sparse(sparse(a, b), sparse(c, [0x0f0f_0f0f_f0f0_1111, 0x0f0f_0f0f_f0f0_0011]));
                let bounds = (0..).zip(bounds[id as usize]);
                let range = |(field, bounds): (usize, Option<(u64, u64)>)| {
                    let (a, b) = bounds?;
                    Some((field, vec![a.min(b)], vec![a.max(b)]))
                };
                slab.set(id, Indexed {
                    value: sparse(sparse(value, mask), [0x0101_0101_1010_0001; 2]).to_vec(),
                    mask: mask.to_vec(),
                    rank: a[0] << 32 | id as u64,
                    ranges: bounds.filter_map(range).collect(),
                    ..Indexed::default()
                });
                tuples.insert(&slab, id);
                there.push(id);
                for key in &keys {
                    let found = tuples.lookup(&slab, &layout, key, &mut masked);
                    prop_assert_eq!(found, scan(&slab, &there, key));
                }
            }
            for index in leaving {
                if there.is_empty() {
                    break;
                }
                tuples.remove(&slab, there.swap_remove(index.index(there.len())));
                for key in &keys {
                    let found = tuples.lookup(&slab, &layout, key, &mut masked);
                    prop_assert_eq!(found, scan(&slab, &there, key));
                }
            }
        }
    }
}
