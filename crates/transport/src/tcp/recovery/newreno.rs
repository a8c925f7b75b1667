//! NewReno (RFC 2582), the slow-but-steady variant without deflation: recovery continues, one hole
//! per round trip, until everything that had been sent before it is acknowledged.

use congestion::AckEvent;
use units::Instant;

use super::reno::Reno;
use super::{Cause, LossRecovery, THRESHOLD};
use crate::tcp::config::Config;
use crate::tcp::feedback::Feedback;
use crate::tcp::flight::Flight;

/// The maximum number of new segments in response to one acknowledgement in recovery.
const BURST: u32 = 2;

#[derive(Debug)]
pub(super) struct NewReno {
    reno: Reno,
    /// Number of new segments that may still be sent in response to this acknowledgement.
    burst: u32,
}

impl NewReno {
    pub(super) fn new(config: &Config) -> Self {
        NewReno {
            reno: Reno::new(config),
            burst: BURST,
        }
    }

    /// Whether an acknowledgement of `0..acked` leaves holes from before the fast retransmit.
    fn is_partial(&self, acked: u64) -> bool {
        let last_cut = &self.reno.last_cut;
        last_cut.cause == Some(Cause::Duplicates) && acked < last_cut.recover
    }
}

impl LossRecovery for NewReno {
    fn on_new_ack(
        &mut self,
        flight: &mut Flight,
        now: Instant,
        acked: u64,
        marks: &Feedback,
    ) -> AckEvent {
        self.burst = BURST;
        if self.is_partial(acked) {
            self.reno.inflation = 0;
            let event = flight.acknowledge_partially(now, acked, marks);
            flight.controller.on_partial_ack(&event);
            flight.resend_oldest();
            return event;
        }
        if self.reno.inflation > 0 {
            self.reno.last_cut.cause = None;
        }
        self.reno.grow(flight, now, acked, marks)
    }

    fn on_duplicate_ack(
        &mut self,
        flight: &mut Flight,
        now: Instant,
        marks: &Feedback,
    ) -> AckEvent {
        self.burst = BURST;
        self.reno.on_duplicate_ack(flight, now, marks)
    }

    fn on_timeout(&mut self, flight: &mut Flight, now: Instant) {
        self.reno.on_timeout(flight, now);
    }

    fn poll_segment(&mut self, flight: &mut Flight) -> Option<u64> {
        if flight.duplicates < THRESHOLD {
            return self.reno.poll_segment(flight);
        }
        // The retransmission does not count in the burst.
        flight.take_resend().or_else(|| {
            self.burst = self.burst.checked_sub(1)?;
            self.reno.poll_segment(flight)
        })
    }
}
