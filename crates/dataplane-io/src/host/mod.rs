//! Hosts in user space, on an interface of this machine: of TCP, and the ends of other traffic.
//!
//! A host has an address of its own, which the kernel must not have; it answers ARP for it.

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

/// What a [`Host`] is.
#[derive(Clone, Debug)]
pub struct HostConfig {
    /// Its addresses.
    pub place: Place,
    /// The settings of its connections; [`Config::mtu`] at most the interface's.
    pub tcp: Config,
    /// Loses packets on purpose, for trials.
    pub loss: Option<Loss>,
    /// Its clock shows zero until this time from now has passed.
    pub begins_in: Duration,
}

/// Packets lost on purpose, in and out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss {
    /// The probability of a packet's being lost.
    pub probability: f64,
    /// What the choice depends on; the same seed makes the same choices.
    pub seed: u64,
}

/// A TCP host in user space.
#[derive(Debug)]
pub struct Host {
    link: Link,
    endpoint: Endpoint,
    clock: Clock,
    losses: Option<Losses>,
    /// A frame on its way out.
    outgoing: Vec<u8>,
}

/// Draws what is lost on purpose.
#[derive(Debug)]
struct Losses {
    probability: f64,
    random: ChaCha8Rng,
}

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
        // First, as the interface takes its time.
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
        self.endpoint.handle_timeout(self.clock.now());
        let (endpoint, losses, clock) = (&mut self.endpoint, &mut self.losses, self.clock);
        let came = self.link.receive(clock.now(), |packet| {
            if !loses(losses) {
                // The time after it came: an older one makes round trips that are shorter than the
                // path, which a least round trip never forgets. What is corrupt, or no TCP, is dropped.
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

/// Whether the next packet is lost on purpose.
fn loses(losses: &mut Option<Losses>) -> bool {
    losses
        .as_mut()
        .is_some_and(|losses| f64::from(losses.random.next_u32()) < losses.probability * TWO_TO_32)
}
