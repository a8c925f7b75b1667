//! The CRCs of `crc16_custom` and `crc32_custom`, whose parameters a control plane sets.

use crc::{CRC_16_ARC, CRC_32_ISO_HDLC};

/// Parameters of a CRC, as catalogues of CRCs give them (the Rocksoft model) and BMv2's `set_crc16_parameters` and
/// `set_crc32_parameters` take them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CrcParameters {
    /// The polynomial without its highest term, the most significant bit first: 0x8005 for CRC-16/ARC.
    pub polynomial: u32,
    /// What the remainder is before the first octet.
    pub initial: u32,
    /// What the result is combined with (exclusive or).
    pub final_xor: u32,
    /// Whether each octet goes in with its least significant bit first.
    pub reflect_data: bool,
    /// Whether the remainder's bits are reversed at the end.
    pub reflect_remainder: bool,
}

/// How wide a remainder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrcWidth {
    /// `crc16_custom`
    W16,
    /// `crc32_custom`
    W32,
}

impl CrcWidth {
    /// In bits.
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

    /// BMv2's parameters until they are set: those of CRC-16/ARC and CRC-32/ISO-HDLC.
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

/// A CRC with its table, ready to run.
#[derive(Clone, Debug)]
pub struct CustomCrc {
    width: CrcWidth,
    parameters: CrcParameters,
    /// What an octet at the top of the remainder leaves. Remainders stand at the top of their 32 bits.
    table: [u32; 256],
}

impl CustomCrc {
    pub fn new(width: CrcWidth, parameters: CrcParameters) -> Self {
        let polynomial = parameters.polynomial << (32 - width.bits());
        let step = |remainder: u32, _| match remainder >> 31 {
            0 => remainder << 1,
            _ => remainder << 1 ^ polynomial,
        };
        CustomCrc {
            width,
            parameters,
            table: std::array::from_fn(|octet| (0..8).fold((octet as u32) << 24, step)),
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
        let CrcParameters {
            initial,
            final_xor,
            reflect_data,
            reflect_remainder,
            ..
        } = self.parameters;
        let unused = 32 - self.width.bits();
        let all = octets.iter().copied().chain((0..zeros).map(|_| 0));
        let remainder = all.fold(initial << unused, |remainder, octet| {
            let octet = if reflect_data {
                octet.reverse_bits()
            } else {
                octet
            };
            let top = (remainder >> 24) as u8 ^ octet;
            remainder << 8 ^ self.table[usize::from(top)]
        });
        let result = match reflect_remainder {
            true => remainder.reverse_bits(),
            false => remainder >> unused,
        };
        result ^ final_xor
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
