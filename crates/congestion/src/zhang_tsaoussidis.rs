//! Zhang and Tsaoussidis' smooth TCP (NOSSDAV 2003; surveyed by Dahal 2007, §2.1.2): Reno that slows down before the
//! queue is full, and accelerates while it is empty.
//!
//! The queueing delay is the RTT minus its minimum. Once per round trip it is compared with its maximum: at a fraction
//! of `Th_upper` or above, the window is reduced by a factor; at `Th_lower` or below, it grows faster by a factor.
//! Until the first loss the maximum is unknown, and it is Reno, which fills the queue. The survey does not specify
//! thresholds and factors; the defaults are ours.

use crate::controller::{Controller, Factory, Limits};
use crate::event::{AckEvent, LossEvent, TimeoutEvent};
use crate::registry::{Control, Recovery};
use crate::reno::{Reno, RenoConfig};
use crate::round::Round;
use crate::rtt::CleanRtt;
use units::Instant;

pub(crate) static ZHANG_TSAOUSSIDIS: Control = Control {
    name: "zhangtsaoussidis",
    label: "Zhang–Tsaoussidis",
    summary: "Reno that slows down before the queue is full",
    source: "Zhang and Tsaoussidis 2003",
    recovery: Recovery::NewReno,
    marks: &[],
    needs: &[],
    settings: &[],
    factory: |_, _| Box::new(ZhangTsaoussidisConfig::default()),
};

/// Settings of [`ZhangTsaoussidis`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ZhangTsaoussidisConfig {
    /// `Th_upper`: the fraction of the maximum queueing delay from which the window is reduced.
    pub upper: f64,
    /// `Th_lower`: the fraction up to which growth is faster.
    pub lower: f64,
    /// The factor of a reduction.
    pub decrease: f64,
    /// The factor by which growth is faster.
    pub acceleration: f64,
}

impl Default for ZhangTsaoussidisConfig {
    /// Three quarters and one quarter; a reduction to 7/8; growth twice as fast.
    fn default() -> Self {
        ZhangTsaoussidisConfig {
            upper: 0.75,
            lower: 0.25,
            decrease: 0.875,
            acceleration: 2.0,
        }
    }
}

impl ZhangTsaoussidisConfig {
    /// Creates a controller for a new connection.
    pub fn build(&self, limits: &Limits) -> ZhangTsaoussidis {
        ZhangTsaoussidis {
            config: *self,
            reno: RenoConfig {}.build(limits),
            rtt: CleanRtt::default(),
            range: None,
            lost: false,
            round: Round::default(),
            hurrying: false,
        }
    }
}

impl Factory for ZhangTsaoussidisConfig {
    fn build(&self, limits: &Limits) -> Box<dyn Controller> {
        Box::new(self.build(limits))
    }
}

/// Reno, and an estimate of how full the queue is.
#[derive(Clone, Debug)]
pub struct ZhangTsaoussidis {
    config: ZhangTsaoussidisConfig,
    reno: Reno,
    rtt: CleanRtt,
    /// The minimum and maximum RTT, in seconds.
    range: Option<(f64, f64)>,
    /// Whether a loss has shown the delay of a full queue.
    lost: bool,
    round: Round,
    /// Whether the queue was nearly empty at the end of the last round.
    hurrying: bool,
}

impl ZhangTsaoussidis {
    /// `qdelay/max_qdelay`, if there has been any queueing.
    fn fullness(&mut self, rtt: f64) -> Option<f64> {
        let (min, max) = self.range.unwrap_or((rtt, rtt));
        let (min, max) = (min.min(rtt), max.max(rtt));
        self.range = Some((min, max));
        (max > min).then(|| (rtt - min) / (max - min))
    }

    fn judge(&mut self, fullness: f64) {
        self.hurrying = fullness <= self.config.lower;
        if fullness >= self.config.upper {
            let cwnd = self.reno.cwnd();
            self.reno.shrink_to(cwnd * self.config.decrease);
        }
    }
}

impl Controller for ZhangTsaoussidis {
    fn cwnd(&self) -> f64 {
        self.reno.cwnd()
    }

    fn ssthresh(&self) -> f64 {
        self.reno.ssthresh()
    }

    fn on_sent(&mut self, _now: Instant, segment: u64) {
        self.rtt.on_sent(segment);
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        let (before, opening) = (self.cwnd(), self.reno.in_slow_start());
        self.reno.on_ack(ack);
        if self.hurrying && !opening {
            let step = self.cwnd() - before;
            self.reno.grow(step * (self.config.acceleration - 1.0));
        }
        let fullness = self.rtt.sample(ack).and_then(|rtt| self.fullness(rtt));
        if !self.round.ends(ack) {
            return;
        }
        if let Some(fullness) = fullness.filter(|_| self.lost && !opening) {
            self.judge(fullness);
        }
    }

    fn on_loss(&mut self, loss: &LossEvent) {
        self.rtt.on_loss();
        self.lost = true;
        self.reno.halve(loss.window);
    }

    fn on_timeout(&mut self, timeout: &TimeoutEvent) {
        self.rtt.on_loss();
        self.lost = true;
        self.hurrying = false;
        self.reno.on_timeout(timeout);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sawtooth::lose;
    use units::Duration;

    /// RTTs from 100 to 200 ms have been seen; a window of 16 in congestion avoidance.
    fn smooth() -> ZhangTsaoussidis {
        let mut smooth = ZhangTsaoussidisConfig::default().build(&Limits {
            initial_window: 16.0,
            initial_ssthresh: 16.0,
            max_cwnd: None,
            ..Limits::default()
        });
        smooth.range = Some((0.1, 0.2));
        smooth
    }

    /// A round of one acknowledgement. Returns cwnd after it.
    fn round(smooth: &mut ZhangTsaoussidis, acked: u64, rtt_ms: u64) -> f64 {
        smooth.on_ack(&AckEvent {
            acked,
            next: acked,
            rtt: Some(Duration::from_millis(rtt_ms)),
            ..AckEvent::default()
        });
        smooth.cwnd()
    }

    #[test]
    fn a_queue_next_to_full_cuts_and_one_next_to_empty_hurries() {
        let mut smooth = smooth();
        smooth.lost = true;
        // (180 − 100)/(200 − 100) = 0.8 ≥ 0.75: after Reno's 1/16, seven eighths.
        let grown = 16.0 + 1.0 / 16.0;
        assert_eq!(round(&mut smooth, 1, 180), grown * 0.875);
        assert!(!smooth.reno.in_slow_start());
        // 0.5: Reno.
        let before = smooth.cwnd();
        assert_eq!(round(&mut smooth, 2, 150), before + 1.0 / before);
        // 0.2 ≤ 0.25: twice as fast from the next acknowledgement on.
        round(&mut smooth, 3, 120);
        let before = smooth.cwnd();
        let after = round(&mut smooth, 4, 150);
        assert!((after - before - 2.0 / before).abs() < 1e-12);
    }

    #[test]
    fn until_the_first_loss_it_is_reno() {
        let mut smooth = smooth();
        assert_eq!(round(&mut smooth, 1, 200), 16.0 + 1.0 / 16.0);
        lose(&mut smooth, Instant::ZERO, 16);
        assert_eq!(smooth.cwnd(), 8.0);
        assert_eq!(round(&mut smooth, 2, 200), (8.0 + 1.0 / 8.0) * 0.875);
    }
}
