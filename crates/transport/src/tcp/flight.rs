//! The sender's state that loss recoveries share: sequence numbers, window, timer.
//!
//! Segments are numbered from 0. `acked`, `next` and `highest` are counts, so segment `acked` is the oldest missing
//! one.

use congestion::{AckEvent, Controller, Evidence, Factory, LossEvent, TimeoutEvent};
use units::{Duration, Instant};

use super::config::{Config, Supply};
use super::feedback::Feedback;
use super::ledger::Ledger;
use super::rtt::Coarse;

#[derive(Debug)]
pub(super) struct Flight {
    /// Segments `0..acked` are acknowledged.
    pub(super) acked: u64,
    /// The next segment to send. A timeout moves it back.
    pub(super) next: u64,
    /// Segments `0..highest` have been sent.
    pub(super) highest: u64,
    /// Number of consecutive duplicate acknowledgements. Loss recovery may set it.
    pub(super) duplicates: u32,
    pub(super) controller: Box<dyn Controller>,
    pub(super) ledger: Ledger,
    pub(super) timer: Option<Instant>,
    clock: FloatingClock,
    /// When the first segment was last sent.
    pub(super) first_sent: Option<Instant>,
    /// Losses detected without the timer.
    pub(super) losses: u64,
    rto: Coarse,
    /// The segment that is timed for the coarse estimator, and when it was sent.
    timed: Option<(u64, Instant)>,
    /// The receiver's window, in segments.
    window: u64,
    /// Number of segments to send in total, including a SYN.
    supply: u64,
    /// Whether the first segment is a SYN.
    syn: bool,
    /// A segment that loss recovery wants to send before anything else.
    resend: Option<u64>,
}

/// A clock in floating-point seconds, if there is one, relative to the time when the first segment was last sent, as in
/// the simulator.
#[derive(Clone, Copy, Debug, Default)]
struct FloatingClock {
    now_s: Option<f64>,
    first_s: f64,
}

impl FloatingClock {
    fn begin(&mut self) {
        self.first_s = self.now_s.unwrap_or(0.0);
    }

    fn seconds(&self) -> Option<f64> {
        self.now_s.map(|now_s| now_s - self.first_s)
    }
}

impl Flight {
    pub(super) fn new(config: &Config, algorithm: &dyn Factory) -> Self {
        Flight {
            acked: 0,
            next: 0,
            highest: 0,
            duplicates: 0,
            controller: algorithm.build(&config.limits()),
            ledger: Ledger::new(config.window, config.stale_send_counts),
            timer: None,
            clock: FloatingClock::default(),
            first_sent: None,
            losses: 0,
            rto: Coarse::new(config.rto),
            timed: None,
            window: u64::from(config.window),
            supply: match config.supply {
                Supply::Nothing => 0,
                Supply::Segments(count) => count + u64::from(config.opens_with_syn()),
                Supply::Endless => u64::MAX,
            },
            syn: config.opens_with_syn(),
            resend: None,
        }
    }

    /// Sets the time of the clock in floating-point seconds.
    pub(super) fn read_clock(&mut self, now_s: f64) {
        self.clock.now_s = Some(now_s);
    }

    /// `W`: the number of whole segments that may be in flight, plus `inflation` for those that have left the network.
    pub(super) fn usable_window(&self, inflation: u64) -> u64 {
        (self.controller.cwnd() as u64 + inflation).min(self.window)
    }

    /// Number of segments sent and not acknowledged, by go-back-N counting.
    pub(super) fn in_flight(&self) -> u64 {
        self.next - self.acked
    }

    /// The congestion window in whole segments, without the receiver's window.
    pub(super) fn cwnd(&self) -> i64 {
        self.controller.cwnd() as i64
    }

    /// The receiver's window, in segments.
    pub(super) fn receiver_window(&self) -> u64 {
        self.window
    }

