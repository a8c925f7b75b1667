//! Decoding of chunks (RFC 9260, §3.3).

use super::parameter::Parameters;
use super::{DATA_HEADER_OCTETS, TIMESTAMP_OCTETS, be16, be32};
use crate::sctp::Tsn;

/// Chunk types.
pub(crate) mod kind {
    pub const DATA: u8 = 0;
    pub const INIT: u8 = 1;
    pub const INIT_ACK: u8 = 2;
    pub const SACK: u8 = 3;
    pub const HEARTBEAT: u8 = 4;
    pub const HEARTBEAT_ACK: u8 = 5;
    pub const ABORT: u8 = 6;
    pub const SHUTDOWN: u8 = 7;
    pub const SHUTDOWN_ACK: u8 = 8;
    pub const ERROR: u8 = 9;
    pub const COOKIE_ECHO: u8 = 10;
    pub const COOKIE_ACK: u8 = 11;
    pub const SHUTDOWN_COMPLETE: u8 = 14;
    /// Unassigned. Its high bits tell hosts that do not know it to skip it silently.
    pub const TIMESTAMP: u8 = 0x9E;
}

/// A chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chunk<'a> {
    /// User data.
    Data(Data<'a>),
    /// Requests an association.
    Init(Init<'a>),
    /// Response to INIT. Its parameters include a State Cookie.
    InitAck(Init<'a>),
    /// Selective acknowledgement.
    Sack(Sack<'a>),
    /// Probes a path. The receiver returns the information unchanged.
    Heartbeat(&'a [u8]),
    /// Response to HEARTBEAT.
    HeartbeatAck(&'a [u8]),
    /// Ends an association at once.
    Abort {
        /// Whether the verification tag is the receiver's own (the T bit).
        reflected: bool,
        /// The error causes.
        causes: Causes<'a>,
    },
    /// No more data from the sender.
    Shutdown {
        /// The last TSN received in sequence.
        cumulative: Tsn,
    },
    /// Response to SHUTDOWN.
    ShutdownAck,
    /// Reports errors that do not end the association.
    Error(Causes<'a>),
    /// Returns a State Cookie.
    CookieEcho(&'a [u8]),
    /// Response to COOKIE ECHO.
    CookieAck,
    /// Response to SHUTDOWN ACK.
    ShutdownComplete {
        /// As in [`Chunk::Abort`].
        reflected: bool,
    },
    /// Round-trip time per packet (Dahal 2007, §6.1.2): 12 octets.
    Timestamp {
        /// The sender's clock in microseconds.
        value: u32,
        /// The echoed value. 0 means none.
        echo: u32,
    },
    /// A chunk of unknown type.
    Unknown {
        /// Its type.
        kind: u8,
        /// The complete chunk, without padding.
        octets: &'a [u8],
    },
}

/// A DATA chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data<'a> {
    /// Flags.
    pub flags: DataFlags,
    /// Transmission sequence number.
    pub tsn: Tsn,
    /// Stream identifier.
    pub stream: u16,
    /// Stream sequence number.
    pub ssn: u16,
    /// Payload protocol identifier.
    pub protocol: u32,
    /// User data: at least one octet.
    pub payload: &'a [u8],
}

/// The flags of a DATA chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DataFlags(pub u8);

impl DataFlags {
    /// The last fragment of a message.
    pub const END: u8 = 0x01;
    /// The first fragment of a message.
    pub const BEGIN: u8 = 0x02;
    /// The message is not ordered.
    pub const UNORDERED: u8 = 0x04;
    /// The receiver should acknowledge immediately (RFC 7053).
    pub const IMMEDIATE: u8 = 0x08;

    /// Whether a flag is set.
    pub const fn has(self, flag: u8) -> bool {
        self.0 & flag != 0
    }
}

/// An INIT or INIT ACK chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Init<'a> {
    /// The verification tag for packets to its sender.
    pub tag: u32,
    /// Its sender's receive window in octets.
    pub window: u32,
    /// Number of streams on which it wants to send.
    pub outbound: u16,
    /// Number of streams on which it allows the peer to send.
    pub inbound: u16,
    /// Its first TSN.
    pub initial_tsn: Tsn,
    /// Addresses, cookie, and others.
    pub parameters: Parameters<'a>,
}

/// A SACK chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sack<'a> {
    /// The last TSN received in sequence.
    pub cumulative: Tsn,
    /// Room in its sender's buffer, in octets.
    pub window: u32,
    gaps: &'a [u8],
    duplicates: &'a [u8],
}

impl Sack<'_> {
    /// Blocks of TSNs received beyond the cumulative one: first and last, as offsets from it.
    pub fn gaps(&self) -> impl Iterator<Item = (u16, u16)> {
        let blocks = self.gaps.chunks_exact(4);
        blocks.map(|block| (be16(block, 0), be16(block, 2)))
    }

    /// TSNs that arrived more than once.
    pub fn duplicates(&self) -> impl Iterator<Item = Tsn> {
        self.duplicates.chunks_exact(4).map(|tsn| Tsn(be32(tsn, 0)))
    }
}

/// Error causes. Each has a code and a value behind its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Causes<'a>(&'a [u8]);

impl<'a> Causes<'a> {
    /// The causes, up to the first that cannot be delimited.
    pub fn iter(&self) -> impl Iterator<Item = (u16, &'a [u8])> + use<'a> {
        super::parameter::blocks(self.0)
    }
}

impl<'a> Chunk<'a> {
    /// Decodes a chunk of exactly these octets, without padding. Returns `None` if it does not
    /// match its type.
    pub(super) fn read(octets: &'a [u8]) -> Option<Self> {
        let (flags, body) = (octets[1], &octets[4..]);
        Some(match octets[0] {
            kind::DATA => Chunk::Data(Data::read(octets)?),
            kind::INIT => Chunk::Init(Init::read(body)?),
            kind::INIT_ACK => Chunk::InitAck(Init::read(body)?),
            kind::SACK => Chunk::Sack(Sack::read(body)?),
            kind::HEARTBEAT => Chunk::Heartbeat(body),
            kind::HEARTBEAT_ACK => Chunk::HeartbeatAck(body),
            kind::ABORT => Chunk::Abort {
                reflected: flags & 1 != 0,
                causes: Causes(body),
            },
            kind::SHUTDOWN if body.len() >= 4 => Chunk::Shutdown {
                cumulative: Tsn(be32(body, 0)),
            },
            kind::SHUTDOWN => return None,
            kind::SHUTDOWN_ACK => Chunk::ShutdownAck,
            kind::ERROR => Chunk::Error(Causes(body)),
            kind::COOKIE_ECHO => Chunk::CookieEcho(body),
            kind::COOKIE_ACK => Chunk::CookieAck,
            kind::SHUTDOWN_COMPLETE => Chunk::ShutdownComplete {
                reflected: flags & 1 != 0,
            },
            kind::TIMESTAMP if octets.len() == TIMESTAMP_OCTETS => Chunk::Timestamp {
                value: be32(body, 0),
                echo: be32(body, 4),
            },
            kind => Chunk::Unknown { kind, octets },
        })
    }
}

impl<'a> Data<'a> {
    fn read(octets: &'a [u8]) -> Option<Self> {
        let (header, payload) = octets.split_at_checked(DATA_HEADER_OCTETS)?;
        if payload.is_empty() {
            return None; // §6.9: no user data is an error
        }
        Some(Data {
            flags: DataFlags(header[1]),
            tsn: Tsn(be32(header, 4)),
            stream: be16(header, 8),
            ssn: be16(header, 10),
            protocol: be32(header, 12),
            payload,
        })
    }
}

impl<'a> Init<'a> {
    fn read(body: &'a [u8]) -> Option<Self> {
        let (fixed, parameters) = body.split_at_checked(16)?;
        Some(Init {
            tag: be32(fixed, 0),
            window: be32(fixed, 4),
            outbound: be16(fixed, 8),
            inbound: be16(fixed, 10),
            initial_tsn: Tsn(be32(fixed, 12)),
            parameters: Parameters::new(parameters),
        })
    }
}

impl<'a> Sack<'a> {
    fn read(body: &'a [u8]) -> Option<Self> {
        let (fixed, rest) = body.split_at_checked(12)?;
        let (gaps, duplicates) = (usize::from(be16(fixed, 8)), usize::from(be16(fixed, 10)));
        let (gaps, rest) = rest.split_at_checked(4 * gaps)?;
        Some(Sack {
            cumulative: Tsn(be32(fixed, 0)),
            window: be32(fixed, 4),
            gaps,
            duplicates: rest.get(..4 * duplicates)?,
        })
    }
}
