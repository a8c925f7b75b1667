//! The length of a frame as Tofino counts it, in `pkt_length`, counters and meters.

use p4_vm::Packet;

/// Octets of the frame check sequence, which is not part of a packet.
const CHECK_SEQUENCE: u32 = 4;

/// The length of a packet with its frame check sequence, in octets.
pub fn of_frame(packet: &Packet) -> u32 {
    packet.length() + CHECK_SEQUENCE
}
