//! θ-PowerTCP (Addanki, Michel and Schmid, NSDI 2022, §3.5 and algorithm 2): PowerTCP that uses only round-trip times.
//!
//! Power is the product of the arrival rate at a bottleneck and the octets in its queue and pipe. Normalized by its
//! value without a queue it is `Γ = (dθ/dt + 1)·θ/τ`, where `θ` is the round-trip time and `τ` the minimum (equation
//! 8). Once per round trip the window moves towards `W/Γ + β`.

use units::Instant;

use crate::controller::{Controller, Factory, Limits};
use crate::event::{AckEvent, LossEvent, TimeoutEvent};
use crate::registry::{Control, Need, Recovery, Setting};
use crate::round::Round;

/// `γ`: the weight of the newest target in the window.
const GAMMA: f64 = 0.9;
/// Limits the growth of the window, apart from `β`, to the inverse of this factor per round trip. The paper has no such
/// bound. It takes effect if acknowledgements arrive in bursts.
const LEAST_POWER: f64 = 0.5;
/// The minimum window is one segment.
const MIN_WINDOW: f64 = 1.0;

const BETA: Setting = Setting::packets("beta", 1.0, "segments to keep queued");

pub(crate) static THETA_POWERTCP: Control = Control {
    name: "thetapowertcp",
    label: "θ-PowerTCP",
    summary: "divides the window by the power that round-trip times show",
    source: "Addanki et al. 2022",
    recovery: Recovery::Sack,
    marks: &[],
    needs: &[Need::Pacing],
    settings: &[BETA],
    factory: |settings, _| {
        Box::new(ThetaPowerTcpConfig {
            beta: settings.number(BETA.name),
        })
    },
};

/// Settings of [`ThetaPowerTcp`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThetaPowerTcpConfig {
    /// `β`, in segments: the number that the flow keeps queued. The paper divides the product of the host's bandwidth and `τ`
    /// by the expected number of flows.
    pub beta: f64,
}

impl ThetaPowerTcpConfig {
    /// Creates a controller for a new connection.
    pub fn build(&self, limits: &Limits) -> ThetaPowerTcp {
        ThetaPowerTcp {
            beta: self.beta,
            limits: *limits,
            cwnd: limits.initial_window,
            base_s: None,
            previous: None,
            power: 1.0,
            round: Round::default(),
        }
    }
}

impl Factory for ThetaPowerTcpConfig {
    fn build(&self, limits: &Limits) -> Box<dyn Controller> {
        Box::new(self.build(limits))
    }
}

/// A window, and the smoothed power of the bottleneck.
#[derive(Clone, Debug)]
pub struct ThetaPowerTcp {
    beta: f64,
    limits: Limits,
    cwnd: f64,
    /// `τ`, in seconds.
    base_s: Option<f64>,
    /// When the newest round-trip time was measured, and that time in seconds.
    previous: Option<(Instant, f64)>,
    /// `Γ`, smoothed over `τ`.
    power: f64,
    round: Round,
}

impl ThetaPowerTcp {
    /// `NORM_POWER` of algorithm 2.
    fn measure(&mut self, ack: &AckEvent) {
        let Some(rtt) = ack.rtt_s() else { return };
        let base = self.base_s.map_or(rtt, |base| base.min(rtt));
        self.base_s = Some(base);
        let Some((at, previous)) = self.previous.replace((ack.now, rtt)) else {
            return;
        };
        let elapsed = ack.now.since(at).as_secs_f64();
        if elapsed <= 0.0 || base <= 0.0 {
            return;
        }
        let gradient = (rtt - previous) / elapsed;
        let power = (gradient + 1.0) * rtt / base;
        let weight = (elapsed / base).min(1.0);
        self.power += (power - self.power) * weight;
    }

    /// `UPDATE_WINDOW` of algorithm 2. The window changes once per round trip, so it is also the window with which the
    /// acknowledged segment was sent.
    fn update(&mut self) {
        let target = self.cwnd / self.power.max(LEAST_POWER) + self.beta;
        let cwnd = GAMMA * target + (1.0 - GAMMA) * self.cwnd;
        self.cwnd = self.limits.cap(cwnd.max(MIN_WINDOW));
    }

