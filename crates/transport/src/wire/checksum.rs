//! The Internet checksum (RFC 1071).

use std::net::Ipv4Addr;

/// A running ones' complement sum. Elided zeros add nothing to it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Checksum(u64);

impl Checksum {
    /// The pseudo-header of TCP and UDP over IPv4.
    pub(super) fn pseudo(
        source: Ipv4Addr,
        destination: Ipv4Addr,
        protocol: u8,
        length: u64,
    ) -> Self {
        let mut sum = Checksum::default();
        sum.add(&source.octets());
        sum.add(&destination.octets());
        sum.0 += u64::from(protocol) + length;
        sum
    }

    /// Adds octets that start at an even place of the packet.
    ///
    /// Not one word of 16 bits after another: two that stand side by side weigh the same as a number of 32 bits,
    /// for 2^16 = 1 modulo 2^16 − 1.
    pub(super) fn add(&mut self, octets: &[u8]) {
        let (eights, rest) = octets.as_chunks::<8>();
        for eight in eights {
            let value = u64::from_be_bytes(*eight);
            self.0 += (value >> 32) + (value & 0xFFFF_FFFF);
        }
        let (words, rest) = rest.as_chunks::<2>();
        for word in words {
            self.0 += u64::from(u16::from_be_bytes(*word));
        }
        if let [last] = rest {
            self.0 += u64::from(*last) << 8;
        }
    }

    /// The complement of the folded sum: the field to write, or 0 where a written one matches.
    pub(super) fn finish(self) -> u16 {
        let mut sum = self.0;
        while sum > 0xFFFF {
            sum = (sum & 0xFFFF) + (sum >> 16);
        }
        !(sum as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_rfc_1071() {
        let mut sum = Checksum::default();
        sum.add(&[0x00, 0x01, 0xF2, 0x03]);
        sum.add(&[0xF4, 0xF5, 0xF6, 0xF7]);
        assert_eq!(sum.finish(), !0xDDF2);
    }

    #[test]
    fn eight_octets_at_once_sum_to_what_words_do() {
        let octets: Vec<u8> = (0..61u8).map(|i| i.wrapping_mul(151) ^ 0xA5).collect();
        for length in 0..octets.len() {
            let (mut whole, mut parts) = (Checksum::default(), Checksum::default());
            whole.add(&octets[..length]);
            octets[..length].chunks(2).for_each(|word| parts.add(word));
            assert_eq!(whole.finish(), parts.finish());
        }
    }

    #[test]
    fn an_odd_octet_is_padded_behind() {
        let mut sum = Checksum::default();
        sum.add(&[0x12]);
        assert_eq!(sum.finish(), !0x1200);
    }
}
