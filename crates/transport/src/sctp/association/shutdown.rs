//! Graceful shutdown of an association (RFC 9260, §9.2).

use super::control::Control;
use super::{Association, Reason, State};
use crate::sctp::{Route, Tsn};
use units::Instant;

impl Association {
    /// Closes the association once everything written is acknowledged.
    pub fn shutdown(&mut self, now: Instant) {
        match self.state {
            State::Established => {
                self.state = State::ShutdownPending;
                self.advance_shutdown(now);
            }
            State::Listening | State::CookieWait | State::CookieEchoed => {
                self.close(Reason::Aborted);
            }
            _ => {}
        }
    }

    /// Continues a shutdown that waits for data to be acknowledged.
    pub(super) fn advance_shutdown(&mut self, now: Instant) {
        if !self.outbound.is_empty() {
            return;
        }
        match self.state {
            State::ShutdownPending => {
                self.state = State::ShutdownSent;
                self.send_shutdown(now);
            }
            State::ShutdownReceived => {
                self.state = State::ShutdownAckSent;
                self.send_shutdown(now);
            }
            _ => {}
        }
    }

    /// Sends SHUTDOWN or SHUTDOWN ACK and starts T2-shutdown.
    pub(super) fn send_shutdown(&mut self, now: Instant) {
        let control = match self.state {
            State::ShutdownSent => Control::Shutdown,
            _ => Control::ShutdownAck,
        };
        let path = &self.paths[self.current];
        self.t2 = Some(now + path.rto.value());
        self.queue(path.route, control);
    }

    /// Handles the expiry of T2-shutdown.
    pub(super) fn handle_t2(&mut self, now: Instant) {
        self.t2 = None;
        self.paths[self.current].rto.back_off();
        self.count_error(now, self.current);
        if self.state != State::Closed {
            self.send_shutdown(now);
        }
    }

    pub(super) fn handle_shutdown(&mut self, now: Instant, cumulative: Tsn) {
        match self.state {
            State::Established | State::ShutdownPending | State::ShutdownReceived => {
                self.acknowledge(now, cumulative, None, None);
                self.state = State::ShutdownReceived;
                self.advance_shutdown(now);
            }
            State::ShutdownSent | State::ShutdownAckSent => {
                self.state = State::ShutdownAckSent;
                self.send_shutdown(now);
            }
            _ => {}
        }
    }

    pub(super) fn handle_shutdown_ack(&mut self, route: Route) {
        let peer = self.peer();
        match self.state {
            State::ShutdownSent | State::ShutdownAckSent => {
                self.control.clear();
                let complete = Control::ShutdownComplete {
                    peer,
                    reflected: false,
                };
                self.queue(route, complete);
                self.close(Reason::Shutdown);
            }
            _ => {}
        }
    }

    pub(super) fn handle_shutdown_complete(&mut self) {
        if self.state == State::ShutdownAckSent {
            self.close(Reason::Shutdown);
        }
    }
}
