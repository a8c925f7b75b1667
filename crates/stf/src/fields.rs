//! The fields of a frame by name, and those in which a packet differs from the expected one.
//!
//! Ethernet, IEEE 802.1Q, IPv4 and its options AQT and AVBW-S (`p4src/include/headers.p4`). The rest is payload.

use crate::{Expected, Failure};
use serde::Serialize;
use std::ops::Range;

const VLAN: u64 = 0x8100;
const IPV4: u64 = 0x0800;

/// The half octets of the fixed part of an IPv4 header.
const IPV4_DIGITS: usize = 40;

/// A field that differs from its expected value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Such as `ipv4.ttl`.
    pub field: String,
    /// Its expected value. Digits that the script does not compare are `*`.
    pub expected: String,
    /// Its value in the packet.
    pub found: String,
}

#[derive(Clone, Copy)]
enum Form {
    Number,
    Mac,
    Ipv4,
    Octets,
}

/// A field, in bits from the start of the frame.
struct Field {
    name: String,
    bits: Range<usize>,
    form: Form,
}

impl Failure {
    /// The fields in which the packet differs from the expected one. Empty for other failures.
    pub fn differences(&self) -> Vec<Difference> {
        match self {
            Failure::Differs {
                expected, found, ..
            } => differences(expected, found),
            _ => Vec::new(),
        }
    }
}

fn differences(expected: &Expected, found: &[u8]) -> Vec<Difference> {
    let came: Vec<Option<u8>> = found
        .iter()
        .flat_map(|octet| [Some(octet >> 4), Some(octet & 0xf)])
        .collect();
    // The layout is the expected one: a wrong type or length then appears as a single wrong field.
    let layout: Vec<u8> = (0..expected.nibbles.len().max(came.len()))
        .map(|i| {
            let wanted = expected.nibbles.get(i).copied().flatten();
            wanted.or(came.get(i).copied().flatten()).unwrap_or(0)
        })
        .collect();
    let mut list: Vec<Difference> = fields(&layout)
        .iter()
        .filter(|field| differs(field, &expected.nibbles, &came))
        .map(|field| Difference {
            field: field.name.clone(),
            expected: shown(field, &expected.nibbles),
            found: shown(field, &came),
        })
        .collect();
    let (wanted, length) = (expected.nibbles.len() / 2, found.len());
    if length < wanted || (expected.exact && length > wanted) {
        let least = if expected.exact { "" } else { "at least " };
        list.push(Difference {
            field: "length".into(),
            expected: format!("{least}{wanted} octets"),
            found: format!("{length} octets"),
        });
    }
    list
}

/// Whether a compared bit of the field differs. Bits that only one of them has do not count.
fn differs(field: &Field, expected: &[Option<u8>], came: &[Option<u8>]) -> bool {
    field.bits.clone().any(|bit| {
        let at = |digits: &[Option<u8>]| digits.get(bit / 4).copied().flatten();
        let of = |digit: u8| digit >> (3 - bit % 4) & 1;
        matches!((at(expected), at(came)), (Some(wanted), Some(got)) if of(wanted) != of(got))
    })
}

/// The value of a field, or its digits if some are unknown.
fn shown(field: &Field, digits: &[Option<u8>]) -> String {
    let within = field.bits.start / 4..field.bits.end.div_ceil(4);
    let known: Option<Vec<u8>> = within
        .clone()
        .map(|at| digits.get(at).copied().flatten())
        .collect();
    let Some(known) = known.filter(|_| !matches!(field.form, Form::Octets)) else {
        let digit = |at: usize| match digits.get(at) {
            Some(Some(digit)) => char::from_digit(u32::from(*digit), 16),
            Some(None) => Some('*'),
            None => None,
        };
        return within.filter_map(digit).collect();
    };
    let value = known
        .iter()
        .fold(0u64, |value, digit| value << 4 | u64::from(*digit));
    let width = field.bits.len();
    let value = value >> ((4 - field.bits.end % 4) % 4) & (u64::MAX >> (64 - width));
    let octets = value.to_be_bytes();
    match field.form {
        Form::Mac => octets[2..]
            .iter()
            .map(|octet| format!("{octet:02x}"))
            .collect::<Vec<_>>()
            .join(":"),
        Form::Ipv4 => std::net::Ipv4Addr::from(value as u32).to_string(),
        _ => format!("{value} ({value:#x})"),
    }
}

