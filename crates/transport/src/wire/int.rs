//! In-band network telemetry behind a TCP or UDP header (INT 2.1, §5.6.2 and §5.7): a shim, a header, and a stack of
//! records, newest first.
//!
//! ```text
//!  shim     type 4 | NPT 2 | R 2 | length 8 | R 8 | DSCP before INT 6 | R 2
//!  header   version 4 | D | E | M | R 12 | words of a record 5 | remaining hops 8
//!           instructions 16 | domain 16
//!           instructions of the domain 16 | flags of the domain 16
//!  record   queue 8 | octets in it 24
//!           time of departure 64, ns
//!           octets sent 32
//!           rate 32, kb/s
//! ```
//!
//! The DSCP of the packet indicates the shim. The records are those of HPCC: two baseline instructions, and two of
//! Waymark's domain, whose flags also contain the hops' identities.

use congestion::{HopRecord, PathRecord};

use super::error::DecodeError;
use super::{array, be16, be32};
use crate::tcp::Int;

/// The DSCP of the example in the specification (§6.1).
pub(super) const DSCP: u8 = 0x17;

const SHIM_OCTETS: usize = 4;
const HEADER_OCTETS: usize = 12;
const RECORD_OCTETS: usize = Int::RECORD_OCTETS as usize;

/// INT header types (§5.1).
const HOP_BY_HOP: u8 = 1;
const DESTINATION: u8 = 2;
const EXPORTED: u8 = 3;

const VERSION: u8 = 2;
const EXHAUSTED: u8 = 1 << 2;
const TOO_LONG: u8 = 1 << 1;
/// Queue and its occupancy, time of departure.
const INSTRUCTIONS: u16 = 0x1400;
const DOMAIN: u16 = 0x5741;
/// Octets sent, rate.
const DOMAIN_INSTRUCTIONS: u16 = 0xC000;
/// The value that a hop writes for an unknown value.
const UNKNOWN: u32 = u32::MAX;

/// Octets of a stack.
pub(super) fn octets(stack: Option<&Int>) -> usize {
    stack.map_or(0, |stack| stack.octets() as usize)
}

/// Writes a stack into `room`, which must have the length of [`octets`].
pub(super) fn write(stack: Option<&Int>, room: &mut [u8]) {
    let Some(stack) = stack else { return };
    let kind = if stack.is_echo {
        DESTINATION
    } else {
        HOP_BY_HOP
    };
    let words = (room.len() - SHIM_OCTETS) / 4;
    room[..SHIM_OCTETS].copy_from_slice(&[kind << 4, words as u8, 0, 0]);
    let (header, mut records) = room[SHIM_OCTETS..].split_at_mut(HEADER_OCTETS);
    let exhausted = if stack.exhausted { EXHAUSTED } else { 0 };
    let too_long = if stack.too_long { TOO_LONG } else { 0 };
    header[..2].copy_from_slice(&[VERSION << 4 | exhausted | too_long, 0]);
    header[2..4].copy_from_slice(&[(RECORD_OCTETS / 4) as u8, stack.remaining]);
    header[4..6].copy_from_slice(&INSTRUCTIONS.to_be_bytes());
    header[6..8].copy_from_slice(&DOMAIN.to_be_bytes());
    header[8..10].copy_from_slice(&DOMAIN_INSTRUCTIONS.to_be_bytes());
    header[10..].copy_from_slice(&stack.path.path.to_be_bytes());
    for hop in stack.path.hops().iter().rev() {
        let (record, older) = records.split_at_mut(RECORD_OCTETS);
        record[..4].copy_from_slice(&hop.queue_octets.min(0xFF_FFFF).to_be_bytes());
        record[4..12].copy_from_slice(&hop.left_ns.to_be_bytes());
        record[12..16].copy_from_slice(&hop.sent_octets.to_be_bytes());
        record[16..].copy_from_slice(&hop.rate_kbps.to_be_bytes());
        records = older;
    }
}

/// Reads the stack at the start of a payload that begins with `octets`. Also returns its length. The stack is `None` if
/// hosts of this project do not open such a stack.
///
/// # Errors
/// There is no shim, or the packet ends before the stated length.
pub(super) fn read(octets: &[u8]) -> Result<(Option<Int>, usize), DecodeError> {
    let truncated = |needed: usize| DecodeError::Truncated {
        layer: "INT",
        needed: needed as u64,
        available: octets.len() as u64,
    };
    if octets.len() < SHIM_OCTETS {
        return Err(truncated(SHIM_OCTETS));
    }
    let kind = octets[0] >> 4;
    if !(HOP_BY_HOP..=EXPORTED).contains(&kind) {
        return Err(DecodeError::UnknownIntType { kind });
    }
    let end = SHIM_OCTETS + 4 * usize::from(octets[1]);
    let Some(body) = octets.get(SHIM_OCTETS..end) else {
        return Err(truncated(end));
    };
    let Some((header, records)) = body.split_at_checked(HEADER_OCTETS) else {
        return Err(truncated(SHIM_OCTETS + HEADER_OCTETS));
    };
    let stack = (kind != EXPORTED && is_own(header))
        .then(|| read_stack(kind == DESTINATION, header, records));
    Ok((stack.flatten(), end))
}

/// Whether the header requests the records that hosts of this project request.
fn is_own(header: &[u8]) -> bool {
    header[0] >> 4 == VERSION
        && usize::from(header[2] & 0x1F) * 4 == RECORD_OCTETS
        && be16(header, 4) == INSTRUCTIONS
        && be16(header, 6) == DOMAIN
        && be16(header, 8) == DOMAIN_INSTRUCTIONS
}

