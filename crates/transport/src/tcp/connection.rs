//! One TCP connection, both directions.

use std::collections::VecDeque;

use congestion::{AckEvent, Factory, Snapshot, Verdicts};
use units::Instant;

use super::config::{Config, HEADER_OCTETS, SACK_BLOCK_OCTETS};
use super::feedback::{Feedback, echo_aqt, echo_avbw};
use super::flight::Flight;
use super::options::Options;
use super::receiver::Receiver;
use super::recovery::{self, LossRecovery};
use super::segment::{Aqt, Avbw, Ecn, Flags, Segment, Timestamps};
use super::trace::{Change, Trace};

/// A connection: `handle_*` in, `poll_*` out.
#[derive(Debug)]
pub struct Connection {
    config: Config,
    payload: u32,
    flight: Flight,
    recovery: Box<dyn LossRecovery>,
    receiver: Receiver,
    /// Acknowledgements to be sent.
    acks: VecDeque<Segment>,
    traces: VecDeque<Trace>,
    stats: Stats,
}

/// Counters of a connection since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Data segments sent, including retransmissions.
    pub sent: u64,
    /// Retransmissions among them.
    pub resent: u64,
    /// Data segments acknowledged.
    pub acked: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Losses detected without the timer.
    pub losses: u64,
    /// Data segments that the other end reported as marked (the modern profile).
    pub reported_marks: u64,
    /// Data segments that arrived, including duplicates.
    pub received: u64,
    /// Payload octets that arrived in order.
    pub delivered_octets: u64,
    /// Acknowledgements sent.
    pub acks_sent: u64,
}

impl Connection {
    /// Creates an established connection with the congestion control of `algorithm`.
    pub fn new(config: &Config, algorithm: &dyn Factory) -> Self {
        Connection {
            config: config.clone(),
            payload: config.payload(),
            flight: Flight::new(config, algorithm),
            recovery: recovery::build(config),
            receiver: Receiver::new(config),
            acks: VecDeque::new(),
            traces: VecDeque::new(),
            stats: Stats::default(),
        }
    }

    /// Sets the time of a clock that counts seconds in floating point, like that of the papers' simulator, for all
    /// following calls. Congestion controls compute round-trip times as differences of these times, and some of them
    /// react to the rounding.
    pub fn read_clock(&mut self, now_s: f64) {
        if self.config.floating_rtt {
            self.flight.read_clock(now_s);
        }
    }

    /// Handles a segment that has arrived.
    pub fn handle_segment(&mut self, now: Instant, segment: &Segment) {
        if segment.flags.contains(Flags::ACK) {
            self.handle_ack(now, segment);
        }
        if segment.payload > 0 || segment.flags.contains(Flags::SYN) {
            self.receiver.accept(segment);
            self.acks.push_back(self.acknowledgement(now, segment));
        }
    }

    fn handle_ack(&mut self, now: Instant, segment: &Segment) {
        let octets = segment.ack.wrapping_sub(self.place(self.flight.acked)) as i32;
        let segments = u64::try_from(octets).unwrap_or(0) / u64::from(self.payload);
        let acked = self.flight.acked + segments;
        let is_duplicate = octets == 0 && segment.payload == 0;
        // An older acknowledgement, or one of a part of a segment, or one that data repeats is ignored.
        if !is_duplicate && (segments == 0 || acked > self.flight.highest) {
            return;
        }
        let marks = self.feedback(now, segment);
        if is_duplicate {
            let event = self
                .recovery
                .on_duplicate_ack(&mut self.flight, now, &marks);
            self.record(now, Change::DuplicateAck, Some(&event));
            return;
        }
        let event = self
            .recovery
            .on_new_ack(&mut self.flight, now, acked, &marks);
        self.record(now, Change::Ack, Some(&event));
    }

    /// The marks of an acknowledgement, with its SACK blocks in whole segments.
    fn feedback(&self, now: Instant, segment: &Segment) -> Feedback {
        let mut marks = Feedback::decode(segment, self.config.clock.reads(now), &self.config.marks);
        for &(left, right) in segment.sack.as_slice() {
            let left = self.segment_number(left.wrapping_add(self.payload - 1));
            let right = self.segment_number(right).min(self.flight.highest);
            marks.add_block(left.max(self.flight.acked), right);
        }
        marks
    }

