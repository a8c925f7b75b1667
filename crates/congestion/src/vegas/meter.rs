//! From round-trip times to a round's propagation delay and the RTT of its actual throughput.
//!
//! Times are seconds in `f64`, as the formulas have them.

use std::fmt::Debug;

use crate::event::AckEvent;

/// What a variant of Vegas measures its path with.
pub trait Meter: Debug + Send {
    /// The first acknowledgement of the connection, `rtt` after the first segment.
    fn first(&mut self, rtt: f64, ack: &AckEvent);

    /// One valid round-trip time of the running round.
    fn sample(&mut self, rtt: f64, ack: &AckEvent);

    /// The running round ends. `elapsed` stands in for its RTT if it had no sample, and is `None`
    /// where that would be no round-trip time; `sent` counts the segments sent in it. `None`:
    /// nothing was measured.
    fn close(&mut self, elapsed: Option<f64>, sent: u64, ack: &AckEvent) -> Option<Measured>;

    /// The propagation delay; infinite before the first acknowledgement.
    fn base(&self) -> f64;

    /// How far the window may run ahead of what is in flight and still grow, in segments (Chan
    /// 2004, §3.4.2).
    fn slack(&self) -> f64 {
        2.0
    }
}

/// What a round showed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// The propagation delay, for the expected throughput.
    pub base: f64,
    /// The round-trip time over which the actual throughput is computed.
    pub rtt: f64,
    /// The actual throughput is that of the window, not of what the round sent.
    pub of_window: bool,
}

/// The mean of a round's samples.
#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    sum: f64,
    count: u32,
}

impl Mean {
    /// One more sample.
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1;
    }

    /// The mean, if there was a sample; starts afresh.
    fn take(&mut self) -> Option<f64> {
        let Mean { sum, count } = std::mem::take(self);
        (count > 0).then(|| sum / f64::from(count))
    }
}

/// Vegas' own: base RTT is the smallest RTT ever seen.
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
    /// The minimum rule: base takes any lower RTT.
    pub(crate) fn lower_base(&mut self, rtt: f64) {
        self.base = self.base.min(rtt);
    }

    /// Base as another rule derived it.
    pub(crate) fn set_base(&mut self, base: f64) {
        self.base = base;
    }

    /// A sample for the mean that leaves base alone.
    pub(crate) fn add(&mut self, rtt: f64) {
        self.rtt.add(rtt);
    }

    /// The round's mean RTT, or what stands in for it.
    pub(crate) fn take_rtt(&mut self, elapsed: Option<f64>) -> Option<f64> {
        self.rtt.take().or(elapsed).filter(|rtt| *rtt > 0.0)
    }

    /// The rule at a round's end: a lower mean, or a round of a single segment, which cannot have
    /// queued behind its own kind, becomes base.
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

    /// The simulator compares cwnd with one more than is in flight, and allows 2.
    fn slack(&self) -> f64 {
        3.0
    }
}
