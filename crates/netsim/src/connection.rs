//! A connection in either profile.

use congestion::Verdicts;
use transport::tcp::{self, Segment, Stats, Trace, modern};
use units::Instant;

/// One end of a TCP flow.
#[derive(Debug)]
pub(crate) enum Connection {
    /// As the papers' simulator has it.
    Ns2(Box<tcp::Connection>),
    /// As hosts of today have it.
    Modern(Box<modern::Connection>),
}

impl Connection {
    /// What a clock in floating-point seconds shows; hosts of today have none.
    pub fn read_clock(&mut self, now_s: f64) {
        if let Connection::Ns2(connection) = self {
            connection.read_clock(now_s);
        }
    }

    /// A segment arrived.
    pub fn handle_segment(&mut self, now: Instant, segment: &Segment) {
        match self {
            Connection::Ns2(connection) => connection.handle_segment(now, segment),
            Connection::Modern(connection) => {
                connection.handle_segment(now, segment, &[]);
                // Who receives has nothing to say when the other end is through.
                if connection.is_read_finished() {
                    connection.close();
                }
            }
        }
    }

    /// The next segment to send.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Segment> {
        match self {
            Connection::Ns2(connection) => connection.poll_transmit(now),
            Connection::Modern(connection) => connection.poll_transmit(now),
        }
    }

    /// When it wants to be woken.
    pub fn poll_timeout(&self) -> Option<Instant> {
        match self {
            Connection::Ns2(connection) => connection.poll_timeout(),
            Connection::Modern(connection) => connection.poll_timeout(),
        }
    }

    /// That time has come.
    pub fn handle_timeout(&mut self, now: Instant) {
        match self {
            Connection::Ns2(connection) => connection.handle_timeout(now),
            Connection::Modern(connection) => connection.handle_timeout(now),
        }
    }

    /// The next record of what changed.
    pub fn poll_trace(&mut self) -> Option<Trace> {
        match self {
            Connection::Ns2(connection) => connection.poll_trace(),
            Connection::Modern(connection) => connection.poll_trace(),
        }
    }

    /// The application stops sending.
    pub fn stop(&mut self) {
        match self {
            Connection::Ns2(connection) => connection.stop(),
            Connection::Modern(connection) => connection.stop(),
        }
    }

    /// Counters.
    pub fn stats(&self) -> Stats {
        match self {
            Connection::Ns2(connection) => connection.stats(),
            Connection::Modern(connection) => connection.stats(),
        }
    }

    /// Everything that there was to send is acknowledged.
    pub fn is_finished(&self) -> bool {
        match self {
            Connection::Ns2(connection) => connection.is_finished(),
            Connection::Modern(connection) => connection.is_finished(),
        }
    }

    /// It answers nothing any more, whatever comes.
    pub fn is_closed(&self) -> bool {
        match self {
            Connection::Ns2(_) => false,
            Connection::Modern(connection) => connection.state() == modern::State::Closed,
        }
    }

    /// Nothing happens to it unless a segment comes, but that it forgets the other end.
    pub fn is_quiet(&self) -> bool {
        match self {
            Connection::Modern(connection) if connection.state() == modern::State::TimeWait => true,
            _ => self.poll_timeout().is_none(),
        }
    }

    /// How its control judged losses.
    pub fn verdicts(&self) -> Verdicts {
        match self {
            Connection::Ns2(connection) => connection.verdicts(),
            Connection::Modern(connection) => connection.verdicts(),
        }
    }

    /// The number of the data segment that starts at `seq`.
    pub fn segment_number(&self, seq: u32) -> u64 {
        match self {
            Connection::Ns2(connection) => connection.segment_number(seq),
            Connection::Modern(connection) => connection.segment_number(seq),
        }
    }
}
