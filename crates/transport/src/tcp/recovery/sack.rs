//! Recovery by selective acknowledgements (RFC 2018) with an estimate of the pipe (Fall and Floyd
//! 1996, §4.4), which the papers' simulator calls Sack1.
//!
//! In recovery the pipe, not the acknowledgement number, limits sending.

use congestion::{AckEvent, Evidence};
use units::Instant;

use super::scoreboard::Scoreboard;
use super::{Cause, LastCut, LossRecovery, THRESHOLD};
use crate::tcp::config::Config;
use crate::tcp::feedback::Feedback;
use crate::tcp::flight::Flight;

#[derive(Debug)]
pub(super) struct Sack {
    board: Scoreboard,
    last_cut: LastCut,
    /// Number of segments in flight, during recovery. A partial acknowledgement subtracts two, so
    /// it can become negative.
    pipe: Option<i64>,
    /// Whether nothing is sent besides the first retransmission on the acknowledgement that starts
    /// recovery.
    quiet: bool,
    /// After a timeout, duplicates are ignored until something new is acknowledged.
    timed_out: bool,
    bugfix: bool,
    limited_transmit: bool,
    /// Whether one new segment may be sent in response to this duplicate.
    spare: bool,
}

impl Sack {
    pub(super) fn new(config: &Config) -> Self {
        Sack {
            board: Scoreboard::default(),
            last_cut: LastCut::default(),
            pipe: None,
            quiet: false,
            timed_out: false,
            bugfix: config.bugfix,
            limited_transmit: config.limited_transmit,
            spare: false,
        }
    }

    fn fast_retransmit(&mut self, flight: &mut Flight, now: Instant) {
        if self.bugfix && !self.last_cut.is_over(flight) {
            return;
        }
        let window = flight.usable_window(0);
        flight.lose_oldest(now, Evidence::Duplicates, window);
        self.last_cut.record(Cause::Duplicates, flight);
        let outstanding = flight.highest - flight.acked;
        self.pipe = Some(outstanding as i64 - i64::from(THRESHOLD));
        flight.reset_timer(now, false);
        self.board.mark_resent(flight.acked, 0);
        flight.resend_oldest();
        self.quiet = true;
    }

    fn poll_in_recovery(&mut self, flight: &mut Flight, pipe: i64) -> Option<u64> {
        if self.quiet || pipe >= flight.cwnd() {
            return None;
        }
        let segment = match self.board.hole() {
            Some(hole) => {
                self.board.mark_resent(hole, 0);
                flight.take_again(hole)
            }
            None => flight.take_within(flight.receiver_window())?,
        };
        self.pipe = Some(pipe + 1);
        Some(segment)
    }
}

impl LossRecovery for Sack {
    fn on_new_ack(
        &mut self,
        flight: &mut Flight,
        now: Instant,
        acked: u64,
        marks: &Feedback,
    ) -> AckEvent {
        self.quiet = false;
        self.spare = false;
        match self.pipe {
            Some(pipe) if acked < self.last_cut.recover => {
                self.pipe = Some(pipe - 2);
                self.board.update(acked, marks.sacked());
                let event = flight.acknowledge_partially(now, acked, marks);
                flight.reset_backoff();
                flight.controller.on_partial_ack(&event);
                event
            }
            recovering => {
                self.pipe = None;
                self.timed_out = false;
                self.board.clear();
                let event = flight.acknowledge(now, acked, marks);
                match recovering {
                    Some(_) => {
                        self.last_cut = LastCut::default();
                        flight.controller.on_recovered(now);
                    }
                    None => flight.controller.on_ack(&event),
                }
                event
            }
        }
    }

    fn on_duplicate_ack(
        &mut self,
        flight: &mut Flight,
        now: Instant,
        marks: &Feedback,
    ) -> AckEvent {
        self.quiet = false;
        self.spare = false;
        if let Some(pipe) = self.pipe {
            self.pipe = Some(pipe - 1);
            self.board.update(flight.acked, marks.sacked());
            return flight.count_duplicate(now, marks);
        }
        if self.timed_out || !self.board.update(flight.acked, marks.sacked()).changed {
            return flight.pass_duplicate(now, marks);
        }
        let event = flight.count_duplicate(now, marks);
        if flight.duplicates == THRESHOLD {
            self.fast_retransmit(flight, now);
        } else {
            self.spare = self.limited_transmit && flight.duplicates < THRESHOLD;
        }
        event
    }

    fn on_timeout(&mut self, flight: &mut Flight, now: Instant) {
        self.pipe = None;
        self.quiet = false;
        self.spare = false;
        self.timed_out = true;
        self.board.clear();
        self.last_cut.record(Cause::Timeout, flight);
        flight.time_out(now);
    }

    fn poll_segment(&mut self, flight: &mut Flight) -> Option<u64> {
        if std::mem::take(&mut self.spare) {
            return flight.take_limited();
        }
        if let Some(oldest) = flight.take_resend() {
            return Some(oldest);
        }
        match self.pipe {
            Some(pipe) => self.poll_in_recovery(flight, pipe),
            None if flight.duplicates > 0 => None,
            None => flight.take_within(flight.usable_window(0)),
        }
    }
}
