//! Swift (Kumar et al., SIGCOMM 2020): a window that keeps a target delay, by additive increase below it and
//! multiplicative decrease, once per round trip, above it.
//!
//! Only the fabric window is implemented: hosts here do not measure their own delays, for which the paper has a
//! second window. The paper's base target includes propagation, which an operator knows. Here it is the setting
//! `base_rtt_s`, or by default the minimum round-trip time, and the setting `target_s` is the queueing in addition to
//! it. Packets do not carry their number of hops, so topology-based scaling must be part of the target.
//!
//! `swiftaqt` is the same control with the AQT mark as its delay: only the queueing on the data path, measured by the
//! hops, without clocks at the ends.
//!
//! `swifttcpint` uses the sum of the hops' latencies instead, as echoed by TCP-INT (p4lang/p4app-TCP-INT).
//!
//! `swiftcsig` uses the signals of CSIG (draft-ravi-ippm-csig-01) instead. Its delay is that of the worst hop only, so
//! that a flow through several queues keeps the target at each. While hops report available bandwidth, the window grows
//! towards it immediately rather than by a segment per round trip ([`crate::ramp_up`]).

use units::{Duration, Instant};

use crate::controller::{Controller, Factory, Limits};
use crate::event::{AckEvent, LossEvent, QueueingTime, TimeoutEvent};
use crate::host_link::BASE_RTT;
use crate::ramp_up::RampUp;
use crate::registry::{Control, Kind, Mark, Need, Recovery, Setting, Settings};

/// `ai`, segments per round trip.
const INCREASE: f64 = 1.0;
/// `β` of the decrease (§3.1).
const DECREASE: f64 = 0.8;
/// `max_mdf`: the maximum decrease, as a fraction of the window.
const MOST_DECREASE: f64 = 0.5;
/// With a window below 1, a segment is sent less than once per round trip.
const MIN_WINDOW: f64 = 0.001;
/// Number of consecutive timeouts that reset the window (`RETX_RESET_THRESHOLD`).
const RESETTING_TIMEOUTS: u32 = 5;
/// The maximum that flow scaling adds to the target, in targets (`fs_range`).
const SCALING_RANGE: f64 = 5.0;
/// The window up to which flow scaling adds its maximum, and the window from which it adds nothing.
const SCALED_WINDOWS: (f64, f64) = (0.1, 100.0);

const TARGET: Setting = Setting {
    name: "target_s",
    summary: "target queueing time, without the addition of flow scaling, s",
    kind: Kind::Number {
        default: Some(0.001),
        min: 1e-6,
        max: 10.0,
    },
};

pub(crate) static SWIFT: Control = Control {
    name: "swift",
    label: "Swift",
    summary: "keeps a target delay",
    source: "Kumar et al. 2020",
    recovery: Recovery::Sack,
    marks: &[],
    needs: &[Need::Pacing],
    settings: &[TARGET, BASE_RTT],
    factory: |settings, _| Box::new(SwiftConfig::of(settings, Delay::RoundTrip)),
};

pub(crate) static SWIFT_AQT: Control = Control {
    name: "swiftaqt",
    label: "Swift (AQT)",
    summary: "Swift with the queueing time that hops measured as its delay",
    source: "Kumar et al. 2020, this project",
    recovery: Recovery::Sack,
    marks: &[Mark::Aqt],
    needs: &[Need::Pacing],
    settings: &[TARGET, BASE_RTT],
    factory: |settings, _| Box::new(SwiftConfig::of(settings, Delay::Aqt)),
};

pub(crate) static SWIFT_TCP_INT: Control = Control {
    name: "swifttcpint",
    label: "Swift (TCP-INT)",
    summary: "Swift with the sum of the hops' latencies as its delay",
    source: "Kumar et al. 2020, p4lang/p4app-TCP-INT, this project",
    recovery: Recovery::Sack,
    marks: &[Mark::TcpInt],
    needs: &[Need::Pacing],
    settings: &[TARGET, BASE_RTT],
    factory: |settings, _| Box::new(SwiftConfig::of(settings, Delay::TcpInt)),
};

