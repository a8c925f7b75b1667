//! Hashes and checksums: the parameters of custom CRCs.

use super::names::find;
use crate::crc::CustomCrc;
use crate::{ControlError, CrcParameters, CrcWidth, Machine};

impl Machine {
    /// The names of all hashes and checksums, with the names of their algorithms. A program in BMv2's JSON names them.
    /// In P4_16 they have no names, and receive those that p4c gives them, in source order: `calc`, `calc_0`, `calc_1`,
    /// ….
    pub fn calculations(&self) -> impl Iterator<Item = (&str, &str)> {
        let all = self.calculations.iter();
        all.map(|known| (known.name.as_str(), known.algorithm.as_str()))
    }

    /// The parameters of a `crc16_custom` or `crc32_custom`, and its width.
    pub fn crc_parameters(
        &self,
        calculation: &str,
    ) -> Result<(CrcWidth, CrcParameters), ControlError> {
        let crc = &self.crcs[self.crc(calculation)?];
        Ok((crc.width(), crc.parameters()))
    }

    /// Sets the parameters of a `crc16_custom` or `crc32_custom` of the given width.
    pub fn set_crc_parameters(
        &mut self,
        calculation: &str,
        width: CrcWidth,
        parameters: CrcParameters,
    ) -> Result<(), ControlError> {
        let number = self.crc(calculation)?;
        let crc = &mut self.crcs[number];
        let invalid = |expected: String, found: String| ControlError::Invalid {
            at: format!("calculation `{calculation}`"),
            expected,
            found,
        };
        if crc.width() != width {
            return Err(invalid(
                format!("parameters of its algorithm, {}", crc.width().algorithm()),
                format!("those of a {}", width.algorithm()),
            ));
        }
        let bits = width.bits();
        for value in [
            parameters.polynomial,
            parameters.initial,
            parameters.final_xor,
        ] {
            if u64::from(value) >> bits != 0 {
                return Err(invalid(format!("{bits} bits"), format!("{value:#x}")));
            }
        }
        *crc = CustomCrc::new(width, parameters);
        Ok(())
    }

    /// The index of the custom CRC of a calculation.
    fn crc(&self, calculation: &str) -> Result<usize, ControlError> {
        let all = &self.calculations;
        let names = all.iter().map(|known| known.name.as_str());
        let at = find("calculation", calculation, names)?;
        if all[at].custom().is_none() {
            return Err(ControlError::Invalid {
                at: format!("calculation `{calculation}`"),
                expected: "crc16_custom or crc32_custom, whose parameters can be set".into(),
                found: all[at].algorithm.clone(),
            });
        }
        let before = all[..at].iter().filter(|known| known.custom().is_some());
        Ok(before.count())
    }
}
