//! One connection: its state, and what the application does with it.

use std::collections::VecDeque;
use std::sync::Arc;

use congestion::{AckEvent, Factory, Snapshot, Verdicts};
use thiserror::Error;
use units::Instant;

use super::config::Config;
use super::ecn::EcnState;
use super::receiver::Receiver;
use super::sender::{Phase, Sender, earlier};
use crate::tcp::connection::Stats;
use crate::tcp::segment::Segment;
use crate::tcp::trace::{Change, Trace};

/// A connection: `handle_*` in, `poll_*` out, and the stream between.
#[derive(Debug)]
pub struct Connection {
    pub(super) config: Arc<Config>,
    pub(super) state: State,
    pub(super) ended: Option<Ended>,
    /// The sequence number of our SYN.
    pub(super) start: u32,
    /// It was opened by the other end's SYN.
    pub(super) passive: bool,
    pub(super) sender: Sender,
    pub(super) receiver: Receiver,
    pub(super) ecn: EcnState,
    /// Both ends carry timestamps.
    pub(super) stamps: bool,
    /// Segments to be sent before any other: resets and what answers nonsense.
    pub(super) answers: VecDeque<Segment>,
    pub(super) challenges: Challenges,
    /// When TIME-WAIT is over.
    pub(super) forget_at: Option<Instant>,
    pub(super) stats: Stats,
    traces: VecDeque<Trace>,
}

/// The states of RFC 9293 (§3.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Waits for a SYN.
    Listen,
    /// Has sent one.
    SynSent,
    /// Has answered one.
    SynReceived,
    /// Data flows.
    Established,
    /// Closed here; the FIN is not acknowledged.
    FinWait1,
    /// Closed here; the other end may still send.
    FinWait2,
    /// Closed there; this end may still send.
    CloseWait,
    /// Closed at both ends, our FIN not acknowledged.
    Closing,
    /// Closed there first, then here; our FIN not acknowledged.
    LastAck,
    /// Closed; old segments may still come.
    TimeWait,
    /// Over.
    Closed,
}

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Ended {
    /// Both ends closed it.
    #[error("the connection is closed")]
    Closed,
    /// The other end reset it.
    #[error("the connection was reset by the other end")]
    Reset,
    /// The other end reset the attempt to open it.
    #[error("the connection was refused")]
    Refused,
    /// Nothing came back.
    #[error("the connection timed out")]
    TimedOut,
    /// This end aborted it.
    #[error("the connection was aborted")]
    Aborted,
}

/// Why nothing can be read or written now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum StreamError {
    /// Not now; later.
    #[error("the operation would wait")]
    Blocked,
    /// This end has closed its direction.
    #[error("this end has closed the stream")]
    Finished,
    /// There is no connection any more.
    #[error(transparent)]
    Ended(#[from] Ended),
}

/// Answers to segments that do not fit. They are limited, so that two ends do not answer each other for ever, and
/// a flood is not answered (RFC 5961, §7).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Challenges {
    since: Instant,
    sent: u32,
}

impl Challenges {
    /// Whether one more may be sent.
    pub(super) fn allow(&mut self, now: Instant) -> bool {
        const PERIOD_NS: u64 = 1_000_000_000;
        const MOST: u32 = 100;
        if now.since(self.since).as_nanos() >= PERIOD_NS {
            *self = Challenges {
                since: now,
                sent: 0,
            };
        }
        self.sent += 1;
        self.sent <= MOST
    }
}

impl Connection {
    /// Opens a connection; `start` is the sequence number of its SYN, which nobody should be able to
    /// guess.
    pub fn connect(config: Arc<Config>, algorithm: &dyn Factory, start: u32) -> Self {
        let linear_syns = config.linear_syns;
        let mut connection = Connection::new(config, algorithm, start, State::SynSent);
        connection.sender.linear_syns = linear_syns;
        connection
    }

    /// Waits for the SYN of one other end; `start` is as in [`Connection::connect`].
    pub fn listen(config: Arc<Config>, algorithm: &dyn Factory, start: u32) -> Self {
        Connection::new(config, algorithm, start, State::Listen)
    }

