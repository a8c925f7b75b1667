//! An IPv4 address on an interface: sends and receives packets, and handles ARP.

use std::net::Ipv4Addr;

use engine::Octets;
use rustix::event::{PollFd, PollFlags, poll};
use units::Instant;

use super::arp::{Arp, Mac};
use crate::af_packet::{Offloads, Restorer};
use crate::dataplane::until;
use crate::error::IoError;
use crate::interface::{Interface, Received};

/// Octets of the Ethernet header, for which outgoing frames have room.
pub const ETHERNET: usize = 14;

/// Frames per batch.
const BATCH: usize = 64;

/// The addresses of a host.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Its IPv4 address.
    pub address: Ipv4Addr,
    /// The length of its network prefix, in bits.
    pub prefix: u8,
    /// The gateway to other networks.
    pub gateway: Option<Ipv4Addr>,
    /// The MAC address of the gateway, if it does not answer ARP.
    pub gateway_mac: Option<Mac>,
    /// The MAC address of the host. By default it is derived from the IPv4 address rather than
    /// taken from the interface, so that a kernel with an address on the interface ignores its
    /// packets.
    pub mac: Option<Mac>,
}

impl Place {
    /// The next hop for packets to `destination`.
    fn next_hop(&self, destination: Ipv4Addr) -> Ipv4Addr {
        let host_bits = 32 - u32::from(self.prefix.min(32));
        let differ = u32::from(destination) ^ u32::from(self.address);
        match self.gateway {
            Some(gateway) if u64::from(differ) >> host_bits != 0 => gateway,
            _ => destination,
        }
    }
}

/// A host's link.
#[derive(Debug)]
pub struct Link {
    interface: Interface,
    place: Place,
    arp: Arp,
    /// Buffer for an incoming frame.
    incoming: Octets,
    /// The last field, because the interface is restored after its socket is closed.
    _restorer: Restorer,
}

impl Link {
    /// Opens an interface. Its frames are received by the kernel as well.
    pub fn open(interface: &str, place: Place) -> Result<Self, IoError> {
        let mut restorer = Restorer::start(1)?;
        let interface = Interface::open(interface, Offloads::Off, &mut restorer)?;
        let [a, b, c, d] = place.address.octets();
        // A locally administered address.
        let mac = place.mac.unwrap_or([0x02, 0x57, a, b, c, d]);
        let mut arp = Arp::new(mac, place.address);
        if let Some((gateway, mac)) = place.gateway.zip(place.gateway_mac) {
            arp.know(gateway, mac);
        }
        Ok(Link {
            interface,
            place,
            arp,
            incoming: Octets::default(),
            _restorer: restorer,
        })
    }

    /// The maximum length of an IP packet, in octets.
    pub fn mtu(&self) -> usize {
        self.interface.mtu()
    }

    /// Passes a batch of received IPv4 packets to `handle`. Returns whether anything was received.
    pub fn receive(&mut self, now: Instant, mut handle: impl FnMut(&[u8])) -> bool {
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
            // A truncated frame is of no use.
            let Some(Received { octets, .. }) = received else {
                continue;
            };
            let interface = &mut self.interface;
            let was_arp = self.arp.handle_frame(now, &octets, |frame| {
                interface.send(frame);
            });
            if !was_arp && octets.get(12..ETHERNET) == Some(&[0x08, 0x00]) {
                handle(&octets[ETHERNET..]);
            }
            self.incoming = octets;
        }
        true
    }

    /// Adds the Ethernet header to a frame that holds an IPv4 packet behind [`ETHERNET`] octets,
    /// and accepts it for sending.
    pub fn send(&mut self, now: Instant, frame: &mut [u8]) {
        let destination = [frame[30], frame[31], frame[32], frame[33]].into();
        let next_hop = self.place.next_hop(destination);
        let interface = &mut self.interface;
        self.arp.send(now, next_hop, frame, |frame| {
            interface.send(frame);
        });
    }

    /// Makes the kernel send the accepted frames.
    pub fn flush(&mut self) {
        self.interface.flush();
    }

    /// Waits for a frame, from `now` until `due` at the latest.
    pub fn wait(&self, now: Instant, due: Instant) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gateway_takes_what_leaves_the_network() {
        let host = Ipv4Addr::new(10, 0, 1, 2);
        let gateway = Ipv4Addr::new(10, 0, 1, 1);
        let place = |prefix, gateway| Place {
            address: host,
            prefix,
            gateway,
            gateway_mac: None,
            mac: None,
        };
        let near = Ipv4Addr::new(10, 0, 1, 77);
        let far = Ipv4Addr::new(10, 0, 2, 77);
        assert_eq!(place(24, Some(gateway)).next_hop(near), near);
        assert_eq!(place(24, Some(gateway)).next_hop(far), gateway);
        assert_eq!(place(32, Some(gateway)).next_hop(near), gateway);
        assert_eq!(place(0, Some(gateway)).next_hop(far), far);
        assert_eq!(place(24, None).next_hop(far), far);
    }
}
