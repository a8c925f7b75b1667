//! The sending side: handling of acknowledgements, and of their absence.

use congestion::{AckEvent, Evidence, LossEvent, TimeoutEvent, TrimEvent};
use units::{Duration, Instant};

use super::ecn::{Echo, EcnState};
use super::prr::Prr;
use super::rack::Path;
use super::rate::Sampler;
use super::scoreboard::{Fate, Sent};
use super::sender::{Phase, Sender};
use crate::tcp::feedback::Feedback;
use crate::tcp::segment::SackBlocks;
use crate::tcp::trace::Change;

/// An acceptable acknowledgement, with positions instead of sequence numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ack {
    pub(super) now: Instant,
    /// Everything before this position has arrived.
    pub(super) position: u64,
    pub(super) blocks: Blocks,
    /// The position of a segment that arrived trimmed.
    pub(super) trimmed: Option<u64>,
    /// Whether it carries no data and does not change the window. RFC 5681 (§2) calls it a duplicate if it acknowledges
    /// nothing new.
    pub(super) bare: bool,
    /// The round-trip time from its timestamp.
    pub(super) echoed_rtt: Option<Duration>,
    /// The congestion marks that it echoes.
    pub(super) echo: Echo,
}

/// SACK blocks, as positions.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Blocks {
    blocks: [(u64, u64); SackBlocks::MAX],
    len: usize,
}

impl Blocks {
    /// Adds a block.
    pub(super) fn push(&mut self, left: u64, right: u64) {
        if let Some(slot) = self.blocks.get_mut(self.len) {
            *slot = (left, right);
            self.len += 1;
        }
    }

    fn as_slice(&self) -> &[(u64, u64)] {
        &self.blocks[..self.len]
    }

    /// Returns the first block if it reports a duplicate: it lies below the acknowledged position, or within the second
    /// block (RFC 2883, §4).
    fn copy(&self, acked: u64) -> Option<(u64, u64)> {
        let &(left, right) = self.as_slice().first()?;
        let within =
            |&(from, to): &(u64, u64)| from <= left && right <= to && (from, to) != (left, right);
        let copied = right <= acked || self.as_slice().get(1).is_some_and(within);
        copied.then_some((left, right))
    }
}

/// Information from newly arrived segments.
#[derive(Clone, Copy, Debug, Default)]
struct News {
    delivered: u64,
    newly_acked: u64,
    /// The newest segment that was sent once: its number and when it was sent.
    once: Option<(u64, Instant)>,
    sampler: Sampler,
}

impl Sender {
    /// Handles an acceptable acknowledgement. Returns the change, for the trace.
    pub(super) fn on_ack(
        &mut self,
        ack: &Ack,
        marks: &Feedback,
        ecn: &mut EcnState,
    ) -> Option<(Change, AckEvent)> {
        let now = ack.now;
        let in_flight_before = self.board.in_flight();
        let advanced = ack.position > self.acked;
        let outstanding = !self.board.is_empty();
        let syn = self.acked == 0 && advanced;
        let mut news = self.deliver(ack);
        self.acked = ack.position.max(self.acked);
        self.stream.acknowledge(self.acked);
        let duplicate = !advanced && outstanding && (ack.bare || news.delivered > 0);
        if duplicate && !self.sack && self.board.sack_any() {
            news.delivered += 1;
        }
        self.duplicates = match (advanced, duplicate) {
            (true, _) => 0,
            (false, more) => self.duplicates + u32::from(more),
        };
        self.unanswered = 0;
        let rtt = self.measure(ack, &news, advanced);
        let rate = self.deliveries.finish(now, news.sampler, self.rto.lowest());
        if advanced {
            self.rto.reset_backoff();
            self.restart_timer(now);
        }
        if syn {
            if let Some(rtt) = rtt {
                self.controller.on_connected(rtt);
            }
            return None;
        }
        if let Some(position) = ack.trimmed {
            self.on_trimmed(now, position);
        }
        let lost = self.find_lost(now, advanced);
        let copied = self.judge_probe(ack, advanced);
        let window_unused = self.window_unused(advanced);
        if !advanced && !duplicate && news.delivered == 0 {
            self.respond(now, lost, in_flight_before, ecn);
            return None;
        }
        let mut event = AckEvent {
            rtt,
            rate,
            window_unused,
            newly_marked: ecn.newly_marked(ack.echo, news.delivered, self.payload),
            ..self.event(ack, &news)
        };
        marks.apply(&mut event);
        if matches!(ack.echo, Echo::Count { .. }) {
            // The flag ECE is part of the counter.
            event.ci_echo = event.newly_marked > 0;
        }
        event.echoed_rtt = ack.echoed_rtt;
        self.tell(&event, advanced, lost);
        if copied {
            self.lose_first(now, in_flight_before, ecn);
        }
        self.respond(now, lost, in_flight_before, ecn);
        let open = matches!(self.phase, Phase::Open);
        let marked = ack.echo == Echo::All || event.newly_marked > 0;
        if marked && open && ecn.calls_for_cut(self.acked) {
            let event = self.loss_event(now, Evidence::Mark, in_flight_before);
            self.controller.on_congestion_mark(&event);
            ecn.on_cut(self.next);
        }
        // Segments that arrived early postpone it until the hole is repaired.
        if advanced || self.board.sacked() > 0 {
            self.schedule_probe(now);
        }
        let change = match advanced {
            true => Change::Ack,
            false => Change::DuplicateAck,
        };
        Some((change, event))
    }

