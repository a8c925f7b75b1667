//! BBR, version 1 (draft-cardwell-iccrg-bbr-congestion-control-00): sends at the rate that the path
//! delivers, and keeps little more in flight than that rate fills.
//!
//! The model of the path is the most bandwidth of ten round trips and the least RTT of ten seconds
//! (§4.1). Four states take turns in measuring them (§4.3): Startup doubles the rate until it brings
//! no more, Drain empties the queue that this made, ProbeBW goes a quarter faster for an RTT and as
//! much slower for another, out of eight, and ProbeRTT leaves four segments in flight for 200 ms.
//! Losses do not cut the rate; for a round trip of recovery, what leaves the network enters it
//! (§4.2.3.4). Marks are ignored.
//!
//! It needs delivery-rate samples and a transport that paces. The phase in which ProbeBW begins,
//! which the draft draws, follows from the count of round trips here. Restarts from idle (§4.3.4.4) are
//! left out.

mod model;

use units::{Duration, Instant};

use crate::controller::{Controller, Factory, Limits, Phase, Snapshot};
use crate::event::{AckEvent, LossEvent, TimeoutEvent};
use crate::registry::{Control, Need, Recovery};
use model::Model;

/// `BBRHighGain`, 2/ln 2: the least that doubles the rate every round trip.
const HIGH_GAIN: f64 = 2.885;
/// The pacing gains of ProbeBW, an RTT each.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// `BBRMinPipeCwnd`
const MIN_PIPE_CWND: f64 = 4.0;
/// `ProbeRTTDuration`
const PROBE_RTT: Duration = Duration::from_millis(200);
/// The draft's bounds of the pacing rate for a send quantum of one and two segments, 1.2 and
/// 24 Mb/s, and the greatest quantum, 64 KB: in segments of 1500 octets.
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
    /// A BBR at the start of its connection.
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

/// A model of the path, and the state that says how to use it.
#[derive(Clone, Debug)]
pub struct Bbr {
    limits: Limits,
    model: Model,
    state: State,
    cwnd: f64,
    /// The window to return to after a recovery or ProbeRTT.
    prior_cwnd: f64,
    /// In segments a second; none before the first RTT.
    pacing_rate: Option<f64>,
    recovering: bool,
    /// `BBR.packet_conservation`: the first round trip of a recovery.
    conserving: bool,
    /// Segments in flight after the last acknowledgement.
    in_flight: u64,
}

/// The state machine of §4.3.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum State {
    /// The rate doubles every round trip.
    Startup,
    /// The queue that Startup left drains.
    Drain,
    /// The steady state: the index into the cycle of gains, and when its phase began.
    ProbeBw {
        /// Which of the eight gains.
        phase: usize,
        /// Since when.
        since: Instant,
    },
    /// Little in flight, to see the propagation delay.
    ProbeRtt {
        /// When it may end; none until little is in flight.
        until: Option<Instant>,
        /// A round trip has passed with little in flight.
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
    /// The state as it is.
    pub fn state(&self) -> State {
        self.state
    }

    /// The bottleneck's bandwidth as estimated, in segments a second; 0 before the first sample.
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

    /// `BBRInflight`: what `gain` times the path's bandwidth-delay product takes, with room for
    /// acknowledgements and sending in lumps.
    fn inflight(&self, gain: f64) -> f64 {
        match self.model.rt_prop() {
            None => self.limits.initial_window,
            Some(rt_prop) => gain * self.bandwidth() * rt_prop + 3.0 * self.send_quantum(),
        }
    }

    /// Every acknowledgement, of whatever kind (§3.5.2, `BBRUpdateOnACK`).
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

    /// §4.3.4.3: the next of the eight phases, once an RTT at least; going faster lasts until it has
    /// shown in flight or in losses, going slower only as long as there is a queue.
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

    /// §4.3.4.3: any phase but the slow one.
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

    /// §4.2.1. Until the pipe is full the rate only rises. It starts from the initial window and the
    /// first RTT.
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

    /// §4.2.3.4, `BBRSaveCwnd`: a window that is reduced already is not what to return to.
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
