//! Timers: which one expires next, and the reaction.

use super::{Association, State};
use crate::sctp::path::PathState;
use units::Instant;

impl Association {
    /// When [`Association::handle_timeout`] must be called next.
    pub fn poll_timeout(&self) -> Option<Instant> {
        if self.state == State::Closed {
            return None;
        }
        let paths = self
            .paths
            .iter()
            .flat_map(|path| [path.t3, path.heartbeat.due, path.heartbeat.lost]);
        let turn = self.turn.map(|(due, _)| due);
        let own = [self.setup.t1, self.t2, self.inbound.timeout(), turn];
        own.into_iter().chain(paths).flatten().min()
    }

    /// Handles the timers that have expired. Calls before the time of [`Association::poll_timeout`]
    /// have no effect.
    pub fn handle_timeout(&mut self, now: Instant) {
        if self.state == State::Closed {
            return;
        }
        let due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        self.inbound.handle_timeout(now);
        if due(self.setup.t1) {
            self.setup.t1 = None;
            self.handle_t1(now);
        }
        if due(self.t2) {
            self.handle_t2(now);
        }
        for index in 0..self.paths.len() {
            if due(self.paths[index].t3) {
                self.handle_t3(now, index);
                return; // what it sends again leaves before another path's
            }
            if due(self.paths[index].heartbeat.lost) {
                self.handle_heartbeat_lost(now, index);
            }
            if due(self.paths[index].heartbeat.due) {
                self.send_heartbeat(now, index);
            }
        }
        if let Some((_, since)) = self.turn.filter(|(due, _)| *due <= now) {
            self.handle_turn(now, since);
        }
    }

    /// Handles the expiry of T3-rtx of a path (§6.3.3).
    fn handle_t3(&mut self, now: Instant, index: usize) {
        let path = &mut self.paths[index];
        self.outbound.handle_timeout(index, path);
        path.rto.back_off(); // E2
        self.stats.timeouts += 1;
        self.count_error(now, index);
        let path = &mut self.paths[index];
        if self.config.quirks.heartbeats_take_turns && path.state == PathState::Inactive {
            path.heartbeat.due = Some(now);
        }
    }
}
