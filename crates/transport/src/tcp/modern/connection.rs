//! A connection: its state, and the interface for the application.

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

/// A connection: `handle_*` in, `poll_*` out, and the streams in between.
#[derive(Debug)]
pub struct Connection {
    pub(super) config: Arc<Config>,
    pub(super) state: State,
    pub(super) ended: Option<Ended>,
    /// The sequence number of our SYN.
    pub(super) start: u32,
    /// Whether the other end's SYN opened it.
    pub(super) passive: bool,
    pub(super) sender: Sender,
    pub(super) receiver: Receiver,
    pub(super) ecn: EcnState,
    /// Whether both ends carry timestamps.
    pub(super) stamps: bool,
    /// Segments to be sent before any other: resets and responses to unacceptable segments.
    pub(super) answers: VecDeque<Segment>,
    pub(super) challenges: Challenges,
    /// When TIME-WAIT ends.
    pub(super) forget_at: Option<Instant>,
    pub(super) stats: Stats,
    traces: VecDeque<Trace>,
}

/// The states of RFC 9293 (§3.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Waits for a SYN.
    Listen,
    /// A SYN was sent.
    SynSent,
    /// A SYN was received and answered.
    SynReceived,
    /// Data can be exchanged.
    Established,
    /// Closed by this end; the FIN is not acknowledged.
    FinWait1,
    /// Closed by this end; the other end may still send.
    FinWait2,
    /// Closed by the other end; this end may still send.
    CloseWait,
    /// Closed by both ends; our FIN is not acknowledged.
    Closing,
    /// Closed by the other end first, then by this end; our FIN is not acknowledged.
    LastAck,
    /// Closed; old segments may still arrive.
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
    /// The other end did not respond.
    #[error("the connection timed out")]
    TimedOut,
    /// This end aborted it.
    #[error("the connection was aborted")]
    Aborted,
}

/// Why nothing can be read or written now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum StreamError {
    /// Not at the moment.
    #[error("the operation would wait")]
    Blocked,
    /// This end has closed its direction.
    #[error("this end has closed the stream")]
    Finished,
    /// The connection has ended.
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
    /// Whether one more response may be sent.
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
    /// Opens a connection. `start` is the sequence number of its SYN, which must be hard to guess.
    pub fn connect(config: Arc<Config>, algorithm: &dyn Factory, start: u32) -> Self {
        let linear_syns = config.linear_syns;
        let mut connection = Connection::new(config, algorithm, start, State::SynSent);
        connection.sender.linear_syns = linear_syns;
        connection
    }

    /// Waits for the SYN of one other end. `start` is as in [`Connection::connect`].
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

    /// Writes as much of `octets` as there is room for. Returns the number of octets, at least one.
    ///
    /// # Errors
    /// There is no room, the stream was closed, or the connection has ended.
    pub fn write(&mut self, octets: &[u8]) -> Result<usize, StreamError> {
        self.check_writable()?;
        match self.sender.stream.write(octets) {
            0 if !octets.is_empty() => Err(StreamError::Blocked),
            count => Ok(count),
        }
    }

    /// Writes `count` zeros, limited by the room. For an elided stream, [`u64::MAX`] means unlimited.
    ///
    /// # Errors
    /// The stream was closed, or the connection has ended.
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

    /// Octets for which [`Connection::write`] has room.
    pub fn writable(&self) -> u64 {
        match self.ended {
            Some(_) => 0,
            None => self.sender.stream.room(),
        }
    }

    /// Reads octets that arrived in order. Returns 0 at the end of the stream.
    ///
    /// # Errors
    /// Nothing has arrived yet, or the connection ended before the stream.
    pub fn read(&mut self, into: &mut [u8]) -> Result<usize, StreamError> {
        match self.receiver.read(into) {
            0 if into.is_empty() || self.receiver.is_finished() => Ok(0),
            0 => Err(self.ended.map_or(StreamError::Blocked, StreamError::Ended)),
            count => Ok(count),
        }
    }

    /// Octets that [`Connection::read`] can return.
    pub fn readable(&self) -> u64 {
        let end = self.receiver.readable_end();
        self.receiver.stream.readable(end)
    }

    /// Whether the other end closed the stream, and everything was read.
    pub fn is_read_finished(&self) -> bool {
        self.receiver.is_finished() && self.readable() == 0
    }

    /// Closes this end's stream. Written data is still sent, even if the connection is still being opened; data can
    /// still be received and read.
    pub fn close(&mut self) {
        if self.sender.stream.is_closed() {
            return;
        }
        self.sender.stream.close();
        self.state = match self.state {
            State::SynReceived | State::Established => State::FinWait1,
            State::CloseWait => State::LastAck,
            State::Listen => return self.end(Ended::Closed),
            // Written data follows when the other end responds.
            state => state,
        };
    }

    /// Ends the connection at once, and sends a reset to the other end.
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

    /// Stops sending new data: unsent data is dropped. Data that was sent is still retransmitted if necessary.
    pub fn stop(&mut self) {
        self.sender.stream.truncate(self.sender.next);
    }

    /// Ends the connection. Only [`Connection::read`] may still return data.
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

    /// How it ended, if it has.
    pub fn ended(&self) -> Option<Ended> {
        self.ended
    }

    /// Whether data can be, or could be, exchanged.
    pub fn is_established(&self) -> bool {
        self.sender.open
    }

    /// Whether everything written was sent and acknowledged, including the end of the stream if it was closed.
    pub fn is_finished(&self) -> bool {
        self.sender.open && self.sender.is_finished()
    }

    /// When [`Connection::handle_timeout`] must be called next.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let earliest = self.sender.timers.earliest();
        earlier(earlier(earliest, self.receiver.timer), self.forget_at)
    }

    /// Handles the timers that have expired. Calls before the time of [`Connection::poll_timeout`] have no effect.
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

    /// Returns the next record of a change. `None` if there are no more, or if [`Config::trace`] is off.
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

    /// How the congestion control classified the losses detected without the timer.
    pub fn verdicts(&self) -> Verdicts {
        self.sender.controller.verdicts()
    }

    /// The number of whole segments that may be in flight, at least one.
    pub fn window(&self) -> u64 {
        self.sender.cwnd()
    }

    /// Number of segments sent that are not lost and not acknowledged, cumulatively or selectively.
    pub fn in_flight(&self) -> u64 {
        self.sender.board.in_flight() as u64
    }

    /// The number of the data segment that starts at `seq`, counted from the connection's first, if all are full. Exact
    /// within 2³¹ octets of the oldest unacknowledged one.
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
