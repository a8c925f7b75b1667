//! The Internet checksum (RFC 1071): the complement of a ones' complement sum of 16-bit words in network order.
//!
//! ```
//! use internet_checksum::Sum;
//!
//! // RFC 1071, section 3.
//! let sum = Sum::of(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]);
//! assert_eq!(sum.value(), 0xddf2);
//! assert_eq!(sum.checksum(), 0x220d);
//! ```

use std::ops::{Add, AddAssign, Sub};

/// A ones' complement sum.
///
/// Zero has two representations, 0 and 0xffff. Only a sum of zeros is 0.
//
// Held in 64 bits: 2^16 = 1 modulo 2^16 − 1, so a 64-bit word weighs as much as the sum of its four 16-bit words.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum(u64);

impl Sum {
    /// The sum of octets. A zero octet completes the last word.
    #[inline]
    pub fn of(octets: &[u8]) -> Sum {
        // In the order of this machine, so that nothing is swapped.
        let (eights, rest) = octets.as_chunks::<8>();
        let mut sum = Sum(0);
        for eight in eights {
            sum += Sum(u64::from_ne_bytes(*eight));
        }
        let (fours, rest) = rest.as_chunks::<4>();
        if let [four] = fours {
            sum += Sum(u32::from_ne_bytes(*four).into());
        }
        let (words, rest) = rest.as_chunks::<2>();
        if let [word] = words {
            sum += Sum(u16::from_ne_bytes(*word).into());
        }
        if let [last] = rest {
            sum += Sum(u16::from_ne_bytes([*last, 0]).into());
        }
        // 2^8 times a word is the word with its octets swapped.
        match cfg!(target_endian = "little") {
            true => Sum(sum.0.rotate_left(8)),
            false => sum,
        }
    }

    /// The sum in 16 bits.
    #[inline]
    pub fn value(self) -> u16 {
        let sum = (self.0 & 0xffff_ffff) + (self.0 >> 32);
        let sum = (sum & 0xffff) + (sum >> 16);
        // At most 2^17 + 2^16 now, then 2^16 + 1.
        let sum = (sum & 0xffff) + (sum >> 16);
        ((sum & 0xffff) + (sum >> 16)) as u16
    }

    /// The complement of the sum: the checksum of what was added, or 0 if a correct checksum was among it.
    #[inline]
    pub fn checksum(self) -> u16 {
        !self.value()
    }
}

/// The sum of a number's 16-bit words.
impl From<u64> for Sum {
    #[inline]
    fn from(number: u64) -> Sum {
        Sum(number)
    }
}

impl Add for Sum {
    type Output = Sum;

    #[inline]
    fn add(self, other: Sum) -> Sum {
        let (sum, carry) = self.0.overflowing_add(other.0);
        Sum(sum + u64::from(carry))
    }
}

impl AddAssign for Sum {
    #[inline]
    fn add_assign(&mut self, other: Sum) {
        *self = *self + other;
    }
}

/// Adds the complement, which is the negative.
impl Sub for Sum {
    type Output = Sum;

    #[inline]
    fn sub(self, other: Sum) -> Sum {
        self.add(Sum(u64::from(other.checksum())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The carry is brought in after each word.
    fn word_by_word(octets: &[u8]) -> u16 {
        octets.chunks(2).fold(0, |sum: u16, pair| {
            let word = u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]);
            let (sum, carry) = sum.overflowing_add(word);
            sum + u16::from(carry)
        })
    }

    proptest! {
        #[test]
        fn is_the_sum_word_by_word(octets in prop::collection::vec(any::<u8>(), 0..80)) {
            prop_assert_eq!(Sum::of(&octets).value(), word_by_word(&octets));
        }

        #[test]
        fn sums_of_parts_add_up(
            octets in prop::collection::vec(any::<u8>(), 0..80),
            words in 0usize..40,
        ) {
            let (head, tail) = octets.split_at((2 * words).min(octets.len()));
            let sum = Sum::of(head) + Sum::of(tail);
            prop_assert_eq!(sum.value(), word_by_word(&octets));
        }

        #[test]
        fn a_number_is_its_four_words(numbers in prop::collection::vec(any::<u64>(), 0..8)) {
            let octets: Vec<_> = numbers.iter().flat_map(|number| number.to_be_bytes()).collect();
            let mut sum = Sum::default();
            numbers.iter().for_each(|&number| sum += Sum::from(number));
            prop_assert_eq!(sum.value(), word_by_word(&octets));
        }

        #[test]
        fn subtraction_undoes_addition(kept in any::<u64>(), taken in any::<u64>()) {
            let left = Sum::from(kept) + Sum::from(taken) - Sum::from(taken);
            prop_assert_eq!(left.value() % 0xffff, Sum::from(kept).value() % 0xffff);
        }

        #[test]
        fn octets_with_their_checksum_have_the_checksum_zero(number in any::<u64>()) {
            let checksum = Sum::from(number).checksum();
            prop_assert_eq!((Sum::from(number) + Sum::from(u64::from(checksum))).checksum(), 0);
        }
    }

    #[test]
    fn only_a_sum_of_zeros_is_zero() {
        assert_eq!(Sum::of(&[]).value(), 0);
        assert_eq!(Sum::of(&[0; 9]).value(), 0);
        assert_eq!((Sum::from(1) - Sum::from(1)).value(), 0xffff);
        assert_eq!((Sum::from(u64::MAX) + Sum::from(u64::MAX)).value(), 0xffff);
    }
}
