//! Encoding and decoding of packets: Ethernet, IPv4 with options, TCP and UDP.
//!
//! A packet consists of its header octets and a payload length. The payload is elided and defined as zeros, so that
//! checksums are computed and valid, and written packets can be opened in any analyser.

mod csig;
mod error;
mod int;
mod ipv4;
mod octet_counts;
mod sctp;
mod tcp;
mod tcp_int;
mod udp;

use std::net::Ipv4Addr;

pub use error::{DecodeError, EncodeError};
pub use sctp::{decode_sctp, encode_sctp, is_sctp};

use crate::tcp::csig::Tag;
use crate::tcp::{Aqt, Avbw, Ecn, Int, Options, Segment, Trimming};

/// The longest headers: Ethernet 14, a CSIG tag 4, IPv4 60, TCP 60, and the longest telemetry stack.
pub const MAX_HEADER_OCTETS: usize = 138 + Int::MAX_OCTETS as usize;

const ETHERNET_OCTETS: usize = 14;
const ETHERTYPE_IPV4: u16 = 0x0800;

/// The addresses and ports of a packet.
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

impl Flow {
    /// The reverse direction.
    pub const fn reversed(self) -> Flow {
        Flow {
            source_mac: self.destination_mac,
            destination_mac: self.source_mac,
            source: self.destination,
            destination: self.source,
            source_port: self.destination_port,
            destination_port: self.source_port,
        }
    }
}

/// The content of a packet's headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Its addresses and ports.
    pub flow: Flow,
    /// IPv4 identification.
    pub identification: u16,
    /// IPv4 time to live.
    pub ttl: u8,
    /// The transport part.
    pub body: Body,
}

/// An empty datagram with zero addresses, into which a packet can be decoded.
impl Default for Packet {
    // Not a constant, because its unused octets would be copied.
    #[inline(always)]
    fn default() -> Self {
        Packet {
            flow: Flow {
                source_mac: [0; 6],
                destination_mac: [0; 6],
                source: Ipv4Addr::UNSPECIFIED,
                destination: Ipv4Addr::UNSPECIFIED,
                source_port: 0,
                destination_port: 0,
            },
            identification: 0,
            ttl: 0,
            body: Body::Udp { payload: 0 },
        }
    }
}

/// The transport part of a packet, and the IPv4 fields that transports use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::large_enum_variant,
    reason = "most packets are segments, and a box would be an allocation per packet"
)]
pub enum Body {
    /// A TCP segment.
    Tcp(Segment),
    /// A UDP datagram whose payload octets are all zero.
    Udp {
        /// Payload octets.
        payload: u32,
    },
}

impl Body {
    /// Elided payload octets.
    pub const fn payload(&self) -> u32 {
        match self {
            Body::Tcp(segment) => segment.payload,
            Body::Udp { payload } => *payload,
        }
    }

    /// Replaces it with an empty segment.
    fn set_segment(&mut self) -> &mut Segment {
        *self = Body::Tcp(Segment::default());
        match self {
            Body::Tcp(segment) => segment,
            Body::Udp { .. } => unreachable!("it is a segment now"),
        }
    }

    /// A UDP datagram of `octets` octets in total, including its IPv4 and UDP headers; at least 28.
    pub const fn udp_of_total(octets: u32) -> Body {
        Body::Udp {
            payload: octets.saturating_sub(28),
        }
    }

    /// The tag in front of IPv4.
    const fn csig(&self) -> Option<Tag> {
        match self {
            Body::Tcp(segment) => segment.csig,
            Body::Udp { .. } => None,
        }
    }

    fn marks(&self) -> ipv4::Marks {
        match self {
            Body::Tcp(segment) => ipv4::Marks {
                aqt: segment.aqt,
                avbw: segment.avbw,
                options: segment.options,
                ecn: segment.ecn,
                dscp: match segment.int {
                    Some(_) => int::DSCP,
                    None => ipv4::trimming_dscp(segment.trimming),
                },
                trimming: segment.trimming,
            },
            Body::Udp { .. } => ipv4::Marks::default(),
        }
    }
}

/// Encodes `packet`'s headers at the start of `buffer`, and returns their length. The packet also has [`Body::payload`]
/// zero octets. A buffer of [`MAX_HEADER_OCTETS`] is always large enough.
pub fn encode(packet: &Packet, buffer: &mut [u8]) -> Result<usize, EncodeError> {
    let headers = Headers::of(packet)?;
    let needed = ethernet_octets(packet) + headers.octets();
    let available = buffer.len();
    let frame = buffer
        .get_mut(..needed)
        .ok_or(EncodeError::BufferTooSmall { needed, available })?;
    headers.write_frame(packet, frame);
    Ok(needed)
}

