//! PowerTCP (Addanki, Michel and Schmid, *PowerTCP: Pushing the Performance Limits of Datacenter Networks*, NSDI 2022):
//! a window that is controlled by the power of the most loaded link of the path.
//!
//! Power is current times voltage: `λ`, the rate at which octets arrive at the link, times `ν`, the octets in its queue
//! and pipe. It is normalized by `B²·τ`, its value at full utilisation without a queue. The result is the factor by
//! which the window of a round trip ago was too large. Each acknowledgement moves the window towards `W/Γ + β`.

use units::Duration;

use crate::controller::{Controller, Factory, Limits, Phase, Snapshot};
use crate::event::{AckEvent, LossEvent, TimeoutEvent};
use crate::history::History;
use crate::host_link::{BASE_RTT, FLOWS, HOST_RATE, HostLink, HostLinkConfig};
use crate::registry::{Control, Mark, Need, Recovery};
use crate::telemetry::{Hops, PathRecord};

/// `γ`: the weight of the newest target in the window (§4.1).
const GAMMA: f64 = 0.9;
/// Number of past windows that are kept per round trip.
const KEPT_PER_TRIP: f64 = 32.0;
/// A window below one segment is paced.
const MIN_WINDOW: f64 = 0.001;

pub(crate) static POWERTCP: Control = Control {
    name: "powertcp",
    label: "PowerTCP",
    summary: "divides the window by the power of the fullest link",
    source: "Addanki et al. 2022",
    recovery: Recovery::Sack,
    marks: &[Mark::Int],
    needs: &[Need::PromptAcks, Need::Pacing],
    settings: &[BASE_RTT, HOST_RATE, FLOWS],
    factory: |settings, _| {
        Box::new(PowerTcpConfig {
            link: HostLinkConfig::of(settings),
            flows: settings.number(FLOWS.name),
        })
    },
};

/// Settings of [`PowerTcp`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PowerTcpConfig {
    /// The host's link and `τ`.
    pub link: HostLinkConfig,
    /// `N` of `β`: the number of expected number of flows that share a link.
    pub flows: f64,
}

impl PowerTcpConfig {
    /// Creates a controller for a new connection. It starts with the host's rate times `τ` if both are known, otherwise
    /// with the transport's initial window.
    pub fn build(&self, limits: &Limits) -> PowerTcp {
        let link = HostLink::new(self.link, limits);
        let start = link.full_window(None).unwrap_or(limits.initial_window);
        PowerTcp {
            limits: *limits,
            flows: self.flows,
            link,
            hops: Hops::default(),
            power: 1.0,
            window: limits.cap(start.max(MIN_WINDOW)),
            windows: History::new(0.0),
        }
    }
}

impl Factory for PowerTcpConfig {
    fn build(&self, limits: &Limits) -> Box<dyn Controller> {
        Box::new(self.build(limits))
    }
}

/// A window, past windows, and the smoothed power of the most loaded link.
#[derive(Clone, Debug)]
pub struct PowerTcp {
    limits: Limits,
    flows: f64,
    link: HostLink,
    /// `prevInt`
    hops: Hops,
    /// `Γ_smooth`
    power: f64,
    /// In segments.
    window: f64,
    windows: History,
}

impl PowerTcp {
    /// Algorithm 1, `NEW_ACK`.
    fn new_ack(&mut self, ack: &AckEvent) {
        self.link.measure(ack);
        let Some(base) = self.link.base_s() else {
            return;
        };
        if let Some(path) = ack.path
            && self.measure_power(&path, base)
            && let Some(full) = self.link.full_window(Some(&path))
        {
            let rtt = ack.rtt_s().unwrap_or(base);
            let sent_at = ack.now.as_secs_f64() - rtt;
            let old = self.windows.newest(sent_at, |_| true);
            let old = old.map_or(self.window, |point| point.value);
            self.update_window(old, full);
        }
        let now = ack.now.as_secs_f64();
        self.windows.push(now, self.window, base / KEPT_PER_TRIP);
    }

    /// Algorithm 1, `NORM_POWER`. Returns whether there was a measurement.
    fn measure_power(&mut self, path: &PathRecord, base: f64) -> bool {
        let mut greatest = None;
        for link in self.hops.advance(path) {
            let (before, after) = link.queue_octets;
            let current = (after - before + link.sent_octets) / link.length_s;
            let voltage = after + link.rate * base;
            let power = current * voltage / (link.rate * link.rate * base);
            if greatest.is_none_or(|(most, _)| power > most) {
                greatest = Some((power, link.length_s));
            }
        }
        let Some((power, length_s)) = greatest else {
            return false;
        };
        let weight = length_s.min(base) / base;
        self.power = (1.0 - weight) * self.power + weight * power;
        true
    }

    /// Algorithm 1, `UPDATE_WINDOW`. `old` is the window when the acknowledged segment was sent. `full` is the capacity
    /// of the host's link in `τ`; with `β` it limits the window.
    fn update_window(&mut self, old: f64, full: f64) {
        let beta = full / self.flows;
        let fitting = if self.power * full > old {
            old / self.power
        } else {
            full
        };
        let window = GAMMA * (fitting + beta) + (1.0 - GAMMA) * self.window;
        self.set_window(window.min(full + beta));
    }

    fn set_window(&mut self, window: f64) {
        self.window = self.limits.cap(window.max(MIN_WINDOW));
    }
}

impl Controller for PowerTcp {
    /// The window, rounded up to whole segments. The pacing rate accounts for the fraction.
    fn cwnd(&self) -> f64 {
        self.window.ceil()
    }

    /// There is no slow start.
    fn ssthresh(&self) -> f64 {
        0.0
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        self.new_ack(ack);
    }

