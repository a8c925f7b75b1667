//! BBR, version 1 (draft-cardwell-iccrg-bbr-congestion-control-00): sends at the delivery rate of the path, and keeps
//! little more in flight than the bandwidth-delay product.
//!
//! The model of the path consists of the maximum bandwidth of ten round trips and the minimum RTT of ten seconds
//! (§4.1). Four states alternate to measure them (§4.3): Startup doubles the rate until the bandwidth no longer grows;
//! Drain empties the queue that Startup has built; ProbeBW cycles through eight phases of an RTT each, one of them a
//! quarter faster and one a quarter slower; ProbeRTT keeps four segments in flight for 200 ms. Losses do not reduce the
//! rate; for one round trip of recovery, packet conservation applies (§4.2.3.4). Marks are ignored.
//!
//! It needs delivery-rate samples and a transport that paces. The draft draws the phase in which ProbeBW begins at
//! random; here it is derived from the round-trip count. Restarts from idle (§4.3.4.4) are not implemented.

mod model;

use units::{Duration, Instant};

use crate::controller::{Controller, Factory, Limits, Phase, Snapshot};
use crate::event::{AckEvent, LossEvent, TimeoutEvent};
use crate::registry::{Control, Need, Recovery};
use model::Model;

/// `BBRHighGain`, 2/ln 2: the smallest gain that doubles the rate every round trip.
const HIGH_GAIN: f64 = 2.885;
/// The pacing gains of ProbeBW, each for one RTT.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// `BBRMinPipeCwnd`
const MIN_PIPE_CWND: f64 = 4.0;
/// `ProbeRTTDuration`
const PROBE_RTT: Duration = Duration::from_millis(200);
/// The draft's bounds of the pacing rate for a send quantum of one and two segments, 1.2 and 24 Mb/s, and the maximum
/// quantum, 64 KB: in segments of 1500 octets.
const LOW_RATE: f64 = 100.0;
const HIGH_RATE: f64 = 2_000.0;
const MAX_QUANTUM: f64 = 43.0;

pub(crate) static BBR: Control = Control {
    name: "bbr",
    label: "BBR",
    summary: "a model of the path's bandwidth and delay, version 1",
    source: "draft-cardwell-iccrg-bbr-congestion-control-00",
    recovery: Recovery::Sack,
    marks: &[],
    needs: &[Need::Pacing],
    settings: &[],
    factory: |_, _| Box::new(BbrConfig {}),
};

/// Settings of [`Bbr`]; there are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BbrConfig {}

impl BbrConfig {
    /// Creates a controller for a new connection.
    pub fn build(&self, limits: &Limits) -> Bbr {
        Bbr {
            limits: *limits,
            model: Model::default(),
            state: State::Startup,
            cwnd: limits.initial_window,
            prior_cwnd: 0.0,
            pacing_rate: None,
            recovering: false,
            conserving: false,
            in_flight: 0,
        }
    }
}

impl Factory for BbrConfig {
    fn build(&self, limits: &Limits) -> Box<dyn Controller> {
        Box::new(self.build(limits))
    }
}

/// A model of the path, and the state machine that uses it.
#[derive(Clone, Debug)]
pub struct Bbr {
    limits: Limits,
    model: Model,
    state: State,
    cwnd: f64,
    /// The window to restore after a recovery or ProbeRTT.
    prior_cwnd: f64,
    /// In segments per second. `None` before the first RTT.
    pacing_rate: Option<f64>,
    recovering: bool,
    /// `BBR.packet_conservation`, set in the first round trip of a recovery.
    conserving: bool,
    /// Segments in flight after the last acknowledgement.
    in_flight: u64,
}

/// The state machine of §4.3.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum State {
    /// The rate doubles every round trip.
    Startup,
    /// The queue that Startup has built drains.
    Drain,
    /// The steady state: the index into the cycle of gains, and when its phase began.
    ProbeBw {
        /// The index of the gain.
        phase: usize,
        /// The start of the phase.
        since: Instant,
    },
    /// Few segments are in flight, to measure the propagation delay.
    ProbeRtt {
        /// When it may end. `None` until few segments are in flight.
        until: Option<Instant>,
        /// Whether a round trip has passed with few segments in flight.
        round_done: bool,
    },
}

