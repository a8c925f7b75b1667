//! BBR's model of the path (§4.1): bandwidth, propagation delay, round trips, and whether the pipe
//! is full.

use units::Instant;

use crate::delivery_rounds::DeliveryRounds;
use crate::event::AckEvent;
use crate::max_filter::MaxFilter;

/// `BtlBwFilterLen`: the number of round trips for which a maximum is remembered.
const BANDWIDTH_ROUNDS: usize = 10;
/// `RTpropFilterLen`, in seconds.
const RT_PROP_LIFE: f64 = 10.0;
/// The growth that indicates that more bandwidth is available (§4.3.2.2).
const GROWTH: f64 = 1.25;
/// The number of round trips without such growth that indicates that the pipe is full.
const FLAT_ROUNDS: u32 = 3;

#[derive(Clone, Debug)]
pub(super) struct Model {
    bandwidth: MaxFilter<BANDWIDTH_ROUNDS>,
    pub(super) rounds: DeliveryRounds,
    /// In seconds.
    rt_prop: Option<f64>,
    rt_prop_stamp: Instant,
    rt_prop_expired: bool,
    full_bandwidth: f64,
    flat_rounds: u32,
}

impl Default for Model {
    fn default() -> Self {
        Model {
            bandwidth: MaxFilter::default(),
            rounds: DeliveryRounds::default(),
            rt_prop: None,
            rt_prop_stamp: Instant::ZERO,
            rt_prop_expired: false,
            full_bandwidth: 0.0,
            flat_rounds: 0,
        }
    }
}

impl Model {
    /// `BtlBw`, in segments a second.
    pub(super) fn bandwidth(&self) -> f64 {
        self.bandwidth.max()
    }

    /// `RTprop`, in seconds.
    pub(super) fn rt_prop(&self) -> Option<f64> {
        self.rt_prop
    }

    /// Whether no RTT as low was seen for ten seconds.
    pub(super) fn rt_prop_expired(&self) -> bool {
        self.rt_prop_expired
    }

    pub(super) fn filled_pipe(&self) -> bool {
        self.flat_rounds >= FLAT_ROUNDS
    }

    /// §4.1.1: `BBRUpdateRound`, `BBRUpdateBtlBw`.
    pub(super) fn update_bandwidth(&mut self, ack: &AckEvent) {
        self.rounds.update(ack.rate.as_ref());
        let Some(rate) = &ack.rate else { return };
        let sample = rate.per_second();
        let limited = self.rounds.is_limited(rate);
        if sample.is_finite() && (sample >= self.bandwidth() || !limited) {
            self.bandwidth.add(self.rounds.count(), sample);
        }
    }

    /// §4.3.2.2: `BBRCheckFullPipe`.
    pub(super) fn check_full_pipe(&mut self, ack: &AckEvent) {
        let app_limited = ack.rate.is_some_and(|rate| rate.app_limited);
        if self.filled_pipe() || !self.rounds.has_begun() || app_limited {
            return;
        }
        if self.bandwidth() >= self.full_bandwidth * GROWTH {
            self.full_bandwidth = self.bandwidth();
            self.flat_rounds = 0;
        } else {
            self.flat_rounds += 1;
        }
    }

    /// §4.1.2: `BBRUpdateRTprop`.
    pub(super) fn update_rt_prop(&mut self, ack: &AckEvent) {
        let age = ack.now.since(self.rt_prop_stamp).as_secs_f64();
        self.rt_prop_expired = self.rt_prop.is_some() && age > RT_PROP_LIFE;
        let Some(rtt) = ack.rtt.or(ack.rate.map(|rate| rate.rtt)) else {
            return;
        };
        let rtt = rtt.as_secs_f64();
        if self.rt_prop_expired || self.rt_prop.is_none_or(|rt_prop| rtt <= rt_prop) {
            self.rt_prop = Some(rtt);
            self.rt_prop_stamp = ack.now;
        }
    }

    /// Records that it was measured just now.
    pub(super) fn renew_rt_prop(&mut self, now: Instant) {
        self.rt_prop_stamp = now;
    }
}
