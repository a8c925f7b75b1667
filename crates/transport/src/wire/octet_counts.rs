//! The option of accurate ECN with octet counters (RFC 9768, §3.2.3).

use crate::tcp::{First, OctetCounts};

/// AccECN0, which begins with ECT(0).
pub(super) const ECT0_FIRST: u8 = 172;
/// AccECN1, which begins with ECT(1).
pub(super) const ECT1_FIRST: u8 = 174;

/// Octets of the option including padding.
pub(super) fn octets(counts: Option<&OctetCounts>) -> usize {
    counts.map_or(0, |counts| counts.octets() as usize)
}

/// Writes the option into `options`, with padding in front. Returns the remaining room.
pub(super) fn write<'a>(counts: Option<&OctetCounts>, options: &'a mut [u8]) -> &'a mut [u8] {
    let Some(counts) = counts else {
        return options;
    };
    let (place, rest) = options.split_at_mut(counts.octets() as usize);
    let fields = counts.fields();
    let length = OctetCounts::HEAD_OCTETS + OctetCounts::FIELD_OCTETS * fields.len();
    let padding = place.len() - length;
    place[..padding].fill(super::tcp::NOP);
    let option = &mut place[padding..];
    let kind = match counts.first() {
        First::Ect0 => ECT0_FIRST,
        First::Ect1 => ECT1_FIRST,
    };
    option[..2].copy_from_slice(&[kind, length as u8]);
    for (slot, field) in option[2..].chunks_exact_mut(3).zip(fields) {
        slot.copy_from_slice(&field.to_be_bytes()[1..]);
    }
    rest
}

/// The complete fields of an option, given with type and length. Lengths other than those of the RFC are allowed.
pub(super) fn read(option: &[u8]) -> OctetCounts {
    let first = match option[0] {
        ECT0_FIRST => First::Ect0,
        _ => First::Ect1,
    };
    let fields = option[2..].chunks_exact(OctetCounts::FIELD_OCTETS);
    let counts = fields.map(|field| u32::from_be_bytes([0, field[0], field[1], field[2]]));
    OctetCounts::new(first, counts)
}
