//! CSIG's tag in front of IPv4, and its reflection in an experimental TCP option (RFC 6994).

use super::{array, be16};
use crate::tcp::csig::{Reflection, Tag};

/// No EtherType is assigned for the compact tag: this is IEEE 802's first for local experiments. `csig.p4` uses the
/// same.
pub(super) const TPID: u16 = 0x88B5;
/// TPID and tag.
pub(super) const TAG_OCTETS: usize = 4;

/// The option's kind (RFC 4727).
pub(super) const EXPERIMENT: u8 = 253;
/// Identifies this experiment. It is not registered with IANA.
const EXID: u16 = 0xC516;
/// Kind, length and ExID.
const HEAD_OCTETS: usize = 4;

/// Writes the option into `options`, with padding in front. Returns the remaining room.
pub(super) fn write<'a>(reflection: &Reflection, options: &'a mut [u8]) -> &'a mut [u8] {
    let (place, rest) = options.split_at_mut(reflection.octets() as usize);
    let length = HEAD_OCTETS + 2 * reflection.tags().count();
    let padding = place.len().saturating_sub(length);
    place[..padding].fill(super::tcp::NOP);
    let option = &mut place[padding..];
    if option.is_empty() {
        return rest;
    }
    option[..2].copy_from_slice(&[EXPERIMENT, length as u8]);
    option[2..HEAD_OCTETS].copy_from_slice(&EXID.to_be_bytes());
    for (slot, tag) in option[HEAD_OCTETS..]
        .chunks_exact_mut(2)
        .zip(reflection.tags())
    {
        slot.copy_from_slice(&tag.0.to_be_bytes());
    }
    rest
}

/// Whether an option of kind [`EXPERIMENT`] belongs to this experiment and has whole tags.
pub(super) fn is_whole(option: &[u8]) -> bool {
    option.len() < HEAD_OCTETS || be16(option, 2) != EXID || option.len().is_multiple_of(2)
}

/// The tags of an option of kind [`EXPERIMENT`]. Empty if it belongs to another experiment.
pub(super) fn read(option: &[u8]) -> Reflection {
    let mut reflection = Reflection::default();
    if option.len() < HEAD_OCTETS || be16(option, 2) != EXID {
        return reflection;
    }
    for tag in option[HEAD_OCTETS..].chunks_exact(2) {
        reflection.add(Tag(u16::from_be_bytes(array(tag, 0))));
    }
    reflection
}
