//! The Internet checksum (RFC 1071) of values as they lie in storage.

use crate::code::{NONE, SumGroup};
use internet_checksum::Sum;

/// The checksum of the concatenated bits of the values. Values of invalid headers are omitted. `None` if a `varbit`
/// does not end at a 16-bit boundary.
///
/// The bits need not be concatenated: in the ones' complement sum, a word has the same weight wherever its 16 bits are,
/// because 2^16 = 1 modulo 2^16 − 1. Only the position of a value modulo 16 bits matters, and bits shifted out at the
/// top re-enter at the bottom.
#[inline]
pub fn internet(words: &[u64], groups: &[SumGroup]) -> Option<u16> {
    let mut sum = Sum::default();
    for group in groups {
        if group.valid != NONE && words[group.valid as usize] == 0 {
            continue;
        }
        for lane in &group.lanes {
            sum += Sum::from(words[lane.slot as usize].rotate_left(lane.up.into()));
        }
        if let Some((length, slot)) = group.varbit {
            let length = words[length as usize];
            if !length.is_multiple_of(16) {
                return None;
            }
            // Limbs are 64 bits apart, and 64 is a multiple of 16.
            let limbs = &words[slot as usize..][..length.div_ceil(64) as usize];
            limbs.iter().for_each(|&limb| sum += Sum::from(limb));
        }
    }
    Some(sum.checksum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::Writer;
    use crate::code::SumLane;
    use proptest::prelude::*;

    proptest! {
        /// Headers with a value of `width` bits and one that fills it up to 16-bit words, each behind a `varbit` of 0
        /// to 192 bits.
        #[test]
        fn is_that_of_the_bits_laid_out(
            headers in prop::collection::vec(
                (0u64..=1, 1u32..=64, any::<[u64; 2]>(), 0u64..=12, any::<[u64; 3]>()),
                0..8,
            ),
        ) {
            let cut = |value: u64, width: u32| value & u64::MAX.checked_shr(64 - width).unwrap_or(0);
            let mut words = Vec::new();
            let mut groups = Vec::new();
            let mut laid_out = Writer::default();
            for (valid, width, values, sixteens, limbs) in headers {
                let at = words.len() as u32;
                let rest = width.wrapping_neg() % 16;
                let length = 16 * sixteens as u32;
                let values = [cut(values[0], width), cut(values[1], rest)];
                let limbs = [0, 1, 2].map(|i| cut(limbs[i as usize], length.saturating_sub(64 * i).min(64)));
                words.extend([valid, length as u64]);
                words.extend(limbs);
                words.extend(values);
                let group = |lanes, varbit| SumGroup { valid: at, lanes, varbit };
                groups.push(group(vec![], Some((at + 1, at + 2))));
                let lane = |slot, width, up| SumLane { slot, width: width as u8, up };
                let lanes = vec![lane(at + 5, width, rest as u8), lane(at + 6, rest, 0)];
                groups.push(group(lanes, None));
                if valid == 1 {
                    laid_out.push_wide(&limbs, length);
                    laid_out.push_wide(&values[..1], width);
                    laid_out.push_wide(&values[1..], rest);
                }
            }
            laid_out.pad();
            let expected = Sum::of(laid_out.octets()).checksum();
            prop_assert_eq!(internet(&words, &groups), Some(expected));
        }
    }

    #[test]
    fn a_varbit_that_ends_within_a_word_is_not_for_lanes() {
        let group = SumGroup {
            valid: NONE,
            lanes: Vec::new(),
            varbit: Some((0, 1)),
        };
        assert_eq!(internet(&[8, 0xab], &[group]), None);
    }
}