/// Like [`encode`], but `buffer` receives exactly the length of the headers.
pub fn encode_whole(packet: &Packet, buffer: &mut Vec<u8>) -> Result<(), EncodeError> {
    let headers = Headers::of(packet)?;
    buffer.resize(ethernet_octets(packet) + headers.octets(), 0);
    headers.write_frame(packet, buffer);
    Ok(())
}

fn ethernet_octets(packet: &Packet) -> usize {
    ETHERNET_OCTETS + packet.body.csig().map_or(0, |_| csig::TAG_OCTETS)
}

/// The offset of the IPv4 header in a frame, behind the Ethernet header and a CSIG tag. `None` if the frame is not
/// IPv4.
pub fn ipv4_offset(frame: &[u8]) -> Option<usize> {
    let ethertype = |at: usize| Some(u16::from_be_bytes(*frame.get(at..)?.first_chunk()?));
    match ethertype(12)? {
        ETHERTYPE_IPV4 => Some(ETHERNET_OCTETS),
        csig::TPID if ethertype(16)? == ETHERTYPE_IPV4 => Some(ETHERNET_OCTETS + csig::TAG_OCTETS),
        _ => None,
    }
}

/// The sequence number of a TCP segment in a frame, without any other check. `None` if it is not TCP over IPv4.
pub fn sequence_number(frame: &[u8]) -> Option<u32> {
    let ip = frame.get(ipv4_offset(frame)?..)?;
    if ip.get(9) != Some(&tcp::PROTOCOL) {
        return None;
    }
    let header_octets = usize::from(ip[0] & 15) * 4;
    let octets = ip.get(header_octets + 4..)?.first_chunk()?;
    Some(u32::from_be_bytes(*octets))
}

/// The offset from the start of the IPv4 header at which [`complete_ip`] expects the payload of `packet`.
pub fn payload_offset(packet: &Packet) -> Result<usize, EncodeError> {
    Ok(Headers::of(packet)?.octets())
}

/// Encodes the IPv4 and transport headers of `packet` in front of the payload that `buffer` already contains at
/// [`payload_offset`]. Returns the total length.
pub fn complete_ip(packet: &Packet, buffer: &mut [u8]) -> Result<usize, EncodeError> {
    let headers = Headers::of(packet)?;
    let octets = headers.octets() + packet.body.payload() as usize;
    let available = buffer.len();
    let Some(buffer) = buffer.get_mut(..octets) else {
        return Err(EncodeError::BufferTooSmall {
            needed: octets,
            available,
        });
    };
    let (ip, payload) = buffer.split_at_mut(headers.octets());
    headers.write(packet, ip, payload);
    Ok(octets)
}

/// Sizes of a packet's headers behind the Ethernet header.
#[derive(Clone, Copy, Debug)]
struct Headers {
    marks: ipv4::Marks,
    ip: usize,
    transport: usize,
    /// The IPv4 total length.
    total: u16,
}

impl Headers {
    fn of(packet: &Packet) -> Result<Self, EncodeError> {
        let marks = packet.body.marks();
        let ip = marks.header_octets()?;
        let transport = match &packet.body {
            Body::Tcp(segment) => tcp::header_octets(segment)?,
            Body::Udp { .. } => udp::HEADER_OCTETS,
        };
        let total = (ip + transport) as u64 + u64::from(packet.body.payload());
        let total = u16::try_from(total).map_err(|_| EncodeError::TooLong { octets: total })?;
        Ok(Headers {
            marks,
            ip,
            transport,
            total,
        })
    }

    const fn octets(&self) -> usize {
        self.ip + self.transport
    }

    /// Encodes them behind the Ethernet header into `frame`, which must have the total length.
    fn write_frame(&self, packet: &Packet, frame: &mut [u8]) {
        let (ethernet, ip) = frame.split_at_mut(ethernet_octets(packet));
        write_ethernet(&packet.flow, packet.body.csig(), ethernet);
        self.write(packet, ip, &[]);
    }

    /// Encodes them into `headers`, which must have their length.
    fn write(&self, packet: &Packet, headers: &mut [u8], payload: &[u8]) {
        let (ip, transport) = headers.split_at_mut(self.ip);
        let protocol = match packet.body {
            Body::Tcp(_) => tcp::PROTOCOL,
            Body::Udp { .. } => udp::PROTOCOL,
        };
        ipv4::write(packet, &self.marks, protocol, self.total, ip);
        match &packet.body {
            Body::Tcp(segment) => tcp::write(&packet.flow, segment, transport, payload),
            Body::Udp { payload: octets } => {
                udp::write(&packet.flow, *octets, transport, payload);
            }
        }
    }
}