impl State {
    fn pacing_gain(self) -> f64 {
        match self {
            State::Startup => HIGH_GAIN,
            State::Drain => 1.0 / HIGH_GAIN,
            State::ProbeBw { phase, .. } => CYCLE[phase],
            State::ProbeRtt { .. } => 1.0,
        }
    }

    fn cwnd_gain(self) -> f64 {
        match self {
            State::Startup | State::Drain => HIGH_GAIN,
            State::ProbeBw { .. } => 2.0,
            State::ProbeRtt { .. } => 1.0,
        }
    }
}

impl Bbr {
    /// The current state.
    pub fn state(&self) -> State {
        self.state
    }

    /// The estimated bottleneck bandwidth, in segments per second. 0 before the first sample.
    pub fn bandwidth(&self) -> f64 {
        self.model.bandwidth()
    }

    /// §4.2.2, `BBRSetSendQuantum`
    fn send_quantum(&self) -> f64 {
        match self.pacing_rate {
            Some(rate) if rate < LOW_RATE => 1.0,
            Some(rate) if rate >= HIGH_RATE => (rate * 0.001).min(MAX_QUANTUM),
            _ => 2.0,
        }
    }

    /// `BBRInflight`: `gain` times the bandwidth-delay product of the path, with headroom for delayed acknowledgements
    /// and bursts.
    fn inflight(&self, gain: f64) -> f64 {
        match self.model.rt_prop() {
            None => self.limits.initial_window,
            Some(rt_prop) => gain * self.bandwidth() * rt_prop + 3.0 * self.send_quantum(),
        }
    }

    /// Handles every acknowledgement, of any kind (§3.5.2, `BBRUpdateOnACK`).
    fn acknowledge(&mut self, ack: &AckEvent) {
        self.in_flight = ack.in_flight;
        self.model.update_bandwidth(ack);
        self.check_cycle_phase(ack);
        self.model.check_full_pipe(ack);
        self.check_drain(ack);
        self.model.update_rt_prop(ack);
        self.check_probe_rtt(ack);
        self.set_pacing_rate(ack);
        self.set_cwnd(ack);
    }

    /// §4.3.4.3: advances to the next of the eight phases, after at least one RTT. The fast phase lasts until its
    /// effect shows in flight or in losses, the slow phase only as long as there is a queue.
    fn check_cycle_phase(&mut self, ack: &AckEvent) {
        let State::ProbeBw { phase, since } = self.state else {
            return;
        };
        let full_length = self
            .model
            .rt_prop()
            .is_some_and(|rt_prop| ack.now.since(since).as_secs_f64() > rt_prop);
        let gain = CYCLE[phase];
        let before = (ack.in_flight + ack.newly_delivered + ack.newly_lost) as f64;
        let over = if gain > 1.0 {
            full_length && (ack.newly_lost > 0 || before >= self.inflight(gain))
        } else if gain < 1.0 {
            full_length || before <= self.inflight(1.0)
        } else {
            full_length
        };
        if over {
            self.enter_phase((phase + 1) % CYCLE.len(), ack.now);
        }
    }

    fn enter_phase(&mut self, phase: usize, since: Instant) {
        self.state = State::ProbeBw { phase, since };
    }

    /// §4.3.4.3: starts with any phase except the slow one.
    fn enter_probe_bw(&mut self, now: Instant) {
        let back = (self.model.rounds.count() % 7) as usize;
        self.enter_phase((CYCLE.len() - back) % CYCLE.len(), now);
    }

    /// §4.3.3
    fn check_drain(&mut self, ack: &AckEvent) {
        if self.state == State::Startup && self.model.filled_pipe() {
            self.state = State::Drain;
        }
        if self.state == State::Drain && ack.in_flight as f64 <= self.inflight(1.0) {
            self.enter_probe_bw(ack.now);
        }
    }

