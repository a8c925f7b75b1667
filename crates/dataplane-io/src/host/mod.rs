//! A TCP host in user space, on an interface of this machine.
//!
//! It has an address of its own, which the kernel must not have; it answers ARP for it.

mod arp;
mod transfer;

use std::fs;
use std::io::Read;
use std::net::Ipv4Addr;
use std::sync::Arc;

use congestion::Factory;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rustix::event::{PollFd, PollFlags, poll};
use transport::tcp::modern::{Config, Endpoint};
use units::{Duration, Instant};

use crate::af_packet::Restorer;
use crate::clock::Clock;
use crate::dataplane::until;
use crate::error::IoError;
use crate::interface::Interface;
use arp::Arp;

pub use arp::Mac;
pub use transfer::TransferError;

/// What a [`Host`] is.
#[derive(Clone, Debug)]
pub struct HostConfig {
    /// Its IPv4 address.
    pub address: Ipv4Addr,
    /// How many bits of it name its network.
    pub prefix: u8,
    /// Who forwards packets to other networks.
    pub gateway: Option<Ipv4Addr>,
    /// The gateway's address on the link, where it answers no ARP.
    pub gateway_mac: Option<Mac>,
    /// Its own address on the link; unset: one that follows from its IPv4 address, and not the
    /// interface's, so that a kernel with an address there leaves its packets alone.
    pub mac: Option<Mac>,
    /// The settings of its connections; [`Config::mtu`] at most the interface's.
    pub tcp: Config,
    /// Loses packets on purpose, for trials.
    pub loss: Option<Loss>,
}

/// Packets lost on purpose, in and out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss {
    /// The probability of a packet's being lost.
    pub probability: f64,
    /// What the choice depends on; the same seed makes the same choices.
    pub seed: u64,
}

/// A host in user space.
#[derive(Debug)]
pub struct Host {
    interface: Interface,
    config: HostConfig,
    arp: Arp,
    endpoint: Endpoint,
    clock: Clock,
    random: ChaCha8Rng,
    /// A frame on its way out, and one on its way in.
    outgoing: Vec<u8>,
    incoming: Vec<u8>,
    /// Last, as the interface is put back when its socket is closed.
    _restorer: Restorer,
}

/// Frames that are taken at a time.
const BATCH: usize = 64;
/// Octets of Ethernet's header.
const ETHERNET: usize = 14;

impl Host {
    /// Puts a host on an interface, whose frames it sees beside the kernel.
    ///
    /// # Errors
    /// The settings are not valid, or the interface cannot be had; see [`IoError`].
    pub fn open(
        interface: &str,
        config: HostConfig,
        algorithm: Arc<dyn Factory>,
    ) -> Result<Self, IoError> {
        config.tcp.validate()?;
        let mut restorer = Restorer::start(1)?;
        let interface = Interface::open(interface, &mut restorer)?;
        let [a, b, c, d] = config.address.octets();
        // Locally administered.
        let mac = config.mac.unwrap_or([0x02, 0x57, a, b, c, d]);
        let mut arp = Arp::new(mac, config.address);
        if let Some((gateway, mac)) = config.gateway.zip(config.gateway_mac) {
            arp.know(gateway, mac);
        }
        let mut secret = [0; 16];
        fs::File::open("/dev/urandom")?.read_exact(&mut secret)?;
        let seed = config.loss.map_or(0, |loss| loss.seed);
        Ok(Host {
            interface,
            arp,
            endpoint: Endpoint::new(config.address, config.tcp.clone(), algorithm, secret),
            clock: Clock::start(),
            random: ChaCha8Rng::seed_from_u64(seed),
            outgoing: vec![0; ETHERNET + usize::from(config.tcp.mtu)],
            incoming: Vec::new(),
            _restorer: restorer,
            config,
        })
    }

    /// The time, as its connections have it.
    pub fn now(&self) -> Instant {
        self.clock.now()
    }

    /// Its connections. After anything was done to them, take a [`Host::turn`].
    pub fn endpoint(&mut self) -> &mut Endpoint {
        &mut self.endpoint
    }

    /// Takes what has come and sends what is due. If that is nothing, it waits for a frame or a
    /// timer, `most` at the longest.
    pub fn turn(&mut self, most: Duration) {
        let now = self.clock.now();
        self.endpoint.handle_timeout(now);
        let came = self.take_frames(now);
        if !(self.send_packets() || came) {
            self.wait(most);
        }
    }

    fn take_frames(&mut self, now: Instant) -> bool {
        for i in 0..BATCH {
            let incoming = &mut self.incoming;
            let buffer = || {
                let mut buffer = std::mem::take(incoming);
                buffer.clear();
                buffer
            };
            let Some(received) = self.interface.receive(buffer) else {
                return i > 0;
            };
            // What was cut is of no use.
            let Some(octets) = received else {
                continue;
            };
            let interface = &mut self.interface;
            let was_arp = self.arp.handle_frame(&octets, |frame| {
                interface.send(frame);
            });
            if !was_arp && octets.get(12..ETHERNET) == Some(&[0x08, 0x00]) && !self.loses() {
                // What is corrupt, or no TCP, is dropped.
                let _ = self.endpoint.handle_packet(now, &octets[ETHERNET..]);
            }
            self.incoming = octets;
        }
        true
    }

    fn send_packets(&mut self) -> bool {
        let mut any = false;
        loop {
            let now = self.clock.now();
            let Some(octets) = self
                .endpoint
                .poll_transmit(now, &mut self.outgoing[ETHERNET..])
            else {
                break;
            };
            any = true;
            if self.loses() {
                continue;
            }
            let frame = &mut self.outgoing[..ETHERNET + octets];
            let destination = [frame[30], frame[31], frame[32], frame[33]].into();
            let next_hop = match self.config.gateway {
                Some(gateway) if !is_neighbour(&self.config, destination) => gateway,
                _ => destination,
            };
            let interface = &mut self.interface;
            self.arp.send(now, next_hop, frame, |frame| {
                interface.send(frame);
            });
        }
        self.interface.flush();
        any
    }

    fn loses(&mut self) -> bool {
        let random = &mut self.random;
        self.config
            .loss
            .is_some_and(|loss| (random.next_u32() as f64) < loss.probability * 2_f64.powi(32))
    }

    fn wait(&mut self, most: Duration) {
        let now = self.clock.now();
        let latest = now + most;
        let due = self.endpoint.poll_timeout().unwrap_or(latest).min(latest);
        let timeout = until(now, due);
        let mut fds = [PollFd::from_borrowed_fd(self.interface.fd(), PollFlags::IN)];
        if poll(&mut fds, Some(&timeout)).is_err() {
            return;
        }
        if fds[0].revents().contains(PollFlags::ERR) {
            self.interface.clear_error();
        }
    }
}

/// Whether `other` is on the same network.
fn is_neighbour(config: &HostConfig, other: Ipv4Addr) -> bool {
    let host_bits = 32 - u32::from(config.prefix.min(32));
    let differ = u32::from(other) ^ u32::from(config.address);
    u64::from(differ) >> host_bits == 0
}
