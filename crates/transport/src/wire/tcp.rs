//! TCP (RFC 9293) with timestamps and window scale (RFC 7323), SACK (RFC 2018), accurate ECN's option (RFC 9768), the
//! option of TCP-INT, and a notice of trimmed segments in an experimental option (RFC 6994).

use internet_checksum::Sum;

use super::csig;
use super::error::{DecodeError, EncodeError};
use super::ipv4::{self, Ipv4};
use super::{Flow, be16, be32, int, octet_counts, tcp_int};
use crate::tcp::{Flags, SackBlocks, Segment, SynOptions, Timestamps, Trimming};

pub(super) const PROTOCOL: u8 = 6;

const FIXED_OCTETS: usize = 20;
const MAX_OPTION_OCTETS: usize = 40;

const END: u8 = 0;
pub(super) const NOP: u8 = 1;
const MSS: u8 = 2;
const MSS_OCTETS: usize = 4;
const WINDOW_SCALE: u8 = 3;
const WINDOW_SCALE_OCTETS: usize = 3;
const SACK_PERMITTED: u8 = 4;
const SACK_PERMITTED_OCTETS: usize = 2;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;
const TIMESTAMPS_OCTETS: usize = 10;
const BLOCK_OCTETS: usize = 8;
const EXPERIMENT: u8 = 253;
/// The experiment identifier of the notice that a segment arrived trimmed (RFC 6994, section 3). It is not registered.
const TRIM_NOTICE: [u8; 2] = *b"tr";
const TRIM_NOTICE_OCTETS: usize = 8;

/// Header octets, with each option padded to whole words by NOPs before it, plus those of the telemetry.
pub(super) fn header_octets(segment: &Segment) -> Result<usize, EncodeError> {
    let timestamps = if segment.timestamps.is_some() {
        2 + TIMESTAMPS_OCTETS
    } else {
        0
    };
    let blocks = segment.sack.as_slice().len();
    let sack = if blocks == 0 {
        0
    } else {
        4 + BLOCK_OCTETS * blocks
    };
    let notice = segment.trim_notice.map_or(0, |_| TRIM_NOTICE_OCTETS);
    let reflection = segment.reflection.octets() as usize;
    let counts = octet_counts::octets(segment.octet_counts.as_ref());
    let tcp_int = segment.tcp_int.map_or(0, |_| tcp_int::OCTETS);
    let octets =
        timestamps + notice + reflection + counts + tcp_int + sack + syn_octets(&segment.syn);
    if octets > MAX_OPTION_OCTETS {
        return Err(EncodeError::TcpOptionsTooLong { octets });
    }
    Ok(FIXED_OCTETS + octets + int::octets(segment.int.as_ref()))
}

fn syn_octets(syn: &SynOptions) -> usize {
    let mss = if syn.mss.is_some() { 4 } else { 0 };
    let scale = if syn.window_scale.is_some() { 4 } else { 0 };
    let sack = if syn.sack_permitted { 4 } else { 0 };
    mss + scale + sack
}

/// Encodes the header into `header`, which must have the length of [`header_octets`]. `payload` is the stored part of
/// the payload; the rest is zeros.
pub(super) fn write(flow: &Flow, segment: &Segment, header: &mut [u8], payload: &[u8]) {
    let octets = header.len();
    let stack_octets = int::octets(segment.int.as_ref());
    let (header, stack) = header.split_at_mut(octets - stack_octets);
    int::write(segment.int.as_ref(), stack);
    let words = (header.len() / 4) as u8;
    let (fixed, options) = header
        .split_first_chunk_mut::<FIXED_OCTETS>()
        .expect("the room is as long as the header");
    fixed[..2].copy_from_slice(&flow.source_port.to_be_bytes());
    fixed[2..4].copy_from_slice(&flow.destination_port.to_be_bytes());
    fixed[4..8].copy_from_slice(&segment.seq.to_be_bytes());
    fixed[8..12].copy_from_slice(&segment.ack.to_be_bytes());
    let [high, low] = segment.flags.0.to_be_bytes();
    fixed[12] = words << 4 | high;
    fixed[13] = low;
    fixed[14..16].copy_from_slice(&segment.window.to_be_bytes());
    fixed[16..].fill(0);
    if !options.is_empty() {
        write_options(segment, options);
    }
    let length = octets as u64 + u64::from(segment.payload);
    let pseudo = ipv4::pseudo_header(flow.source, flow.destination, PROTOCOL, length);
    let headers = Sum::of(header) + Sum::of(stack);
    let checksum = (pseudo + headers + Sum::of(payload)).checksum();
    header[16..18].copy_from_slice(&checksum.to_be_bytes());
}

