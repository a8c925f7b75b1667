//! Fast retransmit and fast recovery (RFC 5681 §3.2), with the inflation kept separate from cwnd.
//! The first new acknowledgement ends it, regardless of what it covers.

use congestion::{AckEvent, Evidence};
use units::Instant;

use super::{Cause, LastCut, LossRecovery, THRESHOLD, may_send};
use crate::tcp::config::Config;
use crate::tcp::feedback::Feedback;
use crate::tcp::flight::Flight;

#[derive(Debug)]
pub(super) struct Reno {
    /// Number of segments that have left the network according to duplicates.
    pub(super) inflation: u64,
    pub(super) last_cut: LastCut,
    bugfix: bool,
    limited_transmit: bool,
    /// Whether one new segment may be sent in response to this duplicate.
    spare: bool,
}

impl Reno {
    pub(super) fn new(config: &Config) -> Self {
        Reno {
            inflation: 0,
            last_cut: LastCut::default(),
            bugfix: config.bugfix,
            limited_transmit: config.limited_transmit,
            spare: false,
        }
    }

    fn fast_retransmit(&mut self, flight: &mut Flight, now: Instant) {
        if self.bugfix && !self.last_cut.is_over(flight) {
            return;
        }
        let window = flight.usable_window(self.inflation);
        flight.lose_oldest(now, Evidence::Duplicates, window);
        self.last_cut.record(Cause::Duplicates, flight);
        flight.reset_timer(now, false);
        flight.resend_oldest();
        self.inflation = u64::from(THRESHOLD);
    }

    /// Handles a new acknowledgement that ends recovery, or arrives outside of it.
    pub(super) fn grow(
        &mut self,
        flight: &mut Flight,
        now: Instant,
        acked: u64,
        marks: &Feedback,
    ) -> AckEvent {
        self.inflation = 0;
        self.spare = false;
        let event = flight.acknowledge(now, acked, marks);
        flight.controller.on_ack(&event);
        event
    }
}

impl LossRecovery for Reno {
    fn on_new_ack(
        &mut self,
        flight: &mut Flight,
        now: Instant,
        acked: u64,
        marks: &Feedback,
    ) -> AckEvent {
        self.last_cut.cause = None;
        self.grow(flight, now, acked, marks)
    }

    fn on_duplicate_ack(
        &mut self,
        flight: &mut Flight,
        now: Instant,
        marks: &Feedback,
    ) -> AckEvent {
        let event = flight.count_duplicate(now, marks);
        if flight.duplicates < THRESHOLD {
            self.spare = self.limited_transmit;
            return event;
        }
        self.spare = false;
        if flight.duplicates == THRESHOLD {
            self.fast_retransmit(flight, now);
        } else if self.last_cut.cause == Some(Cause::Duplicates) {
            self.inflation += 1;
        }
        event
    }

    fn on_timeout(&mut self, flight: &mut Flight, now: Instant) {
        self.inflation = 0;
        self.spare = false;
        self.last_cut.record(Cause::Timeout, flight);
        flight.time_out(now);
    }

    fn poll_segment(&mut self, flight: &mut Flight) -> Option<u64> {
        if std::mem::take(&mut self.spare) {
            return flight.take_limited();
        }
        flight.take_resend().or_else(|| {
            let window = may_send(flight).then(|| flight.usable_window(self.inflation))?;
            flight.take_within(window)
        })
    }
}
