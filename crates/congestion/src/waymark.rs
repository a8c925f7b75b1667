//! Waymark: all three marks in one transport.
//!
//! Marks make the path observable, so the control law predicts instead of probing. With each acknowledgement:
//!
//! - The propagation delay is `R = RTT − QT_f − QT_b` (Chan 2004, eq. 3.4), where `QT_f` is the AQT that the receiver
//!   echoes and `QT_b` the AQT of the acknowledgement itself.
//! - `D` is the rate at which segments arrived at the receiver during the last `R + QT_f`. An acknowledgement's `QT_b`
//!   is subtracted from its arrival time, so that queues on the backward path neither hide nor distort it.
//! - Of the segments in flight, `D (R + QT_b)` are on a link, or acknowledged on the backward path. The others,
//!   `B = in flight − D (R + QT_b)`, are queued, or will be when they reach a queue.
//! - The pacing rate is `D + (b − B)/R`: the flow sends at the delivery rate of the path, and has b segments queued
//!   after a round trip. [`queueing`] computes b: β, corrected by the standing queue, so that flows that share a queue
//!   have equal shares.
//!
//! While no more than β segments are queued, the minimum index of the path (DRAI) shows that a link has capacity left,
//! and by which factor the rate of all its flows may grow: `u ≤ 1/3` of the rate is used at index 6, 4/7 at 5, 7/8 at
//! 4. The factor applies to the sending rate when the reading was taken. Without a queue, the target backlog doubles
//! with every round trip until there is a queue, whatever the index. A path without a queue delivers everything that is
//! sent, so the rate at which the newest acknowledged segment was sent replaces `D` if it is larger.
//!
//! [`rivals`] detects flows that fill the queue, and computes the window in competition with them. It then replaces
//! `D R + β`, unless it is smaller and there was no queue for a round trip.
//!
//! [`joining`] gives the minimum rate of a new flow, from the queueing time that it observes first.
//!
//! A lost segment counts as arrived, because it has left the queues. This does not hold if the queue was full: then CI
//! is echoed, and the segment counts as not delivered by the path. A loss alone has no effect.
//!
//! If some hops do not mark ([`Deployment::Gradual`]), `R` is the minimum observed value, β is four times as large, b
//! is β, and half of a deviation is corrected per round trip. The window only limits the data in flight while there are
//! no acknowledgements. `docs/waymark-control.md` derives the law.

use units::{Duration, Instant};

use crate::controller::{Controller, Factory, Limits, Phase, Snapshot, Verdicts};
use crate::event::{AckEvent, LossEvent, TimeoutEvent};
use crate::history::{History, Point};
use crate::registry::{Control, Mark, Need, Recovery, Setting};
use crate::rovegas::{Deployment, FULL_DEPLOYMENT};
use delays::Delays;
use departures::Departures;
use joining::Joining;
use queueing::Queueing;
use rivals::Rivals;

/// The minimum fraction of the arrival rate at which a queue is drained.
const SLOWEST: f64 = 0.5;
/// The minimum number of segments for a valid arrival rate.
const FEW: f64 = 8.0;
/// The age of the oldest octet in a DRAI reading, in seconds: two windows of 2¹⁵ µs.
const READING: f64 = 2.0 * 32768e-6;
/// The factor for β if hops may not mark, because queueing at them on the backward path appears as queueing on the
/// forward path. The product is the mean of Vegas' α and β, so that the flow's share is not smaller than that of Vegas.
const BEHIND_SILENT_HOPS: f64 = 4.0;

/// The speed of the control law.
#[derive(Debug)]
struct Response {
    /// The fraction of a deviation that is corrected per round trip.
    gain: f64,
    /// The most recent parts of a round trip that are checked for a reduced arrival rate.
    parts: &'static [f64],
    /// The arrival rate is reduced if more segments than this are missing.
    missing: f64,
}

/// All hops mark: arrival times and the backlog are known.
const PROMPT: Response = Response {
    gain: 1.0,
    parts: &[1.0 / 2.0, 1.0 / 4.0, 1.0 / 8.0, 1.0 / 16.0],
    missing: 4.0,
};
/// Queues at hops without marks on the backward path distort both.
const CAUTIOUS: Response = Response {
    gain: 0.5,
    parts: &[1.0 / 4.0],
    missing: 8.0,
};

/// The maximum floating-point error, and less than a tick of 1/32 µs.
const SLACK: f64 = 1e-8;

