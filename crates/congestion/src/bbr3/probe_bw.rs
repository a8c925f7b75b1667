//! BBRv3's probing for bandwidth: the phases of ProbeBW, and the long-term bound on the data in flight (§5.3.3).

use units::{Duration, Instant};

use super::Bbr3;
use super::model::{self, BETA};
use super::state::{Acks, State};
use crate::event::{AckEvent, RateSample};

/// The maximum number of rounds between probes, for coexistence with Reno flows (§5.3.3.8).
const MOST_RENO_ROUNDS: f64 = 63.0;
/// The maximum number of times that the slope of the long-term bound doubles.
const MOST_DOUBLINGS: u32 = 30;

impl Bbr3 {
    /// §5.3.3.9, `UpdateProbeBWCyclePhase`
    pub(super) fn update_cycle_phase(&mut self, ack: &AckEvent, sample: &RateSample) {
        if !self.model.is_full() {
            return;
        }
        if self.adapt_long_term(ack, sample) {
            return;
        }
        let state = self.state;
        match state {
            State::Down if self.is_time_to_probe(ack.now) => self.start_refill(),
            State::Down if self.is_time_to_cruise() => self.state = State::Cruise,
            State::Cruise if self.is_time_to_probe(ack.now) => self.start_refill(),
            State::Refill if self.model.rounds.has_begun() => self.start_up(sample),
            State::Up if self.is_time_to_go_down(ack, sample) => {
                self.too_high = false;
                self.start_down(ack.now);
            }
            _ => {}
        }
    }

    /// `StartProbeBW_DOWN`
    pub(super) fn start_down(&mut self, now: Instant) {
        self.model.reset_signals();
        self.up_count = f64::INFINITY;
        self.pick_probe_wait();
        self.cycle_start = now;
        self.acks = Acks::ProbeStopping;
        self.model.rounds.begin();
        self.state = State::Down;
    }

    /// `StartProbeBW_REFILL`
    fn start_refill(&mut self) {
        self.model.reset_short_term();
        self.doublings = 0;
        self.up_acked = 0.0;
        self.precautionary = false;
        self.acks = Acks::Refilling;
        self.model.rounds.begin();
        self.state = State::Refill;
    }

    /// `StartProbeBW_UP`
    fn start_up(&mut self, sample: &RateSample) {
        self.probe_samples = true;
        self.acks = Acks::ProbeStarting;
        self.model.rounds.begin();
        self.model.reset_full_bandwidth(sample.per_second());
        self.state = State::Up;
        self.raise_slope();
    }

    /// `PickProbeWait`: 2 to 3 s, and possibly one round trip less. The draft draws both at random.
    fn pick_probe_wait(&mut self) {
        let rounds = self.model.rounds.count();
        self.rounds_since_probe = rounds % 2;
        self.probe_wait = Duration::from_millis(2000 + rounds.wrapping_mul(619) % 1000);
    }

    /// `IsTimeToProbeBW`
    fn is_time_to_probe(&self, now: Instant) -> bool {
        let reno_rounds = self.target_inflight().min(MOST_RENO_ROUNDS);
        now > self.cycle_start + self.probe_wait || self.rounds_since_probe as f64 >= reno_rounds
    }

    /// `IsTimeToCruise`
    fn is_time_to_cruise(&self) -> bool {
        let in_flight = self.in_flight as f64;
        let pipe = self.quantized(self.model.bdp_at(self.model.max_bandwidth(), 1.0));
        in_flight <= self.inflight_with_headroom()
            && in_flight <= pipe.unwrap_or(self.limits.initial_window)
    }

    /// `IsTimeToGoDown`
    fn is_time_to_go_down(&mut self, ack: &AckEvent, sample: &RateSample) -> bool {
        if self.too_high && ack.in_flight as f64 >= self.model.long_term() {
            self.precautionary = true;
            return true;
        }
        if !ack.window_unused && self.cwnd >= self.model.long_term() {
            // The bound, not the path, limits the rate.
            self.model.reset_full_bandwidth(sample.per_second());
            return false;
        }
        self.model.is_full_now()
    }

    /// `AdaptLongTermModel`. Returns whether it started a phase: after a probe that stopped early with few losses, the
    /// next one follows immediately.
    fn adapt_long_term(&mut self, ack: &AckEvent, sample: &RateSample) -> bool {
        let round_start = self.model.rounds.has_begun();
        if self.acks == Acks::ProbeStarting && round_start {
            self.acks = Acks::ProbeFeedback;
        }
        if self.acks == Acks::ProbeStopping && round_start {
            self.probe_samples = false;
            self.acks = Acks::Init;
            if self.state.is_probe_bw() && !sample.app_limited {
                self.model.advance_max_bandwidth();
            }
            if self.state.is_probe_bw() && self.precautionary && !self.too_high {
                self.start_refill();
                return true;
            }
        }
        if model::is_inflight_too_high(sample) {
            self.handle_inflight_too_high(ack.now, sample);
            return false;
        }
        if self.model.long_term().is_infinite() {
            return false;
        }
        self.model.raise_long_term(sample.prior_in_flight as f64);
        if self.state == State::Up {
            self.probe_long_term_upward(ack);
        }
        false
    }

    /// `HandleInflightTooHigh`: at most once per probe.
    fn handle_inflight_too_high(&mut self, now: Instant, sample: &RateSample) {
        if !std::mem::take(&mut self.probe_samples) {
            return;
        }
        self.too_high = true;
        if !sample.app_limited {
            let held = sample.prior_in_flight as f64;
            self.model
                .set_long_term(held.max(self.target_inflight() * BETA));
        }
        if self.state == State::Up {
            self.start_down(now);
        }
    }

    /// `ProbeInflightLongtermUpward`
    pub(super) fn probe_long_term_upward(&mut self, ack: &AckEvent) {
        if ack.window_unused || self.cwnd < self.model.long_term() {
            return;
        }
        self.up_acked += ack.newly_delivered as f64;
        let steps = (self.up_acked / self.up_count).floor();
        if steps >= 1.0 {
            self.up_acked -= steps * self.up_count;
            self.model.set_long_term(self.model.long_term() + steps);
        }
        if self.model.rounds.has_begun() {
            self.raise_slope();
        }
    }

    /// `RaiseInflightLongtermSlope`: 1, 2, 4, … segments per round.
    pub(super) fn raise_slope(&mut self) {
        let growth = f64::from(1_u32 << self.doublings);
        self.doublings = (self.doublings + 1).min(MOST_DOUBLINGS);
        self.up_count = (self.cwnd / growth).max(1.0);
    }
}
