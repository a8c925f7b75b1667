//! Santa Cruz (Parsa and Garcia-Luna-Aceves, ICNP 1999; surveyed by Chan 2004, §2.3): keeps n segments queued on the
//! forward path, computed from relative delays.
//!
//! The relative delay of two segments is the difference of their one-way delays, `D = R − S`: the spacing of their
//! arrivals minus the spacing of their departures. The sum of D since the start, in units of the mean spacing of a
//! window's arrivals, is the number of queued segments. (The paper converts each window's sum by its own spacing and
//! adds the segments, `N = N_old + M`. That drifts if the spacing is not the bottleneck's, as after a loss.) The window
//! changes once per round trip: up by one segment below `n − δ`, down by one above `n + δ`. Delays on the backward path
//! have no effect. Slow start is Reno's and ends early if the queue is above `n + δ`; losses are handled like Reno's.
//! It needs timestamps.

use crate::controller::{Controller, Factory, Limits, Phase, Snapshot};
use crate::event::{AckEvent, LossEvent, TimeoutEvent};
use crate::registry::{Control, Need, Recovery};
use crate::reno::{Reno, RenoConfig};
use crate::round::Round;

pub(crate) static SANTA_CRUZ: Control = Control {
    name: "santacruz",
    label: "Santa Cruz",
    summary: "keeps n segments queued, by relative one-way delays",
    source: "Parsa and Garcia-Luna-Aceves 1999",
    recovery: Recovery::NewReno,
    marks: &[],
    needs: &[Need::Timestamps],
    settings: &[],
    factory: |_, _| Box::new(SantaCruzConfig::default()),
};

/// Settings of [`SantaCruz`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SantaCruzConfig {
    /// n: the segments to keep queued.
    pub n: f64,
    /// δ: the deviation from n within which the window does not change.
    pub delta: f64,
}

impl Default for SantaCruzConfig {
    /// n = 3, δ = 0.5. The survey does not specify them.
    fn default() -> Self {
        SantaCruzConfig { n: 3.0, delta: 0.5 }
    }
}

impl SantaCruzConfig {
    /// Creates a controller for a new connection.
    pub fn build(&self, limits: &Limits) -> SantaCruz {
        SantaCruz {
            config: *self,
            reno: RenoConfig {}.build(limits),
            last: None,
            relative_delay: 0,
            window: Arrivals::default(),
            queued: 0.0,
            round: Round::default(),
        }
    }
}

impl Factory for SantaCruzConfig {
    fn build(&self, limits: &Limits) -> Box<dyn Controller> {
        Box::new(self.build(limits))
    }
}

/// A window, and the segments that it has queued on the forward path.
#[derive(Clone, Debug)]
pub struct SantaCruz {
    config: SantaCruzConfig,
    reno: Reno,
    /// The last segment's one-way delay and arrival, in nanoseconds, by unsynchronised clocks.
    last: Option<(i64, i64)>,
    /// Σ D since the start, in nanoseconds.
    relative_delay: i64,
    window: Arrivals,
    /// N, in segments.
    queued: f64,
    round: Round,
}

/// Sums over the arrivals of a window.
#[derive(Clone, Copy, Debug, Default)]
struct Arrivals {
    /// Σ R, in nanoseconds.
    spacing: i64,
    segments: u64,
}

impl Arrivals {
    /// The mean spacing, in nanoseconds.
    fn mean(&self) -> Option<f64> {
        (self.spacing > 0 && self.segments > 0).then(|| self.spacing as f64 / self.segments as f64)
    }
}

impl SantaCruz {
    /// N: the segments queued on the forward path.
    pub fn queued(&self) -> f64 {
        self.queued
    }

    fn measure(&mut self, ack: &AckEvent) {
        let (Some(forward), Some(backward)) = (ack.ts_forward, ack.ts_backward) else {
            return;
        };
        let arrival = (ack.now.as_nanos() as i64).wrapping_sub(backward);
        if let Some((last_forward, last_arrival)) = self.last.replace((forward, arrival)) {
            let relative_delay = forward.wrapping_sub(last_forward);
            self.relative_delay = self.relative_delay.saturating_add(relative_delay);
            let spacing = arrival.wrapping_sub(last_arrival);
            self.window.spacing = self.window.spacing.saturating_add(spacing);
            self.window.segments += ack.newly_acked;
        }
    }

