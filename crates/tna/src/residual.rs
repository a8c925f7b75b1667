//! Checksum residuals: the checksum minus the fields that a parser knows.

use p4_vm::Slot;

/// A residual that a parser requests.
#[derive(Clone, Copy, Debug)]
pub struct Residual {
    /// The word that holds the number of bits parsed at the time of the request, plus one. 0 if
    /// there was no request.
    pub cursor: Slot,
    /// The destination.
    pub to: Slot,
}
