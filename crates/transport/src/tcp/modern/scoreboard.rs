//! The state of segments that were sent and are not acknowledged (RFC 2018, RFC 6675, RFC 8985).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use units::Instant;

use super::rate::Stamp;

/// A sent segment: positions `start..end` of the sequence space, counted from the SYN.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub(super) start: u64,
    pub(super) end: u64,
    /// When it was last sent.
    pub(super) at: Instant,
    /// How often it was sent.
    pub(super) transmissions: u32,
    pub(super) fate: Fate,
    /// The path's deliveries when it was last sent.
    pub(super) stamp: Stamp,
    /// If it arrived early: no segment from it up to this number is known to be missing.
    run_end: u64,
}

/// The presumed state of a segment's newest transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// In flight.
    InFlight,
    /// It arrived early.
    Sacked,
    /// Lost: must be sent again.
    Lost,
}

/// Segments in the order of the stream, numbered from the connection's first.
///
/// The cost of an acknowledgement does not depend on the window: runs of segments that arrived early are skipped at
/// once, and the lost segments are kept in a heap. Only a timeout visits all segments.
#[derive(Debug, Default)]
pub(super) struct Scoreboard {
    segments: VecDeque<Sent>,
    /// The number of the oldest segment.
    first: u64,
    in_flight: usize,
    sacked: usize,
    lost: usize,
    resent: usize,
    /// The numbers of the lost segments, and of some that are no longer lost. The smallest is always a lost one.
    lost_numbers: BinaryHeap<Reverse<u64>>,
}

impl Scoreboard {
    /// The number of the oldest segment that is not acknowledged.
    pub(super) fn first(&self) -> u64 {
        self.first
    }

    /// The number of the next segment to be sent for the first time.
    pub(super) fn next(&self) -> u64 {
        self.first + self.segments.len() as u64
    }

    /// Whether everything sent is acknowledged.
    pub(super) fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Number of segments in flight ("pipe", RFC 6675).
    pub(super) fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Number of segments that arrived early.
    pub(super) fn sacked(&self) -> usize {
        self.sacked
    }

    /// Number of segments to be sent again.
    pub(super) fn lost(&self) -> usize {
        self.lost
    }

    /// Whether a segment arrived early, is lost, or was sent again.
    pub(super) fn is_irregular(&self) -> bool {
        self.sacked + self.lost + self.resent > 0
    }

    pub(super) fn get(&self, number: u64) -> Option<&Sent> {
        let index = number.checked_sub(self.first)?;
        self.segments.get(usize::try_from(index).ok()?)
    }

    /// The data segment in flight that contains a position, and its number.
    pub(super) fn at(&self, position: u64) -> Option<(u64, &Sent)> {
        let index = self.segments.partition_point(|sent| sent.end <= position);
        let number = self.first + index as u64;
        let sent = self.segments.get(index)?;
        let found = number > 0 && sent.start <= position && sent.fate == Fate::InFlight;
        found.then_some((number, sent))
    }

    /// The newest segment's number and state.
    pub(super) fn last(&self) -> Option<(u64, &Sent)> {
        let sent = self.segments.back()?;
        Some((self.next() - 1, sent))
    }

    /// The oldest lost segment.
    pub(super) fn first_lost(&self) -> Option<u64> {
        self.lost_numbers.peek().map(|&Reverse(number)| number)
    }

    /// Adds a segment that is sent for the first time.
    pub(super) fn push(&mut self, start: u64, end: u64, at: Instant, stamp: Stamp) {
        self.in_flight += 1;
        self.segments.push_back(Sent {
            start,
            end,
            at,
            transmissions: 1,
            fate: Fate::InFlight,
            stamp,
            run_end: 0,
        });
    }

