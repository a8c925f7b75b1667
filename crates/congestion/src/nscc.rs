//! NSCC, the network-signaled congestion control of Ultra Ethernet (UE specification 1.0, section 3.6.13). The window
//! reacts to two signals of each acknowledgement, and to packets that switches trim.
//!
//! | | delay below the target | delay at the target or above |
//! | --- | --- | --- |
//! | no mark | proportional increase | fair increase: the queue is long, but no longer marks |
//! | mark | no change: the queue begins to fill | multiplicative decrease |
//!
//! Increases are accumulated, and applied once per eight segments or round trip. If almost nothing arrives in a round
//! trip, *quick adapt* sets the window to the amount that did arrive.
//!
//! The specification counts octets, in a network that an operator describes. Here windows are in segments, and the
//! network is described by the host's link and the minimum round-trip time.

use units::{Duration, Instant};

use crate::controller::{Controller, Factory, Limits};
use crate::event::{AckEvent, LossEvent, TimeoutEvent, TrimEvent};
use crate::registry::{Control, Kind, Need, Recovery, Setting};

/// The reference network of the constants: 100 Gb/s and 12 µs.
const REFERENCE_BITS: f64 = 100e9 * REFERENCE_RTT_S;
const REFERENCE_RTT_S: f64 = 12e-6;
/// The maximum window, in bandwidth-delay products.
const LARGEST: f64 = 1.5;
/// The minimum window is one segment.
const MIN_WINDOW: f64 = 1.0;
/// The target delay in round trips of the network, if switches trim.
const TARGET_RTTS: f64 = 0.75;
/// Increases per round trip, in segments of the reference network: the fair increase, the proportional increase at zero
/// delay, and a constant increase that does not depend on the signals (`fi`, `alpha`, `eta`).
const FAIR: f64 = 5.0;
const PROPORTIONAL: f64 = 4.0;
const ETA: f64 = 0.15;
/// The fast increase: segments per segment that arrives after a complete window with less than this delay.
const FAST: f64 = 0.25;
const NO_DELAY_S: f64 = 1e-6;
/// `gamma`: the decrease for a mean delay far above the target; and the minimum factor of a decrease.
const GAMMA: f64 = 0.8;
const LEAST_LEFT: f64 = 0.5;
/// The weight of the newest delay in the mean.
const DELAY_WEIGHT: f64 = 0.0125;
/// The value that is used for a long delay without a mark in the mean, in round trips: the queue has drained.
const DRAINED_RTTS: f64 = 0.25;
/// Number of segments after which increases are applied.
const ADJUST_SEGMENTS: f64 = 8.0;
/// Quick adapt: the delay, in targets, from which it may act; and the fraction of the maximum window that arrives in
/// normal operation (`qa_gate`).
const QUICK_ADAPT_TARGETS: f64 = 4.0;
const QUICK_ADAPT_SHARE: f64 = 1.0 / 8.0;

const fn seconds(name: &'static str, summary: &'static str) -> Setting {
    let kind = Kind::Number {
        default: None,
        min: 1e-7,
        max: 10.0,
    };
    Setting {
        name,
        summary,
        kind,
    }
}

const NETWORK_RTT: Setting = seconds(
    "network_rtt_s",
    "round-trip time of full packets through the empty network, s; default: the minimum measured",
);
const TARGET: Setting = seconds(
    "target_s",
    "target queueing time, s; default: 3/4 of the network's round trip",
);

pub(crate) static NSCC: Control = Control {
    name: "nscc",
    label: "NSCC",
    summary: "ECN marks, delays and trimmed packets, as in Ultra Ethernet",
    source: "Ultra Ethernet 1.0",
    recovery: Recovery::Sack,
    marks: &[],
    needs: &[Need::Ecn, Need::Trimming, Need::PromptAcks, Need::Pacing],
    settings: &[TARGET, NETWORK_RTT],
    factory: |settings, _| {
        Box::new(NsccConfig {
            target_s: settings.number_if_any(TARGET.name),
            network_rtt_s: settings.number_if_any(NETWORK_RTT.name),
        })
    },
};

/// Settings of [`Nscc`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NsccConfig {
    /// The target queueing time, in seconds. By default 3/4 of the network's round trip.
    pub target_s: Option<f64>,
    /// The round-trip time of full packets through the empty network, in seconds. By default the connection's minimum.
    pub network_rtt_s: Option<f64>,
}

