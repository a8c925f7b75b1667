//! SCTP packets in Ethernet and IPv4. Zero octets at their end can be elided as in other packets.

use super::error::{DecodeError, EncodeError};
use super::ipv4::{self, Marks};
use super::{ETHERNET_OCTETS, ETHERTYPE_IPV4, Flow, be16};
use crate::sctp::packet::{HEADER_OCTETS, PROTOCOL, zeros_at_end};
use std::net::Ipv4Addr;

/// Octets of the headers in front of an SCTP packet.
const HEADERS: usize = ETHERNET_OCTETS + 20;

/// Whether a frame carries SCTP over IPv4.
pub fn is_sctp(octets: &[u8]) -> bool {
    octets.len() >= HEADERS
        && be16(octets, 12) == ETHERTYPE_IPV4
        && octets[ETHERNET_OCTETS + 9] == PROTOCOL
}

/// Encodes an SCTP packet with its headers into `frame`, which is cleared, without the zeros at its end. Returns the
/// number of these zeros. The ports of `flow` are not used.
///
/// # Errors
/// The packet is too long for IPv4.
pub fn encode_sctp(
    flow: &Flow,
    identification: u16,
    ttl: u8,
    packet: &[u8],
    frame: &mut Vec<u8>,
) -> Result<u32, EncodeError> {
    let marks = Marks::default();
    let octets = (marks.header_octets()? + packet.len()) as u64;
    let total = u16::try_from(octets).map_err(|_| EncodeError::TooLong { octets })?;
    let present = packet.len() - zeros_at_end(packet);
    let present = present.max(HEADER_OCTETS).min(packet.len());
    frame.clear();
    frame.extend_from_slice(&flow.destination_mac);
    frame.extend_from_slice(&flow.source_mac);
    frame.extend_from_slice(&ETHERTYPE_IPV4.to_be_bytes());
    frame.resize(HEADERS, 0);
    let header = &mut frame[ETHERNET_OCTETS..];
    ipv4::write_header(flow, identification, ttl, &marks, PROTOCOL, total, header);
    frame.extend_from_slice(&packet[..present]);
    Ok((packet.len() - present) as u32)
}

/// The addresses of a frame with SCTP, and the SCTP packet with the `elided` zeros at its end restored.
///
/// # Errors
/// The IPv4 header is invalid. The SCTP packet is not checked.
pub fn decode_sctp(
    frame: &mut Vec<u8>,
    elided: u32,
) -> Result<(Ipv4Addr, Ipv4Addr, &[u8]), DecodeError> {
    frame.resize(frame.len() + elided as usize, 0);
    let Some((_, rest)) = frame.split_at_checked(ETHERNET_OCTETS) else {
        return Err(DecodeError::Truncated {
            layer: "Ethernet",
            needed: ETHERNET_OCTETS as u64,
            available: frame.len() as u64,
        });
    };
    let ip = ipv4::read(rest, 0)?;
    if ip.protocol != PROTOCOL {
        return Err(DecodeError::UnknownProtocol {
            protocol: ip.protocol,
        });
    }
    Ok((ip.source, ip.destination, ip.body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_comes_back_with_its_elided_zeros() {
        let flow = Flow {
            source_mac: [2; 6],
            destination_mac: [4; 6],
            source: Ipv4Addr::new(10, 0, 0, 1),
            destination: Ipv4Addr::new(10, 0, 0, 2),
            source_port: 0,
            destination_port: 0,
        };
        let mut packet = vec![7; 40];
        packet.resize(1480, 0);
        let mut frame = Vec::new();
        let elided = encode_sctp(&flow, 1, 64, &packet, &mut frame).unwrap();
        assert_eq!((frame.len(), elided), (34 + 40, 1440));
        assert!(is_sctp(&frame));
        assert_eq!(frame[..6], [4; 6]);
        let (source, destination, body) = decode_sctp(&mut frame, elided).unwrap();
        assert_eq!((source, destination), (flow.source, flow.destination));
        assert_eq!(body, packet);
    }
}