pub(crate) static SWIFT_CSIG: Control = Control {
    name: "swiftcsig",
    label: "Swift (CSIG)",
    summary: "Swift with the worst hop's delay, and growth towards available bandwidth",
    source: "Kumar et al. 2020, draft-ravi-ippm-csig-01, this project",
    recovery: Recovery::Sack,
    marks: &[Mark::Csig],
    needs: &[Need::Pacing],
    settings: &[TARGET, BASE_RTT],
    factory: |settings, _| Box::new(SwiftConfig::of(settings, Delay::Csig)),
};

/// The source of the queueing delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delay {
    /// The round-trip time minus its minimum, which includes both directions and delayed acknowledgements.
    RoundTrip,
    /// The echoed AQT mark, which covers the data path. An acknowledgement without it counts by its round-trip time.
    Aqt,
    /// The sum of the hops' latencies on the data path, as echoed by TCP-INT. An acknowledgement without it counts by
    /// its round-trip time.
    TcpInt,
    /// The worst hop's delay on the data path, as last reported by CSIG. An acknowledgement that reflects nothing
    /// counts by its round-trip time.
    Csig,
}

/// Settings of [`Swift`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SwiftConfig {
    /// The source of the queueing delay.
    pub delay: Delay,
    /// The target queueing time, in seconds.
    pub target_s: f64,
    /// The round-trip time without queues, in seconds. `None` means the minimum observed.
    pub base_rtt_s: Option<f64>,
}

impl SwiftConfig {
    fn of(settings: &Settings, delay: Delay) -> Self {
        SwiftConfig {
            delay,
            target_s: settings.number(TARGET.name),
            base_rtt_s: settings.number_if_any(BASE_RTT.name),
        }
    }

    /// Creates a controller for a new connection.
    pub fn build(&self, limits: &Limits) -> Swift {
        Swift {
            config: *self,
            limits: *limits,
            cwnd: limits.initial_window,
            base_s: self.base_rtt_s,
            rtt_s: 0.0,
            decreased_at: None,
            hop_delay: None,
            ramp: RampUp::default(),
            timeouts: 0,
        }
    }

    /// The amount that flow scaling adds to the target at this window, in seconds (§3.5):
    /// `clamp(α/√cwnd + β, 0, fs_range)`.
    fn scaling_s(&self, cwnd: f64) -> f64 {
        let range = SCALING_RANGE * self.target_s;
        let (least, most) = SCALED_WINDOWS;
        let alpha = range / (1.0 / least.sqrt() - 1.0 / most.sqrt());
        let beta = -alpha / most.sqrt();
        (alpha / cwnd.sqrt() + beta).clamp(0.0, range)
    }
}

impl Factory for SwiftConfig {
    fn build(&self, limits: &Limits) -> Box<dyn Controller> {
        Box::new(self.build(limits))
    }
}

/// A window that may be less than one segment.
#[derive(Clone, Debug)]
pub struct Swift {
    config: SwiftConfig,
    limits: Limits,
    cwnd: f64,
    /// The round-trip time without queues, in seconds.
    base_s: Option<f64>,
    /// The newest round-trip time, in seconds.
    rtt_s: f64,
    decreased_at: Option<Instant>,
    /// The worst hop's delay, as reported by the newest tag that requested it.
    hop_delay: Option<Duration>,
    ramp: RampUp,
    /// Number of consecutive timeouts.
    timeouts: u32,
}

impl Swift {
    /// Algorithm 1, "On receiving ACK".
    fn observe(&mut self, ack: &AckEvent) {
        self.timeouts = 0;
        if let Some(rtt) = ack.rtt_s() {
            self.rtt_s = rtt;
            if self.config.base_rtt_s.is_none() {
                self.base_s = Some(self.base_s.map_or(rtt, |base| base.min(rtt)));
            }
        }
        let Some(base) = self.base_s else { return };
        if let Some(signal) = ack.csig {
            self.hop_delay = signal.hop_delay.or(self.hop_delay);
        }
        let Some(queueing) = self.queueing_s(ack, base) else {
            return;
        };
        let delay = base + queueing;
        let target = base + self.config.target_s + self.config.scaling_s(self.cwnd);
        if delay < target {
            if !ack.window_unused {
                let acked = ack.newly_delivered as f64;
                let added = INCREASE * acked / self.cwnd.max(1.0);
                let grown = self.cwnd * self.ramp_factor(ack) + added;
                self.cwnd = self.limits.cap(grown);
            }
        } else {
            let keep = 1.0 - DECREASE * (delay - target) / delay;
            self.decrease(ack.now, keep.max(1.0 - MOST_DECREASE));
        }
    }

