//! SCTP packets as octets (RFC 9260, §3): common header with CRC32c, chunks, parameters.
//!
//! [`Packet::parse`] verifies the checksum and borrows the octets. [`Packet::chunks`] decodes the chunks in order.
//! [`Writer`] appends chunks to a buffer and completes the packet with its checksum.

mod checksum;
mod chunk;
mod parameter;
mod write;

use checksum::checksum;
use thiserror::Error;

pub(crate) use checksum::zeros_at_end;
pub(super) use chunk::kind;
pub use chunk::{Causes, Chunk, Data, DataFlags, Init, Sack};
pub use parameter::{Parameter, Parameters};
pub use write::Writer;
pub(super) use write::{data_octets, sack_octets};

/// The IPv4 protocol number of SCTP.
pub const PROTOCOL: u8 = 132;
/// Octets of the common header.
pub const HEADER_OCTETS: usize = 12;
/// Octets of a DATA chunk's header.
pub const DATA_HEADER_OCTETS: usize = 16;
/// Octets of the Timestamp chunk.
pub const TIMESTAMP_OCTETS: usize = 12;

/// An error in the octets of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PacketError {
    /// Shorter than the common header and a chunk header.
    #[error("{octets} octets are not an SCTP packet; expected at least 16")]
    Truncated {
        /// The number of octets.
        octets: usize,
    },
    /// The CRC32c does not match.
    #[error("the CRC32c is {given:#010x}, computed {computed:#010x}")]
    BadChecksum {
        /// The field.
        given: u32,
        /// The correct value.
        computed: u32,
    },
    /// A chunk's length is less than its header or exceeds the packet.
    #[error("the chunk at octet {at} has a length of {length} octets; {available} are available")]
    BadChunkLength {
        /// The offset of the chunk in the packet.
        at: usize,
        /// Its length field.
        length: usize,
        /// Octets from the start of the chunk on.
        available: usize,
    },
    /// A chunk's content does not match its type.
    #[error("the chunk of type {kind} at octet {at} is malformed")]
    BadChunk {
        /// The offset of the chunk in the packet.
        at: usize,
        /// Its type.
        kind: u8,
    },
}

/// A packet's common header, with the octets of its chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// Verification tag.
    pub tag: u32,
    chunks: &'a [u8],
}

impl<'a> Packet<'a> {
    /// Reads the common header and verifies the checksum.
    ///
    /// # Errors
    /// The packet is too short, or its checksum does not match.
    pub fn parse(octets: &'a [u8]) -> Result<Self, PacketError> {
        let packet = Packet::parse_unchecked(octets)?;
        // The field is transmitted with its least significant octet first.
        let given = u32::from_le_bytes([octets[8], octets[9], octets[10], octets[11]]);
        let computed = checksum(octets);
        if given != computed {
            return Err(PacketError::BadChecksum { given, computed });
        }
        Ok(packet)
    }

    /// Reads the common header without verifying the checksum, for packets that are known to be valid.
    ///
    /// # Errors
    /// The packet is too short.
    pub fn parse_unchecked(octets: &'a [u8]) -> Result<Self, PacketError> {
        let truncated = PacketError::Truncated {
            octets: octets.len(),
        };
        let (header, chunks) = octets.split_at_checked(HEADER_OCTETS).ok_or(truncated)?;
        if chunks.len() < 4 {
            return Err(truncated);
        }
        Ok(Packet {
            source_port: be16(header, 0),
            destination_port: be16(header, 2),
            tag: be32(header, 4),
            chunks,
        })
    }

    /// Its chunks, up to the first one that cannot be delimited or decoded.
    pub fn chunks(&self) -> Chunks<'a> {
        Chunks {
            octets: self.chunks,
            at: HEADER_OCTETS,
        }
    }
}

/// The chunks of a packet, in order.
#[derive(Clone, Debug)]
pub struct Chunks<'a> {
    octets: &'a [u8],
    at: usize,
}

impl<'a> Iterator for Chunks<'a> {
    type Item = Result<Chunk<'a>, PacketError>;

    fn next(&mut self) -> Option<Self::Item> {
        let octets = self.octets;
        if octets.len() < 4 {
            return None; // at most padding
        }
        let (at, length) = (self.at, usize::from(be16(octets, 2)));
        if length < 4 || length > octets.len() {
            self.octets = &[];
            return Some(Err(PacketError::BadChunkLength {
                at,
                length,
                available: octets.len(),
            }));
        }
        let padded = padded(length).min(octets.len());
        self.octets = &octets[padded..];
        self.at += padded;
        let kind = octets[0];
        let chunk = Chunk::read(&octets[..length]);
        if chunk.is_none() {
            self.octets = &[];
        }
        Some(chunk.ok_or(PacketError::BadChunk { at, kind }))
    }
}

/// A length including the padding to whole words.
pub(super) const fn padded(length: usize) -> usize {
    length.next_multiple_of(4)
}

/// Two octets in network order. The caller must check the length.
fn be16(octets: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([octets[at], octets[at + 1]])
}

/// Four octets in network order. The caller must check the length.
fn be32(octets: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([octets[at], octets[at + 1], octets[at + 2], octets[at + 3]])
}

#[cfg(test)]
mod tests;
