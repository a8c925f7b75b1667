//! Reno: slow start, additive increase by 1/cwnd per ACK, halving (RFC 5681 §3.1, as in the papers'
//! simulator).
//!
//! Window inflation in fast recovery belongs to loss recovery, not to this file, which therefore
//! serves Reno, NewReno and SACK.

use crate::controller::{Controller, Factory, Limits};
use crate::event::{AckEvent, LossEvent, TimeoutEvent};
use crate::registry::{Control, Recovery, Rules, Settings};

pub(crate) static RENO: Control = Control {
    name: "reno",
    label: "Reno",
    summary: "additive increase, halving",
    source: "RFC 5681",
    recovery: Recovery::Reno,
    marks: &[],
    needs: &[],
    settings: &[],
    factory,
};

pub(crate) static NEWRENO: Control = Control {
    name: "newreno",
    label: "NewReno",
    summary: "Reno that stays in recovery over partial ACKs",
    source: "RFC 6582",
    recovery: Recovery::NewReno,
    marks: &[],
    needs: &[],
    settings: &[],
    factory,
};

pub(crate) static SACK: Control = Control {
    name: "sack",
    label: "SACK",
    summary: "Reno with selective acknowledgements",
    source: "RFC 6675",
    recovery: Recovery::Sack,
    marks: &[],
    needs: &[],
    settings: &[],
    factory,
};

fn factory(_: &Settings, rules: Rules) -> Box<dyn Factory> {
    match rules.exact_halving {
        true => Box::new(ExactRenoConfig {}),
        false => Box::new(RenoConfig {}),
    }
}

/// Settings of [`Reno`]; there are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RenoConfig {}

impl RenoConfig {
    /// Creates a controller for a new connection.
    pub fn build(&self, limits: &Limits) -> Reno {
        Reno {
            cwnd: limits.initial_window,
            ssthresh: limits.initial_ssthresh,
            limits: *limits,
            exact: false,
        }
    }
}

/// Settings of a [`Reno`] that keeps the fraction when it halves its window, like the papers'
/// simulator since 2006 (its `precisionReduce_`). Before, the simulator halved whole segments.
/// Flows that share a queue synchronise less easily with the fraction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExactRenoConfig {}

impl ExactRenoConfig {
    /// Creates a controller for a new connection.
    pub fn build(&self, limits: &Limits) -> Reno {
        Reno {
            exact: true,
            ..RenoConfig {}.build(limits)
        }
    }
}

impl Factory for ExactRenoConfig {
    fn build(&self, limits: &Limits) -> Box<dyn Controller> {
        Box::new(self.build(limits))
    }
}

impl Factory for RenoConfig {
    fn build(&self, limits: &Limits) -> Box<dyn Controller> {
        Box::new(self.build(limits))
    }
}

/// Additive increase, multiplicative decrease.
#[derive(Clone, Debug)]
pub struct Reno {
    cwnd: f64,
    ssthresh: f64,
    limits: Limits,
    /// Whether halving keeps the fraction of the window.
    exact: bool,
}

impl Reno {
    pub(crate) fn set_cwnd(&mut self, cwnd: f64) {
        self.cwnd = cwnd;
    }

    /// Increases the window by `segments`, up to the maximum.
    pub(crate) fn grow(&mut self, segments: f64) {
        self.cwnd = self.limits.cap(self.cwnd + segments);
    }

    /// Reduces the window to `cwnd`, but at least two segments. A window that has left slow start
    /// does not return to it.
    pub(crate) fn shrink_to(&mut self, cwnd: f64) {
        let opening = self.in_slow_start();
        self.cwnd = cwnd.max(MIN_SSTHRESH).min(self.cwnd);
        if !opening {
            self.end_slow_start();
        }
    }

    /// Continues from `cwnd`, but at least `floor`, without slow start.
    pub(crate) fn cut_to(&mut self, cwnd: f64, floor: f64) {
        self.cwnd = cwnd.max(floor);
        self.ssthresh = cwnd.max(MIN_SSTHRESH);
    }

    /// Reduces to half of `window`, but at least two segments.
    pub(crate) fn halve(&mut self, window: u64) {
        self.cut_to(half(window), MIN_SSTHRESH);
    }

    /// Restarts from one segment, with slow start up to `ssthresh`.
    pub(crate) fn start_over(&mut self, ssthresh: f64) {
        self.cwnd = 1.0;
        self.ssthresh = ssthresh.max(MIN_SSTHRESH);
    }

    pub(crate) fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Growth continues by 1/cwnd per ACK.
    pub(crate) fn end_slow_start(&mut self) {
        self.ssthresh = self.ssthresh.min(self.cwnd.max(MIN_SSTHRESH));
    }
}

