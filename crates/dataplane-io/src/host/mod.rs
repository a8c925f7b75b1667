//! Hosts in user space on an interface of this machine: TCP hosts, and sources and sinks of other traffic.
//!
//! A host has its own IP address, which the kernel must not have. It answers ARP for it.

mod arp;
mod datagrams;
mod link;
mod transfer;

use std::fs;
use std::io::Read;
use std::sync::Arc;

use congestion::Factory;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use transport::tcp::modern::{Config, Endpoint};
use units::{Duration, Instant};

use crate::clock::Clock;
use crate::error::IoError;
use link::{ETHERNET, Link};

const TWO_TO_32: f64 = (1u64 << 32) as f64;

pub use arp::{Arp, Mac};
pub use datagrams::{Received, Sent, Sink, Source};
pub use link::Place;
pub use transfer::{Payload, Transfer, TransferError, Watch, Zeros};

/// The configuration of a [`Host`].
#[derive(Clone, Debug)]
pub struct HostConfig {
    /// Its addresses.
    pub place: Place,
    /// The settings of its connections. [`Config::mtu`] must not exceed the interface's MTU.
    pub tcp: Config,
    /// Losses to inject, for tests.
    pub loss: Option<Loss>,
    /// Its clock returns zero until this time has passed.
    pub begins_in: Duration,
}

/// Injected packet losses, in both directions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss {
    /// The probability that a packet is lost.
    pub probability: f64,
    /// The seed of the losses. The same seed loses the same packets.
    pub seed: u64,
}

/// A TCP host in user space.
#[derive(Debug)]
pub struct Host {
    link: Link,
    endpoint: Endpoint,
    clock: Clock,
    losses: Option<Losses>,
    /// Buffer for an outgoing frame.
    outgoing: Vec<u8>,
}

/// Draws which packets are lost.
#[derive(Debug)]
struct Losses {
    probability: f64,
    random: ChaCha8Rng,
}

impl Host {
    /// Creates a host on an interface. The interface's frames are received by the kernel as well.
    ///
    /// # Errors
    /// The settings are invalid, or the interface cannot be opened; see [`IoError`].
    pub fn open(
        interface: &str,
        config: HostConfig,
        algorithm: Arc<dyn Factory>,
    ) -> Result<Self, IoError> {
        // Started first, because opening the interface takes time.
        let clock = Clock::start_in(config.begins_in);
        config.tcp.validate()?;
        let link = Link::open(interface, config.place)?;
        let mut secret = [0; 16];
        fs::File::open("/dev/urandom")?.read_exact(&mut secret)?;
        Ok(Host {
            link,
            clock,
            losses: config.loss.map(|loss| Losses {
                probability: loss.probability,
                random: ChaCha8Rng::seed_from_u64(loss.seed),
            }),
            outgoing: vec![0; ETHERNET + usize::from(config.tcp.mtu)],
            endpoint: Endpoint::new(config.place.address, config.tcp, algorithm, secret),
        })
    }

    /// The current time of its connections.
    pub fn now(&self) -> Instant {
        self.clock.now()
    }

    /// Its connections. Call [`Host::turn`] after any change to them.
    pub fn endpoint(&mut self) -> &mut Endpoint {
        &mut self.endpoint
    }

    /// Handles received packets and sends those that are due. If there are none, waits for a frame or a timer, for at
    /// most `most`.
    pub fn turn(&mut self, most: Duration) {
        self.endpoint.handle_timeout(self.clock.now());
        let (endpoint, losses, clock) = (&mut self.endpoint, &mut self.losses, self.clock);
        let came = self.link.receive(clock.now(), |packet| {
            if !loses(losses) {
                // Read the clock after the packet was received: an older time would make round trips shorter than the
                // path, and a minimum of round-trip times would keep that for ever. A packet that is corrupt or not TCP
                // is dropped.
                let _ = endpoint.handle_packet(clock.now(), packet);
            }
        });
        if !(self.send_packets() || came) {
            let now = self.clock.now();
            let latest = now + most;
            let due = self.endpoint.poll_timeout().unwrap_or(latest).min(latest);
            self.link.wait(now, due);
        }
    }

    fn send_packets(&mut self) -> bool {
        let mut any = false;
        loop {
            let now = self.clock.now();
            let packet = &mut self.outgoing[ETHERNET..];
            let Some(octets) = self.endpoint.poll_transmit(now, packet) else {
                break;
            };
            any = true;
            if !loses(&mut self.losses) {
                self.link.send(now, &mut self.outgoing[..ETHERNET + octets]);
            }
        }
        self.link.flush();
        any
    }
}

/// Whether the next packet is lost deliberately.
fn loses(losses: &mut Option<Losses>) -> bool {
    losses
        .as_mut()
        .is_some_and(|losses| f64::from(losses.random.next_u32()) < losses.probability * TWO_TO_32)
}
