//! Parameters of INIT and INIT ACK (RFC 9260, §3.3.2.1 and §3.3.3.1).

use super::{be16, be32, padded};
use std::net::Ipv4Addr;

/// Parameter types.
pub(super) mod kind {
    pub const IPV4: u16 = 5;
    pub const IPV6: u16 = 6;
    pub const COOKIE: u16 = 7;
    pub const UNRECOGNIZED: u16 = 8;
    pub const COOKIE_PRESERVATIVE: u16 = 9;
    pub const HOST_NAME: u16 = 11;
    pub const ADDRESS_TYPES: u16 = 12;
}

/// A parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter<'a> {
    /// An address of the sender.
    Ipv4(Ipv4Addr),
    /// A State Cookie.
    Cookie(&'a [u8]),
    /// A parameter that is defined in the RFC but not used here.
    Other {
        /// Its type.
        kind: u16,
    },
    /// An unknown parameter.
    Unknown {
        /// Its type. The high bits determine how to handle it.
        kind: u16,
        /// The complete parameter, without padding.
        octets: &'a [u8],
    },
}

/// The parameters of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters<'a>(&'a [u8]);

impl<'a> Parameters<'a> {
    pub(super) fn new(octets: &'a [u8]) -> Self {
        Parameters(octets)
    }

    /// The parameters, up to the first that cannot be delimited.
    pub fn iter(&self) -> impl Iterator<Item = Parameter<'a>> + use<'a> {
        whole_blocks(self.0).map(|(kind, octets)| match (kind, &octets[4..]) {
            (kind::IPV4, body) if body.len() == 4 => {
                Parameter::Ipv4(Ipv4Addr::from_bits(be32(body, 0)))
            }
            (kind::COOKIE, body) => Parameter::Cookie(body),
            (
                kind::IPV4
                | kind::IPV6
                | kind::UNRECOGNIZED
                | kind::COOKIE_PRESERVATIVE
                | kind::HOST_NAME
                | kind::ADDRESS_TYPES,
                _,
            ) => Parameter::Other { kind },
            _ => Parameter::Unknown { kind, octets },
        })
    }

    /// The State Cookie.
    pub fn cookie(&self) -> Option<&'a [u8]> {
        self.iter().find_map(|parameter| match parameter {
            Parameter::Cookie(cookie) => Some(cookie),
            _ => None,
        })
    }

    /// The addresses.
    pub fn addresses(&self) -> impl Iterator<Item = Ipv4Addr> + use<'a> {
        self.iter().filter_map(|parameter| match parameter {
            Parameter::Ipv4(address) => Some(address),
            _ => None,
        })
    }
}

/// Blocks of a 16-bit type, a 16-bit length, a value and padding. Returns type and value of each.
pub(super) fn blocks(octets: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    whole_blocks(octets).map(|(kind, octets)| (kind, &octets[4..]))
}

/// The same blocks, each including its type and length.
fn whole_blocks(mut octets: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        if octets.len() < 4 {
            return None;
        }
        let (kind, length) = (be16(octets, 0), usize::from(be16(octets, 2)));
        let block = octets.get(..length).filter(|block| block.len() >= 4)?;
        octets = &octets[padded(length).min(octets.len())..];
        Some((kind, block))
    })
}
