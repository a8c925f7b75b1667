//! Vegas' retransmissions (Brakmo and Peterson 1995, §3.1): every duplicate, and the first two new
//! acknowledgements after a loss, check the oldest missing segment against a fine-grained timeout.
//!
//! Here the controller inflates the window in cwnd itself.

use congestion::{AckEvent, Evidence};
use units::{Duration, Instant};

use super::{Cause, LastCut, LossRecovery, THRESHOLD, may_send};
use crate::tcp::config::Config;
use crate::tcp::feedback::Feedback;
use crate::tcp::flight::Flight;
use crate::tcp::rtt::Fine;

/// Number of new acknowledgements after a loss that check for another one.
const WORRIED: u64 = 2;
/// How long before the first segment the simulator considers an unsent segment as sent.
const NEVER_SENT: Duration = Duration::from_millis(1000);

#[derive(Debug)]
pub(super) struct Vegas {
    /// Set from the first acknowledgement on.
    fine: Option<Fine>,
    /// Number of new acknowledgements that still check.
    worried: u64,
    last_cut: LastCut,
    bugfix: bool,
}

impl Vegas {
    pub(super) fn new(config: &Config) -> Self {
        Vegas {
            fine: None,
            worried: 0,
            last_cut: LastCut::default(),
            bugfix: config.bugfix,
        }
    }

    /// The first acknowledgement, new or duplicate, initialises the fine-grained timeout.
    fn first_answer(&mut self, flight: &Flight, now: Instant) {
        if let (None, Some(first)) = (&self.fine, flight.first_sent) {
            self.fine = Some(Fine::first(now.since(first)));
        }
    }

    /// Whether the oldest missing segment has exceeded the timeout. A segment that was never sent
    /// counts as sent a second before the first.
    fn is_overdue(&self, flight: &Flight, now: Instant) -> bool {
        let (Some(fine), Some(first)) = (&self.fine, flight.first_sent) else {
            return false;
        };
        let age = match flight.ledger.last_sent(flight.acked) {
            Some(sent) => now.since(sent),
            None => now.since(first) + NEVER_SENT,
        };
        fine.is_overdue(age)
    }

    fn lose_oldest(&mut self, flight: &mut Flight, now: Instant, evidence: Evidence) {
        if self.bugfix
            && self.last_cut.cause == Some(Cause::Timeout)
            && !self.last_cut.is_over(flight)
        {
            return;
        }
        let transmissions = flight.ledger.transmissions(flight.acked);
        self.last_cut.record(Cause::Duplicates, flight);
        // Outstanding segments as counted by the simulator, one more than in flight.
        self.worried = WORRIED.min(flight.in_flight() + 1);
        if let Some(fine) = &mut self.fine {
            fine.stretch(if transmissions > 1 { 2.0 } else { 1.125 });
        }
        let window = flight.usable_window(0);
        flight.lose_oldest(now, evidence, window);
        flight.reset_timer(now, true);
        flight.resend_oldest();
        if transmissions == 1 {
            flight.duplicates = THRESHOLD;
        }
    }
}

impl LossRecovery for Vegas {
    fn on_new_ack(
        &mut self,
        flight: &mut Flight,
        now: Instant,
        acked: u64,
        marks: &Feedback,
    ) -> AckEvent {
        self.first_answer(flight, now);
        if flight.duplicates > THRESHOLD {
            flight.controller.on_recovered(now);
        }
        let event = flight.acknowledge(now, acked, marks);
        flight.controller.on_ack(&event);
        if let (Some(fine), Some(rtt)) = (&mut self.fine, event.rtt) {
            fine.sample(rtt);
        }
        if self.worried > 0 {
            self.worried -= 1;
            if self.is_overdue(flight, now) {
                flight.duplicates = THRESHOLD;
                flight.resend_oldest();
            } else {
                self.worried = 0;
            }
        }
        event
    }

    fn on_duplicate_ack(
        &mut self,
        flight: &mut Flight,
        now: Instant,
        marks: &Feedback,
    ) -> AckEvent {
        self.first_answer(flight, now);
        let event = flight.count_duplicate(now, marks);
        if self.is_overdue(flight, now) {
            self.lose_oldest(flight, now, Evidence::FineTimeout);
        } else if flight.duplicates == THRESHOLD {
            self.lose_oldest(flight, now, Evidence::Duplicates);
        } else if flight.duplicates > THRESHOLD {
            flight.controller.on_departure(now);
        }
        event
    }

    fn on_timeout(&mut self, flight: &mut Flight, now: Instant) {
        self.last_cut.record(Cause::Timeout, flight);
        flight.time_out(now);
    }

    fn poll_segment(&mut self, flight: &mut Flight) -> Option<u64> {
        flight.take_resend().or_else(|| {
            let window = may_send(flight).then(|| flight.usable_window(0))?;
            flight.take_within(window)
        })
    }
}
