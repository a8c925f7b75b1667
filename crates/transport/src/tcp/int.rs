//! In-band network telemetry on a segment (INT 2.1, INT-MD).
//!
//! The sender of data opens a stack, hops push a record each, and the receiver returns the stack with its next
//! acknowledgement. A returned stack is an INT header of the destination type, which hops leave as it is.

use congestion::{HopRecord, PathRecord};

/// A stack of records, behind the TCP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Int {
    /// Whether it is returned to where it was opened.
    pub is_echo: bool,
    /// How many more hops may push a record.
    pub remaining: u8,
    /// A hop found that none may push any more (E).
    pub exhausted: bool,
    /// The record of a hop would have made the packet longer than its link takes (M).
    pub too_long: bool,
    /// The records.
    pub path: PathRecord,
}

impl Int {
    /// Octets of the shim and the header, without records.
    pub const HEADER_OCTETS: u32 = 16;
    /// Octets of a record.
    pub const RECORD_OCTETS: u32 = 20;
    /// Octets of the longest stack that a host opens.
    pub const MAX_OCTETS: u32 = Self::HEADER_OCTETS + Self::RECORD_OCTETS * PathRecord::MAX as u32;

    /// What a sender of data opens.
    pub fn open() -> Self {
        Int {
            remaining: PathRecord::MAX as u8,
            ..Int::default()
        }
    }

    /// What the receiver of a stack returns.
    pub const fn echo(self) -> Self {
        Int {
            is_echo: true,
            ..self
        }
    }

    /// Octets that it takes.
    pub fn octets(&self) -> u32 {
        Self::HEADER_OCTETS + Self::RECORD_OCTETS * self.path.hops().len() as u32
    }

    /// What a returned stack tells the sender of the data, if hops have spoken.
    pub(super) fn told(&self) -> Option<PathRecord> {
        let told = self.is_echo && !self.path.hops().is_empty();
        told.then_some(self.path)
    }

    /// Appends the next hop on the way; `false`, and nothing changed, if there is no room.
    pub fn push(&mut self, hop: HopRecord) -> bool {
        self.path.push(hop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_returned_stack_with_records_tells_something() {
        let mut stack = Int::open();
        assert_eq!((stack.octets(), stack.echo().told()), (16, None));
        assert!(stack.push(HopRecord::default()));
        assert_eq!((stack.octets(), stack.told()), (36, None));
        assert_eq!(stack.echo().told(), Some(stack.path));
        while stack.push(HopRecord::default()) {}
        assert_eq!(stack.octets(), Int::MAX_OCTETS);
    }
}
