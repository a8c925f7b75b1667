//! Packets in reusable slots.

use engine::Packet;

/// Packets at stations of media, packets that overtook others on their line, and in rounds all packets on lines.
#[derive(Debug, Default)]
pub(crate) struct InFlight {
    slots: Vec<Packet>,
    free: Vec<u32>,
}

impl InFlight {
    /// Stores a packet. Returns its slot.
    #[inline]
    pub fn put(&mut self, packet: Packet) -> u32 {
        match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = packet;
                slot
            }
            None => {
                self.slots.push(packet);
                self.slots.len() as u32 - 1
            }
        }
    }

    /// The most packets that were stored at once.
    pub fn most(&self) -> usize {
        self.slots.len()
    }

    /// Removes and returns the packet in a slot.
    #[inline]
    pub fn take(&mut self, slot: u32) -> Packet {
        self.free.push(slot);
        std::mem::take(&mut self.slots[slot as usize])
    }
}
