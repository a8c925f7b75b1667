//! Forward acknowledgement (Mathis and Mahdavi, SIGCOMM 1996), without rampdown: the highest
//! selectively acknowledged segment tells what has left the network, and the window counts from
//! there.

use congestion::{AckEvent, Evidence};
use units::Instant;

use super::scoreboard::Scoreboard;
use super::{Cause, LastCut, LossRecovery, THRESHOLD};
use crate::tcp::config::Config;
use crate::tcp::feedback::Feedback;
use crate::tcp::flight::Flight;

#[derive(Debug)]
pub(super) struct Fack {
    board: Scoreboard,
    last_cut: LastCut,
    /// Segments `0..fack` have left the network, but for those sent again.
    fack: u64,
    /// Sent again and not known to have arrived.
    retransmitted: u64,
    /// What was next to be sent when recovery began, while it goes on.
    recover: Option<u64>,
    /// After a timeout duplicates say nothing, and after the loss of a resend nothing is sent,
    /// until something new is acknowledged outside recovery.
    blocked: bool,
    bugfix: bool,
}

impl Fack {
    pub(super) fn new(config: &Config) -> Self {
        Fack {
            board: Scoreboard::default(),
            last_cut: LastCut::default(),
            fack: 0,
            retransmitted: 0,
            recover: None,
            blocked: false,
            bugfix: config.bugfix,
        }
    }

    fn fast_retransmit(&mut self, flight: &mut Flight, now: Instant) {
        if self.bugfix && !self.last_cut.is_over(flight) {
            return;
        }
        let window = flight.usable_window(0);
        flight.lose_oldest(now, Evidence::Duplicates, window);
        self.last_cut.record(Cause::Duplicates, flight);
        self.recover = Some(flight.next);
        self.retransmitted += 1;
        flight.reset_timer(now, false);
        self.board.mark_resent(flight.acked, flight.next);
        flight.resend_oldest();
    }

    /// Takes the blocks of an acknowledgement in recovery.
    fn go_on(&mut self, flight: &mut Flight, acked: u64, marks: &Feedback) {
        let update = self.board.update(acked, marks.sacked());
        self.retransmitted = self.retransmitted.saturating_sub(update.repaired);
        self.advance(flight, acked);
        if self.board.lose_resent(marks.sacked()) {
            self.blocked = true;
        }
    }

    /// Every acknowledgement that does not end the recovery, or announces one, restarts the timer;
    /// its round-trip time counts from the next on.
    fn time(&mut self, flight: &mut Flight, now: Instant, marks: &Feedback) {
        flight.restart_timer(now);
        if let Some(rtt) = marks.echoed_rtt {
            flight.sample_rtt(now, rtt);
        }
    }

    fn advance(&mut self, flight: &mut Flight, acked: u64) {
        self.fack = self.fack.max(acked).max(self.board.end());
        flight.next = flight.next.max(self.fack);
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
        let Some(recover) = self.recover else {
            self.blocked = false;
            self.board.clear();
            self.retransmitted = 0;
            self.fack = acked;
            // After a timeout, what had arrived is not sent again.
            self.board.update(acked, marks.sacked());
            self.advance(flight, acked);
            let event = flight.acknowledge(now, acked, marks);
            flight.controller.on_ack(&event);
            return event;
        };
        if marks.sacked().is_empty() && acked > recover {
            self.recover = None;
            self.blocked = false;
            self.board.clear();
            self.retransmitted = 0;
            self.fack = acked;
            self.last_cut = LastCut::default();
            let event = flight.acknowledge(now, acked, marks);
            flight.controller.on_ack(&event);
            return event;
        }
        self.go_on(flight, acked, marks);
        let event = flight.acknowledge_partially(now, acked, marks);
        self.time(flight, now, marks);
        flight.controller.on_ack(&event);
        event
    }

    fn on_duplicate_ack(
        &mut self,
        flight: &mut Flight,
        now: Instant,
        marks: &Feedback,
    ) -> AckEvent {
        if self.recover.is_some() {
            self.go_on(flight, flight.acked, marks);
            let event = flight.count_duplicate(now, marks);
            self.time(flight, now, marks);
            flight.controller.on_ack(&event);
            return event;
        }
        if self.blocked || !self.board.update(flight.acked, marks.sacked()).changed {
            return flight.pass_duplicate(now, marks);
        }
        let event = flight.count_duplicate(now, marks);
        self.time(flight, now, marks);
        self.advance(flight, flight.acked);
        let duplicates = self.fack.saturating_sub(flight.acked + 1);
        flight.duplicates = u32::try_from(duplicates).unwrap_or(u32::MAX);
        if flight.duplicates >= THRESHOLD {
            self.fast_retransmit(flight, now);
        }
        event
    }

    fn on_timeout(&mut self, flight: &mut Flight, now: Instant) {
        self.recover = None;
        self.blocked = true;
        self.retransmitted = 0;
        self.board.clear();
        self.fack = flight.acked;
        self.last_cut.record(Cause::Timeout, flight);
        flight.time_out(now);
    }

    fn poll_segment(&mut self, flight: &mut Flight) -> Option<u64> {
        if let Some(oldest) = flight.take_resend() {
            return Some(oldest);
        }
        let limit = self.fack + flight.usable_window(0);
        let held = match self.recover {
            Some(_) => self.blocked,
            None => flight.duplicates > 0,
        };
        if held || flight.next + self.retransmitted >= limit {
            return None;
        }
        let Some(hole) = self.board.hole() else {
            return flight.take_within(flight.receiver_window());
        };
        self.board.mark_resent(hole, flight.next);
        self.retransmitted += 1;
        Some(flight.take_again(hole))
    }
}