fn write_options(segment: &Segment, options: &mut [u8]) {
    let mut options = write_syn_options(&segment.syn, options);
    if let Some(Timestamps { value, echo }) = segment.timestamps {
        let (option, rest) = options.split_at_mut(2 + TIMESTAMPS_OCTETS);
        option[..4].copy_from_slice(&[NOP, NOP, TIMESTAMPS, TIMESTAMPS_OCTETS as u8]);
        option[4..8].copy_from_slice(&value.to_be_bytes());
        option[8..].copy_from_slice(&echo.to_be_bytes());
        options = rest;
    }
    if let Some(sequence) = segment.trim_notice {
        let (option, rest) = options.split_at_mut(TRIM_NOTICE_OCTETS);
        option[..2].copy_from_slice(&[EXPERIMENT, TRIM_NOTICE_OCTETS as u8]);
        option[2..4].copy_from_slice(&TRIM_NOTICE);
        option[4..].copy_from_slice(&sequence.to_be_bytes());
        options = rest;
    }
    let options = csig::write(&segment.reflection, options);
    let options = octet_counts::write(segment.octet_counts.as_ref(), options);
    let options = tcp_int::write(segment.tcp_int.as_ref(), options);
    let blocks = segment.sack.as_slice();
    if blocks.is_empty() {
        return;
    }
    options[..4].copy_from_slice(&[NOP, NOP, SACK, (2 + BLOCK_OCTETS * blocks.len()) as u8]);
    for (slot, (left, right)) in options[4..].chunks_exact_mut(BLOCK_OCTETS).zip(blocks) {
        slot[..4].copy_from_slice(&left.to_be_bytes());
        slot[4..].copy_from_slice(&right.to_be_bytes());
    }
}

/// Writes the options of a SYN. Returns the remaining room.
fn write_syn_options<'a>(syn: &SynOptions, mut options: &'a mut [u8]) -> &'a mut [u8] {
    let words = [
        syn.mss.map(|mss| {
            let [high, low] = mss.to_be_bytes();
            [MSS, MSS_OCTETS as u8, high, low]
        }),
        syn.window_scale
            .map(|shift| [NOP, WINDOW_SCALE, WINDOW_SCALE_OCTETS as u8, shift]),
        syn.sack_permitted
            .then_some([NOP, NOP, SACK_PERMITTED, SACK_PERMITTED_OCTETS as u8]),
    ];
    for word in words.into_iter().flatten() {
        let (option, rest) = options.split_at_mut(word.len());
        option.copy_from_slice(&word);
        options = rest;
    }
    options
}

/// Decodes the segment in `ip`'s body into `segment`, which must be empty. Returns its ports.
#[inline]
pub(super) fn read(ip: &Ipv4<'_>, segment: &mut Segment) -> Result<(u16, u16), DecodeError> {
    let truncated = |needed: usize| DecodeError::Truncated {
        layer: "TCP",
        needed: needed as u64,
        available: ip.body.len() as u64,
    };
    if ip.body.len() < FIXED_OCTETS {
        return Err(truncated(FIXED_OCTETS));
    }
    let words = ip.body[12] >> 4;
    let octets = usize::from(words) * 4;
    if octets < FIXED_OCTETS {
        return Err(DecodeError::BadHeaderLength {
            layer: "TCP",
            words,
            minimum: 5,
            maximum: 15,
        });
    }
    let ports = (be16(ip.body, 0), be16(ip.body, 2));
    if ip.marks.trimming == Trimming::Cut {
        read_cut(ip, octets, segment)?;
        return Ok(ports);
    }
    let Some(header) = ip.body.get(..octets) else {
        return Err(truncated(octets));
    };
    ip.check_body("TCP")?;
    let (int, int_octets) = ip.telemetry(octets)?;
    segment.seq = be32(header, 4);
    segment.ack = be32(header, 8);
    segment.flags = Flags(be16(header, 12) & 0x01ff);
    segment.window = be16(header, 14);
    segment.payload = (ip.body_octets - (octets + int_octets) as u64) as u32;
    if int.is_some() {
        segment.int = int;
    }
    segment.aqt = ip.marks.aqt;
    segment.avbw = ip.marks.avbw;
    segment.options = ip.marks.options;
    segment.ecn = ip.marks.ecn;
    segment.trimming = ip.marks.trimming;
    segment.link_octets = u32::from(ip.total_octets);
    read_options(header, segment)?;
    Ok(ports)
}

