//! Derives the propagation delay and the RTT of the actual throughput from the round-trip times of
//! a round.
//!
//! Times are `f64` seconds, as in the formulas.

use std::fmt::Debug;

use crate::event::AckEvent;

/// The measurements of a Vegas variant.
pub trait Meter: Debug + Send {
    /// Handles the first acknowledgement of the connection, `rtt` after the first segment.
    fn first(&mut self, rtt: f64, ack: &AckEvent);

    /// Handles a valid round-trip time of the current round.
    fn sample(&mut self, rtt: f64, ack: &AckEvent);

    /// Ends the current round. `elapsed` replaces its RTT if there was no sample, and is `None` if
    /// it would not be a round-trip time. `sent` is the number of segments sent in the round.
    /// Returns `None` if there was no measurement.
    fn close(&mut self, elapsed: Option<f64>, sent: u64, ack: &AckEvent) -> Option<Measured>;

    /// The propagation delay. Infinite before the first acknowledgement.
    fn base(&self) -> f64;

    /// By how many segments the window may exceed the data in flight and still grow (Chan 2004,
    /// §3.4.2).
    fn slack(&self) -> f64 {
        2.0
    }
}

/// The measurements of a round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// The propagation delay, for the expected throughput.
    pub base: f64,
    /// The round-trip time over which the actual throughput is computed.
    pub rtt: f64,
    /// Whether the actual throughput is that of the window rather than of the segments sent in the
    /// round.
    pub of_window: bool,
}

/// The mean of a round's samples.
#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    sum: f64,
    count: u32,
}

impl Mean {
    /// Adds a sample.
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1;
    }

    /// The mean, if there was a sample. Resets it.
    fn take(&mut self) -> Option<f64> {
        let Mean { sum, count } = std::mem::take(self);
        (count > 0).then(|| sum / f64::from(count))
    }
}

/// Vegas' own meter: base RTT is the smallest RTT ever seen.
#[derive(Clone, Debug)]
pub struct Plain {
    base: f64,
    rtt: Mean,
}

impl Default for Plain {
    fn default() -> Self {
        Plain {
            base: f64::INFINITY,
            rtt: Mean::default(),
        }
    }
}

impl Plain {
    /// The minimum rule: base becomes any lower RTT.
    pub(crate) fn lower_base(&mut self, rtt: f64) {
        self.base = self.base.min(rtt);
    }

    /// Sets the base that another rule derived.
    pub(crate) fn set_base(&mut self, base: f64) {
        self.base = base;
    }

    /// Adds a sample to the mean without changing the base.
    pub(crate) fn add(&mut self, rtt: f64) {
        self.rtt.add(rtt);
    }

    /// The round's mean RTT, or its replacement.
    pub(crate) fn take_rtt(&mut self, elapsed: Option<f64>) -> Option<f64> {
        self.rtt.take().or(elapsed).filter(|rtt| *rtt > 0.0)
    }

    /// The rule at the end of a round: a lower mean becomes base, or the RTT of a round with a
    /// single segment, which cannot have queued behind other segments of the flow.
    pub(crate) fn round_base(&mut self, rtt: f64, sent: u64) {
        if rtt < self.base || sent <= 1 {
            self.base = rtt;
        }
    }
}

impl Meter for Plain {
    fn first(&mut self, rtt: f64, _ack: &AckEvent) {
        self.base = rtt;
    }

    fn sample(&mut self, rtt: f64, _ack: &AckEvent) {
        self.add(rtt);
        self.lower_base(rtt);
    }

    fn close(&mut self, elapsed: Option<f64>, sent: u64, _ack: &AckEvent) -> Option<Measured> {
        let rtt = self.take_rtt(elapsed)?;
        self.round_base(rtt, sent);
        Some(Measured {
            base: self.base,
            rtt,
            of_window: false,
        })
    }

    fn base(&self) -> f64 {
        self.base
    }

    /// The simulator compares cwnd with the data in flight plus one, and allows 2.
    fn slack(&self) -> f64 {
        3.0
    }
}
