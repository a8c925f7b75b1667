//! What is left of a checksum when the fields that a parser knows are subtracted from it.

use p4_vm::Slot;

/// A residual that a parser asks for.
#[derive(Clone, Copy, Debug)]
pub struct Residual {
    /// The word of one more than the bits parsed when it was asked for; 0: it was not.
    pub cursor: Slot,
    /// Where it goes.
    pub to: Slot,
}
