//! Association set-up: INIT, INIT ACK, COOKIE ECHO, COOKIE ACK (RFC 9260, §5).

use super::control::{self, Control, InitAck, MISSING_PARAMETER, Peer, STALE_COOKIE};
use super::{Association, Event, Reason, Setup, State};
use crate::sctp::cookie::{Cookie, Refusal, Terms};
use crate::sctp::inbound::Inbound;
use crate::sctp::outbound::Outbound;
use crate::sctp::packet::{Init, Packet, Parameter};
use crate::sctp::path::{Path, PathState};
use crate::sctp::{Route, Tsn};
use std::net::Ipv4Addr;
use units::{Duration, Instant};

impl Association {
    /// Sends the first INIT.
    pub(super) fn begin(&mut self, now: Instant, remote: Ipv4Addr, port: u16) {
        let parts = [now.as_nanos(), u64::from(remote.to_bits())];
        self.local_tag = self.secret.draw_tag("tag", &parts);
        self.local_tsn = Tsn(self.secret.draw_tag("tsn", &parts));
        self.peer_port = port;
        self.outbound = Outbound::new(&self.config, self.local_tsn);
        self.setup = Setup {
            rto: self.config.rto_initial,
            route: Some(Route {
                local: self.config.addresses[0],
                remote,
            }),
            ..Setup::default()
        };
        self.state = State::CookieWait;
        self.send_setup(now);
    }

    /// Sends INIT again because the cookie was too old.
    pub(super) fn begin_again(&mut self, now: Instant) {
        self.state = State::CookieWait;
        self.setup.cookie.clear();
        self.handle_t1(now);
    }

    /// Sends INIT or COOKIE ECHO.
    fn send_setup(&mut self, now: Instant) {
        let Some(route) = self.setup.route else {
            return;
        };
        let control = match self.state {
            State::CookieWait => Control::Init,
            _ => Control::CookieEcho,
        };
        self.queue(route, control);
        self.setup.sent = Some(now);
        self.setup.t1 = Some(now + self.setup.rto);
    }

    /// Handles the expiry of T1-init or T1-cookie.
    pub(super) fn handle_t1(&mut self, now: Instant) {
        self.setup.tries += 1;
        if self.setup.tries > self.config.max_init_retransmits {
            self.close(Reason::Unreachable);
            return;
        }
        self.setup.rto = (self.setup.rto * 2).min(self.config.rto_max);
        self.send_setup(now);
        // A chunk that is sent twice yields no RTT measurement.
        self.setup.sent = None;
    }

    pub(super) fn handle_init(&mut self, now: Instant, route: Route, port: u16, init: &Init<'_>) {
        let peer = Peer {
            port,
            tag: init.tag,
        };
        if init.tag == 0 {
            return; // §3.3.2: nobody to answer
        }
        if init.outbound == 0 || init.inbound == 0 {
            self.refuse(route, peer, Some(control::INVALID_PARAMETER));
            return;
        }
        if self.state == State::ShutdownAckSent {
            self.queue(route, Control::ShutdownAck); // §9.2
            return;
        }
        let own = match self.state {
            // §5.2.1: both ends have started.
            State::CookieWait | State::CookieEchoed => (self.local_tag, self.local_tsn),
            // No state is kept: the same INIT yields the same tag.
            _ => {
                let parts = [
                    u64::from(init.tag),
                    u64::from(init.initial_tsn.0),
                    u64::from(route.remote.to_bits()),
                    u64::from(port),
                    u64::from(self.local_tag),
                ];
                let tag = self.secret.draw_tag("tag", &parts);
                (tag, Tsn(self.secret.draw_tag("tsn", &parts)))
            }
        };
        let streams = (self.config.outbound_streams, self.config.inbound_streams);
        let cookie = Cookie {
            made: now,
            terms: Terms::new(init, own, streams, port, route),
            tie_tags: match self.state {
                State::Listening => (0, 0),
                _ => (self.local_tag, self.peer_tag),
            },
        };
        let ack = InitAck {
            peer,
            tag: own.0,
            tsn: own.1,
            cookie: cookie.seal(&self.secret),
            unrecognized: unrecognized(init),
        };
        self.queue(route, Control::InitAck(Box::new(ack)));
    }

    pub(super) fn handle_init_ack(&mut self, now: Instant, route: Route, init: &Init<'_>) {
        if self.state != State::CookieWait {
            return; // §5.2.3
        }
        let peer = Peer {
            port: self.peer_port,
            tag: init.tag,
        };
        let cookie = init.parameters.cookie();
        let wrong = init.tag == 0 || init.outbound == 0 || init.inbound == 0;
        let Some(cookie) = cookie.filter(|_| !wrong) else {
            let cause = match wrong {
                true => control::INVALID_PARAMETER,
                false => MISSING_PARAMETER,
            };
            self.refuse(route, peer, Some(cause));
            self.close(Reason::Violation);
            return;
        };
        let streams = (self.config.outbound_streams, self.config.inbound_streams);
        let own = (self.local_tag, self.local_tsn);
        let terms = Terms::new(init, own, streams, self.peer_port, route);
        self.setup.cookie = cookie.to_vec();
        self.adopt(&terms);
        let rtt = self.setup.sent.map(|sent| now.since(sent));
        self.confirm(route, rtt);
        self.state = State::CookieEchoed;
        self.setup.tries = 0;
        self.setup.rto = self.paths[self.primary].rto.value();
        self.setup.route = Some(route);
        self.send_setup(now);
    }

