//! Items that are numbered across the whole network, of which a part may hold a subset.

use std::ops::{Index, IndexMut};

/// Stands for an item that is in another part.
const ELSEWHERE: u32 = u32::MAX;

/// A part's share of the items, indexed by their numbers in the whole network.
#[derive(Debug)]
pub(crate) struct Share<T> {
    /// For each number, the index in `items`. Empty if all items are here, in order.
    slots: Vec<u32>,
    items: Vec<T>,
}

impl<T> Share<T> {
    /// The item with this number, if it is here.
    pub fn get(&self, index: usize) -> Option<&T> {
        self.items.get(self.slot(index)?)
    }

    /// Like [`Share::get`], mutable.
    pub fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        let slot = self.slot(index)?;
        self.items.get_mut(slot)
    }

    /// Whether the item with this number is here.
    pub fn has(&self, index: usize) -> bool {
        self.get(index).is_some()
    }

    /// The items that are here, by number.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    /// Like [`Share::iter`], mutable.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.items.iter_mut()
    }

    /// The items that are here, as a slice.
    pub fn as_slice(&self) -> &[T] {
        &self.items
    }

    /// Distributes the items of a whole network among `parts` parts. `part` returns the part of
    /// each.
    pub fn split(&mut self, parts: usize, part: impl Fn(usize) -> usize) -> Vec<Self> {
        let count = self.items.len();
        let mut shares: Vec<Self> = (0..parts)
            .map(|_| Share {
                slots: vec![ELSEWHERE; count],
                items: Vec::new(),
            })
            .collect();
        for (index, item) in std::mem::take(&mut self.items).into_iter().enumerate() {
            let share = &mut shares[part(index)];
            share.slots[index] = share.items.len() as u32;
            share.items.push(item);
        }
        shares
    }

    /// Reunites the result of [`Share::split`].
    pub fn unite(shares: Vec<Self>) -> Self {
        let mut items: Vec<(usize, T)> = Vec::new();
        for share in shares {
            let slots = share.slots.iter().enumerate();
            let here = slots.filter(|(_, slot)| **slot != ELSEWHERE);
            // Slots were assigned by number, in this order.
            items.extend(here.map(|(index, _)| index).zip(share.items));
        }
        items.sort_unstable_by_key(|(index, _)| *index);
        items.into_iter().map(|(_, item)| item).collect()
    }

    #[inline]
    fn slot(&self, index: usize) -> Option<usize> {
        if self.slots.is_empty() {
            return Some(index);
        }
        let slot = *self.slots.get(index)?;
        (slot != ELSEWHERE).then_some(slot as usize)
    }
}

impl<T> Default for Share<T> {
    fn default() -> Self {
        Share {
            slots: Vec::new(),
            items: Vec::new(),
        }
    }
}

impl<T> FromIterator<T> for Share<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Share {
            slots: Vec::new(),
            items: items.into_iter().collect(),
        }
    }
}

impl<T> IntoIterator for Share<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl<T> Index<usize> for Share<T> {
    type Output = T;

    #[inline]
    fn index(&self, index: usize) -> &T {
        match self.slots.is_empty() {
            true => &self.items[index],
            false => &self.items[self.slots[index] as usize],
        }
    }
}

impl<T> IndexMut<usize> for Share<T> {
    #[inline]
    fn index_mut(&mut self, index: usize) -> &mut T {
        match self.slots.is_empty() {
            true => &mut self.items[index],
            false => &mut self.items[self.slots[index] as usize],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_keep_the_numbers_of_the_whole() {
        let mut whole: Share<char> = "abcde".chars().collect();
        let shares = whole.split(3, |index| index % 2);
        assert_eq!(shares[0][4], 'e');
        assert_eq!(shares[0].get(1), None);
        assert_eq!((shares[1].get(3), shares[1].get(9)), (Some(&'d'), None));
        assert!(!shares[2].has(0));
        let whole = Share::unite(shares);
        assert_eq!(whole.iter().collect::<String>(), "abcde");
    }
}