impl NsccConfig {
    /// Creates a controller for a new connection. It starts with the maximum window if the network is known.
    pub fn build(&self, limits: &Limits) -> Nscc {
        let mut nscc = Nscc {
            config: *self,
            limits: *limits,
            cwnd: limits.initial_window,
            base_s: self.network_rtt_s,
            delivery_rate: 0.0,
            mean_delay_s: 0.0,
            increase: 0.0,
            received: 0.0,
            adjusted_at: Instant::ZERO,
            decreased_at: Instant::ZERO,
            undelayed: 0.0,
            fast: false,
            adapting: QuickAdapt::default(),
        };
        if let (Some(base), Some(_)) = (nscc.base_s, limits.line_bps) {
            nscc.cwnd = nscc.largest(base);
        }
        nscc
    }
}

impl Factory for NsccConfig {
    fn build(&self, limits: &Limits) -> Box<dyn Controller> {
        Box::new(self.build(limits))
    }
}

/// A window, and the state that controls it. Times are in seconds, counts in segments.
#[derive(Clone, Debug)]
pub struct Nscc {
    config: NsccConfig,
    limits: Limits,
    cwnd: f64,
    /// The minimum round-trip time.
    base_s: Option<f64>,
    /// The maximum delivery rate of segments, which is used if the rate of the link is unknown.
    delivery_rate: f64,
    mean_delay_s: f64,
    /// Accumulated increases that are not applied yet, times the window.
    increase: f64,
    /// Segments that have arrived since the last application.
    received: f64,
    adjusted_at: Instant,
    decreased_at: Instant,
    /// Consecutive segments that arrived without delay.
    undelayed: f64,
    /// Whether the fast increase is active.
    fast: bool,
    adapting: QuickAdapt,
}

/// The state of quick adapt.
#[derive(Clone, Copy, Debug, Default)]
struct QuickAdapt {
    /// Segments that have arrived in the current period.
    achieved: f64,
    /// When the period ends.
    ends: Option<Instant>,
    /// Whether a segment was trimmed or lost.
    triggered: bool,
    /// Segments that were in flight when it acted, and those acknowledged since. Their signals are outdated.
    to_ignore: f64,
    ignored: f64,
}

impl Nscc {
    fn packet_bits(&self) -> f64 {
        8.0 * f64::from(self.limits.packet_octets)
    }

    /// The rate of the host's link, in segments per second.
    fn line_rate(&self) -> f64 {
        match self.limits.line_bps {
            Some(bps) => bps / self.packet_bits(),
            None => self.delivery_rate,
        }
    }

    /// The maximum window for a minimum round-trip time of `base`.
    fn largest(&self, base: f64) -> f64 {
        let bdp = self.line_rate() * base;
        let least = match self.limits.line_bps {
            Some(_) => MIN_WINDOW,
            None => self.limits.initial_window,
        };
        self.limits.cap((LARGEST * bdp).max(least))
    }

    fn network_rtt(&self, base: f64) -> f64 {
        self.config.network_rtt_s.unwrap_or(base)
    }

    fn target(&self, base: f64) -> f64 {
        let usual = TARGET_RTTS * self.network_rtt(base);
        self.config.target_s.unwrap_or(usual)
    }

    /// `scaling_factor_a`: the network's bandwidth-delay product relative to the reference network's.
    fn scale(&self, base: f64) -> f64 {
        self.line_rate() * self.packet_bits() * self.network_rtt(base) / REFERENCE_BITS
    }

    fn note_rtt(&mut self, rtt: f64) {
        if rtt > 0.0 {
            self.base_s = Some(self.base_s.map_or(rtt, |base| base.min(rtt)));
        }
    }

    fn note_delay(&mut self, delay: f64, marked: bool, base: f64) {
        let sample = match !marked && delay > self.target(base) {
            true => DRAINED_RTTS * base,
            false => delay,
        };
        self.mean_delay_s += DELAY_WEIGHT * (sample - self.mean_delay_s);
    }

    fn bound(&mut self, base: f64) {
        self.cwnd = self.cwnd.min(self.largest(base)).max(MIN_WINDOW);
    }

