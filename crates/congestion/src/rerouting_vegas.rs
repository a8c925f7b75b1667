//! Vegas by La, Walrand and Anantharam ("Issues in TCP Vegas", 1999; surveyed by Srijith et al., §III.B): an RTT that
//! has risen permanently indicates a longer route, not congestion.
//!
//! For the first K acknowledged segments it is Vegas. From then on it takes the minimum RTT of every N samples. If that
//! is "much larger" than base RTT L times in a row, it becomes base RTT and the window is computed from it: since Vegas
//! shrinks the window as the RTT rises, the remaining increase is caused by the path rather than by the flow. The
//! survey names δ and γ without defining their use; here "much larger" means by more than δ seconds and by more than γ
//! of base RTT. The window keeps its rate, `cwnd·new base/old base`. The defaults are ours.

use crate::controller::{Controller, Factory, Limits, Snapshot};
use crate::event::{AckEvent, LossEvent, TimeoutEvent};
use crate::registry::{Control, Recovery};
use crate::vegas::meter::Meter;
use crate::vegas::{THRESHOLDS, Vegas, VegasConfig};
use units::Instant;

pub(crate) static REROUTING_VEGAS: Control = Control {
    name: "reroutingvegas",
    label: "La's Vegas",
    summary: "Vegas that treats a lasting increase of the RTT as a new route",
    source: "La, Walrand and Anantharam 1999",
    recovery: Recovery::Vegas,
    marks: &[],
    needs: &[],
    settings: &THRESHOLDS,
    factory: |settings, rules| {
        Box::new(ReroutingVegasConfig {
            vegas: VegasConfig::of(settings, rules),
            ..ReroutingVegasConfig::default()
        })
    },
};

/// Settings of [`ReroutingVegas`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReroutingVegasConfig {
    /// The thresholds.
    pub vegas: VegasConfig,
    /// K: the number of initial samples in which it is Vegas.
    pub k: u32,
    /// N: the number of samples of which the minimum counts.
    pub n: u32,
    /// L: how often in a row the minimum must be much larger than base RTT.
    pub l: u32,
    /// δ: an increase by at most this many seconds does not indicate a new route.
    pub delta: f64,
    /// γ: neither does an increase by at most this fraction of base RTT.
    pub gamma: f64,
}

impl Default for ReroutingVegasConfig {
    /// Vegas' thresholds; K, N, L = 200, 20, 4; δ = 10 ms, γ = 0.2.
    fn default() -> Self {
        ReroutingVegasConfig {
            vegas: VegasConfig::default(),
            k: 200,
            n: 20,
            l: 4,
            delta: 0.01,
            gamma: 0.2,
        }
    }
}

impl ReroutingVegasConfig {
    /// Creates a controller for a new connection.
    pub fn build(&self, limits: &Limits) -> ReroutingVegas {
        ReroutingVegas {
            config: *self,
            vegas: self.vegas.build(limits),
            warm_up: self.k,
            least: f64::INFINITY,
            samples: 0,
            risen: 0,
        }
    }
}

impl Factory for ReroutingVegasConfig {
    fn build(&self, limits: &Limits) -> Box<dyn Controller> {
        Box::new(self.build(limits))
    }
}

/// Vegas, and its recent round-trip times.
#[derive(Clone, Debug)]
pub struct ReroutingVegas {
    config: ReroutingVegasConfig,
    vegas: Vegas,
    /// Number of samples until monitoring starts.
    warm_up: u32,
    /// The minimum of the samples since the last check in seconds, and their number.
    least: f64,
    samples: u32,
    /// How often in a row the minimum was much larger than base RTT.
    risen: u32,
}

impl ReroutingVegas {
    fn watch(&mut self, rtt: f64) {
        if self.warm_up > 0 {
            self.warm_up -= 1;
            return;
        }
        self.least = self.least.min(rtt);
        self.samples += 1;
        if self.samples < self.config.n {
            return;
        }
        let least = std::mem::replace(&mut self.least, f64::INFINITY);
        self.samples = 0;
        if !self.is_much_larger(least) {
            self.risen = 0;
            return;
        }
        self.risen += 1;
        if self.risen >= self.config.l {
            self.risen = 0;
            self.vegas.reroute(least);
        }
    }

