//! Round trips of a window.

use crate::event::AckEvent;

/// The current round. It ends when the first segment sent in it is acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Round {
    mark: u64,
}

impl Round {
    /// Whether this acknowledgement of new data ends the round. If so, starts the next one.
    pub(crate) fn ends(&mut self, ack: &AckEvent) -> bool {
        if ack.acked <= self.mark {
            return false;
        }
        self.mark = ack.next;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_ends_with_the_first_segment_sent_in_it() {
        let mut round = Round::default();
        let ends = [(1, 3), (2, 5), (3, 7), (4, 8), (8, 16)].map(|(acked, next)| {
            round.ends(&AckEvent {
                acked,
                next,
                ..AckEvent::default()
            })
        });
        assert_eq!(ends, [true, false, false, true, false]);
    }
}
