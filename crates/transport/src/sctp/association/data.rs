//! Data in both directions, and SACKs.

use super::control::{INVALID_STREAM, PROTOCOL_VIOLATION};
use super::{Association, State};
use crate::sctp::inbound::Fault;
use crate::sctp::packet::{Data, HEADER_OCTETS, Sack, TIMESTAMP_OCTETS, sack_octets};
use crate::sctp::path::PathState;
use crate::sctp::{Route, Tsn};
use units::{Duration, Instant};

impl Association {
    /// Whether DATA is accepted in this state (§6).
    pub(super) fn takes_data(&self) -> bool {
        matches!(
            self.state,
            State::Established | State::ShutdownPending | State::ShutdownSent
        )
    }

    pub(super) fn handle_data(&mut self, now: Instant, route: Route, data: &Data<'_>) {
        if !self.takes_data() {
            return;
        }
        match self.inbound.handle(data) {
            Ok(()) => {}
            Err(Fault::NoStream) => {
                let [high, low] = data.stream.to_be_bytes();
                self.report(route, INVALID_STREAM, &[high, low, 0, 0]);
            }
            Err(Fault::Misfit) => {
                self.report(route, PROTOCOL_VIOLATION, &[]);
                self.violated();
            }
        }
        if self.state == State::ShutdownSent {
            self.send_shutdown(now); // §9.2: with every packet of data
        }
    }

    pub(super) fn handle_sack(&mut self, now: Instant, route: Route, sack: &Sack<'_>) {
        let open = matches!(
            self.state,
            State::Established | State::ShutdownPending | State::ShutdownReceived
        );
        if open {
            let rtt = self.echoed_rtt(now, route);
            self.acknowledge(now, sack.cumulative, Some(sack), rtt);
        }
    }

    /// Handles an acknowledgement of the peer.
    pub(super) fn acknowledge(
        &mut self,
        now: Instant,
        cumulative: Tsn,
        sack: Option<&Sack<'_>>,
        rtt: Option<(usize, Duration)>,
    ) {
        let before: Vec<PathState> = self.paths.iter().map(|path| path.state).collect();
        let paths = &mut self.paths;
        let Some(acknowledged) = self.outbound.handle_sack(now, cumulative, sack, rtt, paths)
        else {
            return;
        };
        self.rtt = acknowledged.rtt.or(self.rtt);
        // A peer with a closed window responds even if it accepts nothing (§6.1 A).
        if acknowledged.news || sack.is_some_and(|sack| sack.window == 0) {
            self.errors = 0;
        }
        self.note_states(before);
        self.choose_current();
        if sack.is_some() {
            self.switch_on_congestion(now, rtt);
        }
    }

    /// The RTT of the path of the current packet, from the packet's Timestamp chunk.
    fn echoed_rtt(&mut self, now: Instant, route: Route) -> Option<(usize, Duration)> {
        let echoed = self.stamps.echoed.filter(|_| self.config.timestamps)?;
        let path = self.path_of(route)?;
        let us = Self::stamp(now).wrapping_sub(echoed);
        // A time more than half the clock's range ago is not in the past.
        (us < 1 << 31).then(|| (path, Duration::from_micros(u64::from(us).max(1))))
    }

    pub(super) fn transmit_sack(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Route> {
        let route = self.inbound.sack_route().filter(|_| self.takes_data())?;
        let fixed = HEADER_OCTETS + TIMESTAMP_OCTETS + sack_octets(0, 0);
        let room = (self.packet_room() - fixed) / 4;
        let duplicates = self.inbound.duplicates.len().min(room / 2);
        let window = self.inbound.take_sack(&mut self.gaps, room - duplicates);
        let mut packet = self.writer(out);
        if self.config.timestamps {
            packet.timestamp(Self::stamp(now), self.stamps.to_echo.unwrap_or(0));
        }
        let inbound = &self.inbound;
        packet.sack(
            inbound.cumulative,
            window,
            &self.gaps,
            &inbound.duplicates[..duplicates],
        );
        packet.finish();
        self.stamps.to_echo = None;
        self.inbound.duplicates.clear();
        self.stats.sacks_sent += 1;
        Some(route)
    }

    pub(super) fn transmit_data(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Route> {
        let open = matches!(
            self.state,
            State::Established | State::ShutdownPending | State::ShutdownReceived
        );
        if !open || self.awaits_paths() {
            return None;
        }
        for path in &mut self.paths {
            path.decay(now);
        }
        let to = self.outbound.next_path(&self.paths, self.current)?;
        let room = self.packet_room();
        let mut packet = self.writer(out);
        if self.config.timestamps {
            packet.timestamp(Self::stamp(now), 0);
        }
        let paths = &mut self.paths;
        let new = self.outbound.fill(now, to, room, paths, &mut packet);
        packet.finish();
        self.stats.data_packets += 1;
        // A path without RTT measurements counts as idle (§8.3), because a heartbeat must reduce an RTO that was backed
        // off.
        if new || self.config.timestamps {
            self.postpone_heartbeat(now, to);
        }
        Some(self.paths[to].route)
    }
}
