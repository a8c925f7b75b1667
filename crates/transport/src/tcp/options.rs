//! IPv4 options of a segment, as octets.

use std::fmt;
use std::ops::Range;

/// End of the list.
pub(crate) const END: u8 = 0x00;
/// No operation.
pub(crate) const NOP: u8 = 0x01;
/// AQT.
pub(crate) const AQT: u8 = 0x5E;
/// AVBW-S.
pub(crate) const AVBW: u8 = 0xDE;

/// The IPv4 options of a segment except AQT and AVBW-S, each encoded as in the header, without
/// padding between or behind them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Options {
    octets: [u8; Self::MAX],
    len: u8,
}

impl Options {
    /// The maximum octets of options in an IPv4 header.
    pub const MAX: usize = 40;

    /// Appends an option: type, length, and value. Returns `false`, without any change, if its
    /// second octet is not its length, or if there is no room.
    pub fn push(&mut self, option: &[u8]) -> bool {
        let at = usize::from(self.len);
        let is_whole = option.len() >= 2 && usize::from(option[1]) == option.len();
        let room = self.octets.get_mut(at..at + option.len());
        let Some(room) = room.filter(|_| is_whole) else {
            return false;
        };
        room.copy_from_slice(option);
        self.len += option[1];
        true
    }

    /// All options, concatenated.
    pub fn as_slice(&self) -> &[u8] {
        &self.octets[..usize::from(self.len)]
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Octets in a header, whose length is a whole number of words.
    pub const fn padded_octets(&self) -> u32 {
        (self.len as u32).next_multiple_of(4)
    }

    /// The first option of a type, complete.
    pub(super) fn find(&self, kind: u8) -> Option<&[u8]> {
        Some(&self.octets[self.place(kind)?])
    }

    /// Like [`Options::find`], mutable. Type and length must not be changed.
    pub(super) fn find_mut(&mut self, kind: u8) -> Option<&mut [u8]> {
        let place = self.place(kind)?;
        Some(&mut self.octets[place])
    }

    fn place(&self, kind: u8) -> Option<Range<usize>> {
        let octets = self.as_slice();
        let mut at = 0;
        while let [first, length, ..] = octets[at..] {
            let end = at + usize::from(length);
            if first == kind {
                return Some(at..end);
            }
            at = end;
        }
        None
    }
}

impl Default for Options {
    fn default() -> Self {
        Options {
            octets: [0; Self::MAX],
            len: 0,
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02x?}", self.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_options_that_fit_are_taken() {
        let mut options = Options::default();
        for wrong in [&[][..], &[7], &[7, 3], &[7, 0], &[7, 2, 9], &[7; 41]] {
            assert!(!options.push(wrong), "{wrong:?}");
        }
        let mut long = [0; 38];
        long[..2].copy_from_slice(&[8, 38]);
        assert!(options.push(&long));
        assert!(!options.push(&[7, 3, 1]));
        assert!(options.push(&[7, 2]));
        assert_eq!(
            (options.as_slice().len(), options.padded_octets()),
            (40, 40)
        );
        assert_eq!(options.find(7), Some(&[7, 2][..]));
        assert_eq!(options.find(9), None);
    }

    #[test]
    fn a_header_s_length_is_in_words() {
        let mut options = Options::default();
        assert_eq!(options.padded_octets(), 0);
        options.push(&[0x9E, 6, 0, 0, 0, 0]);
        assert_eq!(options.padded_octets(), 8);
    }
}