    fn adjust(&mut self) {
        let Some(spacing) = std::mem::take(&mut self.window).mean() else {
            return;
        };
        // A negative sum means that the path has become shorter.
        self.queued = (self.relative_delay as f64 / spacing).max(0.0);
        let SantaCruzConfig { n, delta } = self.config;
        let cwnd = self.reno.cwnd();
        if self.reno.in_slow_start() {
            if self.queued > n + delta {
                self.reno.end_slow_start();
            }
        } else if self.queued < n - delta {
            self.reno.grow(1.0);
        } else if self.queued > n + delta {
            self.reno.shrink_to(cwnd - 1.0);
        }
    }
}

impl Controller for SantaCruz {
    fn cwnd(&self) -> f64 {
        self.reno.cwnd()
    }

    fn ssthresh(&self) -> f64 {
        self.reno.ssthresh()
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        self.measure(ack);
        if self.reno.in_slow_start() {
            self.reno.on_ack(ack);
        }
        if self.round.ends(ack) {
            self.adjust();
        }
    }

    fn on_loss(&mut self, loss: &LossEvent) {
        self.reno.halve(loss.window);
    }

    fn on_timeout(&mut self, timeout: &TimeoutEvent) {
        self.reno.on_timeout(timeout);
    }

    fn snapshot(&self) -> Snapshot {
        let phase = if self.reno.in_slow_start() {
            Phase::SlowStart
        } else {
            Phase::Avoidance
        };
        Snapshot {
            cwnd: self.cwnd(),
            ssthresh: self.ssthresh(),
            phase,
            base_rtt: None,
            diff: Some(self.queued),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Instant;

    const MS: i64 = 1_000_000;

    /// A round of arrivals 10 ms apart with these one-way delays in ms. Returns cwnd after it.
    fn round(control: &mut SantaCruz, start_ms: i64, delays_ms: &[i64]) -> f64 {
        for (index, delay) in delays_ms.iter().enumerate() {
            let arrival = (start_ms + 10 * index as i64) * MS;
            let now = arrival + 20 * MS;
            let last = index + 1 == delays_ms.len();
            control.on_ack(&AckEvent {
                now: Instant::from_nanos(now as u64),
                // Only the last one ends the round.
                acked: if last { 2 } else { 0 },
                newly_acked: 1,
                next: 1,
                // The receiver's clock is 500 ms ahead.
                ts_forward: Some((delay + 500) * MS),
                ts_backward: Some((20 - 500) * MS),
                ..AckEvent::default()
            });
        }
        control.cwnd()
    }

    fn santa_cruz() -> SantaCruz {
        SantaCruzConfig::default().build(&Limits {
            initial_window: 10.0,
            initial_ssthresh: 10.0,
            max_cwnd: None,
            ..Limits::default()
        })
    }

    #[test]
    fn the_queue_is_the_sum_of_relative_delays() {
        // Σ D = 50 − 20 = 30 ms at 10 ms per segment: M = 3, N = 3. Within 3 ± 0.5 the window does not change.
        let mut control = santa_cruz();
        assert_eq!(round(&mut control, 100, &[20, 30, 40, 50]), 10.0);
        assert!((control.queued() - 3.0).abs() < 1e-9);
        // Another 10 ms: N = 4 > 3.5, one segment fewer.
        assert_eq!(round(&mut control, 140, &[50, 60]), 9.0);
        assert!(!control.reno.in_slow_start());
        assert!((control.queued() - 4.0).abs() < 1e-9);
        // Down by 20 ms, to 20 ms more than initially: N = 2 < 2.5, one more.
        assert_eq!(round(&mut control, 160, &[50, 40]), 10.0);
        assert!((control.queued() - 2.0).abs() < 1e-9);
        // Never negative.
        round(&mut control, 180, &[20, 10]);
        assert_eq!(control.queued(), 0.0);
    }

    #[test]
    fn slow_start_ends_at_a_queue() {
        let mut control = SantaCruzConfig::default().build(&Limits {
            initial_window: 10.0,
            initial_ssthresh: 64.0,
            max_cwnd: None,
            ..Limits::default()
        });
        assert_eq!(round(&mut control, 100, &[20, 40, 60]), 13.0);
        assert_eq!((control.queued(), control.ssthresh()), (4.0, 13.0));
    }

    #[test]
    fn without_timestamps_nothing_moves() {
        let mut control = santa_cruz();
        control.on_ack(&AckEvent {
            acked: 2,
            next: 3,
            newly_acked: 1,
            ..AckEvent::default()
        });
        assert_eq!(control.cwnd(), 10.0);
    }
}
