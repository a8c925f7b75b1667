//! Errors in packets.

use thiserror::Error;

/// Why a packet cannot be encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum EncodeError {
    /// The caller's buffer is too short for the headers.
    #[error("the headers need {needed} octets, the buffer has {available}")]
    BufferTooSmall {
        /// Octets of the headers.
        needed: usize,
        /// Octets of the buffer.
        available: usize,
    },
    /// The packet exceeds the IPv4 maximum of 65535 octets.
    #[error("the packet would have {octets} octets; IPv4 allows at most 65535")]
    TooLong {
        /// The required IPv4 total length.
        octets: u64,
    },
    /// The options exceed IPv4's maximum of 40 octets.
    #[error("the IPv4 options need {octets} octets; there is room for 40")]
    Ipv4OptionsTooLong {
        /// Octets of the options, including padding.
        octets: usize,
    },
    /// The options exceed TCP's maximum of 40 octets.
    #[error("the TCP options need {octets} octets; there is room for 40")]
    TcpOptionsTooLong {
        /// Octets of the options.
        octets: usize,
    },
}

/// An error in the octets of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// The packet ends early.
    #[error("{layer} needs {needed} octets, {available} are available")]
    Truncated {
        /// The truncated protocol.
        layer: &'static str,
        /// The stated or minimum number of octets.
        needed: u64,
        /// The available octets, including elided ones where they count.
        available: u64,
    },
    /// Not an IPv4 packet.
    #[error("EtherType is {ethertype:#06x}, expected 0x0800 (IPv4)")]
    NotIpv4 {
        /// The EtherType.
        ethertype: u16,
    },
    /// The version field is not 4.
    #[error("IP version is {version}, expected 4")]
    BadVersion {
        /// The version field.
        version: u8,
    },
    /// A header length is less than that of the fixed part.
    #[error("{layer} header length is {words} words, expected {minimum} to {maximum}")]
    BadHeaderLength {
        /// The protocol.
        layer: &'static str,
        /// IHL or data offset.
        words: u8,
        /// The smallest allowed.
        minimum: u8,
        /// The largest allowed.
        maximum: u8,
    },
    /// A length field is less than the length of the headers that it includes.
    #[error("{layer} length is {length} octets, its headers alone have {headers}")]
    BadLength {
        /// The protocol.
        layer: &'static str,
        /// The length field.
        length: u64,
        /// Octets of the headers that it includes.
        headers: u64,
    },
    /// A checksum does not match.
    #[error("{layer} checksum does not match")]
    BadChecksum {
        /// The protocol.
        layer: &'static str,
    },
    /// The packet is a fragment. The project's hosts never fragment.
    #[error("the packet is a fragment")]
    Fragment,
    /// The length of an option does not match its kind or its header.
    #[error("{layer} option {kind:#04x} at octet {at} has length {length}, which does not fit")]
    BadOption {
        /// The protocol.
        layer: &'static str,
        /// The option's type octet.
        kind: u8,
        /// Its offset in the header.
        at: usize,
        /// Its length octet. 0 if the header ends before it.
        length: u8,
    },
    /// The DSCP indicates in-band network telemetry, but there is none.
    #[error("INT type is {kind}, expected 1 (MD), 2 (destination) or 3 (MX)")]
    UnknownIntType {
        /// The type field of the shim.
        kind: u8,
    },
    /// The protocol is neither TCP nor UDP.
    #[error("IPv4 protocol is {protocol}, expected 6 (TCP) or 17 (UDP)")]
    UnknownProtocol {
        /// The protocol field.
        protocol: u8,
    },
}