/// `None` if there are more records than a host requests, an incomplete record, or a value that a hop did not know.
fn read_stack(is_echo: bool, header: &[u8], records: &[u8]) -> Option<Int> {
    let records = records.chunks(RECORD_OCTETS);
    let mut path = PathRecord::default();
    path.path = be16(header, 10);
    for record in records.rev() {
        let room = record.len() == RECORD_OCTETS && path.push(read_record(record)?);
        room.then_some(())?;
    }
    Some(Int {
        is_echo,
        remaining: header[3],
        exhausted: header[0] & EXHAUSTED != 0,
        too_long: header[0] & TOO_LONG != 0,
        path,
    })
}

fn read_record(record: &[u8]) -> Option<HopRecord> {
    let queue = be32(record, 0);
    let hop = HopRecord {
        queue_octets: queue & 0xFF_FFFF,
        left_ns: u64::from_be_bytes(array(record, 4)),
        sent_octets: be32(record, 12),
        rate_kbps: be32(record, 16),
    };
    let known = queue != UNKNOWN && hop.left_ns != u64::MAX && hop.rate_kbps != UNKNOWN;
    (known && hop.rate_kbps > 0).then_some(hop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hop(at: u8) -> HopRecord {
        HopRecord {
            left_ns: u64::from(at) << 40 | 7,
            sent_octets: u32::MAX - u32::from(at),
            queue_octets: 1500 * u32::from(at),
            rate_kbps: 10_000_000,
        }
    }

    fn stack(hops: u8) -> Int {
        let mut stack = Int {
            too_long: true,
            ..Int::open()
        };
        stack.path.path = 0xBEEF;
        assert!((0..hops).all(|at| stack.push(hop(at))));
        stack.remaining -= hops;
        stack
    }

    fn written(stack: &Int) -> Vec<u8> {
        let mut room = vec![0xAA; octets(Some(stack))];
        write(Some(stack), &mut room);
        room
    }

    /// Written by hand, from the figures of §5.6.2 and §5.7.
    #[test]
    fn octets_are_those_of_the_specification() {
        let mut stack = Int::open();
        assert!(stack.push(HopRecord {
            left_ns: 0x0102_0304_0506_0708,
            sent_octets: 0x0A0B_0C0D,
            queue_octets: 0x0011_2233,
            rate_kbps: 0x0098_9680,
        }));
        stack.remaining = 7;
        stack.exhausted = true;
        let expected = [
            0x10, 8, 0, 0, // MD, 8 words
            0x24, 0, 5, 7, // version 2, E; 5 words a hop, 7 hops to come
            0x14, 0, 0x57, 0x41, // instructions 3 and 5, domain
            0xC0, 0, 0, 0, // of the domain: 0 and 1; flags
            0, 0x11, 0x22, 0x33, // queue 0
            1, 2, 3, 4, 5, 6, 7, 8, // left at
            0x0A, 0x0B, 0x0C, 0x0D, // sent
            0, 0x98, 0x96, 0x80, // 10 Gb/s
        ];
        assert_eq!(written(&stack), expected);
        assert_eq!(written(&stack.echo())[0], 0x20);
    }

    #[test]
    fn what_is_written_is_read() {
        for hops in 0..=PathRecord::MAX as u8 {
            for stack in [stack(hops), stack(hops).echo()] {
                let mut octets = written(&stack);
                let length = octets.len();
                octets.extend([1, 2, 3]);
                assert_eq!(read(&octets), Ok((Some(stack), length)));
            }
        }
    }

    #[test]
    fn the_newest_record_comes_first() {
        let octets = written(&stack(2));
        assert_eq!(octets[16..20], [0, 0, 0x05, 0xDC]);
        assert_eq!(octets[36..40], [0, 0, 0, 0]);
    }

    #[test]
    fn other_stacks_are_passed_over() {
        let own = written(&stack(1));
        let with = |at: usize, octet: u8| {
            let mut octets = own.clone();
            octets[at] = octet;
            read(&octets)
        };
        let passed = Ok((None, own.len()));
        for (at, octet) in [(0, 0x30), (4, 0x10), (6, 6), (8, 0x90), (10, 0), (12, 0x80)] {
            assert_eq!(with(at, octet), passed, "{at}");
        }
        // A rate of 0, values that the hop does not know, and a record that the stack's end truncates.
        let unfilled = |range: std::ops::Range<usize>, octet: u8| {
            let mut octets = own.clone();
            octets[range].fill(octet);
            read(&octets)
        };
        for (range, octet) in [(16..20, 0xFF), (20..28, 0xFF), (32..36, 0xFF), (32..36, 0)] {
            assert_eq!(unfilled(range.clone(), octet), passed, "{range:?}");
        }
        assert_eq!(with(1, 7), Ok((None, 32)));
        // More hops than a host requests.
        let mut long = written(&stack(8));
        long.extend_from_within(16..36);
        long[1] += 5;
        assert_eq!(read(&long), Ok((None, long.len())));
    }

    #[test]
    fn what_is_no_stack_is_refused() {
        let own = written(&stack(1));
        for length in 0..own.len() {
            let error = read(&own[..length]).unwrap_err();
            assert!(
                matches!(error, DecodeError::Truncated { layer: "INT", .. }),
                "{length}: {error}"
            );
        }
        assert_eq!(
            read(&[0x40, 3, 0, 0]).unwrap_err().to_string(),
            "INT type is 4, expected 1 (MD), 2 (destination) or 3 (MX)"
        );
        assert!(read(&[0x10, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]).is_err());
    }
}
