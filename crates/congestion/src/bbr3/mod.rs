//! BBR, version 3 (draft-ietf-ccwg-bbr-06): version 1's model of bandwidth and delay, with bounds that losses set.
//!
//! Startup and Drain find the path's bandwidth. Then ProbeBW goes round in four phases (§5.3.3): Down empties the queue
//! of the last probe, Cruise sends at the rate of the path and leaves others headroom, Refill fills the pipe, and Up
//! goes a quarter faster until the pipe is full or more than 2 % are lost, which bounds what may be in flight in the
//! long term. Losses at other times bound rate and flight until the next probe. ProbeRTT leaves half of the pipe in
//! flight for 200 ms, every 5 s at most.
//!
//! It needs delivery-rate samples and a transport that paces. What the draft draws follows from the count of round
//! trips here. Marks are ignored. Restarts from idle (§5.4.1) and losses that prove spurious (§5.5.11.2) are left out.
//! Losses are judged by the samples of acknowledgements, not segment by segment (`HandleLostPacket`).

mod model;

use units::{Duration, Instant};

use crate::controller::{Controller, Factory, Limits, Phase, Snapshot};
use crate::event::{AckEvent, LossEvent, RateSample, TimeoutEvent};
use crate::registry::{Control, Need, Recovery};
use model::{BETA, Model};

/// `BBR.StartupPacingGain`, 4 ln 2.
const STARTUP_GAIN: f64 = 2.773;
/// `BBR.DrainPacingGain`
const DRAIN_GAIN: f64 = 0.5;
/// `BBR.DefaultCwndGain`, and that of ProbeBW_UP.
const CWND_GAIN: f64 = 2.0;
const UP_CWND_GAIN: f64 = 2.25;
/// The most round trips of Drain.
const DRAIN_ROUNDS: u64 = 3;
/// `BBR.ProbeRTTCwndGain`
const PROBE_RTT_CWND_GAIN: f64 = 0.5;
/// `BBR.PacingMarginPercent`: how much below the path's rate its estimate is paced.
const PACING_MARGIN: f64 = 0.01;
/// `BBR.Headroom`: the part of the bound that is left to others.
const HEADROOM: f64 = 0.15;
/// `BBR.MinPipeCwnd`
const MIN_PIPE_CWND: f64 = 4.0;
/// `BBR.ProbeRTTDuration`
const PROBE_RTT: Duration = Duration::from_millis(200);
/// The most rounds between probes, for flows of Reno beside (§5.3.3.8).
const MOST_RENO_ROUNDS: f64 = 63.0;
/// The slope of the long-term bound doubles so often at most.
const MOST_DOUBLINGS: u32 = 30;
/// `SetSendQuantum`: segments in 1 ms, 2 at least and 64 KB at most.
const QUANTUM_S: f64 = 0.001;
const QUANTA: (f64, f64) = (2.0, 43.0);

pub(crate) static BBR3: Control = Control {
    name: "bbr3",
    label: "BBRv3",
    summary: "a model of the path's bandwidth and delay, with bounds that losses set",
    source: "draft-ietf-ccwg-bbr-06",
    recovery: Recovery::Sack,
    marks: &[],
    needs: &[Need::Pacing],
    settings: &[],
    factory: |_, _| Box::new(Bbr3Config {}),
};

/// Settings of [`Bbr3`]; there are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bbr3Config {}

impl Bbr3Config {
    /// A BBR at the start of its connection.
    pub fn build(&self, limits: &Limits) -> Bbr3 {
        Bbr3 {
            limits: *limits,
            model: Model::default(),
            state: State::Startup,
            cwnd: limits.initial_window,
            prior_cwnd: 0.0,
            pacing_rate: None,
            recovering: false,
            in_flight: 0,
            acks: Acks::Init,
            probe_samples: false,
            cycle_start: Instant::ZERO,
            probe_wait: Duration::ZERO,
            rounds_since_probe: 0,
            drain_round: 0,
            too_high: false,
            precautionary: false,
            doublings: 0,
            up_acked: 0.0,
            up_count: f64::INFINITY,
        }
    }
}

impl Factory for Bbr3Config {
    fn build(&self, limits: &Limits) -> Box<dyn Controller> {
        Box::new(self.build(limits))
    }
}

