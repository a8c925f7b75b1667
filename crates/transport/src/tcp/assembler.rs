//! Reassembly: which parts of a stream have arrived, in order or early.
//!
//! Positions are relative to the stream's start and never wrap around.

/// The received parts of a stream.
#[derive(Debug)]
pub(super) struct Assembler {
    /// Everything below has arrived.
    expected: u64,
    /// Ranges received beyond that: disjoint, ascending, not adjacent.
    early: Vec<(u64, u64)>,
    /// Early ranges of the newest arrivals, newest first, for SACK blocks.
    recent: Vec<(u64, u64)>,
    /// The maximum number of `recent` ranges.
    blocks: usize,
}

impl Assembler {
    /// Creates the state of a stream of which everything below `expected` has arrived. Keeps the
    /// newest `blocks` early ranges for SACK.
    pub(super) fn new(expected: u64, blocks: usize) -> Self {
        Assembler {
            expected,
            early: Vec::new(),
            recent: Vec::new(),
            blocks,
        }
    }

    /// The next position that has not arrived.
    pub(super) fn expected(&self) -> u64 {
        self.expected
    }

    /// Number of early ranges.
    pub(super) fn ranges(&self) -> usize {
        self.early.len()
    }

    /// The early range that holds `position`.
    pub(super) fn early_at(&self, position: u64) -> Option<(u64, u64)> {
        let index = self.early.partition_point(|&(_, end)| end <= position);
        let range = self.early.get(index).copied();
        range.filter(|&(left, _)| left <= position)
    }

    /// The early ranges of the newest arrivals, newest first.
    pub(super) fn recent(&self) -> &[(u64, u64)] {
        &self.recent
    }

    /// Records the arrival of `left..right`, which may be new, early or a duplicate.
    pub(super) fn insert(&mut self, left: u64, right: u64) {
        if right <= self.expected {
            return;
        }
        let left = left.max(self.expected);
        self.join(left, right);
        self.remember(left);
    }

    fn join(&mut self, mut left: u64, mut right: u64) {
        if left > self.expected || !self.early.is_empty() {
            // Ranges that touch the new one are merged into it.
            let start = self.early.partition_point(|&(_, end)| end < left);
            let end = self.early.partition_point(|&(begin, _)| begin <= right);
            if let Some(&(begin, _)) = self.early[start..end].first() {
                left = left.min(begin);
            }
            if let Some(&(_, until)) = self.early[start..end].last() {
                right = right.max(until);
            }
            self.early
                .splice(start..end, (left > self.expected).then_some((left, right)));
        }
        if left <= self.expected {
            self.expected = right;
        }
    }

    /// The range that contains `left` becomes the newest.
    fn remember(&mut self, left: u64) {
        if self.blocks == 0 {
            return;
        }
        let newest = self.early_at(left);
        let expected = self.expected;
        self.recent.retain(|&(begin, end)| {
            let covered = newest.is_some_and(|(from, to)| from <= begin && end <= to);
            begin > expected && !covered
        });
        self.recent.splice(0..0, newest);
        self.recent.truncate(self.blocks);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hole_holds_the_expected_back_until_it_is_filled() {
        let mut assembler = Assembler::new(0, 0);
        for (left, right, expected) in [
            (0, 10, 10),
            (20, 30, 10),
            (40, 50, 10),
            (30, 40, 10),
            (10, 20, 50),
        ] {
            assembler.insert(left, right);
            assert_eq!(assembler.expected(), expected, "after {left}");
        }
        assert_eq!(assembler.ranges(), 0);
    }

    #[test]
    fn the_newest_blocks_come_first_and_joined_ones_are_one() {
        let mut assembler = Assembler::new(0, 3);
        for left in [10, 30, 50, 70] {
            assembler.insert(left, left + 10);
        }
        assert_eq!(assembler.recent(), [(70, 80), (50, 60), (30, 40)]);
        assembler.insert(40, 50);
        assert_eq!(assembler.recent(), [(30, 60), (70, 80)]);
        assembler.insert(0, 10);
        assert_eq!((assembler.expected(), assembler.ranges()), (20, 2));
    }
}
