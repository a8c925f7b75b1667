//! Transmission sequence numbers: 32 bits in serial number arithmetic (RFC 1982; RFC 9260, §1.6).

use std::cmp::Ordering;

/// A transmission sequence number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tsn(pub u32);

impl Tsn {
    /// The number after it.
    pub const fn next(self) -> Tsn {
        Tsn(self.0.wrapping_add(1))
    }

    /// The number before it.
    pub const fn previous(self) -> Tsn {
        Tsn(self.0.wrapping_sub(1))
    }

    /// The number `count` after it.
    pub const fn plus(self, count: u32) -> Tsn {
        Tsn(self.0.wrapping_add(count))
    }

    /// The distance from `earlier`. Negative if it is behind.
    pub const fn since(self, earlier: Tsn) -> i32 {
        self.0.wrapping_sub(earlier.0) as i32
    }
}

/// Numbers are compared within 2³¹ of each other.
impl PartialOrd for Tsn {
    fn partial_cmp(&self, other: &Tsn) -> Option<Ordering> {
        Some(self.since(*other).cmp(&0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_continues_past_the_largest_number() {
        assert!(Tsn(u32::MAX) < Tsn(u32::MAX).next());
        assert!(Tsn(3) > Tsn(u32::MAX - 3));
        assert_eq!(Tsn(2).since(Tsn(u32::MAX)), 3);
        assert_eq!(Tsn(0).previous(), Tsn(u32::MAX));
    }
}
