//! What a round's backlog does to the window outside slow start.

use std::fmt::Debug;

/// No decrease takes the window below two segments.
pub(crate) const MIN_WINDOW: f64 = 2.0;

/// What a round showed about the queues on the path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Backlog {
    /// `(Expected − Actual)·BaseRTT` (Chan 2.1), in segments.
    pub diff: f64,
    /// Δ: the same to the nearest segment.
    pub delta: f64,
    /// What the round sent over its mean RTT, in segments a second.
    pub throughput: f64,
    /// The round's mean RTT, in seconds.
    pub rtt: f64,
}

/// What is to become of the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The window from now on.
    pub cwnd: f64,
    /// What every new acknowledgement of the next round adds.
    pub increment: f64,
}

impl Step {
    /// The window stays.
    pub fn hold(cwnd: f64) -> Self {
        Step {
            cwnd,
            increment: 0.0,
        }
    }

    /// One segment more within a round, spread over its acknowledgements; a window that a recovery
    /// left empty counts as one.
    pub fn grow(cwnd: f64) -> Self {
        Step {
            cwnd,
            increment: 1.0 / cwnd.max(1.0),
        }
    }

    /// So many segments less, at once; at least two are left.
    pub fn cut(cwnd: f64, segments: f64) -> Self {
        Step::hold((cwnd - segments).max(MIN_WINDOW))
    }
}

/// A rule that turns backlog into window, asked once a round.
pub trait Avoidance: Debug + Send {
    /// The step after a round that ended with window `cwnd`.
    fn step(&mut self, backlog: &Backlog, cwnd: f64) -> Step;

    /// A loss is about to cut the window; what is left of `window`, if not Vegas' three quarters.
    fn on_loss(&mut self, _window: u64) -> Option<u64> {
        None
    }

    /// The retransmission timer ran out.
    fn on_timeout(&mut self) {}
}

/// Vegas' own (Chan 2.2): one segment more below α, one less above β.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Linear {
    /// Below this many segments in queues the window grows.
    pub alpha: f64,
    /// Above this many segments in queues the window shrinks.
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
