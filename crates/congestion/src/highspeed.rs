//! HighSpeed TCP (RFC 3649): the larger the window, the faster it grows and the less it is reduced.
//!
//! Up to 38 segments it is Reno. Above, it adds `a(w)` segments per round trip and subtracts `b(w)·w` at a loss, so
//! that the average window at loss rate p is 0.12/p^0.835 (§5). Timeouts and slow start are Reno's.

use crate::controller::{Controller, Factory, Limits};
use crate::event::{AckEvent, LossEvent, TimeoutEvent};
use crate::registry::{Control, Recovery};
use crate::reno::{Reno, RenoConfig};

/// `Low_Window`: Reno up to this window.
const LOW_WINDOW: f64 = 38.0;
/// `High_Window`: at this window `b` has fallen to [`HIGH_DECREASE`].
const HIGH_WINDOW: f64 = 83_000.0;
/// `High_Decrease`
const HIGH_DECREASE: f64 = 0.1;
/// A loss does not reduce the window below two segments.
const MIN_WINDOW: f64 = 2.0;

pub(crate) static HIGHSPEED: Control = Control {
    name: "highspeed",
    label: "HighSpeed",
    summary: "growth and reduction depend on the window's size",
    source: "RFC 3649",
    recovery: Recovery::Sack,
    marks: &[],
    needs: &[],
    settings: &[],
    factory: |_, _| Box::new(HighSpeedConfig {}),
};

/// Settings of [`HighSpeed`]; there are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HighSpeedConfig {}

impl HighSpeedConfig {
    /// Creates a controller for a new connection.
    pub fn build(&self, limits: &Limits) -> HighSpeed {
        HighSpeed {
            reno: RenoConfig {}.build(limits),
        }
    }
}

impl Factory for HighSpeedConfig {
    fn build(&self, limits: &Limits) -> Box<dyn Controller> {
        Box::new(self.build(limits))
    }
}

/// Additive increase and multiplicative decrease that depend on the window.
#[derive(Clone, Debug)]
pub struct HighSpeed {
    reno: Reno,
}

/// `b(w)` (§5): one half at 38 segments, decreasing with log w.
fn decrease(w: f64) -> f64 {
    if w <= LOW_WINDOW {
        return 0.5;
    }
    let share = libm::log(w / LOW_WINDOW) / libm::log(HIGH_WINDOW / LOW_WINDOW);
    (HIGH_DECREASE - 0.5) * share + 0.5
}

/// `a(w) = w²·p(w)·2·b(w)/(2 − b(w))` (§5), with `p(w) = 0.078/w^1.2`.
fn increase(w: f64) -> f64 {
    if w <= LOW_WINDOW {
        return 1.0;
    }
    let p = 0.078 / libm::pow(w, 1.2);
    let b = decrease(w);
    (w * w * p * 2.0 * b / (2.0 - b)).max(1.0)
}

impl Controller for HighSpeed {
    fn cwnd(&self) -> f64 {
        self.reno.cwnd()
    }

    fn ssthresh(&self) -> f64 {
        self.reno.ssthresh()
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        let cwnd = self.cwnd();
        if self.reno.in_slow_start() || cwnd <= LOW_WINDOW {
            self.reno.on_ack(ack);
        } else if !ack.window_unused {
            self.reno.grow(increase(cwnd) / cwnd);
        }
    }

    fn on_loss(&mut self, loss: &LossEvent) {
        let w = loss.window as f64;
        self.reno.cut_to(w * (1.0 - decrease(w)), MIN_WINDOW);
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

    /// RFC 3649, appendix B: the windows at which `a` reaches each integer, and `b` at these windows.
    const TABLE: [(u32, f64, f64); 11] = [
        (118, 2.0, 0.44),
        (221, 3.0, 0.41),
        (347, 4.0, 0.38),
        (495, 5.0, 0.37),
        (663, 6.0, 0.35),
        (851, 7.0, 0.34),
        (1058, 8.0, 0.33),
        (1284, 9.0, 0.32),
        (1529, 10.0, 0.31),
        (1793, 11.0, 0.30),
        (2076, 12.0, 0.29),
    ];

    #[test]
    fn a_and_b_are_those_of_the_table() {
        for (w, a, b) in TABLE {
            let w = f64::from(w);
            assert!((increase(w) / a - 1.0).abs() < 0.01, "a({w})");
            assert!((decrease(w) - b).abs() <= 0.0051, "b({w})");
        }
        assert_eq!((increase(38.0), decrease(38.0)), (1.0, 0.5));
        assert!((decrease(83_000.0) - 0.1).abs() < 1e-12);
        // §5: a(83000) = 83000²·10⁻⁷·2·0.1/1.9 = 72.5. The rounded 0.078/w^1.2 deviates by less than 3 %.
        assert!((increase(83_000.0) / 72.5 - 1.0).abs() < 0.03);
    }

    #[test]
    fn a_window_grows_by_a_a_round_and_is_cut_by_b() {
        let mut control = HighSpeedConfig {}.build(&Limits {
            initial_window: 118.0,
            initial_ssthresh: 2.0,
            max_cwnd: None,
            ..Limits::default()
        });
        control.on_ack(&AckEvent::default());
        // a(118) = 2.006
        assert!((control.cwnd() - (118.0 + 2.006 / 118.0)).abs() < 1e-4);
        lose(&mut control, Instant::ZERO, 118);
        // b(118) = 0.5 − 0.4·ln(118/38)/ln(83000/38) = 0.44105
        assert!((control.cwnd() - 118.0 * 0.55895).abs() < 1e-2);
        assert_eq!(control.cwnd(), control.ssthresh());
        lose(&mut control, Instant::ZERO, 20);
        assert_eq!(control.cwnd(), 10.0);
    }

    /// RFC 3649, table 5 (the response function), as reproduced in RFC 8312's table 1.
    #[test]
    fn average_windows_are_those_of_the_response_function() {
        for (gap, expected) in [(1_000, 38.0), (10_000, 263.0), (100_000, 1795.0)] {
            let average = average_window(&HighSpeedConfig {}, 0.1, gap, 38.0);
            let off = average / expected - 1.0;
            assert!(
                off.abs() < 0.06,
                "a loss in {gap}: {average:.1}, expected {expected}"
            );
        }
    }
}
