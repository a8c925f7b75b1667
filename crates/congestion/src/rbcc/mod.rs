//! RBCC (Dahal 2007, ch. 3 to 5): the window reacts to the distance of each RTT from a threshold.
//!
//! Queues appear in the RTT before they overflow. Every acknowledgement, including duplicates, changes the window by
//! `(T − RTT)` over an RTT, so that the RTT stays near T and the queues stay short. Loss recovery is NewReno's. RTTs
//! come from timestamps, one per packet.

mod dynamic;

pub use dynamic::Dynamic;

use crate::controller::{Controller, Factory, Limits, Phase, Snapshot};
use crate::event::{AckEvent, LossEvent, TimeoutEvent};
use crate::registry::{Control, Kind, Need, Recovery, Setting, Settings};
use units::Duration;

/// The minimum window is one segment.
const MIN_WINDOW: f64 = 1.0;

pub(crate) static RBCC: Control = Control {
    name: "rbcc",
    label: "RBCC",
    summary: "the window follows the RTT's distance from a threshold",
    source: "Dahal 2007, ch. 3, 4",
    recovery: Recovery::NewReno,
    marks: &[],
    needs: &[Need::Timestamps, Need::PromptAcks],
    settings: &[THRESHOLD_RTT],
    factory: |settings, _| Box::new(RbccConfig::wired(Threshold::of(settings))),
};

pub(crate) static RBCC_WL: Control = Control {
    name: "rbccwl",
    label: "RBCC-WL",
    summary: "RBCC for wireless links",
    source: "Dahal 2007, ch. 5",
    recovery: Recovery::NewReno,
    marks: &[],
    needs: &[Need::Timestamps, Need::PromptAcks],
    settings: &[THRESHOLD_RTT],
    factory: |settings, _| Box::new(RbccConfig::wireless(Threshold::of(settings))),
};

const THRESHOLD_RTT: Setting = Setting {
    name: "threshold_rtt_s",
    summary: "the threshold RTT, in seconds; unset: found by probing (§4.4)",
    kind: Kind::Number {
        default: None,
        min: 1e-9,
        max: 1e9,
    },
};

/// Settings of [`Rbcc`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RbccConfig {
    /// Where the threshold comes from.
    pub threshold: Threshold,
    /// The type of network at the receiver's end.
    pub network: Network,
}

/// Where the threshold RTT comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threshold {
    /// `T = F·RTT_min` (4.1), computed from the path in advance.
    Static(Duration),
    /// Found by probing (§4.4).
    Dynamic,
}

impl Threshold {
    fn of(settings: &Settings) -> Self {
        let given = settings.number_if_any(THRESHOLD_RTT.name);
        given.map_or(Threshold::Dynamic, |seconds| {
            Threshold::Static(Duration::from_secs_f64(seconds))
        })
    }
}

/// The expected kind of losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// Losses are congestion (ch. 4).
    Wired,
    /// RBCC-WL: losses are caused by the wireless link, so they do not reduce the window, and the window changes more
    /// gently (ch. 5).
    Wireless,
}

impl Network {
    /// The change of the window per acknowledgement, in segments. Times are in seconds.
    fn increment(self, threshold: f64, rtt: f64) -> f64 {
        let over = match self {
            // (3.4)
            Network::Wired => rtt.min(threshold),
            // (5.3)
            Network::Wireless => rtt.max(threshold),
        };
        (threshold - rtt) / over
    }
}

impl RbccConfig {
    /// RBCC as in ch. 4.
    pub const fn wired(threshold: Threshold) -> Self {
        RbccConfig {
            threshold,
            network: Network::Wired,
        }
    }

    /// RBCC-WL as in ch. 5.
    pub const fn wireless(threshold: Threshold) -> Self {
        RbccConfig {
            threshold,
            network: Network::Wireless,
        }
    }

    /// Creates a controller for a new connection: one segment (§4.1), no slow start.
    pub fn build(&self, limits: &Limits) -> Rbcc {
        Rbcc {
            limits: *limits,
            network: self.network,
            source: match self.threshold {
                Threshold::Static(threshold) => Source::Fixed(threshold.as_secs_f64()),
                Threshold::Dynamic => Source::Probed(Dynamic::default()),
            },
            cwnd: MIN_WINDOW,
        }
    }
}

impl Factory for RbccConfig {
    fn build(&self, limits: &Limits) -> Box<dyn Controller> {
        Box::new(self.build(limits))
    }
}

/// A window that is controlled by the RTT and its threshold.
#[derive(Clone, Debug)]
pub struct Rbcc {
    limits: Limits,
    network: Network,
    source: Source,
    cwnd: f64,
}

#[derive(Clone, Debug)]
enum Source {
    Fixed(f64),
    Probed(Dynamic),
}

impl Rbcc {
    /// The current T, in seconds. `None` before the first RTT if it is found by probing.
    pub fn threshold(&self) -> Option<f64> {
        match &self.source {
            Source::Fixed(threshold) => Some(*threshold),
            Source::Probed(dynamic) => dynamic.threshold(),
        }
    }

    /// Changes the window according to an RTT in seconds. Returns whether there is a threshold.
    fn follow(&mut self, rtt: f64) -> bool {
        let threshold = self.threshold().filter(|t| rtt > 0.0 && *t > 0.0);
        if let Some(threshold) = threshold {
            // (3.5)
            let cwnd = self.cwnd + self.network.increment(threshold, rtt);
            self.cwnd = self.limits.cap(cwnd.max(MIN_WINDOW));
        }
        threshold.is_some()
    }
}