    /// Handles a COOKIE ECHO. Returns whether to process the rest of the packet.
    pub(super) fn handle_cookie_echo(
        &mut self,
        now: Instant,
        route: Route,
        packet: &Packet<'_>,
        cookie: &[u8],
    ) -> bool {
        let cookie = match Cookie::open(cookie, &self.secret, now, self.config.cookie_life) {
            Ok(cookie) => cookie,
            Err(Refusal::Forged) => {
                self.stats.discarded += 1;
                return false;
            }
            Err(Refusal::Stale(by)) => {
                if self.state == State::Listening {
                    // The only response to a peer that belongs to no association.
                    self.peer_port = packet.source_port;
                }
                let measure = (by.as_micros() as u32).to_be_bytes();
                self.report(route, STALE_COOKIE, &measure);
                return false;
            }
        };
        let terms = &cookie.terms;
        if packet.tag != terms.local_tag || packet.source_port != terms.port {
            self.stats.discarded += 1;
            return false;
        }
        let same = (
            terms.local_tag == self.local_tag,
            terms.peer_tag == self.peer_tag,
        );
        match (self.state, same) {
            (State::Listening, _) => self.establish(now, route, terms),
            // §5.2.4 D: COOKIE ACK was lost, or both ends started.
            (State::CookieWait, (true, _)) => self.establish(now, route, terms),
            (State::CookieEchoed, (true, _)) => {
                match same.1 {
                    true => self.open(now, route),
                    false => self.establish(now, route, terms), // B
                }
            }
            (_, (true, true)) => {}
            // A: the peer has restarted.
            (_, (false, false)) if cookie.tie_tags == (self.local_tag, self.peer_tag) => {
                if self.state == State::ShutdownAckSent {
                    self.queue(route, Control::ShutdownAck);
                    return false;
                }
                self.control.clear();
                self.outbound = Outbound::new(&self.config, terms.local_tsn);
                self.establish(now, route, terms);
                self.events.push_back(Event::Restarted);
            }
            // C, and all other cases.
            _ => return false,
        }
        self.queue(route, Control::CookieAck);
        true
    }

    pub(super) fn handle_cookie_ack(&mut self, now: Instant) {
        if self.state != State::CookieEchoed {
            return;
        }
        let Some(route) = self.setup.route else {
            return;
        };
        let rtt = self.setup.sent.map(|sent| now.since(sent));
        self.confirm(route, rtt);
        self.open(now, route);
    }

    /// Stores the negotiated terms, and opens the association.
    fn establish(&mut self, now: Instant, route: Route, terms: &Terms) {
        self.adopt(terms);
        self.open(now, route);
    }

    fn open(&mut self, now: Instant, route: Route) {
        self.state = State::Established;
        self.setup = Setup::default();
        self.confirm(route, None);
        self.begin_heartbeats(now);
        self.events.push_back(Event::Established);
    }

    /// Stores the negotiated terms. Messages written before are kept.
    fn adopt(&mut self, terms: &Terms) {
        self.local_tag = terms.local_tag;
        self.peer_tag = terms.peer_tag;
        self.peer_port = terms.port;
        self.outbound.begin_at(terms.local_tsn);
        self.local_tsn = terms.local_tsn;
        self.outbound.open(terms.window, terms.outbound);
        self.inbound = Inbound::new(&self.config, terms.peer_tsn, terms.inbound);
        let own = &self.config.addresses;
        let route = |(index, &remote): (usize, &Ipv4Addr)| Route {
            local: own[index % own.len()],
            remote,
        };
        let routes = terms.addresses.iter().enumerate().map(route);
        self.paths = routes
            .enumerate()
            .map(|(index, route)| Path::new(&self.config, index, route))
            .collect();
        self.primary = self.path_of(terms.route).unwrap_or(0);
        self.current = self.primary;
        self.errors = 0;
        self.spc.on_switch();
    }

    /// Records that something was received over a path.
    fn confirm(&mut self, route: Route, rtt: Option<Duration>) {
        let Some(index) = self.path_of(route) else {
            return;
        };
        let path = &mut self.paths[index];
        path.state = PathState::Active;
        if let Some(rtt) = rtt.filter(|_| !self.config.quirks.data_waits_for_paths) {
            path.rto.measure(rtt);
        }
    }
}

/// The parameters of an INIT that must be reported: at most one, §3.2.1.
fn unrecognized(init: &Init<'_>) -> Vec<u8> {
    let reported = init
        .parameters
        .iter()
        .find_map(|parameter| match parameter {
            Parameter::Unknown { kind, octets } if kind & 0x4000 != 0 => Some(octets),
            _ => None,
        });
    reported.unwrap_or_default().to_vec()
}
