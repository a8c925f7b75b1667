//! Numbers in scripts: `10`, `0x0a`, `0b1*`, `0x0a00/8`.

use num_bigint::BigUint;
use v1model::Match;

/// A number, perhaps with wild digits or a prefix length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Number {
    /// Its value, wild digits as zero.
    pub value: BigUint,
    /// How it is written.
    pub digits: Digits,
    /// `/LENGTH`
    pub prefix: Option<u32>,
}

/// How a number is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Digits {
    /// In decimal.
    Decimal,
    /// In hexadecimal, octal or binary.
    Bits {
        /// Ones where a digit is not `*`.
        mask: BigUint,
        /// Bits of all digits that are not `*`.
        count: u32,
        /// Whether any digit is `*`.
        wild: bool,
    },
}

impl Number {
    /// The number itself; a message if it has wild digits or a prefix.
    pub fn plain(&self) -> Result<&BigUint, String> {
        match self {
            Number {
                digits: Digits::Bits { wild: true, .. },
                ..
            } => Err("`*` is for ternary and lpm keys only".into()),
            Number {
                prefix: Some(_), ..
            } => Err("a prefix length is for lpm keys only".into()),
            _ => Ok(&self.value),
        }
    }

    /// The set that it means for a ternary key: the digits given, and `*` for any.
    pub fn ternary(&self, width: u32) -> Match {
        let ones = (BigUint::from(1u8) << width) - 1u8;
        let mask = match &self.digits {
            Digits::Decimal => ones,
            // Without `*` a short number still compares its own digits only, as in p4c's runner.
            Digits::Bits { mask, .. } => mask & ones,
        };
        Match::Ternary {
            value: &self.value & &mask,
            mask,
        }
    }

    /// The set that it means for an lpm key: a prefix, or as many bits as there are digits.
    pub fn lpm(&self, width: u32) -> Match {
        let prefix = match (self.prefix, &self.digits) {
            (Some(prefix), _) => prefix,
            (None, Digits::Bits { count, .. }) => *count,
            (None, Digits::Decimal) => width,
        };
        let prefix = prefix.min(width);
        let below = width - prefix;
        Match::Lpm {
            value: &self.value >> below << below,
            prefix,
        }
    }
}