/// The flow's own segments that are queued at the bottleneck.
const BACKLOG: Setting = Setting::packets(
    "backlog",
    0.5,
    "β, the number of its segments that wait at the bottleneck",
);

pub(crate) static WAYMARK: Control = Control {
    name: "waymark",
    label: "Waymark",
    summary: "predicts its queue from AQT, grows as DRAI allows, classifies losses by CI",
    source: "this project",
    recovery: Recovery::Sack,
    marks: &[Mark::Aqt, Mark::Avbw, Mark::Ci],
    needs: &[Need::Pacing],
    settings: &[BACKLOG, FULL_DEPLOYMENT],
    factory: |settings, rules| {
        Box::new(WaymarkConfig {
            backlog: settings.number(BACKLOG.name),
            deployment: Deployment::of(settings),
            fixed_point: rules.fixed_point,
        })
    },
};

/// Settings of [`Waymark`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WaymarkConfig {
    /// β, the number of the flow's segments queued at the bottleneck.
    pub backlog: f64,
    /// How many hops of the path write marks.
    pub deployment: Deployment,
    /// Whether values that differ only by rounding are treated as equal, for comparisons with fixed-point arithmetic.
    pub fixed_point: bool,
}

impl Default for WaymarkConfig {
    fn default() -> Self {
        WaymarkConfig {
            backlog: 0.5,
            deployment: Deployment::default(),
            fixed_point: false,
        }
    }
}

impl WaymarkConfig {
    /// Creates a controller for a new connection.
    pub fn build(&self, limits: &Limits) -> Waymark {
        let slack = if self.fixed_point { SLACK } else { 0.0 };
        Waymark {
            slack,
            backlog: match self.deployment {
                Deployment::Full => self.backlog,
                Deployment::Gradual => BEHIND_SILENT_HOPS * self.backlog,
            },
            response: match self.deployment {
                Deployment::Full => &PROMPT,
                Deployment::Gradual => &CAUTIOUS,
            },
            limits: *limits,
            delays: Delays::new(self.deployment),
            round_end: 0,
            arrived: 0.0,
            arrivals: History::new(slack),
            arrival_rate: None,
            queueing: Queueing::default(),
            target: 0.0,
            departures: Departures::new(slack),
            rate: None,
            room: None,
            speed: 1.0,
            rivals: Rivals::new(slack),
            joining: None,
            idle: true,
            full_until: 0.0,
            cwnd: limits.initial_window,
            line: limits.line_bps.map_or(f64::INFINITY, |bps| {
                bps / (8.0 * f64::from(limits.packet_octets))
            }),
            verdicts: Verdicts::default(),
        }
    }
}

impl Factory for WaymarkConfig {
    fn build(&self, limits: &Limits) -> Box<dyn Controller> {
        Box::new(self.build(limits))
    }
}

/// Computes the pacing rate from a prediction of the flow's own queue. Times are in seconds, rates in segments per
/// second.
#[derive(Clone, Debug)]
pub struct Waymark {
    /// Values that differ by at most this are considered equal: times in seconds and numbers of segments.
    slack: f64,
    /// β
    backlog: f64,
    response: &'static Response,
    limits: Limits,
    delays: Delays,
    /// The segment whose acknowledgement ends the round trip.
    round_end: u64,
    /// Segments that have left the queues: at the receiver, or lost behind the queues.
    arrived: f64,
    /// The history of [`Self::arrived`] at the receiver (with a constant time offset).
    arrivals: History,
    /// `D`
    arrival_rate: Option<f64>,
    queueing: Queueing,
    /// `b`
    target: f64,
    departures: Departures,
    /// `None` before the first round-trip time.
    rate: Option<f64>,
    /// The growth factor that the newest index allows.
    room: Option<f64>,
    /// The factor for β while there is no queue.
    speed: f64,
    rivals: Rivals,
    /// As long as the flow joins others.
    joining: Option<Joining>,
    /// Whether there was no queue in this round trip.
    idle: bool,
    /// Until when losses are attributed to the full queue.
    full_until: f64,
    cwnd: f64,
    /// The rate of the link through which segments leave. No mark reports its queue.
    line: f64,
    verdicts: Verdicts,
}

/// The factor by which the rate of all flows of a link may grow at an index (`waymark/drai.py`).
fn room(index: u8) -> Option<f64> {
    match index {
        6 => Some(3.0),
        5 => Some(7.0 / 4.0),
        4 => Some(8.0 / 7.0),
        _ => None,
    }
}

