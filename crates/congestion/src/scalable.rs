//! Scalable TCP (Kelly, CCR 2003): exponential growth of the window, so that the time to recover
//! from a loss does not depend on the rate.
//!
//! Above the legacy window of 16 segments, every acknowledgement adds 0.01 and a loss subtracts an
//! eighth (§3). Up to it, and for timeouts and slow start, it is Reno.

use crate::controller::{Controller, Factory, Limits};
use crate::event::{AckEvent, LossEvent, TimeoutEvent};
use crate::registry::{Control, Recovery};
use crate::reno::{Reno, RenoConfig};

/// `lwnd`: Reno up to this window.
const LEGACY_WINDOW: f64 = 16.0;
/// `a`: the increase per acknowledgement.
const INCREASE: f64 = 0.01;
/// `b`: the decrease per loss.
const DECREASE: f64 = 0.125;

pub(crate) static SCALABLE: Control = Control {
    name: "scalable",
    label: "Scalable",
    summary: "exponential growth",
    source: "Kelly 2003",
    recovery: Recovery::Sack,
    marks: &[],
    needs: &[],
    settings: &[],
    factory: |_, _| Box::new(ScalableConfig {}),
};

/// Settings of [`Scalable`]; there are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScalableConfig {}

impl ScalableConfig {
    /// Creates a controller for a new connection.
    pub fn build(&self, limits: &Limits) -> Scalable {
        Scalable {
            reno: RenoConfig {}.build(limits),
        }
    }
}

impl Factory for ScalableConfig {
    fn build(&self, limits: &Limits) -> Box<dyn Controller> {
        Box::new(self.build(limits))
    }
}

/// Multiplicative increase, multiplicative decrease.
#[derive(Clone, Debug)]
pub struct Scalable {
    reno: Reno,
}

impl Controller for Scalable {
    fn cwnd(&self) -> f64 {
        self.reno.cwnd()
    }

    fn ssthresh(&self) -> f64 {
        self.reno.ssthresh()
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        if self.reno.in_slow_start() || self.cwnd() <= LEGACY_WINDOW {
            self.reno.on_ack(ack);
        } else if !ack.window_unused {
            self.reno.grow(INCREASE);
        }
    }

    fn on_loss(&mut self, loss: &LossEvent) {
        let window = loss.window as f64;
        if window <= LEGACY_WINDOW {
            return self.reno.halve(loss.window);
        }
        self.reno.cut_to(window - (DECREASE * window).ceil(), 2.0);
    }

    fn on_timeout(&mut self, timeout: &TimeoutEvent) {
        self.reno.on_timeout(timeout);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sawtooth::{average_window, lose};
    use units::Instant;

    fn scalable(cwnd: f64) -> Scalable {
        ScalableConfig {}.build(&Limits {
            initial_window: cwnd,
            initial_ssthresh: 2.0,
            max_cwnd: None,
            ..Limits::default()
        })
    }

    #[test]
    fn a_hundredth_an_acknowledgement_and_an_eighth_a_loss() {
        let mut control = scalable(100.0);
        control.on_ack(&AckEvent::default());
        assert_eq!(control.cwnd(), 100.01);
        // 100 − ⌈12.5⌉
        lose(&mut control, Instant::ZERO, 100);
        assert_eq!((control.cwnd(), control.ssthresh()), (87.0, 87.0));
        // At the legacy window: Reno.
        let mut control = scalable(16.0);
        control.on_ack(&AckEvent::default());
        assert_eq!(control.cwnd(), 16.0 + 1.0 / 16.0);
        lose(&mut control, Instant::ZERO, 16);
        assert_eq!(control.cwnd(), 8.0);
    }

    /// §3: recovery from a loss takes log(1 − b)/log(1 + a) = 13.4 round trips, whatever the
    /// window.
    #[test]
    fn recovery_takes_as_many_rounds_at_any_window() {
        for window in [400, 4_000, 40_000] {
            let mut control = scalable(window as f64);
            lose(&mut control, Instant::ZERO, window);
            let mut rounds = 0;
            while control.cwnd() < window as f64 {
                for _ in 0..control.cwnd() as u64 {
                    control.on_ack(&AckEvent::default());
                }
                rounds += 1;
            }
            assert_eq!(rounds, 14);
        }
    }

    /// §3: the window is a/b·1/p: 800 for one loss in 10 000, 8000 for one in 100 000. That is the
    /// peak; the average is 1/16 lower.
    #[test]
    fn the_average_window_is_inverse_to_the_loss_rate() {
        for (gap, expected) in [(10_000, 800.0), (100_000, 8000.0)] {
            let average = average_window(&ScalableConfig {}, 0.1, gap, expected);
            let off = average / (expected * 15.0 / 16.0) - 1.0;
            assert!(
                off.abs() < 0.02,
                "a loss in {gap}: {average:.1}, expected {expected}"
            );
        }
    }
}
