//! v1model's hash algorithms, bit for bit as BMv2 computes them.

use crate::crc::CustomCrc;
use ::crc::{CRC_16_ARC, CRC_32_ISO_HDLC, Crc};
use internet_checksum::Sum;

/// An algorithm of v1model's `HashAlgorithm`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// CRC-16/ARC: reflected 0x8005, from 0.
    Crc16,
    /// CRC-32/ISO-HDLC: reflected 0x04c11db7, from all ones, inverted.
    Crc32,
    /// A random number from the switch's generator.
    Random,
    /// The first eight octets as a number.
    Identity,
    /// The Internet checksum (RFC 1071).
    Csum16,
    /// XOR of 16-bit words.
    Xor16,
    /// A CRC with configurable parameters, by number.
    Custom(u32),
}

impl Algorithm {
    /// Looks up an algorithm by a name in [`p4_ir::HASH_ALGORITHMS`]. Custom CRCs have their
    /// initial parameters.
    pub fn by_name(name: &str) -> Option<Algorithm> {
        Some(match name {
            "crc32" | "crc32_custom" => Algorithm::Crc32,
            "crc16" | "crc16_custom" => Algorithm::Crc16,
            "random" => Algorithm::Random,
            "identity" => Algorithm::Identity,
            "csum16" => Algorithm::Csum16,
            "xor16" => Algorithm::Xor16,
            _ => return None,
        })
    }

    /// The hash of `octets` followed by `zeros` octets of zero. `draw` returns random bits.
    pub fn hash(
        self,
        octets: &[u8],
        zeros: u32,
        custom: &[CustomCrc],
        draw: impl FnOnce() -> u64,
    ) -> u64 {
        const CRC16: Crc<u16> = Crc::<u16>::new(&CRC_16_ARC);
        const CRC32: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);
        match self {
            Algorithm::Crc16 => {
                let mut digest = CRC16.digest();
                digest.update(octets);
                zero_blocks(zeros, |block| digest.update(block));
                digest.finalize() as u64
            }
            Algorithm::Crc32 => {
                let mut digest = CRC32.digest();
                digest.update(octets);
                zero_blocks(zeros, |block| digest.update(block));
                digest.finalize() as u64
            }
            Algorithm::Random => draw(),
            Algorithm::Identity => {
                let taken = octets.len().min(8);
                let number = octets[..taken].iter().fold(0, |n, &o| n << 8 | o as u64);
                let more = (8 - taken as u32).min(zeros);
                number.checked_shl(8 * more).unwrap_or(0)
            }
            // Trailing zeros do not change the sum.
            Algorithm::Csum16 => Sum::of(octets).checksum() as u64,
            Algorithm::Xor16 => xor16(octets) as u64,
            Algorithm::Custom(number) => custom[number as usize].hash(octets, zeros) as u64,
        }
    }
}

fn zero_blocks(count: u32, mut update: impl FnMut(&[u8])) {
    const BLOCK: [u8; 64] = [0; 64];
    let mut left = count as usize;
    while left > 0 {
        let take = left.min(BLOCK.len());
        update(&BLOCK[..take]);
        left -= take;
    }
}

fn xor16(octets: &[u8]) -> u16 {
    let (words, rest) = octets.as_chunks::<2>();
    let all = words.iter().fold(0, |x, w| x ^ u16::from_be_bytes(*w));
    all ^ rest.first().map_or(0, |&o| (o as u16) << 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(algorithm: Algorithm, octets: &[u8]) -> u64 {
        algorithm.hash(octets, 0, &[], || 77)
    }

    #[test]
    fn check_values_of_the_crc_catalogue() {
        assert_eq!(hash(Algorithm::Crc16, b"123456789"), 0xbb3d);
        assert_eq!(hash(Algorithm::Crc32, b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn internet_checksum_of_rfc_1071_example() {
        // RFC 1071 section 3: the words 0001 f203 f4f5 f6f7 sum to ddf2.
        let octets = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(hash(Algorithm::Csum16, &octets), !0xddf2_u16 as u64);
        assert_eq!(hash(Algorithm::Csum16, &[0xab]), !0xab00_u16 as u64);
        assert_eq!(hash(Algorithm::Csum16, &[]), 0xffff);
    }

    #[test]
    fn short_inputs_of_identity_and_xor16() {
        assert_eq!(hash(Algorithm::Identity, &[1, 2, 3]), 0x010203);
        assert_eq!(
            hash(Algorithm::Identity, &[1, 2, 3, 4, 5, 6, 7, 8, 9]),
            0x0102030405060708
        );
        assert_eq!(hash(Algorithm::Xor16, &[0x12, 0x34, 0x0f]), 0x1234 ^ 0x0f00);
        assert_eq!(hash(Algorithm::Random, &[]), 77);
    }

    #[test]
    fn elided_zeros_count_as_zeros() {
        for name in p4_ir::HASH_ALGORITHMS {
            let algorithm = Algorithm::by_name(name).unwrap();
            for zeros in [0, 1, 3, 7, 64, 200] {
                let mut full = vec![9, 8, 7];
                full.resize(3 + zeros as usize, 0);
                let elided = algorithm.hash(&[9, 8, 7], zeros, &[], || 77);
                assert_eq!(elided, hash(algorithm, &full), "{name} {zeros}");
            }
        }
    }
}
