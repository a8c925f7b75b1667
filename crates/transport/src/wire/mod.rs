//! Packets as octets: Ethernet, IPv4 with options, TCP and UDP.
//!
//! A packet is its header octets and a payload length; the payload is elided and defined as zeros, so
//! checksums are computed and valid.

use crate::tcp::Segment;
use std::net::Ipv4Addr;

/// The longest headers: Ethernet 14, IPv4 60, TCP 60.
pub const MAX_HEADER_OCTETS: usize = 134;

/// Who talks to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Flow {
    /// Ethernet source.
    pub source_mac: [u8; 6],
    /// Ethernet destination.
    pub destination_mac: [u8; 6],
    /// IPv4 source.
    pub source: Ipv4Addr,
    /// IPv4 destination.
    pub destination: Ipv4Addr,
    /// TCP or UDP source port.
    pub source_port: u16,
    /// TCP or UDP destination port.
    pub destination_port: u16,
}

/// What a packet's headers say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Who talks to whom.
    pub flow: Flow,
    /// IPv4 identification.
    pub identification: u16,
    /// IPv4 time to live.
    pub ttl: u8,
    /// What the IPv4 payload is.
    pub body: Body,
}

/// The transport part of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// A TCP segment.
    Tcp(Segment),
    /// A UDP datagram with so many payload octets, all zero.
    Udp {
        /// Payload octets.
        payload: u32,
    },
}

/// Why a packet could not be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EncodeError {}
/// What is wrong with a packet's octets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {}

/// Writes `packet`'s headers into `buffer`; their length. The packet has
/// [`Body::payload`] more octets, all zero.
pub fn encode(_packet: &Packet, _buffer: &mut [u8]) -> Result<usize, EncodeError> {
    todo!()
}

/// Reads headers that are followed by `payload` elided octets of zeros. Octets of payload that are present
/// in `octets` behind the headers count as well.
pub fn decode(_octets: &[u8], _payload: u32) -> Result<Packet, DecodeError> {
    todo!()
}

impl Body {
    /// Elided payload octets.
    pub fn payload(&self) -> u32 {
        match self {
            Body::Tcp(segment) => segment.payload,
            Body::Udp { payload } => *payload,
        }
    }
}
