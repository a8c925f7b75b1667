//! What the keys that a table was looked up with lately led to.

use crate::native::{Found, RECENT};

/// What some keys lead to until the table changes. Compiled code reads it before it calls the interpreter; see
/// [`Key::repeats`](crate::native::Key::repeats).
#[derive(Debug, Default)]
pub struct Recent {
    /// Each key has one place. None if nothing is kept.
    places: Box<[Found]>,
    /// Whether a place holds a key.
    used: bool,
}

impl Recent {
    pub fn new() -> Self {
        Recent {
            places: (0..RECENT).map(empty).collect(),
            used: false,
        }
    }

    /// Where its places are, which stay there; 0: it has none.
    pub fn address(&mut self) -> usize {
        match &mut self.places[..] {
            [] => 0,
            places => places.as_mut_ptr().expose_provenance(),
        }
    }

    /// Keeps what a key led to, in place of another key.
    pub fn keep(&mut self, found: Found) {
        if let Some(place) = self.places.get_mut(Found::place(found.key)) {
            *place = found;
            self.used = true;
        }
    }

    /// Forgets all keys.
    pub fn forget(&mut self) {
        if std::mem::take(&mut self.used) {
            for (number, place) in self.places.iter_mut().enumerate() {
                *place = empty(number);
            }
        }
    }
}

/// A place that no key is found in: the key that it holds has another place.
fn empty(number: usize) -> Found {
    Found {
        key: u64::from(number == 0),
        ..Found::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_place_holds_no_key_of_its_own() {
        for number in 0..RECENT {
            assert_ne!(Found::place(empty(number).key), number);
        }
    }

    #[test]
    fn keys_are_forgotten_and_places_stay() {
        let mut recent = Recent::new();
        let address = recent.address();
        let kept = |recent: &Recent| {
            let own = |(number, found): &(usize, &Found)| Found::place(found.key) == *number;
            recent.places.iter().enumerate().filter(own).count()
        };
        for key in 0..1000 {
            let found = Found {
                key,
                ..Found::default()
            };
            recent.keep(found);
        }
        assert_eq!(kept(&recent), RECENT);
        recent.forget();
        assert_eq!((kept(&recent), recent.address()), (0, address));
    }
}