    /// Records that a segment is sent again.
    pub(super) fn resend(&mut self, number: u64, at: Instant, stamp: Stamp) {
        let Some(index) = self.index(number) else {
            return;
        };
        if self.segments[index].fate == Fate::Sacked {
            self.split_runs();
        }
        self.set_fate(index, Fate::InFlight);
        let sent = &mut self.segments[index];
        sent.at = at;
        sent.stamp = stamp;
        sent.transmissions += 1;
        self.resent += usize::from(sent.transmissions == 2);
    }

    /// Removes and returns the oldest segment if everything below `acked` covers it. A partly covered segment keeps the
    /// rest.
    pub(super) fn pop_acked(&mut self, acked: u64) -> Option<Sent> {
        let sent = self.segments.front_mut()?;
        if sent.end > acked {
            sent.start = sent.start.max(acked);
            return None;
        }
        let sent = self.segments.pop_front()?;
        self.first += 1;
        *self.count(sent.fate) -= 1;
        self.resent -= usize::from(sent.transmissions > 1);
        self.forget_found();
        Some(sent)
    }

    /// Marks the segments within `left..right` as arrived. Passes each that was not marked before to `each`, with its
    /// number.
    pub(super) fn sack(&mut self, left: u64, right: u64, mut each: impl FnMut(u64, &Sent)) {
        let mut index = self.segments.partition_point(|sent| sent.start < left);
        while let Some(&sent) = self.segments.get(index)
            && sent.end <= right
        {
            if sent.fate == Fate::Sacked {
                index = self.pass_run(index);
                continue;
            }
            self.set_fate(index, Fate::Sacked);
            each(self.first + index as u64, &sent);
            index += 1;
        }
    }

    /// Marks the oldest segment in flight, other than the very oldest, as arrived. Without SACK, this is the only
    /// information in a duplicate.
    pub(super) fn sack_any(&mut self) -> bool {
        let oldest = self.segments.front();
        if self.in_flight == oldest.map_or(0, |sent| usize::from(sent.fate == Fate::InFlight)) {
            return false;
        }
        let mut index = 1;
        while let Some(sent) = self.segments.get(index) {
            match sent.fate {
                Fate::InFlight => {
                    self.set_fate(index, Fate::Sacked);
                    return true;
                }
                Fate::Sacked => index = self.pass_run(index),
                Fate::Lost => index += 1,
            }
        }
        false
    }

    /// The index behind the run of early segments that contains `index`. Shortens the path for later calls, so that a
    /// call takes amortized logarithmic time.
    fn pass_run(&mut self, mut index: usize) -> usize {
        while let Some(sent) = self.segments.get(index)
            && sent.fate == Fate::Sacked
        {
            let next = (sent.run_end - self.first) as usize;
            if let Some(after) = self.segments.get(next)
                && after.fate == Fate::Sacked
            {
                self.segments[index].run_end = after.run_end;
            }
            index = next;
        }
        index
    }

    /// Marks the oldest segment as not arrived after all, because only a duplicate had indicated its arrival.
    pub(super) fn unsack_first(&mut self) {
        if self
            .segments
            .front()
            .is_some_and(|sent| sent.fate == Fate::Sacked)
        {
            self.set_fate(0, Fate::InFlight);
        }
    }

    /// Marks a segment in flight as lost.
    pub(super) fn lose(&mut self, number: u64) {
        if let Some(index) = self.index(number)
            && self.segments[index].fate == Fate::InFlight
        {
            self.set_fate(index, Fate::Lost);
        }
    }

    /// Marks all segments in flight as lost.
    pub(super) fn lose_all(&mut self) {
        self.lose_every(Fate::InFlight);
    }

    /// Discards selective acknowledgements, which the other end may revoke (RFC 2018, §8).
    pub(super) fn renege(&mut self) {
        self.lose_every(Fate::Sacked);
    }

    /// Makes each early segment a run of its own, because a run must not contain a segment that is sent again. Only a
    /// tail loss probe that crossed its acknowledgement sends one.
    fn split_runs(&mut self) {
        for (number, sent) in (self.first..).zip(&mut self.segments) {
            sent.run_end = number + 1;
        }
    }

