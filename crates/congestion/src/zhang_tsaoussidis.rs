//! Zhang and Tsaoussidis' smooth TCP (NOSSDAV 2003; surveyed by Dahal 2007, §2.1.2): Reno that eases
//! off before the queue is full, and hurries while it is empty.
//!
//! Queueing delay is an RTT less the least one. Once a round trip its share of the most ever seen
//! decides: at `Th_upper` or above, the window is cut by a factor; at `Th_lower` or below, it grows
//! by a factor faster. Until the first loss nothing is known of the most, and it is Reno, which
//! fills the queue. The survey leaves thresholds and factors open; the defaults are ours.

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
    /// `Th_upper`: at this share of the longest queueing delay, or above, the window is cut.
    pub upper: f64,
    /// `Th_lower`: at this share or below, growth is faster.
    pub lower: f64,
    /// What a cut leaves.
    pub decrease: f64,
    /// How many times as fast growth is.
    pub acceleration: f64,
}

impl Default for ZhangTsaoussidisConfig {
    /// Three quarters and one quarter; a cut leaves 7/8, growth is twice as fast.
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
    /// A smooth TCP at the start of its connection.
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

/// Reno, and how full the queue is.
#[derive(Clone, Debug)]
pub struct ZhangTsaoussidis {
    config: ZhangTsaoussidisConfig,
    reno: Reno,
    rtt: CleanRtt,
    /// The least and the most RTT, in seconds.
    range: Option<(f64, f64)>,
    /// A loss has shown what a full queue is.
    lost: bool,
    round: Round,
    /// The queue was next to empty at the last round's end.
    hurrying: bool,
}

impl ZhangTsaoussidis {
    /// `qdelay/max_qdelay`, where there has been any.
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

    /// RTTs from 100 to 200 ms have been seen; a window of 16 in avoidance.
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

    /// A round of one acknowledgement; cwnd after it.
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
        // 0.2 ≤ 0.25: from the next acknowledgement on twice as fast.
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
