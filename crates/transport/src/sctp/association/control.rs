//! Outgoing control chunks, and packets that belong to no association.

use super::{Association, Reason, State};
use crate::sctp::Route;
use crate::sctp::Tsn;
use crate::sctp::packet::{Causes, Chunk, Packet, Writer, kind};
use std::net::Ipv4Addr;
use units::Instant;

/// The most control chunks that wait. A peer that provokes more receives no response to them.
const MAX_QUEUED: usize = 32;

/// Error causes (RFC 9260, §3.3.10).
pub(super) const INVALID_STREAM: u16 = 1;
pub(super) const MISSING_PARAMETER: u16 = 2;
pub(super) const STALE_COOKIE: u16 = 3;
pub(super) const UNRECOGNIZED_CHUNK: u16 = 6;
pub(super) const INVALID_PARAMETER: u16 = 7;
pub(super) const USER_ABORT: u16 = 12;
pub(super) const PROTOCOL_VIOLATION: u16 = 13;

/// A control chunk to send.
#[derive(Clone, Debug)]
pub(super) enum Control {
    Init,
    InitAck(Box<InitAck>),
    CookieEcho,
    CookieAck,
    /// On this path.
    Heartbeat(usize),
    HeartbeatAck(Vec<u8>),
    Shutdown,
    ShutdownAck,
    /// With a peer's tag. The T bit states that the tag is the peer's own.
    ShutdownComplete {
        peer: Peer,
        reflected: bool,
    },
    Abort {
        peer: Peer,
        reflected: bool,
        cause: Option<u16>,
    },
    Error {
        cause: u16,
        value: Vec<u8>,
    },
}

/// Port and tag of the receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peer {
    pub port: u16,
    pub tag: u32,
}

/// An INIT ACK.
#[derive(Clone, Debug)]
pub(super) struct InitAck {
    pub peer: Peer,
    pub tag: u32,
    pub tsn: Tsn,
    pub cookie: Vec<u8>,
    pub unrecognized: Vec<u8>,
}

impl Association {
    pub(super) fn queue(&mut self, route: Route, control: Control) {
        if self.control.len() < MAX_QUEUED {
            self.control.push_back((route, control));
        }
    }

    /// Reports an error to the peer.
    pub(super) fn report(&mut self, route: Route, cause: u16, value: &[u8]) {
        let value = value[..value.len().min(256)].to_vec();
        self.queue(route, Control::Error { cause, value });
    }

    /// Ends the association, and notifies the peer.
    pub fn abort(&mut self) {
        self.abort_with(USER_ABORT, Reason::Aborted);
    }

    /// Ends the association because the peer violated the protocol.
    pub(super) fn violated(&mut self) {
        self.abort_with(PROTOCOL_VIOLATION, Reason::Violation);
    }

    fn abort_with(&mut self, cause: u16, reason: Reason) {
        if let Some(path) = self.paths.get(self.current) {
            let (route, peer) = (path.route, self.peer());
            self.control.clear();
            self.queue(
                route,
                Control::Abort {
                    peer,
                    reflected: false,
                    cause: Some(cause),
                },
            );
        }
        self.close(reason);
    }

    pub(super) fn peer(&self) -> Peer {
        Peer {
            port: self.peer_port,
            tag: self.peer_tag,
        }
    }

    /// Whether a chunk's packet has the required verification tag (§8.5).
    pub(super) fn accepts(&self, packet: &Packet<'_>, index: usize, chunk: &Chunk<'_>) -> bool {
        let own = packet.tag == self.local_tag && self.local_tag != 0;
        match chunk {
            Chunk::Init(_) => packet.tag == 0 && index == 0 && self.state != State::Closed,
            Chunk::Abort { reflected, .. } | Chunk::ShutdownComplete { reflected } => {
                let reflects = packet.tag == self.peer_tag && self.peer_tag != 0;
                match reflected {
                    true => reflects,
                    false => own,
                }
            }
            // The cookie itself contains the tag that belongs to it.
            Chunk::CookieEcho(_) => index == 0 && self.state != State::Closed,
            Chunk::ShutdownAck if self.state == State::CookieWait => false,
            _ => own && self.state != State::Closed && self.state != State::Listening,
        }
    }