    fn acknowledge(&mut self, ack: &AckEvent) {
        let newly = ack.newly_delivered as f64;
        if let Some(rate) = ack.rate {
            self.delivery_rate = self.delivery_rate.max(rate.per_second());
        }
        if let Some(rtt) = ack.rtt_s() {
            self.note_rtt(rtt);
        }
        let Some(base) = self.base_s else { return };
        for _ in 0..ack.newly_lost {
            self.lose(ack.now, ack.in_flight, base);
        }
        if newly == 0.0 {
            return;
        }
        self.adapting.achieved += newly;
        self.adapting.ignored += newly;
        self.received += newly;
        let marked = ack.newly_marked > 0;
        let delay = match ack.rtt_s() {
            Some(rtt) => {
                self.note_delay(rtt - base, marked, base);
                rtt - base
            }
            None => self.mean_delay_s,
        };
        let late = delay > QUICK_ADAPT_TARGETS * self.target(base);
        if self.quick_adapt(ack.now, late, marked, ack.in_flight, base) {
            return;
        }
        match (marked, delay < self.target(base)) {
            (false, false) => self.increase += FAIR * self.scale(base) * newly,
            (false, true) => self.increase_in_proportion(newly, delay, base),
            (true, false) => self.decrease(ack.now, base),
            (true, true) => {}
        }
        self.bound(base);
        let since = ack.now.since(self.adjusted_at).as_secs_f64();
        if self.received > ADJUST_SEGMENTS || since > self.network_rtt(base) {
            self.adjust(ack.now, since, base);
            self.bound(base);
        }
    }

    fn increase_in_proportion(&mut self, newly: f64, delay: f64, base: f64) {
        let scale = self.scale(base);
        self.undelayed = if delay < NO_DELAY_S {
            self.undelayed + newly
        } else {
            0.0
        };
        self.fast = delay < NO_DELAY_S && (self.fast || self.undelayed > self.cwnd);
        if self.fast {
            self.cwnd += FAST * scale * newly;
            return;
        }
        let target = self.target(base);
        // `scaling_factor_b` is the target in round trips of the reference network.
        let alpha = PROPORTIONAL * scale * target / REFERENCE_RTT_S;
        self.increase += alpha * newly * (1.0 - delay / target);
    }

    /// At most once per round trip.
    fn decrease(&mut self, now: Instant, base: f64) {
        self.fast = false;
        self.undelayed = 0.0;
        let (mean, target) = (self.mean_delay_s, self.target(base));
        let due = now.since(self.decreased_at).as_secs_f64() > base;
        if mean > target && due {
            let left = 1.0 - GAMMA * (mean - target) / mean;
            self.cwnd *= left.max(LEAST_LEFT);
            self.decreased_at = now;
        }
    }

    /// Applies the increases accumulated since the last call.
    fn adjust(&mut self, now: Instant, since: f64, base: f64) {
        self.cwnd += self.increase / self.cwnd;
        if since >= self.network_rtt(base) {
            self.cwnd += ETA * self.scale(base);
            self.adjusted_at = now;
        }
        self.increase = 0.0;
        self.received = 0.0;
    }

    /// Returns whether this event needs no further reaction: it set the window, or predates that. `late` states that
    /// too little arrives.
    fn quick_adapt(
        &mut self,
        now: Instant,
        late: bool,
        signal: bool,
        in_flight: u64,
        base: f64,
    ) -> bool {
        let largest = self.largest(base);
        let state = &mut self.adapting;
        let mut done = signal && state.ignored < state.to_ignore;
        if !done && state.ends.is_none_or(|ends| now > ends) {
            let few = state.achieved < QUICK_ADAPT_SHARE * largest;
            if state.ends.is_some() && (state.triggered || late) && few {
                self.cwnd = state.achieved.max(MIN_WINDOW);
                state.to_ignore = in_flight as f64;
                state.ignored = 0.0;
                state.triggered = false;
                done = true;
            }
            state.achieved = 0.0;
            let period = base + self.target(base);
            self.adapting.ends = Some(now + Duration::from_secs_f64(period));
        }
        if done {
            self.increase = 0.0;
            self.received = 0.0;
        }
        done
    }

    /// A segment was trimmed or lost: reduces the window by one segment, unless quick adapt acts.
    fn lose(&mut self, now: Instant, in_flight: u64, base: f64) {
        self.adapting.ignored += 1.0;
        self.adapting.triggered = true;
        // A queue that trims has a length of about a round trip.
        self.note_delay(self.network_rtt(base), true, base);
        if !self.quick_adapt(now, true, true, in_flight, base) {
            self.cwnd -= 1.0;
            self.bound(base);
        }
    }
}