    /// In seconds. `None` if this acknowledgement provides no measurement.
    fn queueing_s(&self, ack: &AckEvent, base: f64) -> Option<f64> {
        let marked = match ack.aqt_echo {
            Some(QueueingTime::Exactly(time) | QueueingTime::AtLeast(time)) => Some(time),
            None => None,
        };
        let told = match self.config.delay {
            Delay::RoundTrip => None,
            Delay::Aqt => marked,
            Delay::TcpInt => ack.hop_latency,
            Delay::Csig => ack.csig.and(self.hop_delay),
        };
        let by_clock = || ack.rtt_s().map(|rtt| rtt - base);
        told.map(Duration::as_secs_f64).or_else(by_clock)
    }

    /// The factor for the window if hops have bandwidth available.
    fn ramp_factor(&mut self, ack: &AckEvent) -> f64 {
        let rtt = Duration::from_secs_f64(self.rtt_s);
        match (self.config.delay, ack.csig) {
            (Delay::Csig, Some(signal)) => self.ramp.factor(ack.now, rtt, &signal),
            _ => 1.0,
        }
    }

    /// Reduces the window, at most once per round trip.
    fn decrease(&mut self, now: Instant, keep: f64) {
        let rtt = Duration::from_secs_f64(self.rtt_s);
        if self.decreased_at.is_none_or(|at| now >= at + rtt) {
            self.cwnd = (self.cwnd * keep).max(MIN_WINDOW);
            self.decreased_at = Some(now);
        }
    }
}

impl Controller for Swift {
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    /// There is no slow start.
    fn ssthresh(&self) -> f64 {
        0.0
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        self.observe(ack);
    }

    fn on_partial_ack(&mut self, ack: &AckEvent) {
        self.observe(ack);
    }

    fn on_duplicate_ack(&mut self, ack: &AckEvent) {
        self.observe(ack);
    }

    /// Algorithm 1, "On fast recovery".
    fn on_loss(&mut self, loss: &LossEvent) {
        self.timeouts = 0;
        self.decrease(loss.now, 1.0 - MOST_DECREASE);
    }

    /// Algorithm 1, "On retransmit timeout".
    fn on_timeout(&mut self, timeout: &TimeoutEvent) {
        self.timeouts += 1;
        if self.timeouts >= RESETTING_TIMEOUTS {
            self.cwnd = MIN_WINDOW;
        } else {
            self.decrease(timeout.now, 1.0 - MOST_DECREASE);
        }
    }

