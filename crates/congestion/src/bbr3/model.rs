//! BBRv3's model of the path (§5.5): round trips, bandwidth, propagation delay, whether the pipe is full, and the
//! bounds that losses set.

use units::Instant;

use crate::delivery_rounds::DeliveryRounds;
use crate::event::{AckEvent, RateSample};
use crate::max_filter::MaxFilter;

/// `BBR.Beta`: the factor by which a loss reduces a bound.
pub(super) const BETA: f64 = 0.7;
/// `BBR.LossThresh`: the loss rate above which too much is in flight.
const LOSS_THRESHOLD: f64 = 0.02;
/// `BBRStartupFullLossCnt`: the number of losses in a round that ends Startup.
const STARTUP_LOSSES: u32 = 6;
/// The growth that indicates that more bandwidth is available (§5.3.1.2).
const GROWTH: f64 = 1.25;
/// The number of round trips without such growth that indicates that the pipe is full.
const FLAT_ROUNDS: u32 = 3;
/// `MaxBwFilterLen`: cycles of ProbeBW.
const CYCLES: usize = 2;
/// `ExtraAckedFilterLen`, in round trips.
const AGGREGATION_ROUNDS: usize = 10;
/// `MinRTTFilterLen` and `ProbeRTTInterval`, in seconds.
const MIN_RTT_LIFE: f64 = 10.0;
const PROBE_RTT_INTERVAL: f64 = 5.0;

#[derive(Clone, Debug)]
pub(super) struct Model {
    pub(super) rounds: DeliveryRounds,
    max_bandwidth: MaxFilter<CYCLES>,
    cycle: u64,
    /// `BBR.bw_latest` and `BBR.inflight_latest`: the maxima of the loss round.
    bandwidth_latest: f64,
    inflight_latest: f64,
    /// `BBR.loss_round_delivered` and related state: a round that begins with a loss.
    next_loss_round: u64,
    loss_round_start: bool,
    loss_in_round: bool,
    /// Losses of the current round in Startup: segments, and acknowledgements that reported losses.
    lost: u64,
    losses: u32,
    /// Rounds that began in this recovery.
    recovery_rounds: u32,
    /// `BBR.bw_shortterm`, `BBR.inflight_shortterm` and `BBR.inflight_longterm`.
    bandwidth_short_term: f64,
    inflight_short_term: f64,
    inflight_long_term: f64,
    /// `BBR.full_bw` and related state.
    full_bandwidth: f64,
    flat_rounds: u32,
    is_full_now: bool,
    is_full: bool,
    /// `BBR.extra_acked`
    extra: MaxFilter<AGGREGATION_ROUNDS>,
    /// Its round count: until the pipe is full the filter covers one round trip, then ten.
    extra_rounds: u64,
    extra_since: Instant,
    extra_delivered: f64,
    /// In seconds.
    min_rtt: Option<f64>,
    min_rtt_at: Instant,
    /// `BBR.probe_rtt_min_delay`: the minimum since ProbeRTT was due, in seconds.
    recent_rtt: Option<f64>,
    recent_rtt_at: Instant,
    probe_rtt_expired: bool,
}

impl Default for Model {
    fn default() -> Self {
        Model {
            rounds: DeliveryRounds::default(),
            max_bandwidth: MaxFilter::default(),
            cycle: 0,
            bandwidth_latest: 0.0,
            inflight_latest: 0.0,
            next_loss_round: 0,
            loss_round_start: false,
            loss_in_round: false,
            lost: 0,
            losses: 0,
            recovery_rounds: 0,
            bandwidth_short_term: f64::INFINITY,
            inflight_short_term: f64::INFINITY,
            inflight_long_term: f64::INFINITY,
            full_bandwidth: 0.0,
            flat_rounds: 0,
            is_full_now: false,
            is_full: false,
            extra: MaxFilter::default(),
            extra_rounds: 0,
            extra_since: Instant::ZERO,
            extra_delivered: 0.0,
            min_rtt: None,
            min_rtt_at: Instant::ZERO,
            recent_rtt: None,
            recent_rtt_at: Instant::ZERO,
            probe_rtt_expired: false,
        }
    }
}

/// `IsInflightTooHigh`
pub(super) fn is_inflight_too_high(sample: &RateSample) -> bool {
    sample.lost as f64 > sample.prior_in_flight as f64 * LOSS_THRESHOLD
}

impl Model {
    /// `BBR.max_bw`, in segments a second.
    pub(super) fn max_bandwidth(&self) -> f64 {
        self.max_bandwidth.max()
    }

