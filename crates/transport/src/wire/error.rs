//! What can be wrong with a packet.

use thiserror::Error;

/// Why a packet cannot be written.
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
    /// IPv4 counts at most 65535 octets.
    #[error("the packet would have {octets} octets; IPv4 allows at most 65535")]
    TooLong {
        /// IPv4 total length that would be needed.
        octets: u64,
    },
    /// IPv4 has room for 40 octets of options.
    #[error("the IPv4 options need {octets} octets; there is room for 40")]
    Ipv4OptionsTooLong {
        /// Octets of the options, padding included.
        octets: usize,
    },
    /// TCP has room for 40 octets of options.
    #[error("the TCP options need {octets} octets; there is room for 40")]
    TcpOptionsTooLong {
        /// Octets of the options.
        octets: usize,
    },
}

/// What is wrong with a packet's octets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// The packet ends early.
    #[error("{layer} needs {needed} octets, there are {available}")]
    Truncated {
        /// The protocol that ends early.
        layer: &'static str,
        /// Octets that it says it has, or has at least.
        needed: u64,
        /// Octets that there are, elided ones included where they may count.
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
    /// A header says that it is shorter than its fixed part.
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
    /// A length field is shorter than the headers that it counts.
    #[error("{layer} length is {length} octets, its headers alone have {headers}")]
    BadLength {
        /// The protocol.
        layer: &'static str,
        /// The length field.
        length: u64,
        /// Octets of the headers that it counts.
        headers: u64,
    },
    /// A checksum does not match.
    #[error("{layer} checksum does not match")]
    BadChecksum {
        /// The protocol.
        layer: &'static str,
    },
    /// A fragment; the project's hosts never fragment.
    #[error("the packet is a fragment")]
    Fragment,
    /// An option's length does not fit its kind or its header.
    #[error("{layer} option {kind:#04x} at octet {at} has length {length}, which does not fit")]
    BadOption {
        /// The protocol.
        layer: &'static str,
        /// The option's type octet.
        kind: u8,
        /// Where it starts, counted from the header's start.
        at: usize,
        /// Its length octet; 0 where the header ends before it.
        length: u8,
    },
    /// The DSCP says that in-band network telemetry follows, and it does not.
    #[error("INT type is {kind}, expected 1 (MD), 2 (destination) or 3 (MX)")]
    UnknownIntType {
        /// The type field of the shim.
        kind: u8,
    },
    /// Neither TCP nor UDP.
    #[error("IPv4 protocol is {protocol}, expected 6 (TCP) or 17 (UDP)")]
    UnknownProtocol {
        /// The protocol field.
        protocol: u8,
    },
}