    /// With a window below 1, a segment is sent every `rtt/cwnd`.
    fn pacing_rate(&self) -> Option<f64> {
        (self.cwnd < 1.0 && self.rtt_s > 0.0).then(|| self.cwnd / self.rtt_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Evidence, PathSignal};

    fn swift(delay: Delay, cwnd: f64) -> Swift {
        let config = SwiftConfig {
            delay,
            target_s: 0.001,
            base_rtt_s: None,
        };
        config.build(&Limits {
            initial_window: cwnd,
            ..Limits::default()
        })
    }

    fn ack(at_ms: u64, rtt_ms: u64, aqt_ms: Option<u64>) -> AckEvent {
        let aqt = |ms| QueueingTime::Exactly(Duration::from_millis(ms));
        AckEvent {
            now: Instant::from_micros(1000 * at_ms),
            newly_acked: 1,
            newly_delivered: 1,
            rtt: Some(Duration::from_millis(rtt_ms)),
            aqt_echo: aqt_ms.map(aqt),
            ..AckEvent::default()
        }
    }

    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-6, "{value}, not {expected}");
    }

    /// α = 5 ms / (√10 − 1/10) = 1.632771 ms, β = −0.163277 ms: at a window of 4, α/2 + β.
    #[test]
    fn small_windows_have_a_higher_target() {
        let scaling = |cwnd| 1e3 * swift(Delay::RoundTrip, 1.0).config.scaling_s(cwnd);
        near(scaling(4.0), 0.653108);
        near(scaling(0.1), 5.0);
        near(scaling(0.01), 5.0);
        near(scaling(100.0), 0.0);
        near(scaling(400.0), 0.0);
    }

    /// Base 10 ms, so that the target of a window of 4 is 11.653108 ms.
    #[test]
    fn the_window_follows_the_target() {
        let mut swift = swift(Delay::RoundTrip, 4.0);
        swift.on_ack(&ack(0, 10, None));
        near(swift.cwnd(), 4.25);
        swift.cwnd = 4.0;
        swift.on_ack(&ack(5, 11, None));
        near(swift.cwnd(), 4.25);
        // The factor is 1 − 0.8 · (20 − 11.653108)/20.
        swift.cwnd = 4.0;
        swift.on_ack(&ack(10, 20, None));
        near(swift.cwnd(), 4.0 * 0.666_124_3);
        // Once per round trip, and by at most half.
        swift.on_ack(&ack(29, 20, None));
        near(swift.cwnd(), 4.0 * 0.666_124_3);
        swift.on_ack(&ack(1010, 1000, None));
        near(swift.cwnd(), 2.0 * 0.666_124_3);
    }

    /// 10 ms are configured: 20 ms exceed the target although no shorter time was seen, and 5 ms, seen later, do not
    /// lower it.
    #[test]
    fn a_base_that_is_given_is_not_measured() {
        let mut swift = swift(Delay::RoundTrip, 4.0);
        swift.config.base_rtt_s = Some(0.01);
        swift.base_s = Some(0.01);
        swift.on_ack(&ack(0, 20, None));
        near(swift.cwnd(), 4.0 * 0.666_124_3);
        swift.cwnd = 4.0;
        swift.on_ack(&ack(20, 5, None));
        near(swift.cwnd(), 4.25);
        swift.cwnd = 4.0;
        swift.on_ack(&ack(40, 11, None));
        near(swift.cwnd(), 4.25);
    }

    #[test]
    fn a_window_below_one_is_paced() {
        let mut swift = swift(Delay::RoundTrip, 0.25);
        swift.on_ack(&AckEvent {
            newly_delivered: 0,
            ..ack(0, 10, None)
        });
        assert_eq!(swift.pacing_rate(), Some(25.0));
        swift.on_ack(&ack(1, 10, None));
        assert_eq!((swift.cwnd(), swift.pacing_rate()), (1.25, None));
    }

    #[test]
    fn the_mark_counts_and_not_the_way_back() {
        let mut by_mark = swift(Delay::Aqt, 4.0);
        let mut by_clock = swift(Delay::RoundTrip, 4.0);
        for swift in [&mut by_mark, &mut by_clock] {
            swift.on_ack(&ack(0, 10, Some(0)));
            swift.cwnd = 4.0;
            swift.on_ack(&ack(20, 20, Some(0)));
        }
        near(by_mark.cwnd(), 4.25);
        near(by_clock.cwnd(), 4.0 * 0.666_124_3);
        // The delay is the base plus the mark: 20 ms again. Without a mark the round-trip time counts.
        by_mark.cwnd = 4.0;
        by_mark.on_ack(&ack(40, 10, Some(10)));
        near(by_mark.cwnd(), 4.0 * 0.666_124_3);
        by_mark.cwnd = 4.0;
        by_mark.on_ack(&ack(80, 20, None));
        near(by_mark.cwnd(), 4.0 * 0.666_124_3);
    }

    /// The delay is the base plus the sum of the hops' latencies, 20 ms. The time that the acknowledgement waited does
    /// not count.
    #[test]
    fn the_hops_latencies_count_where_tcp_int_echoes_them() {
        let echoing = |at_ms, rtt_ms, latency_ms| AckEvent {
            hop_latency: Some(Duration::from_millis(latency_ms)),
            ..ack(at_ms, rtt_ms, Some(0))
        };
        let mut swift = swift(Delay::TcpInt, 4.0);
        swift.on_ack(&echoing(0, 10, 0));
        near(swift.cwnd(), 4.25);
        swift.cwnd = 4.0;
        swift.on_ack(&echoing(20, 20, 1));
        near(swift.cwnd(), 4.25);
        swift.cwnd = 4.0;
        swift.on_ack(&echoing(40, 30, 10));
        near(swift.cwnd(), 4.0 * 0.666_124_3);
        // Nothing echoed: the round-trip time.
        swift.cwnd = 4.0;
        swift.on_ack(&ack(80, 20, Some(0)));
        near(swift.cwnd(), 4.0 * 0.666_124_3);
    }

    fn reflecting(at_ms: u64, rtt_ms: u64, delay_ms: Option<u64>, share: Option<f64>) -> AckEvent {
        let signal = PathSignal {
            hop_delay: delay_ms.map(Duration::from_millis),
            available_share: share,
            interval: Duration::from_millis(1),
        };
        AckEvent {
            csig: Some(signal),
            ..ack(at_ms, rtt_ms, None)
        }
    }

    #[test]
    fn the_worst_hop_counts_until_another_is_reported() {
        let mut swift = swift(Delay::Csig, 4.0);
        swift.on_ack(&ack(0, 10, None));
        // 10 ms on the backward path, and two hops of which the worst has 1 ms: below the target of 1.653 ms.
        swift.cwnd = 4.0;
        swift.on_ack(&reflecting(20, 22, Some(1), None));
        near(swift.cwnd(), 4.25);
        // The next tag requested bandwidth: the delay is still 1 ms.
        swift.cwnd = 4.0;
        swift.on_ack(&reflecting(21, 22, None, Some(0.0)));
        near(swift.cwnd(), 4.25);
        // 20 ms of delay in total, as above.
        swift.cwnd = 4.0;
        swift.on_ack(&reflecting(50, 11, Some(10), None));
        near(swift.cwnd(), 4.0 * 0.666_124_3);
        // Nothing reflected: the round-trip time.
        swift.cwnd = 4.0;
        swift.on_ack(&ack(90, 10, None));
        near(swift.cwnd(), 4.25);
    }

    /// A round trip and two intervals, 12 ms, in which only the segment's 1/10 is added. Half of the link is available:
    /// W · .95/.5 plus 1/W for the segment; then the same again.
    #[test]
    fn bandwidth_that_is_left_is_taken_once_it_is_measured() {
        let mut swift = swift(Delay::Csig, 10.0);
        swift.on_ack(&reflecting(0, 10, Some(0), Some(0.5)));
        near(swift.cwnd(), 10.1);
        swift.on_ack(&reflecting(12, 10, Some(0), Some(0.5)));
        near(swift.cwnd(), 10.1 * 1.9 + 1.0 / 10.1);
        let before = swift.cwnd();
        swift.on_ack(&reflecting(23, 10, Some(0), Some(0.5)));
        near(swift.cwnd(), before + 1.0 / before);
        swift.on_ack(&reflecting(24, 10, Some(0), Some(0.5)));
        assert!(swift.cwnd() > 36.0, "{}", swift.cwnd());
        // Not above the target.
        let before = swift.cwnd();
        swift.on_ack(&reflecting(40, 10, Some(5), Some(0.5)));
        assert!(swift.cwnd() < before);
    }

    #[test]
    fn losses_halve_and_the_fifth_timeout_in_a_row_resets() {
        let mut swift = swift(Delay::RoundTrip, 64.0);
        swift.rtt_s = 0.01;
        let loss = |at_ms: u64| LossEvent {
            now: Instant::from_micros(1000 * at_ms),
            evidence: Evidence::Time,
            lost: 0,
            sent_at: None,
            transmissions: 1,
            duplicates: 0,
            window: 64,
        };
        swift.on_loss(&loss(0));
        swift.on_loss(&loss(9));
        assert_eq!(swift.cwnd(), 32.0);
        for at in 1..=4 {
            swift.on_timeout(&timeout(at));
        }
        assert_eq!(swift.cwnd(), 2.0);
        swift.on_timeout(&timeout(5));
        assert_eq!(swift.cwnd(), MIN_WINDOW);
    }

    fn timeout(at_s: u64) -> TimeoutEvent {
        TimeoutEvent {
            now: Instant::from_micros(1_000_000 * at_s),
            window: 1,
        }
    }
}
