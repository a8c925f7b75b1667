//! A host's interface.

use crate::scenario::{Ipv4, Mac};
use units::Instant;

/// A host.
#[derive(Debug)]
pub(crate) struct Host {
    pub address: Ipv4,
    pub mac: Mac,
    pub gateway_mac: Mac,
    /// Its line out, if a link reaches it.
    pub line: Option<usize>,
    /// The time that a timer here has reached, which may be a nanosecond after that of its event.
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

    /// The IPv4 identification of one more packet.
    pub fn next_identification(&mut self) -> u16 {
        self.identification = self.identification.wrapping_add(1);
        self.identification
    }
}
