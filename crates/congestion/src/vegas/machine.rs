//! Rounds and window, shared by Vegas and by variants with other measurements.

use units::{Duration, Instant};

use super::VegasConfig;
use super::avoidance::{Avoidance, Backlog, Linear, MIN_WINDOW};
use super::meter::{Meter, Plain};
use crate::controller::{Controller, Limits, Phase, Snapshot};
use crate::event::{AckEvent, Evidence, LossEvent, TimeoutEvent};

/// A Vegas that measures its path with `M`, and adjusts its window by `A` outside of slow start.
#[derive(Clone, Debug)]
pub struct Machine<M, A = Linear> {
    config: VegasConfig,
    limits: Limits,
    meter: M,
    avoidance: A,
    cwnd: f64,
    ssthresh: f64,
    /// Added to cwnd for every new acknowledgement of the round.
    increment: f64,
    /// Whether slow start grows in this round, which it does in every other round.
    growing: bool,
    /// Whether `increment` is that of slow start, which ends at the threshold.
    doubling: bool,
    /// The value to which a recovery deflates cwnd.
    deflated: f64,
    /// When the window was last reduced. Losses of segments sent before do not reduce it again. Relative to `epoch` at
    /// that time, as in the simulator.
    last_cut: Duration,
    /// When segment 0 last started the connection. It starts again if the timer expires for it.
    epoch: Instant,
    /// Whether nothing is acknowledged yet: the next transmission of segment 0 starts the connection.
    begins: bool,
    acked: bool,
    round: Option<Round>,
    answered: bool,
    highest: u64,
    diff: Option<f64>,
}

/// From the sending of the marked segment to its acknowledgement.
#[derive(Clone, Copy, Debug)]
struct Round {
    mark: u64,
    start: Instant,
    /// The same by the floating-point clock, which starts with the connection.
    start_s: f64,
    /// Whether the marked segment had been sent before the round: the time to its acknowledgement is not a round-trip
    /// time.
    stale: bool,
}

impl Round {
    /// Seconds from its start to an acknowledgement.
    fn elapsed_s(&self, ack: &AckEvent) -> f64 {
        match ack.floating_now {
            Some(now_s) => now_s - self.start_s,
            None => ack.now.since(self.start).as_secs_f64(),
        }
    }
}

impl<M: Meter> Machine<M> {
    /// Creates the machine for a new connection, with Vegas' own avoidance.
    pub fn new(config: VegasConfig, meter: M, limits: &Limits) -> Self {
        let avoidance = Linear {
            alpha: config.alpha,
            beta: config.beta,
        };
        Machine::with(config, meter, avoidance, limits)
    }
}

impl Machine<Plain> {
    /// Sets the propagation delay to `base`, in seconds, and scales the window to fill the new path.
    pub(crate) fn reroute(&mut self, base: f64) {
        let cwnd = self.cwnd * base / self.meter.base();
        self.meter.set_base(base);
        self.cwnd = self.limits.cap(cwnd.max(MIN_WINDOW));
    }
}

impl<M: Meter, A: Avoidance> Machine<M, A> {
    /// Creates the machine for a new connection.
    pub fn with(config: VegasConfig, meter: M, avoidance: A, limits: &Limits) -> Self {
        Machine {
            config,
            limits: *limits,
            meter,
            avoidance,
            cwnd: 1.0,
            ssthresh: limits.initial_ssthresh,
            increment: 0.0,
            growing: true,
            doubling: false,
            deflated: config.quirks.forgotten_window(),
            last_cut: Duration::ZERO,
            epoch: Instant::ZERO,
            begins: true,
            acked: false,
            round: None,
            answered: false,
            highest: 0,
            diff: None,
        }
    }

    /// The meter of the variant.
    pub fn meter(&self) -> &M {
        &self.meter
    }

    /// The avoidance rule of the variant.
    pub fn avoidance(&self) -> &A {
        &self.avoidance
    }

    /// Handles a loss that is not related to the path's capacity: the window does not change, and is the same at the
    /// end of recovery. If the segment was resent before, the window of the recovery is kept.
    pub(crate) fn keep_window(&mut self, loss: &LossEvent) {
        if loss.transmissions > 1 {
            return;
        }
        self.deflated = (loss.window as f64).max(MIN_WINDOW);
    }

    /// The very first acknowledgement, new or duplicate, provides the first base RTT.
    fn first_answer(&mut self, ack: &AckEvent) {
        let Some(round) = self.round.filter(|_| !self.answered) else {
            return;
        };
        self.answered = true;
        self.meter.first(round.elapsed_s(ack), ack);
    }