    /// `BBR.bw` (`BoundBWForModel`).
    pub(super) fn bandwidth(&self) -> f64 {
        self.max_bandwidth().min(self.bandwidth_short_term)
    }

    /// `BBR.min_rtt`, in seconds.
    pub(super) fn min_rtt(&self) -> Option<f64> {
        self.min_rtt
    }

    /// `BDPMultiple`, in segments.
    pub(super) fn bdp(&self, gain: f64) -> Option<f64> {
        self.bdp_at(self.bandwidth(), gain)
    }

    /// The same for another bandwidth.
    pub(super) fn bdp_at(&self, bandwidth: f64, gain: f64) -> Option<f64> {
        self.min_rtt.map(|rtt| gain * bandwidth * rtt)
    }

    /// `BBR.full_bw_reached`
    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    /// `BBR.full_bw_now`
    pub(super) fn is_full_now(&self) -> bool {
        self.is_full_now
    }

    /// `BBR.inflight_longterm`
    pub(super) fn long_term(&self) -> f64 {
        self.inflight_long_term
    }

    pub(super) fn set_long_term(&mut self, inflight: f64) {
        self.inflight_long_term = inflight;
    }

    pub(super) fn raise_long_term(&mut self, inflight: f64) {
        self.inflight_long_term = self.inflight_long_term.max(inflight);
    }

    /// `BBR.inflight_shortterm`
    pub(super) fn short_term(&self) -> f64 {
        self.inflight_short_term
    }

    /// `BBR.extra_acked`
    pub(super) fn extra_acked(&self) -> f64 {
        self.extra.max()
    }

    /// §5.5.1, `UpdateRound`
    pub(super) fn update_round(&mut self, sample: Option<&RateSample>) {
        self.rounds.update(sample);
        if self.rounds.has_begun() {
            self.recovery_rounds += 1;
            self.extra_rounds += match self.is_full {
                true => 1,
                false => AGGREGATION_ROUNDS as u64,
            };
        }
    }

    /// The sample, marked as application-limited if ProbeRTT held the sender back (`MarkConnectionAppLimited`).
    pub(super) fn judged(&self, sample: RateSample) -> RateSample {
        RateSample {
            app_limited: self.rounds.is_limited(&sample),
            ..sample
        }
    }

    /// §5.5.5, `UpdateMaxBw`
    pub(super) fn update_max_bandwidth(&mut self, sample: &RateSample) {
        let rate = sample.per_second();
        if rate.is_finite() && (rate >= self.max_bandwidth() || !sample.app_limited) {
            self.max_bandwidth.add(self.cycle, rate);
        }
    }

    /// §5.5.6, `AdvanceMaxBwFilter`
    pub(super) fn advance_max_bandwidth(&mut self) {
        self.cycle += 1;
    }

    /// §5.5.10.3, `UpdateLatestDeliverySignals`
    pub(super) fn update_latest(&mut self, sample: &RateSample) {
        self.bandwidth_latest = self.bandwidth_latest.max(sample.per_second());
        self.inflight_latest = self.inflight_latest.max(sample.delivered as f64);
        self.loss_round_start = sample.prior_delivered >= self.next_loss_round;
        if self.loss_round_start {
            self.next_loss_round = sample.total_delivered;
        }
    }

    /// `AdvanceLatestDeliverySignals`
    pub(super) fn advance_latest(&mut self, sample: &RateSample) {
        if self.loss_round_start {
            self.bandwidth_latest = sample.per_second();
            self.inflight_latest = sample.delivered as f64;
        }
    }

    /// `ResetCongestionSignals`
    pub(super) fn reset_signals(&mut self) {
        self.loss_in_round = false;
        self.bandwidth_latest = 0.0;
        self.inflight_latest = 0.0;
    }

    /// `NoteLoss`
    pub(super) fn note_losses(&mut self, ack: &AckEvent) {
        if ack.newly_lost == 0 {
            return;
        }
        if !self.loss_in_round {
            let delivered = ack.rate.map(|sample| sample.total_delivered);
            self.next_loss_round = delivered.unwrap_or(self.rounds.delivered());
        }
        self.loss_in_round = true;
        self.lost += ack.newly_lost;
        self.losses += 1;
    }

    /// A recovery begins.
    pub(super) fn start_recovery(&mut self) {
        self.recovery_rounds = 0;
    }

    /// `UpdateCongestionSignals`: a loss in the round lowers the short-term bounds, except while `probing`.
    pub(super) fn update_congestion(&mut self, probing: bool, cwnd: f64) {
        if !self.loss_round_start {
            return;
        }
        if self.loss_in_round && !probing {
            self.lower_bounds(cwnd);
        }
        self.loss_in_round = false;
    }