/// Reads digits from a position on. Missing ones are 0.
fn number(digits: &[u8], at: usize, count: usize) -> u64 {
    (at..at + count).fold(0, |value, i| {
        value << 4 | u64::from(digits.get(i).copied().unwrap_or(0))
    })
}

/// The fields of a frame with these half octets, in the order on the wire.
fn fields(digits: &[u8]) -> Vec<Field> {
    let mut list = Vec::new();
    let mut at = 0;
    let mut add = |list: &mut Vec<Field>, name: &str, width: usize, form: Form| {
        let bits = at..(at + width).min(4 * digits.len());
        at += width;
        if !bits.is_empty() {
            list.push(Field {
                name: name.into(),
                bits,
                form,
            });
        }
        at
    };
    add(&mut list, "ethernet.dst_addr", 48, Form::Mac);
    add(&mut list, "ethernet.src_addr", 48, Form::Mac);
    let mut end = add(&mut list, "ethernet.ether_type", 16, Form::Number);
    let mut ether_type = number(digits, 24, 4);
    if ether_type == VLAN {
        add(&mut list, "vlan.pcp", 3, Form::Number);
        add(&mut list, "vlan.dei", 1, Form::Number);
        add(&mut list, "vlan.vid", 12, Form::Number);
        end = add(&mut list, "vlan.ether_type", 16, Form::Number);
        ether_type = number(digits, 32, 4);
    }
    let ipv4 = end / 4;
    if ether_type == IPV4 && digits.len() >= ipv4 + IPV4_DIGITS {
        for (name, width, form) in IPV4_FIELDS {
            end = add(&mut list, &format!("ipv4.{name}"), *width, *form);
        }
        let header = number(digits, ipv4 + 1, 1) as usize * 8;
        let last = digits.len().min(ipv4 + header.max(IPV4_DIGITS));
        while end / 4 < last {
            let kind = number(digits, end / 4, 2);
            let length = 2 * number(digits, end / 4 + 2, 2) as usize;
            let name = match (kind, length) {
                (0x5e, 16) => "aqt",
                (0xde, 8) => "avbw",
                (0 | 1, _) => {
                    end = add(&mut list, "ipv4.padding", 8, Form::Number);
                    continue;
                }
                _ => {
                    let whole = length.clamp(4, (last - end / 4).max(4));
                    let name = format!("ipv4.option {kind:#04x}");
                    end = add(&mut list, &name, 4 * whole, Form::Octets);
                    continue;
                }
            };
            for (field, width) in if name == "aqt" {
                AQT_FIELDS
            } else {
                AVBW_FIELDS
            } {
                end = add(&mut list, &format!("{name}.{field}"), *width, Form::Number);
            }
        }
    }
    let rest = (4 * digits.len()).saturating_sub(end);
    add(&mut list, "payload", rest, Form::Octets);
    list
}

const IPV4_FIELDS: &[(&str, usize, Form)] = &[
    ("version", 4, Form::Number),
    ("ihl", 4, Form::Number),
    ("dscp", 6, Form::Number),
    ("ecn", 2, Form::Number),
    ("total_len", 16, Form::Number),
    ("identification", 16, Form::Number),
    ("flags", 3, Form::Number),
    ("frag_offset", 13, Form::Number),
    ("ttl", 8, Form::Number),
    ("protocol", 8, Form::Number),
    ("checksum", 16, Form::Number),
    ("src_addr", 32, Form::Ipv4),
    ("dst_addr", 32, Form::Ipv4),
];

