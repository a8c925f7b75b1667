//! Westwood (Mascolo, Casetti, Gerla, Sanadidi and Wang, MobiCom 2001; surveyed by Dahal 2007, §2.1.2) and Westwood+
//! (Grieco and Mascolo, CCR 2004): after a loss the window becomes the amount that the path delivered in its shortest
//! round trip, instead of a half.
//!
//! If losses are not caused by congestion, the bandwidth measured from acknowledgements remains high, and so does the
//! window. Growth is Reno's, loss recovery NewReno's.

mod bandwidth;

pub use bandwidth::{Bandwidth, Sampling};

use crate::controller::{Controller, Factory, Limits, Phase, Snapshot};
use crate::event::{AckEvent, LossEvent, TimeoutEvent};
use crate::registry::{Control, Recovery};
use crate::reno::{MIN_SSTHRESH, Reno, RenoConfig};
use crate::rtt::CleanRtt;
use units::{Duration, Instant};

pub(crate) static WESTWOOD: Control = Control {
    name: "westwood",
    label: "Westwood",
    summary: "after a loss, the window is bandwidth · minimum RTT",
    source: "Mascolo et al. 2001",
    recovery: Recovery::NewReno,
    marks: &[],
    needs: &[],
    settings: &[],
    factory: |_, _| {
        Box::new(WestwoodConfig {
            sampling: Sampling::EveryAck,
        })
    },
};

pub(crate) static WESTWOOD_PLUS: Control = Control {
    name: "westwoodplus",
    label: "Westwood+",
    summary: "Westwood with the bandwidth measured once per RTT",
    source: "Grieco and Mascolo 2004",
    recovery: Recovery::NewReno,
    marks: &[],
    needs: &[],
    settings: &[],
    factory: |_, _| {
        Box::new(WestwoodConfig {
            sampling: Sampling::EveryRtt,
        })
    },
};

/// Settings of [`Westwood`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WestwoodConfig {
    /// The sampling of the bandwidth, which distinguishes Westwood from Westwood+.
    pub sampling: Sampling,
}

impl WestwoodConfig {
    /// Creates a controller for a new connection.
    pub fn build(&self, limits: &Limits) -> Westwood {
        Westwood {
            reno: RenoConfig {}.build(limits),
            bandwidth: Bandwidth::new(self.sampling),
            rtt: CleanRtt::default(),
            acked: 0,
            accounted: 0,
            min_rtt: None,
        }
    }
}

impl Factory for WestwoodConfig {
    fn build(&self, limits: &Limits) -> Box<dyn Controller> {
        Box::new(self.build(limits))
    }
}

/// Reno's growth, and the bandwidth estimate for reductions.
#[derive(Clone, Debug)]
pub struct Westwood {
    reno: Reno,
    bandwidth: Bandwidth,
    rtt: CleanRtt,
    /// Number of segments acknowledged so far.
    acked: u64,
    /// Number of segments beyond these for which duplicates have accounted.
    accounted: u64,
    /// In seconds.
    min_rtt: Option<f64>,
}

impl Westwood {
    /// The bandwidth estimate, in segments per second, if there is one yet.
    pub fn bandwidth(&self) -> Option<f64> {
        self.bandwidth.estimate()
    }

    fn observe(&mut self, ack: &AckEvent) {
        if let Some(rtt) = self.rtt.sample(ack) {
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |min| min.min(rtt)));
            self.bandwidth.set_rtt(rtt);
        }
        let count = self.count(ack);
        self.bandwidth.add(ack.now, count as f64);
    }

    /// The number of segments that arrived (MobiCom 2001, §3.1.1): a duplicate reports one. An acknowledgement of new
    /// data reports those for which duplicates have not accounted, but at least the one that caused it.
    fn count(&mut self, ack: &AckEvent) -> u64 {
        let cumulative = ack.acked.saturating_sub(self.acked);
        self.acked = self.acked.max(ack.acked);
        match cumulative {
            0 => {
                self.accounted += 1;
                1
            }
            1 => 1,
            _ if self.accounted >= cumulative => {
                self.accounted -= cumulative;
                1
            }
            _ => cumulative - std::mem::take(&mut self.accounted),
        }
    }

    /// `BWE·RTT_min`, in segments. Half of `window` before there is an estimate.
    fn pipe(&self, window: u64) -> f64 {
        match (self.bandwidth(), self.min_rtt) {
            (Some(bandwidth), Some(min_rtt)) => (bandwidth * min_rtt).max(MIN_SSTHRESH),
            _ => ((window / 2) as f64).max(MIN_SSTHRESH),
        }
    }
}

