//! A host's interface.

use crate::scenario::{Ipv4, Mac};
use units::Instant;

/// A host.
#[derive(Debug)]
pub(crate) struct Host {
    pub address: Ipv4,
    pub mac: Mac,
    pub gateway_mac: Mac,
    /// The line from it, if it has a link.
    pub line: Option<usize>,
    /// The time of the last event here. For a timer it may be a nanosecond after the time of its
    /// event.
    pub reached: Instant,
    /// IPv4 identification of the next packet.
    identification: u16,
}

impl Host {
    pub fn new(address: Ipv4, mac: Mac, gateway_mac: Mac) -> Self {
        Host {
            address,
            mac,
            gateway_mac,
            line: None,
            reached: Instant::ZERO,
            identification: 0,
        }
    }

    /// Allocates an IPv4 identification.
    pub fn next_identification(&mut self) -> u16 {
        self.identification = self.identification.wrapping_add(1);
        self.identification
    }
}