    /// The event for the controller, without measurements and marks.
    fn event(&mut self, ack: &Ack, news: &News) -> AckEvent {
        AckEvent {
            now: ack.now,
            acked: self.segments_acked(),
            newly_acked: news.newly_acked,
            duplicates: self.duplicates,
            next: self.next_segment(),
            in_flight: self.board.in_flight() as u64,
            newly_delivered: news.delivered,
            newly_lost: std::mem::take(&mut self.untold_lost),
            ..AckEvent::default()
        }
    }

    /// Handles the segments that have arrived.
    fn deliver(&mut self, ack: &Ack) -> News {
        let mut news = News::default();
        let Sender {
            board,
            rack,
            deliveries,
            rto,
            ..
        } = self;
        let now = ack.now;
        let lowest = rto.lowest();
        let mut arrived = |number: u64, sent: &Sent, echoed: Option<Duration>| {
            news.delivered += u64::from(number > 0);
            // The echo of a timestamp from before the newest transmission.
            let before = echoed.is_some_and(|rtt| rtt > now.since(sent.at) + STAMP_UNIT);
            rack.on_delivered(now, sent, lowest, before);
            news.sampler
                .on_delivered(deliveries, now, sent.at, sent.stamp);
            if sent.transmissions == 1 && news.once.is_none_or(|(newest, _)| number > newest) {
                news.once = Some((number, sent.at));
            }
        };
        if self.sack {
            let copy = ack.blocks.copy(ack.position.max(self.acked));
            for (i, &(left, right)) in ack.blocks.as_slice().iter().enumerate() {
                if !(i == 0 && copy.is_some()) {
                    // While there is a hole, timestamps from before it are echoed (RFC 7323, §4.3).
                    board.sack(left, right, |number, sent| arrived(number, sent, None));
                }
            }
        }
        let mut newly_acked = 0;
        loop {
            let number = board.first();
            let Some(sent) = board.pop_acked(ack.position) else {
                break;
            };
            newly_acked += u64::from(number > 0);
            if sent.fate != Fate::Sacked {
                arrived(number, &sent, ack.echoed_rtt);
            }
        }
        news.newly_acked = newly_acked;
        news
    }

    /// The round-trip time of the newest segment that arrived, if that was sent once. The timer's estimate may also use
    /// a timestamp (RFC 7323, §4.1).
    fn measure(&mut self, ack: &Ack, news: &News, advanced: bool) -> Option<Duration> {
        let rtt = news.once.map(|(_, sent)| ack.now.since(sent));
        let echoed = ack.echoed_rtt.filter(|_| advanced);
        if let Some(sample) = rtt.or(echoed) {
            self.rto.sample(ack.now, sample);
        }
        rtt
    }