/// A model of the path, and the state that says how to use it.
#[derive(Clone, Debug)]
pub struct Bbr3 {
    limits: Limits,
    model: Model,
    state: State,
    cwnd: f64,
    /// The window to return to after a recovery or ProbeRTT.
    prior_cwnd: f64,
    /// In segments a second; none before the first RTT.
    pacing_rate: Option<f64>,
    recovering: bool,
    /// Segments in flight after the last acknowledgement.
    in_flight: u64,
    /// `BBR.ack_phase`
    acks: Acks,
    /// `BBR.bw_probe_samples`: what is acknowledged may have been sent while probing, and no loss was answered yet.
    probe_samples: bool,
    /// `BBR.cycle_stamp`
    cycle_start: Instant,
    /// `BBR.bw_probe_wait`
    probe_wait: Duration,
    rounds_since_probe: u64,
    /// `BBR.drain_start_round`
    drain_round: u64,
    /// `BBR.prev_probe_too_high`: the last probe lost too much.
    too_high: bool,
    /// `BBR.prev_probe_precautionary`: the last probe stopped at the bound that the one before had set.
    precautionary: bool,
    /// `BBR.bw_probe_up_rounds`
    doublings: u32,
    /// `BBR.bw_probe_up_acks`
    up_acked: f64,
    /// `BBR.probe_up_cnt`: segments acknowledged by which the long-term bound grows by one.
    up_count: f64,
}

/// The state machine of §5.3.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum State {
    /// The rate doubles every round trip.
    Startup,
    /// The queue that Startup left drains.
    Drain,
    /// ProbeBW_DOWN: the queue of the last probe drains.
    Down,
    /// ProbeBW_CRUISE: at the rate of the path.
    Cruise,
    /// ProbeBW_REFILL: the pipe is filled, for a round trip.
    Refill,
    /// ProbeBW_UP: faster than the path, to see whether it takes more.
    Up,
    /// Little in flight, to see the propagation delay.
    ProbeRtt {
        /// When it may end; none until little is in flight.
        until: Option<Instant>,
        /// A round trip has passed with little in flight.
        round_done: bool,
    },
}

/// What acknowledgements that arrive report about a probe (§5.3.3.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Acks {
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

impl State {
    /// §5.6.1 and §5.3.3
    fn pacing_gain(self) -> f64 {
        match self {
            State::Startup => STARTUP_GAIN,
            State::Drain => DRAIN_GAIN,
            State::Down => 0.9,
            State::Up => 1.25,
            State::Cruise | State::Refill | State::ProbeRtt { .. } => 1.0,
        }
    }

    fn cwnd_gain(self) -> f64 {
        match self {
            State::Up => UP_CWND_GAIN,
            State::ProbeRtt { .. } => PROBE_RTT_CWND_GAIN,
            _ => CWND_GAIN,
        }
    }

    fn is_probe_bw(self) -> bool {
        matches!(
            self,
            State::Down | State::Cruise | State::Refill | State::Up
        )
    }

    /// `IsProbingBW`: losses are the price of going faster.
    fn is_probing(self) -> bool {
        matches!(self, State::Startup | State::Refill | State::Up)
    }
}

impl Bbr3 {
    /// The state as it is.
    pub fn state(&self) -> State {
        self.state
    }

    /// The bottleneck's bandwidth as estimated, in segments a second; 0 before the first sample.
    pub fn bandwidth(&self) -> f64 {
        self.model.bandwidth()
    }

    /// Every acknowledgement, of whatever kind (§5.2.3, `UpdateOnACK`).
    fn acknowledge(&mut self, ack: &AckEvent) {
        self.in_flight = ack.in_flight;
        self.model.note_losses(ack);
        let sample = ack.rate.map(|sample| self.model.judged(sample));
        if let Some(sample) = &sample {
            self.model.update_latest(sample);
            self.model.update_round(sample);
            self.rounds_since_probe += u64::from(self.model.round_start());
            self.model.update_max_bandwidth(sample);
            self.model
                .update_congestion(self.state.is_probing(), self.cwnd);
            self.model.update_aggregation(ack, self.cwnd);
            self.model.check_full_bandwidth(sample);
            self.check_startup_done();
            self.check_drain_done(ack.now);
            self.update_cycle_phase(ack, sample);
        }
        self.model.update_min_rtt(ack);
        self.check_probe_rtt(ack);
        if let Some(sample) = &sample {
            self.model.advance_latest(sample);
        }
        self.set_pacing_rate();
        self.set_cwnd(ack);
    }

    /// §5.3.1
    fn check_startup_done(&mut self) {
        self.model.check_startup_loss(self.recovering);
        if self.state == State::Startup && self.model.is_full() {
            self.state = State::Drain;
            self.drain_round = self.model.rounds();
        }
    }

    /// §5.3.2: the queue is gone, or three round trips have passed.
    fn check_drain_done(&mut self, now: Instant) {
        let drained = self.in_flight as f64 <= self.inflight(1.0)
            || self.model.rounds() > self.drain_round + DRAIN_ROUNDS;
        if self.state == State::Drain && drained {
            self.start_down(now);
        }
    }