    /// Returns `hole` for retransmission. If `next` was moved back, it is not sent a second time.
    pub(super) fn take_again(&mut self, hole: u64) -> u64 {
        self.next = self.next.max(hole + 1);
        hole
    }

    /// The segment requested by [`Flight::resend_oldest`].
    pub(super) fn take_resend(&mut self) -> Option<u64> {
        self.resend.take()
    }

    /// The next segment, if `window` permits it.
    pub(super) fn take_within(&mut self, window: u64) -> Option<u64> {
        (self.in_flight() < window && self.next < self.available()).then(|| self.take_next())
    }

    /// The next segment, regardless of the window.
    pub(super) fn take_any(&mut self) -> Option<u64> {
        (self.next < self.available()).then(|| self.take_next())
    }

    /// The next segment within the receiver's window, if the congestion window and the duplicates, each of which
    /// indicates a departure, have room for it (RFC 3042).
    pub(super) fn take_limited(&mut self) -> Option<u64> {
        let room = self.controller.cwnd() + f64::from(self.duplicates);
        let fits = self.in_flight() < self.window && (self.in_flight() as f64 + 1.0) <= room;
        (fits && self.next < self.available()).then(|| self.take_next())
    }

    /// Segments `0..available` may be sent by now. While a SYN is not acknowledged, only the SYN.
    fn available(&self) -> u64 {
        match self.syn && self.acked == 0 {
            true => self.supply.min(1),
            false => self.supply,
        }
    }

    fn take_next(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }

    /// Requests the oldest missing segment to be sent before anything else.
    pub(super) fn resend_oldest(&mut self) {
        self.resend = (self.acked < self.supply).then_some(self.acked);
    }

    /// Records a departing segment. Returns whether it was sent before.
    pub(super) fn record_sent(&mut self, now: Instant, segment: u64) -> bool {
        let again = segment < self.highest;
        let idle = self.acked == self.highest;
        if segment == 0 {
            self.clock.begin();
        }
        self.ledger.record(segment, now, self.clock.seconds());
        self.controller.on_sent(now, segment);
        if segment == 0 {
            self.first_sent = Some(now);
        }
        if !again {
            self.highest = segment + 1;
            self.timed.get_or_insert((segment, now));
        }
        if self.timer.is_none() || idle {
            self.restart_timer(now);
        }
        again
    }

    /// Applies an acknowledgement of new data to sequence numbers, estimators and the timer. The caller notifies the
    /// controller.
    pub(super) fn acknowledge(&mut self, now: Instant, acked: u64, marks: &Feedback) -> AckEvent {
        let newest = acked - 1;
        let opened = self.syn && self.acked == 0;
        // The first segment, and those sent with it, only initialise the estimators.
        let sent_once = self.ledger.sent_once(newest);
        let sent_once = sent_once.filter(|sent| self.first_sent != Some(*sent));
        let sent_s = self.ledger.last_sent_s(newest);
        let newly_acked = self.advance(acked);
        self.duplicates = 0;
        if let Some((_, sent)) = self.timed.take_if(|(segment, _)| *segment < acked) {
            self.rto.reset_backoff();
            self.rto.sample(sent, now.since(sent));
        }
        match self.acked < self.highest || self.acked < self.supply {
            true => self.restart_timer(now),
            false => self.timer = None,
        }
        let rtt = sent_once.map(|sent| now.since(sent));
        let floating_rtt = self
            .clock
            .seconds()
            .zip(sent_s)
            .map(|(now, sent)| now - sent);
        AckEvent {
            floating_rtt: floating_rtt.filter(|_| rtt.is_some()),
            // A SYN does not change the initial window.
            window_unused: opened,
            ..self.event(now, newly_acked, rtt, marks)
        }
    }