fn write_ethernet(flow: &Flow, tag: Option<Tag>, header: &mut [u8]) {
    header[..6].copy_from_slice(&flow.destination_mac);
    header[6..12].copy_from_slice(&flow.source_mac);
    if let Some(tag) = tag {
        header[12..14].copy_from_slice(&csig::TPID.to_be_bytes());
        header[14..16].copy_from_slice(&tag.0.to_be_bytes());
    }
    let at = header.len() - 2;
    header[at..].copy_from_slice(&ETHERTYPE_IPV4.to_be_bytes());
}

/// Decodes a packet whose last `payload` octets are elided zeros. Payload octets may also be present in `octets`, and
/// padding may follow if none is elided. Verifies lengths and all checksums. A TCP packet whose DSCP states that it was
/// trimmed may be truncated: its segment is [`Trimming::Cut`].
pub fn decode(octets: &[u8], payload: u32) -> Result<Packet, DecodeError> {
    let mut packet = Packet::default();
    decode_into(octets, payload, &mut packet)?;
    Ok(packet)
}

/// Like [`decode`], into `packet`, which saves copies of a large value. After an error its content is unspecified.
#[inline]
pub fn decode_into(octets: &[u8], payload: u32, packet: &mut Packet) -> Result<(), DecodeError> {
    let Some((ethernet, rest)) = octets.split_at_checked(ETHERNET_OCTETS) else {
        return Err(DecodeError::Truncated {
            layer: "Ethernet",
            needed: ETHERNET_OCTETS as u64,
            available: octets.len() as u64,
        });
    };
    let mut ethertype = be16(ethernet, 12);
    let (mut tag, mut rest) = (None, rest);
    if ethertype == csig::TPID {
        let Some((tagged, behind)) = rest.split_at_checked(csig::TAG_OCTETS) else {
            return Err(DecodeError::Truncated {
                layer: "CSIG",
                needed: csig::TAG_OCTETS as u64,
                available: rest.len() as u64,
            });
        };
        tag = Some(Tag(be16(tagged, 0)));
        ethertype = be16(tagged, 2);
        rest = behind;
    }
    if ethertype != ETHERTYPE_IPV4 {
        return Err(DecodeError::NotIpv4 { ethertype });
    }
    read_ip(rest, payload, packet)?;
    packet.flow.source_mac = array(ethernet, 6);
    packet.flow.destination_mac = array(ethernet, 0);
    if let (Body::Tcp(segment), Some(_)) = (&mut packet.body, tag) {
        segment.csig = tag;
        segment.link_octets += csig::TAG_OCTETS as u32;
    }
    Ok(())
}

/// Like [`decode`], from the IPv4 header on. Also returns the stored part of the transport's payload. The Ethernet
/// addresses of the flow are zero.
pub fn decode_ip(octets: &[u8], payload: u32) -> Result<(Packet, &[u8]), DecodeError> {
    let mut packet = Packet::default();
    let present = read_ip(octets, payload, &mut packet)?;
    Ok((packet, present))
}

/// Decodes a packet from the IPv4 header on, without Ethernet addresses. Also returns the stored part of the payload.
#[inline]
fn read_ip<'a>(
    octets: &'a [u8],
    payload: u32,
    packet: &mut Packet,
) -> Result<&'a [u8], DecodeError> {
    let ip = ipv4::read(octets, payload)?;
    let ports = match ip.protocol {
        tcp::PROTOCOL => tcp::read(&ip, packet.body.set_segment())?,
        udp::PROTOCOL => {
            let (ports, payload) = udp::read(&ip)?;
            packet.body = Body::Udp { payload };
            ports
        }
        protocol => return Err(DecodeError::UnknownProtocol { protocol }),
    };
    let headers = ip.body_octets - u64::from(packet.body.payload());
    let present = match ip.marks.trimming {
        Trimming::Cut => &[],
        _ => ip.body.get(headers as usize..).unwrap_or(&[]),
    };
    (packet.flow.source, packet.flow.destination) = (ip.source, ip.destination);
    (packet.flow.source_port, packet.flow.destination_port) = ports;
    (packet.identification, packet.ttl) = (ip.identification, ip.ttl);
    Ok(present)
}

/// Two octets in network order. The caller must check the length.
fn be16(octets: &[u8], at: usize) -> u16 {
    u16::from_be_bytes(array(octets, at))
}

/// Four octets in network order. The caller must check the length.
fn be32(octets: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(array(octets, at))
}

fn array<const N: usize>(octets: &[u8], at: usize) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&octets[at..at + N]);
    array
}

#[cfg(test)]
mod tests;
