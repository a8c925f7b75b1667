//! CRC32c of packets (RFC 9260, appendix A). Zero octets at the end of a packet are cheap, because payloads in
//! simulations are zeros.

use super::HEADER_OCTETS;
use crc::{CRC_32_ISCSI, Crc, Table};

/// Processes sixteen octets per step.
pub(super) static CRC32C: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32_ISCSI);

/// The polynomial. The highest bit is the coefficient of x⁰.
const POLYNOMIAL: u32 = CRC_32_ISCSI.poly.reverse_bits();

/// x⁸ to the power of 2ⁿ, modulo the polynomial: the factor of a sum for 2ⁿ zero octets.
const POWERS: [u32; usize::BITS as usize] = {
    let mut powers = [1 << 23; usize::BITS as usize];
    let mut n = 1;
    while n < powers.len() {
        powers[n] = product(powers[n - 1], powers[n - 1]);
        n += 1;
    }
    powers
};

/// The CRC32c of a packet, with its checksum field taken as zero. The packet must have a common header.
pub(super) fn checksum(octets: &[u8]) -> u32 {
    let (header, chunks) = octets.split_at(HEADER_OCTETS);
    let zeros = zeros_at_end(chunks);
    let mut digest = CRC32C.digest();
    digest.update(&header[..8]);
    digest.update(&[0; 4]);
    digest.update(&chunks[..chunks.len() - zeros]);
    !behind_zeros(!digest.finalize(), zeros)
}

/// The number of zero octets at the end.
pub(crate) fn zeros_at_end(octets: &[u8]) -> usize {
    let are_zero = |part: &&[u8]| part.iter().fold(0, |all, octet| all | octet) == 0;
    let whole = 64 * octets.rchunks_exact(64).take_while(are_zero).count();
    let rest = octets[..octets.len() - whole].iter().rev();
    whole + rest.take_while(|octet| **octet == 0).count()
}

/// A sum, not yet inverted, after `zeros` more zero octets.
fn behind_zeros(mut sum: u32, mut zeros: usize) -> u32 {
    while zeros != 0 {
        sum = product(sum, POWERS[zeros.trailing_zeros() as usize]);
        zeros &= zeros - 1;
    }
    sum
}

/// The product of two polynomials, modulo the polynomial.
const fn product(left: u32, mut right: u32) -> u32 {
    let mut sum = 0;
    let mut bit = 32;
    while bit > 0 {
        bit -= 1;
        sum ^= right & (left >> bit & 1).wrapping_neg();
        right = right >> 1 ^ POLYNOMIAL & (right & 1).wrapping_neg();
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_at_the_end_are_summed_as_any_octets() {
        let mut packet: Vec<u8> = (1..=HEADER_OCTETS as u8 + 20).collect();
        packet[8..HEADER_OCTETS].fill(0);
        for _ in 0..4200 {
            assert_eq!(checksum(&packet), CRC32C.checksum(&packet));
            packet.push(0);
        }
        assert_eq!(checksum(&[0; 99]), CRC32C.checksum(&[0; 99]));
    }

    #[test]
    fn zeros_are_counted_up_to_the_last_other_octet() {
        for before in [0, 1, 63, 64, 65, 200] {
            for zeros in [0, 1, 15, 63, 64, 65, 127, 128, 1440] {
                let mut octets = vec![7; before];
                octets.resize(before + zeros, 0);
                assert_eq!(zeros_at_end(&octets), zeros, "{before}");
            }
        }
        let mut octets = [0; 300];
        octets[10] = 1;
        assert_eq!(zeros_at_end(&octets), 289);
    }
}