impl Waymark {
    /// Handles every acknowledgement, of any kind.
    fn acknowledge(&mut self, ack: &AckEvent) {
        let now = ack.now.as_secs_f64();
        self.delays.sample(ack);
        self.departures.record(now, READING / 8.0);
        if ack.acked > self.round_end {
            self.round_end = ack.next;
            self.delays.next_round();
            self.joining = self.joining.and_then(Joining::next_round);
            self.queueing.next_round();
            self.speed = if self.idle { 2.0 * self.speed } else { 1.0 };
            self.idle = true;
        }
        if let Some(index) = ack.mrai {
            self.room = room(index);
        }
        let Some(propagation) = self.delays.propagation() else {
            self.cwnd = self.limits.cap(self.cwnd + ack.newly_delivered as f64);
            return;
        };
        if ack.ci_echo {
            self.full_until = now + 2.0 * propagation;
        }
        self.measure(ack, now, propagation);
        self.pace(ack, now, propagation);
    }

    /// Whether losses that are detected now are attributed to the full queue.
    fn was_full(&self, now: f64) -> bool {
        now <= self.full_until + self.slack
    }

    /// Updates the arrival rate, `D`.
    fn measure(&mut self, ack: &AckEvent, now: f64, propagation: f64) {
        self.arrived += ack.newly_delivered as f64;
        if !self.was_full(now) {
            self.arrived += ack.newly_lost as f64;
        }
        let time = now - self.delays.backward;
        let span = propagation + self.delays.forward;
        let arrived = self.arrived;
        let arrived_since = |then: Point| {
            (then.time < time - self.slack).then_some((arrived - then.value, time - then.time))
        };
        let whole = self
            .arrivals
            .newest(time - span, |value| value <= arrived - FEW)
            .filter(|then| then.value <= arrived - FEW)
            .and_then(arrived_since);
        if let Some((segments, passed)) = whole {
            let rate = segments / passed;
            let Response { parts, missing, .. } = self.response;
            let fallen = parts
                .iter()
                .filter_map(|part| self.arrivals.newest(time - part * span, |_| true))
                .filter_map(arrived_since)
                .filter(|(segments, passed)| {
                    rate * (passed - self.slack) - segments > missing + self.slack
                })
                .map(|(segments, passed)| segments / passed);
            self.arrival_rate = Some(fallen.fold(rate, f64::min));
        }
        self.arrivals.push(time, arrived, span / 32.0);
    }

    /// Updates the rate and the window.
    fn pace(&mut self, ack: &AckEvent, now: f64, propagation: f64) {
        let Delays {
            forward, backward, ..
        } = self.delays;
        let initial = self.limits.initial_window / propagation;
        let knows_queueing = self.delays.deployment == Deployment::Full;
        if self.rate.is_none() && self.room.is_none() && knows_queueing {
            self.joining = Joining::new(forward, initial, self.backlog);
        }
        if self.room.is_some() || self.was_full(now) || self.rivals.window().is_some() {
            self.joining = None;
        }
        let current = *self.rate.get_or_insert(initial);
        let round_trip = propagation + forward + backward;
        let mut rate = current;
        if let Some(arrival_rate) = self.arrival_rate {
            self.target = self.aim(arrival_rate, now, propagation);
            let is_idle = arrival_rate * forward <= self.backlog + self.slack;
            self.idle &= is_idle;
            self.rivals.acknowledge(ack, !is_idle, now, round_trip);
            if ack.newly_lost > 0 && self.was_full(now) {
                self.rivals.refused_again(now, round_trip);
            }
            let left = now - round_trip;
            let is_held_back = ack.rate.is_some_and(|sample| sample.app_limited)
                || self.departures.fall_behind(left, round_trip);
            rate = match self.room {
                _ if is_idle && is_held_back => current,
                room if is_idle => {
                    let passing = arrival_rate.max(self.departures.rate(left, round_trip));
                    let probing = self.corrected(ack, passing, self.speed, propagation);
                    room.map_or(probing, |factor| {
                        probing.max(current).max(factor * self.counted(left))
                    })
                }
                _ => self.corrected(ack, arrival_rate, 1.0, propagation),
            };
        }
        let joining = self.joining.map_or(0.0, Joining::rate);
        let rate = rate.max(joining).min(self.line).max(1.0 / round_trip);
        self.rate = Some(rate);
        self.departures
            .set_pace(now, rate, (round_trip + READING) / 32.0);
        let longest = propagation + forward + self.delays.longest_backward();
        self.cwnd = self.limits.cap(match self.arrival_rate {
            // Behind a queue, the arrivals determine how much may be sent.
            None if rate * forward > self.backlog + self.slack => self.limits.initial_window,
            arrival_rate => 2.0 * rate.max(arrival_rate.unwrap_or(0.0)) * longest + FEW,
        });
    }