const AQT_FIELDS: &[(&str, usize)] = &[
    ("option_type", 8),
    ("length", 8),
    ("aqt_us", 24),
    ("aqt_echo_us", 24),
];

const AVBW_FIELDS: &[(&str, usize)] = &[
    ("option_type", 8),
    ("length", 8),
    ("drai", 8),
    ("mrai_echo", 8),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Both packets as digits of a script, with `*` and `$` as in scripts.
    fn between(expected: &str, found: &str) -> Vec<(String, String, String)> {
        let digits = |text: &str| -> Vec<Option<u8>> {
            let all = text.chars().filter(|c| !c.is_whitespace() && *c != '$');
            all.map(|c| c.to_digit(16).map(|digit| digit as u8))
                .collect()
        };
        let exact = expected.ends_with('$');
        let nibbles = digits(expected);
        let found: Vec<u8> = digits(found)
            .chunks(2)
            .map(|pair| pair[0].unwrap() << 4 | pair[1].unwrap())
            .collect();
        differences(&Expected { nibbles, exact }, &found)
            .into_iter()
            .map(|one| (one.field, one.expected, one.found))
            .collect()
    }

    fn row(field: &str, expected: &str, found: &str) -> (String, String, String) {
        (field.into(), expected.into(), found.into())
    }

    #[test]
    fn a_wrong_field_is_named_with_both_values() {
        let found = between(
            "000000000214 020000000002 0800 450000180001000040fd62cb0a00010a0a000214 cafef00d$",
            "000000000214 020000000003 0800 450300180001000041fd62cb0a00010a0a000215 cafef00d",
        );
        let expected = [
            row(
                "ethernet.src_addr",
                "02:00:00:00:00:02",
                "02:00:00:00:00:03",
            ),
            row("ipv4.ecn", "0 (0x0)", "3 (0x3)"),
            row("ipv4.ttl", "64 (0x40)", "65 (0x41)"),
            row("ipv4.dst_addr", "10.0.2.20", "10.0.2.21"),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn options_have_names() {
        let start = "000000000214 020000000002 0800 4800002000010000 40fd 0000 0a00010a0a000214";
        let found = between(
            &format!("{start} 5e0800000a000000 01 0101 01 $"),
            &format!("{start} 5e0800000b000000 01 0101 01"),
        );
        assert_eq!(found, [row("aqt.aqt_us", "10 (0xa)", "11 (0xb)")]);
        let found = between(
            &format!("{start} de04ff00 0101 1e06"),
            &format!("{start} de040600 0101 1e07"),
        );
        assert_eq!(
            found,
            [
                row("avbw.drai", "255 (0xff)", "6 (0x6)"),
                row("ipv4.option 0x1e", "1e06", "1e07")
            ]
        );
    }

    #[test]
    fn digits_that_are_not_compared_do_not_differ() {
        let found = between(
            "************ ************ 0800 4*",
            "000000000000 000000000000 0801 46",
        );
        assert_eq!(
            found,
            [row("ethernet.ether_type", "2048 (0x800)", "2049 (0x801)")]
        );
    }

    #[test]
    fn a_length_is_a_difference_of_its_own() {
        assert_eq!(
            between("0000$", "000000"),
            [row("length", "2 octets", "3 octets")]
        );
        assert_eq!(
            between("0000", "00"),
            [row("length", "at least 2 octets", "1 octets")]
        );
        assert_eq!(between("0000", "000000"), []);
    }

    #[test]
    fn no_frame_is_too_short_or_strange() {
        for length in 0..80 {
            for octet in [0x00, 0x08, 0x45, 0x5e, 0xde, 0xff] {
                let nibbles = vec![Some(octet & 0xf); length];
                let expected = Expected {
                    nibbles,
                    exact: true,
                };
                differences(&expected, &vec![octet; length]);
                differences(&expected, &[]);
            }
        }
    }
}