impl Controller for Nscc {
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    /// There is no slow start.
    fn ssthresh(&self) -> f64 {
        0.0
    }

    /// The first round-trip time is that of packets without data. With a full packet's serialisation on the links at
    /// both ends, it is the network's.
    fn on_connected(&mut self, rtt: Duration) {
        if self.base_s.is_none() && self.limits.line_bps.is_some() {
            let base = rtt.as_secs_f64() + 2.0 / self.line_rate();
            self.base_s = Some(base);
            self.cwnd = self.largest(base);
        }
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        self.acknowledge(ack);
    }

    fn on_partial_ack(&mut self, ack: &AckEvent) {
        self.acknowledge(ack);
    }

    fn on_duplicate_ack(&mut self, ack: &AckEvent) {
        self.acknowledge(ack);
    }

    /// The trimmed packet bypassed the queue, so that its round trip may be the minimum.
    fn on_trimmed(&mut self, trimmed: &TrimEvent) {
        if let Some(rtt) = trimmed.rtt {
            self.note_rtt(rtt.as_secs_f64());
        }
        if let Some(base) = self.base_s {
            self.lose(trimmed.now, trimmed.in_flight, base);
        }
    }

    /// Counted with the next acknowledgement, as [`AckEvent::newly_lost`].
    fn on_loss(&mut self, _loss: &LossEvent) {}

    /// Counted as [`AckEvent::newly_marked`].
    fn on_congestion_mark(&mut self, _mark: &LossEvent) {}

    /// All segments in flight are lost.
    fn on_timeout(&mut self, timeout: &TimeoutEvent) {
        self.cwnd = (self.cwnd - timeout.window as f64).max(MIN_WINDOW);
    }