    /// The target backlog. If hops may not mark, the queueing time is unknown, and the target is β.
    fn aim(&mut self, arrival_rate: f64, now: f64, propagation: f64) -> f64 {
        match self.delays.deployment {
            Deployment::Full => {
                self.queueing.see(self.delays.forward, now, propagation);
                self.queueing.target(self.backlog, arrival_rate)
            }
            Deployment::Gradual => self.backlog,
        }
    }

    /// The delivery rate, plus a correction of the backlog towards b, which is at least β times a `speed` above 1, or
    /// towards the window in competition with rivals. A `speed` above 1 means that there was no queue for a round trip.
    /// The larger of both is then used.
    fn corrected(&self, ack: &AckEvent, passing: f64, speed: f64, propagation: f64) -> f64 {
        let arrival_rate = self.arrival_rate.unwrap_or(0.0);
        let delivered = passing * (propagation + self.delays.backward);
        let waiting = ack.in_flight as f64 - delivered;
        let gain = self.response.gain;
        let step = |backlog: f64| gain * (backlog - waiting) / propagation;
        let own = || {
            let goal = match speed > 1.0 {
                true => self.target.max(speed * self.backlog),
                false => self.target,
            };
            let fastest = self.target.max(self.backlog) / propagation;
            step(goal).min(fastest.max(arrival_rate / 7.0))
        };
        let step = match self.rivals.window() {
            Some(window) => {
                let competing = step(window - passing * propagation);
                // Rivals that leave no queue for a round trip do not compete now.
                if speed > 1.0 {
                    competing.max(own())
                } else {
                    competing
                }
            }
            None => own(),
        };
        (passing + step).max(SLOWEST * arrival_rate)
    }

    /// The sending rate that a DRAI reading taken at a time reflects: the minimum in both windows to which it may
    /// belong.
    fn counted(&self, time: f64) -> f64 {
        [0.25, 0.75]
            .map(|part| self.departures.rate(time - part * READING, READING / 2.0))
            .into_iter()
            .fold(self.departures.pace(time - READING), f64::min)
    }
}

impl Controller for Waymark {
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    /// There is no threshold. Returns the smallest valid value.
    fn ssthresh(&self) -> f64 {
        2.0
    }

    fn on_sent(&mut self, _now: Instant, _segment: u64) {
        self.departures.count();
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

    /// The queueing time contains all the information; the loss is only classified.
    fn on_loss(&mut self, loss: &LossEvent) {
        self.verdicts.newest = Some(loss.lost);
        let now = loss.now.as_secs_f64();
        if self.was_full(now) {
            self.verdicts.congestion += 1;
            self.rivals.refused(now);
        } else {
            self.verdicts.random += 1;
        }
    }

    fn on_congestion_mark(&mut self, _mark: &LossEvent) {}

    /// The measurements are outdated; the next acknowledgements provide new ones.
    fn on_timeout(&mut self, _timeout: &TimeoutEvent) {
        self.arrivals.clear();
        self.arrival_rate = None;
        self.rate = self.rate.map(|rate| SLOWEST * rate);
    }

    fn pacing_rate(&self) -> Option<f64> {
        self.rate
    }

    fn verdicts(&self) -> Verdicts {
        self.verdicts
    }

    fn snapshot(&self) -> Snapshot {
        let propagation = self.delays.propagation();
        Snapshot {
            cwnd: self.cwnd,
            ssthresh: self.ssthresh(),
            phase: match self.room {
                Some(_) => Phase::SlowStart,
                None => Phase::Avoidance,
            },
            base_rtt: propagation.map(Duration::from_secs_f64),
            diff: self.arrival_rate.map(|rate| rate * self.delays.forward),
        }
    }
}

mod delays;
mod departures;
mod joining;
mod queueing;
mod rivals;

#[cfg(test)]
mod tests;