    fn new(config: Arc<Config>, algorithm: &dyn Factory, start: u32, state: State) -> Self {
        Connection {
            state,
            ended: None,
            start,
            passive: state == State::Listen,
            sender: Sender::new(&config, algorithm),
            receiver: Receiver::new(&config),
            ecn: EcnState::new(config.ecn, config.ecn_option),
            stamps: false,
            answers: VecDeque::new(),
            challenges: Challenges::default(),
            forget_at: None,
            stats: Stats::default(),
            traces: VecDeque::new(),
            config,
        }
    }

    /// Takes as much of `octets` as there is room for; how many, at least one.
    ///
    /// # Errors
    /// There is no room, the stream was closed, or the connection is over.
    pub fn write(&mut self, octets: &[u8]) -> Result<usize, StreamError> {
        self.check_writable()?;
        match self.sender.stream.write(octets) {
            0 if !octets.is_empty() => Err(StreamError::Blocked),
            count => Ok(count),
        }
    }

    /// Takes `count` zeros, as far as there is room; [`u64::MAX`]: without end, where the stream is
    /// elided.
    ///
    /// # Errors
    /// The stream was closed, or the connection is over.
    pub fn write_zeros(&mut self, count: u64) -> Result<(), StreamError> {
        self.check_writable()?;
        self.sender.stream.write_zeros(count);
        Ok(())
    }

    fn check_writable(&self) -> Result<(), StreamError> {
        if let Some(ended) = self.ended {
            return Err(ended.into());
        }
        match self.sender.stream.is_closed() {
            true => Err(StreamError::Finished),
            false => Ok(()),
        }
    }

    /// Octets that [`Connection::write`] has room for.
    pub fn writable(&self) -> u64 {
        match self.ended {
            Some(_) => 0,
            None => self.sender.stream.room(),
        }
    }

    /// Reads what arrived in order; 0 octets: the other end wrote no more.
    ///
    /// # Errors
    /// Nothing has arrived yet, or the connection is over before the stream is.
    pub fn read(&mut self, into: &mut [u8]) -> Result<usize, StreamError> {
        match self.receiver.read(into) {
            0 if into.is_empty() || self.receiver.is_finished() => Ok(0),
            0 => Err(self.ended.map_or(StreamError::Blocked, StreamError::Ended)),
            count => Ok(count),
        }
    }

    /// Octets that [`Connection::read`] has.
    pub fn readable(&self) -> u64 {
        let end = self.receiver.readable_end();
        self.receiver.stream.readable(end)
    }

    /// The other end wrote no more, and all was read.
    pub fn is_read_finished(&self) -> bool {
        self.receiver.is_finished() && self.readable() == 0
    }

    /// This end writes no more; what was written is still sent, even if the connection is only being
    /// opened; what comes can still be read.
    pub fn close(&mut self) {
        if self.sender.stream.is_closed() {
            return;
        }
        self.sender.stream.close();
        self.state = match self.state {
            State::SynReceived | State::Established => State::FinWait1,
            State::CloseWait => State::LastAck,
            State::Listen => return self.end(Ended::Closed),
            // What was written follows once the other end answers.
            state => state,
        };
    }

    /// Ends the connection at once, and tells the other end by a reset.
    pub fn abort(&mut self) {
        if self.ended.is_some() {
            return;
        }
        if !matches!(self.state, State::Listen | State::SynSent | State::TimeWait) {
            let reset = self.reset_segment();
            self.answers.push_back(reset);
        }
        self.end(Ended::Aborted);
    }

    /// Nothing new is sent: what was written and not sent is dropped. What was sent is still
    /// repaired.
    pub fn stop(&mut self) {
        self.sender.stream.truncate(self.sender.next);
    }

    /// The connection is over; only [`Connection::read`] may still have something.
    pub(super) fn end(&mut self, how: Ended) {
        self.state = State::Closed;
        self.ended.get_or_insert(how);
        self.sender.timers = Default::default();
        self.receiver.timer = None;
        self.receiver.due = false;
        self.forget_at = None;
    }

    /// Its state.
    pub fn state(&self) -> State {
        self.state
    }