    /// Responds to a packet that belongs to no association (§8.4).
    pub(super) fn out_of_the_blue(&mut self, route: Route, packet: &Packet<'_>, chunk: &Chunk<'_>) {
        self.stats.discarded += 1;
        // With an association there is another explanation: packets with a wrong tag are silently
        // discarded.
        let alone = matches!(self.state, State::Listening | State::Closed);
        let peer = Peer {
            port: packet.source_port,
            tag: packet.tag,
        };
        match chunk {
            Chunk::ShutdownAck if alone || self.state == State::CookieWait => {
                self.queue(
                    route,
                    Control::ShutdownComplete {
                        peer,
                        reflected: true,
                    },
                );
            }
            Chunk::Abort { .. }
            | Chunk::ShutdownComplete { .. }
            | Chunk::CookieAck
            | Chunk::Error(_) => {}
            Chunk::Init(init) if alone => {
                let peer = Peer {
                    tag: init.tag,
                    ..peer
                };
                self.refuse(route, peer, None);
            }
            _ if alone => self.queue(
                route,
                Control::Abort {
                    peer,
                    reflected: true,
                    cause: None,
                },
            ),
            _ => {}
        }
    }

    /// Responds to an INIT with an ABORT.
    pub(super) fn refuse(&mut self, route: Route, peer: Peer, cause: Option<u16>) {
        let abort = Control::Abort {
            peer,
            reflected: false,
            cause,
        };
        self.queue(route, abort);
    }

    pub(super) fn handle_error(&mut self, now: Instant, causes: &Causes<'_>) {
        let stale = causes.iter().any(|(code, _)| code == STALE_COOKIE);
        if stale && self.state == State::CookieEchoed {
            self.begin_again(now); // §5.2.6 (1)
        }
    }

    pub(super) fn transmit_control(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Route> {
        let (route, control) = self.control.pop_front()?;
        let tag = match &control {
            Control::Init => 0,
            _ => self.peer_tag,
        };
        let port = self.config.port;
        let to = |peer: &Peer, out| Writer::new(out, port, peer.port, peer.tag);
        let mut packet = Writer::new(out, port, self.peer_port, tag);
        match control {
            Control::Init => {
                let (addresses, streams) = (self.own_addresses(), self.streams());
                packet.init(
                    kind::INIT,
                    self.local_tag,
                    self.config.window,
                    streams,
                    self.local_tsn,
                    addresses,
                    None,
                    &[],
                );
            }
            Control::InitAck(ack) => {
                let (addresses, streams) = (self.own_addresses(), self.streams());
                packet = to(&ack.peer, out);
                packet.init(
                    kind::INIT_ACK,
                    ack.tag,
                    self.config.window,
                    streams,
                    ack.tsn,
                    addresses,
                    Some(&ack.cookie),
                    &ack.unrecognized,
                );
            }
            Control::CookieEcho => {
                packet.chunk(kind::COOKIE_ECHO, 0, &self.setup.cookie);
            }
            Control::CookieAck => {
                packet.chunk(kind::COOKIE_ACK, 0, &[]);
            }
            Control::Heartbeat(path) => {
                let heartbeat = &self.paths[path].heartbeat;
                let mut information = [0; 20];
                information[..4].copy_from_slice(&(path as u32).to_be_bytes());
                information[4..12].copy_from_slice(&now.as_nanos().to_be_bytes());
                information[12..].copy_from_slice(&heartbeat.nonce.to_be_bytes());
                packet.heartbeat(kind::HEARTBEAT, &information);
            }
            Control::HeartbeatAck(information) => {
                packet.chunk(kind::HEARTBEAT_ACK, 0, &information);
            }
            Control::Shutdown => {
                packet.shutdown(self.inbound.cumulative);
            }
            Control::ShutdownAck => {
                packet.chunk(kind::SHUTDOWN_ACK, 0, &[]);
            }
            Control::ShutdownComplete { peer, reflected } => {
                packet = to(&peer, out);
                packet.chunk(kind::SHUTDOWN_COMPLETE, u8::from(reflected), &[]);
            }
            Control::Abort {
                peer,
                reflected,
                cause,
            } => {
                packet = to(&peer, out);
                match cause {
                    Some(cause) => packet.cause(kind::ABORT, u8::from(reflected), cause, &[]),
                    None => packet.chunk(kind::ABORT, u8::from(reflected), &[]),
                };
            }
            Control::Error { cause, value } => {
                packet.cause(kind::ERROR, 0, cause, &value);
            }
        }
        packet.finish();
        Some(route)
    }

    fn streams(&self) -> (u16, u16) {
        (self.config.outbound_streams, self.config.inbound_streams)
    }

    /// The addresses to list: none if there is only the one from which packets are sent.
    fn own_addresses(&self) -> &[Ipv4Addr] {
        match self.config.addresses.len() {
            1 => &[],
            _ => &self.config.addresses,
        }
    }
}
