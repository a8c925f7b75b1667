//! A host: many connections on one address.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, VecDeque};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::Arc;

use congestion::Factory;
use thiserror::Error;
use units::Instant;

use super::arrival::reset_for;
use super::config::{Config, Stamps};
use super::connection::{Connection, Ended, State};
use super::secret::Secret;
use crate::tcp::config::Clock;
use crate::tcp::segment::{Flags, Segment, Trimming};
use crate::wire::{self, Body, DecodeError, EncodeError};

/// The connections of one IPv4 address: octets in, octets out.
///
/// After every `handle_*`, and after any operation on a connection, call
/// [`Endpoint::poll_transmit`] until it returns `None`, then [`Endpoint::poll_timeout`].
#[derive(Debug)]
pub struct Endpoint {
    address: Ipv4Addr,
    config: Config,
    algorithm: Arc<dyn Factory>,
    secret: Secret,
    slots: Vec<Slot>,
    free: Vec<u32>,
    by_peer: HashMap<Peer, u32, Secret>,
    listeners: BTreeMap<u16, Listener>,
    /// When connections must be woken, by slot. Outdated entries are detected when they are due.
    wakes: BinaryHeap<Reverse<(Instant, u32)>>,
    /// Slots that may have something to send.
    ready: VecDeque<u32>,
    /// Resets for segments that belong to no connection.
    strays: VecDeque<(Peer, Segment)>,
    opened: u32,
    identification: u16,
}

/// Identifies a connection of an [`Endpoint`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Id {
    slot: u32,
    generation: u32,
}

/// The other end, and the local port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Peer {
    pub(super) address: Ipv4Addr,
    pub(super) port: u16,
    pub(super) local_port: u16,
}

#[derive(Debug)]
struct Slot {
    generation: u32,
    connection: Option<Box<Connection>>,
    peer: Peer,
    /// The earliest scheduled wake-up.
    wake: Option<Instant>,
    ready: bool,
    /// Whether the application has released it: it is removed when it ends.
    released: bool,
    /// Whether a listener opened it, and it has not been accepted.
    pending: bool,
}

#[derive(Debug)]
struct Listener {
    backlog: usize,
    /// Connections that are open and not accepted, in the order of their SYNs.
    pending: VecDeque<u32>,
}

/// Why an operation of an [`Endpoint`] failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum EndpointError {
    /// There is already a listener on the port.
    #[error("port {port} is in use")]
    PortInUse {
        /// The port.
        port: u16,
    },
    /// Every port has a connection to the same other end.
    #[error("no port is free for one more connection to {remote}")]
    NoPort {
        /// The other end.
        remote: SocketAddrV4,
    },
}

/// The most resets that wait to be sent.
const MAX_STRAYS: usize = 64;
/// Time to live of packets.
const TTL: u8 = 64;

impl Endpoint {
    /// Creates a host at `address`. Its connections have the settings `config`, which must be
    /// valid, and the congestion control of `algorithm`. `secret` must be hard to guess: initial
    /// sequence numbers and ports are derived from it.
    pub fn new(
        address: Ipv4Addr,
        config: Config,
        algorithm: Arc<dyn Factory>,
        secret: [u8; 16],
    ) -> Self {
        let secret = Secret::new(secret);
        Endpoint {
            address,
            config,
            algorithm,
            secret,
            slots: Vec::new(),
            free: Vec::new(),
            by_peer: HashMap::with_hasher(secret),
            listeners: BTreeMap::new(),
            wakes: BinaryHeap::new(),
            ready: VecDeque::new(),
            strays: VecDeque::new(),
            opened: 0,
            identification: 0,
        }
    }

    /// Accepts connections to `port`. Up to `backlog` may wait for [`Endpoint::accept`].
    ///
    /// # Errors
    /// There is already a listener on the port.
    pub fn listen(&mut self, port: u16, backlog: usize) -> Result<(), EndpointError> {
        if self.listeners.contains_key(&port) {
            return Err(EndpointError::PortInUse { port });
        }
        let pending = VecDeque::new();
        self.listeners.insert(port, Listener { backlog, pending });
        Ok(())
    }

    /// Whether there is a listener on `port`.
    pub fn listens(&self, port: u16) -> bool {
        self.listeners.contains_key(&port)
    }

    /// Returns the next established connection to `port`.
    pub fn accept(&mut self, port: u16) -> Option<Id> {
        let pending = &mut self.listeners.get_mut(&port)?.pending;
        let open = |slot: &u32| {
            let connection = self.slots[*slot as usize].connection.as_ref();
            connection.is_some_and(|connection| connection.is_established())
        };
        let at = pending.iter().position(open)?;
        let slot = pending.remove(at)?;
        self.slots[slot as usize].pending = false;
        Some(self.id(slot))
    }

