//! A cache of the recent look-ups of a table.

use crate::native::{Found, PLACES, place, place_of, place_words};

/// The results of some look-ups, valid until the table changes. Compiled code reads it before it calls the interpreter;
/// see [`Key`](crate::native::Key).
#[derive(Debug, Default)]
pub struct Recent {
    /// Words of a key, or 0 if nothing is cached.
    key: usize,
    /// [`PLACES`] places of [`place_words`] words: a [`Found`], then its key.
    words: Box<[u64]>,
    /// The first word of the first place, which is aligned to a cache line.
    first: usize,
    /// Whether any place holds a key.
    used: bool,
}

/// Words of a cache line.
const LINE: usize = 8;

impl Recent {
    /// Creates a cache for keys of the given number of words.
    pub fn new(key: usize) -> Self {
        let words = vec![0; PLACES * place_words(key) + LINE].into_boxed_slice();
        let beyond = words.as_ptr().addr() / 8 % LINE;
        let mut recent = Recent {
            key,
            words,
            first: (LINE - beyond) % LINE,
            used: true,
        };
        recent.forget();
        recent
    }

    /// The address of the places, which do not move.
    pub fn address(&mut self) -> usize {
        self.words[self.first..].as_mut_ptr().expose_provenance()
    }

    /// Caches the result of a look-up, replacing another one.
    #[inline]
    pub fn keep(&mut self, key: &[u64], found: Found) {
        if self.key == key.len() && self.key > 0 {
            self.write(place(key), key, found);
            self.used = true;
        }
    }

    #[inline]
    fn write(&mut self, number: usize, key: &[u64], found: Found) {
        let found = found.words();
        let at = self.first + number * place_words(self.key);
        let (before, behind) = self.words[at..].split_at_mut(found.len());
        before.copy_from_slice(&found);
        behind[..key.len()].copy_from_slice(key);
    }

    /// Forgets all keys.
    pub fn forget(&mut self) {
        if !std::mem::take(&mut self.used) {
            return;
        }
        // An empty place holds a key that belongs to another place, so that it never matches: a first word, then zeros.
        let of_zeros = self.place_of(0);
        let other = (1..).find(|&word| self.place_of(word) != of_zeros);
        let key_at = self.first + size_of::<Found>() / 8;
        for number in 0..PLACES {
            let key = &mut self.words[key_at + number * place_words(self.key)..][..self.key];
            key.fill(0);
            if number == of_zeros {
                key[0] = other.unwrap_or(0);
            }
        }
    }

    /// The place of a key that consists of one word and zeros.
    fn place_of(&self, word: u64) -> usize {
        place_of(std::iter::once(word).chain(std::iter::repeat_n(0, self.key - 1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many places hold a key that belongs there.
    fn kept(recent: &Recent) -> usize {
        let places = recent.words[recent.first..].chunks(place_words(recent.key));
        let key = |place: &[u64]| place[size_of::<Found>() / 8..][..recent.key].to_vec();
        let own = |(number, held): &(usize, &[u64])| place(&key(held)) == *number;
        places.take(PLACES).enumerate().filter(own).count()
    }

    #[test]
    fn keys_are_forgotten_and_places_stay() {
        for words in 1..6 {
            let mut recent = Recent::new(words);
            let address = recent.address();
            assert_eq!((kept(&recent), address % 64), (0, 0));
            for value in 0..1000 {
                let key = [value, 7 * value, value / 3, 11, value, 0];
                recent.keep(&key[..words], Found::default());
            }
            assert_eq!(kept(&recent), PLACES, "{words} words");
            recent.forget();
            assert_eq!((kept(&recent), recent.address()), (0, address));
        }
    }
}
