//! The sending side: what may be sent now, and its timers.
//!
//! Positions count the sequence space from the SYN, which has position 0. Windows count segments,
//! except the other end's, which counts octets.

use congestion::{Controller, Factory};
use units::{Duration, Instant};

use super::config::Config;
use super::ecn::EcnState;
use super::pacer::{self, Pacer};
use super::prr::Prr;
use super::rack::Rack;
use super::rate::Deliveries;
use super::rto::Rto;
use super::scoreboard::Scoreboard;
use super::stream::SendStream;

/// The sending state of a connection.
#[derive(Debug)]
pub(super) struct Sender {
    pub(super) stream: SendStream,
    pub(super) board: Scoreboard,
    pub(super) controller: Box<dyn Controller>,
    pub(super) timers: Timers,
    pub(super) rto: Rto,
    pub(super) rack: Rack,
    pub(super) deliveries: Deliveries,
    pub(super) phase: Phase,
    pub(super) probe: Option<Probe>,
    pacer: Pacer,
    paced: bool,
    late_timers: Duration,
    peer_delayed_ack: Duration,
    nagle: bool,
    /// Whether both ends support SACK.
    pub(super) sack: bool,
    /// Whether both ends scale their windows.
    pub(super) window_scaling: bool,
    /// Whether the other end has responded to our SYN, so that data may be sent.
    pub(super) open: bool,
    /// The oldest position that is not acknowledged.
    pub(super) acked: u64,
    /// The next position to be sent for the first time.
    pub(super) next: u64,
    /// Octets of a full segment.
    pub(super) payload: u64,
    pub(super) window: PeerWindow,
    /// Number of consecutive duplicates.
    pub(super) duplicates: u32,
    /// Number of consecutive timeouts and window probes without a response.
    pub(super) unanswered: u32,
    /// Number of timeouts that do not double the next one. Only used while this end opens the
    /// connection.
    pub(super) linear_syns: u32,
    /// Segments detected as lost that the controller has not been notified of.
    pub(super) untold_lost: u64,
    /// Losses detected without the timer.
    pub(super) losses: u64,
    pub(super) usage: Usage,
    /// Whether a tail loss probe is due.
    probe_due: bool,
    /// Whether a window probe is due.
    window_probe_due: bool,
    /// Whether a short segment may be sent, because the window has been too small for the override
    /// timeout.
    pub(super) override_due: bool,
}

/// Timers for actions that are due if no segment arrives before.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Timers {
    /// Retransmission (RFC 6298).
    pub(super) rto: Option<Instant>,
    /// Tail loss probe (RFC 8985, §7).
    pub(super) probe: Option<Instant>,
    /// For a segment that may only be late (RFC 8985, §6.2, step 5).
    pub(super) reorder: Option<Instant>,
    /// Window probe (RFC 9293, §3.8.6.1).
    pub(super) persist: Option<Instant>,
    /// When the pacer allows the next segment.
    pub(super) pacing: Option<Instant>,
}

impl Timers {
    /// The earliest.
    pub(super) fn earliest(&self) -> Option<Instant> {
        let losses = earlier(earlier(self.rto, self.probe), self.reorder);
        earlier(losses, earlier(self.persist, self.pacing))
    }
}

/// The earlier of two timers, each of which may be off.
#[inline]
pub(super) fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// The loss recovery phase.
#[derive(Clone, Copy, Debug)]
pub(super) enum Phase {
    /// No losses are known.
    Open,
    /// After a detected loss, until everything sent before is acknowledged.
    Recovery {
        /// The end of the data sent at that time.
        until: u64,
        /// Limits the data sent in the meantime.
        prr: Prr,
    },
    /// After a timeout, until everything sent before is acknowledged.
    Timeout {
        /// The end of the data sent at that time.
        until: u64,
    },
}

/// A tail loss probe in flight (TLP.end_seq, TLP.is_retrans).
#[derive(Clone, Copy, Debug)]
pub(super) struct Probe {
    pub(super) end: u64,
    pub(super) again: bool,
}

/// The other end's receive window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PeerWindow {
    /// The end of the positions that it accepts.
    pub(super) end: u64,
    /// The largest window ever, in octets.
    pub(super) largest: u64,
    /// SND.WL1 and SND.WL2: the position and the acknowledgement of the segment that last updated
    /// it.
    pub(super) told_by: (u64, u64),
    /// The shift of its field.
    pub(super) scale: u8,
}

/// Whether the window is used: the maximum number of segments in flight in this window of data.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    pub(super) most: usize,
    pub(super) until: u64,
}

/// Something to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Departure {
    /// Positions `start..end`.
    Segment {
        start: u64,
        end: u64,
        /// Whether it was sent before.
        again: bool,
        /// How often it was sent before.
        transmissions: u32,
    },
    /// An empty segment from before the window. The response to it contains the window.
    WindowProbe,
}

