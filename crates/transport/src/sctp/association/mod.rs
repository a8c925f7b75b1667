//! An association: state machine, timers, and outgoing packets.

mod control;
mod data;
mod handshake;
mod paths;
mod shutdown;
mod timers;

use super::config::{Config, ConfigError};
use super::inbound::Inbound;
use super::message::{Delivery, Message};
use super::outbound::Outbound;
use super::packet::{Chunk, Packet, PacketError, Writer};
use super::path::{Path, PathState, Route};
use super::secret::Secret;
use super::{Stats, Tsn};
use bytes::Bytes;
use congestion::sctp::Spc;
use control::Control;
pub use paths::PathStatus;
use std::collections::VecDeque;
use std::net::Ipv4Addr;
use thiserror::Error;
use units::{Duration, Instant};

/// Octets of an IPv4 header without options.
const IPV4_OCTETS: u32 = 20;

/// An SCTP association, sans-IO.
///
/// ```text
///                 handle_packet              poll_transmit
///  octets, route ───────────────► Association ─────────────► octets, route
///                 handle_timeout     │  handshake, shutdown     states, cookie
///                                    │  inbound                 TSNs received, SACKs, reassembly
///                                    │  outbound                chunks sent, SACKs read, retransmission
///                 write ────────────►│  paths                   windows, RTOs, heartbeats, failover
///                 read  ◄────────────│
/// ```
/// After every call that changes it, call [`Association::poll_transmit`] until it returns `None`, then
/// [`Association::poll_timeout`].
#[derive(Debug)]
pub struct Association {
    config: Config,
    secret: Secret,
    state: State,
    local_tag: u32,
    peer_tag: u32,
    local_tsn: Tsn,
    peer_port: u16,
    /// Paths by number. Empty until the peer's addresses are known.
    paths: Vec<Path>,
    primary: usize,
    /// The path for new data: the primary path, or another one while that is inactive.
    current: usize,
    outbound: Outbound,
    inbound: Inbound,
    control: VecDeque<(Route, Control)>,
    events: VecDeque<Event>,
    setup: Setup,
    /// T2-shutdown.
    t2: Option<Instant>,
    /// When the heartbeat timer that all paths share expires, and when it started ([`Quirks`](super::Quirks)).
    turn: Option<(Instant, Instant)>,
    /// Number of consecutive errors on all paths.
    errors: u32,
    spc: Spc,
    stamps: Stamps,
    draws: u64,
    /// The latest RTT, until it is taken.
    rtt: Option<(usize, Duration)>,
    gaps: Vec<(u16, u16)>,
    stats: Stats,
}

/// The states of RFC 9260, §4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Waits for INIT and COOKIE ECHO of a peer.
    Listening,
    /// INIT was sent.
    CookieWait,
    /// COOKIE ECHO was sent.
    CookieEchoed,
    /// Open.
    Established,
    /// The application has closed the association; data is still outstanding.
    ShutdownPending,
    /// SHUTDOWN was sent.
    ShutdownSent,
    /// SHUTDOWN was received; data is still outstanding.
    ShutdownReceived,
    /// SHUTDOWN ACK was sent.
    ShutdownAckSent,
    /// Over.
    Closed,
}

/// An event for the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The association is open.
    Established,
    /// The peer restarted: data that was written before and not acknowledged is lost.
    Restarted,
    /// A path has become unusable.
    PathDown(usize),
    /// A path has become usable (again).
    PathUp(usize),
    /// New data is sent on another path.
    Switched(usize),
    /// The association is over.
    Closed(Reason),
}

/// Why an association ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Both ends shut it down.
    Shutdown,
    /// This end aborted it.
    Aborted,
    /// The peer aborted it.
    PeerAborted,
    /// The peer violated the protocol, and was sent an ABORT.
    Violation,
    /// The peer does not respond.
    Unreachable,
}

/// Why a message was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum WriteError {
    /// There is no such stream.
    #[error("there is no stream {0}")]
    NoStream(u16),
    /// SCTP has no empty messages.
    #[error("a message has at least one octet")]
    Empty,
    /// The message does not fit into the peer's buffer.
    #[error("a message of {octets} octets; the peer's window is {window}")]
    TooLong {
        /// Octets of the message.
        octets: usize,
        /// The peer's receive window.
        window: u32,
    },
    /// The association is closed or closing.
    #[error("the association accepts no more messages")]
    Closing,
}

/// The retransmission of INIT and COOKIE ECHO.
#[derive(Debug, Default)]
struct Setup {
    /// T1-init or T1-cookie.
    t1: Option<Instant>,
    tries: u32,
    rto: Duration,
    cookie: Vec<u8>,
    /// The destination of INIT.
    route: Option<Route>,
    /// When INIT or COOKIE ECHO was sent, if only once.
    sent: Option<Instant>,
}

