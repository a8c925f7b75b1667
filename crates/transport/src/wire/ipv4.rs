//! IPv4 (RFC 791) with the project's two options. Other options are octets.

use std::net::Ipv4Addr;

use internet_checksum::Sum;

use super::error::{DecodeError, EncodeError};
use super::{Aqt, Avbw, Ecn, Flow, Int, Options, Packet, Trimming, array, be16, int, tcp};
use crate::tcp::options;

const FIXED_OCTETS: usize = 20;
const DONT_FRAGMENT: u16 = 0x4000;
/// More-fragments flag and fragment offset.
const FRAGMENT_BITS: u16 = 0x3FFF;

/// Differentiated services codepoints (RFC 2474) of packets that switches may trim, and of trimmed ones. Both belong to
/// the pool for local use (section 6).
const TRIMMABLE_DSCP: u8 = 0b000011;
const TRIMMED_DSCP: u8 = 0b000111;

const AQT_OCTETS: usize = 8;
const AVBW_OCTETS: usize = 4;

/// The IPv4 fields that transports use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks {
    pub(super) aqt: Option<Aqt>,
    pub(super) avbw: Option<Avbw>,
    pub(super) options: Options,
    pub(super) ecn: Ecn,
    pub(super) dscp: u8,
    pub(super) trimming: Trimming,
}

/// The DSCP for the trimming state of a packet that a transport sends.
pub(super) fn trimming_dscp(trimming: Trimming) -> u8 {
    match trimming {
        Trimming::None => 0,
        Trimming::Trimmable => TRIMMABLE_DSCP,
        Trimming::Cut => TRIMMED_DSCP,
    }
}

impl Marks {
    /// Octets of a header with these fields.
    ///
    /// # Errors
    /// The options do not fit into a header.
    pub(super) fn header_octets(&self) -> Result<usize, EncodeError> {
        let aqt = if self.aqt.is_some() { AQT_OCTETS } else { 0 };
        let avbw = if self.avbw.is_some() { AVBW_OCTETS } else { 0 };
        let octets = aqt + avbw + self.options.padded_octets() as usize;
        match octets > Options::MAX {
            true => Err(EncodeError::Ipv4OptionsTooLong { octets }),
            false => Ok(FIXED_OCTETS + octets),
        }
    }
}

/// A decoded IPv4 packet.
#[derive(Debug)]
pub(super) struct Ipv4<'a> {
    pub(super) source: Ipv4Addr,
    pub(super) destination: Ipv4Addr,
    pub(super) identification: u16,
    pub(super) ttl: u8,
    pub(super) protocol: u8,
    pub(super) marks: Marks,
    /// The total length field.
    pub(super) total_octets: u16,
    /// The stored octets behind the header. Elided zeros follow up to `body_octets`, or the truncated part.
    pub(super) body: &'a [u8],
    pub(super) body_octets: u64,
}

impl Ipv4<'_> {
    /// The telemetry stack behind a transport header of `octets` octets, and its length.
    pub(super) fn telemetry(&self, octets: usize) -> Result<(Option<Int>, usize), DecodeError> {
        match self.marks.dscp {
            int::DSCP => int::read(self.body.get(octets..).unwrap_or(&[])),
            _ => Ok((None, 0)),
        }
    }

    /// Verifies the checksum of the TCP or UDP packet in the body.
    pub(super) fn check_body(&self, layer: &'static str) -> Result<(), DecodeError> {
        let (source, destination) = (self.source, self.destination);
        let pseudo = pseudo_header(source, destination, self.protocol, self.body_octets);
        if (pseudo + Sum::of(self.body)).checksum() == 0 {
            Ok(())
        } else {
            Err(DecodeError::BadChecksum { layer })
        }
    }
}

/// The sum of the pseudo-header of TCP and UDP.
pub(super) fn pseudo_header(
    source: Ipv4Addr,
    destination: Ipv4Addr,
    protocol: u8,
    body_octets: u64,
) -> Sum {
    let [source, destination] = [source, destination].map(|at| u64::from(at.to_bits()));
    Sum::from(source)
        + Sum::from(destination)
        + Sum::from(u64::from(protocol))
        + Sum::from(body_octets)
}

/// Writes the header into `header`, which must have the length of [`Marks::header_octets`].
pub(super) fn write(packet: &Packet, marks: &Marks, protocol: u8, total: u16, header: &mut [u8]) {
    let (flow, identification, ttl) = (&packet.flow, packet.identification, packet.ttl);
    write_header(flow, identification, ttl, marks, protocol, total, header);
}