    fn halve(&mut self) {
        self.cwnd = (self.cwnd / 2.0).max(MIN_WINDOW);
    }
}

impl Controller for ThetaPowerTcp {
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    /// There is no slow start.
    fn ssthresh(&self) -> f64 {
        0.0
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        self.measure(ack);
        if self.round.ends(ack) && !ack.window_unused {
            self.update();
        }
    }

    fn on_partial_ack(&mut self, ack: &AckEvent) {
        self.measure(ack);
    }

    fn on_duplicate_ack(&mut self, ack: &AckEvent) {
        self.measure(ack);
    }

    /// The paper does not cover losses: handled like Reno's.
    fn on_loss(&mut self, _loss: &LossEvent) {
        self.halve();
    }

    fn on_timeout(&mut self, _timeout: &TimeoutEvent) {
        self.cwnd = MIN_WINDOW;
    }

    /// `cwnd/τ`.
    fn pacing_rate(&self) -> Option<f64> {
        self.base_s
            .filter(|base| *base > 0.0)
            .map(|base| self.cwnd / base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Duration;

    fn control(cwnd: f64) -> ThetaPowerTcp {
        ThetaPowerTcpConfig { beta: 1.0 }.build(&Limits {
            initial_window: cwnd,
            ..Limits::default()
        })
    }

    /// The acknowledgement of a segment, with 10 more sent.
    fn ack(acked: u64, at_us: u64, rtt_us: u64) -> AckEvent {
        AckEvent {
            now: Instant::from_micros(at_us),
            acked,
            newly_acked: 1,
            newly_delivered: 1,
            next: acked + 10,
            rtt: Some(Duration::from_micros(rtt_us)),
            ..AckEvent::default()
        }
    }

    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-9, "{value}, not {expected}");
    }

    /// τ 10 ms. 1 ms later θ is 11 ms: the gradient is 1, Γ = 2 · 1.1 = 2.2 with a weight of 1/10: 1.12. Another 2 ms
    /// later θ is 10 ms: the gradient is −1/2, Γ = 1/2 with a weight of 2/10: .996.
    #[test]
    fn power_is_the_gradient_and_the_round_trip_time() {
        let mut control = control(10.0);
        control.measure(&ack(1, 0, 10_000));
        near(control.power, 1.0);
        control.measure(&ack(2, 1_000, 11_000));
        near(control.power, 1.12);
        control.measure(&ack(3, 3_000, 10_000));
        near(control.power, 0.996);
        assert_eq!(control.pacing_rate(), Some(1000.0));
    }

    /// Γ 2: .9 · (10/2 + 1) + .1 · 10 = 6.4. Without a queue the window grows by .9 β.
    #[test]
    fn the_window_moves_once_a_round_trip() {
        let mut control = control(10.0);
        control.on_ack(&ack(1, 0, 10_000));
        near(control.cwnd(), 10.9);
        control.cwnd = 10.0;
        control.on_ack(&ack(2, 1_000, 10_000));
        near(control.cwnd(), 10.0);
        control.power = 2.0;
        control.previous = None;
        control.on_ack(&ack(11, 10_000, 10_000));
        near(control.cwnd(), 10.0);
        control.on_ack(&ack(12, 20_000, 20_000));
        // Γ of this acknowledgement is 2 · 2, with full weight.
        near(control.cwnd(), 0.9 * (10.0 / 4.0 + 1.0) + 1.0);
        control.power = 0.0;
        control.update();
        let before = 0.9 * (10.0 / 4.0 + 1.0) + 1.0;
        near(control.cwnd(), 0.9 * (2.0 * before + 1.0) + 0.1 * before);
    }

    /// A lone flow has β segments queued: W = W/Γ + β, with Γ = θ/τ = W/(W − β).
    #[test]
    fn a_steady_window_keeps_beta_queued() {
        let mut control = control(101.0);
        control.power = 101.0 / 100.0;
        control.update();
        near(control.cwnd(), 101.0);
    }
}
