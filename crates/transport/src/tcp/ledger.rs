//! When each segment in the window was last sent, and how often it was sent.

use std::ops::Range;
use units::Instant;

/// A ring with as many entries as the window has segments.
///
/// Only blocks with entries in use take memory: a window may be a hundred times larger than the data in flight, and a
/// ring of its full size would repeatedly walk through all of that memory.
#[derive(Debug)]
pub(super) struct Ledger {
    /// The entries of each block of the ring, unless all are unused.
    blocks: Box<[Option<Box<Block>>]>,
    /// Number of entries of the ring.
    window: u64,
    /// Unused blocks for reuse. All of their entries are reset.
    #[expect(clippy::vec_box, reason = "a block goes back into the ring as it is")]
    spare: Vec<Box<Block>>,
    stale_send_counts: bool,
}

const BLOCK: usize = 64;

#[derive(Debug)]
struct Block {
    entries: [Entry; BLOCK],
    /// Number of entries that are in use.
    sent: usize,
}

/// A count of 0 means never sent, or acknowledged.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    sent: Instant,
    /// The same by a clock in floating-point seconds, if there is one.
    sent_s: Option<f64>,
    count: u32,
}

impl Block {
    fn new() -> Box<Self> {
        Box::new(Block {
            entries: [Entry::default(); BLOCK],
            sent: 0,
        })
    }
}

impl Ledger {
    pub(super) fn new(window: u32, stale_send_counts: bool) -> Self {
        let window = window.max(1);
        let blocks = (window as usize).div_ceil(BLOCK);
        Ledger {
            blocks: std::iter::repeat_with(|| None).take(blocks).collect(),
            window: u64::from(window),
            spare: Vec::new(),
            stale_send_counts,
        }
    }

    fn index(&self, segment: u64) -> usize {
        (segment % self.window) as usize
    }

    fn entry(&self, segment: u64) -> Entry {
        let index = self.index(segment);
        let block = &self.blocks[index / BLOCK];
        block
            .as_ref()
            .map_or(Entry::default(), |block| block.entries[index % BLOCK])
    }

    pub(super) fn record(&mut self, segment: u64, now: Instant, now_s: Option<f64>) {
        if segment == 0 {
            // The simulator's ring also starts empty again.
            self.reset(0..self.window as usize);
        }
        let index = self.index(segment);
        let spare = &mut self.spare;
        let block = self.blocks[index / BLOCK]
            .get_or_insert_with(|| spare.pop().unwrap_or_else(Block::new));
        let entry = &mut block.entries[index % BLOCK];
        block.sent += usize::from(entry.count == 0);
        *entry = Entry {
            sent: now,
            sent_s: now_s,
            count: entry.count + 1,
        };
    }

    /// When `segment` was last sent.
    pub(super) fn last_sent(&self, segment: u64) -> Option<Instant> {
        let entry = self.entry(segment);
        (entry.count > 0).then_some(entry.sent)
    }

    /// When `segment` was last sent, by a clock in floating-point seconds.
    pub(super) fn last_sent_s(&self, segment: u64) -> Option<f64> {
        self.entry(segment).sent_s
    }

    /// How often `segment` was sent.
    pub(super) fn transmissions(&self, segment: u64) -> u32 {
        self.entry(segment).count
    }

    /// When `segment` was sent, if only once: only then it yields a round-trip time (Karn).
    pub(super) fn sent_once(&self, segment: u64) -> Option<Instant> {
        let entry = self.entry(segment);
        (entry.count == 1).then_some(entry.sent)
    }

    /// Clears segments `from..to`, which were acknowledged. The simulator clears nothing if that range wraps around.
    pub(super) fn clear(&mut self, from: u64, to: u64) {
        if from >= to {
            return;
        }
        let (first, last) = (self.index(from), self.index(to - 1));
        let all = self.window as usize;
        let whole = to - from >= self.window;
        if first <= last && !whole {
            self.reset(first..last + 1);
        } else if !self.stale_send_counts {
            let kept = if whole { 0..0 } else { last + 1..first };
            self.reset(0..kept.start);
            self.reset(kept.end..all);
        } else if first == 0 {
            self.reset(0..all);
        }
    }

    /// Resets entries.
    fn reset(&mut self, entries: Range<usize>) {
        let mut at = entries.start;
        while at < entries.end {
            let number = at / BLOCK;
            let begin = number * BLOCK;
            let end = entries.end.min(begin + BLOCK);
            if let Some(block) = &mut self.blocks[number] {
                for entry in &mut block.entries[at - begin..end - begin] {
                    block.sent -= usize::from(entry.count > 0);
                    *entry = Entry::default();
                }
                if block.sent == 0 {
                    self.spare.extend(self.blocks[number].take());
                }
            }
            at = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full(stale: bool) -> Ledger {
        let mut ledger = Ledger::new(4, stale);
        (2..6).for_each(|segment| ledger.record(segment, Instant::from_nanos(segment), None));
        ledger
    }

    fn counts(ledger: &Ledger) -> Vec<u32> {
        (2..6)
            .map(|segment| ledger.transmissions(segment))
            .collect()
    }

    #[test]
    fn an_acknowledged_range_is_cleared_across_the_ring_s_end() {
        let mut ledger = full(false);
        ledger.clear(2, 5);
        assert_eq!(counts(&ledger), [0, 0, 0, 1]);
    }

    #[test]
    fn stale_counts_survive_a_range_that_wraps() {
        let mut ledger = full(true);
        ledger.clear(2, 5);
        assert_eq!(counts(&ledger), [1, 1, 1, 1]);
        ledger.clear(2, 4);
        assert_eq!(counts(&ledger), [0, 0, 1, 1]);
        ledger.record(8, Instant::from_nanos(8), None);
        assert_eq!(
            ledger.transmissions(8),
            2,
            "segment 8 takes segment 4's entry and looks resent"
        );
    }

    #[test]
    fn memory_is_for_what_is_in_flight() {
        let mut ledger = Ledger::new(100_000, false);
        let in_flight = 2 * BLOCK as u64;
        for segment in 0..250_000 {
            ledger.record(segment, Instant::from_nanos(segment), None);
            if let Some(acked) = segment.checked_sub(in_flight) {
                assert_eq!(ledger.sent_once(acked), Some(Instant::from_nanos(acked)));
                ledger.clear(acked, acked + 1);
                assert_eq!(ledger.last_sent(acked), None);
            }
        }
        let in_use = ledger.blocks.iter().flatten().count();
        assert!(in_use + ledger.spare.len() <= 4);
    }

    #[test]
    fn a_whole_window_is_cleared() {
        for stale in [false, true] {
            let mut ledger = Ledger::new(4, stale);
            (4..8).for_each(|segment| ledger.record(segment, Instant::ZERO, None));
            ledger.clear(4, 8);
            assert_eq!(ledger.last_sent(4), None);
            assert_eq!(ledger.last_sent(7), None);
        }
    }
}
