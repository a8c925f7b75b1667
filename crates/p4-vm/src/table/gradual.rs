//! A hash table that grows incrementally. Each insertion moves a few elements, usually two, so packets do not wait for
//! a rehash.

use hashbrown::HashTable;

/// The largest number of slots of the old table that an insertion empties.
const STEP: usize = 32;

/// A set of elements, each found by its hash.
#[derive(Debug)]
pub struct Gradual<T> {
    table: HashTable<T>,
    /// The old table, until it is empty.
    old: HashTable<T>,
    /// The number of its slots that have been emptied.
    emptied: usize,
    /// The number of its slots that each insertion empties. All are empty before the new table is full.
    step: usize,
}

impl<T> Default for Gradual<T> {
    fn default() -> Self {
        Gradual {
            table: HashTable::new(),
            old: HashTable::new(),
            emptied: 0,
            step: 0,
        }
    }
}

impl<T> Gradual<T> {
    pub fn len(&self) -> usize {
        self.table.len() + self.old.len()
    }

    pub fn is_empty(&self) -> bool {
        self.table.is_empty() && self.old.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.table.iter().chain(&self.old)
    }

    #[inline]
    pub fn find(&self, hash: u64, mut is: impl FnMut(&T) -> bool) -> Option<&T> {
        let found = self.table.find(hash, &mut is);
        if found.is_some() || self.old.is_empty() {
            return found;
        }
        self.old.find(hash, is)
    }

    pub fn find_mut(&mut self, hash: u64, mut is: impl FnMut(&T) -> bool) -> Option<&mut T> {
        // First determines which table has the element, because a returned reference extends its borrow.
        match self.table.find(hash, &mut is) {
            Some(_) => self.table.find_mut(hash, is),
            None => self.old.find_mut(hash, is),
        }
    }

    /// Adds an element that is not in the set. `hasher` returns the hash of each element.
    pub fn insert_unique(&mut self, hash: u64, value: T, hasher: impl Fn(&T) -> u64) {
        if self.table.len() == self.table.capacity() {
            // Removed elements may leave slots that cannot be reused, so few elements may occupy many slots.
            let (held, places) = (self.table.len(), self.table.num_buckets());
            let larger = HashTable::with_capacity(held + held.max(places / STEP) + 1);
            debug_assert!(self.old.is_empty(), "emptied before the next is outgrown");
            self.old = std::mem::replace(&mut self.table, larger);
            self.emptied = 0;
            self.step = places.div_ceil(self.table.capacity() - held);
        }
        self.table.insert_unique(hash, value, &hasher);
        if self.old.is_empty() {
            return;
        }
        let places = self.emptied..self.old.num_buckets().min(self.emptied + self.step);
        self.emptied = places.end;
        for place in places {
            if let Ok(entry) = self.old.get_bucket_entry(place) {
                let (value, _) = entry.remove();
                self.table.insert_unique(hasher(&value), value, &hasher);
            }
        }
        if self.old.is_empty() {
            self.old = HashTable::new();
        }
    }

    pub fn remove(&mut self, hash: u64, mut is: impl FnMut(&T) -> bool) -> Option<T> {
        let found = match self.table.find_entry(hash, &mut is) {
            Ok(found) => Some(found),
            Err(_) => self.old.find_entry(hash, is).ok(),
        };
        Some(found?.remove().0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn no_insertion_moves_many_elements() {
        let moved = Cell::new(0);
        let hasher = |value: &u64| {
            moved.set(moved.get() + 1);
            hash(*value)
        };
        let mut table = Gradual::default();
        let mut random = 1_u64;
        let mut there = std::collections::BTreeSet::new();
        for round in 0..40_000 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let value = random >> 49;
            // It grows, shrinks to nearly nothing, and grows again.
            let removes = if (15_000..25_000).contains(&round) {
                9
            } else {
                3
            };
            let known = there.contains(&value);
            assert_eq!(
                table.find(hash(value), |other| *other == value).is_some(),
                known
            );
            assert_eq!(
                table
                    .find_mut(hash(value), |other| *other == value)
                    .is_some(),
                known
            );
            if random % 10 < removes {
                let removed = table.remove(hash(value), |other| *other == value);
                assert_eq!(removed.is_some(), there.remove(&value));
            } else if there.insert(value) {
                moved.set(0);
                table.insert_unique(hash(value), value, hasher);
                assert!(
                    moved.get() <= STEP,
                    "{} of {} moved",
                    moved.get(),
                    there.len()
                );
            }
            assert_eq!(table.len(), there.len());
            assert_eq!(table.is_empty(), there.is_empty());
        }
    }

    #[test]
    fn a_growing_table_moves_few_elements_at_each_insertion() {
        let moved = Cell::new(0);
        let hasher = |value: &u64| {
            moved.set(moved.get() + 1);
            hash(*value)
        };
        let mut table = Gradual::default();
        for value in 0..100_000 {
            moved.set(0);
            table.insert_unique(hash(value), value, hasher);
            assert!(moved.get() <= 3, "{} of {value} moved", moved.get());
        }
        let mut found: Vec<u64> = table.iter().copied().collect();
        found.sort_unstable();
        assert!(found.into_iter().eq(0..100_000));
    }

    fn hash(value: u64) -> u64 {
        value.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}
