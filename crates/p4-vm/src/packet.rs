//! Packets at the interface of the switch.

use crate::Octets;

/// A packet: stored octets, then a payload of zeros of which only the length is stored, and the size that links charge.
///
/// If a program adds or removes header octets, `link_octets` changes by the same number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// The stored octets: headers, and payload if its content matters.
    pub octets: Octets,
    /// Number of zero octets after them that are not stored.
    pub elided: u32,
    /// The size that links, rates and queues charge, in octets.
    pub link_octets: u32,
    /// Opaque to the switch. It is copied to all copies of the packet.
    pub tag: u64,
}

impl Packet {
    /// Creates a packet whose octets are all stored and all charged.
    pub fn new(octets: impl Into<Octets>) -> Self {
        let octets = octets.into();
        Packet {
            link_octets: octets.len() as u32,
            octets,
            elided: 0,
            tag: 0,
        }
    }

    /// Truncates the packet to `most` octets.
    pub fn truncate(&mut self, most: u32) {
        let Some(cut) = self.length().checked_sub(most) else {
            return;
        };
        self.octets.truncate(most as usize);
        self.elided = most - self.octets.len() as u32;
        self.link_octets = self.link_octets.saturating_sub(cut);
    }

    /// `packet_length` in octets: stored and elided ones.
    #[inline]
    pub fn length(&self) -> u32 {
        self.octets.len() as u32 + self.elided
    }
}