    /// §5.3.3.9, `UpdateProbeBWCyclePhase`
    fn update_cycle_phase(&mut self, ack: &AckEvent, sample: &RateSample) {
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
            State::Refill if self.model.round_start() => self.start_up(sample),
            State::Up if self.is_time_to_go_down(ack, sample) => {
                self.too_high = false;
                self.start_down(ack.now);
            }
            _ => {}
        }
    }

    /// `StartProbeBW_DOWN`
    fn start_down(&mut self, now: Instant) {
        self.model.reset_signals();
        self.up_count = f64::INFINITY;
        self.pick_probe_wait();
        self.cycle_start = now;
        self.acks = Acks::ProbeStopping;
        self.model.start_round();
        self.state = State::Down;
    }

    /// `StartProbeBW_REFILL`
    fn start_refill(&mut self) {
        self.model.reset_short_term();
        self.doublings = 0;
        self.up_acked = 0.0;
        self.precautionary = false;
        self.acks = Acks::Refilling;
        self.model.start_round();
        self.state = State::Refill;
    }

    /// `StartProbeBW_UP`
    fn start_up(&mut self, sample: &RateSample) {
        self.probe_samples = true;
        self.acks = Acks::ProbeStarting;
        self.model.start_round();
        self.model.reset_full_bandwidth(sample.per_second());
        self.state = State::Up;
        self.raise_slope();
    }

    /// `PickProbeWait`: 2 to 3 s, and a round trip less or not. The draft draws both.
    fn pick_probe_wait(&mut self) {
        let rounds = self.model.rounds();
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
            // The bound, not the path, holds the rate.
            self.model.reset_full_bandwidth(sample.per_second());
            return false;
        }
        self.model.is_full_now()
    }

    /// `AdaptLongTermModel`; whether it began a phase: after a probe that stopped early and lost little, the next follows
    /// at once.
    fn adapt_long_term(&mut self, ack: &AckEvent, sample: &RateSample) -> bool {
        let round_start = self.model.round_start();
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

    /// `HandleInflightTooHigh`: once a probe.
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
    fn probe_long_term_upward(&mut self, ack: &AckEvent) {
        if ack.window_unused || self.cwnd < self.model.long_term() {
            return;
        }
        self.up_acked += ack.newly_delivered as f64;
        let steps = (self.up_acked / self.up_count).floor();
        if steps >= 1.0 {
            self.up_acked -= steps * self.up_count;
            self.model.set_long_term(self.model.long_term() + steps);
        }
        if self.model.round_start() {
            self.raise_slope();
        }
    }

    /// `RaiseInflightLongtermSlope`: 1, 2, 4, … segments a round.
    fn raise_slope(&mut self) {
        let growth = f64::from(1_u32 << self.doublings);
        self.doublings = (self.doublings + 1).min(MOST_DOUBLINGS);
        self.up_count = (self.cwnd / growth).max(1.0);
    }

    /// §5.3.4
    fn check_probe_rtt(&mut self, ack: &AckEvent) {
        let expired = self.model.probe_rtt_expired();
        if expired && !matches!(self.state, State::ProbeRtt { .. }) {
            self.save_cwnd();
            self.state = State::ProbeRtt {
                until: None,
                round_done: false,
            };
            self.acks = Acks::ProbeStopping;
            self.model.start_round();
        }
        let State::ProbeRtt { until, round_done } = self.state else {
            return;
        };
        self.model.hold_back(ack.in_flight);
        let Some(end) = until else {
            if ack.in_flight as f64 <= self.probe_rtt_cwnd() {
                self.state = State::ProbeRtt {
                    until: Some(ack.now + PROBE_RTT),
                    round_done: false,
                };
                self.model.start_round();
            }
            return;
        };
        let round_done = round_done || self.model.round_start();
        self.state = State::ProbeRtt { until, round_done };
        if round_done && ack.now > end {
            self.model.renew_probe_rtt(ack.now);
            self.restore_cwnd();
            self.exit_probe_rtt(ack.now);
        }
    }

    /// `ExitProbeRTT`
    fn exit_probe_rtt(&mut self, now: Instant) {
        self.model.reset_short_term();
        if self.model.is_full() {
            self.start_down(now);
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }

    /// §5.6.2. Until the pipe is full the rate only rises. It starts from the initial window and the first RTT.
    fn set_pacing_rate(&mut self) {
        let gain = self.state.pacing_gain();
        if self.pacing_rate.is_none() {
            let rtt = self.model.min_rtt().filter(|rtt| *rtt > 0.0);
            self.pacing_rate = rtt.map(|rtt| STARTUP_GAIN * self.limits.initial_window / rtt);
        }
        let rate = gain * self.bandwidth() * (1.0 - PACING_MARGIN);
        let rises = self.pacing_rate.is_none_or(|current| rate > current);
        if rate > 0.0 && (self.model.is_full() || rises) {
            self.pacing_rate = Some(rate);
        }
    }

    /// §5.6.3, `SetSendQuantum`
    fn send_quantum(&self) -> f64 {
        let (least, most) = QUANTA;
        let rate = self.pacing_rate.unwrap_or(0.0);
        (rate * QUANTUM_S).min(most).max(least)
    }

    /// §5.6.4.2, `QuantizationBudget`
    fn quantized(&self, inflight: Option<f64>) -> Option<f64> {
        let more = if self.state == State::Up { 2.0 } else { 0.0 };
        let least = (3.0 * self.send_quantum()).max(MIN_PIPE_CWND);
        inflight.map(|inflight| inflight.max(least) + more)
    }

    /// `Inflight`
    fn inflight(&self, gain: f64) -> f64 {
        self.quantized(self.model.bdp(gain))
            .unwrap_or(self.limits.initial_window)
    }

    /// `UpdateMaxInflight`
    fn max_inflight(&self) -> f64 {
        let bdp = self.model.bdp(self.state.cwnd_gain());
        let inflight = bdp.map(|bdp| bdp + self.model.extra_acked());
        self.quantized(inflight)
            .unwrap_or(self.limits.initial_window)
    }

    /// `TargetInflight`
    fn target_inflight(&self) -> f64 {
        let bdp = self.model.bdp(1.0);
        bdp.unwrap_or(self.limits.initial_window).min(self.cwnd)
    }

    /// `InflightWithHeadroom`
    fn inflight_with_headroom(&self) -> f64 {
        let bound = self.model.long_term();
        if bound.is_infinite() {
            return bound;
        }
        (bound - (HEADROOM * bound).max(1.0)).max(MIN_PIPE_CWND)
    }

    /// `ProbeRTTCwnd`
    fn probe_rtt_cwnd(&self) -> f64 {
        let bdp = self.model.bdp(PROBE_RTT_CWND_GAIN);
        bdp.unwrap_or(self.limits.initial_window).max(MIN_PIPE_CWND)
    }

    /// §5.6.4.6
    fn set_cwnd(&mut self, ack: &AckEvent) {
        let most = self.max_inflight();
        let delivered = ack.newly_delivered as f64;
        if self.model.is_full() {
            self.cwnd = (self.cwnd + delivered).min(most);
        } else if self.cwnd < most || (self.model.delivered() as f64) < self.limits.initial_window {
            self.cwnd += delivered;
        }
        self.cwnd = self.cwnd.max(MIN_PIPE_CWND);
        if matches!(self.state, State::ProbeRtt { .. }) {
            self.cwnd = self.cwnd.min(self.probe_rtt_cwnd());
        }
        self.bound_cwnd();
        self.cwnd = self.limits.cap(self.cwnd);
    }

    /// §5.6.4.7, `BoundCwndForModel`
    fn bound_cwnd(&mut self) {
        let bound = match self.state {
            State::Startup | State::Drain => f64::INFINITY,
            State::Down | State::Refill | State::Up => self.model.long_term(),
            State::Cruise | State::ProbeRtt { .. } => self.inflight_with_headroom(),
        };
        let bound = bound.min(self.model.short_term()).max(MIN_PIPE_CWND);
        self.cwnd = self.cwnd.min(bound);
    }

    /// §5.6.4.4, `SaveCwnd`: a window that is reduced already is not what to return to.
    fn save_cwnd(&mut self) {
        let reduced = self.recovering || matches!(self.state, State::ProbeRtt { .. });
        self.prior_cwnd = if reduced {
            self.prior_cwnd.max(self.cwnd)
        } else {
            self.cwnd
        };
    }

    fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }
}

impl Controller for Bbr3 {
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    /// There is no threshold; the least that one may be.
    fn ssthresh(&self) -> f64 {
        2.0
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

    /// The bounds answer losses. The window stays (§5.6.4.4).
    fn on_loss(&mut self, _loss: &LossEvent) {
        self.save_cwnd();
        self.recovering = true;
        self.model.start_recovery();
    }

    fn on_congestion_mark(&mut self, _mark: &LossEvent) {}

    fn on_recovered(&mut self, _now: Instant) {
        self.recovering = false;
        self.restore_cwnd();
    }

    /// Nothing is in flight any more, as far as is known (§5.6.4.4, `OnEnterRTO`).
    fn on_timeout(&mut self, _timeout: &TimeoutEvent) {
        self.save_cwnd();
        self.recovering = true;
        self.cwnd = 1.0;
    }

    fn pacing_rate(&self) -> Option<f64> {
        self.pacing_rate
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            cwnd: self.cwnd,
            ssthresh: self.ssthresh(),
            phase: match self.state {
                State::Startup => Phase::SlowStart,
                _ => Phase::Avoidance,
            },
            base_rtt: self.model.min_rtt().map(Duration::from_secs_f64),
            diff: None,
        }
    }
}

#[cfg(test)]
mod tests;
