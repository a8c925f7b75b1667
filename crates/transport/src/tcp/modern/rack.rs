//! RACK: a segment is lost if one sent later has arrived long enough ago (RFC 8985, §6).

use std::collections::VecDeque;

use units::{Duration, Instant};

use super::scoreboard::{Fate, Scoreboard, Sent};

/// RACK's knowledge about the newest transmission that arrived, and about reordering.
///
/// Transmissions are queued in the order in which they were sent. Each passes through both queues once, so that loss
/// detection takes amortized constant time per transmission.
#[derive(Debug, Default)]
pub(super) struct Rack {
    /// Transmissions not known to have been sent before the newest that arrived, in ascending order. Some are no longer
    /// in flight.
    waiting: VecDeque<Transmission>,
    /// Transmissions sent before the newest that arrived. Otherwise like `waiting`.
    overtaken: VecDeque<Transmission>,
    /// RACK.xmit_ts, RACK.end_seq, RACK.rtt.
    pub(super) newest: Option<(Instant, u64, Duration)>,
    /// RACK.fack: the highest position that arrived.
    highest: u64,
    /// RACK.reordering_seen.
    reordered: bool,
    /// RACK.reo_wnd_mult, in quarters of the lowest round-trip time.
    quarters: u64,
    /// RACK.reo_wnd_persist: the number of recoveries for which it is kept.
    persist: u32,
    /// RACK.dsack_round: duplicates up to here belong to the same round.
    copies_until: Option<u64>,
}

/// The number of segments that arrived early after which a preceding segment is considered lost, if the path is not
/// known to reorder (DupThresh).
const DUPLICATE_THRESHOLD: usize = 3;
/// Number of recoveries without a duplicate after which the reordering window shrinks again.
const PERSISTENCE: u32 = 16;

/// A transmission of a segment, ordered by time and then by the segment's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Transmission {
    at: Instant,
    end: u64,
    /// The segment's number.
    number: u64,
}

impl Transmission {
    /// Whether it is in flight: neither arrived nor lost, and not followed by a later transmission of the same segment.
    fn is_on_its_way(&self, board: &Scoreboard) -> bool {
        let sent = board.get(self.number);
        sent.is_some_and(|sent| sent.fate == Fate::InFlight && sent.at == self.at)
    }
}

/// Inserts a transmission in order: at the end, unless others were sent at the same time.
fn insert(queue: &mut VecDeque<Transmission>, transmission: Transmission) {
    match queue.back() {
        Some(last) if *last > transmission => {
            let index = queue.partition_point(|other| *other < transmission);
            queue.insert(index, transmission);
        }
        _ => queue.push_back(transmission),
    }
}

/// The parameters of the connection for [`Rack::detect`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Path {
    pub(super) now: Instant,
    pub(super) srtt: Duration,
    pub(super) lowest_rtt: Duration,
    pub(super) recovering: bool,
}

impl Rack {
    /// Records a sent segment, which may be a retransmission.
    pub(super) fn on_sent(&mut self, number: u64, end: u64, at: Instant) {
        insert(&mut self.waiting, Transmission { at, end, number });
    }

    /// Steps 2 and 3: handles a transmission that arrived. `echoed_before` states that the acknowledgement's timestamp
    /// shows that an earlier transmission of the segment caused it.
    pub(super) fn on_delivered(
        &mut self,
        now: Instant,
        sent: &Sent,
        lowest_rtt: Option<Duration>,
        echoed_before: bool,
    ) {
        let rtt = now.since(sent.at);
        let again = sent.transmissions > 1;
        if again && (echoed_before || lowest_rtt.is_some_and(|lowest| rtt < lowest)) {
            return;
        }
        if self
            .newest
            .is_none_or(|(at, end, _)| (sent.at, sent.end) > (at, end))
        {
            self.newest = Some((sent.at, sent.end, rtt));
        }
        if sent.end >= self.highest {
            self.highest = sent.end;
        } else if !again {
            self.reordered = true;
        }
    }

    /// Step 4: handles a reported duplicate (RFC 2883): the window was too short. At most once per round.
    pub(super) fn on_copy(&mut self, acked: u64, next: u64) {
        if self.copies_until.is_some_and(|until| acked < until) {
            return;
        }
        self.copies_until = Some(next);
        self.quarters = self.quarters.max(1) + 1;
        self.persist = PERSISTENCE;
    }