    fn on_partial_ack(&mut self, ack: &AckEvent) {
        self.new_ack(ack);
    }

    fn on_duplicate_ack(&mut self, ack: &AckEvent) {
        self.new_ack(ack);
    }

    /// The records show a full queue before it drops. Without records, losses are the only signal.
    fn on_loss(&mut self, _loss: &LossEvent) {
        if self.hops.is_empty() {
            self.set_window((self.window / 2.0).max(1.0));
        }
    }

    /// Nothing was acknowledged, so there is no record either.
    fn on_timeout(&mut self, _timeout: &TimeoutEvent) {
        self.hops.clear();
        self.windows.clear();
        self.power = 1.0;
        self.set_window(1.0);
    }

    /// `cwnd/τ`.
    fn pacing_rate(&self) -> Option<f64> {
        self.link.pacing_rate(self.window)
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            cwnd: self.window,
            ssthresh: self.ssthresh(),
            phase: Phase::Avoidance,
            base_rtt: self.link.base_s().map(Duration::from_secs_f64),
            diff: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::HopRecord;
    use crate::telemetry::tests::{check_losses, hop, near, path};
    use units::Instant;

    /// τ 1 ms over 100 Mb/s: 12,500 octets in flight, 10 segments of 1250; β 1 segment.
    fn powertcp() -> PowerTcp {
        let config = PowerTcpConfig {
            link: HostLinkConfig {
                base_rtt_s: Some(0.001),
                host_rate_bps: Some(1e8),
            },
            flows: 10.0,
        };
        config.build(&Limits {
            packet_octets: 1250,
            ..Limits::default()
        })
    }

    fn ack(at_us: u64, rtt_us: u64, hops: &[HopRecord]) -> AckEvent {
        AckEvent {
            now: Instant::from_micros(at_us),
            newly_acked: 1,
            newly_delivered: 1,
            rtt: Some(Duration::from_micros(rtt_us)),
            path: Some(path(hops)),
            ..AckEvent::default()
        }
    }

    /// In 200 µs 2500 octets leave and the queue grows by 2500: λ = 25 octets/µs, twice B. ν = 2500 + 12,500, 1.2 times
    /// B·τ. Γ = 2.4, with a weight of 1/5: 1.28.
    #[test]
    fn power_is_what_arrives_times_what_is_held() {
        let mut power = powertcp();
        assert!(!power.measure_power(&path(&[hop(0, 0, 0)]), 0.001));
        assert!(power.measure_power(&path(&[hop(200, 2500, 2500)]), 0.001));
        near(power.power, 0.8 + 0.2 * 2.4);
        // 400 µs in which the queue drains: 5000 octets leave, 2500 arrive, λ = B/2; ν = B·τ. Γ = 1/2.
        assert!(power.measure_power(&path(&[hop(600, 7500, 0)]), 0.001));
        near(power.power, 0.6 * 1.28 + 0.4 * 0.5);
        // The link with the largest power counts, for at most τ.
        let mut power = powertcp();
        assert!(!power.measure_power(&path(&[hop(0, 0, 0), hop(0, 0, 0)]), 0.001));
        let next = path(&[hop(2000, 25_000, 0), hop(500, 12_500, 0)]);
        assert!(power.measure_power(&next, 0.001));
        near(power.power, 0.5 + 0.5 * 2.0);
    }

    /// Γ 2: .9 (10/2 + 1) + .1 · 10 = 6.4.
    #[test]
    fn the_window_follows_power() {
        let mut power = powertcp();
        near(power.window, 10.0);
        near(power.pacing_rate().unwrap(), 10_000.0);
        power.power = 2.0;
        power.update_window(10.0, 10.0);
        near(power.window, 6.4);
        // An idle link: the host's rate times τ, plus β.
        power.power = 0.0;
        power.update_window(6.4, 10.0);
        near(power.window, 0.9 * 11.0 + 0.64);
        for _ in 0..20 {
            power.update_window(6.4, 10.0);
        }
        near(power.window, 11.0);
    }

    /// The window when the acknowledged segment was sent: at 2 ms with a round-trip time of 1.5 ms it is that of 0 ms,
    /// 10; at 3 ms it is that of 2 ms.
    #[test]
    fn the_window_of_the_acknowledged_segment_is_divided() {
        let mut power = powertcp();
        power.on_ack(&ack(0, 1000, &[hop(0, 0, 0)]));
        power.window = 4.0;
        // λ = B, ν = 2 B·τ: Γ = 2.
        power.on_ack(&ack(1000, 1000, &[hop(1000, 0, 12_500)]));
        near(power.power, 2.0);
        near(power.window, 0.9 * (10.0 / 2.0 + 1.0) + 0.1 * 4.0);
        let first = power.window;
        power.on_ack(&ack(2000, 1500, &[hop(2000, 12_500, 12_500)]));
        near(power.window, 0.9 * (10.0 / 2.0 + 1.0) + 0.1 * first);
        let second = power.window;
        power.on_ack(&ack(3000, 1000, &[hop(3000, 25_000, 12_500)]));
        near(power.window, 0.9 * (second / 2.0 + 1.0) + 0.1 * second);
    }

    /// A lone flow has β segments queued: W = W/Γ + β with Γ = W/(W − β).
    #[test]
    fn a_steady_window_keeps_beta_queued() {
        let mut power = powertcp();
        power.window = 11.0;
        power.power = 1.1;
        power.update_window(11.0, 10.0);
        near(power.window, 11.0);
    }

    #[test]
    fn losses_count_only_where_there_are_no_records() {
        check_losses(&mut powertcp(), &ack(0, 1000, &[hop(0, 0, 0)]));
    }
}