/// The minimum wait for a probe's response, which is also the wait without any measurement.
const FIRST_PROBE: Duration = Duration::from_millis(1000);

impl Sender {
    pub(super) fn new(config: &Config, algorithm: &dyn Factory) -> Self {
        Sender {
            stream: SendStream::new(config.send_buffer, config.elided),
            board: Scoreboard::default(),
            controller: algorithm.build(&config.limits()),
            timers: Timers::default(),
            rto: Rto::new(config.rto),
            rack: Rack::default(),
            deliveries: Deliveries::default(),
            phase: Phase::Open,
            probe: None,
            pacer: Pacer::default(),
            paced: config.pacing,
            late_timers: config.late_timers,
            peer_delayed_ack: config.peer_delayed_ack,
            nagle: config.nagle,
            sack: false,
            window_scaling: false,
            open: false,
            acked: 0,
            next: 0,
            payload: u64::from(config.payload(u16::MAX, false)),
            window: PeerWindow::default(),
            duplicates: 0,
            unanswered: 0,
            linear_syns: 0,
            untold_lost: 0,
            losses: 0,
            usage: Usage::default(),
            probe_due: false,
            window_probe_due: false,
            override_due: false,
        }
    }

    /// The number of whole segments that may be in flight, at least one.
    pub(super) fn cwnd(&self) -> u64 {
        (self.controller.cwnd() as u64).max(1)
    }

    /// The number of the oldest unacknowledged data segment. The SYN does not count.
    pub(super) fn segments_acked(&self) -> u64 {
        self.board.first().saturating_sub(1)
    }

    /// The number of the next data segment to be sent for the first time.
    pub(super) fn next_segment(&self) -> u64 {
        self.board.next().saturating_sub(1)
    }

    /// The next thing to send, if it may be sent now.
    pub(super) fn poll(&mut self, now: Instant) -> Option<Departure> {
        if std::mem::take(&mut self.window_probe_due) {
            return Some(Departure::WindowProbe);
        }
        let departure = if std::mem::take(&mut self.probe_due) {
            self.poll_probe()
        } else if self.has_quota() {
            match self.poll_resend().or_else(|| self.poll_new()) {
                Some(_) if self.pacing_holds(now) => None,
                departure => departure,
            }
        } else {
            None
        };
        match departure {
            Some(departure) => self.record(now, departure),
            None => self.settle(now),
        }
        departure
    }

    /// Whether congestion control allows one more segment.
    fn has_quota(&self) -> bool {
        let in_flight = self.board.in_flight() as u64;
        match &self.phase {
            // A control that paces determines its rate in recovery itself.
            Phase::Recovery { prr, .. } if self.controller.pacing_rate().is_none() => prr.allows(),
            _ => in_flight < self.cwnd(),
        }
    }

    fn pacing_holds(&mut self, now: Instant) -> bool {
        self.timers.pacing = match self.paced || self.controller.pacing_rate().is_some() {
            true => self.pacer.wait(now),
            false => None,
        };
        self.timers.pacing.is_some()
    }

    fn poll_resend(&self) -> Option<Departure> {
        let sent = self.board.get(self.board.first_lost()?)?;
        Some(Departure::Segment {
            start: sent.start,
            end: sent.end,
            again: true,
            transmissions: sent.transmissions,
        })
    }

    /// New data, or the FIN, if the other end's window and silly window avoidance (RFC 9293,
    /// §3.8.6.2.1) permit it.
    fn poll_new(&self) -> Option<Departure> {
        let fresh = |end| Departure::Segment {
            start: self.next,
            end,
            again: false,
            transmissions: 0,
        };
        if self.next == 0 {
            return Some(fresh(1));
        }
        if !self.open || self.next >= self.stream.limit() {
            return None;
        }
        let waiting = self.stream.end().saturating_sub(self.next);
        let window = self.window.end.saturating_sub(self.next);
        let octets = waiting.min(window).min(self.payload);
        let last = octets == waiting;
        // The FIN also takes room in the window.
        let fin = last && self.stream.is_closed() && octets < window;
        if octets == 0 && !fin {
            return None;
        }
        let idle = self.board.is_empty();
        let worthwhile = octets == self.payload
            || (last && (fin || idle || !self.nagle))
            || (idle && octets * 2 >= self.window.largest)
            || self.override_due;
        worthwhile.then(|| fresh(self.next + octets + u64::from(fin)))
    }

    /// A tail loss probe: new data if there is some, otherwise the newest segment again (RFC 8985,
    /// §7.3).
    fn poll_probe(&mut self) -> Option<Departure> {
        let departure = self.poll_new().or_else(|| {
            let (_, sent) = self.board.last()?;
            Some(Departure::Segment {
                start: sent.start,
                end: sent.end,
                again: true,
                transmissions: sent.transmissions,
            })
        })?;
        if let Departure::Segment { end, again, .. } = departure {
            let end = if again { self.next } else { end };
            self.probe = Some(Probe { end, again });
        }
        Some(departure)
    }

