//! Traffic without congestion control: a source of UDP datagrams that leave at given times, and a sink that counts
//! them.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::num::NonZeroU64;

use transport::wire::{self, Body, Flow, Packet};
use units::{Duration, Instant};

use super::link::{ETHERNET, Link, Place};
use crate::clock::Clock;
use crate::error::IoError;

/// The same as in virtual time.
const TTL: u8 = 64;

/// Sends datagrams of one size to one receiver.
#[derive(Debug)]
pub struct Source {
    link: Link,
    clock: Clock,
    packet: Packet,
    frame: Vec<u8>,
    /// When the next one leaves, if known.
    due: Option<Instant>,
    sent: Sent,
}

/// The counters of a [`Source`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Datagrams.
    pub packets: u64,
    /// Their octets, including IPv4 and UDP headers.
    pub octets: u64,
    /// The sum of their delays behind schedule.
    pub late: Duration,
    /// The largest delay behind schedule.
    pub latest: Duration,
}

impl Source {
    /// Creates a source on an interface. Its datagrams have `octets` octets in total, including IPv4 and UDP headers,
    /// and the port of `to` as source and destination port. Its clock returns zero until `begins_in` has passed.
    ///
    /// # Errors
    /// The interface cannot be opened, or does not carry such datagrams; see [`IoError`].
    pub fn open(
        interface: &str,
        place: Place,
        to: SocketAddrV4,
        octets: u16,
        begins_in: Duration,
    ) -> Result<Self, IoError> {
        // Started first, because opening the interface takes time.
        let clock = Clock::start_in(begins_in);
        let link = Link::open(interface, place)?;
        if usize::from(octets) > link.mtu() {
            return Err(IoError::TooLong {
                name: interface.into(),
                octets: octets.into(),
                mtu: link.mtu(),
            });
        }
        let flow = Flow {
            // Filled in by the link.
            source_mac: [0; 6],
            destination_mac: [0; 6],
            source: place.address,
            destination: *to.ip(),
            source_port: to.port(),
            destination_port: to.port(),
        };
        Ok(Source {
            link,
            clock,
            packet: Packet {
                flow,
                identification: 0,
                ttl: TTL,
                body: Body::udp_of_total(octets.into()),
            },
            frame: vec![0; ETHERNET + usize::from(octets).max(wire::MAX_HEADER_OCTETS)],
            due: None,
            sent: Sent::default(),
        })
    }

    /// The time since the source began.
    pub fn now(&self) -> Instant {
        self.clock.now()
    }

    /// The counters so far.
    pub fn sent(&self) -> Sent {
        self.sent
    }

    /// Sends datagrams at the times of `departures`, and answers ARP, for at most `most`. Returns whether the last
    /// datagram has left.
    pub fn run(&mut self, departures: &mut impl Iterator<Item = Instant>, most: Duration) -> bool {
        // Timers of ordinary threads may be 50 µs late.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        let until = self.clock.now() + most;
        loop {
            let Some(due) = self.due.take().or_else(|| departures.next()) else {
                self.link.flush();
                return true;
            };
            let now = self.clock.now();
            if now >= due {
                self.send(now, due);
                continue;
            }
            self.due = Some(due);
            self.link.flush();
            if now >= until {
                return false;
            }
            if !self.link.receive(now, |_| {}) {
                self.link.wait(now, due.min(until));
            }
        }
    }

    fn send(&mut self, now: Instant, due: Instant) {
        self.packet.identification = self.packet.identification.wrapping_add(1);
        let octets = wire::complete_ip(&self.packet, &mut self.frame[ETHERNET..])
            .expect("the frame has room for its datagram");
        self.link.send(now, &mut self.frame[..ETHERNET + octets]);
        let late = now.since(due);
        self.sent.packets += 1;
        self.sent.octets += octets as u64;
        self.sent.late += late;
        self.sent.latest = self.sent.latest.max(late);
    }
}

/// Counts the datagrams that arrive at one port.
#[derive(Debug)]
pub struct Sink {
    link: Link,
    clock: Clock,
    address: Ipv4Addr,
    port: u16,
    received: Received,
}

/// The counters of a [`Sink`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// Datagrams.
    pub packets: u64,
    /// Their octets, including IPv4 and UDP headers.
    pub octets: u64,
}

impl Sink {
    /// Creates a sink on an interface.
    ///
    /// # Errors
    /// The interface cannot be opened; see [`IoError`].
    pub fn open(interface: &str, place: Place, port: u16) -> Result<Self, IoError> {
        Ok(Sink {
            link: Link::open(interface, place)?,
            clock: Clock::start(),
            address: place.address,
            port,
            received: Received::default(),
        })
    }

    /// The time since the sink began.
    pub fn now(&self) -> Instant {
        self.clock.now()
    }

    /// The counters so far.
    pub fn received(&self) -> Received {
        self.received
    }

    /// Receives datagrams for `span`.
    pub fn run(&mut self, span: Duration) {
        let until = self.clock.now() + span;
        loop {
            let (received, wanted) = (&mut self.received, (self.address, self.port));
            let came = self.link.receive(self.clock.now(), |packet| {
                if let Some(octets) = datagram(packet, wanted) {
                    received.packets += 1;
                    received.octets += octets;
                }
            });
            self.link.flush();
            let now = self.clock.now();
            if now >= until {
                return;
            }
            if !came {
                self.link.wait(now, until);
            }
        }
    }
}

/// Octets of a datagram for this address and port. `None` for any other or a corrupt packet.
fn datagram(packet: &[u8], (address, port): (Ipv4Addr, u16)) -> Option<u64> {
    let (packet, _) = wire::decode_ip(packet, 0).ok()?;
    let Body::Udp { payload } = packet.body else {
        return None;
    };
    let ours = (packet.flow.destination, packet.flow.destination_port) == (address, port);
    ours.then(|| u64::from(payload) + UDP_HEADERS)
}

/// Octets of an IPv4 header without options and a UDP header.
const UDP_HEADERS: u64 = 28;

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(body: Body) -> Vec<u8> {
        let flow = Flow {
            source_mac: [0; 6],
            destination_mac: [0; 6],
            source: Ipv4Addr::new(10, 0, 0, 1),
            destination: Ipv4Addr::new(10, 0, 0, 2),
            source_port: 1024,
            destination_port: 1024,
        };
        let packet = Packet {
            flow,
            identification: 1,
            ttl: TTL,
            body,
        };
        let mut octets = vec![0; 1000];
        let length = wire::complete_ip(&packet, &mut octets).unwrap();
        octets.truncate(length);
        octets
    }

    #[test]
    fn a_sink_counts_datagrams_to_its_port() {
        let here = (Ipv4Addr::new(10, 0, 0, 2), 1024);
        let whole = packet(Body::udp_of_total(1000));
        assert_eq!(datagram(&whole, here), Some(1000));
        assert_eq!(datagram(&whole, (here.0, 1025)), None);
        assert_eq!(datagram(&whole, (Ipv4Addr::new(10, 0, 0, 3), 1024)), None);
        let mut corrupt = whole.clone();
        corrupt[40] ^= 1;
        assert_eq!(datagram(&corrupt, here), None);
        assert_eq!(datagram(&whole[..900], here), None);
    }
}
