//! Deferred writes of a batch to cells that packets also change. All of them are published at once, in constant time.
//! Each is carried out before a packet reaches its cell, or when there is time.

use crate::CounterData;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::ops::Range;

/// A cell that a batch may write to.
pub trait Writable: Clone {
    /// A write to one cell.
    type Write: Clone + Debug;

    /// Carries a write out.
    fn write(&mut self, write: Self::Write);
}

/// Deferred writes, by cell index. This is not a hash table, because packets would have to wait when it grows.
pub type Writes<T, N = u32> = BTreeMap<N, <T as Writable>::Write>;

/// The value of a cell once its deferred write, if any, is carried out.
pub fn found_as<'a, T: Writable>(cell: &'a T, write: Option<&T::Write>) -> Cow<'a, T> {
    let mut cell = Cow::Borrowed(cell);
    if let Some(write) = write {
        cell.to_mut().write(write.clone());
    }
    cell
}

/// The cells of an array, and the published writes to them that are still deferred.
#[derive(Debug)]
pub struct Array<T: Writable> {
    cells: Vec<T>,
    pending: Writes<T>,
}

impl<T: Writable> Array<T> {
    /// Creates an array without deferred writes.
    pub fn new(cells: Vec<T>) -> Self {
        Array {
            cells,
            pending: Writes::<T>::new(),
        }
    }

    /// The number of cells.
    pub fn size(&self) -> usize {
        self.cells.len()
    }

    /// All cells, without deferred writes.
    pub fn stored(&self) -> &[T] {
        &self.cells
    }

    /// The address of the cells, which do not move, and their number.
    #[cfg(feature = "native")]
    pub fn place(&mut self) -> (usize, usize) {
        let first = self.cells.as_mut_ptr();
        (first.expose_provenance(), self.cells.len())
    }

    /// A cell as packets see it.
    pub fn get(&self, at: usize) -> Option<Cow<'_, T>> {
        let write = self.pending.get(&(at as u32));
        Some(found_as(self.cells.get(at)?, write))
    }

    /// Like [`Self::get`], mutable.
    #[inline]
    pub fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        if !self.pending.is_empty() {
            self.settle(at..at.saturating_add(1));
        }
        self.cells.get_mut(at)
    }

    /// Mutable access to `count` cells from index `at` on.
    #[inline]
    pub fn some_mut(&mut self, at: usize, count: usize) -> Option<&mut [T]> {
        let cells = at..at.checked_add(count)?;
        if !self.pending.is_empty() {
            self.settle(cells.clone());
        }
        self.cells.get_mut(cells)
    }

    /// Mutable access to all cells, for a caller that overwrites each of them.
    pub fn all_mut(&mut self) -> &mut [T] {
        self.pending.clear();
        &mut self.cells
    }

    /// Carries out the deferred writes to some cells.
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

    /// Publishes these writes, which replace all deferred writes.
    pub fn publish(&mut self, writes: Writes<T>) {
        self.pending = writes;
    }

    /// Carries out at most `most` deferred writes and subtracts their number from `most`. Returns whether none is left.
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

    /// Carries out a write at once.
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
