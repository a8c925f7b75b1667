//! The receiving side: what arrived in order, what arrived early.

use super::config::Config;
use super::segment::{SackBlocks, Segment};

/// Stream offsets are counted in octets from the other side's first.
#[derive(Debug)]
pub(super) struct Receiver {
    first_seq: u32,
    /// Everything below has arrived.
    expected: u64,
    /// What arrived beyond that: disjoint, ascending, apart.
    early: Vec<(u64, u64)>,
    /// Those that the newest arrivals joined, newest first, as SACK blocks tell them.
    recent: Vec<(u64, u64)>,
    /// How many of them.
    blocks: usize,
    /// Data segments, copies included.
    pub(super) received: u64,
}

impl Receiver {
    pub(super) fn new(config: &Config) -> Self {
        Receiver {
            first_seq: config.remote_start,
            expected: 0,
            early: Vec::new(),
            recent: Vec::new(),
            blocks: usize::from(config.sack_blocks),
            received: 0,
        }
    }

    /// The acknowledgement number: the next octet expected.
    pub(super) fn ack_number(&self) -> u32 {
        self.sequence(self.expected)
    }

    /// Octets that arrived in order.
    pub(super) fn delivered(&self) -> u64 {
        self.expected
    }

    /// Takes in a data segment, whether new, early or a copy.
    pub(super) fn accept(&mut self, data: &Segment) {
        self.received += 1;
        // The sequence number nearest to what is expected; before the stream's start nothing is
        // left of it.
        let ahead = i64::from(data.seq.wrapping_sub(self.ack_number()) as i32);
        let left = self.expected as i64 + ahead;
        let right = left + i64::from(data.payload);
        if right <= self.expected as i64 {
            return;
        }
        let left = left.max(self.expected as i64) as u64;
        self.insert(left, right as u64);
        self.remember(left);
    }

    /// The range that what arrived at `left` belongs to is the newest.
    fn remember(&mut self, left: u64) {
        if self.blocks == 0 {
            return;
        }
        let joined = self.early.iter().find(|(begin, end)| (begin..end).contains(&&left));
        let newest = joined.copied();
        let expected = self.expected;
        self.recent.retain(|&(begin, end)| {
            let covered = newest.is_some_and(|(from, to)| from <= begin && end <= to);
            begin > expected && !covered
        });
        self.recent.splice(0..0, newest);
        self.recent.truncate(self.blocks);
    }

    /// The SACK blocks of the next acknowledgement (RFC 2018, §4).
    pub(super) fn sack(&self) -> SackBlocks {
        let mut sack = SackBlocks::default();
        for &(left, right) in &self.recent {
            sack.push(self.sequence(left), self.sequence(right));
        }
        sack
    }

    fn sequence(&self, offset: u64) -> u32 {
        self.first_seq.wrapping_add(offset as u32)
    }

    fn insert(&mut self, mut left: u64, mut right: u64) {
        if left > self.expected || !self.early.is_empty() {
            // Ranges that touch the new one become part of it.
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::Recovery;

    fn receiver(first_seq: u32) -> Receiver {
        Receiver::new(&Config {
            remote_start: first_seq,
            ..Config::stock(Recovery::Reno)
        })
    }

    fn data(seq: u32, payload: u32) -> Segment {
        Segment {
            seq,
            payload,
            ..Segment::default()
        }
    }

    #[test]
    fn a_hole_holds_the_acknowledgement_back_until_it_is_filled() {
        let mut receiver = receiver(0);
        for (seq, ack) in [(0, 10), (20, 10), (40, 10), (30, 10), (10, 50)] {
            receiver.accept(&data(seq, 10));
            assert_eq!(receiver.ack_number(), ack, "after {seq}");
        }
        assert!(receiver.early.is_empty());
    }

    #[test]
    fn copies_and_overlaps_change_nothing_but_what_is_new() {
        let mut receiver = receiver(0);
        for (seq, octets, ack) in [
            (0, 10, 10),
            (0, 10, 10),
            (5, 10, 15),
            (25, 5, 15),
            (20, 20, 15),
            (15, 6, 40),
        ] {
            receiver.accept(&data(seq, octets));
            assert_eq!(receiver.ack_number(), ack, "after {seq}");
        }
        assert_eq!(receiver.received, 6);
    }

    #[test]
    fn sequence_numbers_wrap() {
        let start = u32::MAX - 14;
        let mut receiver = receiver(start);
        receiver.accept(&data(start.wrapping_add(10), 10));
        assert_eq!(receiver.ack_number(), start);
        receiver.accept(&data(start, 10));
        assert_eq!(receiver.ack_number(), 5);
        assert_eq!(receiver.delivered(), 20);
    }

    #[test]
    fn a_segment_from_before_the_stream_is_ignored() {
        let mut receiver = receiver(100);
        receiver.accept(&data(50, 10));
        assert_eq!(receiver.delivered(), 0);
        receiver.accept(&data(95, 10));
        assert_eq!(receiver.delivered(), 5);
    }
}
