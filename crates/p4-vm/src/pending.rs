//! Writes of a batch to cells that packets change as well: all are published at once, however many they are, and each
//! is carried out before a packet reaches its cell, or when there is time.

use crate::CounterData;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::ops::Range;

/// What a batch may write to.
pub trait Writable: Clone {
    /// What it writes to one cell.
    type Write: Clone + Debug;

    /// Carries a write out.
    fn write(&mut self, write: Self::Write);
}

/// Writes that wait, by the number of their cell. No hash table: it would make packets wait as it grows.
pub type Writes<T, N = u32> = BTreeMap<N, <T as Writable>::Write>;

/// What a cell holds once a write that waits is carried out.
pub fn found_as<'a, T: Writable>(cell: &'a T, write: Option<&T::Write>) -> Cow<'a, T> {
    let mut cell = Cow::Borrowed(cell);
    if let Some(write) = write {
        cell.to_mut().write(write.clone());
    }
    cell
}

/// The cells of an array, and the writes to them that are published and not carried out yet.
#[derive(Debug)]
pub struct Array<T: Writable> {
    cells: Vec<T>,
    pending: Writes<T>,
}

impl<T: Writable> Array<T> {
    /// These cells; nothing waits.
    pub fn new(cells: Vec<T>) -> Self {
        Array {
            cells,
            pending: Writes::<T>::new(),
        }
    }

    /// How many cells there are.
    pub fn size(&self) -> usize {
        self.cells.len()
    }

    /// All cells, but for what waits.
    pub fn stored(&self) -> &[T] {
        &self.cells
    }

    /// Where the cells are, which stay there, and how many.
    #[cfg(feature = "native")]
    pub fn place(&mut self) -> (usize, usize) {
        let first = self.cells.as_mut_ptr();
        (first.expose_provenance(), self.cells.len())
    }

    /// A cell as packets find it.
    pub fn get(&self, at: usize) -> Option<Cow<'_, T>> {
        let write = self.pending.get(&(at as u32));
        Some(found_as(self.cells.get(at)?, write))
    }

    /// The same, to be changed.
    #[inline]
    pub fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        if !self.pending.is_empty() {
            self.settle(at..at.saturating_add(1));
        }
        self.cells.get_mut(at)
    }

    /// So many cells from one on, to be changed.
    #[inline]
    pub fn some_mut(&mut self, at: usize, count: usize) -> Option<&mut [T]> {
        let cells = at..at.checked_add(count)?;
        if !self.pending.is_empty() {
            self.settle(cells.clone());
        }
        self.cells.get_mut(cells)
    }

    /// All cells, each to be overwritten.
    pub fn all_mut(&mut self) -> &mut [T] {
        self.pending.clear();
        &mut self.cells
    }

    /// Carries out what waits for some cells.
    #[cold]
    fn settle(&mut self, cells: Range<usize>) {
        for at in cells {
            let Some(cell) = self.cells.get_mut(at) else {
                return;
            };
            if let Some(write) = self.pending.remove(&(at as u32)) {
                cell.write(write);
            }
        }
    }

    /// Has packets find what these write, and nothing that waited before.
    pub fn publish(&mut self, writes: Writes<T>) {
        self.pending = writes;
    }

    /// Carries out at most `most` of the writes that wait, and takes them off that number; whether none is left.
    pub fn settle_some(&mut self, most: &mut usize) -> bool {
        while *most > 0
            && let Some((at, write)) = self.pending.pop_first()
        {
            *most -= 1;
            if let Some(cell) = self.cells.get_mut(at as usize) {
                cell.write(write);
            }
        }
        self.pending.is_empty()
    }

    /// Carries a write out now.
    pub fn write(&mut self, at: u32, write: T::Write) {
        if let Some(cell) = self.get_mut(at as usize) {
            cell.write(write);
        }
    }
}

/// A word of a register.
impl Writable for u64 {
    type Write = u64;

    fn write(&mut self, word: u64) {
        *self = word;
    }
}

impl Writable for CounterData {
    type Write = CounterData;

    fn write(&mut self, data: CounterData) {
        *self = data;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_that_waits_comes_before_whatever_reaches_its_cell() {
        let mut array = Array::new(vec![1_u64; 6]);
        array.publish([(1, 10), (2, 20), (4, 40), (5, 50)].into());
        let found =
            |array: &Array<u64>| (0..6).map(|at| *array.get(at).unwrap()).collect::<Vec<_>>();
        assert_eq!(found(&array), [1, 10, 20, 1, 40, 50]);
        *array.get_mut(1).unwrap() += 1;
        assert_eq!(array.some_mut(2, 2), Some(&mut [20, 1][..]));
        assert_eq!(array.stored(), [1, 11, 20, 1, 1, 1]);
        assert_eq!(array.get_mut(6), None);
        assert_eq!(array.some_mut(usize::MAX, 2), None);
        let mut most = 1;
        assert_eq!((array.settle_some(&mut most), most), (false, 0));
        assert_eq!(array.stored(), [1, 11, 20, 1, 40, 1]);
        assert_eq!(found(&array), [1, 11, 20, 1, 40, 50]);
        most = 3;
        assert_eq!((array.settle_some(&mut most), most), (true, 2));
        assert_eq!(array.stored(), [1, 11, 20, 1, 40, 50]);
        assert_eq!(array.some_mut(5, 2), None);
        array.publish([(0, 5)].into());
        array.all_mut().fill(7);
        assert_eq!(found(&array), [7; 6]);
    }
}