/// `h = ⌊W/2⌋`: the rest of a window that was too large.
fn half(window: u64) -> f64 {
    (window / 2) as f64
}

/// The minimum threshold is two segments (RFC 5681, equation 4).
pub(crate) const MIN_SSTHRESH: f64 = 2.0;

impl Controller for Reno {
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    /// A window that is not fully used provides no information about the path (RFC 9293, §3.8.6).
    fn on_ack(&mut self, ack: &AckEvent) {
        if ack.window_unused {
            return;
        }
        let increment = if self.cwnd < self.ssthresh {
            1.0
        } else {
            1.0 / self.cwnd
        };
        self.cwnd = self.limits.cap(self.cwnd + increment * ack.weight());
    }

    /// The window becomes the exact half, even 1 or 0. Only the threshold has a minimum.
    fn on_loss(&mut self, loss: &LossEvent) {
        let fraction = if self.exact { self.cwnd.fract() } else { 0.0 };
        // The receiver's window, which equals the initial threshold, has no fraction.
        let window = (loss.window as f64 + fraction).min(self.limits.initial_ssthresh);
        self.ssthresh = half(loss.window).max(MIN_SSTHRESH);
        self.cwnd = match self.exact {
            true => window / 2.0,
            false => half(loss.window),
        };
    }

    fn on_timeout(&mut self, timeout: &TimeoutEvent) {
        self.ssthresh = half(timeout.window).max(MIN_SSTHRESH);
        self.cwnd = 1.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Evidence;
    use units::Instant;

    fn loss(window: u64) -> LossEvent {
        LossEvent {
            now: Instant::ZERO,
            evidence: Evidence::Duplicates,
            lost: 1,
            sent_at: Some(Instant::ZERO),
            transmissions: 1,
            duplicates: 3,
            window,
        }
    }

    #[test]
    fn an_exact_half_keeps_the_fraction_up_to_the_receiver_s_window() {
        let limits = Limits {
            initial_ssthresh: 20.0,
            ..Limits::default()
        };
        for (cwnd, window, after) in [(9.5, 9, 4.75), (24.5, 20, 10.0), (1.5, 1, 0.75)] {
            let mut reno = ExactRenoConfig {}.build(&limits);
            reno.set_cwnd(cwnd);
            reno.on_loss(&loss(window));
            assert_eq!(reno.cwnd(), after);
            assert_eq!(reno.ssthresh(), after.trunc().max(MIN_SSTHRESH));
        }
    }

    #[test]
    fn slow_start_adds_one_and_avoidance_one_over_cwnd() {
        let mut reno = RenoConfig {}.build(&Limits {
            initial_window: 1.0,
            initial_ssthresh: 3.0,
            max_cwnd: None,
            ..Limits::default()
        });
        reno.on_ack(&AckEvent::default());
        reno.on_ack(&AckEvent::default());
        assert_eq!(reno.cwnd(), 3.0);
        reno.on_ack(&AckEvent::default());
        assert_eq!(reno.cwnd(), 3.0 + 1.0 / 3.0);
    }

    #[test]
    fn a_window_that_is_not_used_does_not_grow() {
        let mut reno = RenoConfig {}.build(&Limits::default());
        reno.on_ack(&AckEvent {
            window_unused: true,
            ..AckEvent::default()
        });
        assert_eq!(reno.cwnd(), 1.0);
    }

    #[test]
    fn the_halved_window_has_no_floor_but_its_threshold_has() {
        let mut reno = RenoConfig {}.build(&Limits::default());
        reno.on_loss(&loss(3));
        assert_eq!((reno.cwnd(), reno.ssthresh()), (1.0, 2.0));
        reno.on_loss(&loss(21));
        assert_eq!((reno.cwnd(), reno.ssthresh()), (10.0, 10.0));
    }

    #[test]
    fn a_timeout_halves_the_threshold_and_starts_over() {
        let mut reno = RenoConfig {}.build(&Limits::default());
        reno.on_timeout(&TimeoutEvent {
            now: Instant::ZERO,
            window: 9,
        });
        assert_eq!((reno.cwnd(), reno.ssthresh()), (1.0, 4.0));
    }

    #[test]
    fn the_cap_holds() {
        let mut reno = RenoConfig {}.build(&Limits {
            initial_window: 4.0,
            initial_ssthresh: 9.0,
            max_cwnd: Some(5.0),
            ..Limits::default()
        });
        for _ in 0..9 {
            reno.on_ack(&AckEvent::default());
        }
        assert_eq!(reno.cwnd(), 5.0);
    }
}
