//! CRCs with arbitrary parameters, and `crc16_custom` and `crc32_custom`, whose parameters a control plane sets.

use crc::{CRC_16_ARC, CRC_32_ISO_HDLC};

/// Parameters of a CRC in the Rocksoft model, as used by catalogues of CRCs and by BMv2's `set_crc16_parameters` and
/// `set_crc32_parameters`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CrcParameters {
    /// The polynomial without its highest term, the most significant bit first: 0x8005 for CRC-16/ARC.
    pub polynomial: u32,
    /// The initial value of the remainder.
    pub initial: u32,
    /// The value that is XORed with the result.
    pub final_xor: u32,
    /// Whether each octet is processed with its least significant bit first.
    pub reflect_data: bool,
    /// Whether the bits of the remainder are reversed at the end.
    pub reflect_remainder: bool,
}

/// The width of a remainder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrcWidth {
    /// `crc16_custom`
    W16,
    /// `crc32_custom`
    W32,
}

impl CrcWidth {
    /// The width in bits.
    pub const fn bits(self) -> u32 {
        match self {
            CrcWidth::W16 => 16,
            CrcWidth::W32 => 32,
        }
    }

    /// The algorithm's name in v1model.
    pub const fn algorithm(self) -> &'static str {
        match self {
            CrcWidth::W16 => "crc16_custom",
            CrcWidth::W32 => "crc32_custom",
        }
    }

    /// BMv2's default parameters: those of CRC-16/ARC and CRC-32/ISO-HDLC.
    pub const fn defaults(self) -> CrcParameters {
        match self {
            CrcWidth::W16 => CrcParameters {
                polynomial: CRC_16_ARC.poly as u32,
                initial: CRC_16_ARC.init as u32,
                final_xor: CRC_16_ARC.xorout as u32,
                reflect_data: CRC_16_ARC.refin,
                reflect_remainder: CRC_16_ARC.refout,
            },
            CrcWidth::W32 => CrcParameters {
                polynomial: CRC_32_ISO_HDLC.poly,
                initial: CRC_32_ISO_HDLC.init,
                final_xor: CRC_32_ISO_HDLC.xorout,
                reflect_data: CRC_32_ISO_HDLC.refin,
                reflect_remainder: CRC_32_ISO_HDLC.refout,
            },
        }
    }
}

/// A CRC of 1 to 64 bits, with its look-up table.
#[derive(Clone, Debug)]
pub struct Crc {
    width: u32,
    /// The initial remainder, left-aligned in 64 bits.
    initial: u64,
    final_xor: u64,
    reflect_data: bool,
    reflect_remainder: bool,
    /// The remainder of each octet. Remainders are left-aligned in 64 bits.
    table: [u64; 256],
}

impl Crc {
    /// Creates a CRC of `width` bits with the parameters of [`CrcParameters`]. `reflect` holds the flags for the data
    /// and for the remainder.
    pub fn new(
        width: u32,
        polynomial: u64,
        initial: u64,
        final_xor: u64,
        (reflect_data, reflect_remainder): (bool, bool),
    ) -> Self {
        let unused = 64 - width.clamp(1, 64);
        let polynomial = polynomial << unused;
        let step = |remainder: u64, _| match remainder >> 63 {
            0 => remainder << 1,
            _ => remainder << 1 ^ polynomial,
        };
        Crc {
            width: 64 - unused,
            initial: initial << unused,
            final_xor,
            reflect_data,
            reflect_remainder,
            table: std::array::from_fn(|octet| (0..8).fold((octet as u64) << 56, step)),
        }
    }

    /// The CRC of `octets` followed by `zeros` octets of zero.
    pub fn hash(&self, octets: &[u8], zeros: u32) -> u64 {
        let all = octets.iter().copied().chain((0..zeros).map(|_| 0));
        let remainder = all.fold(self.initial, |remainder, octet| {
            let octet = if self.reflect_data {
                octet.reverse_bits()
            } else {
                octet
            };
            let top = (remainder >> 56) as u8 ^ octet;
            remainder << 8 ^ self.table[usize::from(top)]
        });
        let result = match self.reflect_remainder {
            true => remainder.reverse_bits(),
            false => remainder >> (64 - self.width),
        };
        result ^ self.final_xor
    }
}

/// A CRC whose parameters a control plane sets.
#[derive(Clone, Debug)]
pub struct CustomCrc {
    width: CrcWidth,
    parameters: CrcParameters,
    crc: Crc,
}

impl CustomCrc {
    pub fn new(width: CrcWidth, parameters: CrcParameters) -> Self {
        let crc = Crc::new(
            width.bits(),
            parameters.polynomial.into(),
            parameters.initial.into(),
            parameters.final_xor.into(),
            (parameters.reflect_data, parameters.reflect_remainder),
        );
        CustomCrc {
            width,
            parameters,
            crc,
        }
    }

    pub fn width(&self) -> CrcWidth {
        self.width
    }

    pub fn parameters(&self) -> CrcParameters {
        self.parameters
    }

    /// The CRC of `octets` followed by `zeros` octets of zero.
    pub fn hash(&self, octets: &[u8], zeros: u32) -> u32 {
        self.crc.hash(octets, zeros) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::{CrcParameters, CrcWidth, CustomCrc};
    use crc::*;

    fn of_16(algorithm: &Algorithm<u16>) -> CustomCrc {
        let parameters = CrcParameters {
            polynomial: algorithm.poly.into(),
            initial: algorithm.init.into(),
            final_xor: algorithm.xorout.into(),
            reflect_data: algorithm.refin,
            reflect_remainder: algorithm.refout,
        };
        CustomCrc::new(CrcWidth::W16, parameters)
    }

    fn of_32(algorithm: &Algorithm<u32>) -> CustomCrc {
        let parameters = CrcParameters {
            polynomial: algorithm.poly,
            initial: algorithm.init,
            final_xor: algorithm.xorout,
            reflect_data: algorithm.refin,
            reflect_remainder: algorithm.refout,
        };
        CustomCrc::new(CrcWidth::W32, parameters)
    }

    #[test]
    fn check_values_of_the_crc_catalogue() {
        for known in [
            CRC_16_ARC,
            CRC_16_CDMA2000,
            CRC_16_DECT_R,
            CRC_16_GENIBUS,
            CRC_16_IBM_SDLC,
            CRC_16_KERMIT,
            CRC_16_XMODEM,
        ] {
            assert_eq!(of_16(&known).hash(b"123456789", 0), known.check.into());
        }
        for known in [
            CRC_32_BZIP2,
            CRC_32_ISCSI,
            CRC_32_ISO_HDLC,
            CRC_32_MPEG_2,
            CRC_32_XFER,
        ] {
            assert_eq!(of_32(&known).hash(b"123456789", 0), known.check);
        }
    }

    #[test]
    fn octets_of_zero_behind_count() {
        let crc = of_16(&CRC_16_GENIBUS);
        assert_eq!(crc.hash(&[1, 2], 3), crc.hash(&[1, 2, 0, 0, 0], 0));
    }
}
