//! Numbers in scripts: `10`, `0x0a`, `0b1*`, `0x0a00/8`, `1->9`, `0x0a00&&&0xff00`.

use engine::Match;
use num_bigint::BigUint;
use p4_ir::MatchKind;

/// A number, possibly with wildcard digits, or the set of which it is the first part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Number {
    /// Its value, with wildcard digits as zero.
    pub value: BigUint,
    /// Its notation.
    pub digits: Digits,
    /// The rest of the set's notation.
    pub tail: Tail,
}

/// The suffix that makes a number a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tail {
    /// Nothing.
    None,
    /// `/LENGTH`: the prefix.
    Prefix(u32),
    /// `->GREATEST`: the range.
    To(BigUint),
    /// `&&&MASK`: the bits that count.
    Mask(BigUint),
}

/// The notation of a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Digits {
    /// In decimal.
    Decimal,
    /// In hexadecimal, octal or binary.
    Bits {
        /// Ones where a digit is not `*`.
        mask: BigUint,
        /// Number of bits of all digits that are not `*`.
        count: u32,
        /// Whether any digit is `*`.
        wild: bool,
    },
}

impl Number {
    /// The number itself, or an error message if it is a set.
    pub fn plain(&self) -> Result<&BigUint, String> {
        match (&self.digits, &self.tail) {
            (Digits::Bits { wild: true, .. }, _) => {
                Err("`*` is for ternary and lpm keys, and for all digits of an optional one".into())
            }
            (_, Tail::None) => Ok(&self.value),
            (_, Tail::Prefix(_)) => Err("a prefix length is for lpm keys only".into()),
            (_, Tail::To(_)) => Err("a range is for range keys only".into()),
            (_, Tail::Mask(_)) => Err("a mask is for ternary keys only".into()),
        }
    }

    /// Whether all digits are wildcards.
    fn all_wild(&self) -> bool {
        matches!(self.digits, Digits::Bits { count: 0, .. })
    }

    /// The set that it stands for as a key, or an error message if it does not match the key.
    pub fn set(&self, kind: &MatchKind, width: u32) -> Result<Match, String> {
        let ones = || (BigUint::from(1u8) << width) - 1u8;
        match (kind, &self.tail) {
            (MatchKind::Range, Tail::To(high)) => Ok(Match::Range {
                low: self.value.clone(),
                high: high.clone(),
            }),
            (MatchKind::Ternary, Tail::None | Tail::Mask(_)) => {
                let mask = match (&self.tail, &self.digits) {
                    (Tail::Mask(mask), _) => mask.clone(),
                    // A short number without `*` is still compared in its own digits only, as in p4c's runner.
                    (_, Digits::Bits { mask, .. }) => mask & ones(),
                    (_, Digits::Decimal) => ones(),
                };
                Ok(Match::Ternary {
                    value: &self.value & &mask,
                    mask,
                })
            }
            // A prefix, or as many bits as there are digits.
            (MatchKind::Lpm, Tail::None | Tail::Prefix(_)) => {
                let prefix = match (&self.tail, &self.digits) {
                    (Tail::Prefix(prefix), _) => *prefix,
                    (_, Digits::Bits { count, .. }) => *count,
                    (_, Digits::Decimal) => width,
                };
                let prefix = prefix.min(width);
                let below = width - prefix;
                Ok(Match::Lpm {
                    value: &self.value >> below << below,
                    prefix,
                })
            }
            // All or nothing: wildcards in all digits match any value.
            (MatchKind::Optional, Tail::None) if self.all_wild() => Ok(Match::Any),
            _ => Ok(Match::Exact(self.plain()?.clone())),
        }
    }
}
