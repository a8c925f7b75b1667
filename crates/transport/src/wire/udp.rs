//! UDP (RFC 768).

use internet_checksum::Sum;

use super::error::DecodeError;
use super::ipv4::{self, Ipv4};
use super::{Flow, be16};

pub(super) const PROTOCOL: u8 = 17;
pub(super) const HEADER_OCTETS: usize = 8;

/// Encodes the header of a datagram into `header`. `present` is the stored part of its payload; the rest is zeros.
pub(super) fn write(flow: &Flow, payload: u32, header: &mut [u8], present: &[u8]) {
    let length = HEADER_OCTETS as u32 + payload;
    header[..2].copy_from_slice(&flow.source_port.to_be_bytes());
    header[2..4].copy_from_slice(&flow.destination_port.to_be_bytes());
    header[4..6].copy_from_slice(&(length as u16).to_be_bytes());
    header[6..8].fill(0);
    let pseudo = ipv4::pseudo_header(flow.source, flow.destination, PROTOCOL, length.into());
    // Zero would mean that there is no checksum.
    let checksum = match (pseudo + Sum::of(header) + Sum::of(present)).checksum() {
        0 => 0xFFFF,
        checksum => checksum,
    };
    header[6..8].copy_from_slice(&checksum.to_be_bytes());
}

/// Decodes the datagram in `ip`'s body: its ports and payload octets. Telemetry in front of the payload is skipped.
pub(super) fn read(ip: &Ipv4<'_>) -> Result<((u16, u16), u32), DecodeError> {
    let Some(header) = ip.body.get(..HEADER_OCTETS) else {
        return Err(DecodeError::Truncated {
            layer: "UDP",
            needed: HEADER_OCTETS as u64,
            available: ip.body.len() as u64,
        });
    };
    let length = u64::from(be16(header, 4));
    if length < HEADER_OCTETS as u64 {
        let headers = HEADER_OCTETS as u64;
        return Err(DecodeError::BadLength {
            layer: "UDP",
            length,
            headers,
        });
    }
    if length != ip.body_octets {
        let available = ip.body_octets;
        return Err(DecodeError::Truncated {
            layer: "UDP",
            needed: length,
            available,
        });
    }
    if be16(header, 6) != 0 {
        ip.check_body("UDP")?;
    }
    let (_, int_octets) = ip.telemetry(HEADER_OCTETS)?;
    let payload = (length - (HEADER_OCTETS + int_octets) as u64) as u32;
    Ok(((be16(header, 0), be16(header, 2)), payload))
}