    /// Opens a connection to `remote`.
    ///
    /// # Errors
    /// No port is free for it.
    pub fn connect(&mut self, now: Instant, remote: SocketAddrV4) -> Result<Id, EndpointError> {
        let peer = |local_port| Peer {
            address: *remote.ip(),
            port: remote.port(),
            local_port,
        };
        let free = |port: &u16| {
            !self.by_peer.contains_key(&peer(*port)) && !self.listeners.contains_key(port)
        };
        let port = self
            .secret
            .ports(peer(0), self.opened)
            .find(free)
            .ok_or(EndpointError::NoPort { remote })?;
        self.opened = self.opened.wrapping_add(1);
        let (config, start) = self.settings(now, peer(port));
        let connection = Connection::connect(config, self.algorithm.as_ref(), start);
        let slot = self.insert(peer(port), connection);
        Ok(self.id(slot))
    }

    /// A connection, until it has been released and has ended.
    pub fn connection(&self, id: Id) -> Option<&Connection> {
        let slot = self.slots.get(id.slot as usize)?;
        let connection = slot.connection.as_deref()?;
        (slot.generation == id.generation).then_some(connection)
    }

    /// Like [`Endpoint::connection`], for reading, writing or closing.
    pub fn connection_mut(&mut self, id: Id) -> Option<&mut Connection> {
        self.connection(id)?;
        self.make_ready(id.slot);
        self.slots[id.slot as usize].connection.as_deref_mut()
    }

    /// The other end's address, and the local port.
    pub fn addresses(&self, id: Id) -> Option<(SocketAddrV4, u16)> {
        self.connection(id)?;
        let peer = self.slots[id.slot as usize].peer;
        Some((SocketAddrV4::new(peer.address, peer.port), peer.local_port))
    }

    /// Releases a connection. It is closed, or aborted if there is unread data, and removed once it
    /// has ended.
    pub fn release(&mut self, id: Id) {
        let Some(connection) = self.connection_mut(id) else {
            return;
        };
        match connection.readable() {
            0 => connection.close(),
            _ => connection.abort(),
        }
        self.slots[id.slot as usize].released = true;
    }

    /// Number of connections that have not ended, including those in TIME-WAIT.
    pub fn len(&self) -> usize {
        self.by_peer.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.by_peer.is_empty()
    }

    /// Handles an IPv4 packet. Packets for other hosts are ignored.
    ///
    /// # Errors
    /// It cannot be decoded, or a checksum does not match: it was dropped.
    pub fn handle_packet(&mut self, now: Instant, octets: &[u8]) -> Result<(), DecodeError> {
        let (packet, payload) = wire::decode_ip(octets, 0)?;
        let Body::Tcp(segment) = packet.body else {
            return Ok(());
        };
        if packet.flow.destination != self.address {
            return Ok(());
        }
        let peer = Peer {
            address: packet.flow.source,
            port: packet.flow.source_port,
            local_port: packet.flow.destination_port,
        };
        self.handle_segment(now, peer, &segment, payload);
        Ok(())
    }

    fn handle_segment(&mut self, now: Instant, peer: Peer, segment: &Segment, payload: &[u8]) {
        if let Some(&slot) = self.by_peer.get(&peer) {
            let connection = self.slots[slot as usize].connection.as_deref_mut();
            match connection {
                Some(connection) if !connection.gives_way_to(segment) => {
                    connection.handle_segment(now, segment, payload);
                    self.make_ready(slot);
                    return;
                }
                _ => self.forget(slot),
            }
        }
        if segment.trimming == Trimming::Cut {
            return;
        }
        let opening = segment.flags.contains(Flags::SYN)
            && !segment.flags.intersects(Flags::ACK | Flags::RST);
        let backlog = self.listeners.get(&peer.local_port);
        match backlog.map(|listener| listener.pending.len() < listener.backlog) {
            Some(true) if opening => {
                let (config, start) = self.settings(now, peer);
                let mut connection = Connection::listen(config, self.algorithm.as_ref(), start);
                connection.handle_segment(now, segment, payload);
                let slot = self.insert(peer, connection);
                self.slots[slot as usize].pending = true;
                if let Some(listener) = self.listeners.get_mut(&peer.local_port) {
                    listener.pending.push_back(slot);
                }
            }
            // A SYN for which there is no room will be retransmitted.
            Some(false) if opening => {}
            _ if segment.flags.contains(Flags::RST) || self.strays.len() >= MAX_STRAYS => {}
            _ => self.strays.push_back((peer, reset_for(segment))),
        }
    }

    /// Writes the next IPv4 packet to send into `buffer`, and returns its length. A buffer of
    /// [`Config::mtu`] octets is always large enough.
    pub fn poll_transmit(&mut self, now: Instant, buffer: &mut [u8]) -> Option<usize> {
        if let Some((peer, reset)) = self.strays.pop_front() {
            return self.write(peer, &reset, buffer, |_| {}).ok();
        }
        while let Some(&slot) = self.ready.front() {
            // Taken out, so that the other fields of the host can be borrowed.
            let entry = &mut self.slots[slot as usize];
            let peer = entry.peer;
            let Some(mut connection) = entry.connection.take() else {
                entry.ready = false;
                self.ready.pop_front();
                continue;
            };
            let segment = connection.poll_transmit(now);
            let written = segment.and_then(|segment| {
                self.write(peer, &segment, buffer, |payload| {
                    connection.copy_payload(&segment, payload);
                })
                .ok()
            });
            self.slots[slot as usize].connection = Some(connection);
            if written.is_some() {
                // It is the turn of other connections.
                self.ready.rotate_left(1);
                return written;
            }
            self.ready.pop_front();
            self.slots[slot as usize].ready = false;
            self.settle(now, slot);
        }
        None
    }