    fn close_round(&mut self, round: Round, ack: &AckEvent) {
        let sent = ack.next.saturating_sub(round.mark);
        let trusted = !round.stale || self.config.quirks.phantom_rtt;
        let elapsed = trusted.then(|| round.elapsed_s(ack));
        match self.meter.close(elapsed, sent, ack) {
            Some(measured) => {
                // Chan (2.1), with the segments sent in the round for the actual throughput, rounded to the nearest
                // segment.
                let quirks = self.config.quirks;
                let (base, rtt) = (quirks.time(measured.base), quirks.time(measured.rtt));
                let window = (ack.next - ack.acked) as f64 + ack.weight();
                let expected = window / base;
                let actual = match measured.of_window {
                    true => window / rtt,
                    false => sent as f64 / rtt,
                };
                let diff = (expected - actual) * base;
                self.diff = Some(diff);
                self.step(Backlog {
                    diff,
                    delta: quirks.nearest(diff),
                    throughput: actual,
                    rtt,
                });
            }
            None => self.increment = 0.0,
        }
        self.round = Some(Round {
            mark: ack.next,
            start: ack.now,
            start_s: ack.floating_now.unwrap_or_default(),
            stale: ack.next < self.highest,
        });
    }

    /// Once per round: Chan (2.2) in congestion avoidance, §2.2.1 in slow start.
    fn step(&mut self, backlog: Backlog) {
        self.doubling = self.cwnd < self.ssthresh;
        if self.doubling {
            self.slow_start(backlog.delta);
        } else {
            let step = self.avoidance.step(&backlog, self.cwnd);
            self.cwnd = step.cwnd;
            self.increment = step.increment;
        }
    }

    fn slow_start(&mut self, delta: f64) {
        self.growing = !self.growing;
        self.increment = 0.0;
        if !self.growing {
            return;
        }
        if delta <= self.config.gamma {
            self.increment = 1.0;
            return;
        }
        self.ssthresh = MIN_WINDOW;
        self.cwnd = (self.cwnd - self.cwnd / 8.0).max(MIN_WINDOW);
    }
}

impl<M: Meter, A: Avoidance> Controller for Machine<M, A> {
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    fn on_sent(&mut self, now: Instant, segment: u64) {
        self.highest = self.highest.max(segment + 1);
        if segment == 0 && std::mem::take(&mut self.begins) {
            self.epoch = now;
            self.round = Some(Round {
                mark: segment,
                start: now,
                start_s: 0.0,
                stale: false,
            });
        }
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        self.first_answer(ack);
        self.acked = true;
        if ack.acked - ack.newly_acked == 1 {
            // The initial window is set at the acknowledgement after segment 0's.
            self.cwnd = self.limits.initial_window;
        }
        if let Some(round) = self.round.filter(|round| ack.acked > round.mark) {
            self.close_round(round, ack);
        }
        if self.doubling && self.cwnd >= self.ssthresh {
            // Slow start may reach the threshold within a round.
            self.increment = 0.0;
        }
        // As when the first of the segments that it stands for was acknowledged.
        let in_flight = (ack.next - ack.acked) as f64 + ack.weight() - 1.0;
        if self.cwnd - in_flight <= self.meter.slack() + self.config.quirks.tie() {
            self.cwnd += self.increment * ack.weight();
        }
        self.cwnd = self.limits.cap(self.cwnd);
        if let Some(rtt) = ack.rtt_s() {
            self.meter.sample(rtt, ack);
        }
    }

    fn on_duplicate_ack(&mut self, ack: &AckEvent) {
        self.first_answer(ack);
    }

    fn on_departure(&mut self, _now: Instant) {
        self.cwnd += 1.0;
    }

    /// At most one reduction per window: only if it was not reduced since the lost segment was sent.
    fn on_loss(&mut self, loss: &LossEvent) {
        let since_epoch = |at: Instant| at.since(self.epoch);
        if loss
            .sent_at
            .is_none_or(|sent| since_epoch(sent) <= self.last_cut)
        {
            return;
        }
        let left = self.avoidance.on_loss(loss.window);
        let window = match loss.window {
            0..=3 => 2,
            w if loss.transmissions > 1 => w / 2,
            w => left.unwrap_or(w - w / 4),
        };
        self.deflated = window as f64;
        self.cwnd = self.deflated + f64::from(loss.duplicates);
        self.last_cut = loss.now.since(self.epoch);
        if loss.evidence == Evidence::Time {
            // There is no deflation, which otherwise ends slow start.
            self.ssthresh = MIN_WINDOW;
        }
    }

    fn on_recovered(&mut self, _now: Instant) {
        if self.cwnd > self.deflated {
            self.cwnd = self.deflated;
            self.ssthresh = MIN_WINDOW;
        }
    }

    fn on_timeout(&mut self, timeout: &TimeoutEvent) {
        self.avoidance.on_timeout();
        self.ssthresh = ((timeout.window / 2) as f64).max(MIN_WINDOW);
        self.cwnd = MIN_WINDOW;
        self.deflated = self.config.quirks.forgotten_window();
        self.last_cut = timeout.now.since(self.epoch);
        self.begins = !self.acked;
    }

    fn snapshot(&self) -> Snapshot {
        let phase = if self.cwnd < self.ssthresh {
            Phase::SlowStart
        } else {
            Phase::Avoidance
        };
        let base = self.meter.base();
        Snapshot {
            cwnd: self.cwnd,
            ssthresh: self.ssthresh,
            phase,
            base_rtt: base.is_finite().then(|| Duration::from_secs_f64(base)),
            diff: self.diff,
        }
    }
}

#[cfg(test)]
mod tests;
