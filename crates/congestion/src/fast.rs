//! FAST (Jin, Wei and Low, INFOCOM 2004; surveyed by Dahal 2007, §2.1.2): moves the window to the point at which α
//! segments of the flow are queued. The steps are proportional to the distance from it.
//!
//! `w ← min{2w, (1 − γ)·w + γ·(baseRTT/RTT·w + α)}` (equation 6), with the average RTT of §IV.A. The window changes in
//! one round trip and is frozen in the next (§IV.B). There is no slow start: from a small window, equation 6 doubles
//! it. α is constant, as in the authors' implementation. Losses halve the window.

use units::{Duration, Instant};

use crate::controller::{Controller, Factory, Limits, Phase, Snapshot};
use crate::event::{AckEvent, LossEvent, TimeoutEvent};
use crate::registry::{Control, Recovery, Setting};
use crate::round::Round;
use crate::rtt::CleanRtt;

/// The minimum window is two segments, below which no queueing delay can be observed. After a timeout it is one.
const MIN_WINDOW: f64 = 2.0;

pub(crate) static FAST: Control = Control {
    name: "fast",
    label: "FAST",
    summary: "keeps α segments queued, in steps proportional to the error",
    source: "Jin, Wei and Low 2004",
    recovery: Recovery::NewReno,
    marks: &[],
    needs: &[],
    settings: &[Setting::packets("alpha", 20.0, "packets to keep queued")],
    factory: |settings, _| {
        Box::new(FastConfig {
            alpha: settings.number("alpha"),
            ..FastConfig::default()
        })
    },
};

/// Settings of [`Fast`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FastConfig {
    /// α: the segments to keep queued.
    pub alpha: f64,
    /// γ, above 0 and at most 1: the fraction of the distance that a step covers.
    pub gamma: f64,
}

impl Default for FastConfig {
    /// α = 20, for rates from 10 to 100 Mb/s; γ = 0.5.
    fn default() -> Self {
        FastConfig {
            alpha: 20.0,
            gamma: 0.5,
        }
    }
}

impl FastConfig {
    /// Creates a controller for a new connection.
    pub fn build(&self, limits: &Limits) -> Fast {
        Fast {
            config: *self,
            limits: *limits,
            cwnd: limits.initial_window,
            target: limits.initial_window,
            increment: 0.0,
            rtt: CleanRtt::default(),
            base_rtt: f64::INFINITY,
            average_rtt: None,
            round: Round::default(),
            frozen: true,
        }
    }
}

impl Factory for FastConfig {
    fn build(&self, limits: &Limits) -> Box<dyn Controller> {
        Box::new(self.build(limits))
    }
}

/// A window that approaches an equilibrium.
#[derive(Clone, Debug)]
pub struct Fast {
    config: FastConfig,
    limits: Limits,
    cwnd: f64,
    /// The window at the end of this round, and the increment per acknowledgement.
    target: f64,
    increment: f64,
    rtt: CleanRtt,
    /// In seconds.
    base_rtt: f64,
    average_rtt: Option<f64>,
    round: Round,
    /// Whether the window does not change in this round.
    frozen: bool,
}

impl Fast {
    /// §IV.A: a moving average with weight `η = min{3/w, 1/4}`.
    fn sample(&mut self, rtt: f64) {
        self.base_rtt = self.base_rtt.min(rtt);
        let eta = (3.0 / self.cwnd).min(0.25);
        let past = self.average_rtt.unwrap_or(rtt);
        self.average_rtt = Some((1.0 - eta) * past + eta * rtt);
    }

    /// Equation 6.
    fn update(&mut self) {
        let Some(rtt) = self.average_rtt.filter(|rtt| *rtt > 0.0) else {
            return;
        };
        let FastConfig { alpha, gamma } = self.config;
        let w = self.cwnd;
        let equilibrium = self.base_rtt / rtt * w + alpha;
        let next = ((1.0 - gamma) * w + gamma * equilibrium).min(2.0 * w);
        if next < w {
            self.cwnd = next.max(MIN_WINDOW.min(w));
        } else {
            self.target = next;
            self.increment = (next - w) / w;
        }
    }

    fn move_to(&mut self, cwnd: f64) {
        self.cwnd = cwnd;
        self.increment = 0.0;
    }
}

impl Controller for Fast {
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    /// There is no slow start. Returns the smallest valid threshold.
    fn ssthresh(&self) -> f64 {
        2.0
    }