    /// Records a departure.
    fn record(&mut self, now: Instant, departure: Departure) {
        let Departure::Segment {
            start, end, again, ..
        } = departure
        else {
            return;
        };
        self.override_due = false;
        let stamp = self.deliveries.stamp(now, self.board.in_flight());
        let number = match again {
            // A retransmission is the first lost segment, or the newest one as a probe.
            true => match self.board.first_lost() {
                Some(number) if self.board.get(number).is_some_and(|s| s.start == start) => number,
                _ => self.board.next() - 1,
            },
            false => {
                self.board.push(start, end, now, stamp);
                self.next = end;
                self.board.next() - 1
            }
        };
        if again {
            self.board.resend(number, now, stamp);
        }
        if self.sack {
            self.rack.on_sent(number, end, now);
        }
        self.usage.most = self.usage.most.max(self.board.in_flight());
        if let Phase::Recovery { prr, .. } = &mut self.phase {
            prr.on_sent();
        }
        if number > 0 {
            self.controller.on_sent(now, number - 1);
            if let Some(rate) = self.pacing_rate() {
                let slack = pacer::slack(self.late_timers, self.rto.smoothed());
                self.pacer.on_sent(now, rate, slack);
            }
        }
        // The timer restarts when the oldest segment is sent (RFC 6675, §6).
        if self.timers.rto.is_none() || (again && number == self.board.first()) {
            self.timers.rto = Some(now + self.rto.timeout());
        }
        self.timers.persist = None;
        if !again {
            self.schedule_probe(now);
        }
    }

    fn pacing_rate(&self) -> Option<f64> {
        let spread = || {
            let srtt = self.rto.smoothed().filter(|_| self.paced)?;
            let cwnd = self.controller.cwnd().max(1.0);
            Some(pacer::rate(cwnd, self.controller.ssthresh(), srtt))
        };
        self.controller.pacing_rate().or_else(spread)
    }

    /// Called when nothing more can be sent now: sets the timers that wake the connection.
    fn settle(&mut self, now: Instant) {
        let unsent = self.open && self.next < self.stream.limit();
        let room = (self.board.in_flight() as u64) < self.cwnd();
        if self.open && !unsent && room && self.board.lost() == 0 {
            self.deliveries.on_app_limited(self.board.in_flight());
        }
        let held = unsent && self.board.is_empty() && self.timers.pacing.is_none();
        if !held {
            self.timers.persist = None;
        } else if self.timers.persist.is_none() {
            self.timers.persist = Some(now + self.rto.timeout());
        }
    }

    /// (Re)arms the tail loss probe (RFC 8985, §7.2).
    pub(super) fn schedule_probe(&mut self, now: Instant) {
        let regular = self.board.sacked() + self.board.lost() == 0;
        let due = self.sack
            && self.open
            && regular
            && self.probe.is_none()
            && !self.board.is_empty()
            && matches!(self.phase, Phase::Open);
        self.timers.probe = due.then(|| {
            let wait = match self.rto.smoothed() {
                None => FIRST_PROBE,
                Some(srtt) if self.board.in_flight() == 1 => srtt * 2 + self.peer_delayed_ack,
                Some(srtt) => srtt * 2,
            };
            let at = now + wait;
            self.timers.rto.map_or(at, |rto| at.min(rto))
        });
    }

    /// Marks what is due now. Returns whether the retransmission timer expired.
    pub(super) fn handle_timers(&mut self, now: Instant, ecn: &mut EcnState) -> bool {
        let due = |timer: &mut Option<Instant>| timer.take_if(|at| *at <= now).is_some();
        due(&mut self.timers.pacing);
        if due(&mut self.timers.reorder) {
            self.detect_losses(now, ecn);
        }
        // Before a timeout that is due at the same time, because the probe postpones it.
        if due(&mut self.timers.probe) {
            self.probe_due = true;
            self.timers.rto = Some(now + self.rto.timeout());
        }
        if due(&mut self.timers.rto) {
            self.on_timeout(now, ecn);
            return true;
        }
        if due(&mut self.timers.persist) {
            self.unanswered += 1;
            self.rto.back_off();
            match self.window.end > self.next {
                true => self.override_due = true,
                false => self.window_probe_due = true,
            }
            self.timers.persist = Some(now + self.rto.timeout());
        }
        false
    }

    /// Resets the pacer.
    pub(super) fn reset_pacer(&mut self) {
        self.pacer = Pacer::default();
        self.timers.pacing = None;
    }

    /// Whether everything written was sent and acknowledged, including the FIN if there is one.
    pub(super) fn is_finished(&self) -> bool {
        self.acked >= self.stream.limit()
    }
}
