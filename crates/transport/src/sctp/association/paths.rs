//! The paths of an association: heartbeats, failure and recovery, the primary path (RFC 9260, §5.4, §8).

use super::control::Control;
use super::{Association, Event, Reason, State};
use crate::sctp::Route;
use crate::sctp::outbound::alternate;
use crate::sctp::path::PathState;
use congestion::sctp::resumed_window;
use std::net::Ipv4Addr;
use units::{Duration, Instant};

/// The content of a heartbeat: parameter header, path, time, nonce.
const INFORMATION_OCTETS: usize = 24;

/// The status of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathStatus {
    /// Its addresses.
    pub route: Route,
    /// Its state.
    pub state: PathState,
    /// Congestion window in octets.
    pub cwnd: u32,
    /// Slow-start threshold in octets.
    pub ssthresh: u32,
    /// Octets outstanding.
    pub outstanding: u32,
    /// Retransmission timeout.
    pub rto: Duration,
    /// Smoothed RTT, if measured.
    pub srtt: Option<Duration>,
    /// Number of consecutive errors.
    pub errors: u32,
}

impl Association {
    /// The paths, in the order of the peer's addresses.
    pub fn paths(&self) -> impl Iterator<Item = PathStatus> + '_ {
        self.paths.iter().map(|path| PathStatus {
            route: path.route,
            state: path.state,
            cwnd: path.window.octets(),
            ssthresh: path.window.ssthresh(),
            outstanding: path.outstanding,
            rto: path.rto.value(),
            srtt: path.rto.srtt(),
            errors: path.errors,
        })
    }

    /// The primary path.
    pub fn primary(&self) -> usize {
        self.primary
    }

    /// Makes path `index` the primary one. Returns `false`, without any change, if there is no such path.
    pub fn set_primary(&mut self, index: usize) -> bool {
        if index >= self.paths.len() {
            return false;
        }
        if index != self.primary {
            self.primary = index;
            self.spc.on_switch();
            self.current = index;
            self.events.push_back(Event::Switched(index));
        }
        self.choose_current();
        true
    }

    /// Switch path on congestion (Dahal 2007, §6.1.2).
    pub(super) fn switch_on_congestion(&mut self, now: Instant, rtt: Option<(usize, Duration)>) {
        if !self.config.spc {
            return;
        }
        let primary = self.primary;
        let sample = rtt.filter(|(of, _)| *of == primary).map(|(_, rtt)| rtt);
        if !self.spc.on_sack(sample, self.config.threshold(primary)) {
            return;
        }
        let next = alternate(&self.paths, primary);
        if next == primary || self.paths[next].state != PathState::Active {
            return;
        }
        let how_old = self.spc.on_switch();
        let max_data = self.config.max_data();
        let path = &mut self.paths[next];
        path.decay(now);
        let octets = resumed_window(path.window.octets(), how_old, max_data);
        path.window.resume(octets);
        self.primary = next;
        self.current = next;
        self.stats.switches += 1;
        self.events.push_back(Event::Switched(next));
    }

    /// Selects the path for new data: the primary path, or the next active one while that is inactive.
    pub(super) fn choose_current(&mut self) {
        let chosen = match self.paths[self.primary].state {
            PathState::Active => self.primary,
            _ if self.paths[self.current].state == PathState::Active => self.current,
            _ => alternate(&self.paths, self.current),
        };
        if chosen != self.current {
            self.current = chosen;
            self.events.push_back(Event::Switched(chosen));
        }
    }

    /// The path between two addresses, or otherwise the path to the peer's address.
    pub(super) fn path_of(&self, route: Route) -> Option<usize> {
        let exact = self.paths.iter().position(|path| path.route == route);
        exact.or_else(|| self.path_to(route.remote))
    }

    fn path_to(&self, remote: Ipv4Addr) -> Option<usize> {
        let to = |path: &super::Path| path.route.remote == remote;
        self.paths.iter().position(to)
    }

    /// Called when the association is open: probes every path on which nothing was received at once (§5.4).
    pub(super) fn begin_heartbeats(&mut self, now: Instant) {
        for index in 0..self.paths.len() {
            if self.config.quirks.data_waits_for_paths {
                self.paths[index].state = PathState::Unconfirmed;
            }
            match self.paths[index].state {
                PathState::Unconfirmed => self.paths[index].heartbeat.due = Some(now),
                _ => self.postpone_heartbeat(now, index),
            }
        }
        self.begin_turns(now);
    }

    /// With a shared timer: all paths count as idle from now on.
    fn begin_turns(&mut self, now: Instant) {
        if !self.config.quirks.heartbeats_take_turns {
            return;
        }
        for path in &mut self.paths {
            path.heartbeat.last = now;
        }
        self.begin_turn(now, self.primary);
    }

    /// Whether data must wait for a path to be confirmed.
    pub(super) fn awaits_paths(&self) -> bool {
        let unconfirmed = |path: &super::Path| path.state == PathState::Unconfirmed;
        self.config.quirks.data_waits_for_paths && self.paths.iter().any(unconfirmed)
    }

    /// Handles the expiry of the shared timer: probes the path that has been idle longest.
    pub(super) fn handle_turn(&mut self, now: Instant, since: Instant) {
        let last = |index: &usize| self.paths[*index].heartbeat.last;
        let Some(index) = (0..self.paths.len()).min_by_key(last) else {
            return;
        };
        if self.paths[index].heartbeat.last <= since {
            self.send_heartbeat(now, index);
        }
        self.begin_turn(now, index);
    }

    fn begin_turn(&mut self, now: Instant, index: usize) {
        let due = self.heartbeat_due(now, index);
        self.turn = due.map(|due| (due, now));
    }

    /// Postpones the heartbeat of a path, because something was sent that may measure its RTT, or was received.
    pub(super) fn postpone_heartbeat(&mut self, now: Instant, index: usize) {
        self.paths[index].heartbeat.last = now;
        if !self.config.quirks.heartbeats_take_turns {
            self.paths[index].heartbeat.due = self.heartbeat_due(now, index);
        }
    }

    /// When the next heartbeat is due: RTO + HB.interval from now, with a jitter of half the RTO (§8.3).
    fn heartbeat_due(&self, now: Instant, index: usize) -> Option<Instant> {
        // 16 bits of one random number are enough: data postpones heartbeats with every packet.
        let path = &self.paths[index];
        let jitter = (path.heartbeat.nonce & 0xFFFF) as f64 / f64::from(0xFFFF) + 0.5;
        let interval = self.config.heartbeat?;
        Some(now + interval + path.rto.value().mul_f64(jitter))
    }

    /// Sends a heartbeat on a path that has been idle for long, or is not confirmed.
    pub(super) fn send_heartbeat(&mut self, now: Instant, index: usize) {
        let nonce = self.draw("heartbeat");
        let path = &mut self.paths[index];
        path.heartbeat.nonce = nonce;
        path.heartbeat.lost = Some(now + path.rto.value());
        path.heartbeat.due = None;
        path.heartbeat.last = now;
        let route = path.route;
        self.queue(route, Control::Heartbeat(index));
    }

    /// Handles a heartbeat that was not answered within the path's RTO.
    pub(super) fn handle_heartbeat_lost(&mut self, now: Instant, index: usize) {
        let path = &mut self.paths[index];
        path.heartbeat.lost = None;
        // §5.4: once per RTO.
        let at_once =
            path.state == PathState::Unconfirmed || self.config.quirks.heartbeats_take_turns;
        path.rto.back_off();
        self.count_error(now, index);
        if self.state == State::Closed {
            return;
        }
        match at_once {
            true => self.paths[index].heartbeat.due = Some(now),
            false => self.postpone_heartbeat(now, index),
        }
    }

    pub(super) fn handle_heartbeat(&mut self, route: Route, information: &[u8]) {
        let open = !matches!(self.state, State::CookieWait | State::CookieEchoed);
        if open {
            let information = information.to_vec();
            self.queue(route, Control::HeartbeatAck(information));
        }
    }

    pub(super) fn handle_heartbeat_ack(&mut self, now: Instant, information: &[u8]) {
        let Ok(information) = <&[u8; INFORMATION_OCTETS]>::try_from(information) else {
            return;
        };
        let word = |at: usize| {
            let octets = information[at..at + 8].try_into();
            u64::from_be_bytes(octets.expect("eight octets"))
        };
        let index = (word(0) & 0xFFFF_FFFF) as usize;
        let (sent, nonce) = (Instant::from_nanos(word(8)), word(16));
        let Some(path) = self.paths.get_mut(index) else {
            return;
        };
        if path.heartbeat.lost.is_none() || nonce != path.heartbeat.nonce || sent > now {
            return;
        }
        path.heartbeat.lost = None;
        path.rto.measure(now.since(sent));
        path.errors = 0;
        self.errors = 0;
        let before = path.state;
        path.state = PathState::Active;
        if before != PathState::Active {
            self.events.push_back(Event::PathUp(index));
        }
        self.choose_current();
        if !self.config.quirks.heartbeats_take_turns {
            self.postpone_heartbeat(now, index);
        } else if before == PathState::Unconfirmed && !self.awaits_paths() {
            self.begin_turns(now);
        }
    }

    /// Counts an error of a path and of the association (§8.1, §8.2).
    pub(super) fn count_error(&mut self, now: Instant, index: usize) {
        let hopeless = self.paths.iter().all(is_inactive);
        let path = &mut self.paths[index];
        path.errors = path.errors.saturating_add(1);
        match path.state {
            PathState::Active => {
                self.errors += 1;
                if path.errors > self.config.path_max_retrans {
                    path.state = PathState::Inactive;
                    path.heartbeat.due = Some(now);
                    self.events.push_back(Event::PathDown(index));
                    self.choose_current();
                }
            }
            // If no path is active, there is nothing else to count.
            PathState::Inactive if hopeless => self.errors += 1,
            _ => {}
        }
        if self.errors > self.config.association_max_retrans {
            self.close(Reason::Unreachable);
        }
    }
}

fn is_inactive(path: &super::Path) -> bool {
    path.state != PathState::Active
}