    fn lose_every(&mut self, fate: Fate) {
        for index in 0..self.segments.len() {
            if self.segments[index].fate == fate {
                self.set_fate(index, Fate::Lost);
            }
        }
    }

    fn index(&self, number: u64) -> Option<usize> {
        let index = usize::try_from(number.checked_sub(self.first)?).ok()?;
        (index < self.segments.len()).then_some(index)
    }

    fn set_fate(&mut self, index: usize, fate: Fate) {
        let before = self.segments[index].fate;
        *self.count(before) -= 1;
        *self.count(fate) += 1;
        self.segments[index].fate = fate;
        let number = self.first + index as u64;
        match fate {
            Fate::InFlight => {}
            Fate::Sacked => self.segments[index].run_end = number + 1,
            Fate::Lost => self.lost_numbers.push(Reverse(number)),
        }
        self.forget_found();
    }

    /// Removes numbers until the smallest belongs to a lost segment.
    fn forget_found(&mut self) {
        while let Some(number) = self.first_lost()
            && self.get(number).is_none_or(|sent| sent.fate != Fate::Lost)
        {
            self.lost_numbers.pop();
        }
    }

    fn count(&mut self, fate: Fate) -> &mut usize {
        match fate {
            Fate::InFlight => &mut self.in_flight,
            Fate::Sacked => &mut self.sacked,
            Fate::Lost => &mut self.lost,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_early_segments_are_passed_in_few_steps() {
        let mut board = Scoreboard::default();
        for start in 0..10_000 {
            board.push(start, start + 1, Instant::ZERO, Stamp::default());
        }
        // Every 100th is missing. The others arrive one by one, each reported with all before it.
        for left in (0..10_000).step_by(100) {
            for right in left + 2..=left + 100 {
                board.sack(left + 1, right, |_, _| {});
            }
        }
        assert_eq!(counts(&board), (100, 9_900, 0));
        for left in (1..10_000).step_by(100) {
            let (mut number, mut steps) = (left, 0);
            while let Some(sent) = board.get(number)
                && sent.fate == Fate::Sacked
            {
                number = sent.run_end;
                steps += 1;
            }
            assert!(steps <= 8, "{steps} steps from {left}");
        }
    }

    fn ten_by_ten() -> Scoreboard {
        let mut board = Scoreboard::default();
        for start in (0..100).step_by(10) {
            board.push(start, start + 10, Instant::ZERO, Stamp::default());
        }
        board
    }

    fn counts(board: &Scoreboard) -> (usize, usize, usize) {
        (board.in_flight(), board.sacked(), board.lost())
    }

    #[test]
    fn only_whole_segments_are_marked_and_each_is_news_once() {
        let mut board = ten_by_ten();
        let mut news = Vec::new();
        board.sack(15, 45, |number, _| news.push(number));
        board.sack(20, 50, |number, _| news.push(number));
        assert_eq!(news, [2, 3, 4]);
        assert_eq!(counts(&board), (7, 3, 0));
    }

    #[test]
    fn a_lost_segment_is_sent_again_and_its_acknowledgement_settles_all() {
        let mut board = ten_by_ten();
        board.sack(10, 100, |_, _| {});
        board.lose(0);
        board.lose(3);
        assert_eq!((counts(&board), board.first_lost()), ((0, 9, 1), Some(0)));
        board.resend(0, Instant::ZERO, Stamp::default());
        assert_eq!((counts(&board), board.first_lost()), ((1, 9, 0), None));
        let mut acked = 0;
        while let Some(sent) = board.pop_acked(95) {
            assert_eq!(sent.transmissions > 1, sent.start == 0);
            acked += 1;
        }
        assert_eq!((acked, board.first(), counts(&board)), (9, 9, (0, 1, 0)));
        assert_eq!(board.last().map(|(_, sent)| sent.start), Some(95));
        assert!(board.is_irregular());
        board.renege();
        assert_eq!(counts(&board), (0, 0, 1));
    }
}