    /// Handles a trimmed segment: it is retransmitted before new data, and is not a loss.
    fn on_trimmed(&mut self, now: Instant, position: u64) {
        let Some((number, sent)) = self.board.at(position) else {
            return;
        };
        let rtt = (sent.transmissions == 1).then(|| now.since(sent.at));
        self.board.lose(number);
        self.controller.on_trimmed(&TrimEvent {
            now,
            segment: number - 1,
            rtt,
            in_flight: self.board.in_flight() as u64,
        });
    }

    fn restart_timer(&mut self, now: Instant) {
        self.timers.rto = match self.board.is_empty() {
            true => None,
            false => Some(now + self.rto.timeout()),
        };
        if self.board.is_empty() {
            self.timers.probe = None;
            self.timers.reorder = None;
        }
    }

    /// Marks segments that must be considered lost. Returns their number.
    fn find_lost(&mut self, now: Instant, advanced: bool) -> u64 {
        if self.sack {
            return self.run_rack(now);
        }
        // Without SACK: three duplicates, and in a recovery every partial acknowledgement (RFC 6582).
        let recovering = !matches!(self.phase, Phase::Open);
        if advanced && self.board.sacked() > 0 {
            self.board.unsack_first();
        }
        let late = (recovering && advanced) || (!recovering && self.duplicates == 3);
        let before = self.board.lost();
        if late {
            self.board.lose(self.board.first());
        }
        self.count_lost(self.board.lost().saturating_sub(before) as u64)
    }

    fn run_rack(&mut self, now: Instant) -> u64 {
        let Some((srtt, lowest_rtt)) = self.rto.smoothed().zip(self.rto.lowest()) else {
            return 0;
        };
        let path = Path {
            now,
            srtt,
            lowest_rtt,
            recovering: !matches!(self.phase, Phase::Open),
        };
        let (lost, again) = self.rack.detect(&mut self.board, &path);
        self.timers.reorder = again;
        self.count_lost(lost)
    }

    fn count_lost(&mut self, lost: u64) -> u64 {
        self.deliveries.on_lost(lost);
        self.untold_lost += lost;
        self.losses += lost;
        lost
    }

    /// Handles the expiry of RACK's timer.
    pub(super) fn detect_losses(&mut self, now: Instant, ecn: &mut EcnState) {
        let in_flight_before = self.board.in_flight();
        let lost = self.run_rack(now);
        self.respond(now, lost, in_flight_before, ecn);
    }

    /// Evaluates an acknowledgement for a tail loss probe (RFC 8985, §7.4.2). Returns whether it shows that the probe
    /// repaired a loss.
    fn judge_probe(&mut self, ack: &Ack, advanced: bool) -> bool {
        let copy = ack.blocks.copy(self.acked).filter(|_| self.sack);
        if copy.is_some() {
            self.rack.on_copy(self.acked, self.next);
        }
        let Some(probe) = self.probe.filter(|probe| self.acked >= probe.end) else {
            return false;
        };
        if !probe.again || copy.is_some_and(|(_, right)| right == probe.end) {
            self.probe = None;
            return false;
        }
        if self.acked > probe.end {
            self.probe = None;
            return true;
        }
        if !advanced && ack.blocks.as_slice().is_empty() {
            self.probe = None;
        }
        false
    }

    /// Whether the window is larger than its use requires: in slow start, larger than twice the use (RFC 9438, §5.8).
    fn window_unused(&mut self, advanced: bool) -> bool {
        let cwnd = self.cwnd() as usize;
        let most = self.usage.most;
        if advanced && self.acked >= self.usage.until {
            self.usage.most = self.board.in_flight();
            self.usage.until = self.next;
        }
        let needed = match self.controller.cwnd() < self.controller.ssthresh() {
            true => most * 2,
            false => most,
        };
        needed < cwnd
    }

