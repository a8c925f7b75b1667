//! Keys packed into words, so that a look-up hashes and compares few words.

use crate::code::Slot;
use num_bigint::BigUint;
use p4_ir::{MatchKind, Program, Table};

/// The layout of a table's key fields in packed words. A field of up to 64 bits shares a word with others and never
/// straddles two words. A wider field has its own words.
#[derive(Clone, Debug, Default)]
pub struct KeyLayout {
    pub fields: Vec<KeyField>,
    /// For each field, its index among the table's keys and its shift. Stored together, because packing needs only
    /// these.
    places: Vec<(u32, u32)>,
    /// Keys of kind `selector`: index among the table's keys, and width.
    pub selectors: Vec<(usize, u32)>,
    pub words: usize,
    /// Bits in all fields together.
    pub bits: u32,
    /// The last word that fields share, and the number of its bits in use.
    shared: Option<(usize, u32)>,
}

/// A field of a packed key.
#[derive(Clone, Debug)]
pub struct KeyField {
    /// Index among the table's keys.
    pub index: usize,
    pub name: String,
    pub kind: MatchKind,
    pub width: u32,
    /// Its first word, and the number of bits below it in that word.
    pub word: usize,
    pub shift: u32,
    /// The number of words, if it has its own words.
    pub limbs: usize,
}

impl KeyLayout {
    pub fn new(program: &Program, table: &Table) -> Self {
        let mut layout = KeyLayout::default();
        for (index, key) in table.keys.iter().enumerate() {
            let width = key
                .ty
                .scalar(program)
                .map_or(key.value.ty.width(), |s| s.width());
            match key.kind {
                MatchKind::Selector => layout.selectors.push((index, width)),
                _ => layout.push(index, &key.name, key.kind.clone(), width),
            }
        }
        layout
    }

    /// The same layout, followed by words with the fields that a selector hashes.
    #[cfg(feature = "native")]
    pub fn with_selectors(&self) -> Self {
        let mut layout = self.clone();
        layout.shared = None;
        for &(index, width) in &self.selectors {
            layout.push(index, "", MatchKind::Selector, width);
        }
        layout
    }

    fn push(&mut self, index: usize, name: &str, kind: MatchKind, width: u32) {
        let limbs = width.div_ceil(64).max(1) as usize;
        let (word, shift) = match self.shared {
            _ if limbs > 1 => {
                self.words += limbs;
                (self.words - limbs, 0)
            }
            Some((word, used)) if used + width <= 64 => {
                self.shared = Some((word, used + width));
                (word, used)
            }
            _ => {
                self.words += 1;
                self.shared = Some((self.words - 1, width));
                (self.words - 1, 0)
            }
        };
        self.bits += width;
        self.places.push((index as u32, shift));
        self.fields.push(KeyField {
            index,
            name: name.to_owned(),
            kind,
            width,
            word,
            shift,
            limbs,
        });
    }

    /// Packs the values found at `slots`.
    #[inline]
    pub fn pack(&self, words: &[u64], slots: &[Slot], key: &mut [u64]) {
        key.fill(0);
        for field in &self.fields {
            let slot = slots[field.index] as usize;
            if field.limbs == 1 {
                key[field.word] |= words[slot] << field.shift;
            } else {
                key[field.word..][..field.limbs].copy_from_slice(&words[slot..][..field.limbs]);
            }
        }
    }

    /// Packs the values found at `slots` into the one word of the key.
    #[inline]
    pub fn pack_word(&self, words: &[u64], slots: &[Slot]) -> u64 {
        // The first field is not shifted, and most keys have no other field.
        if let &[(index, _)] = &self.places[..] {
            return words[slots[index as usize] as usize];
        }
        let value = |&(index, shift): &(u32, u32)| words[slots[index as usize] as usize] << shift;
        self.places.iter().fold(0, |key, place| key | value(place))
    }

    /// Stores the value of a field into a packed key. Its bits must be zero.
    pub fn put(&self, field: &KeyField, value: &BigUint, key: &mut [u64]) {
        for (i, digit) in value.iter_u64_digits().enumerate().take(field.limbs) {
            key[field.word + i] |= digit << field.shift;
        }
    }
}

impl KeyField {
    /// A value of the field with all bits set.
    pub fn ones(&self) -> BigUint {
        (BigUint::from(1u8) << self.width) - 1u8
    }

    /// The value of the field in a packed key, if it fits into one word.
    #[inline]
    pub fn small(&self, key: &[u64]) -> u64 {
        let mask = u64::MAX >> (64 - self.width.clamp(1, 64));
        key[self.word] >> self.shift & mask
    }

    /// Its words in a packed key.
    pub fn limbs_in<'k>(&self, key: &'k [u64]) -> &'k [u64] {
        &key[self.word..self.word + self.limbs]
    }
}