    /// Returns the next segment to send, if the window, the supply and loss recovery allow one now.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Segment> {
        if let Some(ack) = self.acks.pop_front() {
            self.stats.acks_sent += 1;
            return Some(ack);
        }
        let number = self.recovery.poll_segment(&mut self.flight)?;
        let again = self.flight.record_sent(now, number);
        self.stats.sent += 1;
        self.stats.resent += u64::from(again);
        self.record(now, if again { Change::Resent } else { Change::Sent }, None);
        if number == 0 && self.config.opens_with_syn() {
            return Some(self.syn(now));
        }
        Some(self.data(now, number))
    }

    /// When [`Connection::handle_timeout`] must be called next.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.flight.timer
    }

    /// Handles the timers that have expired. Calls before the time of [`Connection::poll_timeout`] have no effect.
    pub fn handle_timeout(&mut self, now: Instant) {
        if self.flight.timer.is_none_or(|at| now < at) {
            return;
        }
        if self.flight.is_finished() {
            self.flight.timer = None;
            return;
        }
        self.recovery.on_timeout(&mut self.flight, now);
        self.stats.timeouts += 1;
        self.record(now, Change::Timeout, None);
    }

    /// Returns the next record of a change. `None` if there are no more, or if [`Config::trace`] is off.
    pub fn poll_trace(&mut self) -> Option<Trace> {
        self.traces.pop_front()
    }

    /// Stops sending new data. Data that was sent is still retransmitted if necessary.
    pub fn stop(&mut self) {
        self.flight.stop();
    }

    /// Whether all supplied data was sent and acknowledged.
    pub fn is_finished(&self) -> bool {
        self.flight.is_finished()
    }

    /// Counters.
    pub fn stats(&self) -> Stats {
        Stats {
            acked: self.flight.acked,
            losses: self.flight.losses,
            received: self.receiver.received,
            delivered_octets: self.receiver.delivered(),
            ..self.stats
        }
    }

    /// The congestion control's state.
    pub fn snapshot(&self) -> Snapshot {
        self.flight.controller.snapshot()
    }

    /// How the congestion control classified the losses detected without the timer.
    pub fn verdicts(&self) -> Verdicts {
        self.flight.controller.verdicts()
    }

    /// Number of segments sent and not acknowledged.
    pub fn in_flight(&self) -> u64 {
        self.flight.in_flight()
    }

    /// The number of the data segment that starts at `seq`, counted from the connection's first. Exact for segments
    /// within 2³¹ octets of the oldest unacknowledged one.
    pub fn segment_number(&self, seq: u32) -> u64 {
        let ahead = i64::from(seq.wrapping_sub(self.place(self.flight.acked)) as i32);
        self.flight
            .acked
            .saturating_add_signed(ahead / i64::from(self.payload))
    }

    /// The sequence number of a segment's first octet.
    fn sequence(&self, segment: u64) -> u32 {
        match segment {
            0 => self.config.local_start,
            _ => self.place(segment),
        }
    }

    /// Like [`Self::sequence`]. For a SYN, the start of a full segment in its place.
    fn place(&self, segment: u64) -> u32 {
        let missing = match self.config.opens_with_syn() {
            true => self.payload - 1,
            false => 0,
        };
        self.config
            .local_start
            .wrapping_sub(missing)
            .wrapping_add((segment as u32).wrapping_mul(self.payload))
    }

    fn syn(&self, now: Instant) -> Segment {
        Segment {
            seq: self.config.local_start,
            flags: Flags::SYN,
            timestamps: self.stamps(now),
            link_octets: HEADER_OCTETS,
            ..self.header()
        }
    }

    /// The timestamps of segments that carry no acknowledgement.
    fn stamps(&self, now: Instant) -> Option<Timestamps> {
        self.config.timestamps.then(|| Timestamps {
            value: self.config.clock.reads(now),
            echo: 0,
        })
    }

    fn data(&self, now: Instant, number: u64) -> Segment {
        Segment {
            seq: self.sequence(number),
            payload: self.payload,
            timestamps: self.stamps(now),
            aqt: self.config.aqt.then(Aqt::default),
            avbw: self.config.avbw.then_some(Avbw::UNWRITTEN),
            options: self.config.marks.blank(),
            ecn: if self.config.ci {
                Ecn::Ect0
            } else {
                Ecn::NotCapable
            },
            link_octets: self.config.sizes.data_octets,
            ..self.header()
        }
    }

    /// In this profile every segment is acknowledged immediately, so its marks are returned at once.
    fn acknowledgement(&self, now: Instant, data: &Segment) -> Segment {
        let sack = self.receiver.sack();
        let blocks = SACK_BLOCK_OCTETS * sack.as_slice().len() as u32;
        let mut flags = Flags::ACK;
        if self.config.ci && data.ecn == Ecn::Experienced {
            flags |= Flags::ECE;
        }
        let mut ack = Segment {
            flags,
            sack,
            timestamps: data.timestamps.map(|stamps| Timestamps {
                value: self.config.clock.reads(now),
                echo: self.receiver.recent_stamp.unwrap_or(stamps.value),
            }),
            seq: self.sequence(self.flight.next),
            aqt: echo_aqt(data.aqt),
            avbw: echo_avbw(data.avbw),
            options: match data.options.is_empty() {
                true => Options::default(),
                false => self.config.marks.echo(&data.options),
            },
            ..self.header()
        };
        ack.link_octets = self.config.sizes.ack_octets + ack.feedback_octets() + blocks;
        ack
    }

    /// The window field saturates: in this profile windows are configured, not advertised.
    fn header(&self) -> Segment {
        let window = u64::from(self.config.window) * u64::from(self.payload);
        Segment {
            ack: self.receiver.ack_number(),
            flags: Flags::ACK,
            window: u16::try_from(window).unwrap_or(u16::MAX),
            ..Segment::default()
        }
    }

    fn record(&mut self, now: Instant, change: Change, event: Option<&AckEvent>) {
        if !self.config.trace {
            return;
        }
        self.traces.push_back(Trace {
            now,
            change,
            acked: self.flight.acked,
            next: self.flight.next,
            in_flight: self.flight.in_flight(),
            rtt: event.and_then(|event| event.rtt),
            aqt_echo: event.and_then(|event| event.aqt_echo),
            aqt_backward: event.and_then(|event| event.aqt_backward),
            mrai: event.and_then(|event| event.mrai),
            ci_echo: event.is_some_and(|event| event.ci_echo),
            verdicts: self.flight.controller.verdicts(),
            controller: self.flight.controller.snapshot(),
        });
    }
}