/// State of the timestamps.
#[derive(Debug, Default)]
struct Stamps {
    /// The timestamp of the earliest packet that is not yet acknowledged. The next SACK echoes it.
    to_echo: Option<u32>,
    /// The timestamp that the current packet echoes.
    echoed: Option<u32>,
}

impl Association {
    /// Creates an association that waits for a peer.
    ///
    /// # Errors
    /// The configuration is invalid.
    pub fn listen(config: Config) -> Result<Self, ConfigError> {
        config.check()?;
        let secret = Secret::new(&config.secret);
        Ok(Association {
            outbound: Outbound::new(&config, Tsn(1)),
            inbound: Inbound::new(&config, Tsn(1), 0),
            secret,
            state: State::Listening,
            local_tag: 0,
            peer_tag: 0,
            local_tsn: Tsn(1),
            peer_port: 0,
            paths: Vec::new(),
            primary: 0,
            current: 0,
            control: VecDeque::new(),
            events: VecDeque::new(),
            setup: Setup::default(),
            t2: None,
            turn: None,
            errors: 0,
            spc: Spc::default(),
            stamps: Stamps::default(),
            draws: 0,
            rtt: None,
            gaps: Vec::new(),
            stats: Stats::default(),
            config,
        })
    }

    /// Creates an association that this end sets up by sending INIT to `remote`. Messages may be written immediately.
    ///
    /// # Errors
    /// The configuration is invalid.
    pub fn connect(
        config: Config,
        now: Instant,
        remote: Ipv4Addr,
        port: u16,
    ) -> Result<Self, ConfigError> {
        let mut association = Association::listen(config)?;
        association.begin(now, remote, port);
        Ok(association)
    }

    /// Handles a packet that arrived at the address `route.local` from `route.remote`. A packet that does not belong to
    /// the association, or is invalid, has no effect.
    ///
    /// # Errors
    /// The octets are not an SCTP packet, or the checksum does not match: nothing has changed. Or a chunk is malformed:
    /// the chunks before it were handled.
    pub fn handle_packet(
        &mut self,
        now: Instant,
        route: Route,
        octets: &[u8],
    ) -> Result<(), PacketError> {
        let packet = Packet::parse(octets).inspect_err(|_| self.stats.discarded += 1)?;
        let known = self.state != State::Listening && self.state != State::Closed;
        if packet.destination_port != self.config.port
            || known && packet.source_port != self.peer_port
        {
            self.stats.discarded += 1;
            return Ok(());
        }
        self.stats.packets_received += 1;
        self.stamps.echoed = None;
        let mut data = (false, false);
        let mut fault = Ok(());
        for (index, chunk) in packet.chunks().enumerate() {
            let chunk = match chunk {
                Ok(chunk) => chunk,
                Err(error) => {
                    fault = Err(error);
                    break;
                }
            };
            if !self.accepts(&packet, index, &chunk) {
                self.out_of_the_blue(route, &packet, &chunk);
                break;
            }
            if let Chunk::Data(chunk) = &chunk {
                data.0 = true;
                data.1 |= chunk.flags.has(super::packet::DataFlags::IMMEDIATE);
            }
            if !self.handle_chunk(now, route, &packet, &chunk) {
                break;
            }
        }
        if data.0 && self.takes_data() {
            self.inbound.end_packet(now, route, data.1);
        }
        self.advance_shutdown(now);
        fault
    }

    /// Handles a chunk. Returns whether to process the rest of the packet.
    fn handle_chunk(
        &mut self,
        now: Instant,
        route: Route,
        packet: &Packet<'_>,
        chunk: &Chunk<'_>,
    ) -> bool {
        match chunk {
            Chunk::Init(init) => {
                self.handle_init(now, route, packet.source_port, init);
                return false; // INIT comes alone
            }
            Chunk::InitAck(init) => {
                self.handle_init_ack(now, route, init);
                return false;
            }
            Chunk::CookieEcho(cookie) => {
                return self.handle_cookie_echo(now, route, packet, cookie);
            }
            Chunk::CookieAck => self.handle_cookie_ack(now),
            Chunk::Data(data) => self.handle_data(now, route, data),
            Chunk::Sack(sack) => self.handle_sack(now, route, sack),
            Chunk::Heartbeat(information) => self.handle_heartbeat(route, information),
            Chunk::HeartbeatAck(information) => self.handle_heartbeat_ack(now, information),
            Chunk::Abort { .. } => {
                self.close(Reason::PeerAborted);
                return false;
            }
            Chunk::Error(causes) => self.handle_error(now, causes),
            Chunk::Shutdown { cumulative } => self.handle_shutdown(now, *cumulative),
            Chunk::ShutdownAck => self.handle_shutdown_ack(route),
            Chunk::ShutdownComplete { .. } => self.handle_shutdown_complete(),
            Chunk::Timestamp { value, echo } => {
                self.stamps.echoed = (*echo != 0).then_some(*echo);
                self.stamps.to_echo.get_or_insert(*value);
            }
            Chunk::Unknown { kind, octets } => {
                // The high bits determine whether to report it, and whether to continue (§3.2).
                if kind & 0x40 != 0 {
                    self.report(route, control::UNRECOGNIZED_CHUNK, octets);
                }
                return kind & 0x80 != 0;
            }
        }
        self.state != State::Closed
    }