    fn write(
        &mut self,
        peer: Peer,
        segment: &Segment,
        buffer: &mut [u8],
        copy_payload: impl FnOnce(&mut [u8]),
    ) -> Result<usize, EncodeError> {
        self.identification = self.identification.wrapping_add(1);
        let packet = wire::Packet {
            flow: wire::Flow {
                source_mac: [0; 6],
                destination_mac: [0; 6],
                source: self.address,
                destination: peer.address,
                source_port: peer.local_port,
                destination_port: peer.port,
            },
            identification: self.identification,
            ttl: TTL,
            body: Body::Tcp(*segment),
        };
        let at = wire::payload_offset(&packet)?;
        if let Some(payload) = buffer.get_mut(at..at + segment.payload as usize) {
            copy_payload(payload);
        }
        wire::complete_ip(&packet, buffer)
    }

    /// When [`Endpoint::handle_timeout`] must be called next.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.wakes.peek().map(|Reverse((at, _))| *at)
    }

    /// Handles the timers that have expired. Calls before the time of [`Endpoint::poll_timeout`]
    /// have no effect.
    pub fn handle_timeout(&mut self, now: Instant) {
        while let Some(&Reverse((at, slot))) = self.wakes.peek() {
            if at > now {
                return;
            }
            self.wakes.pop();
            let entry = &mut self.slots[slot as usize];
            if entry.wake != Some(at) {
                continue;
            }
            entry.wake = None;
            let Some(connection) = entry.connection.as_deref_mut() else {
                continue;
            };
            if connection.poll_timeout().is_some_and(|due| due <= now) {
                connection.handle_timeout(now);
            }
            self.make_ready(slot);
        }
    }

    /// Called when a connection has nothing to send: schedules its wake-up, or removes it if it has
    /// ended.
    fn settle(&mut self, now: Instant, slot: u32) {
        let entry = &mut self.slots[slot as usize];
        let Some(connection) = entry.connection.as_deref_mut() else {
            return;
        };
        if connection.state() == State::Closed {
            self.forget(slot);
            return;
        }
        if entry.released {
            connection.limit_wait(now);
        }
        let timeout = connection.poll_timeout();
        if let Some(at) = timeout
            && entry.wake.is_none_or(|wake| at < wake)
        {
            entry.wake = Some(at);
            self.wakes.push(Reverse((at, slot)));
        }
    }

    fn make_ready(&mut self, slot: u32) {
        let entry = &mut self.slots[slot as usize];
        if !std::mem::replace(&mut entry.ready, true) {
            self.ready.push_back(slot);
        }
    }

    /// The settings of a connection, and its initial sequence number.
    fn settings(&self, now: Instant, peer: Peer) -> (Arc<Config>, u32) {
        let mut config = self.config.clone();
        if config.timestamps != Stamps::Off {
            config.clock = Clock {
                start_us: self.secret.clock_start(peer),
                ..config.clock
            };
        }
        (Arc::new(config), self.secret.sequence(now, peer))
    }

    fn insert(&mut self, peer: Peer, connection: Connection) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot {
                generation: 0,
                connection: None,
                peer,
                wake: None,
                ready: false,
                released: false,
                pending: false,
            });
            self.slots.len() as u32 - 1
        });
        let entry = &mut self.slots[slot as usize];
        entry.connection = Some(Box::new(connection));
        entry.peer = peer;
        entry.released = false;
        entry.pending = false;
        self.by_peer.insert(peer, slot);
        self.make_ready(slot);
        slot
    }

    /// Frees the addresses of a connection that has ended or is replaced. It remains for the
    /// application that holds it.
    fn forget(&mut self, slot: u32) {
        let entry = &mut self.slots[slot as usize];
        if self.by_peer.get(&entry.peer) == Some(&slot) {
            self.by_peer.remove(&entry.peer);
        }
        if let Some(connection) = entry.connection.as_deref_mut() {
            connection.end(Ended::Closed);
        }
        if !entry.released && !entry.pending {
            return;
        }
        entry.connection = None;
        entry.generation = entry.generation.wrapping_add(1);
        if entry.pending
            && let Some(listener) = self.listeners.get_mut(&entry.peer.local_port)
        {
            listener.pending.retain(|pending| *pending != slot);
        }
        self.free.push(slot);
    }

    fn id(&self, slot: u32) -> Id {
        Id {
            slot,
            generation: self.slots[slot as usize].generation,
        }
    }
}
