//! The adjustment of the window to a round's backlog outside of slow start.

use std::fmt::Debug;

/// No decrease reduces the window below two segments.
pub(crate) const MIN_WINDOW: f64 = 2.0;

/// The estimated queues of a round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Backlog {
    /// `(Expected − Actual)·BaseRTT` (Chan 2.1), in segments.
    pub diff: f64,
    /// Δ: `diff`, rounded to the nearest segment.
    pub delta: f64,
    /// The segments sent in the round divided by its mean RTT, per second.
    pub throughput: f64,
    /// The round's mean RTT, in seconds.
    pub rtt: f64,
}

/// An adjustment of the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The window from now on.
    pub cwnd: f64,
    /// The increment for each new acknowledgement in the next round.
    pub increment: f64,
}

impl Step {
    /// Keeps the window.
    pub fn hold(cwnd: f64) -> Self {
        Step {
            cwnd,
            increment: 0.0,
        }
    }

    /// Grows by one segment per round, spread over its acknowledgements. A window that a recovery
    /// has reduced to zero counts as one.
    pub fn grow(cwnd: f64) -> Self {
        Step {
            cwnd,
            increment: 1.0 / cwnd.max(1.0),
        }
    }

    /// Shrinks by this many segments at once, but not below two.
    pub fn cut(cwnd: f64, segments: f64) -> Self {
        Step::hold((cwnd - segments).max(MIN_WINDOW))
    }
}

/// A rule that adjusts the window to the backlog. Called once per round.
pub trait Avoidance: Debug + Send {
    /// The adjustment after a round that ended with window `cwnd`.
    fn step(&mut self, backlog: &Backlog, cwnd: f64) -> Step;

    /// Called when a loss is about to reduce the window. Returns the new window, or `None` for
    /// Vegas' three quarters.
    fn on_loss(&mut self, _window: u64) -> Option<u64> {
        None
    }

    /// The retransmission timer expired.
    fn on_timeout(&mut self) {}
}

/// Vegas' own rule (Chan 2.2): one segment more below α, one fewer above β.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Linear {
    /// The window grows below this many queued segments.
    pub alpha: f64,
    /// The window shrinks above this many queued segments.
    pub beta: f64,
}

impl Avoidance for Linear {
    fn step(&mut self, backlog: &Backlog, cwnd: f64) -> Step {
        if backlog.delta > self.beta {
            Step::cut(cwnd, 1.0)
        } else if backlog.delta < self.alpha {
            Step::grow(cwnd)
        } else {
            Step::hold(cwnd)
        }
    }
}