/// The RTT of an acknowledgement, in seconds. A duplicate has one from its timestamp.
fn rtt_s(ack: &AckEvent) -> Option<f64> {
    ack.echoed_rtt.or(ack.rtt).map(Duration::as_secs_f64)
}

impl Controller for Rbcc {
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    /// There is no slow start. Returns the smallest valid threshold.
    fn ssthresh(&self) -> f64 {
        2.0
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        let Some(rtt) = rtt_s(ack) else {
            return;
        };
        if let Source::Probed(dynamic) = &mut self.source {
            dynamic.measure(rtt);
        }
        if self.follow(rtt)
            && let Source::Probed(dynamic) = &mut self.source
        {
            dynamic.adjust(self.cwnd);
        }
    }

    fn on_partial_ack(&mut self, ack: &AckEvent) {
        self.on_ack(ack);
    }

    /// Every acknowledgement changes the window (§3.3, §5.2). Only new ones are probes (§4.4).
    fn on_duplicate_ack(&mut self, ack: &AckEvent) {
        if let Some(rtt) = rtt_s(ack) {
            self.follow(rtt);
        }
    }

    fn on_loss(&mut self, loss: &LossEvent) {
        if self.network == Network::Wired {
            self.cwnd = ((loss.window / 2) as f64).max(MIN_WINDOW);
        }
    }

    fn on_timeout(&mut self, _timeout: &TimeoutEvent) {
        if self.network == Network::Wired {
            self.cwnd = MIN_WINDOW;
        }
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            cwnd: self.cwnd,
            ssthresh: self.ssthresh(),
            phase: Phase::Avoidance,
            base_rtt: None,
            diff: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn after(config: RbccConfig, cwnd: f64, rtt_ms: u64) -> f64 {
        let mut rbcc = config.build(&Limits::default());
        rbcc.cwnd = cwnd;
        rbcc.on_ack(&AckEvent {
            echoed_rtt: Some(ms(rtt_ms)),
            ..AckEvent::default()
        });
        rbcc.cwnd()
    }

    #[test]
    fn the_smaller_rtt_divides_on_wires() {
        // (3.4), T = 120 ms: (120 − 80)/80 = 0.5, (120 − 180)/120 = −0.5.
        let rbcc = RbccConfig::wired(Threshold::Static(ms(120)));
        assert!((after(rbcc, 4.0, 80) - 4.5).abs() < 1e-12);
        assert!((after(rbcc, 4.0, 180) - 3.5).abs() < 1e-12);
        assert_eq!(after(rbcc, 4.0, 120), 4.0);
    }

    #[test]
    fn the_larger_rtt_divides_in_the_air() {
        // (5.3): (120 − 80)/120 = 1/3, (120 − 180)/180 = −1/3.
        let rbcc = RbccConfig::wireless(Threshold::Static(ms(120)));
        assert!((after(rbcc, 4.0, 80) - (4.0 + 1.0 / 3.0)).abs() < 1e-12);
        assert!((after(rbcc, 4.0, 180) - (4.0 - 1.0 / 3.0)).abs() < 1e-12);
    }

    #[test]
    fn partial_and_duplicate_acks_move_the_window_as_well() {
        let mut rbcc = RbccConfig::wired(Threshold::Static(ms(120))).build(&Limits::default());
        rbcc.cwnd = 4.0;
        let ack = AckEvent {
            echoed_rtt: Some(ms(80)),
            ..AckEvent::default()
        };
        rbcc.on_partial_ack(&ack);
        rbcc.on_duplicate_ack(&ack);
        assert!((rbcc.cwnd() - 5.0).abs() < 1e-12);
    }

    #[test]
    fn a_duplicate_ack_does_not_probe() {
        let mut rbcc = RbccConfig::wired(Threshold::Dynamic).build(&Limits::default());
        let ack = |rtt_ms| AckEvent {
            echoed_rtt: Some(ms(rtt_ms)),
            ..AckEvent::default()
        };
        rbcc.on_ack(&ack(80));
        let threshold = rbcc.threshold();
        for _ in 0..50 {
            rbcc.on_duplicate_ack(&ack(40));
        }
        assert_eq!(rbcc.threshold(), threshold);
    }

    #[test]
    fn a_segment_is_left() {
        assert_eq!(
            after(RbccConfig::wired(Threshold::Static(ms(10))), 1.0, 80),
            1.0
        );
    }

    #[test]
    fn only_on_wires_a_loss_cuts() {
        use crate::event::Evidence;
        use units::Instant;
        let loss = LossEvent {
            now: Instant::ZERO,
            evidence: Evidence::Duplicates,
            lost: 1,
            sent_at: None,
            transmissions: 1,
            duplicates: 3,
            window: 9,
        };
        for (config, cwnd) in [
            (RbccConfig::wired(Threshold::Dynamic), 4.0),
            (RbccConfig::wireless(Threshold::Dynamic), 9.0),
        ] {
            let mut rbcc = config.build(&Limits::default());
            rbcc.cwnd = 9.0;
            rbcc.on_loss(&loss);
            assert_eq!(rbcc.cwnd(), cwnd);
        }
    }
}
