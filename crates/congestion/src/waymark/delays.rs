//! The parts of the round-trip time (Chan 2004, eq. 3.4).

use crate::event::AckEvent;
use crate::rovegas::Deployment;
use units::Duration;

/// The number of round trips for which the maximum queueing time on the backward path is remembered.
const ROUNDS: usize = 8;

/// The parts of the round-trip time, in seconds.
#[derive(Clone, Debug)]
pub(super) struct Delays {
    pub(super) deployment: Deployment,
    /// The minimum propagation delay of this round trip, and of the last one.
    round: f64,
    last_round: f64,
    /// The overall minimum.
    least: f64,
    /// `QT_f` of the newest sample.
    pub(super) forward: f64,
    /// `QT_b` of the newest acknowledgement.
    pub(super) backward: f64,
    /// The maximum `QT_b` of each of the last round trips.
    longest: [f64; ROUNDS],
}

impl Delays {
    pub(super) fn new(deployment: Deployment) -> Self {
        Delays {
            deployment,
            round: f64::INFINITY,
            last_round: f64::INFINITY,
            least: f64::INFINITY,
            forward: 0.0,
            backward: 0.0,
            longest: [0.0; ROUNDS],
        }
    }

    /// `R`. `None` before the first sample.
    pub(super) fn propagation(&self) -> Option<f64> {
        let newest = self.round.min(self.last_round);
        let value = match self.deployment {
            Deployment::Full if newest.is_finite() => newest,
            _ => self.least,
        };
        value.is_finite().then_some(value)
    }

    pub(super) fn longest_backward(&self) -> f64 {
        self.longest.iter().copied().fold(0.0, f64::max)
    }

    /// Handles the delays of an acknowledgement. A saturated mark is ignored, as is one that exceeds the RTT.
    pub(super) fn sample(&mut self, ack: &AckEvent) {
        if let Some(backward) = ack.aqt_backward.and_then(|mark| mark.exact()) {
            self.backward = backward.as_secs_f64();
            self.longest[0] = self.longest[0].max(self.backward);
        }
        let forward = ack.aqt_echo.and_then(|mark| mark.exact());
        let Some(rtt) = ack.rtt_s() else {
            // During a long recovery there are no round-trip times, but there are marks.
            self.forward = forward.map_or(self.forward, Duration::as_secs_f64);
            return;
        };
        let there = (rtt - self.backward).max(0.0);
        let marked = forward
            .map(|time| there - time.as_secs_f64())
            .filter(|value| *value > 0.0);
        if let Some(value) = marked {
            self.round = self.round.min(value);
        }
        let value = marked.unwrap_or(there);
        if value > 0.0 {
            self.least = self.least.min(value);
        }
        if let Some(propagation) = self.propagation() {
            self.forward = (there - propagation).max(0.0);
        }
    }

    pub(super) fn next_round(&mut self) {
        if self.round.is_finite() {
            self.last_round = self.round;
        }
        self.round = f64::INFINITY;
        self.longest.rotate_right(1);
        self.longest[0] = 0.0;
    }
}