    /// Applies an acknowledgement that does not end loss recovery: no sample, duplicates are kept, the timed segment is
    /// kept unless it is covered, and the timer restarts.
    pub(super) fn acknowledge_partially(
        &mut self,
        now: Instant,
        acked: u64,
        marks: &Feedback,
    ) -> AckEvent {
        let newly_acked = self.advance(acked);
        // The backoff does not change.
        self.restart_timer(now);
        if self.timed.take_if(|(timed, _)| *timed < acked).is_some() {
            self.rto.reset_backoff();
        }
        self.event(now, newly_acked, None, marks)
    }

    fn advance(&mut self, acked: u64) -> u64 {
        let newly_acked = acked - self.acked;
        self.ledger.clear(self.acked, acked);
        self.acked = acked;
        self.next = self.next.max(acked);
        self.resend = None;
        newly_acked
    }

    /// Counts a duplicate and notifies the controller.
    pub(super) fn count_duplicate(&mut self, now: Instant, marks: &Feedback) -> AckEvent {
        self.duplicates += 1;
        self.pass_duplicate(now, marks)
    }

    /// Notifies the controller of a duplicate that does not count, because of its marks.
    pub(super) fn pass_duplicate(&mut self, now: Instant, marks: &Feedback) -> AckEvent {
        let event = self.event(now, 0, None, marks);
        self.controller.on_duplicate_ack(&event);
        event
    }

    fn event(
        &self,
        now: Instant,
        newly_acked: u64,
        rtt: Option<Duration>,
        marks: &Feedback,
    ) -> AckEvent {
        let mut event = AckEvent {
            now,
            acked: self.acked,
            newly_acked,
            duplicates: self.duplicates,
            next: self.next,
            in_flight: self.in_flight(),
            rtt,
            floating_now: self.clock.seconds(),
            ..AckEvent::default()
        };
        marks.apply(&mut event);
        event
    }

    /// Notifies the controller of the loss of the oldest missing segment.
    pub(super) fn lose_oldest(&mut self, now: Instant, evidence: Evidence, window: u64) {
        self.losses += 1;
        self.controller.on_loss(&LossEvent {
            now,
            evidence,
            lost: self.acked,
            sent_at: self.ledger.last_sent(self.acked),
            transmissions: self.ledger.transmissions(self.acked),
            duplicates: self.duplicates,
            window,
        });
    }

    /// Handles the expiry of the timer: notifies the controller and goes back.
    pub(super) fn time_out(&mut self, now: Instant) {
        self.duplicates = 0;
        let window = self.usable_window(0);
        self.controller.on_timeout(&TimeoutEvent { now, window });
        self.go_back(now, true);
    }

    /// Goes back to the oldest missing segment.
    pub(super) fn go_back(&mut self, now: Instant, back_off: bool) {
        self.resend = None;
        self.next = self.acked;
        self.reset_timer(now, back_off);
    }

    /// Resets the backoff: from the next restart on, the timer has its measured duration.
    pub(super) fn reset_backoff(&mut self) {
        self.rto.reset_backoff();
    }

    /// Restarts the timer, and discards the current measurement.
    pub(super) fn reset_timer(&mut self, now: Instant, back_off: bool) {
        if back_off {
            self.rto.back_off();
        }
        self.timed = None;
        self.restart_timer(now);
    }

    /// Handles a round-trip time measured by an echoed timestamp. The current measurement ends if its segment is
    /// acknowledged.
    pub(super) fn sample_rtt(&mut self, now: Instant, rtt: Duration) {
        // Timestamps are whole microseconds, as is the time at which they were sent.
        let now = Instant::from_micros(now.as_micros());
        self.rto.sample(now - rtt, rtt);
    }

    /// Restarts the timer.
    pub(super) fn restart_timer(&mut self, now: Instant) {
        self.timer = Some(now + self.rto.timeout());
    }

    /// Stops sending new segments.
    pub(super) fn stop(&mut self) {
        self.supply = self.supply.min(self.highest);
    }

    /// Whether all data to send is acknowledged.
    pub(super) fn is_finished(&self) -> bool {
        self.acked >= self.supply
    }
}
