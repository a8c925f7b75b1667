//! The option of accurate ECN: how many octets of payload arrived in packets of each codepoint (RFC 9768, §3.2.3).
//!
//! ```text
//!  kind 172 (AccECN0):   | kind | length | ECT(0) 24 | CE 24 | ECT(1) 24 |
//!  kind 174 (AccECN1):   | kind | length | ECT(1) 24 | CE 24 | ECT(0) 24 |
//! ```
//!
//! Trailing fields may be omitted if they have not changed.

/// The counters of an option, modulo 2²⁴.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OctetCounts {
    first: First,
    /// In the option's order. Those from `len` on are 0.
    fields: [u32; Self::MAX],
    len: u8,
}

/// The counter with which an option begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    /// ECT(0): kind 172.
    Ect0,
    /// ECT(1): kind 174.
    Ect1,
}

impl OctetCounts {
    /// The maximum number of fields.
    pub const MAX: usize = 3;
    /// Counters are sent modulo this (DIVOPT).
    pub const MODULUS: u32 = 1 << 24;
    /// Octets of the kind and the length.
    pub(crate) const HEAD_OCTETS: usize = 2;
    /// Octets of a field.
    pub(crate) const FIELD_OCTETS: usize = 3;

    /// An option with these fields in order. Fields beyond [`OctetCounts::MAX`] are ignored (§3.2.3).
    pub fn new(first: First, fields: impl IntoIterator<Item = u32>) -> Self {
        let mut counts = OctetCounts {
            first,
            fields: [0; Self::MAX],
            len: 0,
        };
        for (slot, field) in counts.fields.iter_mut().zip(fields) {
            *slot = field % Self::MODULUS;
            counts.len += 1;
        }
        counts
    }

    /// Which counter comes first.
    pub const fn first(&self) -> First {
        self.first
    }

    /// The fields, in the option's order.
    pub fn fields(&self) -> &[u32] {
        &self.fields[..usize::from(self.len)]
    }

    /// Octets that arrived marked CE, if it has this counter.
    pub fn ce(&self) -> Option<u32> {
        self.fields().get(1).copied()
    }

    /// The counters of ECT(0) and ECT(1) that it has.
    pub fn capable(&self) -> impl Iterator<Item = u32> {
        self.fields().iter().copied().step_by(2)
    }

    /// Octets of the option, padded to whole words by NOPs before it.
    pub fn octets(&self) -> u32 {
        let octets = Self::HEAD_OCTETS + Self::FIELD_OCTETS * usize::from(self.len);
        (octets as u32).next_multiple_of(4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_of_each_length_has_what_the_table_says() {
        let of = |first, len: usize| OctetCounts::new(first, (10..).take(len));
        for first in [First::Ect0, First::Ect1] {
            let counts = [0, 1, 2, 3].map(|len| of(first, len));
            assert_eq!(counts.map(|one| one.octets()), [4, 8, 8, 12]);
            assert_eq!(counts.map(|one| one.ce()), [None, None, Some(11), Some(11)]);
            let capable = |one: &OctetCounts| one.capable().collect::<Vec<_>>();
            assert_eq!(capable(&counts[0]), []);
            assert_eq!(capable(&counts[2]), [10]);
            assert_eq!(capable(&counts[3]), [10, 12]);
        }
        assert_eq!(of(First::Ect0, 5), of(First::Ect0, 3));
    }
}