/// The same for a packet of any protocol.
pub(super) fn write_header(
    flow: &Flow,
    identification: u16,
    ttl: u8,
    marks: &Marks,
    protocol: u8,
    total: u16,
    header: &mut [u8],
) {
    let words = (header.len() / 4) as u8;
    let (fixed, mut room) = header
        .split_first_chunk_mut::<FIXED_OCTETS>()
        .expect("the room is as long as the header");
    fixed[0] = 0x40 | words;
    fixed[1] = marks.dscp << 2 | marks.ecn.bits();
    fixed[2..4].copy_from_slice(&total.to_be_bytes());
    fixed[4..6].copy_from_slice(&identification.to_be_bytes());
    fixed[6..8].copy_from_slice(&DONT_FRAGMENT.to_be_bytes());
    fixed[8] = ttl;
    fixed[9] = protocol;
    fixed[10..12].fill(0);
    fixed[12..16].copy_from_slice(&flow.source.octets());
    fixed[16..].copy_from_slice(&flow.destination.octets());
    if let Some(aqt) = marks.aqt {
        let (option, rest) = room.split_at_mut(AQT_OCTETS);
        option[..2].copy_from_slice(&[options::AQT, AQT_OCTETS as u8]);
        option[2..5].copy_from_slice(&be24(aqt.time_us));
        option[5..8].copy_from_slice(&be24(aqt.echo_us));
        room = rest;
    }
    if let Some(avbw) = marks.avbw {
        let (option, rest) = room.split_at_mut(AVBW_OCTETS);
        let length = AVBW_OCTETS as u8;
        option.copy_from_slice(&[options::AVBW, length, avbw.drai, avbw.mrai_echo]);
        room = rest;
    }
    if !room.is_empty() {
        let others = marks.options.as_slice();
        let (option, padding) = room.split_at_mut(others.len());
        option.copy_from_slice(others);
        padding.fill(options::END);
    }
    let checksum = Sum::of(header).checksum();
    header[10..12].copy_from_slice(&checksum.to_be_bytes());
}

/// 24 bits in network order, saturating.
fn be24(us: u32) -> [u8; 3] {
    let [_, octets @ ..] = us.min(Aqt::MAX_US).to_be_bytes();
    octets
}

fn from_be24(octets: [u8; 3]) -> u32 {
    let [high, middle, low] = octets;
    u32::from_be_bytes([0, high, middle, low])
}

/// Decodes a packet at the start of `octets`, followed by `elided` elided octets.
#[inline]
pub(super) fn read(octets: &[u8], elided: u32) -> Result<Ipv4<'_>, DecodeError> {
    let truncated = |needed: u64, available: u64| DecodeError::Truncated {
        layer: "IPv4",
        needed,
        available,
    };
    if octets.len() < FIXED_OCTETS {
        return Err(truncated(FIXED_OCTETS as u64, octets.len() as u64));
    }
    let (version, words) = (octets[0] >> 4, octets[0] & 15);
    if version != 4 {
        return Err(DecodeError::BadVersion { version });
    }
    let header_octets = usize::from(words) * 4;
    if header_octets < FIXED_OCTETS {
        return Err(DecodeError::BadHeaderLength {
            layer: "IPv4",
            words,
            minimum: 5,
            maximum: 15,
        });
    }
    let Some((header, rest)) = octets.split_at_checked(header_octets) else {
        return Err(truncated(header_octets as u64, octets.len() as u64));
    };
    if Sum::of(header).checksum() != 0 {
        return Err(DecodeError::BadChecksum { layer: "IPv4" });
    }
    let total_octets = be16(header, 2);
    let total = u64::from(total_octets);
    let Some(body_octets) = total.checked_sub(header_octets as u64) else {
        let headers = header_octets as u64;
        return Err(DecodeError::BadLength {
            layer: "IPv4",
            length: total,
            headers,
        });
    };
    let available = octets.len() as u64 + u64::from(elided);
    let (dscp, protocol) = (header[1] >> 2, header[9]);
    let trimming = match dscp {
        TRIMMABLE_DSCP => Trimming::Trimmable,
        TRIMMED_DSCP if total > available && protocol == tcp::PROTOCOL => Trimming::Cut,
        _ => Trimming::None,
    };
    if total > available && trimming != Trimming::Cut {
        return Err(truncated(total, available));
    }
    if be16(header, 6) & FRAGMENT_BITS != 0 {
        return Err(DecodeError::Fragment);
    }
    let present = rest.len().min(body_octets as usize);
    let mut marks = Marks {
        ecn: Ecn::from_bits(header[1]),
        dscp,
        trimming,
        ..Marks::default()
    };
    if header_octets > FIXED_OCTETS {
        read_options(header, &mut marks)?;
    }
    Ok(Ipv4 {
        source: Ipv4Addr::from(array::<4>(header, 12)),
        destination: Ipv4Addr::from(array::<4>(header, 16)),
        identification: be16(header, 4),
        ttl: header[8],
        protocol,
        marks,
        total_octets,
        body: &rest[..present],
        body_octets,
    })
}

/// Stores the first of each of the project's options, and all others.
fn read_options(header: &[u8], marks: &mut Marks) -> Result<(), DecodeError> {
    let mut at = FIXED_OCTETS;
    while at < header.len() && header[at] != options::END {
        let kind = header[at];
        if kind == options::NOP {
            at += 1;
            continue;
        }
        let length = header.get(at + 1).copied().unwrap_or(0);
        let wanted = match kind {
            options::AQT => AQT_OCTETS..=AQT_OCTETS,
            options::AVBW => AVBW_OCTETS..=AVBW_OCTETS,
            _ => 2..=header.len(),
        };
        let option = header.get(at..at + usize::from(length));
        let Some(option) = option.filter(|option| wanted.contains(&option.len())) else {
            return Err(DecodeError::BadOption {
                layer: "IPv4",
                kind,
                at,
                length,
            });
        };
        match kind {
            options::AQT if marks.aqt.is_none() => {
                marks.aqt = Some(Aqt {
                    time_us: from_be24(array(option, 2)),
                    echo_us: from_be24(array(option, 5)),
                });
            }
            options::AVBW if marks.avbw.is_none() => {
                marks.avbw = Some(Avbw {
                    drai: option[2],
                    mrai_echo: option[3],
                });
            }
            options::AQT | options::AVBW => {}
            _ => {
                marks.options.push(option);
            }
        }
        at += option.len();
    }
    Ok(())
}
