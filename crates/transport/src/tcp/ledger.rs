//! When each segment in the window was last sent, and how often.

use units::Instant;

/// A ring of as many entries as the window has segments.
#[derive(Debug)]
pub(super) struct Ledger {
    ring: Box<[Entry]>,
    stale_send_counts: bool,
}

/// Count 0: never sent, or acknowledged.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    sent: Instant,
    /// The same by a clock in floating-point seconds, if there is one.
    sent_s: Option<f64>,
    count: u32,
}

impl Ledger {
    pub(super) fn new(window: u32, stale_send_counts: bool) -> Self {
        Ledger {
            ring: vec![Entry::default(); window.max(1) as usize].into(),
            stale_send_counts,
        }
    }

    fn index(&self, segment: u64) -> usize {
        (segment % self.ring.len() as u64) as usize
    }

    pub(super) fn record(&mut self, segment: u64, now: Instant, now_s: Option<f64>) {
        if segment == 0 {
            // The simulator's ring starts empty again.
            self.ring.fill(Entry::default());
        }
        let entry = &mut self.ring[self.index(segment)];
        *entry = Entry {
            sent: now,
            sent_s: now_s,
            count: entry.count + 1,
        };
    }

    /// When `segment` was last sent.
    pub(super) fn last_sent(&self, segment: u64) -> Option<Instant> {
        let entry = self.ring[self.index(segment)];
        (entry.count > 0).then_some(entry.sent)
    }

    /// When `segment` was last sent, by a clock in floating-point seconds.
    pub(super) fn last_sent_s(&self, segment: u64) -> Option<f64> {
        self.ring[self.index(segment)].sent_s
    }

    /// How often `segment` was sent.
    pub(super) fn transmissions(&self, segment: u64) -> u32 {
        self.ring[self.index(segment)].count
    }

    /// When `segment` was sent, if only once: what a round-trip time may be taken from (Karn).
    pub(super) fn sent_once(&self, segment: u64) -> Option<Instant> {
        let entry = self.ring[self.index(segment)];
        (entry.count == 1).then_some(entry.sent)
    }

    /// Segments `from..to` were acknowledged. The simulator clears nothing where that range wraps.
    pub(super) fn clear(&mut self, from: u64, to: u64) {
        if from >= to {
            return;
        }
        let (first, last) = (self.index(from), self.index(to - 1));
        let whole = to - from >= self.ring.len() as u64;
        if first <= last && !whole {
            self.ring[first..=last].fill(Entry::default());
        } else if !self.stale_send_counts {
            let kept = if whole { 0..0 } else { last + 1..first };
            self.ring[..kept.start].fill(Entry::default());
            self.ring[kept.end..].fill(Entry::default());
        } else if first == 0 {
            self.ring.fill(Entry::default());
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
