//! Loss recovery: what to resend and when, and when to send nothing. One file per algorithm.

mod fack;
mod newreno;
mod reno;
mod sack;
mod scoreboard;
mod tahoe;
mod vegas;

use std::fmt::Debug;

use congestion::AckEvent;
use units::Instant;

use super::config::{Config, Recovery};
use super::feedback::Feedback;
use super::flight::Flight;

/// Number of duplicates that indicate a loss.
const THRESHOLD: u32 = 3;

/// A loss recovery operates on the [`Flight`] and notifies its controller of events.
pub(super) trait LossRecovery: Debug + Send {
    /// Handles an acknowledgement of segments `0..acked`, some of them for the first time.
    fn on_new_ack(
        &mut self,
        flight: &mut Flight,
        now: Instant,
        acked: u64,
        marks: &Feedback,
    ) -> AckEvent;

    /// Handles an acknowledgement of nothing new.
    fn on_duplicate_ack(&mut self, flight: &mut Flight, now: Instant, marks: &Feedback)
    -> AckEvent;

    /// Handles the expiry of the timer.
    fn on_timeout(&mut self, flight: &mut Flight, now: Instant);

    /// The next segment to send, if one may be sent now.
    fn poll_segment(&mut self, flight: &mut Flight) -> Option<u64>;
}

/// The algorithm that `config` selects.
pub(super) fn build(config: &Config) -> Box<dyn LossRecovery> {
    match config.recovery {
        Recovery::Tahoe => Box::new(tahoe::Tahoe::new(config)),
        Recovery::NewReno => Box::new(newreno::NewReno::new(config)),
        Recovery::Reno => Box::new(reno::Reno::new(config)),
        Recovery::Sack => Box::new(sack::Sack::new(config)),
        Recovery::Fack => Box::new(fack::Fack::new()),
        Recovery::Vegas => Box::new(vegas::Vegas::new(config)),
    }
}

/// The cause of the last window reduction, and how much had been sent at that time.
#[derive(Clone, Copy, Debug)]
struct LastCut {
    cause: Option<Cause>,
    /// Segments `0..recover` had been sent.
    recover: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Duplicates,
    Timeout,
}

impl Default for LastCut {
    /// Nothing has reduced the window, and the simulator considers the first segment as sent before
    /// it.
    fn default() -> Self {
        LastCut {
            cause: None,
            recover: 1,
        }
    }
}

impl LastCut {
    fn record(&mut self, cause: Cause, flight: &Flight) {
        *self = LastCut {
            cause: Some(cause),
            recover: flight.highest,
        };
    }

    /// Whether everything sent before the last reduction has been acknowledged, or the first
    /// segment alone.
    fn is_over(&self, flight: &Flight) -> bool {
        flight.acked > self.recover || flight.acked == 1
    }
}

/// Whether sending is allowed: between the first duplicate and the third nothing is sent, because
/// the segment may only be late.
fn may_send(flight: &Flight) -> bool {
    flight.duplicates == 0 || flight.duplicates >= THRESHOLD
}
