//! Sequences of blocks that an architecture runs one after another.

use crate::code::{MetaField, Slot, Target};

/// Blocks that a packet passes through with nothing in between except what the stages describe. Compiled code runs them
/// in one call.
#[derive(Clone, Debug, Default)]
pub struct Sequence {
    /// The blocks in order.
    pub stages: Vec<Stage>,
    /// Words that the architecture writes before the sequence. If this is set for the first sequence, packets pass
    /// through all sequences in order and through no other block, and compiled code clears the variables when it begins
    /// the first sequence.
    pub given: Option<Vec<Slot>>,
    /// Words that the architecture reads behind the sequence, or writes for some packets.
    pub read: Vec<Slot>,
    /// Words that compiled code clears before the sequence, because they may be read before they are written.
    pub clears: Option<Vec<Slot>>,
}

/// A block of a sequence, and the actions behind it. The sequence ends early if the packet is to be dropped regardless
/// of the program (`Job::abort`).
#[derive(Clone, Copy, Debug)]
pub struct Stage {
    /// Where the block begins.
    pub block: Target,
    /// A result of the block to report, and the metadata field for it.
    pub reported: Option<(Reported, MetaField)>,
    /// Two words of storage: the sequence ends early if they are equal.
    pub last_if_equal: Option<(Slot, Slot)>,
}

/// A result of a block that an architecture reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reported {
    /// `Job::error`.
    ParserError,
    /// `Job::checksum_error`.
    ChecksumError,
}

impl Stage {
    /// Creates a stage that consists of a block only.
    pub fn new(block: Target) -> Self {
        Stage {
            block,
            reported: None,
            last_if_equal: None,
        }
    }
}
