//! What was sent and is not acknowledged, segment by segment (RFC 2018, RFC 6675, RFC 8985).

use std::collections::VecDeque;

use units::Instant;

use super::rate::Stamp;

/// A segment that was sent: positions `start..end` of the sequence space, counted from the SYN.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub(super) start: u64,
    pub(super) end: u64,
    /// When it was last sent.
    pub(super) at: Instant,
    /// How often it was sent.
    pub(super) transmissions: u32,
    pub(super) fate: Fate,
    /// The path's deliveries as it was last sent.
    pub(super) stamp: Stamp,
}

/// What is thought to have become of a segment's newest transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is on its way.
    InFlight,
    /// It arrived early.
    Sacked,
    /// It is lost and has to be sent again.
    Lost,
}

/// Segments in the order of the stream. Numbers count them from the connection's first.
#[derive(Debug, Default)]
pub(super) struct Scoreboard {
    segments: VecDeque<Sent>,
    /// The number of the oldest.
    first: u64,
    in_flight: usize,
    sacked: usize,
    lost: usize,
    resent: usize,
    /// No segment before this one is lost.
    lost_from: u64,
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

    /// Everything sent is acknowledged.
    pub(super) fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Segments on their way ("pipe", RFC 6675).
    pub(super) fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Segments that arrived early.
    pub(super) fn sacked(&self) -> usize {
        self.sacked
    }

    /// Segments to be sent again.
    pub(super) fn lost(&self) -> usize {
        self.lost
    }

    /// Something is out of the ordinary: a segment arrived early, is lost, or was sent again.
    pub(super) fn is_irregular(&self) -> bool {
        self.sacked + self.lost + self.resent > 0
    }

    pub(super) fn get(&self, number: u64) -> Option<&Sent> {
        let index = number.checked_sub(self.first)?;
        self.segments.get(usize::try_from(index).ok()?)
    }

    /// The newest segment's number and what is known of it.
    pub(super) fn last(&self) -> Option<(u64, &Sent)> {
        let sent = self.segments.back()?;
        Some((self.next() - 1, sent))
    }

    /// The oldest lost segment.
    pub(super) fn first_lost(&self) -> Option<u64> {
        if self.lost == 0 {
            return None;
        }
        let from = self.lost_from.max(self.first);
        (from..self.next())
            .find(|&number| self.get(number).is_some_and(|sent| sent.fate == Fate::Lost))
    }

    /// A segment is sent for the first time.
    pub(super) fn push(&mut self, start: u64, end: u64, at: Instant, stamp: Stamp) {
        self.in_flight += 1;
        self.segments.push_back(Sent {
            start,
            end,
            at,
            transmissions: 1,
            fate: Fate::InFlight,
            stamp,
        });
    }

    /// A segment is sent again.
    pub(super) fn resend(&mut self, number: u64, at: Instant, stamp: Stamp) {
        let Some(index) = self.index(number) else {
            return;
        };
        if self.segments[index].fate == Fate::Lost && self.first_lost() == Some(number) {
            self.lost_from = number + 1;
        }
        self.set_fate(index, Fate::InFlight);
        let sent = &mut self.segments[index];
        sent.at = at;
        sent.stamp = stamp;
        sent.transmissions += 1;
        self.resent += usize::from(sent.transmissions == 2);
    }

    /// Takes out the oldest segment if everything below `acked` covers it. A segment covered in
    /// part keeps the rest.
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
        Some(sent)
    }

    /// Marks the segments within `left..right` as arrived, and hands each that is news to `each`
    /// with its number.
    pub(super) fn sack(&mut self, left: u64, right: u64, mut each: impl FnMut(u64, &Sent)) {
        let from = self.segments.partition_point(|sent| sent.start < left);
        for index in from..self.segments.len() {
            let sent = self.segments[index];
            if sent.end > right {
                break;
            }
            if sent.fate != Fate::Sacked {
                self.set_fate(index, Fate::Sacked);
                each(self.first + index as u64, &sent);
            }
        }
    }

    /// The oldest segment on its way behind the very oldest has arrived, as a duplicate without SACK
    /// tells.
    pub(super) fn sack_any(&mut self) -> bool {
        let waits = |sent: &Sent| sent.fate == Fate::InFlight;
        let Some(index) = self.segments.iter().skip(1).position(waits) else {
            return false;
        };
        self.set_fate(index + 1, Fate::Sacked);
        true
    }

    /// The oldest has not arrived after all: only a duplicate had said so.
    pub(super) fn unsack_first(&mut self) {
        if self
            .segments
            .front()
            .is_some_and(|sent| sent.fate == Fate::Sacked)
        {
            self.set_fate(0, Fate::InFlight);
        }
    }

    /// A segment on its way is lost.
    pub(super) fn lose(&mut self, number: u64) {
        if let Some(index) = self.index(number)
            && self.segments[index].fate == Fate::InFlight
        {
            self.set_fate(index, Fate::Lost);
            self.lost_from = self.lost_from.min(number);
        }
    }

    /// Everything on its way is lost.
    pub(super) fn lose_all(&mut self) {
        for sent in &mut self.segments {
            if sent.fate == Fate::InFlight {
                sent.fate = Fate::Lost;
            }
        }
        self.lost += self.in_flight;
        self.in_flight = 0;
        self.lost_from = self.first;
    }

    /// Forgets what arrived early: the other end may take it back (RFC 2018, §8).
    pub(super) fn renege(&mut self) {
        for sent in &mut self.segments {
            if sent.fate == Fate::Sacked {
                sent.fate = Fate::Lost;
            }
        }
        self.lost += self.sacked;
        self.sacked = 0;
        self.lost_from = self.first;
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