    /// Notifies the controller, and ends a phase that is over.
    fn tell(&mut self, event: &AckEvent, advanced: bool, lost: u64) {
        let now = event.now;
        match &mut self.phase {
            Phase::Recovery { until, .. } if self.acked >= *until => {
                self.phase = Phase::Open;
                self.rack.on_recovered();
                self.controller.on_recovered(now);
                self.controller.on_ack(event);
            }
            Phase::Recovery { .. } => {
                match advanced {
                    true => self.controller.on_partial_ack(event),
                    false => self.controller.on_duplicate_ack(event),
                }
                let (pipe, target) = (self.board.in_flight() as u64, self.cwnd());
                if let Phase::Recovery { prr, .. } = &mut self.phase {
                    prr.on_ack(event.newly_delivered, pipe, target, advanced && lost == 0);
                }
            }
            Phase::Timeout { until } => {
                if self.acked >= *until {
                    self.phase = Phase::Open;
                }
                self.grow(event, advanced);
            }
            Phase::Open => self.grow(event, advanced),
        }
    }

    fn grow(&mut self, event: &AckEvent, advanced: bool) {
        match advanced {
            true => self.controller.on_ack(event),
            false => self.controller.on_duplicate_ack(event),
        }
    }

    /// A loss detected in the open phase starts a recovery. `in_flight` segments were in flight before.
    fn respond(&mut self, now: Instant, lost: u64, in_flight: usize, ecn: &mut EcnState) {
        match &mut self.phase {
            Phase::Open if lost > 0 => {
                let event = self.loss_event(now, Evidence::Time, in_flight);
                self.controller.on_loss(&event);
                ecn.on_cut(self.next);
                self.phase = Phase::Recovery {
                    until: self.next,
                    prr: Prr::new(in_flight as u64),
                };
                self.timers.probe = None;
                self.probe = None;
            }
            Phase::Recovery { prr, .. } if self.board.in_flight() == 0 => prr.allow_one(),
            _ => {}
        }
    }

    /// Notifies the controller of a loss that a probe repaired.
    fn lose_first(&mut self, now: Instant, in_flight: usize, ecn: &mut EcnState) {
        if !matches!(self.phase, Phase::Open) {
            return;
        }
        self.count_lost(1);
        let event = self.loss_event(now, Evidence::Time, in_flight);
        self.controller.on_loss(&event);
        self.controller.on_recovered(now);
        ecn.on_cut(self.next);
    }

    fn loss_event(&self, now: Instant, evidence: Evidence, in_flight: usize) -> LossEvent {
        let number = self.board.first_lost().unwrap_or(self.board.first());
        let sent = self.board.get(number);
        LossEvent {
            now,
            evidence,
            lost: number.saturating_sub(1),
            sent_at: sent.map(|sent| sent.at).or(Some(now)),
            transmissions: sent.map_or(1, |sent| sent.transmissions),
            duplicates: 0,
            window: in_flight as u64,
        }
    }

    /// Handles the expiry of the retransmission timer (RFC 6298, §5; RFC 8985, §6.3): everything is lost. The
    /// controller is notified only of the first of consecutive timeouts, so the threshold is kept (RFC 5681, §3.1).
    pub(super) fn on_timeout(&mut self, now: Instant, ecn: &mut EcnState) {
        let in_flight = self.board.in_flight();
        let early = |sent: &Sent| sent.fate == Fate::Sacked;
        if self.board.get(self.board.first()).is_some_and(early) || !self.sack {
            // The segment had arrived and is not acknowledged: selective acknowledgements are void.
            self.board.renege();
        }
        self.board.lose_all();
        if self.rto.backoff() == 0 && self.open {
            let window = in_flight as u64;
            self.controller.on_timeout(&TimeoutEvent { now, window });
            ecn.on_cut(self.next);
        }
        self.unanswered += 1;
        if self.open || self.unanswered > self.linear_syns {
            self.rto.back_off();
        }
        self.duplicates = 0;
        self.probe = None;
        self.timers.probe = None;
        self.timers.reorder = None;
        self.phase = Phase::Timeout { until: self.next };
        self.reset_pacer();
        self.timers.rto = Some(now + self.rto.timeout());
    }
}

/// The coarsest unit of timestamps, which is the maximum error of an echo.
const STAMP_UNIT: Duration = Duration::from_millis(1);
