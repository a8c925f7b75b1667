//! Forward acknowledgement (Mathis and Mahdavi, SIGCOMM 1996), without rampdown: the highest
//! selectively acknowledged segment shows which segments have left the network, and the window
//! counts from there.
//!
//! Recovery continues after a timeout: it ends with an acknowledgement that has no SACK blocks and
//! covers everything that had been sent when it began.

use congestion::{AckEvent, Evidence};
use units::Instant;

use super::scoreboard::Scoreboard;
use super::{LossRecovery, THRESHOLD};
use crate::tcp::feedback::Feedback;
use crate::tcp::flight::Flight;

#[derive(Debug, Default)]
pub(super) struct Fack {
    board: Scoreboard,
    /// Segments `0..fack` have left the network, except those sent again.
    fack: u64,
    /// Number of segments sent again and not known to have arrived.
    retransmitted: u64,
    /// The next segment to send when recovery began. Set during recovery.
    recover: Option<u64>,
    /// Whether a retransmission was lost as well: nothing is sent until the timer expires or
    /// recovery ends.
    blocked: bool,
    /// Outside of recovery: there are too few holes to act on, or a duplicate without SACK blocks
    /// arrived.
    doubtful: bool,
}

impl Fack {
    pub(super) fn new() -> Self {
        Fack::default()
    }

    /// Resets the state: everything up to `acked` has arrived, and nothing beyond it is known.
    fn start_over(&mut self, acked: u64) {
        self.board.clear();
        self.retransmitted = 0;
        self.fack = acked;
    }

    /// The common handling of acknowledgements with SACK blocks or in recovery: the timer restarts,
    /// and the round-trip time takes effect from the next restart on.
    fn time(&self, flight: &mut Flight, now: Instant, acked: u64, marks: &Feedback) -> AckEvent {
        let event = match acked > flight.acked {
            true => flight.acknowledge_partially(now, acked, marks),
            false => {
                let event = flight.count_duplicate(now, marks);
                flight.restart_timer(now);
                event
            }
        };
        if let Some(rtt) = marks.echoed_rtt {
            flight.sample_rtt(now, rtt);
        }
        event
    }

    fn note(&mut self, acked: u64, marks: &Feedback) {
        let update = self.board.update(acked, marks.sacked());
        self.retransmitted = self.retransmitted.saturating_sub(update.repaired);
    }

    fn advance(&mut self, flight: &mut Flight, marks: &Feedback) {
        let sacked = marks.sacked().iter().map(|&(_, right)| right).max();
        self.fack = self.fack.max(flight.acked).max(sacked.unwrap_or(0));
        flight.next = flight.next.max(self.fack);
    }

    /// Handles an acknowledgement with SACK blocks, or a duplicate, outside of recovery.
    fn suspect(
        &mut self,
        flight: &mut Flight,
        now: Instant,
        acked: u64,
        marks: &Feedback,
    ) -> AckEvent {
        // The simulator records the blocks before it handles the acknowledgement.
        self.note(flight.acked, marks);
        let event = self.time(flight, now, acked, marks);
        self.advance(flight, marks);
        let beyond = self.fack.checked_sub(flight.acked + 1);
        self.doubtful = beyond != Some(0);
        let duplicates = u32::try_from(beyond.unwrap_or(0)).unwrap_or(u32::MAX);
        flight.duplicates = duplicates;
        if duplicates >= THRESHOLD {
            self.fast_retransmit(flight, now);
        }
        event
    }

    fn fast_retransmit(&mut self, flight: &mut Flight, now: Instant) {
        let window = flight.usable_window(0);
        flight.lose_oldest(now, Evidence::Duplicates, window);
        self.recover = Some(flight.next);
        self.retransmitted += 1;
        flight.reset_timer(now, false);
        self.board.mark_resent(flight.acked, flight.next);
        flight.resend_oldest();
    }

    /// Handles any acknowledgement in recovery.
    fn go_on(
        &mut self,
        flight: &mut Flight,
        now: Instant,
        acked: u64,
        recover: u64,
        marks: &Feedback,
    ) -> AckEvent {
        let event = self.time(flight, now, acked, marks);
        self.advance(flight, marks);
        self.note(acked, marks);
        self.blocked |= self.board.lose_resent(marks.sacked());
        flight.controller.on_ack(&event);
        if marks.sacked().is_empty() && acked > recover {
            self.recover = None;
            self.blocked = false;
            self.doubtful = false;
            flight.duplicates = 0;
            self.start_over(acked);
        }
        event
    }
}

impl LossRecovery for Fack {
    fn on_new_ack(
        &mut self,
        flight: &mut Flight,
        now: Instant,
        acked: u64,
        marks: &Feedback,
    ) -> AckEvent {
        if let Some(recover) = self.recover {
            return self.go_on(flight, now, acked, recover, marks);
        }
        if !marks.sacked().is_empty() {
            return self.suspect(flight, now, acked, marks);
        }
        self.blocked = false;
        self.doubtful = false;
        self.start_over(acked);
        let event = flight.acknowledge(now, acked, marks);
        flight.controller.on_ack(&event);
        event
    }

    fn on_duplicate_ack(
        &mut self,
        flight: &mut Flight,
        now: Instant,
        marks: &Feedback,
    ) -> AckEvent {
        let acked = flight.acked;
        match self.recover {
            Some(recover) => self.go_on(flight, now, acked, recover, marks),
            None => self.suspect(flight, now, acked, marks),
        }
    }

    fn on_timeout(&mut self, flight: &mut Flight, now: Instant) {
        self.blocked = false;
        self.doubtful = false;
        self.start_over(flight.acked);
        flight.time_out(now);
    }

    fn poll_segment(&mut self, flight: &mut Flight) -> Option<u64> {
        if let Some(oldest) = flight.take_resend() {
            return Some(oldest);
        }
        let held = match self.recover {
            Some(_) => self.blocked,
            None => self.doubtful,
        };
        let limit = self.fack + flight.usable_window(0);
        if held || flight.next + self.retransmitted >= limit {
            return None;
        }
        let Some(hole) = self.board.hole() else {
            return match self.recover {
                Some(_) => flight.take_within(flight.receiver_window()),
                None => flight.take_any(),
            };
        };
        self.board.mark_resent(hole, flight.next);
        self.retransmitted += 1;
        Some(flight.take_again(hole))
    }
}
