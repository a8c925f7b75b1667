//! The segments that the receiver holds beyond the oldest missing one, according to its SACK blocks
//! (RFC 2018).

use std::collections::VecDeque;

/// The segments from the oldest missing one to the highest selectively acknowledged.
#[derive(Debug, Default)]
pub(super) struct Scoreboard {
    first: u64,
    segments: VecDeque<State>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct State {
    sacked: bool,
    /// For a segment that was sent again and not acknowledged since: the next new segment at that
    /// time.
    resent: Option<u64>,
}

/// The effect of an acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Update {
    /// Whether it contained new information.
    pub(super) changed: bool,
    /// Number of retransmitted segments that it covers.
    pub(super) repaired: u64,
}

impl Scoreboard {
    /// Records that segments `0..acked` have arrived, and those of `blocks`.
    pub(super) fn update(&mut self, acked: u64, blocks: &[(u64, u64)]) -> Update {
        let mut update = Update::default();
        while self.first < acked && !self.segments.is_empty() {
            let state = self.segments.pop_front().unwrap_or_default();
            self.first += 1;
            update.changed = true;
            update.repaired += u64::from(state.resent.is_some());
        }
        if self.segments.is_empty() {
            self.first = acked;
        }
        for &(left, right) in blocks {
            let left = left.max(self.first);
            for segment in left..right {
                let index = (segment - self.first) as usize;
                if index >= self.segments.len() {
                    self.segments.resize(index + 1, State::default());
                }
                let state = &mut self.segments[index];
                update.changed |= !state.sacked;
                state.sacked = true;
                update.repaired += u64::from(state.resent.take().is_some());
            }
        }
        update
    }

    /// The first hole that has not been sent again.
    pub(super) fn hole(&self) -> Option<u64> {
        let open = |state: &State| !state.sacked && state.resent.is_none();
        let index = self.segments.iter().position(open)?;
        Some(self.first + index as u64)
    }

    /// Records that `segment` is sent again while `next` is the next new one.
    pub(super) fn mark_resent(&mut self, segment: u64, next: u64) {
        let index = segment.checked_sub(self.first).map(|index| index as usize);
        if let Some(state) = index.and_then(|index| self.segments.get_mut(index)) {
            state.resent = Some(next);
        }
    }

    /// Discards retransmissions that were lost as well, because something first sent after them has
    /// arrived. Returns whether there were any.
    pub(super) fn lose_resent(&mut self, blocks: &[(u64, u64)]) -> bool {
        let Some(right) = blocks.iter().map(|&(_, right)| right).max() else {
            return false;
        };
        let mut lost = false;
        for state in &mut self.segments {
            if state.resent.is_some_and(|next| next < right) {
                state.resent = None;
                lost = true;
            }
        }
        lost
    }

    pub(super) fn clear(&mut self) {
        self.segments.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn update(changed: bool, repaired: u64) -> Update {
        Update { changed, repaired }
    }

    #[test]
    fn only_what_is_new_changes_it() {
        let mut board = Scoreboard::default();
        assert_eq!(board.update(10, &[(11, 13)]), update(true, 0));
        assert_eq!(board.update(10, &[(11, 13)]), update(false, 0));
        assert_eq!(board.update(10, &[(14, 15), (11, 13)]), update(true, 0));
        assert_eq!(board.hole(), Some(10));
    }

    #[test]
    fn holes_are_sent_again_in_order_and_once() {
        let mut board = Scoreboard::default();
        board.update(10, &[(11, 13), (14, 15)]);
        board.mark_resent(10, 20);
        assert_eq!(board.hole(), Some(13));
        board.mark_resent(13, 20);
        assert_eq!(board.hole(), None);
        assert_eq!(board.update(13, &[(14, 15)]), update(true, 1));
        assert_eq!(board.update(13, &[(13, 15)]), update(true, 1));
    }

    #[test]
    fn a_resend_is_lost_when_something_sent_after_it_arrives() {
        let mut board = Scoreboard::default();
        board.update(10, &[(11, 13)]);
        board.mark_resent(10, 20);
        board.update(10, &[(11, 20)]);
        assert!(!board.lose_resent(&[(11, 20)]));
        board.update(10, &[(11, 21)]);
        assert!(board.lose_resent(&[(11, 21)]));
        assert_eq!(board.hole(), Some(10));
    }
}
