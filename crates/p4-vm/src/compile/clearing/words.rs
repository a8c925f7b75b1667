//! Sets of variables' words.

use crate::code::Slot;

/// A set of variables' words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words(Vec<u64>);

impl Words {
    pub fn none(words: usize) -> Self {
        Words(vec![0; words.div_ceil(64)])
    }

    /// Whether a word is in the set. Words that belong to no variable always are.
    pub fn has(&self, slot: Slot, words: usize) -> bool {
        slot as usize >= words || self.0[slot as usize / 64] >> (slot % 64) & 1 == 1
    }

    pub fn add(&mut self, slot: Slot, words: usize) {
        if (slot as usize) < words {
            self.0[slot as usize / 64] |= 1 << (slot % 64);
        }
    }

    /// Intersects this set with another. Returns whether it changed.
    pub fn keep(&mut self, other: &Words) -> bool {
        let mut changed = false;
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            changed |= *a & !b != 0;
            *a &= b;
        }
        changed
    }
}
