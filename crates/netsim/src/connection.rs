//! A connection in either of the two profiles.

use congestion::Verdicts;
use transport::tcp::{self, Segment, Stats, Trace, modern};
use units::Instant;

/// One end of a TCP flow.
#[derive(Debug)]
pub(crate) enum Connection {
    /// As in the papers' simulator.
    Ns2(Box<tcp::Connection>),
    /// As in today's hosts.
    Modern(Box<modern::Connection>),
}

impl Connection {
    /// Sets the connection's clock, in floating-point seconds. Connections of today's hosts have
    /// none.
    pub fn read_clock(&mut self, now_s: f64) {
        if let Connection::Ns2(connection) = self {
            connection.read_clock(now_s);
        }
    }

    /// Handles a segment that has arrived.
    pub fn handle_segment(&mut self, now: Instant, segment: &Segment) {
        match self {
            Connection::Ns2(connection) => connection.handle_segment(now, segment),
            Connection::Modern(connection) => {
                connection.handle_segment(now, segment, &[]);
                // The receiver has nothing to send after the other end has finished.
                if connection.is_read_finished() {
                    connection.close();
                }
            }
        }
    }

    /// Returns the next segment to send.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Segment> {
        match self {
            Connection::Ns2(connection) => connection.poll_transmit(now),
            Connection::Modern(connection) => connection.poll_transmit(now),
        }
    }

    /// When [`Self::handle_timeout`] must be called next.
    pub fn poll_timeout(&self) -> Option<Instant> {
        match self {
            Connection::Ns2(connection) => connection.poll_timeout(),
            Connection::Modern(connection) => connection.poll_timeout(),
        }
    }

    /// Handles the expiry of a timer.
    pub fn handle_timeout(&mut self, now: Instant) {
        match self {
            Connection::Ns2(connection) => connection.handle_timeout(now),
            Connection::Modern(connection) => connection.handle_timeout(now),
        }
    }

    /// Returns the next record of a state change.
    pub fn poll_trace(&mut self) -> Option<Trace> {
        match self {
            Connection::Ns2(connection) => connection.poll_trace(),
            Connection::Modern(connection) => connection.poll_trace(),
        }
    }

    /// Stops the application's sending.
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

    /// Whether all data to send is acknowledged.
    pub fn is_finished(&self) -> bool {
        match self {
            Connection::Ns2(connection) => connection.is_finished(),
            Connection::Modern(connection) => connection.is_finished(),
        }
    }

    /// Whether it no longer answers any packet.
    pub fn is_closed(&self) -> bool {
        match self {
            Connection::Ns2(_) => false,
            Connection::Modern(connection) => connection.state() == modern::State::Closed,
        }
    }

    /// Whether nothing will happen unless a segment arrives, except that it forgets the other end.
    pub fn is_quiet(&self) -> bool {
        match self {
            Connection::Modern(connection) if connection.state() == modern::State::TimeWait => true,
            _ => self.poll_timeout().is_none(),
        }
    }

    /// How its congestion control classified losses.
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