    /// §4.3.5
    fn check_probe_rtt(&mut self, ack: &AckEvent) {
        if !matches!(self.state, State::ProbeRtt { .. }) && self.model.rt_prop_expired() {
            self.save_cwnd();
            self.state = State::ProbeRtt {
                until: None,
                round_done: false,
            };
        }
        let State::ProbeRtt { until, round_done } = self.state else {
            return;
        };
        self.model.rounds.hold_back(ack.in_flight);
        let Some(end) = until else {
            if ack.in_flight as f64 <= MIN_PIPE_CWND {
                self.model.rounds.begin();
                self.state = State::ProbeRtt {
                    until: Some(ack.now + PROBE_RTT),
                    round_done: false,
                };
            }
            return;
        };
        let round_done = round_done || self.model.rounds.has_begun();
        self.state = State::ProbeRtt { until, round_done };
        if round_done && ack.now > end {
            self.model.renew_rt_prop(ack.now);
            self.restore_cwnd();
            if self.model.filled_pipe() {
                self.enter_probe_bw(ack.now);
            } else {
                self.state = State::Startup;
            }
        }
    }

    /// §4.2.1. Until the pipe is full the rate only increases. It starts from the initial window and the first RTT.
    fn set_pacing_rate(&mut self, ack: &AckEvent) {
        let gain = self.state.pacing_gain();
        if self.pacing_rate.is_none() {
            let rtt = self.model.rt_prop().filter(|rtt| *rtt > 0.0);
            self.pacing_rate = rtt.map(|rtt| gain * self.limits.initial_window / rtt);
        }
        let rate = gain * self.bandwidth();
        let rises = self.pacing_rate.is_none_or(|current| rate > current);
        if ack.rate.is_some() && rate > 0.0 && (self.model.filled_pipe() || rises) {
            self.pacing_rate = Some(rate);
        }
    }

    /// §4.2.3
    fn set_cwnd(&mut self, ack: &AckEvent) {
        let target = self.inflight(self.state.cwnd_gain());
        let delivered = ack.newly_delivered as f64;
        self.cwnd = (self.cwnd - ack.newly_lost as f64).max(1.0);
        if self.conserving && self.model.rounds.has_begun() {
            self.conserving = false;
        }
        if self.conserving {
            self.cwnd = self.cwnd.max(ack.in_flight as f64 + delivered);
        } else {
            if self.model.filled_pipe() {
                self.cwnd = (self.cwnd + delivered).min(target);
            } else if self.cwnd < target
                || (self.model.rounds.delivered() as f64) < self.limits.initial_window
            {
                self.cwnd += delivered;
            }
            self.cwnd = self.cwnd.max(MIN_PIPE_CWND);
        }
        if matches!(self.state, State::ProbeRtt { .. }) {
            self.cwnd = self.cwnd.min(MIN_PIPE_CWND);
        }
        self.cwnd = self.limits.cap(self.cwnd);
    }

    /// §4.2.3.4, `BBRSaveCwnd`: a window that is already reduced must not be restored later.
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

impl Controller for Bbr {
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

    /// §4.2.3.4: a recovery begins.
    fn on_loss(&mut self, _loss: &LossEvent) {
        self.save_cwnd();
        self.recovering = true;
        self.conserving = true;
        self.model.rounds.begin();
        self.cwnd = self.in_flight as f64 + 1.0;
    }

    fn on_congestion_mark(&mut self, _mark: &LossEvent) {}

    fn on_recovered(&mut self, _now: Instant) {
        self.recovering = false;
        self.conserving = false;
        self.restore_cwnd();
    }

    fn on_timeout(&mut self, _timeout: &TimeoutEvent) {
        self.save_cwnd();
        self.recovering = true;
        self.conserving = false;
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
            base_rtt: self.model.rt_prop().map(Duration::from_secs_f64),
            diff: None,
        }
    }
}

#[cfg(test)]
mod tests;
