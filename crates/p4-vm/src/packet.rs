//! Packets as the switch takes and gives them.

use crate::Octets;

/// A packet: real octets, then a payload of zeros that is only counted, and the size that links charge.
///
/// A program that adds or removes header octets changes `link_octets` by as many.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// The octets that are held: headers, and payload where its content matters.
    pub octets: Octets,
    /// Octets after them, all zero, that are not held.
    pub elided: u32,
    /// The size that links, rates and queues charge, in octets.
    pub link_octets: u32,
    /// Opaque to the switch; follows the packet and all its copies.
    pub tag: u64,
}

impl Packet {
    /// A packet whose octets are all held and all charged.
    pub fn new(octets: impl Into<Octets>) -> Self {
        let octets = octets.into();
        Packet {
            link_octets: octets.len() as u32,
            octets,
            elided: 0,
            tag: 0,
        }
    }

    /// Cuts it to `most` octets.
    pub fn truncate(&mut self, most: u32) {
        let Some(cut) = self.length().checked_sub(most) else {
            return;
        };
        self.octets.truncate(most as usize);
        self.elided = most - self.octets.len() as u32;
        self.link_octets = self.link_octets.saturating_sub(cut);
    }

    /// `packet_length` in octets: those held and those elided.
    #[inline]
    pub fn length(&self) -> u32 {
        self.octets.len() as u32 + self.elided
    }
}