impl Controller for Westwood {
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
        self.observe(ack);
        self.reno.on_ack(ack);
    }

    fn on_partial_ack(&mut self, ack: &AckEvent) {
        self.observe(ack);
    }

    fn on_duplicate_ack(&mut self, ack: &AckEvent) {
        self.observe(ack);
    }

    /// `ssthresh = BWE·RTT_min`. The window is reduced to it, never raised.
    fn on_loss(&mut self, loss: &LossEvent) {
        self.rtt.on_loss();
        let pipe = self.pipe(loss.window);
        let cwnd = self.cwnd().min(pipe);
        self.reno.cut_to(pipe, MIN_SSTHRESH);
        self.reno.set_cwnd(cwnd);
    }

    fn on_timeout(&mut self, timeout: &TimeoutEvent) {
        self.rtt.on_loss();
        self.reno.start_over(self.pipe(timeout.window));
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
            base_rtt: self.min_rtt.map(Duration::from_secs_f64),
            diff: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sawtooth::lose;

    /// 100 segments per second for ten seconds, with an RTT of 100 ms at first, then 200 ms.
    fn steady(sampling: Sampling) -> Westwood {
        let mut westwood = WestwoodConfig { sampling }.build(&Limits {
            initial_window: 20.0,
            initial_ssthresh: 2.0,
            max_cwnd: Some(20.0),
            ..Limits::default()
        });
        for acked in 1..=1000 {
            westwood.on_ack(&AckEvent {
                now: Instant::from_micros(acked * 10_000),
                acked,
                newly_acked: 1,
                next: acked + 20,
                rtt: Some(Duration::from_millis(if acked < 100 { 100 } else { 200 })),
                ..AckEvent::default()
            });
        }
        westwood
    }

    #[test]
    fn a_loss_leaves_what_the_shortest_round_trip_holds() {
        // 100/s · 0.1 s = 10 of 20.
        for sampling in [Sampling::EveryAck, Sampling::EveryRtt] {
            let mut westwood = steady(sampling);
            let estimate = westwood.bandwidth().unwrap();
            assert!((estimate - 100.0).abs() < 0.5, "{sampling:?}: {estimate}");
            lose(&mut westwood, Instant::from_micros(10_000_000), 20);
            assert!((westwood.cwnd() - 10.0).abs() < 0.05);
            assert_eq!(westwood.cwnd(), westwood.ssthresh());
            // A smaller window is not raised.
            westwood.reno.set_cwnd(4.0);
            lose(&mut westwood, Instant::from_micros(10_000_000), 4);
            assert_eq!(westwood.cwnd(), 4.0);
            westwood.on_timeout(&TimeoutEvent {
                now: Instant::from_micros(10_000_000),
                window: 4,
            });
            assert_eq!(westwood.cwnd(), 1.0);
            assert!((westwood.ssthresh() - 10.0).abs() < 0.05);
        }
    }

    #[test]
    fn every_segment_is_counted_once() {
        // Three duplicates report three; the acknowledgement of five reports the remaining two.
        let mut westwood = WestwoodConfig {
            sampling: Sampling::EveryAck,
        }
        .build(&Limits::default());
        let counts = [1, 1, 1, 1, 6, 7, 9].map(|acked| {
            westwood.count(&AckEvent {
                acked,
                ..AckEvent::default()
            })
        });
        assert_eq!(counts, [1, 1, 1, 1, 2, 1, 2]);
    }

    #[test]
    fn without_an_estimate_a_loss_halves() {
        let mut westwood = WestwoodConfig {
            sampling: Sampling::EveryRtt,
        }
        .build(&Limits {
            initial_window: 9.0,
            ..Limits::default()
        });
        lose(&mut westwood, Instant::ZERO, 9);
        assert_eq!((westwood.cwnd(), westwood.ssthresh()), (4.0, 4.0));
    }
}
