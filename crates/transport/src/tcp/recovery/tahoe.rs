//! Fast retransmit without fast recovery: the third duplicate causes everything from the missing
//! segment on to be sent again.

use congestion::{AckEvent, Evidence};
use units::Instant;

use super::{Cause, LastCut, LossRecovery, THRESHOLD};
use crate::tcp::config::Config;
use crate::tcp::feedback::Feedback;
use crate::tcp::flight::Flight;

#[derive(Debug)]
pub(super) struct Tahoe {
    last_cut: LastCut,
    bugfix: bool,
    limited_transmit: bool,
    /// Whether one new segment may be sent in response to this duplicate.
    spare: bool,
}

impl Tahoe {
    pub(super) fn new(config: &Config) -> Self {
        Tahoe {
            last_cut: LastCut::default(),
            bugfix: config.bugfix,
            limited_transmit: config.limited_transmit,
            spare: false,
        }
    }
}

impl LossRecovery for Tahoe {
    fn on_new_ack(
        &mut self,
        flight: &mut Flight,
        now: Instant,
        acked: u64,
        marks: &Feedback,
    ) -> AckEvent {
        self.spare = false;
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
        let event = flight.count_duplicate(now, marks);
        self.spare = self.limited_transmit && flight.duplicates < THRESHOLD;
        let suppressed = self.bugfix && !self.last_cut.is_over(flight);
        if flight.duplicates == THRESHOLD && !suppressed {
            let window = flight.usable_window(0);
            flight.lose_oldest(now, Evidence::Duplicates, window);
            self.last_cut.record(Cause::Duplicates, flight);
            flight.go_back(now, false);
        }
        event
    }

    fn on_timeout(&mut self, flight: &mut Flight, now: Instant) {
        self.spare = false;
        self.last_cut.record(Cause::Timeout, flight);
        // The simulator continues to count here.
        let duplicates = flight.duplicates;
        flight.time_out(now);
        flight.duplicates = duplicates;
    }

    fn poll_segment(&mut self, flight: &mut Flight) -> Option<u64> {
        if std::mem::take(&mut self.spare) {
            return flight.take_limited();
        }
        let window = flight.usable_window(0);
        flight.take_within(window)
    }
}
