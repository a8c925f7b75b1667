//! The Internet checksum (RFC 1071) of values as they lie in storage.

use crate::code::{ListValue, NONE};

/// The checksum of the values' bits one behind another, filled up with zeros. Values of invalid headers
/// are left out.
///
/// The bits need not be laid out: in the one's complement sum a word weighs the same wherever its 16 bits
/// stand, for 2^16 = 1 modulo 2^16 − 1. Only a value's place modulo 16 bits counts.
pub fn internet(words: &[u64], data: &[ListValue]) -> u16 {
    let mut sum = 0u64;
    let mut bits = 0u32;
    let mut next = 0;
    while let Some(value) = data.get(next) {
        next += 1;
        if value.valid != NONE && words[value.valid as usize] == 0 {
            next += value.same as usize;
            continue;
        }
        let mut width = value.width;
        if value.length != NONE {
            width = words[value.length as usize].min(width as u64) as u32;
        }
        bits = bits.wrapping_add(width);
        let up = bits.wrapping_neg() % 16;
        let slot = value.slot as usize;
        if value.width <= 64 {
            sum += lanes(words[slot], up);
        } else {
            // Limbs are 64 bits apart, and 64 is a multiple of 16.
            let limbs = &words[slot..slot + width.div_ceil(64) as usize];
            sum += limbs.iter().map(|&limb| lanes(limb, up)).sum::<u64>();
        }
    }
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    !(sum as u16)
}

/// What a word adds to the sum when it stands `up` < 16 bits higher: less than 2^34.
#[inline]
fn lanes(word: u64, up: u32) -> u64 {
    let (low, over) = (word << up, word >> 48 >> (16 - up));
    (low >> 32) + (low & 0xffff_ffff) + over
}

#[cfg(test)]
mod tests {
    use super::super::external::gather;
    use super::*;
    use crate::bits::Writer;
    use crate::hash::Algorithm;
    use proptest::prelude::*;

    fn cut(limbs: &mut [u64], width: u32) {
        for (i, limb) in limbs.iter_mut().enumerate() {
            let bits = width.saturating_sub(64 * i as u32).min(64);
            *limb &= u64::MAX.checked_shr(64 - bits).unwrap_or(0);
        }
    }

    proptest! {
        #[test]
        fn is_that_of_the_bits_laid_out(
            values in prop::collection::vec(
                (1u32..=200, any::<bool>(), 0u64..=1, prop::array::uniform4(any::<u64>())),
                0..12,
            ),
        ) {
            // Each value: validity, length, limbs.
            let mut words = Vec::new();
            let mut data = Vec::new();
            for (width, varbit, valid, mut limbs) in values {
                let at = words.len() as u32;
                let length = if varbit { limbs[0] as u32 % (width + 1) } else { width };
                cut(&mut limbs, length);
                words.extend([valid, length as u64]);
                words.extend(limbs);
                data.push(ListValue {
                    slot: at + 2,
                    width,
                    length: if varbit { at + 1 } else { NONE },
                    valid: at,
                    same: 0,
                });
            }
            let mut laid_out = Writer::default();
            gather(&mut laid_out, &words, &data);
            let expected = Algorithm::Csum16.hash(&laid_out.octets, 0, || 0);
            prop_assert_eq!(internet(&words, &data) as u64, expected);
        }
    }
}