    fn is_much_larger(&self, least: f64) -> bool {
        let base = self.vegas.meter().base();
        let rise = least - base;
        base > 0.0 && rise > self.config.delta && rise > self.config.gamma * base
    }
}

impl Controller for ReroutingVegas {
    fn cwnd(&self) -> f64 {
        self.vegas.cwnd()
    }

    fn ssthresh(&self) -> f64 {
        self.vegas.ssthresh()
    }

    fn on_sent(&mut self, now: Instant, segment: u64) {
        self.vegas.on_sent(now, segment);
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        self.vegas.on_ack(ack);
        if let Some(rtt) = ack.rtt {
            self.watch(rtt.as_secs_f64());
        }
    }

    fn on_duplicate_ack(&mut self, ack: &AckEvent) {
        self.vegas.on_duplicate_ack(ack);
    }

    fn on_departure(&mut self, now: Instant) {
        self.vegas.on_departure(now);
    }

    fn on_loss(&mut self, loss: &LossEvent) {
        self.vegas.on_loss(loss);
    }

    fn on_recovered(&mut self, now: Instant) {
        self.vegas.on_recovered(now);
    }

    fn on_timeout(&mut self, timeout: &TimeoutEvent) {
        self.vegas.on_timeout(timeout);
    }

    fn snapshot(&self) -> Snapshot {
        self.vegas.snapshot()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Duration;

    /// Acknowledgements of one segment each, with a constant window of 40.
    struct Path {
        control: ReroutingVegas,
        acked: u64,
    }

    impl Path {
        fn new() -> Self {
            let mut control = ReroutingVegasConfig::default().build(&Limits {
                initial_window: 40.0,
                initial_ssthresh: 2.0,
                max_cwnd: None,
                ..Limits::default()
            });
            control.on_sent(Instant::ZERO, 0);
            let mut path = Path { control, acked: 0 };
            path.run(200, 50);
            path
        }

        fn run(&mut self, segments: u64, rtt_ms: u64) {
            for _ in 0..segments {
                self.acked += 1;
                self.control.on_ack(&AckEvent {
                    now: Instant::from_micros(50_000 + self.acked * 1000),
                    acked: self.acked,
                    newly_acked: 1,
                    // Never the end of a round, so that only this file changes the window.
                    next: 1_000_000,
                    rtt: Some(Duration::from_millis(rtt_ms)),
                    ..AckEvent::default()
                });
            }
        }

        fn state(&self) -> (f64, f64) {
            (self.control.vegas.meter().base(), self.control.cwnd())
        }
    }

    #[test]
    fn a_lasting_rise_is_a_new_route() {
        // After L·N = 80 samples of 100 ms instead of 50: base 100 ms, and the window is 40·100/50.
        let mut path = Path::new();
        assert_eq!(path.state(), (0.05, 40.0));
        path.run(79, 100);
        assert_eq!(path.state(), (0.05, 40.0));
        path.run(1, 100);
        assert_eq!(path.state(), (0.1, 80.0));
    }

    #[test]
    fn one_short_rtt_among_n_breaks_the_series() {
        let mut path = Path::new();
        path.run(60, 100);
        path.run(1, 50);
        path.run(79, 100);
        assert_eq!(path.state(), (0.05, 40.0));
    }

    #[test]
    fn a_small_rise_is_no_new_route() {
        // γ·base = 10 ms, and δ = 10 ms.
        let mut path = Path::new();
        path.run(200, 59);
        assert_eq!(path.state().0, 0.05);
        path.run(80, 61);
        assert_eq!(path.state().0, 0.061);
        // Now γ·base = 12.2 ms: an increase by 11 ms exceeds only δ.
        path.run(200, 72);
        assert_eq!(path.state().0, 0.061);
    }
}