/// Decodes the rest of a trimmed segment with a header of `header_octets` octets. No checksum can be verified, so it
/// only identifies the segment.
fn read_cut(ip: &Ipv4<'_>, header_octets: usize, segment: &mut Segment) -> Result<(), DecodeError> {
    let Some(payload) = ip.body_octets.checked_sub(header_octets as u64) else {
        return Err(DecodeError::BadLength {
            layer: "TCP",
            length: ip.body_octets,
            headers: header_octets as u64,
        });
    };
    segment.seq = be32(ip.body, 4);
    segment.payload = payload as u32;
    segment.trimming = Trimming::Cut;
    segment.link_octets = u32::from(ip.total_octets);
    Ok(())
}

/// Decodes timestamps, SACK, the options of accurate ECN and TCP-INT, the notice of a trimmed segment, reflected CSIG
/// tags, and the options of a SYN. Other options are skipped.
fn read_options(header: &[u8], segment: &mut Segment) -> Result<(), DecodeError> {
    let mut at = FIXED_OCTETS;
    while at < header.len() && header[at] != END {
        let kind = header[at];
        if kind == NOP {
            at += 1;
            continue;
        }
        let length = header.get(at + 1).copied().unwrap_or(0);
        let option = header.get(at..at + usize::from(length));
        let fits = |option: &&[u8]| match kind {
            TIMESTAMPS => option.len() == TIMESTAMPS_OCTETS,
            MSS => option.len() == MSS_OCTETS,
            WINDOW_SCALE => option.len() == WINDOW_SCALE_OCTETS,
            SACK_PERMITTED => option.len() == SACK_PERMITTED_OCTETS,
            csig::EXPERIMENT => option.len() >= 2 && csig::is_whole(option),
            SACK => option.len() > 2 && (option.len() - 2).is_multiple_of(BLOCK_OCTETS),
            _ => option.len() >= 2,
        };
        let Some(option) = option.filter(fits) else {
            return Err(DecodeError::BadOption {
                layer: "TCP",
                kind,
                at,
                length,
            });
        };
        match kind {
            TIMESTAMPS => {
                let echo = be32(option, 6);
                segment.timestamps = Some(Timestamps {
                    value: be32(option, 2),
                    echo,
                });
            }
            MSS => segment.syn.mss = Some(be16(option, 2)),
            WINDOW_SCALE => segment.syn.window_scale = Some(option[2]),
            SACK_PERMITTED => segment.syn.sack_permitted = true,
            EXPERIMENT if option.len() == TRIM_NOTICE_OCTETS && option[2..4] == TRIM_NOTICE => {
                segment.trim_notice = Some(be32(option, 4));
            }
            csig::EXPERIMENT => segment.reflection = csig::read(option),
            octet_counts::ECT0_FIRST | octet_counts::ECT1_FIRST => {
                segment.octet_counts = Some(octet_counts::read(option));
            }
            tcp_int::KIND if option.len() == tcp_int::OCTETS => {
                segment.tcp_int = Some(tcp_int::read(option));
            }
            SACK => {
                segment.sack = SackBlocks::default();
                for block in option[2..].chunks_exact(BLOCK_OCTETS) {
                    segment.sack.push(be32(block, 0), be32(block, 4));
                }
            }
            _ => {}
        }
        at += option.len();
    }
    Ok(())
}
