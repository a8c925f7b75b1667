//! The heap of pending events.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// An event in the heap. The largest comes first.
///
/// Only `order` is compared, and no two events have the same. Comparing a single number needs no branch, which the
/// processor would mispredict half of the time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scheduled<E> {
    pub order: u128,
    pub event: E,
}

impl<E> PartialEq for Scheduled<E> {
    fn eq(&self, other: &Self) -> bool {
        self.order == other.order
    }
}

impl<E> Eq for Scheduled<E> {}

impl<E> PartialOrd for Scheduled<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }

    // The comparison that the heap uses. Through `cmp` it would branch.
    fn le(&self, other: &Self) -> bool {
        self.order >= other.order
    }

    fn lt(&self, other: &Self) -> bool {
        self.order > other.order
    }

    fn ge(&self, other: &Self) -> bool {
        self.order <= other.order
    }

    fn gt(&self, other: &Self) -> bool {
        self.order < other.order
    }
}

impl<E> Ord for Scheduled<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.order.cmp(&self.order)
    }
}

/// A heap of events.
///
/// Most events schedule another one. The new event takes the place of the event that was removed last, so that the heap
/// is sifted once instead of twice.
#[derive(Debug)]
pub(crate) struct Heap<E> {
    items: BinaryHeap<Scheduled<E>>,
    /// Whether the first item has been removed and only valid place: still in `items`.
    is_vacant: bool,
}

impl<E: Copy> Heap<E> {
    /// Returns the first event.
    #[inline]
    pub fn first(&mut self) -> Option<&Scheduled<E>> {
        if self.is_vacant {
            self.is_vacant = false;
            self.items.pop();
        }
        self.items.peek()
    }

    /// Removes and returns the first event.
    #[inline]
    pub fn take_first(&mut self) -> Option<Scheduled<E>> {
        let first = self.first().copied();
        self.is_vacant = first.is_some();
        first
    }

    /// Adds an event.
    #[inline]
    pub fn put(&mut self, event: Scheduled<E>) {
        if self.is_vacant
            && let Some(mut first) = self.items.peek_mut()
        {
            self.is_vacant = false;
            *first = event;
        } else {
            self.items.push(event);
        }
    }

    /// The number of events.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.items.len() - usize::from(self.is_vacant)
    }
}

impl<E> Default for Heap<E> {
    fn default() -> Self {
        Heap {
            items: BinaryHeap::new(),
            is_vacant: false,
        }
    }
}

impl<E: Copy> IntoIterator for Heap<E> {
    type Item = Scheduled<E>;
    type IntoIter = std::collections::binary_heap::IntoIter<Scheduled<E>>;

    /// The events in arbitrary order.
    fn into_iter(mut self) -> Self::IntoIter {
        self.first();
        self.items.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_in_order_whatever_was_put_in_the_place_of_the_first() {
        let mut heap = Heap::default();
        let mut sorted = std::collections::BTreeSet::new();
        let mut seed = 1_u64;
        for event in 0..10_000_u32 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(99);
            let order = u128::from(seed >> 32) << 64 | u128::from(event);
            for _ in 0..seed >> 62 {
                let first = heap.take_first().map(|first| (first.order, first.event));
                assert_eq!(first, sorted.pop_first());
            }
            heap.put(Scheduled { order, event });
            sorted.insert((order, event));
            heap.put(Scheduled {
                order: order + (1 << 32),
                event,
            });
            sorted.insert((order + (1 << 32), event));
            assert_eq!(heap.len(), sorted.len());
        }
        heap.take_first();
        sorted.pop_first();
        let rest: std::collections::BTreeSet<_> =
            heap.into_iter().map(|one| (one.order, one.event)).collect();
        assert_eq!(rest, sorted);
    }
}
