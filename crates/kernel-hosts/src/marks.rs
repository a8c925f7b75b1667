//! The set of marks that a host's own packets carry.

use crate::error::KernelError;

/// The marks' names, in the order of their bits in `hosts/ebpf/marks.h`.
pub const NAMES: [&str; 3] = ["aqt", "drai", "ci"];

/// A set of marks, as the bits `MARK_*` of `hosts/ebpf/marks.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkSet(pub u8);

impl MarkSet {
    /// Reads names, separated by commas.
    ///
    /// # Errors
    /// There is no such mark.
    pub fn parse(text: &str) -> Result<Self, KernelError> {
        let mut set = 0;
        for name in text.split(',').map(str::trim) {
            let bit = NAMES.iter().position(|known| *known == name);
            set |= 1 << bit.ok_or_else(|| KernelError::NoMark { name: name.into() })?;
        }
        Ok(MarkSet(set))
    }

    /// The names.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let set = self.0;
        (0..NAMES.len())
            .filter(move |bit| set & (1 << bit) != 0)
            .map(|bit| NAMES[bit])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_bits() {
        let set = MarkSet::parse("ci, aqt").unwrap();
        assert_eq!(set, MarkSet(5));
        assert_eq!(set.names().collect::<Vec<_>>(), ["aqt", "ci"]);
    }

    #[test]
    fn an_unknown_name_is_an_error() {
        let error = MarkSet::parse("aqt,ecn").unwrap_err().to_string();
        assert_eq!(error, "--marks: no mark \"ecn\"; valid: aqt, drai, ci");
    }
}