    /// How it ended, once it has.
    pub fn ended(&self) -> Option<Ended> {
        self.ended
    }

    /// Data may flow, or could have.
    pub fn is_established(&self) -> bool {
        self.sender.open
    }

    /// Everything written was sent and acknowledged, the end of the stream too if it was closed.
    pub fn is_finished(&self) -> bool {
        self.sender.open && self.sender.is_finished()
    }

    /// When [`Connection::handle_timeout`] wants to be called next.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let earliest = self.sender.timers.earliest();
        earlier(earlier(earliest, self.receiver.timer), self.forget_at)
    }

    /// Time has come to what [`Connection::poll_timeout`] said; earlier calls do nothing.
    pub fn handle_timeout(&mut self, now: Instant) {
        if self.forget_at.is_some_and(|at| at <= now) {
            self.end(Ended::Closed);
            return;
        }
        self.receiver.handle_timer(now);
        let in_recovery = !matches!(self.sender.phase, Phase::Open);
        if self.sender.handle_timers(now, &mut self.ecn) {
            self.stats.timeouts += 1;
            self.record(now, Change::Timeout, None);
        } else if !in_recovery && !matches!(self.sender.phase, Phase::Open) {
            self.record(now, Change::Loss, None);
        }
        let most = match self.sender.open {
            true => self.config.max_retries,
            false => self
                .config
                .syn_retries
                .saturating_add(self.sender.linear_syns),
        };
        if self.sender.unanswered > most {
            if self.state != State::SynSent {
                let reset = self.reset_segment();
                self.answers.push_back(reset);
            }
            self.end(Ended::TimedOut);
        }
    }

    /// The next record of what changed; `None` when read up, or if [`Config::trace`] is off.
    pub fn poll_trace(&mut self) -> Option<Trace> {
        self.traces.pop_front()
    }

    pub(super) fn record(&mut self, now: Instant, change: Change, event: Option<&AckEvent>) {
        if !self.config.trace {
            return;
        }
        self.traces.push_back(Trace {
            now,
            change,
            acked: self.sender.segments_acked(),
            next: self.sender.next_segment(),
            in_flight: self.sender.board.in_flight() as u64,
            rtt: event.and_then(|event| event.rtt),
            aqt_echo: event.and_then(|event| event.aqt_echo),
            aqt_backward: event.and_then(|event| event.aqt_backward),
            mrai: event.and_then(|event| event.mrai),
            ci_echo: event.is_some_and(|event| event.ci_echo),
            verdicts: self.sender.controller.verdicts(),
            controller: self.sender.controller.snapshot(),
        });
    }

    /// Counters.
    pub fn stats(&self) -> Stats {
        Stats {
            acked: self.sender.segments_acked(),
            losses: self.sender.losses,
            received: self.receiver.received,
            delivered_octets: self.receiver.delivered(),
            ..self.stats
        }
    }

    /// The congestion control's state.
    pub fn snapshot(&self) -> Snapshot {
        self.sender.controller.snapshot()
    }

    /// How the congestion control judged the losses found without the timer.
    pub fn verdicts(&self) -> Verdicts {
        self.sender.controller.verdicts()
    }

    /// Whole segments that may be in flight; never none.
    pub fn window(&self) -> u64 {
        self.sender.cwnd()
    }

    /// Segments sent and neither acknowledged, selectively or not, nor lost.
    pub fn in_flight(&self) -> u64 {
        self.sender.board.in_flight() as u64
    }

    /// The number of the data segment that starts at `seq`, counted from the connection's first, where
    /// all are full; exact within 2³¹ octets of the oldest unacknowledged.
    pub fn segment_number(&self, seq: u32) -> u64 {
        let ahead = seq.wrapping_sub(self.sequence(self.sender.acked)) as i32;
        let position = self.sender.acked.saturating_add_signed(i64::from(ahead));
        position.saturating_sub(1) / self.sender.payload
    }

    /// Payload octets of a full segment.
    pub fn payload(&self) -> u32 {
        self.sender.payload as u32
    }

    /// Octets of the stream buffers in memory.
    pub fn buffered(&self) -> usize {
        self.sender.stream.heap() + self.receiver.stream.heap()
    }
}
