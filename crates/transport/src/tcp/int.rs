//! In-band network telemetry on a segment (INT 2.1, INT-MD).
//!
//! The sender of data opens a stack, each hop pushes a record, and the receiver returns the stack with its next
//! acknowledgement. A returned stack is an INT header of the destination type, which hops do not change.

use congestion::{HopRecord, PathRecord};

/// A stack of records, behind the TCP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Int {
    /// Whether it is being returned to its sender.
    pub is_echo: bool,
    /// How many more hops may push a record.
    pub remaining: u8,
    /// Whether a hop could not push a record because none were allowed any more (E).
    pub exhausted: bool,
    /// Whether the record of a hop would have exceeded the MTU of its link (M).
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

    /// The stack that a sender of data opens.
    pub fn open() -> Self {
        Int {
            remaining: PathRecord::MAX as u8,
            ..Int::default()
        }
    }

    /// The stack that its receiver returns.
    pub const fn echo(self) -> Self {
        Int {
            is_echo: true,
            ..self
        }
    }

    /// Its length in octets.
    pub fn octets(&self) -> u32 {
        Self::HEADER_OCTETS + Self::RECORD_OCTETS * self.path.hops().len() as u32
    }

    /// The records of a returned stack for the sender of the data, if there are any.
    pub(super) fn told(&self) -> Option<PathRecord> {
        let told = self.is_echo && !self.path.hops().is_empty();
        told.then_some(self.path)
    }

    /// Appends the next hop of the path. Returns `false`, without any change, if there is no room.
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
