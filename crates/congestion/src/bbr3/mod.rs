//! BBR, version 3 (draft-ietf-ccwg-bbr-06): version 1's model of bandwidth and delay, with bounds that losses set.
//!
//! Startup and Drain find the bandwidth of the path. Then ProbeBW cycles through four phases (§5.3.3): Down empties the
//! queue of the last probe; Cruise sends at the rate of the path and leaves headroom for others; Refill fills the pipe;
//! Up sends a quarter faster until the pipe is full or more than 2 % are lost, which sets the long-term bound on the
//! data in flight. Losses at other times bound rate and data in flight until the next probe. ProbeRTT halves the data
//! in flight for 200 ms, at most every 5 s.
//!
//! It needs delivery-rate samples and a transport that paces. Values that the draft draws at random are derived from
//! the round-trip count here. Marks are ignored. Restarts from idle (§5.4.1) and the detection of spurious losses
//! (§5.5.11.2) are not implemented. Losses are evaluated with the samples of acknowledgements, not per segment
//! (`HandleLostPacket`).

mod model;
mod probe_bw;
mod state;

use units::{Duration, Instant};

use crate::controller::{Controller, Factory, Limits, Phase, Snapshot};
use crate::event::{AckEvent, LossEvent, TimeoutEvent};
use crate::registry::{Control, Need, Recovery};
use model::Model;
use state::{Acks, PROBE_RTT_CWND_GAIN, STARTUP_GAIN};

pub use state::State;

/// The maximum number of round trips in Drain.
const DRAIN_ROUNDS: u64 = 3;
/// `BBR.PacingMarginPercent`: by how much the pacing rate is below the estimated rate of the path.
const PACING_MARGIN: f64 = 0.01;
/// `BBR.Headroom`: the part of the bound that is left to other flows.
const HEADROOM: f64 = 0.15;
/// `BBR.MinPipeCwnd`
const MIN_PIPE_CWND: f64 = 4.0;
/// `BBR.ProbeRTTDuration`
const PROBE_RTT: Duration = Duration::from_millis(200);
/// `SetSendQuantum`: the segments of 1 ms, at least 2 and at most 64 KB.
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
    /// Creates a controller for a new connection.
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

/// A model of the path, and the state machine that uses it.
#[derive(Clone, Debug)]
pub struct Bbr3 {
    limits: Limits,
    model: Model,
    state: State,
    cwnd: f64,
    /// The window to restore after a recovery or ProbeRTT.
    prior_cwnd: f64,
    /// In segments per second. `None` before the first RTT.
    pacing_rate: Option<f64>,
    recovering: bool,
    /// Segments in flight after the last acknowledgement.
    in_flight: u64,
    /// `BBR.ack_phase`
    acks: Acks,
    /// `BBR.bw_probe_samples`: the acknowledged data may have been sent while probing, and there was no reaction to a
    /// loss yet.
    probe_samples: bool,
    /// `BBR.cycle_stamp`
    cycle_start: Instant,
    /// `BBR.bw_probe_wait`
    probe_wait: Duration,
    rounds_since_probe: u64,
    /// `BBR.drain_start_round`
    drain_round: u64,
    /// `BBR.prev_probe_too_high`: the last probe had too many losses.
    too_high: bool,
    /// `BBR.prev_probe_precautionary`: the last probe stopped at the bound set by the probe before.
    precautionary: bool,
    /// `BBR.bw_probe_up_rounds`
    doublings: u32,
    /// `BBR.bw_probe_up_acks`
    up_acked: f64,
    /// `BBR.probe_up_cnt`: the number of acknowledged segments after which the long-term bound grows by one.
    up_count: f64,
}

impl Bbr3 {
    /// The current state.
    pub fn state(&self) -> State {
        self.state
    }

    /// The estimated bottleneck bandwidth, in segments per second. 0 before the first sample.
    pub fn bandwidth(&self) -> f64 {
        self.model.bandwidth()
    }

    /// Handles every acknowledgement, of any kind (§5.2.3, `UpdateOnACK`).
    fn acknowledge(&mut self, ack: &AckEvent) {
        self.in_flight = ack.in_flight;
        self.model.note_losses(ack);
        let sample = ack.rate.map(|sample| self.model.judged(sample));
        self.model.update_round(sample.as_ref());
        if let Some(sample) = &sample {
            self.model.update_latest(sample);
            self.rounds_since_probe += u64::from(self.model.rounds.has_begun());
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
            self.drain_round = self.model.rounds.count();
        }
    }

    /// §5.3.2: the queue is empty, or three round trips have passed.
    fn check_drain_done(&mut self, now: Instant) {
        let drained = self.in_flight as f64 <= self.inflight(1.0)
            || self.model.rounds.count() > self.drain_round + DRAIN_ROUNDS;
        if self.state == State::Drain && drained {
            self.start_down(now);
        }
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
            self.model.rounds.begin();
        }
        let State::ProbeRtt { until, round_done } = self.state else {
            return;
        };
        self.model.rounds.hold_back(ack.in_flight);
        let Some(end) = until else {
            if ack.in_flight as f64 <= self.probe_rtt_cwnd() {
                self.state = State::ProbeRtt {
                    until: Some(ack.now + PROBE_RTT),
                    round_done: false,
                };
                self.model.rounds.begin();
            }
            return;
        };
        let round_done = round_done || self.model.rounds.has_begun();
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

    /// §5.6.2. Until the pipe is full the rate only increases. It starts from the initial window and the first RTT.
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
        } else if self.cwnd < most
            || (self.model.rounds.delivered() as f64) < self.limits.initial_window
        {
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

    /// §5.6.4.4, `SaveCwnd`: a window that is already reduced must not be restored later.
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

    /// There is no threshold. Returns the smallest valid value.
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

    /// The bounds react to losses. The window does not change (§5.6.4.4).
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

    /// Nothing is known to be in flight any more (§5.6.4.4, `OnEnterRTO`).
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
