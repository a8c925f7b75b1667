//! The receiving side: data that arrived in order, and data that arrived early.

use super::assembler::Assembler;
use super::config::Config;
use super::segment::{Flags, SackBlocks, Segment};

/// Stream offsets are in octets from the other side's first octet.
#[derive(Debug)]
pub(super) struct Receiver {
    first_seq: u32,
    /// Octets of the sequence space that do not belong to the stream: those of a SYN.
    foreign: u64,
    assembler: Assembler,
    /// Data segments, including duplicates.
    pub(super) received: u64,
    /// TS.Recent (RFC 7323, §4.3): the timestamp to echo, from the newest segment that did not
    /// arrive early.
    pub(super) recent_stamp: Option<u32>,
}

impl Receiver {
    pub(super) fn new(config: &Config) -> Self {
        Receiver {
            first_seq: config.remote_start,
            foreign: u64::from(config.opens_with_syn()),
            assembler: Assembler::new(0, usize::from(config.sack_blocks)),
            received: 0,
            recent_stamp: None,
        }
    }

    /// The acknowledgement number: the next octet expected.
    pub(super) fn ack_number(&self) -> u32 {
        self.sequence(self.assembler.expected())
    }

    /// Octets that arrived in order.
    pub(super) fn delivered(&self) -> u64 {
        self.assembler.expected().saturating_sub(self.foreign)
    }

    /// Handles a data segment or a SYN, which may be new, early or a duplicate.
    pub(super) fn accept(&mut self, data: &Segment) {
        let syn = u32::from(data.flags.contains(Flags::SYN));
        self.received += u64::from(1 - syn);
        // The sequence number nearest to the expected one. Nothing is left of data before the
        // stream's start.
        let ahead = i64::from(data.seq.wrapping_sub(self.ack_number()) as i32);
        let expected = self.assembler.expected() as i64;
        let left = expected + ahead;
        let right = left + i64::from(data.payload + syn);
        if left <= expected {
            self.recent_stamp = data.timestamps.map(|stamps| stamps.value);
        }
        self.assembler
            .insert(left.max(0) as u64, right.max(0) as u64);
    }

    /// The SACK blocks of the next acknowledgement (RFC 2018, §4).
    pub(super) fn sack(&self) -> SackBlocks {
        let mut sack = SackBlocks::default();
        for &(left, right) in self.assembler.recent() {
            sack.push(self.sequence(left), self.sequence(right));
        }
        sack
    }

    fn sequence(&self, offset: u64) -> u32 {
        self.first_seq.wrapping_add(offset as u32)
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
        assert_eq!(receiver.assembler.ranges(), 0);
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
