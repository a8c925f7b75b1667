//! Blocks that an architecture runs one after another.

use crate::code::{MetaField, Slot, Target};

/// Blocks that a packet goes through with nothing between them but what the stages say, so that compiled code runs
/// them in one go.
#[derive(Clone, Debug, Default)]
pub struct Sequence {
    /// The blocks in their order.
    pub stages: Vec<Stage>,
    /// Words that the architecture writes before them. Where it says so of the first sequence, packets go through all of them in
    /// turn and through no block otherwise, and compiled code clears the variables as it begins that sequence.
    pub given: Option<Vec<Slot>>,
    /// Words that the architecture reads behind them, or writes for some packets.
    pub read: Vec<Slot>,
    /// What compiled code clears before them: words that may be read before they are written.
    pub clears: Option<Vec<Slot>>,
}

/// A block of a sequence, and what is done behind it. The sequence ends early if the packet is to be dropped whatever
/// the program says (`Job::abort`).
#[derive(Clone, Copy, Debug)]
pub struct Stage {
    /// Where the block begins.
    pub block: Target,
    /// What is reported of the block, and in which metadata.
    pub reported: Option<(Reported, MetaField)>,
    /// Two words of storage: the sequence ends early if they are equal.
    pub last_if_equal: Option<(Slot, Slot)>,
}

/// What an architecture reports of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reported {
    /// `Job::error`.
    ParserError,
    /// `Job::checksum_error`.
    ChecksumError,
}

impl Stage {
    /// A block, and nothing behind it.
    pub fn new(block: Target) -> Self {
        Stage {
            block,
            reported: None,
            last_if_equal: None,
        }
    }
}