    /// `InitLowerBounds` and `LossLowerBounds`
    fn lower_bounds(&mut self, cwnd: f64) {
        if self.bandwidth_short_term.is_infinite() {
            self.bandwidth_short_term = self.max_bandwidth();
        }
        if self.inflight_short_term.is_infinite() {
            self.inflight_short_term = cwnd;
        }
        self.bandwidth_short_term = self.bandwidth_latest.max(BETA * self.bandwidth_short_term);
        self.inflight_short_term = self.inflight_latest.max(BETA * self.inflight_short_term);
    }

    /// `ResetShortTermModel`
    pub(super) fn reset_short_term(&mut self) {
        self.bandwidth_short_term = f64::INFINITY;
        self.inflight_short_term = f64::INFINITY;
    }

    /// §5.5.9, `UpdateACKAggregation`: the data that arrives in excess of the bandwidth, at most the window.
    pub(super) fn update_aggregation(&mut self, ack: &AckEvent, cwnd: f64) {
        let mut expected = self.bandwidth() * ack.now.since(self.extra_since).as_secs_f64();
        if self.extra_delivered <= expected {
            self.extra_delivered = 0.0;
            self.extra_since = ack.now;
            expected = 0.0;
        }
        self.extra_delivered += ack.newly_delivered as f64;
        let extra = (self.extra_delivered - expected).min(cwnd);
        self.extra.add(self.extra_rounds, extra);
    }

    /// §5.3.1.2, `CheckFullBWReached`
    pub(super) fn check_full_bandwidth(&mut self, sample: &RateSample) {
        if self.is_full_now || !self.rounds.has_begun() || sample.app_limited {
            return;
        }
        let rate = sample.per_second();
        if rate >= self.full_bandwidth * GROWTH {
            self.reset_full_bandwidth(rate);
            return;
        }
        self.flat_rounds += 1;
        self.is_full_now = self.flat_rounds >= FLAT_ROUNDS;
        self.is_full |= self.is_full_now;
    }

    /// `ResetFullBW`, starting from `rate`.
    pub(super) fn reset_full_bandwidth(&mut self, rate: f64) {
        self.full_bandwidth = rate;
        self.flat_rounds = 0;
        self.is_full_now = false;
    }

    /// §5.3.1.3, `CheckStartupHighLoss`: a round of recovery with many losses indicates that the pipe is full.
    pub(super) fn check_startup_loss(&mut self, recovering: bool) {
        if !self.rounds.has_begun() {
            return;
        }
        let lost = self.lost as f64 > self.inflight_latest * LOSS_THRESHOLD;
        let in_recovery = recovering && self.recovery_rounds > 0;
        if !self.is_full && in_recovery && lost && self.losses >= STARTUP_LOSSES {
            self.is_full = true;
            let bdp = self.bdp_at(self.max_bandwidth(), 1.0).unwrap_or(0.0);
            self.inflight_long_term = bdp.max(self.inflight_latest);
        }
        (self.lost, self.losses) = (0, 0);
    }

    /// §5.3.4.3, `UpdateMinRTT`
    pub(super) fn update_min_rtt(&mut self, ack: &AckEvent) {
        let since = |at: Instant| ack.now.since(at).as_secs_f64();
        self.probe_rtt_expired =
            self.recent_rtt.is_some() && since(self.recent_rtt_at) > PROBE_RTT_INTERVAL;
        if let Some(rtt) = ack.rtt.or(ack.rate.map(|rate| rate.rtt)) {
            let rtt = rtt.as_secs_f64();
            if self.probe_rtt_expired || self.recent_rtt.is_none_or(|recent| rtt < recent) {
                self.recent_rtt = Some(rtt);
                self.recent_rtt_at = ack.now;
            }
        }
        let Some(recent) = self.recent_rtt else {
            return;
        };
        let expired = since(self.min_rtt_at) > MIN_RTT_LIFE;
        if expired || self.min_rtt.is_none_or(|least| recent < least) {
            self.min_rtt = Some(recent);
            self.min_rtt_at = self.recent_rtt_at;
        }
    }

    /// Whether no RTT as low was seen for five seconds.
    pub(super) fn probe_rtt_expired(&self) -> bool {
        self.probe_rtt_expired
    }

    /// Records that it was measured just now.
    pub(super) fn renew_probe_rtt(&mut self, now: Instant) {
        self.recent_rtt_at = now;
    }
}
