//! DUAL (Wang and Crowcroft, CCR 1992; surveyed by Chan 2004, §2.3, and Dahal 2007, §2.1.2): Reno's growth, adjusted by
//! comparing the RTT with the mean of its minimum and maximum.
//!
//! Every two round trips, an RTT above `(RTT_min + RTT_max)/2` reduces the window by an eighth. A timeout is handled
//! like Tahoe's, and resets both RTTs, because such severe congestion indicates that the path has changed. A loss
//! detected by duplicates is handled like Reno's. The delay neither ends slow start, so that the first slow start ends
//! in a loss, nor starts it.

use crate::controller::{Controller, Factory, Limits};
use crate::event::{AckEvent, LossEvent, TimeoutEvent};
use crate::registry::{Control, Recovery};
use crate::reno::{Reno, RenoConfig};
use crate::round::Round;
use crate::rtt::CleanRtt;
use units::Instant;

pub(crate) static DUAL: Control = Control {
    name: "dual",
    label: "DUAL",
    summary: "Reno that reduces the window by 1/8 when the RTT is above the midpoint of its range",
    source: "Wang and Crowcroft 1992",
    recovery: Recovery::NewReno,
    marks: &[],
    needs: &[],
    settings: &[],
    factory: |_, _| Box::new(DualConfig {}),
};

/// Settings of [`Dual`]; there are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DualConfig {}

impl DualConfig {
    /// Creates a controller for a new connection.
    pub fn build(&self, limits: &Limits) -> Dual {
        Dual {
            reno: RenoConfig {}.build(limits),
            rtt: CleanRtt::default(),
            range: None,
            round: Round::default(),
            rests: true,
        }
    }
}

impl Factory for DualConfig {
    fn build(&self, limits: &Limits) -> Box<dyn Controller> {
        Box::new(self.build(limits))
    }
}

/// Reno, and the range of its round-trip times.
#[derive(Clone, Debug)]
pub struct Dual {
    reno: Reno,
    rtt: CleanRtt,
    /// The minimum and maximum RTT, in seconds.
    range: Option<(f64, f64)>,
    round: Round,
    /// Whether the end of this round is not tested.
    rests: bool,
}

impl Dual {
    fn sample(&mut self, rtt: f64) {
        let (min, max) = self.range.unwrap_or((rtt, rtt));
        self.range = Some((min.min(rtt), max.max(rtt)));
    }

    /// The RTT with a half-full queue, in seconds.
    fn threshold(&self) -> Option<f64> {
        self.range.map(|(min, max)| (min + max) / 2.0)
    }
}

impl Controller for Dual {
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
        self.reno.on_ack(ack);
        let rtt = self.rtt.sample(ack);
        if let Some(rtt) = rtt {
            self.sample(rtt);
        }
        if !self.round.ends(ack) {
            return;
        }
        self.rests = !self.rests;
        let (Some(rtt), Some(threshold)) = (rtt, self.threshold()) else {
            return;
        };
        if !self.rests && rtt > threshold {
            let cwnd = self.cwnd();
            self.reno.shrink_to(cwnd - cwnd / 8.0);
        }
    }

    fn on_loss(&mut self, loss: &LossEvent) {
        self.rtt.on_loss();
        self.reno.halve(loss.window);
    }

    fn on_timeout(&mut self, timeout: &TimeoutEvent) {
        self.rtt.on_loss();
        self.range = None;
        self.reno.on_timeout(timeout);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sawtooth::lose;
    use units::Duration;

    /// A round of one acknowledgement. Returns cwnd after it.
    fn round(dual: &mut Dual, acked: u64, rtt_ms: u64) -> f64 {
        dual.on_ack(&AckEvent {
            acked,
            next: acked,
            rtt: Some(Duration::from_millis(rtt_ms)),
            ..AckEvent::default()
        });
        dual.cwnd()
    }

    fn dual(cwnd: f64) -> Dual {
        DualConfig {}.build(&Limits {
            initial_window: cwnd,
            initial_ssthresh: cwnd,
            max_cwnd: None,
            ..Limits::default()
        })
    }

    #[test]
    fn every_other_round_a_long_delay_takes_an_eighth() {
        // Range 100 to 200 ms: the threshold is 150. Growth comes first: 1/16 from 16.
        let mut dual = dual(16.0);
        dual.sample(0.1);
        dual.sample(0.2);
        let grown = 16.0 + 1.0 / 16.0;
        assert_eq!(round(&mut dual, 1, 151), grown * 7.0 / 8.0);
        assert!(!dual.reno.in_slow_start());
        let before = dual.cwnd();
        assert_eq!(round(&mut dual, 2, 151), before + 1.0 / before);
        let before = dual.cwnd();
        assert_eq!(round(&mut dual, 3, 150), before + 1.0 / before);
    }

    #[test]
    fn a_timeout_forgets_the_range() {
        let mut dual = dual(16.0);
        dual.sample(0.1);
        dual.sample(0.2);
        assert!((dual.threshold().unwrap() - 0.15).abs() < 1e-12);
        lose(&mut dual, Instant::ZERO, 16);
        assert_eq!(dual.cwnd(), 8.0);
        assert!(dual.threshold().is_some());
        dual.on_timeout(&TimeoutEvent {
            now: Instant::ZERO,
            window: 8,
        });
        assert_eq!((dual.cwnd(), dual.ssthresh()), (1.0, 4.0));
        assert_eq!(dual.threshold(), None);
    }
}