    /// Step 4: handles the end of a recovery.
    pub(super) fn on_recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.quarters = 1;
        }
    }

    /// By how much a segment may be late.
    pub(super) fn reordering_window(&self, path: &Path, sacked: usize) -> Duration {
        if !self.reordered && (path.recovering || sacked >= DUPLICATE_THRESHOLD) {
            return Duration::ZERO;
        }
        (path.lowest_rtt * self.quarters.max(1) / 4).min(path.srtt)
    }

    /// Step 5: marks segments as lost. Returns their number, and when to check again.
    pub(super) fn detect(&mut self, board: &mut Scoreboard, path: &Path) -> (u64, Option<Instant>) {
        let Some((newest, end, rtt)) = self.newest else {
            return (0, None);
        };
        self.overtake(board, newest, end);
        if !board.is_irregular() {
            return (0, None);
        }
        let allowed = rtt + self.reordering_window(path, board.sacked());
        let mut lost = 0;
        while let Some(first) = self.overtaken.front() {
            if first.is_on_its_way(board) {
                if path.now < first.at + allowed {
                    break;
                }
                board.lose(first.number);
                lost += 1;
            }
            self.overtaken.pop_front();
        }
        while let Some(last) = self.overtaken.back() {
            if last.is_on_its_way(board) {
                return (lost, Some(last.at + allowed));
            }
            self.overtaken.pop_back();
        }
        (lost, None)
    }

    /// Moves the transmissions sent before the newest that arrived to `overtaken`.
    fn overtake(&mut self, board: &Scoreboard, newest: Instant, end: u64) {
        while let Some(&first) = self.waiting.front()
            && (first.at, first.end) < (newest, end)
        {
            self.waiting.pop_front();
            if first.is_on_its_way(board) {
                insert(&mut self.overtaken, first);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::modern::rate::Stamp;

    fn at(ms: u64) -> Instant {
        Instant::from_micros(ms * 1000)
    }

    fn path(ms: u64) -> Path {
        Path {
            now: at(ms),
            srtt: Duration::from_millis(40),
            lowest_rtt: Duration::from_millis(40),
            recovering: false,
        }
    }

    /// Five segments, a millisecond apart.
    fn five_sent() -> (Rack, Scoreboard) {
        let (mut rack, mut board) = Default::default();
        (0..5).for_each(|number| send(&mut rack, &mut board, number, number));
        (rack, board)
    }

    fn send(rack: &mut Rack, board: &mut Scoreboard, number: u64, ms: u64) {
        let end = number * 10 + 10;
        match number < board.next() {
            true => board.resend(number, at(ms), Stamp::default()),
            false => board.push(number * 10, end, at(ms), Stamp::default()),
        }
        rack.on_sent(number, end, at(ms));
    }

    fn deliver(rack: &mut Rack, board: &mut Scoreboard, number: u64, ms: u64) {
        board.sack(number * 10, number * 10 + 10, |_, sent| {
            rack.on_delivered(at(ms), sent, None, false);
        });
    }

    #[test]
    fn a_gap_is_lost_after_a_quarter_of_a_round_trip() {
        let (mut rack, mut board) = five_sent();
        deliver(&mut rack, &mut board, 1, 41);
        let (lost, again) = rack.detect(&mut board, &path(41));
        // Sent at 0, round trip 40 ms, window 10 ms.
        assert_eq!((lost, again), (0, Some(at(50))));
        let (lost, again) = rack.detect(&mut board, &path(50));
        assert_eq!((lost, again, board.first_lost()), (1, None, Some(0)));
    }

    #[test]
    fn three_early_segments_suffice_where_nothing_is_reordered() {
        let (mut rack, mut board) = five_sent();
        (1..4).for_each(|number| deliver(&mut rack, &mut board, number, 40 + number));
        assert_eq!(rack.detect(&mut board, &path(43)).0, 1);
        assert_eq!(board.lost(), 1);
    }

    #[test]
    fn once_reordering_is_seen_three_do_not_suffice() {
        let (mut rack, mut board) = five_sent();
        deliver(&mut rack, &mut board, 2, 42);
        deliver(&mut rack, &mut board, 1, 42);
        deliver(&mut rack, &mut board, 3, 43);
        assert_eq!(rack.detect(&mut board, &path(43)), (0, Some(at(50))));
    }

    #[test]
    fn a_lost_retransmission_is_found() {
        let (mut rack, mut board) = five_sent();
        (1..4).for_each(|number| deliver(&mut rack, &mut board, number, 40 + number));
        rack.detect(&mut board, &path(43));
        send(&mut rack, &mut board, 0, 43);
        send(&mut rack, &mut board, 5, 44);
        deliver(&mut rack, &mut board, 5, 84);
        let recovering = Path {
            recovering: true,
            ..path(84)
        };
        rack.detect(&mut board, &recovering);
        assert_eq!(board.first_lost(), Some(0));
    }
}