    /// Writes the next packet into `out`. Returns its addresses, or `None` if there is no packet to send now. Call it
    /// until it returns `None`.
    pub fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Route> {
        let route = self
            .transmit_control(now, out)
            .or_else(|| self.transmit_sack(now, out))
            .or_else(|| self.transmit_data(now, out))?;
        self.stats.packets_sent += 1;
        Some(route)
    }

    /// Queues a message, which is sent as windows allow. A message written before the association is open must not be
    /// longer than the peer's window will be.
    ///
    /// # Errors
    /// The stream does not exist, the message is empty, or the association is closing.
    pub fn write(&mut self, how: Delivery, message: &Bytes) -> Result<(), WriteError> {
        let open = matches!(
            self.state,
            State::Listening | State::CookieWait | State::CookieEchoed | State::Established
        );
        if !open {
            return Err(WriteError::Closing);
        }
        if message.is_empty() {
            return Err(WriteError::Empty);
        }
        let window = self.outbound.largest_window();
        if message.len() as u64 > u64::from(window) {
            let octets = message.len();
            return Err(WriteError::TooLong { octets, window });
        }
        if !self.outbound.has_stream(how.stream) {
            return Err(WriteError::NoStream(how.stream));
        }
        self.outbound.write(how, message);
        Ok(())
    }

    /// The next message that has arrived completely and is next in its order.
    pub fn read(&mut self) -> Option<Message> {
        self.inbound.read(self.config.mtu)
    }

    /// Recycles the buffer of a message that was read.
    pub fn recycle(&mut self, payload: Vec<u8>) {
        self.inbound.recycle(payload);
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// The state.
    pub fn state(&self) -> State {
        self.state
    }

    /// Octets of user data written and not yet sent.
    pub fn queued_octets(&self) -> u64 {
        self.outbound.queued_octets()
    }

    /// Whether everything written is acknowledged.
    pub fn is_drained(&self) -> bool {
        self.outbound.is_empty()
    }

    /// The latest RTT measurement and its path. Each is returned once.
    pub fn take_rtt(&mut self) -> Option<(usize, Duration)> {
        self.rtt.take()
    }

    /// Counters since the start.
    pub fn stats(&self) -> Stats {
        let counts = self.outbound.counts;
        Stats {
            chunks_sent: counts.sent,
            chunks_resent: counts.resent,
            fast_retransmits: counts.fast,
            acked_octets: counts.acked_octets,
            acked_chunks: counts.acked_chunks,
            latency_ns: counts.latency_ns,
            latency_ns_squared: counts.latency_ns_squared,
            chunks_received: self.inbound.received,
            copies_received: self.inbound.copies,
            delivered_octets: self.inbound.delivered_octets(),
            ..self.stats
        }
    }

    fn close(&mut self, reason: Reason) {
        if self.state == State::Closed {
            return;
        }
        self.state = State::Closed;
        self.setup.t1 = None;
        self.t2 = None;
        self.turn = None;
        for path in &mut self.paths {
            path.t3 = None;
            path.heartbeat.due = None;
            path.heartbeat.lost = None;
        }
        self.events.push_back(Event::Closed(reason));
    }

    /// Maximum octets of a packet behind its IPv4 header.
    fn packet_room(&self) -> usize {
        (self.config.mtu - IPV4_OCTETS) as usize
    }

    /// The timestamp clock in microseconds. Never 0, which means "none".
    fn stamp(now: Instant) -> u32 {
        (now.as_micros() as u32).max(1)
    }

    /// A number derived from the secret, different each time.
    fn draw(&mut self, purpose: &str) -> u64 {
        self.draws += 1;
        self.secret.draw(purpose, &[self.draws])
    }

    fn writer<'a>(&self, out: &'a mut Vec<u8>) -> Writer<'a> {
        Writer::new(out, self.config.port, self.peer_port, self.peer_tag)
    }

    /// Reports paths whose state has changed since `before`, and a change of the path for new data.
    fn note_states(&mut self, before: impl IntoIterator<Item = PathState>) {
        for (index, before) in before.into_iter().enumerate() {
            let state = self.paths[index].state;
            if state != before {
                self.events.push_back(match state {
                    PathState::Active => Event::PathUp(index),
                    _ => Event::PathDown(index),
                });
            }
        }
    }
}