    fn on_sent(&mut self, _now: Instant, segment: u64) {
        self.rtt.on_sent(segment);
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        if let Some(rtt) = self.rtt.sample(ack) {
            self.sample(rtt);
        }
        if self.round.ends(ack) {
            self.increment = 0.0;
            self.frozen = !self.frozen;
            if !self.frozen {
                self.update();
            }
        }
        if self.increment > 0.0 && !ack.window_unused {
            let cwnd = (self.cwnd + self.increment).min(self.target);
            self.cwnd = self.limits.cap(cwnd);
        }
    }

    fn on_loss(&mut self, loss: &LossEvent) {
        self.rtt.on_loss();
        self.move_to(((loss.window / 2) as f64).max(MIN_WINDOW));
    }

    fn on_timeout(&mut self, _timeout: &TimeoutEvent) {
        self.rtt.on_loss();
        self.move_to(1.0);
    }

    fn snapshot(&self) -> Snapshot {
        let backlog = self
            .average_rtt
            .map(|rtt| self.cwnd * (1.0 - self.base_rtt / rtt));
        Snapshot {
            cwnd: self.cwnd,
            ssthresh: self.ssthresh(),
            phase: Phase::Avoidance,
            base_rtt: self
                .base_rtt
                .is_finite()
                .then(|| Duration::from_secs_f64(self.base_rtt)),
            diff: backlog.filter(|backlog| backlog.is_finite()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sawtooth::lose;

    fn fast(cwnd: f64, base_rtt: f64, average_rtt: f64) -> Fast {
        let mut fast = FastConfig::default().build(&Limits {
            initial_window: cwnd,
            ..Limits::default()
        });
        fast.base_rtt = base_rtt;
        fast.average_rtt = Some(average_rtt);
        fast
    }

    /// A complete round of acknowledgements without samples.
    fn round(fast: &mut Fast, first: u64) -> u64 {
        let window = fast.cwnd() as u64;
        for acked in first + 1..=first + window {
            fast.on_ack(&AckEvent {
                acked,
                next: first + 2 * window,
                ..AckEvent::default()
            });
        }
        first + window
    }

    #[test]
    fn equation_6() {
        // w = 100, base 80 ms, RTT 100 ms: 0.5·100 + 0.5·(80 + 20) = 100: the equilibrium.
        let mut at_rest = fast(100.0, 0.08, 0.1);
        round(&mut at_rest, 0);
        assert_eq!(at_rest.cwnd(), 100.0);
        // RTT 80 ms: 50 + 0.5·(100 + 20) = 110, a tenth of a segment per acknowledgement.
        let mut growing = fast(100.0, 0.08, 0.08);
        let acked = round(&mut growing, 0);
        assert!((growing.cwnd() - 110.0).abs() < 1e-9);
        // The next round is frozen.
        round(&mut growing, acked);
        assert!((growing.cwnd() - 110.0).abs() < 1e-9);
        // RTT 160 ms: 50 + 0.5·(50 + 20) = 85, at once.
        let mut shrinking = fast(100.0, 0.08, 0.16);
        shrinking.on_ack(&AckEvent {
            acked: 1,
            next: 101,
            ..AckEvent::default()
        });
        assert_eq!(shrinking.cwnd(), 85.0);
    }

    #[test]
    fn a_small_window_at_most_doubles() {
        let mut fast = fast(4.0, 0.08, 0.08);
        round(&mut fast, 0);
        assert_eq!(fast.cwnd(), 8.0);
    }

    #[test]
    fn the_average_forgets_with_the_window() {
        // η = min{3/100, 1/4} = 0.03: 0.97·100 + 0.03·200 = 103 ms; η = 1/4 at a window of 4.
        let mut large = fast(100.0, 0.08, 0.1);
        large.sample(0.2);
        assert!((large.average_rtt.unwrap() - 0.103).abs() < 1e-12);
        let mut small = fast(4.0, 0.08, 0.1);
        small.sample(0.2);
        assert!((small.average_rtt.unwrap() - 0.125).abs() < 1e-12);
    }

    #[test]
    fn losses_halve_and_timeouts_start_over() {
        let mut fast = fast(100.0, 0.08, 0.1);
        lose(&mut fast, Instant::ZERO, 100);
        assert_eq!(fast.cwnd(), 50.0);
        lose(&mut fast, Instant::ZERO, 3);
        assert_eq!(fast.cwnd(), 2.0);
        fast.on_timeout(&TimeoutEvent {
            now: Instant::ZERO,
            window: 50,
        });
        assert_eq!(fast.cwnd(), 1.0);
    }
}