    /// Only the window limits the sender.
    fn pacing_rate(&self) -> Option<f64> {
        self.limits.line_bps.map(|bps| bps / self.packet_bits())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: f64 = 1e-6;

    /// On the reference network: 100 Gb/s, 12 µs, packets of 1500 octets. Its bandwidth-delay product is 100 segments,
    /// so that the scale is 1, the maximum window 150, and the target 9 µs.
    fn nscc() -> Nscc {
        let config = NsccConfig {
            network_rtt_s: Some(12.0 * US),
            target_s: None,
        };
        config.build(&Limits {
            line_bps: Some(100e9),
            ..Limits::default()
        })
    }

    fn at(us: u64) -> Instant {
        Instant::from_micros(us)
    }

    fn ack(now_us: u64, delay_us: u64, newly: u64, marked: bool) -> AckEvent {
        AckEvent {
            now: at(now_us),
            newly_delivered: newly,
            newly_marked: if marked { newly } else { 0 },
            rtt: Some(Duration::from_micros(12 + delay_us)),
            in_flight: 20,
            ..AckEvent::default()
        }
    }

    fn trimmed(now_us: u64) -> TrimEvent {
        TrimEvent {
            now: at(now_us),
            segment: 0,
            rtt: None,
            in_flight: 20,
        }
    }

    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-6, "{value}, not {expected}");
    }

    #[test]
    fn it_begins_with_one_and_a_half_products() {
        near(nscc().cwnd(), 150.0);
        let unknown = NsccConfig::default().build(&Limits {
            initial_window: 10.0,
            ..Limits::default()
        });
        near(unknown.cwnd(), 10.0);
    }

    /// Two packets of 0.12 µs in addition to the handshake's time.
    #[test]
    fn the_handshake_shows_the_network() {
        let mut nscc = NsccConfig::default().build(&Limits {
            line_bps: Some(100e9),
            ..Limits::default()
        });
        nscc.on_connected(Duration::from_nanos(11_760));
        near(nscc.cwnd(), 150.0);
    }

    /// α is 4·¾ = 3: at 3 of 9 µs, 16 segments add 3·16·⅔ = 32 over the window, and η once per round trip.
    #[test]
    fn a_short_queue_without_marks_grows_the_window_in_proportion() {
        let mut nscc = nscc();
        nscc.cwnd = 50.0;
        nscc.adjusted_at = at(99);
        nscc.on_ack(&ack(100, 3, 16, false));
        near(nscc.cwnd(), 50.0 + 32.0 / 50.0);
        nscc.on_ack(&ack(112, 3, 1, false));
        let before = 50.64;
        near(nscc.cwnd(), before + 2.0 / before + ETA);
    }

    /// 5 segments per round trip: 9 of 50 that arrive add 5·9/50.
    #[test]
    fn a_long_queue_without_marks_grows_it_fairly() {
        let mut nscc = nscc();
        nscc.cwnd = 50.0;
        nscc.adjusted_at = at(99);
        nscc.on_ack(&ack(100, 10, 9, false));
        near(nscc.cwnd(), 50.9);
    }

    #[test]
    fn marks_of_a_short_queue_change_nothing() {
        let mut nscc = nscc();
        nscc.cwnd = 50.0;
        nscc.adjusted_at = at(99);
        nscc.on_ack(&ack(100, 8, 9, true));
        near(nscc.cwnd(), 50.0);
    }

    /// A mean of 18 µs is twice the target: the factor is 1 − 0.8/2, once per round trip.
    #[test]
    fn marks_of_a_long_queue_cut_the_window_by_the_mean_delay() {
        let mut nscc = nscc();
        nscc.cwnd = 100.0;
        nscc.adjusted_at = at(99);
        nscc.mean_delay_s = 18.0 * US;
        nscc.on_ack(&ack(100, 18, 1, true));
        near(nscc.cwnd(), 60.0);
        nscc.on_ack(&ack(105, 18, 1, true));
        near(nscc.cwnd(), 60.0);
        nscc.mean_delay_s = 1.0;
        nscc.on_ack(&ack(113, 18, 1, true));
        near(nscc.cwnd(), 30.0 + ETA);
    }

    /// The mean moves by 1/80 towards the delay; without a mark a long delay counts as a quarter of a round trip.
    #[test]
    fn the_mean_delay_follows_slowly() {
        let mut nscc = nscc();
        nscc.on_ack(&ack(100, 8, 1, false));
        near(nscc.mean_delay_s / US, 0.1);
        nscc.on_ack(&ack(101, 10, 1, true));
        near(nscc.mean_delay_s / US, 0.1 + 9.9 / 80.0);
        let before = nscc.mean_delay_s / US;
        nscc.on_ack(&ack(102, 10, 1, false));
        near(nscc.mean_delay_s / US, before + (3.0 - before) / 80.0);
    }

    /// A window of 20 without delay. From then on, a quarter of a segment per segment.
    #[test]
    fn a_window_without_delay_grows_fast() {
        let mut nscc = nscc();
        nscc.cwnd = 20.0;
        nscc.adjusted_at = at(99);
        nscc.on_ack(&ack(100, 0, 21, false));
        near(nscc.cwnd(), 20.0 + 21.0 / 4.0);
        nscc.on_ack(&ack(101, 0, 4, false));
        near(nscc.cwnd(), 26.25);
        nscc.on_ack(&ack(102, 2, 1, false));
        near(nscc.cwnd(), 26.25);
    }

    /// Four trimmed segments reduce the window by four. When a period of 21 µs has passed in which 10 arrived, less
    /// than 150/8, the window becomes those 10. Of the 20 that were in flight, only the last has an effect again.
    #[test]
    fn little_that_arrives_sets_the_window() {
        let mut nscc = nscc();
        nscc.adjusted_at = at(200);
        nscc.on_trimmed(&trimmed(100));
        near(nscc.cwnd(), 149.0);
        (0..3).for_each(|_| nscc.on_trimmed(&trimmed(101)));
        near(nscc.cwnd(), 146.0);
        nscc.on_ack(&ack(110, 40, 10, true));
        nscc.on_trimmed(&trimmed(122));
        near(nscc.cwnd(), 10.0);
        (0..19).for_each(|_| nscc.on_trimmed(&trimmed(123)));
        near(nscc.cwnd(), 10.0);
        nscc.on_trimmed(&trimmed(124));
        near(nscc.cwnd(), 9.0);
    }

    #[test]
    fn losses_count_as_trimmed_segments() {
        let mut nscc = nscc();
        nscc.on_ack(&AckEvent {
            newly_lost: 3,
            rtt: None,
            newly_delivered: 0,
            ..ack(100, 0, 0, false)
        });
        near(nscc.cwnd(), 147.0);
        nscc.on_timeout(&TimeoutEvent {
            now: at(200),
            window: 200,
        });
        near(nscc.cwnd(), 1.0);
    }
}
